/* cluster_test.c - whole jobs on the simulated network: the same bits however they are run, and a
 * clean end whatever breaks.
 *
 * Each case is printed before it runs, so the last one is the one that failed. A seed of the thousand
 * bad networks is run again, alone, by
 *
 *     SEED=217 build/gcc/tests/cluster_test nobody_stands_still_or_differs_on_a_bad_network */
#include "cluster.h"
#include "math/product.h"
#include "math/sum.h"

static bool same(const struct cluster_result *a, const struct cluster_result *b)
{
    return a->count == b->count && memcmp(a->values, b->values, a->count * sizeof(float)) == 0;
}

static struct cluster_result must_end(const struct cluster_case *c)
{
    struct cluster_result result;

    if (!cluster_run(c, &result))
        TEST_FAIL("the job stands still, or has ended: %s", result.sentence[0]);
    return result;
}

/* Two cases end with the same bits. */
static void must_agree(const struct cluster_case *a, const struct cluster_case *b)
{
    struct cluster_result one = must_end(a), other = must_end(b);

    CHECK(same(&one, &other));
    free(one.values);
    free(other.values);
}

static void any_number_of_processes_gives_the_same_bits(void)
{
    static const unsigned ranks[] = {2, 3, 5, 8};

    for (int forms = CLUSTER_DENSE; forms <= CLUSTER_MIXED; forms++) {
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
            struct cluster_case alone = {.seed = 3,
                                         .ranks = 1,
                                         .workers = 8,
                                         .iterations = 3,
                                         .forms = (enum cluster_forms)forms};
            struct cluster_case together = alone;
            together.ranks = ranks[i];
            together.program = CLUSTER_OWN_ORDER;
            must_agree(&alone, &together);
        }
    }
}

static void routes_of_one_form_give_the_same_bits(void)
{
    for (int route = PSD_ROUTE_BROADCAST; route <= PSD_ROUTE_SINGLE_OWNER; route++) {
        struct cluster_case alone = {
            .seed = 4, .ranks = 1, .workers = 5, .iterations = 3, .forms = CLUSTER_FACTORED};
        struct cluster_case together = alone;
        together.ranks = 4;
        together.route = (enum psd_route)route;
        if (route != PSD_ROUTE_LOCAL)
            must_agree(&alone, &together);
    }
}

/* The largest difference of two results in one parameter, by the largest value of it. */
static double difference(const struct cluster_result *a, const struct cluster_result *b, size_t at,
                         size_t count)
{
    double most = 0, largest = 0;

    for (size_t i = at; i < at + count; i++) {
        most = fmax(most, fabs((double)a->values[i] - (double)b->values[i]));
        largest = fmax(largest, fabs((double)a->values[i]));
    }
    return most / largest;
}

static void forms_agree_within_rounding(void)
{
    struct cluster_case dense = {.seed = 5, .ranks = 3, .workers = 6, .iterations = 1};
    struct cluster_case factored = dense;
    factored.forms = CLUSTER_FACTORED;
    struct cluster_result one = must_end(&dense), other = must_end(&factored);

    CHECK(!same(&one, &other)); /* or the test would not show anything */
    for (size_t i = 0, at = 0; i < CLUSTER_PARAMS; at += cluster_count(i++))
        CHECK(difference(&one, &other, at, cluster_count(i)) <= 1e-5);
    free(one.values);
    free(other.values);
}

static const char *const rules[] = {"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"};

static void every_rule_and_clipping_give_the_same_bits_on_any_number_of_processes(void)
{
    for (size_t i = 0; i < 2 * sizeof rules / sizeof *rules; i++) {
        struct cluster_case alone = {.seed = 6 + i,
                                     .ranks = 1,
                                     .workers = 6,
                                     .iterations = 3,
                                     .forms = CLUSTER_MIXED,
                                     .rule = rules[i / 2],
                                     .clip = i % 2 ? 20 : 0,
                                     .program = CLUSTER_OWN_ORDER};
        struct cluster_case together = alone;
        together.ranks = 4;
        must_agree(&alone, &together);
        together.forms = alone.forms = CLUSTER_FACTORED;
        together.route = PSD_ROUTE_BROADCAST;
        must_agree(&alone, &together);
    }
}

static void clipping_changes_what_is_learned(void)
{
    struct cluster_case free_one = {
        .seed = 1, .ranks = 2, .workers = 2, .iterations = 2, .program = CLUSTER_OWN_ORDER};
    struct cluster_case clipped = free_one;
    clipped.clip = 20;
    struct cluster_result one = must_end(&free_one), other = must_end(&clipped);

    CHECK(!same(&one, &other));
    free(one.values);
    free(other.values);
}

/* The gradients of all workers for one parameter of one iteration, dense, and their tree sum. */
static void summed(const struct cluster_case *c, uint64_t iteration, size_t param, float *out)
{
    const float *leaves[CLUSTER_WORKERS];
    float *grads = malloc(c->workers * cluster_count(param) * sizeof *grads);

    for (unsigned w = 0; w < c->workers; w++) {
        float *grad = grads + w * cluster_count(param);
        cluster_gradient(iteration, param, w, grad);
        leaves[w] = grad;
    }
    psd_sum_tree(leaves, c->workers, cluster_count(param), out);
    free(grads);
}

/* What one process alone, with sums and rules of math and no communication, learns. */
static void learn_alone(const struct cluster_case *c, float *values)
{
    struct psd_job *job = cluster_job(c);

    for (size_t i = 0, at = 0; i < CLUSTER_PARAMS; at += cluster_count(i++)) {
        size_t count = cluster_count(i);
        float *gradient = malloc(count * sizeof *gradient), *states[4];
        for (size_t k = 0; k < 4; k++)
            states[k] = calloc(count, sizeof **states);
        cluster_fill(99, i, 0, 3, count, values + at);
        for (uint64_t t = 0; t < c->iterations; t++) {
            struct psd_rule_step step = psd_job_step(job, i, t, 0.1f, 1);
            summed(c, t, i, gradient);
            if (!cluster_is_averaged(c, i))
                job->rule->apply(&step, count, values + at, gradient, states);
            for (size_t k = 0; cluster_is_averaged(c, i) && k < count; k++)
                values[at + k] = gradient[k] / (float)c->workers;
        }
        for (size_t k = 0; k < 4; k++)
            free(states[k]);
        free(gradient);
    }
    psd_job_destroy(job);
}

static void the_servers_learn_what_one_process_alone_learns(void)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct cluster_case c = {
            .seed = 9, .ranks = 3, .workers = 7, .iterations = 4, .rule = rules[i]};
        c.averaged = i % 2 ? 0x8a : 0;
        struct cluster_result result = must_end(&c);
        float *values = malloc(result.count * sizeof *values);
        learn_alone(&c, values);
        CHECK(memcmp(values, result.values, result.count * sizeof *values) == 0);
        free(values);
        free(result.values);
    }
}

/* The mean of element k over eight workers, written out. */
static float mean_of_eight(uint64_t iteration, size_t param, size_t k)
{
    static float values[8][9000];

    for (unsigned w = 0; w < 8; w++)
        cluster_gradient(iteration, param, w, values[w]);
    return (((values[0][k] + values[1][k]) + (values[2][k] + values[3][k])) +
            ((values[4][k] + values[5][k]) + (values[6][k] + values[7][k]))) /
           8;
}

static void what_is_averaged_is_the_mean_along_the_tree(void)
{
    static const unsigned ranks[] = {1, 2, 3, 5, 8};

    for (size_t i = 0; i < 2 * sizeof ranks / sizeof *ranks; i++) {
        struct cluster_case c = {.seed = 12 + i,
                                 .ranks = ranks[i / 2],
                                 .workers = 8,
                                 .iterations = 3,
                                 .forms = CLUSTER_MIXED,
                                 .rule = "Adam",
                                 .clip = i % 2 ? 20 : 0,
                                 .averaged = 0x18f,
                                 .program = CLUSTER_OWN_ORDER};
        struct cluster_result result = must_end(&c);
        for (size_t p = 0, at = 0; p < CLUSTER_PARAMS; at += cluster_count(p++)) {
            for (size_t k = 0; cluster_is_averaged(&c, p) && k < cluster_count(p); k += 37)
                CHECK_NEAR(result.values[at + k], mean_of_eight(2, p, k), 0);
        }
        free(result.values);
    }
}

/* With seven workers a division rounds. Neither learned values nor means depend on where they are. */
static void means_beside_rules_have_the_same_bits_on_any_number_of_processes(void)
{
    static const unsigned ranks[] = {2, 3, 5, 7};

    for (size_t i = 0; i < 4 * sizeof ranks / sizeof *ranks; i++) {
        struct cluster_case alone = {.seed = 30 + i,
                                     .ranks = 1,
                                     .workers = 7,
                                     .iterations = 3,
                                     .forms = CLUSTER_MIXED,
                                     .rule = rules[i % 6],
                                     .clip = i & 1 ? 20 : 0,
                                     .averaged = i & 2 ? 0x85 : 0x10a,
                                     .program = CLUSTER_OWN_ORDER};
        struct cluster_case together = alone;
        together.ranks = ranks[i / 4];
        must_agree(&alone, &together);
    }
}

static void sums_are_what_the_servers_apply(void)
{
    struct cluster_case c = {
        .seed = 9, .ranks = 3, .workers = 7, .iterations = 2, .mode = PSD_COMM_SUM};
    struct cluster_result result = must_end(&c);

    for (size_t i = 0, at = 0; i < CLUSTER_PARAMS; at += cluster_count(i++)) {
        float *sum = malloc(cluster_count(i) * sizeof *sum);
        summed(&c, c.iterations - 1, i, sum);
        CHECK(memcmp(sum, result.values + at, cluster_count(i) * sizeof *sum) == 0);
        free(sum);
    }
    free(result.values);
    c.forms = CLUSTER_FACTORED;
    struct cluster_case alone = c;
    alone.ranks = 1;
    must_agree(&alone, &c);
}

/* The case is saved after iteration `at` - 1 and goes on on `ranks` ranks: the same bits. */
static void must_go_on(const struct cluster_case *c, unsigned at, unsigned ranks)
{
    struct cluster_case first = *c, rest = *c;
    struct cluster_result whole = must_end(c), half, end;

    first.iterations = at;
    first.saves = true;
    half = must_end(&first);
    rest.first = at;
    rest.from = &half;
    rest.ranks = ranks;
    rest.seed = c->seed + 1; /* another network, other routes */
    end = must_end(&rest);
    CHECK(same(&whole, &end));
    cluster_free(&whole);
    cluster_free(&half);
    cluster_free(&end);
}

static void a_job_that_goes_on_elsewhere_has_the_bits_of_one_that_was_never_interrupted(void)
{
    static const unsigned ranks[] = {1, 2, 3, 5};

    for (size_t i = 0; i < 3 * sizeof rules / sizeof *rules; i++) {
        struct cluster_case c = {.seed = 50 + i,
                                 .ranks = ranks[i % 4],
                                 .workers = 8,
                                 .iterations = 4,
                                 .forms = (enum cluster_forms)(i / 6),
                                 .rule = rules[i % 6],
                                 .clip = i % 5 ? 0 : 20,
                                 .averaged = i & 2 ? 0x85 : 0,
                                 .program = CLUSTER_OWN_ORDER};
        must_go_on(&c, 2, ranks[(i + 1 + i / 4 % 3) % 4]);
    }
}

static void so_it_does_on_a_bad_network(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct cluster_case c = {.seed = seed, .iterations = 4, .bad_network = true};
        c.ranks = 1 + (unsigned)cluster_draw(&c, 1, 5);
        c.workers = 5 + (unsigned)cluster_draw(&c, 2, 4);
        c.forms = (enum cluster_forms)cluster_draw(&c, 3, 3);
        c.rule = rules[cluster_draw(&c, 4, 6)];
        must_go_on(&c, 1 + (unsigned)cluster_draw(&c, 5, 3), 1 + (unsigned)cluster_draw(&c, 7, 5));
    }
}

/* Delays, reordering, a slow member, credits of one piece, every order of sync and wait. */
static struct cluster_case draw_case(uint64_t seed)
{
    struct cluster_case c = {.seed = seed, .iterations = 4, .bad_network = true};

    c.ranks = 2 + (unsigned)cluster_draw(&c, 1, 5);
    c.workers = c.ranks + (unsigned)cluster_draw(&c, 2, 5);
    c.forms = (enum cluster_forms)cluster_draw(&c, 3, 3);
    c.program = (enum cluster_program)cluster_draw(&c, 4, 2);
    c.mode = cluster_draw(&c, 6, 4) ? PSD_COMM_UPDATE : PSD_COMM_SUM;
    c.rule = rules[cluster_draw(&c, 10, 6)];
    if (c.program == CLUSTER_OWN_ORDER) /* updates wait for all syncs */
        c.clip = cluster_draw(&c, 7, 2) ? 0 : 10;
    if (c.mode == PSD_COMM_UPDATE && cluster_draw(&c, 8, 3))
        c.averaged = (unsigned)cluster_draw(&c, 9, 1 << CLUSTER_PARAMS);
    c.saves = c.mode == PSD_COMM_UPDATE;
    return c;
}

/* What the rule keeps, too. */
static bool same_states(const struct cluster_result *a, const struct cluster_result *b)
{
    bool equal = true;

    for (size_t i = 0; i < 4 && a->states[i]; i++)
        equal &= memcmp(a->states[i], b->states[i], a->count * sizeof(float)) == 0;
    return equal;
}

/* All ranks end with the same bits, and those are the ones of a process alone. */
static void must_be_as_alone(const struct cluster_case *c)
{
    struct cluster_case alone = *c;

    alone.ranks = 1;
    alone.bad_network = false;
    struct cluster_result one = must_end(&alone), all = must_end(c);
    CHECK(same(&one, &all) && same_states(&one, &all));
    cluster_free(&one);
    cluster_free(&all);
}

static void seeds(uint64_t first, uint64_t end)
{
    const char *only = getenv("SEED"); /* NOLINT(concurrency-mt-unsafe): one thread */

    if (only) {
        first = strtoull(only, NULL, 10);
        end = first + 1;
    }
    for (uint64_t seed = first; seed < end; seed++) {
        struct cluster_case c = draw_case(seed);
        must_be_as_alone(&c);
    }
}

static void nobody_stands_still_or_differs_on_a_bad_network(void)
{
    seeds(1, 501);
}

static void nor_with_five_hundred_other_seeds(void)
{
    seeds(501, 1001);
}

/* Everybody but `dead` (1 + a rank; 0: nobody) was told, and heard of the culprit. */
static void all_were_told(const struct cluster_case *c, const struct cluster_result *result,
                          unsigned dead, const char *culprit)
{
    CHECK(result->ended == c->ranks - (dead > 0));
    for (unsigned rank = 0; rank < c->ranks; rank++) {
        if (rank + 1 != dead && !strstr(result->sentence[rank], culprit))
            TEST_FAIL("rank %u was told: %s", rank, result->sentence[rank]);
    }
}

static void a_death_ends_the_job_and_names_the_dead(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct cluster_case c = {.seed = seed, .ranks = 4, .workers = 4, .iterations = 3};
        struct cluster_result result;
        char culprit[32];
        c.bad_network = seed % 2;
        c.kill = 1 + (unsigned)cluster_draw(&c, 8, c.ranks);
        c.forms = (enum cluster_forms)(seed % 3);
        CHECK(!cluster_run(&c, &result));
        snprintf(culprit, sizeof culprit, "rank %u is lost", c.kill - 1);
        all_were_told(&c, &result, c.kill, culprit);
    }
}

static void a_cut_ends_the_job_and_names_one_of_the_two(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct cluster_case c = {.seed = seed, .ranks = 4, .workers = 4, .iterations = 3};
        struct cluster_result result;
        char one[32], other[32];
        c.bad_network = seed % 2;
        c.cut = 1 + (unsigned)cluster_draw(&c, 8, c.ranks);
        c.forms = (enum cluster_forms)(seed % 3);
        CHECK(!cluster_run(&c, &result));
        snprintf(one, sizeof one, "rank %u is lost", c.cut - 1);
        snprintf(other, sizeof other, "rank %u is lost", c.cut % c.ranks);
        CHECK(result.ended == c.ranks);
        for (unsigned rank = 0; rank < c.ranks; rank++) {
            if (!strstr(result.sentence[rank], one) && !strstr(result.sentence[rank], other))
                TEST_FAIL("rank %u was told: %s", rank, result.sentence[rank]);
        }
    }
}

static void a_double_sync_reaches_everybody(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct cluster_case c = {.seed = seed, .ranks = 4, .workers = 6, .iterations = 3};
        struct cluster_result result;
        char culprit[32];
        c.bad_network = seed % 2;
        c.double_sync = 1 + (unsigned)cluster_draw(&c, 8, c.ranks);
        c.forms = (enum cluster_forms)(seed % 3);
        CHECK(!cluster_run(&c, &result));
        snprintf(culprit, sizeof culprit, "rank %u: worker", c.double_sync - 1);
        all_were_told(&c, &result, 0, culprit);
        CHECK(strstr(result.sentence[0], "twice in iteration 1"));
    }
}

/* Of dense parameters and of every route of factored ones. Whoever hears it first names both. */
static void another_rate_reaches_everybody(void)
{
    static const enum psd_route routes[] = {PSD_ROUTE_SERVERS, PSD_ROUTE_BROADCAST,
                                            PSD_ROUTE_ROW_SHARDED, PSD_ROUTE_SINGLE_OWNER};

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct cluster_case c = {.seed = seed, .ranks = 4, .workers = 6, .iterations = 3};
        struct cluster_result result;
        char culprit[32];
        c.bad_network = seed / 4 % 2;
        c.program = (enum cluster_program)(seed / 8 % 2);
        c.own_rate = 1 + (unsigned)cluster_draw(&c, 8, c.ranks);
        c.route = routes[seed % 4];
        c.forms = c.route == PSD_ROUTE_SERVERS ? CLUSTER_DENSE : CLUSTER_FACTORED;
        CHECK(!cluster_run(&c, &result));
        snprintf(culprit, sizeof culprit, "rank %u ", c.own_rate - 1);
        all_were_told(&c, &result, 0, culprit);
        all_were_told(&c, &result, 0, "iteration 1 with a rate of 0.");
        all_were_told(&c, &result, 0, "0.100000001");
        all_were_told(&c, &result, 0, "0.200000003");
    }
}

int main(int argc, char **argv)
{
    RUN(any_number_of_processes_gives_the_same_bits)
    RUN(routes_of_one_form_give_the_same_bits)
    RUN(forms_agree_within_rounding)
    RUN(every_rule_and_clipping_give_the_same_bits_on_any_number_of_processes)
    RUN(clipping_changes_what_is_learned)
    RUN(the_servers_learn_what_one_process_alone_learns)
    RUN(what_is_averaged_is_the_mean_along_the_tree)
    RUN(means_beside_rules_have_the_same_bits_on_any_number_of_processes)
    RUN(sums_are_what_the_servers_apply)
    RUN(a_job_that_goes_on_elsewhere_has_the_bits_of_one_that_was_never_interrupted)
    RUN(so_it_does_on_a_bad_network)
    RUN(nobody_stands_still_or_differs_on_a_bad_network)
    RUN(nor_with_five_hundred_other_seeds)
    RUN(a_death_ends_the_job_and_names_the_dead)
    RUN(a_cut_ends_the_job_and_names_one_of_the_two)
    RUN(a_double_sync_reaches_everybody)
    RUN(another_rate_reaches_everybody)
}
