/* ensemble_test.c - workers of one job, hosted by one process or by many, end with the same bits. Each
 * "process" is a thread here, with nets and a seat of its own. */
#include "base/alloc.h"
#include "nets.h"
#include "train/ensemble.h"

#include <pthread.h>

#define DATA(shape_x, shape_t)                                                 \
    "layer { name: 'd' type: 'DummyData' top: 'x' top: 't' dummy_data_param {" \
    "  shape { " shape_x " } shape { " shape_t " } data_filler { type: 'gaussian' } } }"
#define IP(name, from, to, outputs)                                                    \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" from "' top: '" to "'"   \
    "  inner_product_param { num_output: " outputs " weight_filler { type: 'xavier' }" \
    "  bias_filler { type: 'constant' value: 0.1 } } }"
#define LOSS(from) \
    "layer { name: 'l' type: 'EuclideanLoss' bottom: '" from "' bottom: 't' top: 'l' }"

static const char plain[] = DATA("dim: 3 dim: 40", "dim: 3 dim: 5")
    IP("a", "x", "a", "30") "layer { name: 'r' type: 'ReLU' bottom: 'a' top: 'a' }" IP(
        "b", "a", "b", "5") LOSS("b");

static const char normed[] = DATA("dim: 4 dim: 6", "dim: 4 dim: 5")
    IP("a", "x", "a", "8") "layer { name: 'n' type: 'BatchNorm' bottom: 'a' top: 'n' }"
                           "layer { name: 's' type: 'Scale' bottom: 'n' top: 's' scale_param { "
                           "bias_term: true } }" IP("b", "s", "b", "5") LOSS("b");

static const char tied[] = DATA(
    "dim: 4 dim: 6",
    "dim: 4 dim: 6") "layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' param { name: "
                     "'w' } param { lr_mult: 0 }"
                     "  inner_product_param { num_output: 6 weight_filler { type: 'xavier' } } }"
                     "layer { name: 'b' type: 'InnerProduct' bottom: 'a' top: 'b' param { name: "
                     "'w' } param { lr_mult: 2 }"
                     "  inner_product_param { num_output: 6 weight_filler { type: 'xavier' } } "
                     "}" LOSS("b");

static const char recurrent[] =
    DATA("dim: 3 dim: 2 dim: 4",
         "dim: 3 dim: 2 dim: 5") "layer { name: 'c' type: 'DummyData' top: 'c' dummy_data_param { "
                                 "shape { dim: 3 dim: 2 }"
                                 "  data_filler { type: 'constant' value: 1 } } }"
                                 "layer { name: 'lstm' type: 'LSTM' bottom: 'x' bottom: 'c' top: "
                                 "'y' recurrent_param {"
                                 "  num_output: 5 weight_filler { type: 'uniform' min: -0.3 max: "
                                 "0.3 } } }" LOSS("y");

static const char base[] =
    "lr_policy: 'step' gamma: 0.5 stepsize: 2 momentum: 0.9 "
    "weight_decay: 0.01 max_iter: 6 random_seed: 7 snapshot_after_train: false ";

/* What is trained, and how. */
struct play {
    const char *net, *extra; /* extra: of the solver; NULL: nothing */
    unsigned ranks, workers, processors;
    enum psd_form form; /* of all inner products */
    bool sums;
    uint64_t verify;
    int iterations;
    const char *restore; /* a .solverstate to start from */
    bool save;           /* a snapshot at the end */
    float values[4000];  /* filled: those of rank 0 */
    size_t n_values;
};

struct player {
    struct play *play;
    const char *name, *prefix; /* of the job, and of its snapshots */
    unsigned rank;
    float values[4000];
    size_t n_values;
};

static void copy_values(struct player *player, const struct psd_net *net)
{
    player->n_values = 0;
    for (size_t i = 0; i < net->n_params; i++) {
        const struct psd_blob *blob = &net->params[i]->blob;
        CHECK(player->n_values + blob->count <= 4000);
        memcpy(player->values + player->n_values, psd_blob_values(blob),
               blob->count * sizeof(float));
        player->n_values += blob->count;
    }
}

static void run_solver(struct player *player, struct psd_solver *solver)
{
    const struct play *play = player->play;

    if (play->restore)
        CHECK_OK(psd_solver_restore(solver, play->restore));
    CHECK_OK(psd_solver_step(solver, play->iterations));
    if (play->save)
        CHECK_OK(psd_solver_snapshot(solver));
    CHECK_OK(solver->team.settle(solver->team.context));
    copy_values(player, solver->net);
}

static void *perform(void *arg)
{
    struct player *player = arg;
    const struct play *play = player->play;
    struct psd_ensemble_wish wishes[] = {{"a", play->form, PSD_ROUTE_AUTO},
                                         {"b", play->form, PSD_ROUTE_AUTO}};
    struct psd_ensemble_options options = {
        .seat = {.coordinator = player->name,
                 .rank = player->rank,
                 .ranks = play->ranks,
                 .workers = play->workers,
                 .bandwidth = 1e9,
                 .timeout_ms = 600000},
        .processors = play->processors,
        .sums = play->sums,
        .verify = play->verify,
        .wishes = wishes,
        .n_wishes = play->form ? 2 : 0,
    };
    struct psd_ensemble *ensemble = NULL;
    struct psd_solver *solver = NULL;
    struct lab lab;
    char *text = psd_alloc_text("net_param { %s } base_lr: %s %s %s snapshot_prefix: '%s'",
                                play->net, play->sums ? "0.00625" : "0.05", base,
                                play->extra ? play->extra : "", player->prefix);

    CHECK(lab_open(&lab, NULL, 1));
    lab.document = document_of(SOLVER, text);
    psd_alloc_free(text);
    CHECK_OK(psd_ensemble_create(&options, &ensemble));
    struct psd_team team = psd_ensemble_team(ensemble);
    struct psd_solver_options build = {
        .document = lab.document, .device = lab.device, .ops = lab.ops, .team = &team};
    CHECK_OK(psd_solver_create(&build, &solver));
    run_solver(player, solver);
    psd_ensemble_destroy(ensemble);
    psd_solver_destroy(solver);
    lab_close(&lab);
    return NULL;
}

/* Lets all ranks train, checks that they end alike and keeps what they end with. */
static void run(struct play *play)
{
    static unsigned number;
    struct player *players = calloc(play->ranks, sizeof *players);
    pthread_t threads[16];
    const char *prefix = test_path("s");
    char name[40];

    CHECK(players);
    snprintf(name, sizeof name, "inproc://play-%u", number++);
    for (unsigned i = 0; i < play->ranks; i++) {
        players[i] = (struct player){.play = play, .name = name, .prefix = prefix, .rank = i};
        CHECK(pthread_create(&threads[i], NULL, perform, &players[i]) == 0);
    }
    for (unsigned i = 0; i < play->ranks; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (unsigned i = 1; i < play->ranks; i++)
        CHECK(same_bits(players[i].values, players[0].values, sizeof players[0].values));
    memcpy(play->values, players[0].values, sizeof play->values);
    play->n_values = players[0].n_values;
    free(players);
}

static float largest_difference(const struct play *a, const struct play *b)
{
    float most = 0, scale = 0;

    for (size_t i = 0; i < a->n_values; i++) {
        float difference = fabsf(a->values[i] - b->values[i]);
        most = difference > most ? difference : most;
        scale = fabsf(a->values[i]) > scale ? fabsf(a->values[i]) : scale;
    }
    return most / scale;
}

/* --- the same bits ------------------------------------------------------------------------------ */

static void any_number_of_processes_gives_the_same_bits(void)
{
    static const char *const nets[] = {plain, normed, tied, recurrent};
    static const enum psd_form forms[] = {PSD_FORM_AUTO, PSD_FORM_DENSE, PSD_FORM_FACTORED};

    for (size_t n = 0; n < 4; n++) {
        for (size_t f = 0; f < (n < 2 ? 3 : 1); f++) {
            struct play one = {.net = nets[n], .ranks = 1, .workers = 8, .form = forms[f]};
            one.iterations = 5;
            one.processors = 1;
            one.verify = 2;
            run(&one);
            for (unsigned ranks = 1; ranks <= 8; ranks += ranks < 3 ? 1 : 5) {
                struct play many = one;
                many.ranks = ranks;
                many.processors = 2;
                run(&many);
                if (!same_bits(one.values, many.values, sizeof one.values))
                    TEST_FAIL("net %zu, form %zu: %u processes end otherwise", n, f, ranks);
            }
        }
    }
}

/* Eight times the rate of an eighth, as older systems have it for these rules: all are powers of two. */
static void sums_are_means_at_another_rate(void)
{
    static const char *const rules[] = {"type: 'SGD'", "type: 'Nesterov'"};
    struct play means[2];

    for (size_t i = 0; i < 2; i++) {
        means[i] = (struct play){
            .net = plain, .extra = rules[i], .ranks = 2, .workers = 8, .iterations = 4};
        means[i].processors = 1;
        struct play sums = means[i];
        run(&means[i]);
        sums.sums = true;
        run(&sums);
        CHECK(same_bits(means[i].values, sums.values, sizeof sums.values));
    }
    CHECK(!same_bits(means[0].values, means[1].values, sizeof means[0].values));
}

static void forms_agree_within_rounding(void)
{
    struct play dense = {.net = plain, .ranks = 2, .workers = 4, .iterations = 1, .processors = 1};
    struct play factored = dense;

    dense.form = PSD_FORM_DENSE;
    factored.form = PSD_FORM_FACTORED;
    run(&dense);
    run(&factored);
    CHECK(!same_bits(dense.values, factored.values, sizeof dense.values));
    CHECK(largest_difference(&dense, &factored) < 1e-5f);
}

static void several_passes_make_an_iteration(void)
{
    static const enum psd_form forms[] = {PSD_FORM_DENSE, PSD_FORM_FACTORED};

    for (size_t i = 0; i < 2; i++) {
        struct play one = {.net = normed, .ranks = 1, .workers = 4, .form = forms[i]};
        one.extra = "iter_size: 3 clip_gradients: 0.5";
        one.iterations = 4;
        one.processors = 2;
        struct play many = one;
        many.ranks = 3;
        run(&one);
        run(&many);
        CHECK(same_bits(one.values, many.values, sizeof one.values));
    }
}

/* Saved by two processes, gone on with by three, or by one: as if nothing had happened. */
static void a_job_goes_on_with_another_number_of_processes(void)
{
    static const char *const nets[] = {plain, normed, recurrent};
    static const char *const rules[] = {"", "type: 'Adam' momentum2: 0.99 delta: 1e-6",
                                        "type: 'AdaDelta' delta: 1e-6 iter_size: 2"};
    char saved[300];

    snprintf(saved, sizeof saved, "%s", test_path("s_iter_3.solverstate"));
    for (size_t n = 0; n < 3; n++) {
        struct play whole = {.net = nets[n], .extra = rules[n], .ranks = 2, .workers = 6};
        whole.processors = 2;
        struct play part = whole;
        whole.iterations = 5;
        part.iterations = 3;
        part.save = true;
        run(&whole);
        run(&part);
        part.save = false;
        part.restore = saved;
        part.iterations = 2;
        for (part.ranks = 1; part.ranks <= 3; part.ranks += 2) {
            run(&part);
            if (!same_bits(whole.values, part.values, sizeof whole.values))
                TEST_FAIL("net %zu goes on otherwise with %u processes", n, part.ranks);
        }
    }
}

int main(int argc, char **argv)
{
    RUN(any_number_of_processes_gives_the_same_bits)
    RUN(sums_are_means_at_another_rate)
    RUN(forms_agree_within_rounding)
    RUN(several_passes_make_an_iteration)
    RUN(a_job_goes_on_with_another_number_of_processes)
}
