/* ops_test.c - the contract of ops.h, with every case of cases.h on every backend that runs here.
 *
 *     ops_test                    all tests
 *     ops_test --bench            times the cases marked BENCH instead, and prints one table
 *     ops_test --bench conv       times the cases with "conv" in their name
 *
 * What a backend computes is compared with plain, and in ops_slope_test.c its gradients also with finite
 * differences of plain's outputs. What plain computes is compared with numbers made by hand in plain_test.c. */
#include "base/alloc.h"
#include "ops/ops.h"
#include "ops_bench.h"
#include "ops_problem.h"

/* Plain takes minutes for the layers of nets when every access is watched; threads meet in the small cases,
 * too. */
#if defined(__SANITIZE_THREAD__) || TEST_HAS(thread_sanitizer)
static const enum op_case_use large = TEST;
#else
static const enum op_case_use large = NET;
#endif

/* Runs a test with every case up to `use` on every backend. */
static void each(enum op_case_use use,
                 void (*test)(const struct op_case *test, const char *backend))
{
    for (size_t i = 0; i < OP_CASES; i++) {
        for (const char *const *backend = psd_ops_backends(); *backend; backend++) {
            if (op_cases[i].use <= use)
                test(&op_cases[i], *backend);
        }
    }
}

/* Plain computes with one, whatever it is given. */
static unsigned most_threads(const char *backend)
{
    return strcmp(backend, "plain") == 0 ? 1 : 3;
}

static void compare_tensor(const struct op_case *test, const char *backend, unsigned t,
                           const float *got, const float *wanted, size_t count)
{
    double allowed = test->tolerance * fmax(largest(wanted, count), 1e-3);

    for (size_t i = 0; i < count; i++) {
        if (!(fabs((double)got[i] - (double)wanted[i]) <= allowed))
            TEST_FAIL("%s on %s: %s %u, value %zu of %zu: %.9g, not %.9g", test->name, backend,
                      t < OUT ? "gradient of input" : "output", t < OUT ? t - IN_DIFF : t - OUT, i,
                      count, (double)got[i], (double)wanted[i]);
    }
}

static void compare(const struct op_case *test, const char *backend, const struct results *got,
                    const struct results *wanted)
{
    for (unsigned t = IN_DIFF; t < OUT_DIFF; t++)
        compare_tensor(test, backend, t, got->data[t], wanted->data[t], wanted->count[t]);
}

/* --- results ---------------------------------------------------------------------------------*/

static void agrees_with_plain(const struct op_case *test, const char *backend)
{
    struct problem problem;
    struct results wanted, got;

    problem_init(&problem, test);
    results_init(&wanted, &problem);
    results_init(&got, &problem);
    CHECK(problem_run(&problem, "plain", 1, &wanted));
    for (unsigned threads = 1; threads <= most_threads(backend); threads++) {
        problem_fill(&problem);
        if (problem_run(&problem, backend, threads, &got))
            compare(test, backend, &got, &wanted);
    }
    results_fini(&got);
    results_fini(&wanted);
    problem_fini(&problem);
}

static void outputs_and_gradients_agree_with_plain(void)
{
    each(large, agrees_with_plain);
}

static void breaks_ties_like_plain(const struct op_case *test, const char *backend)
{
    struct problem problem;
    struct results wanted, got;

    if (test->spec.kind != PSD_OP_POOL || test->spec.pool.method != PSD_POOL_MAX)
        return;
    problem_init(&problem, test);
    results_init(&wanted, &problem);
    results_init(&got, &problem);
    for (size_t i = 0; i < problem.count[IN]; i++)
        tensor_data(&problem, IN)[i] = (float)(psd_random_u32(1, 1, i) >> 31);
    CHECK(problem_run(&problem, "plain", 1, &wanted));
    if (problem_run(&problem, backend, 1, &got))
        compare(test, backend, &got, &wanted);
    results_fini(&got);
    results_fini(&wanted);
    problem_fini(&problem);
}

static void of_equal_values_the_first_wins(void)
{
    each(TEST, breaks_ties_like_plain);
}

static void does_without_second_output(const struct op_case *test, const char *backend)
{
    struct problem problem;
    struct results wanted, got;

    problem_init(&problem, test);
    results_init(&wanted, &problem);
    results_init(&got, &problem);
    CHECK(problem_run(&problem, "plain", 1, &wanted));
    problem_fill(&problem);
    problem.values.out[1].memory = NULL;
    wanted.count[OUT + 1] = 0;
    if (problem_run(&problem, backend, 2, &got))
        compare(test, backend, &got, &wanted);
    results_fini(&got);
    results_fini(&wanted);
    problem_fini(&problem);
}

static void second_outputs_may_be_left_out(void)
{
    each(TEST, does_without_second_output);
}

/* --- which gradients, and where --------------------------------------------------------------*/

/* What is there before backward adds to it. */
static float start_value(unsigned t, size_t i)
{
    return any_value(30 + t, i);
}

static void start_gradients(struct problem *problem, unsigned adds)
{
    problem_fill(problem);
    problem->values.adds = adds;
    for (unsigned t = IN_DIFF; t < OUT; t++) {
        for (size_t i = 0; adds >> (t - IN_DIFF) & 1 && i < problem->count[t]; i++)
            tensor_data(problem, t)[i] = start_value(t, i);
    }
}

static void add_start(struct results *results, unsigned input)
{
    for (size_t i = 0; i < results->count[IN_DIFF + input]; i++)
        results->data[IN_DIFF + input][i] += start_value(IN_DIFF + input, i);
}

/* To the first gradient, to the first two, to all three. */
static void adds_gradients(const struct op_case *test, const char *backend)
{
    struct problem problem;
    struct results wanted, got;

    problem_init(&problem, test);
    results_init(&wanted, &problem);
    results_init(&got, &problem);
    CHECK(problem_run(&problem, "plain", 1, &wanted));
    for (unsigned input = 0; input < PSD_OP_INPUTS; input++) {
        add_start(&wanted, input);
        start_gradients(&problem, (2U << input) - 1);
        if (problem_run(&problem, backend, 2, &got))
            compare(test, backend, &got, &wanted);
    }
    results_fini(&got);
    results_fini(&wanted);
    problem_fini(&problem);
}

static void gradients_are_added_where_that_is_asked_for(void)
{
    each(TEST, adds_gradients);
}

/* Only the gradients in the bits of `asked`; the others do not change. */
static void ask_for_gradients(struct problem *problem, struct results *wanted, unsigned asked)
{
    for (unsigned t = IN_DIFF; t < OUT; t++) {
        bool is_asked = asked >> (t - IN_DIFF) & 1;
        tensor_slot(&problem->values, t)->memory = is_asked ? problem->memory[t] : NULL;
        wanted->count[t] = is_asked ? problem->count[t] : 0;
    }
}

static void leaves_gradients_out(const struct op_case *test, const char *backend)
{
    struct problem problem;
    struct results wanted, got;

    problem_init(&problem, test);
    results_init(&wanted, &problem);
    results_init(&got, &problem);
    CHECK(problem_run(&problem, "plain", 1, &wanted));
    for (unsigned asked = 0; asked < 1U << PSD_OP_INPUTS; asked++) {
        problem_fill(&problem);
        ask_for_gradients(&problem, &wanted, asked);
        if (problem_run(&problem, backend, 2, &got))
            compare(test, backend, &got, &wanted);
    }
    results_fini(&got);
    results_fini(&wanted);
    problem_fini(&problem);
}

static void only_wanted_gradients_are_computed(void)
{
    each(TEST, leaves_gradients_out);
}

/* The output goes where the input is, and the gradient of the input where that of the output is. */
static void put_in_place(struct problem *problem)
{
    problem->values.out[0] = problem->values.in[0];
    problem->values.in_diff[0] = problem->values.out_diff[0];
}

static void computes_in_place(const struct op_case *test, const char *backend)
{
    struct problem problem;
    struct results wanted, got;

    if (!psd_spec_in_place(&test->spec))
        return;
    problem_init(&problem, test);
    results_init(&wanted, &problem);
    results_init(&got, &problem);
    CHECK(problem_run(&problem, "plain", 1, &wanted));
    problem_fill(&problem);
    put_in_place(&problem);
    if (problem_run(&problem, backend, 2, &got)) {
        memcpy(got.data[IN_DIFF], tensor_data(&problem, OUT_DIFF),
               problem.count[IN_DIFF] * sizeof(float));
        compare(test, backend, &got, &wanted);
    }
    results_fini(&got);
    results_fini(&wanted);
    problem_fini(&problem);
}

static void operations_work_in_place(void)
{
    each(TEST, computes_in_place);
}

/* --- bits and memory -------------------------------------------------------------------------*/

static void compare_bits(const struct op_case *test, const char *backend, unsigned threads,
                         const struct results *got, const struct results *wanted)
{
    for (unsigned t = IN_DIFF; t < OUT_DIFF; t++) {
        if (memcmp(got->data[t], wanted->data[t], wanted->count[t] * sizeof(float)) != 0)
            TEST_FAIL("%s on %s with %u threads: other bits than before", test->name, backend,
                      threads);
    }
}

/* Twice with one plan, and once more with another. */
static void repeats_bits(const struct op_case *test, const char *backend, unsigned threads)
{
    struct problem problem;
    struct results first, again;
    struct psd_ops *ops;
    struct psd_op *op;

    problem_init(&problem, test);
    results_init(&first, &problem);
    results_init(&again, &problem);
    if (problem_open(&problem, backend, threads, &ops, &op)) {
        problem_compute(&problem, op, first.data[OUT]);
        results_take(&first, &problem);
        problem_compute(&problem, op, again.data[OUT]);
        results_take(&again, &problem);
        compare_bits(test, backend, threads, &again, &first);
        problem_close(ops, op);
        CHECK(problem_run(&problem, backend, threads, &again));
        compare_bits(test, backend, threads, &again, &first);
    }
    results_fini(&again);
    results_fini(&first);
    problem_fini(&problem);
}

static void repeats_bits_with_all_threads(const struct op_case *test, const char *backend)
{
    for (unsigned threads = 1; threads <= most_threads(backend); threads++)
        repeats_bits(test, backend, threads);
}

static void the_same_threads_give_the_same_bits(void)
{
    each(NET, repeats_bits_with_all_threads);
}

static void compute_without_memory(struct problem *problem, struct psd_op *op, const char *backend)
{
    psd_alloc_fail_at(0);
    problem_compute(problem, op, NULL);
    if (psd_alloc_fail_at(-1))
        TEST_FAIL("%s on %s allocates", problem->test->name, backend);
}

static void allocates_nothing(const struct op_case *test, const char *backend)
{
    struct problem problem;
    struct psd_ops *ops;
    struct psd_op *op;

    problem_init(&problem, test);
    if (problem_open(&problem, backend, 2, &ops, &op)) {
        compute_without_memory(&problem, op, backend);
        problem.values.adds = 7;
        problem_compute(&problem, op, NULL); /* the first time may take room for the sum */
        compute_without_memory(&problem, op, backend);
        problem_close(ops, op);
    }
    problem_fini(&problem);
}

static void forward_and_backward_allocate_nothing(void)
{
    each(TEST, allocates_nothing);
}

static void survives_failed_allocations(const struct op_case *test, const char *backend)
{
    struct problem problem;
    bool failed = true;

    problem_init(&problem, test);
    struct psd_ops_options options = {problem.device, 2, backend};
    for (long n = 0; failed; n++) {
        struct psd_ops *ops = NULL;
        struct psd_op *op = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_ops_open(&options, &ops);
        if (status == PSD_OK)
            status = psd_op_create(ops, &test->spec, &op);
        failed = psd_alloc_fail_at(-1);
        CHECK(status == PSD_OK || status == (failed ? PSD_ENOMEM : PSD_ENOSUP));
        CHECK((status == PSD_OK) == (op != NULL));
        problem_close(ops, op);
    }
    problem_fini(&problem);
}

static void planning_survives_every_failed_allocation(void)
{
    each(TEST, survives_failed_allocations);
}

/* --- opening ---------------------------------------------------------------------------------*/

static void plain_is_asked_last(void)
{
    const char *const *names = psd_ops_backends();
    size_t count = 0;

    while (names[count])
        count++;
    CHECK(count > 0);
    CHECK_TEXT("plain", names[count - 1]);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench(argc > 2 ? argv[2] : NULL);
        return 0;
    }
    RUN(outputs_and_gradients_agree_with_plain)
    RUN(of_equal_values_the_first_wins)
    RUN(second_outputs_may_be_left_out)
    RUN(gradients_are_added_where_that_is_asked_for)
    RUN(only_wanted_gradients_are_computed)
    RUN(operations_work_in_place)
    RUN(the_same_threads_give_the_same_bits)
    RUN(forward_and_backward_allocate_nothing)
    RUN(planning_survives_every_failed_allocation)
    RUN(plain_is_asked_last)
}
