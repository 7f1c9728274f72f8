/* emulation_test.c - members that train nothing, as threads of this process. */
#include "cli/emulation.h"
#include "comm/scheme.h"
#include "test.h"

#include <pthread.h>

enum { RANKS = 2, ITERATIONS = 3, BATCH = 4 };

/* What one training is. */
struct training {
    struct psd_workload *workload;
    struct psd_job *job;
    bool real, no_overlap;
};

struct member {
    const struct training *training;
    unsigned rank;
    psd_status status;
    char sentence[200];
    struct psd_emulation_result result;
};

/* A convolution and an inner product with biases; 20 ms forward, 40 backward. The inner product is
 * rebuilt so slowly that each iteration takes 12 ms longer: 2 * 300 * 200 operations a sample more than
 * alone, for 4 samples of the other member. */
static struct psd_workload *new_workload(void)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("test", BATCH, &workload));
    CHECK_OK(psd_workload_add_layer(workload, "conv", 1));
    CHECK_OK(psd_workload_add_param(workload, "conv[0]", 10, 90));
    CHECK_OK(psd_workload_add_param(workload, "conv[1]", 1, 10));
    CHECK_OK(psd_workload_add_layer(workload, "pool", 1));
    CHECK_OK(psd_workload_add_layer(workload, "fc", 1));
    CHECK_OK(psd_workload_add_param(workload, "fc[0]", 300, 200));
    workload->params[2].factors = true;
    CHECK_OK(psd_workload_add_param(workload, "fc[1]", 1, 300));
    workload->params[3].bias_of = 2;
    for (size_t i = 0; i < workload->n_layers; i++) {
        workload->layers[i].forward_s = 0.02 / 3;
        workload->layers[i].backward_s = 0.04 / 3;
    }
    workload->rebuild_flops = 2.0 * 300 * 200 * BATCH / 0.012;
    return workload;
}

static void *train(void *arg)
{
    struct member *member = arg;
    const struct training *training = member->training;
    size_t floats = psd_emulation_floats(training->workload);
    float *gradients = calloc(floats, sizeof *gradients);
    struct psd_emulation emulation = {
        .workload = training->workload,
        .job = training->job,
        .seat = {.coordinator = "inproc://emulation",
                 .rank = member->rank,
                 .ranks = RANKS,
                 .batch = BATCH,
                 .timeout_ms = 60000},
        .gradients = gradients,
        .iterations = ITERATIONS,
        .no_overlap = training->no_overlap,
        .real = training->real,
    };

    for (size_t i = 0; gradients && i < floats; i++)
        gradients[i] = (float)(1 + i % 5 + member->rank);
    member->status = psd_emulation_run(&emulation, &member->result);
    snprintf(member->sentence, sizeof member->sentence, "%s", psd_error());
    free(gradients);
    return NULL;
}

static void run(struct training *training, enum psd_scheme scheme, struct member members[RANKS])
{
    pthread_t threads[RANKS];

    training->workload = new_workload();
    CHECK_OK(psd_scheme_job(scheme, training->workload, RANKS,
                            &(struct psd_plan_network){1e6, 50e-6}, &training->job));
    for (unsigned i = 0; i < RANKS; i++) {
        members[i] = (struct member){.training = training, .rank = i};
        CHECK(pthread_create(&threads[i], NULL, train, &members[i]) == 0);
    }
    for (unsigned i = 0; i < RANKS; i++) {
        pthread_join(threads[i], NULL);
        if (members[i].status != PSD_OK)
            TEST_FAIL("member %u: %s", i, members[i].sentence);
    }
}

static void clear(struct training *training)
{
    psd_job_destroy(training->job);
    psd_workload_destroy(training->workload);
}

static void layers_and_what_is_rebuilt_take_their_time(void)
{
    static struct member members[RANKS];
    struct training training = {.real = false};

    run(&training, PSD_SCHEME_HYBRID_BYTES, members);
    CHECK(psd_job_is_factored(training.job, 2));
    for (unsigned i = 0; i < RANKS; i++) {
        const struct psd_emulation_result *result = &members[i].result;
        fprintf(stderr, "    %.4f s, works %.4f s, %.0f bytes\n", result->busy.elapsed_s,
                result->worked_s, result->sent);
        CHECK(result->busy.elapsed_s >= ITERATIONS * 0.06);
        CHECK_NEAR(result->worked_s, ITERATIONS * 0.012, 0.013); /* the last may be still to come */
        CHECK(result->worked_s > 0.02);
        CHECK(result->sent >= ITERATIONS * (300 + 200) * BATCH * 4);
        CHECK(result->sent < ITERATIONS * 2 * (300 + 200) * BATCH * 4 + ITERATIONS * 8000);
    }
    clear(&training);
}

static void real_arithmetic_gives_all_members_the_same_values(void)
{
    static const enum psd_scheme schemes[] = {PSD_SCHEME_HYBRID_BYTES,
                                              PSD_SCHEME_SERVERS_NO_OVERLAP};
    static struct member members[RANKS];

    for (size_t i = 0; i < 2; i++) {
        struct training training = {.real = true, .no_overlap = i == 1};
        run(&training, schemes[i], members);
        CHECK(members[0].result.digest == members[1].result.digest && members[0].result.digest);
        CHECK_NEAR(members[0].result.worked_s, 0, 0);
        clear(&training);
    }
}

static void gradients_have_room_for_the_largest_factor(void)
{
    struct psd_workload *workload = new_workload();

    CHECK(psd_emulation_floats(workload) == 900 + 10 + 60000 + 300);
    workload->batch = 1000;
    CHECK(psd_emulation_floats(workload) == 300000);
    psd_workload_destroy(workload);
}

int main(int argc, char **argv)
{
    RUN(gradients_have_room_for_the_largest_factor)
    RUN(layers_and_what_is_rebuilt_take_their_time)
    RUN(real_arithmetic_gives_all_members_the_same_values)
}
