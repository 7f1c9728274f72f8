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

/* Seven samples: three, two and two. */
static void a_global_batch_is_dealt_out_unevenly(void)
{
    static struct job one = {.ranks = 1, .act = train_six}, many;
    char text[4000];

    snprintf(text, sizeof text,
             SOLVER_BASE
             "net_param { layer { name: 'd' type: 'Data' top: 'x' top: 't'"
             " transform_param { scale: 0.00390625 }"
             " data_param { source: '%s' batch_size: 5 backend: LMDB } }" IP("a", "x", "")
                 IP("b", "a", "") " layer { name: 'l' type: 'SoftmaxWithLoss'"
                                  " bottom: 'b' bottom: 't' top: 'l' } }",
             samples_write("db", 30, make_labels));
    one.solver = text;
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

int main(int argc, char **argv)
{
    RUN(tests_say_the_same_for_any_number_of_processes)
    RUN(a_global_batch_is_dealt_out_unevenly)
}
