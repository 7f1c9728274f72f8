/* ensemble_end_test.c - how jobs end: when a rank fails, when replicas part, when one is asked to stop,
 * when a snapshot cannot be written, when there is no memory. */
#include "ensembles.h"
#include "samples.h"

#define IP(name, from, more)                                                           \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" from "' top: '" name "'" \
    "  inner_product_param { num_output: 4 weight_filler { type: 'xavier' } } " more " }"
#define SOLVER_BASE                                                                   \
    "random_seed: 3 base_lr: 0.01 lr_policy: 'fixed' momentum: 0.9 max_iter: 1000000" \
    " snapshot_after_train: false "
#define NOISE                                                              \
    "layer { name: 'd' type: 'DummyData' top: 'x' top: 't'"                \
    "  dummy_data_param { shape { dim: 2 dim: 5 } shape { dim: 2 dim: 4 }" \
    "  data_filler { type: 'gaussian' } } }"
#define LOSS "layer { name: 'l' type: 'EuclideanLoss' bottom: 'b' bottom: 't' top: 'l' }"

static const char noisy[] = SOLVER_BASE "net_param { " NOISE IP("a", "x", "")
    IP("f", "a", "param { lr_mult: 0 } param { lr_mult: 0 }") IP("b", "f", "") LOSS "}";

/* A solver text with a place for snapshots; good until the next. */
static const char *solver_at(const char *solver, const char *prefix)
{
    static char text[4000];

    snprintf(text, sizeof text, "%s snapshot_prefix: '%s'", solver, prefix);
    return text;
}

/* --- failures ------------------------------------------------------------------------------------- */

static void spoil_sample_4(unsigned i, Caffe__Datum *datum)
{
    datum->label %= 4;
    if (i == 4)
        datum->channels = 2;
}

static void train_five(struct member *member)
{
    member_step(member, 5);
}

/* Sample 4 is that of worker 1 in iteration 1. */
static void a_rank_that_fails_tells_all_others_its_sentence(void)
{
    static struct job job = {.ranks = 3, .act = train_five};
    char text[5000], expected[600];

    snprintf(text, sizeof text,
             SOLVER_BASE "net_param { layer { name: 'd' type: 'Data' top: 'x' top: 't'"
                         " data_param { source: '%s' batch_size: 1 backend: LMDB } }" IP(
                             "b", "x", "") " layer { name: 'l' type: 'SoftmaxWithLoss'"
                                           " bottom: 'b' bottom: 't' top: 'l' } }",
             samples_write("db", 12, spoil_sample_4));
    job.solver = text;
    job_run(&job);
    CHECK(job.members[1].status == PSD_ECONFIG);
    snprintf(expected, sizeof expected, "rank 1: %s", job.members[1].sentence);
    for (unsigned i = 0; i < 3; i += 2) {
        CHECK(job.members[i].status == PSD_EPEER);
        CHECK_TEXT(expected, job.members[i].sentence);
    }
}

static void take_the_start(struct member *member)
{
    member_note(member, psd_solver_start(member->solver));
}

/* Rank 2's too, but rank 1's is the first. */
static void a_rank_that_would_train_something_else_is_named_on_all(void)
{
    static const struct {
        const char *more[3], *sentence;
    } cases[] = {
        {{"display: 3", "display: 4", "stepsize: 3"},
         "display on rank 1 is not what it is on rank 0: another solver file?"},
        {{"iter_size: 1", "", "snapshot_prefix: 'elsewhere' gamma: 2"},
         "gamma on rank 2 is not what it is on rank 0: another solver file?"},
        {{"test_iter: 1 test_interval: 3", "test_iter: 1 test_interval: 3",
          "test_iter: 2 test_interval: 3"},
         "test_iter on rank 2 is not what it is on rank 0: another solver file?"},
    };
    char texts[3][5000];

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        static struct job job;
        job = (struct job){.ranks = 3, .act = take_the_start};
        for (unsigned i = 0; i < 3; i++) {
            snprintf(texts[i], sizeof texts[i], "%s %s", noisy, cases[c].more[i]);
            job.solvers[i] = texts[i];
        }
        job_run(&job);
        for (unsigned i = 0; i < 3; i++) {
            CHECK(job.members[i].status == PSD_EPEER);
            CHECK_TEXT(cases[c].sentence, job.members[i].sentence);
        }
    }
}

static void part_after_two(struct member *member)
{
    member_step(member, 2);
    CHECK_OK(member->status);
    if (member->rank == 1)
        psd_blob_values(&member->solver->net->params[2]->blob)[3] += 1;
    member_step(member, 2);
}

/* In iteration 3, as a display every 3 iterations, or a snapshot, would name it. */
static void replicas_that_part_are_found(void)
{
    static struct job job = {.ranks = 3, .act = part_after_two, .options = {.verify = 3}};

    job.solver = solver_at(noisy, test_path("s"));
    job_run(&job);
    for (unsigned i = 0; i < job.ranks; i++) {
        CHECK(job.members[i].status == PSD_EPEER);
        CHECK_TEXT("at iteration 3 f[0] on rank 1 is not what it is on rank 0: the replicas "
                   "have parted",
                   job.members[i].sentence);
    }
}

static void keep_frozen(struct member *member)
{
    float before[4 * 4], *f = psd_blob_values(&member->solver->net->params[2]->blob);
    float a = psd_blob_values(&member->solver->net->params[0]->blob)[0];

    memcpy(before, f, sizeof before);
    member_step(member, 3);
    CHECK_OK(member->status);
    CHECK(same_bits(before, f, sizeof before));
    CHECK(psd_blob_values(&member->solver->net->params[0]->blob)[0] != a);
}

static void a_frozen_layer_stays_as_it_is(void)
{
    static struct job job = {.ranks = 2, .act = keep_frozen, .options = {.seat = {.workers = 4}}};

    job.solver = solver_at(noisy, test_path("s"));
    job_run(&job);
}

/* --- requests ------------------------------------------------------------------------------------- */

static void solve(struct member *member)
{
    member_note(member, psd_solver_solve(member->solver));
}

static enum psd_solver_action stop_on_rank_2(void *context)
{
    const struct member *member = context;

    return member->rank == 2 && member->solver->iteration >= 3 ? PSD_SOLVER_STOP : PSD_SOLVER_GO_ON;
}

static void one_that_is_asked_to_stop_stops_all(void)
{
    static struct job job = {.ranks = 3, .act = solve, .action = stop_on_rank_2};

    job.solver = solver_at(noisy, test_path("s"));
    job_run(&job);
    for (unsigned i = 0; i < job.ranks; i++) {
        CHECK(job.members[i].status == PSD_OK && job.members[i].iteration >= 3);
        CHECK(job.members[i].iteration == job.members[0].iteration);
        CHECK(job.members[i].saved == job.members[0].iteration);
    }
}

/* Rank 1 wants a snapshot; when there is one, rank 0 wants to stop. */
static enum psd_solver_action save_on_rank_1(void *context)
{
    struct member *member = context;

    if (member->saved < 0 && member->solver->saved >= 0)
        member->saved = member->solver->saved;
    if (member->rank == 1 && member->solver->iteration >= 2 && member->saved < 0)
        return PSD_SOLVER_SNAPSHOT;
    return member->rank == 0 && member->saved >= 0 ? PSD_SOLVER_STOP : PSD_SOLVER_GO_ON;
}

static void solve_until_saved(struct member *member)
{
    member->saved = -1;
    CHECK_OK(psd_solver_solve(member->solver));
}

static void one_that_is_asked_for_a_snapshot_has_one_made(void)
{
    static struct job job = {.ranks = 2, .act = solve_until_saved, .action = save_on_rank_1};
    char name[60];

    job.solver = solver_at(noisy, test_path("s"));
    job_run(&job);
    CHECK(job.members[0].saved >= 2 && job.members[1].saved == job.members[0].saved);
    snprintf(name, sizeof name, "s_iter_%lld.solverstate", (long long)job.members[0].saved);
    CHECK(access(test_path(name), F_OK) == 0);
}

/* Nobody is the worse for it: all go on together. */
static void save_and_go_on(struct member *member)
{
    CHECK_OK(psd_solver_step(member->solver, 2));
    member_note(member, psd_solver_snapshot(member->solver));
    CHECK_OK(psd_solver_step(member->solver, 2));
}

static void a_snapshot_that_cannot_be_written_fails_on_all_ranks(void)
{
    static struct job job = {.ranks = 3, .act = save_and_go_on};

    job.solver = solver_at(noisy, test_path("nowhere/s"));
    job_run(&job);
    CHECK(strstr(job.members[0].sentence, "no snapshot at iteration 2: cannot write "));
    CHECK(strstr(job.members[0].sentence, "nowhere"));
    for (unsigned i = 0; i < job.ranks; i++) {
        CHECK(job.members[i].status == PSD_ECONFIG && job.members[i].saved == -1);
        CHECK_TEXT(job.members[0].sentence, job.members[i].sentence);
    }
}

enum {
    SHORTAGES = 80
}; /* allocations of a snapshot that fail, one after the other, and some more */

/* The first snapshot is a good one. Where one fails all have the reason, and train on. */
static void save_without_memory(struct member *member)
{
    CHECK_OK(psd_solver_snapshot(member->solver));
    for (long n = 0; n < SHORTAGES; n++) {
        CHECK_OK(psd_solver_step(member->solver, 1));
        if (member->rank == 0)
            psd_alloc_fail_at(n);
        psd_status status = psd_solver_snapshot(member->solver);
        if (member->rank == 0)
            psd_alloc_fail_at(-1);
        CHECK(status == PSD_OK || status == PSD_ENOMEM);
        CHECK(status == PSD_OK || strstr(psd_error(), "no snapshot at iteration "));
        CHECK(status == PSD_OK || strstr(psd_error(), ": out of memory: "));
        member->values[n] = status == PSD_OK ? 0 : 1;
    }
    CHECK_OK(psd_solver_snapshot(member->solver));
}

static void a_snapshot_without_memory_fails_on_all_ranks_and_training_goes_on(void)
{
    static struct job job = {.ranks = 3, .act = save_without_memory};
    float *values = job.members[0].values, failed = 0;

    job.solver = solver_at(noisy, test_path("s"));
    job_run(&job);
    for (size_t n = 0; n < SHORTAGES; n++)
        failed += values[n];
    CHECK(values[0] != 0 && failed > 20 && values[SHORTAGES - 1] == 0);
    for (unsigned i = 1; i < job.ranks; i++)
        CHECK(same_bits(values, job.members[i].values, SHORTAGES * sizeof *values));
}

/* Rank 1 has no room for what workers carry, and later has. Since allocations fail for all threads, others
 * wait meanwhile: from when all values are settled until rank 1 is about to tell how it went. */
static pthread_barrier_t before_shortage, after_shortage;
static _Thread_local struct psd_team team; /* as it is */
static _Thread_local bool is_short;

static psd_status settle_before_shortage(void *context)
{
    CHECK_OK(team.settle(context));
    pthread_barrier_wait(&before_shortage);
    if (is_short)
        psd_alloc_fail_at(0);
    else
        pthread_barrier_wait(&after_shortage);
    return PSD_OK;
}

static psd_status mean_after_shortage(void *context, float *data, size_t count)
{
    if (is_short && psd_alloc_fail_at(-1))
        pthread_barrier_wait(&after_shortage);
    return team.mean(context, data, count);
}

static void save_without_room(struct member *member)
{
    struct psd_team *ours = &member->solver->team;

    CHECK_OK(psd_solver_step(member->solver, 2));
    team = *ours;
    is_short = member->rank == 1;
    ours->settle = settle_before_shortage;
    ours->mean = mean_after_shortage;
    member_note(member, psd_solver_snapshot(member->solver));
    *ours = team;
    CHECK_OK(psd_solver_step(member->solver, 1));
    CHECK_OK(psd_solver_snapshot(member->solver));
}

static void a_process_without_room_for_what_is_carried_costs_one_snapshot(void)
{
    static struct job job = {.ranks = 3, .act = save_without_room};

    CHECK(pthread_barrier_init(&before_shortage, NULL, 3) == 0);
    CHECK(pthread_barrier_init(&after_shortage, NULL, 3) == 0);
    job.solver = solver_at(
        SOLVER_BASE
        "net_param { layer { name: 'd' type: 'DummyData' top: 'x' top: 'c' top: 't'"
        "  dummy_data_param { shape { dim: 3 dim: 2 dim: 4 } shape { dim: 3 dim: 2 }"
        "    shape { dim: 3 dim: 2 dim: 5 } data_filler { type: 'gaussian' }"
        "    data_filler { type: 'constant' value: 1 } data_filler { type: 'gaussian' } } }"
        "  layer { name: 'b' type: 'LSTM' bottom: 'x' bottom: 'c' top: 'b' recurrent_param {"
        "    num_output: 5 weight_filler { type: 'uniform' min: -0.3 max: 0.3 } } }" LOSS "}",
        test_path("s"));
    job_run(&job);
    for (unsigned i = 0; i < job.ranks; i++) {
        CHECK(job.members[i].status == PSD_ENOMEM && job.members[i].saved == -1);
        CHECK_TEXT("no snapshot at iteration 2: out of memory: in another process than rank 0",
                   job.members[i].sentence);
    }
    CHECK(access(test_path("s_iter_3.solverstate"), F_OK) == 0);
}

/* One that is still being written is not forgotten when another is asked for. */
static void save_twice(struct member *member)
{
    CHECK_OK(psd_solver_step(member->solver, 2));
    CHECK_OK(psd_solver_snapshot(member->solver));
}

static void a_snapshot_waits_for_the_one_before(void)
{
    static struct job job = {.ranks = 2, .act = save_twice};
    char text[5000];

    snprintf(text, sizeof text, "snapshot: 1 %s", solver_at(noisy, test_path("s")));
    job.solver = text;
    job_run(&job);
    CHECK(access(test_path("s_iter_1.solverstate"), F_OK) == 0);
    CHECK(access(test_path("s_iter_2.solverstate"), F_OK) == 0);
}

/* --- memory ------------------------------------------------------------------------------------- */

static void start_without_memory(struct member *member)
{
    struct psd_ensemble_options options = member->job->options;
    struct psd_ensemble *ensemble = NULL;

    options.seat.coordinator = "inproc://poor";
    options.seat.timeout_ms = 600000;
    psd_alloc_fail_at((long)member->job->options.verify);
    psd_status status = psd_ensemble_create(&options, &ensemble);
    if (status == PSD_OK) {
        member->solver->team = psd_ensemble_team(ensemble);
        status = psd_solver_start(member->solver);
    }
    psd_ensemble_destroy(ensemble);
    bool failed = psd_alloc_fail_at(-1);
    CHECK(status == PSD_OK || (failed && status == PSD_ENOMEM));
    member->saved = failed;
}

static void start_survives_every_failed_allocation(void)
{
    static struct job job = {.ranks = 1, .alone = true, .act = start_without_memory};
    char text[5000];
    uint64_t n = 0;

    snprintf(text, sizeof text, "test_iter: 1 test_interval: 1 %s",
             solver_at(noisy, test_path("s")));
    job.solver = text;
    job.options.processors = 2;
    job.options.seat.workers = 2;
    do {
        job.options.verify = n++;
        job_run(&job);
    } while (job.members[0].saved);
    CHECK(n > 100);
}

int main(int argc, char **argv)
{
    RUN(a_rank_that_fails_tells_all_others_its_sentence)
    RUN(a_rank_that_would_train_something_else_is_named_on_all)
    RUN(replicas_that_part_are_found)
    RUN(a_frozen_layer_stays_as_it_is)
    RUN(one_that_is_asked_to_stop_stops_all)
    RUN(one_that_is_asked_for_a_snapshot_has_one_made)
    RUN(a_snapshot_that_cannot_be_written_fails_on_all_ranks)
    RUN(a_snapshot_without_memory_fails_on_all_ranks_and_training_goes_on)
    RUN(a_process_without_room_for_what_is_carried_costs_one_snapshot)
    RUN(a_snapshot_waits_for_the_one_before)
    RUN(start_survives_every_failed_allocation)
}
