/* ensemble_net_test.c - test nets are dealt out, batches are uneven, and nobody can tell. */
#include "ensembles.h"
#include "samples.h"

#define IP(name, from, more)                                                           \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" from "' top: '" name "'" \
    "  inner_product_param { num_output: 4 weight_filler { type: 'xavier' } } " more " }"
#define SOLVER_BASE                                                               \
    "random_seed: 3 base_lr: 0.01 lr_policy: 'fixed' momentum: 0.9 max_iter: 100" \
    " snapshot_after_train: false "

/* --- test nets ---------------------------------------------------------------------------------- */

/* The test net has a layer, and weights, that the training net has not. */
static const char tested[] = SOLVER_BASE
    "test_iter: 5 test_interval: 2 test_compute_loss: true test_state { stage: 'more' }"
    "net_param { layer { name: 'd' type: 'DummyData' top: 'x' top: 't'"
    "  dummy_data_param { shape { dim: 2 dim: 5 } shape { dim: 2 dim: 4 }"
    "  data_filler { type: 'gaussian' } } }" IP("a", "x", "") IP("b", "a", "")
        IP("m", "b",
           "include { stage: 'more' phase: TEST }") "layer { name: 'l' type: 'EuclideanLoss' "
                                                    "bottom: 'b' bottom: 't' top: 'l' } }";

/* The test before the first iteration, and those after, which begin where the one before ended. */
static void test_and_train(struct member *member)
{
    member_step(member, 1);
    CHECK_OK(member->status);
    member->values[0] = (float)strlen(member->log); /* of the first test */
    CHECK_OK(psd_solver_step(member->solver, 5));
}

static void tests_say_the_same_for_any_number_of_processes(void)
{
    static struct job alone = {.ranks = 1, .act = test_and_train, .alone = true}, one, many;

    alone.solver = tested;
    job_run(&alone);
    CHECK(strstr(alone.members[0].log, "Test net output #7: m"));
    one = (struct job){.solver = tested, .ranks = 1, .act = test_and_train};
    one.options.seat.workers = 4;
    one.options.processors = 2;
    job_run(&one);
    size_t first = (size_t)alone.members[0].values[0];
    CHECK(first > 0 && (size_t)one.members[0].values[0] == first);
    CHECK(same_bits(alone.members[0].log, one.members[0].log, first));
    for (unsigned ranks = 1; ranks <= 3; ranks++) {
        many = one;
        many.ranks = ranks;
        many.options.processors = ranks;
        job_run(&many);
        for (unsigned i = 0; i < ranks; i++)
            CHECK_TEXT(one.members[0].log, many.members[i].log);
    }
}

/* --- uneven batches ----------------------------------------------------------------------------- */

static void make_labels(unsigned i, Caffe__Datum *datum)
{
    datum->label = (int32_t)(i % 4);
    datum->data.data[i % SAMPLE_SIZE] = (uint8_t)(200 - i);
}

static void train_six(struct member *member)
{
    member_step(member, 6);
    CHECK_OK(member->status);
}

static float largest_difference(const struct member *a, const struct member *b)
{
    float most = 0, scale = 0;

    CHECK(a->n_values == b->n_values && a->n_values > 0);
    for (size_t i = 0; i < a->n_values; i++) {
        most = fmaxf(most, fabsf(a->values[i] - b->values[i]));
        scale = fmaxf(scale, fabsf(a->values[i]));
    }
    return most / scale;
}

/* A solver of a net that learns what is in a database; good until the next. */
static const char *learner(void)
{
    static char text[4000];

    snprintf(text, sizeof text,
             SOLVER_BASE
             "display: 1 average_loss: 2 snapshot_prefix: '%s'"
             " net_param { layer { name: 'd' type: 'Data' top: 'x' top: 't'"
             " transform_param { scale: 0.00390625 }"
             " data_param { source: '%s' batch_size: 5 backend: LMDB } }" IP("a", "x", "")
                 IP("b", "a", "") " layer { name: 'l' type: 'SoftmaxWithLoss'"
                                  " bottom: 'b' bottom: 't' top: 'l' }"
                                  " layer { name: 'acc' type: 'Accuracy' bottom: 'b' bottom: 't'"
                                  " top: 'acc' } }",
             test_path("s"), samples_write("db", 30, make_labels));
    return text;
}

/* Seven samples: three, two and two. */
static void a_global_batch_is_dealt_out_unevenly(void)
{
    static struct job one = {.ranks = 1, .act = train_six}, many;

    one.solver = learner();
    one.options.global_batch = 7;
    one.options.seat.workers = 1;
    job_run(&one);
    for (unsigned ranks = 1; ranks <= 3; ranks++) {
        for (unsigned processors = 1; processors <= 3; processors += 2) {
            many = one;
            many.ranks = ranks;
            many.options.seat.workers = 3;
            many.options.processors = processors;
            job_run(&many);
            CHECK(largest_difference(&one.members[0], &many.members[0]) < 1e-5f);
        }
    }
}

/* Six rows of loss, smoothed, accuracy and loss. */
static void check_shown(const struct job *job, const struct job *one, const struct job *first)
{
    enum { NUMBERS = 6 * 3 };
    const float *all = one->members[0].shown, *shown = job->members[0].shown;

    CHECK(job->members[0].n_shown == NUMBERS && one->members[0].n_shown == NUMBERS);
    for (size_t i = 0; i < NUMBERS; i++)
        CHECK(fabsf(shown[i] - all[i]) <= 1e-5f);
    for (unsigned i = 0; i < job->ranks; i++)
        CHECK(same_bits(job->members[i].shown, first->members[0].shown,
                        sizeof job->members[i].shown));
}

/* Ten samples for four workers: three, three, two, two. What is shown is what one with all shows. */
static void what_is_shown_counts_every_sample_as_much(void)
{
    static struct job one = {.ranks = 1, .act = train_six}, first, many;

    one.solver = learner();
    one.options.global_batch = 10;
    one.options.seat.workers = 1;
    job_run(&one);
    for (unsigned ranks = 1; ranks <= 4; ranks++) {
        many = one;
        many.ranks = ranks;
        many.options.seat.workers = 4;
        many.options.processors = 1 + ranks % 2;
        job_run(&many);
        if (ranks == 1)
            first = many;
        check_shown(&many, &one, &first);
    }
}

/* Two samples' worth of what each worker's net says of its three, or two. */
static void outputs_of_samples_are_shown_of_those_that_all_have(void)
{
    static struct job first, many;
    char *text = psd_alloc_text("%s", learner());
    size_t end = strlen(text) - 1; /* before the net's bracket */
    char *more = psd_alloc_text("%.*s layer { name: 'p' type: 'Softmax' bottom: 'b' top: 'p' } }",
                                (int)end, text);

    for (unsigned ranks = 1; ranks <= 4; ranks++) {
        many = (struct job){.solver = more, .ranks = ranks, .act = train_six};
        many.options.global_batch = 10;
        many.options.seat.workers = 4;
        many.options.processors = 2;
        job_run(&many);
        if (ranks == 1)
            first = many;
        CHECK(many.members[0].n_shown == 6 * (3 + 2 * (size_t)4));
        for (unsigned i = 0; i < ranks; i++)
            CHECK(same_bits(many.members[i].shown, first.members[0].shown,
                            sizeof first.members[0].shown));
    }
    for (size_t i = 3; i < 3 + 8; i += 4) { /* the first row, sample by sample */
        const float *p = first.members[0].shown + i;
        CHECK_NEAR(p[0] + p[1] + p[2] + p[3], 1, 1e-5);
    }
    psd_alloc_free(more);
    psd_alloc_free(text);
}

/* --- going on ------------------------------------------------------------------------------------ */

static void save_after_six(struct member *member)
{
    train_six(member);
    CHECK_OK(psd_solver_snapshot(member->solver));
}

static void go_on(struct member *member)
{
    char *path = psd_alloc_text("%s_iter_6.solverstate", member->solver->prefix);

    member_note(member, psd_solver_restore(member->solver, path));
    psd_alloc_free(path);
}

static void go_on_with_six(struct member *member)
{
    go_on(member);
    CHECK_OK(member->status);
    train_six(member);
    member->saved = (int64_t)member->solver->passes; /* from where it went on */
}

static void run_with(struct job *job, unsigned workers, size_t batch)
{
    job->ranks = workers > 1 ? 2 : 1;
    job->options.seat.workers = workers;
    job->options.global_batch = batch;
    job_run(job);
}

/* Six iterations with so many workers and samples are saved, and others go on. */
static void another_batch_is_told_once_and_goes_on_in_the_same_place(void)
{
    static struct job job = {.word = "to go on exactly"};
    static const struct {
        unsigned then, now;
        size_t batch_then, batch; /* 0: 5 for each */
        int64_t passes;           /* from where it goes on */
        const char *words;        /* of the warning; NULL: there is none */
    } cases[] = {
        {4, 4, 10, 10, 6, NULL},
        {2, 2, 0, 10, 6, NULL},
        {2, 2, 10, 0, 6, NULL},
        {4, 2, 10, 10, 6,
         "--logical-workers 4 and 10 samples in a pass, and this run has 2 and 10"},
        {4, 4, 10, 20, 3, "exactly, give --logical-workers 4 --global-batch 10\n"},
        {1, 2, 0, 0, 3, "exactly, give --logical-workers 1 and a batch_size of 5\n"},
        {3, 3, 7, 0, 2, "7 samples in a pass, and this run has 3 and 15"},
    };

    job.solver = learner();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        job.act = save_after_six;
        run_with(&job, cases[i].then, cases[i].batch_then);
        job.act = go_on_with_six;
        run_with(&job, cases[i].now, cases[i].batch);
        const char *log = job.members[0].log;
        CHECK(job.members[0].saved == cases[i].passes);
        CHECK(cases[i].words ? strstr(log, cases[i].words) != NULL : !*log);
        CHECK_TEXT("", job.members[1].log);
    }
}

/* With or without --global-batch: shares are what counts. */
static void equal_shares_go_on_to_equal_values(void)
{
    static struct job job = {.act = save_after_six}, other;

    job.solver = learner();
    run_with(&job, 2, 0);
    job.act = go_on_with_six;
    other = job;
    run_with(&job, 2, 0);
    run_with(&other, 2, 10);
    CHECK(same_bits(job.members[0].values, other.members[0].values, sizeof job.members[0].values));
}

/* --- parts -------------------------------------------------------------------------------------- */

static unsigned part; /* that is written */

static void make_part(unsigned i, Caffe__Datum *datum)
{
    make_labels(i + part, datum);
}

/* A solver for workers that read parts of their own, of which `source` has those from `first` to `last`. */
static char *learner_apart(const char *source, unsigned first, unsigned last)
{
    char name[40];

    for (part = first; part <= last; part++) {
        snprintf(name, sizeof name, "%s_%u", source, part);
        samples_write(name, 20 + part, make_part);
    }
    return psd_alloc_text(
        SOLVER_BASE "snapshot_prefix: '%s' net_param { layer { name: 'd' type: 'Data' top: 'x' "
                    "top: 't' transform_param { scale: 0.00390625 } data_param { source: '%s'"
                    " batch_size: 3 backend: LMDB shared_file_system: false } }" IP(
                        "b", "x", "") " layer { name: 'l' type: 'SoftmaxWithLoss'"
                                      " bottom: 'b' bottom: 't' top: 'l' } }",
        test_path("s"), scratch(source));
}

/* What is not here is on another machine, and nobody here asks for it. */
static void a_process_needs_only_the_parts_of_its_workers(void)
{
    static struct job one = {.ranks = 1, .act = train_six}, two;
    char *all = learner_apart("all", 0, 3), *here = learner_apart("here", 0, 1);
    char *there = learner_apart("there", 2, 3);

    one.solver = all;
    one.options.seat.workers = 4;
    for (one.options.processors = 1; one.options.processors <= 2; one.options.processors++) {
        job_run(&one);
        two = one;
        two.ranks = 2;
        two.solvers[0] = here;
        two.solvers[1] = there;
        job_run(&two);
        for (unsigned i = 0; i < 2; i++)
            CHECK(same_bits(one.members[0].values, two.members[i].values,
                            sizeof one.members[0].values));
    }
    psd_alloc_free(all);
    psd_alloc_free(here);
    psd_alloc_free(there);
}

static void a_job_with_parts_cannot_be_resized(void)
{
    static struct job job = {.ranks = 1, .act = save_after_six};
    char *text = learner_apart("all", 0, 3);

    job.solver = text;
    job.options.seat.workers = 4;
    job_run(&job);
    job.act = go_on;
    job_run(&job);
    CHECK_OK(job.members[0].status);
    for (unsigned workers = 1; workers < 4; workers++) {
        job.options.seat.workers = workers;
        job_run(&job);
        CHECK(job.members[0].status == PSD_ECONFIG);
        CHECK(strstr(job.members[0].sentence, "s_iter_6.poseidonstate is of a job with "
                                              "--logical-workers 4, each of which reads a part"));
        CHECK(strstr(job.members[0].sentence, "it cannot be resized to "));
    }
    psd_alloc_free(text);
}

/* --- samples that are left out ------------------------------------------------------------------ */

/* About one sample of three comes through, so that some passes have none. */
static const char filtered[] = SOLVER_BASE
    "net_param { layer { name: 'd' type: 'DummyData' top: 'x' top: 't' top: 's' top: 'n'"
    "  dummy_data_param { shape { dim: 3 dim: 5 } shape { dim: 3 dim: 4 } shape { dim: 3 }"
    "  shape { dim: 3 } data_filler { type: 'gaussian' } data_filler { type: 'gaussian' }"
    "  data_filler { type: 'uniform' max: 1.5 } data_filler { type: 'uniform' max: 6.9 } } }"
    "layer { name: 'c' type: 'Threshold' bottom: 's' top: 'c' threshold_param { threshold: 1 } }"
    "layer { name: 'e' type: 'Embed' bottom: 'n' top: 'e' embed_param { num_output: 5"
    "  input_dim: 7 weight_filler { type: 'gaussian' } } }"
    "layer { name: 'p' type: 'Parameter' top: 'p' parameter_param { shape { dim: 5 } } }"
    "layer { name: 'b' type: 'Bias' bottom: 'x' bottom: 'p' top: 'b' }"
    "layer { name: 'y' type: 'Eltwise' bottom: 'b' bottom: 'e' top: 'y' }"
    "layer { name: 'f' type: 'Filter' bottom: 'y' bottom: 't' bottom: 'c' top: 'fy' top: 'ft' }"
    "layer { name: 'o' type: 'Dropout' bottom: 'fy' top: 'fy' }" IP(
        "a", "fy",
        "") "layer { name: 'l' type: 'EuclideanLoss' bottom: 'a' bottom: 'ft' top: 'l' } }";

static void a_filter_leaves_the_same_bits_on_any_number_of_processes(void)
{
    static struct job one = {.solver = filtered, .ranks = 1, .act = train_six}, many;

    one.options.seat.workers = 4;
    one.options.processors = 1;
    job_run(&one);
    for (unsigned ranks = 1; ranks <= 3; ranks++) {
        many = one;
        many.ranks = ranks;
        many.options.processors = 2;
        job_run(&many);
        CHECK(one.members[0].n_values == many.members[0].n_values);
        CHECK(same_bits(one.members[0].values, many.members[0].values,
                        one.members[0].n_values * sizeof(float)));
    }
}

int main(int argc, char **argv)
{
    RUN(tests_say_the_same_for_any_number_of_processes)
    RUN(a_global_batch_is_dealt_out_unevenly)
    RUN(what_is_shown_counts_every_sample_as_much)
    RUN(outputs_of_samples_are_shown_of_those_that_all_have)
    RUN(another_batch_is_told_once_and_goes_on_in_the_same_place)
    RUN(equal_shares_go_on_to_equal_values)
    RUN(a_process_needs_only_the_parts_of_its_workers)
    RUN(a_job_with_parts_cannot_be_resized)
    RUN(a_filter_leaves_the_same_bits_on_any_number_of_processes)
}
