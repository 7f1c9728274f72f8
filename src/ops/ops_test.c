/* ops_test.c - the contract of ops.h, with every case of cases.h on every backend that runs here.
 *
 *     ops_test                    all tests
 *     ops_test --bench            times the cases marked BENCH instead, and prints one table
 *     ops_test --bench conv       times the cases with "conv" in their name
 *
 * What a backend computes is compared with plain, and its gradients also with finite differences of
 * plain's outputs. What plain computes is compared with numbers made by hand in plain_test.c. */
#include "base/alloc.h"
#include "ops/ops.h"
#include "ops_bench.h"
#include "ops_problem.h"

#include <float.h>

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

static double largest(const float *x, size_t count)
{
    double most = 0;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)x[i]));
    return most;
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

/* --- finite differences ----------------------------------------------------------------------*/

/* The loss is the sum of the outputs, weighted by the gradients of the outputs. It is looked at
 * along a direction in one input: of a single value, or of all, each up or down. */
struct probe {
    unsigned input;
    size_t element;  /* or ALL */
    double slope;    /* of the loss along the direction */
    double rounding; /* what it may be wrong by because outputs are floats */
};

enum { ELEMENTS = 3, PROBES = PSD_OP_INPUTS * (ELEMENTS + 1) };
#define ALL  SIZE_MAX
#define STEP 0.0078125 /* a power of 2, and much less than the data avoids kinks by */

static double direction(const struct probe *probe, size_t i)
{
    if (probe->element != ALL)
        return i == probe->element;
    return psd_random_u32(3, probe->input, i) >> 31 ? 1 : -1;
}

static void move(struct problem *problem, const struct probe *probe, double step)
{
    float *x = tensor_data(problem, IN + probe->input);

    for (size_t i = 0; i < problem->count[IN + probe->input]; i++)
        x[i] = (float)((double)x[i] + step * direction(probe, i));
}

/* The loss and, in `squares`, the sum of the squares of what it is the sum of. */
static double loss(struct problem *problem, struct psd_op *op, double *squares)
{
    const float *y = tensor_data(problem, OUT), *dy = tensor_data(problem, OUT_DIFF);
    double sum = 0;

    *squares = 0;
    CHECK_OK(psd_op_forward(op, &problem->values));
    for (size_t i = 0; i < problem->count[OUT]; i++) {
        double term = (double)y[i] * (double)dy[i];
        sum += term;
        *squares += term * term;
    }
    return sum;
}

static void measure(struct problem *problem, struct psd_op *op, struct probe *probe)
{
    double squares;

    problem_fill(problem);
    move(problem, probe, STEP);
    double above = loss(problem, op, &squares);
    problem_fill(problem);
    move(problem, probe, -STEP);
    probe->slope = (above - loss(problem, op, &squares)) / (2 * STEP);
    probe->rounding = 4 * (double)FLT_EPSILON * sqrt(squares) / STEP;
}

static size_t measure_all(struct problem *problem, struct probe *probes)
{
    struct psd_ops *ops;
    struct psd_op *op;
    size_t used = 0, first = problem->test->use == NET ? ELEMENTS - 1 : 0;

    CHECK(problem_open(problem, "plain", 1, &ops, &op));
    for (unsigned input = 0; input < PSD_OP_INPUTS; input++) {
        size_t count = problem->count[IN_DIFF + input];
        for (size_t e = first; count && e <= ELEMENTS; e++) {
            size_t element = e == ELEMENTS ? ALL : e * count / ELEMENTS;
            probes[used] = (struct probe){.input = input, .element = element};
            measure(problem, op, &probes[used++]);
        }
    }
    problem_close(ops, op);
    return used;
}

/* The slope that a gradient predicts agrees up to rounding and the curve within a step. */
static void check_probe(const struct op_case *test, const char *backend, const struct probe *probe,
                        const struct results *results)
{
    const float *gradient = results->data[IN_DIFF + probe->input];
    size_t count = results->count[IN_DIFF + probe->input];
    double slope = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        slope += direction(probe, i) * (double)gradient[i];
        squares += (double)gradient[i] * (double)gradient[i];
    }
    double length = probe->element == ALL ? sqrt(squares) : largest(gradient, count);
    if (!(fabs(slope - probe->slope) <= 1e-3 * length + probe->rounding))
        TEST_FAIL("%s on %s: input %u, direction %zd: slope %.9g by gradient, %.9g by difference",
                  test->name, backend, probe->input, (ssize_t)probe->element, slope, probe->slope);
}

/* Where winners are drawn, a step may change them: plain_test.c looks at that gradient. */
static bool has_kinks(const struct psd_op_spec *spec)
{
    return spec->kind == PSD_OP_POOL && spec->pool.method == PSD_POOL_STOCHASTIC &&
           spec->pool.train;
}

static void check_differences(const struct op_case *test)
{
    struct problem problem;
    struct results results;
    struct probe probes[PROBES];

    problem_init(&problem, test);
    results_init(&results, &problem);
    size_t count = measure_all(&problem, probes);
    for (const char *const *backend = psd_ops_backends(); *backend; backend++) {
        problem_fill(&problem);
        if (!problem_run(&problem, *backend, 1, &results))
            continue;
        for (size_t i = 0; i < count; i++)
            check_probe(test, *backend, &probes[i], &results);
    }
    results_fini(&results);
    problem_fini(&problem);
}

static void gradients_agree_with_finite_differences(void)
{
    for (size_t i = 0; i < OP_CASES; i++) {
        if (op_cases[i].use <= NET && !has_kinks(&op_cases[i].spec))
            check_differences(&op_cases[i]);
    }
}

/* --- values that do not fit ------------------------------------------------------------------*/

static const struct op_case fc_case = {
    "fc", TEST, 0, {.kind = PSD_OP_FC, .fc = {2, 3, 4, true, false}}};
static const struct op_case relu_case = {"relu", TEST, 0, {.kind = PSD_OP_RELU, .relu = {6, 0}}};
static const struct op_case loss_case = {
    "loss",
    TEST,
    0,
    {.kind = PSD_OP_SOFTMAX_LOSS, .softmax_loss = {2, 3, 1, false, 0, PSD_LOSS_FULL}}};

static struct psd_device *other_device;

static void without_input(struct psd_op_values *v)
{
    v->in[1].memory = NULL;
}

static void without_output(struct psd_op_values *v)
{
    v->out[0].memory = NULL;
}

static void beyond_memory(struct psd_op_values *v)
{
    v->in[0].offset += 2 * (size_t)GUARD;
}

static void with_a_third_input(struct psd_op_values *v)
{
    v->in[2] = v->in[0];
}

static void over_its_weights(struct psd_op_values *v)
{
    v->out[0] = v->in[1];
}

static void half_in_place(struct psd_op_values *v)
{
    v->out[0] = v->in[0];
    v->out[0].offset++;
}

static void on_another_device(struct psd_op_values *v)
{
    CHECK_OK(psd_device_alloc(other_device, 4096, &v->in[0].memory));
}

static void without_gradient(struct psd_op_values *v)
{
    v->out_diff[0].memory = NULL;
}

static void with_a_gradient_of_labels(struct psd_op_values *v)
{
    v->in_diff[1] = v->in[1];
}

static void with_a_gradient_over_its_weights(struct psd_op_values *v)
{
    v->in_diff[0] = v->in[1];
}

static void with_a_gradient_over_its_input(struct psd_op_values *v)
{
    v->in_diff[0] = v->in[0];
}

static void with_two_gradients_in_one_place(struct psd_op_values *v)
{
    v->in_diff[2] = v->in_diff[1];
}

static void with_two_outputs_in_one_place(struct psd_op_values *v)
{
    v->out[0] = v->out[1];
}

static void adding_in_place(struct psd_op_values *v)
{
    v->in_diff[0] = v->out_diff[0];
    v->adds = 1;
}

static void values_that_do_not_fit_are_refused(void)
{
    static const struct {
        const struct op_case *test;
        void (*spoil)(struct psd_op_values *values);
        const char *sentence;
    } cases[] = {
        {&fc_case, without_input, "fully connected: input 1 is missing"},
        {&fc_case, without_output, "fully connected: output 0 is missing"},
        {&fc_case, beyond_memory,
         "fully connected: input 0 has 6 values, more than the memory from there on"},
        {&relu_case, with_a_third_input, "relu: there is no input 2"},
        {&fc_case, over_its_weights, "fully connected: output 0 overlaps input 1"},
        {&relu_case, half_in_place, "relu: output 0 overlaps input 0"},
        {&fc_case, on_another_device, "fully connected: input 0 is on another device"},
        {&fc_case, without_gradient, "fully connected: gradient of output 0 is missing"},
        {&loss_case, with_a_gradient_of_labels, "softmax loss: there is no gradient of input 1"},
        {&fc_case, with_a_gradient_over_its_weights,
         "fully connected: gradient of input 0 overlaps input 1"},
        {&relu_case, with_a_gradient_over_its_input, "relu: gradient of input 0 overlaps input 0"},
        {&fc_case, with_two_gradients_in_one_place,
         "fully connected: gradient of input 2 overlaps gradient of input 1"},
        {&loss_case, with_two_outputs_in_one_place, "softmax loss: output 1 overlaps output 0"},
        {&relu_case, adding_in_place, "relu: a gradient in place has nothing to be added to"},
    };

    CHECK_OK(psd_device_open("host", 0, &other_device));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem problem;
        struct psd_ops *ops;
        struct psd_op *op;
        problem_init(&problem, cases[i].test);
        CHECK(problem_open(&problem, "plain", 1, &ops, &op));
        cases[i].spoil(&problem.values);
        psd_status status = psd_op_backward(op, &problem.values);
        CHECK(status == PSD_EINVAL);
        CHECK_TEXT(cases[i].sentence, psd_error());
        if (problem.values.in[0].memory != problem.memory[IN])
            psd_device_free(problem.values.in[0].memory);
        problem_close(ops, op);
        problem_fini(&problem);
    }
    psd_device_close(other_device);
}

/* --- opening ---------------------------------------------------------------------------------*/

static void backends_are_found_by_name(void)
{
    struct psd_device *device = NULL;
    struct psd_ops *ops = NULL;

    CHECK_OK(psd_device_open("host", 0, &device));
    CHECK_STATUS(PSD_ECONFIG, psd_ops_open(&(struct psd_ops_options){device, 1, "plian"}, &ops));
    CHECK_TEXT("this build has no backend \"plian\"; did you mean \"plain\"?", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_ops_open(&(struct psd_ops_options){NULL, 1, NULL}, &ops));
    CHECK(ops == NULL);

    CHECK_OK(psd_ops_open(&(struct psd_ops_options){device, 0, "plain"}, &ops));
    CHECK(psd_ops_threads(ops) == 1);
    psd_ops_close(ops);
    psd_device_close(device);
}

static void plain_is_asked_last(void)
{
    const char *const *names = psd_ops_backends();
    size_t count = 0;

    while (names[count])
        count++;
    CHECK(count > 0);
    CHECK_TEXT("plain", names[count - 1]);
}

static void nothing_may_be_closed_and_destroyed(void)
{
    psd_op_destroy(NULL);
    psd_ops_close(NULL);
    CHECK(psd_tensor_host((struct psd_tensor){NULL, 3}) == NULL);
}

static void a_spec_that_makes_no_sense_is_not_planned(void)
{
    struct psd_op_spec spec = {.kind = PSD_OP_RELU, .relu = {0, 0}};
    struct psd_device *device = NULL;
    struct psd_ops *ops = NULL;
    struct psd_op *op = NULL;

    CHECK_OK(psd_device_open("host", 0, &device));
    CHECK_OK(psd_ops_open(&(struct psd_ops_options){.device = device}, &ops));
    CHECK_STATUS(PSD_EINVAL, psd_op_create(ops, &spec, &op));
    CHECK(op == NULL);
    psd_ops_close(ops);
    psd_device_close(device);
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
    RUN(gradients_agree_with_finite_differences)
    RUN(the_same_threads_give_the_same_bits)
    RUN(forward_and_backward_allocate_nothing)
    RUN(planning_survives_every_failed_allocation)
    RUN(values_that_do_not_fit_are_refused)
    RUN(backends_are_found_by_name)
    RUN(plain_is_asked_last)
    RUN(nothing_may_be_closed_and_destroyed)
    RUN(a_spec_that_makes_no_sense_is_not_planned)
}
