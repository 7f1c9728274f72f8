/* solver_test.c - the solver against Caffe's, from the same weights on the same samples.
 *
 * tests/fixtures/solvers has, for each case, what Caffe's solver made of a tiny net after 1, 2 and 10
 * iterations; tests/fixtures/trajectory the losses of 200 iterations on Fashion-MNIST. */
#include "data/hdf5.h"
#include "run.h"
#include "solver_rig.h"

/* Compares with the fixture at `path`: no difference is above 1e-5 of its largest value. */
static void check_near(const float *ours, size_t count)
{
    size_t theirs_count;
    float *theirs = read_floats(&theirs_count), largest = 0, worst = 0;

    CHECK(count == theirs_count);
    for (size_t i = 0; i < count; i++) {
        largest = fmaxf(largest, fabsf(theirs[i]));
        worst = fmaxf(worst, fabsf(theirs[i] - ours[i]));
    }
    if (!(worst <= 1e-5f * largest))
        TEST_FAIL("%s: differs by %g, the largest is %g", path, (double)worst, (double)largest);
    free(theirs);
}

static void check_state(const struct psd_solver *solver, const char *name)
{
    long long iteration = (long long)solver->iteration;

    for (size_t i = 0; i < solver->net->n_params; i++) {
        const struct psd_blob *blob = &solver->net->params[i]->blob;
        fixture("solvers/%s/it%lld_param%zu.bin", name, iteration, i);
        check_near(psd_blob_values(blob), blob->count);
    }
    CHECK(solver->net->n_params == 4);
    CHECK(solver->n_history == (size_t)4 * solver->rule->states);
    for (size_t i = 0; i < solver->n_history; i++) {
        size_t count = solver->net->params[i % 4]->blob.count;
        fixture("solvers/%s/it%lld_hist%zu.bin", name, iteration, i);
        check_near(solver->history[i], count);
    }
}

static void values_and_history_are_those_of_caffe(void)
{
    for (size_t i = 0; i < CASES; i++) {
        float *data, *labels;
        struct rig rig = make_rig(fixture("solvers/%s/solver.prototxt", cases[i]));
        feed(rig.solver, &data, &labels);
        CHECK_OK(psd_solver_load(rig.solver, fixture("solvers/%s/init.caffemodel", cases[i])));
        CHECK_OK(psd_solver_step(rig.solver, 1));
        check_state(rig.solver, cases[i]);
        CHECK_OK(psd_solver_step(rig.solver, 1));
        check_state(rig.solver, cases[i]);
        CHECK_OK(psd_solver_step(rig.solver, 8));
        check_state(rig.solver, cases[i]);
        drop_rig(&rig);
        free(data);
        free(labels);
    }
}

static void snapshots_of_caffe_are_gone_on_from(void)
{
    for (size_t i = 0; i < CASES; i++) {
        struct rig rig = make_rig(fixture("solvers/%s/solver.prototxt", cases[i]));
        const char *ending = strcmp(cases[i], "sgd_hdf5snap") == 0 ? ".h5" : "";
        CHECK_OK(psd_solver_restore(
            rig.solver, fixture("solvers/%s/snap_iter_10.solverstate%s", cases[i], ending)));
        CHECK(rig.solver->iteration == 10);
        check_state(rig.solver, cases[i]);
        drop_rig(&rig);
    }
}

/* --- snapshot_diff ------------------------------------------------------------------------------ */

static void save_diffs(Caffe__SolverParameter *param)
{
    static char prefix[PATH_MAX];

    snprintf(prefix, sizeof prefix, "%s", test_path("d"));
    param->snapshot_diff = 1;
    param->snapshot_prefix = prefix;
    param->snapshot_format = CAFFE__SOLVER_PARAMETER__SNAPSHOT_FORMAT__BINARYPROTO;
}

static void save_diffs_in_hdf5(Caffe__SolverParameter *param)
{
    save_diffs(param);
    param->snapshot_format = CAFFE__SOLVER_PARAMETER__SNAPSHOT_FORMAT__HDF5;
}

/* Caffe's update of the second iteration: for SGD it is the history, for others values tell it. */
static void check_diff(const char *name, size_t i, const float *diff, size_t count)
{
    size_t n;

    fixture("solvers/%s/it2_hist%zu.bin", name, i);
    if (strncmp(name, "sgd", 3) == 0)
        check_near(diff, count);
    fixture("solvers/%s/it1_param%zu.bin", name, i);
    float *before = read_floats(&n);
    CHECK(n == count);
    for (size_t k = 0; k < count; k++)
        before[k] -= diff[k];
    fixture("solvers/%s/it2_param%zu.bin", name, i);
    check_near(before, count);
    free(before);
}

static void check_binary(const char *name)
{
    struct psd_document *document = NULL;
    size_t i = 0;

    CHECK_OK(psd_document_read(test_path("d_iter_2.caffemodel"), PSD_DOCUMENT_BINARY,
                               &caffe__net_parameter__descriptor, &document));
    const Caffe__NetParameter *net = (const Caffe__NetParameter *)document->root;
    for (size_t l = 0; l < net->n_layer; l++) {
        for (size_t k = 0; k < net->layer[l]->n_blobs; k++, i++)
            check_diff(name, i, net->layer[l]->blobs[k]->diff, net->layer[l]->blobs[k]->n_diff);
    }
    CHECK(i == 4);
    psd_document_destroy(document);
}

static void check_hdf5(const char *name, const struct psd_net *net)
{
    struct psd_hdf5 *file = NULL;

    CHECK_OK(psd_hdf5_open(test_path("d_iter_2.caffemodel.h5"), &file));
    for (size_t i = 0; i < net->n_params; i++) {
        struct psd_hdf5_dataset *dataset = NULL;
        const struct psd_param *param = net->params[i];
        float diff[1000];
        char place[100];
        snprintf(place, sizeof place, "diff/%s/%zu", net->layers[param->layer].name, param->index);
        CHECK_OK(psd_hdf5_dataset_open(file, place, &dataset));
        CHECK(psd_hdf5_dataset_space(dataset)->count == param->blob.count);
        CHECK(param->blob.count <= sizeof diff / sizeof *diff);
        CHECK_OK(psd_hdf5_dataset_read(dataset, 0, psd_hdf5_dataset_rows(dataset), diff));
        check_diff(name, i, diff, param->blob.count);
        psd_hdf5_dataset_close(dataset);
    }
    psd_hdf5_close(file);
}

static void saved_diffs_are_the_updates_of_caffe(void)
{
    for (size_t i = 0; i < 2 * (size_t)CASES; i++) {
        const char *name = cases[i / 2];
        float *data, *labels;
        struct rig rig = make_rig_with(fixture("solvers/%s/solver.prototxt", name),
                                       i % 2 ? save_diffs_in_hdf5 : save_diffs);
        feed(rig.solver, &data, &labels);
        CHECK_OK(psd_solver_load(rig.solver, fixture("solvers/%s/init.caffemodel", name)));
        CHECK_OK(psd_solver_step(rig.solver, 2));
        CHECK_OK(psd_solver_snapshot(rig.solver));
        if (i % 2)
            check_hdf5(name, rig.solver->net);
        else
            check_binary(name);
        drop_rig(&rig);
        free(data);
        free(labels);
    }
}

/* What a solver keeps for its snapshots is no part of Caffe's state. */
static void a_state_with_saved_diffs_is_gone_on_from_without(void)
{
    struct rig rig = make_rig_with(fixture("solvers/adam/solver.prototxt"), save_diffs);
    float *data, *labels;

    feed(rig.solver, &data, &labels);
    CHECK_OK(psd_solver_load(rig.solver, fixture("solvers/adam/init.caffemodel")));
    CHECK_OK(psd_solver_step(rig.solver, 2));
    CHECK_OK(psd_solver_snapshot(rig.solver));
    drop_rig(&rig);
    rig = make_rig(fixture("solvers/adam/solver.prototxt"));
    CHECK_OK(psd_solver_restore(rig.solver, test_path("d_iter_2.solverstate")));
    check_state(rig.solver, "adam");
    drop_rig(&rig);
    free(data);
    free(labels);
}

static void a_state_of_another_net_is_refused(void)
{
    struct rig rig = make_rig(fixture("solvers/sgd_plain/solver.prototxt"));

    CHECK_STATUS(PSD_ECONFIG,
                 psd_solver_restore(rig.solver, fixture("solvers/adam/snap_iter_10.solverstate")));
    CHECK(strstr(psd_error(), "has the history of 8 blobs, this solver has 4"));
    CHECK(rig.solver->iteration == 0);
    drop_rig(&rig);
}

/* --- 200 iterations on Fashion-MNIST ---------------------------------------------------------- */

static const char dataset[] = "/usr/share/datasets/fashion-mnist";

/* What a run logged for an iteration. */
static bool find_loss(int iteration, double *loss)
{
    char start[64];

    snprintf(start, sizeof start, "\nIteration %d (", iteration);
    const char *line = strstr(run_err, start);
    const char *equals = line ? strstr(line, "loss = ") : NULL;
    if (equals)
        *loss = atof(equals + strlen("loss = "));
    return equals != NULL;
}

/* Trains on Fashion-MNIST from Caffe's first weights, with these arguments, and compares the losses. */
static void follow_caffe(const char *arguments)
{
    char here[PATH_MAX], line[64];

    if (access(dataset, R_OK) != 0)
        SKIP("the package dataset-fashion-mnist is not installed");
    CHECK(getcwd(here, sizeof here));
    FILE *losses = fopen("tests/fixtures/trajectory/loss_t1.csv", "r");
    CHECK(losses);
    run_start();
    CHECK(run("for part in train t10k; do $POSEIDON convert-mnist %s/$part-images-idx3-ubyte.gz "
              "%s/$part-labels-idx1-ubyte.gz ${part}_lmdb || exit 1; done; mv t10k_lmdb test_lmdb",
              dataset, dataset) == 0);
    CHECK(run("cp %s/tests/fixtures/trajectory/net.prototxt . && "
              "grep -v ^test_ %s/tests/fixtures/trajectory/solver.prototxt >solver.prototxt && "
              "$POSEIDON train -solver solver.prototxt --log-prefix none %s "
              "-weights %s/tests/fixtures/trajectory/init.caffemodel",
              here, here, arguments, here) == 0);
    for (int i = 0; i < 200; i++) {
        double ours = 0;
        CHECK(fgets(line, sizeof line, losses) && find_loss(i, &ours));
        CHECK_NEAR(ours, atof(strchr(line, ',') + 1), i < 40 ? 1e-4 : 0.02);
    }
    fclose(losses);
}

static void the_first_200_losses_on_fashion_mnist_are_those_of_caffe(void)
{
    follow_caffe("");
}

static void eight_workers_that_share_the_batch_follow_caffe_as_well(void)
{
    follow_caffe("--global-batch 64 --logical-workers 8 -n 2");
}

int main(int argc, char **argv)
{
    RUN(values_and_history_are_those_of_caffe)
    RUN(snapshots_of_caffe_are_gone_on_from)
    RUN(saved_diffs_are_the_updates_of_caffe)
    RUN(a_state_with_saved_diffs_is_gone_on_from_without)
    RUN(a_state_of_another_net_is_refused)
    RUN(the_first_200_losses_on_fashion_mnist_are_those_of_caffe)
    RUN(eight_workers_that_share_the_batch_follow_caffe_as_well)
}
