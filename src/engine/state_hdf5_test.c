/* state_hdf5_test.c - snapshots in HDF5, both ways. Caffe's own are read in tests/solver_test.c. */
#include "base/alloc.h"
#include "engine/state_hdf5.h"
#include "nets.h"

/* What an RNN carries is not in Caffe's files. */
#define SOLVER_TEXT                                                                        \
    "net_param { name: 'n'"                                                                \
    "  layer { name: 'd' type: 'DummyData' top: 'x' top: 'c' top: 'l'"                     \
    "    dummy_data_param { shape { dim: 2 dim: 2 dim: 3 } shape { dim: 2 dim: 2 }"        \
    "      shape { dim: 2 dim: 2 } data_filler { type: 'gaussian' }"                       \
    "      data_filler { type: 'constant' value: 1 } data_filler { type: 'constant' } } }" \
    "  layer { name: 'rnn' type: 'RNN' bottom: 'x' bottom: 'c' top: 'y'"                   \
    "    recurrent_param { num_output: 2 weight_filler { type: 'xavier' } } }"             \
    "  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'y' bottom: 'l' top: 'loss'"   \
    "    softmax_param { axis: 2 } } }"                                                    \
    "base_lr: 0.1 lr_policy: 'step' gamma: 0.5 stepsize: 2 type: 'Adam' momentum: 0.9 "    \
    "random_seed: 7 snapshot_format: HDF5 "

static struct psd_solver *make(struct lab *lab)
{
    struct psd_solver *solver = NULL;
    char text[3000];

    snprintf(text, sizeof text, "%s snapshot_prefix: '%s'", SOLVER_TEXT, test_path("s"));
    CHECK(lab_open(lab, NULL, 1));
    lab->document = document_of(SOLVER, text);
    struct psd_solver_options options = {
        .document = lab->document, .device = lab->device, .ops = lab->ops};
    CHECK_OK(psd_solver_create(&options, &solver));
    return solver;
}

static void drop(struct lab *lab, struct psd_solver *solver)
{
    psd_solver_destroy(solver);
    lab_close(lab);
}

static void a_state_comes_back_to_the_bit(void)
{
    struct lab lab;
    float weights[6];
    struct psd_solver *solver = make(&lab);
    char *newest = NULL;

    CHECK_OK(psd_solver_step(solver, 3));
    CHECK_OK(psd_solver_snapshot(solver));
    CHECK_OK(psd_solver_step(solver, 2));
    memcpy(weights, psd_blob_values(&solver->net->params[0]->blob), sizeof weights);
    drop(&lab, solver);
    CHECK(access(test_path("s_iter_3.caffemodel.h5"), F_OK) == 0);
    CHECK(access(test_path("s_iter_3.poseidonstate"), F_OK) == 0);
    solver = make(&lab);
    CHECK_OK(psd_solver_newest(lab.document, NULL, &newest));
    CHECK_TEXT(test_path("s_iter_3.solverstate.h5"), newest);
    CHECK_OK(psd_solver_restore(solver, newest));
    CHECK(solver->iteration == 3);
    CHECK_OK(psd_solver_step(solver, 2));
    CHECK(same_bits(weights, psd_blob_values(&solver->net->params[0]->blob), sizeof weights));
    psd_alloc_free(newest);
    drop(&lab, solver);
}

/* --- states that make no sense ------------------------------------------------------------------ */

static void write_plan(struct psd_hdf5_plan *plan, const char *path)
{
    uint64_t size = 0;

    CHECK_OK(psd_hdf5_plan_lay_out(plan, &size));
    unsigned char *bytes = psd_alloc((size_t)size);
    CHECK(bytes);
    psd_hdf5_plan_write(plan, bytes);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, (size_t)size, file) == size && fclose(file) == 0);
    psd_alloc_free(bytes);
    psd_hdf5_plan_destroy(plan);
}

static void states_that_make_no_sense_are_refused(void)
{
    static const struct {
        const char *name;
        int32_t iter;
        const char *sentence;
    } cases[] = {
        {"nothing", 0, "is not the state of a solver"},
        {"iter", -1, ": iter is -1"},
        {"iter", 5, "has the history of 0 blobs, this solver has "},
        {"history/7", 5, "there is no \"history/0\" in it"},
        {"learned_net", 5, "\"learned_net\" is not one text"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab;
        struct psd_solver *solver = make(&lab);
        struct psd_hdf5_plan *plan = NULL;
        CHECK_OK(psd_hdf5_plan_create(&plan));
        CHECK_OK(psd_hdf5_plan_integer(plan, cases[i].name, cases[i].iter));
        write_plan(plan, test_path("bad.solverstate.h5"));
        CHECK_STATUS(PSD_ECONFIG, psd_solver_restore(solver, test_path("bad.solverstate.h5")));
        if (!strstr(psd_error(), cases[i].sentence))
            TEST_FAIL("%s", psd_error());
        CHECK(solver->iteration == 0);
        drop(&lab, solver);
    }
}

/* --- memory ------------------------------------------------------------------------------------- */

/* What is needed only to sync a folder may fail in silence. */
static void saving_survives_every_failed_allocation(void)
{
    struct lab lab;
    struct psd_solver *solver = make(&lab);
    bool failed = true;

    for (long n = 0; failed; n++) {
        unlink(test_path("s_iter_0.solverstate.h5"));
        unlink(test_path("s_iter_0.caffemodel.h5"));
        psd_alloc_fail_at(n);
        psd_status status = psd_solver_snapshot(solver);
        failed = psd_alloc_fail_at(-1);
        CHECK(status == PSD_OK || (failed && status == PSD_ENOMEM));
        CHECK((access(test_path("s_iter_0.solverstate.h5"), F_OK) == 0) == (status == PSD_OK));
        CHECK((access(test_path("s_iter_0.caffemodel.h5"), F_OK) == 0) == (status == PSD_OK));
    }
    drop(&lab, solver);
}

static void restoring_survives_every_failed_allocation(void)
{
    struct lab lab;
    struct psd_solver *solver = make(&lab);
    bool failed = true;

    CHECK_OK(psd_solver_snapshot(solver));
    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = psd_solver_restore(solver, test_path("s_iter_0.solverstate.h5"));
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
    drop(&lab, solver);
}

int main(int argc, char **argv)
{
    RUN(a_state_comes_back_to_the_bit)
    RUN(states_that_make_no_sense_are_refused)
    RUN(saving_survives_every_failed_allocation)
    RUN(restoring_survives_every_failed_allocation)
}
