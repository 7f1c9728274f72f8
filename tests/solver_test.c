/* solver_test.c - the solver against Caffe's, from the same weights on the same samples.
 *
 * tests/fixtures/solvers has, for each case, what Caffe's solver made of a tiny net after 1, 2 and 10
 * iterations; tests/fixtures/trajectory the losses of 200 iterations on Fashion-MNIST. */
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
    RUN(a_state_of_another_net_is_refused)
    RUN(the_first_200_losses_on_fashion_mnist_are_those_of_caffe)
    RUN(eight_workers_that_share_the_batch_follow_caffe_as_well)
}
