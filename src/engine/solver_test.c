/* solver_test.c - a solver is made, trains, is saved and restored; what it computes is held against
 * Caffe's numbers in tests/solver_test.c, and what people see of it in tests/train_test.c. */
#include "base/alloc.h"
#include "engine/solver.h"
#include "nets.h"

#define NET_INSIDE                                                                           \
    "net_param { name: 'n'"                                                                  \
    "  layer { name: 'd' type: 'DummyData' top: 'x' top: 'l'"                                \
    "    dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 }"                        \
    "      data_filler { type: 'gaussian' } data_filler { type: 'constant' value: 1 } } }"   \
    "  layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'"                         \
    "    inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } }"           \
    "  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'y' bottom: 'l' top: 'loss' } }" \
    "base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 max_iter: 5 random_seed: 7 "              \
    "test_iter: 1 test_interval: 2 "

/* A lab whose document is a solver's; its net is the solver's business. */
static struct psd_solver_options open_rig(struct lab *lab, const char *text)
{
    CHECK(lab_open(lab, NULL, 1));
    lab->document = document_of(SOLVER, text);
    return (struct psd_solver_options){
        .document = lab->document, .device = lab->device, .ops = lab->ops};
}

static struct psd_solver *make(struct lab *lab, const char *text)
{
    struct psd_solver_options options = open_rig(lab, text);
    struct psd_solver *solver = NULL;

    CHECK_OK(psd_solver_create(&options, &solver));
    return solver;
}

static void drop(struct lab *lab, struct psd_solver *solver)
{
    psd_solver_destroy(solver);
    lab_close(lab);
}

/* The same text with the folder of the test as prefix of snapshots. */
static const char *with_prefix(const char *text)
{
    static char all[3000];

    snprintf(all, sizeof all, "%s snapshot_prefix: '%s'", text, test_path("s"));
    return all;
}

static void a_solver_trains_to_its_last_iteration_and_saves(void)
{
    struct lab lab;
    struct psd_solver *solver = make(&lab, with_prefix(NET_INSIDE "snapshot: 2 "));

    CHECK(solver->saved == -1);
    CHECK_OK(psd_solver_solve(solver));
    CHECK(solver->iteration == 5 && solver->saved == 5 && !solver->stopped_early);
    CHECK(solver->test_from[0] == 3); /* at 0, 2 and 4 */
    drop(&lab, solver);
    CHECK(access(test_path("s_iter_4.solverstate"), F_OK) == 0);
    CHECK(access(test_path("s_iter_5.poseidonstate"), F_OK) == 0);
}

/* A state goes on where it was, even where the solver would have drawn another seed. */
static void a_state_comes_back_to_the_bit(void)
{
    struct lab lab;
    float weights[6];
    struct psd_solver *solver = make(&lab, with_prefix(NET_INSIDE));

    CHECK_OK(psd_solver_step(solver, 3));
    CHECK_OK(psd_solver_snapshot(solver));
    CHECK_OK(psd_solver_step(solver, 2));
    memcpy(weights, psd_blob_values(&solver->net->params[0]->blob), sizeof weights);
    drop(&lab, solver);
    solver = make(&lab, with_prefix(NET_INSIDE));
    solver->seed = solver->net->seed = solver->tests[0]->seed = 8;
    CHECK_OK(psd_solver_restore(solver, test_path("s_iter_3.solverstate")));
    CHECK(solver->iteration == 3 && solver->test_from[0] == 2);
    CHECK(solver->seed == 7 && solver->net->seed == 7 && solver->tests[0]->seed == 7);
    CHECK_OK(psd_solver_step(solver, 2));
    CHECK(same_bits(weights, psd_blob_values(&solver->net->params[0]->blob), sizeof weights));
    drop(&lab, solver);
}

static void creating_survives_every_failed_allocation(void)
{
    bool failed = true;
    long n = 0;

    for (; failed; n++) {
        struct lab lab;
        struct psd_solver *solver = NULL;
        struct psd_solver_options options = open_rig(&lab, NET_INSIDE);
        psd_alloc_fail_at(n);
        psd_status status = psd_solver_create(&options, &solver);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (solver == NULL));
        drop(&lab, solver);
    }
    CHECK(n > 100);
}

/* Whether the files of iteration 0 are there: all or none. */
static bool has_set(void)
{
    bool has = access(test_path("s_iter_0.caffemodel"), F_OK) == 0;

    CHECK(has == (access(test_path("s_iter_0.poseidonstate"), F_OK) == 0));
    CHECK(has == (access(test_path("s_iter_0.solverstate"), F_OK) == 0));
    return has;
}

static void remove_set(void)
{
    unlink(test_path("s_iter_0.caffemodel"));
    unlink(test_path("s_iter_0.poseidonstate"));
    unlink(test_path("s_iter_0.solverstate"));
}

/* What is needed only to sync a folder may fail in silence. */
static void saving_survives_every_failed_allocation(void)
{
    struct lab lab;
    struct psd_solver *solver = make(&lab, with_prefix(NET_INSIDE));
    bool failed = true;
    long n = 0, refused = 0;

    for (; failed; n++) {
        remove_set();
        psd_alloc_fail_at(n);
        psd_status status = psd_solver_snapshot(solver);
        failed = psd_alloc_fail_at(-1);
        refused += status != PSD_OK;
        CHECK(status == PSD_OK || (failed && status == PSD_ENOMEM));
        CHECK(has_set() == (status == PSD_OK));
    }
    CHECK(refused > 10 && refused >= n - 4 && solver->saved == 0);
    drop(&lab, solver);
}

static void restoring_survives_every_failed_allocation(void)
{
    struct lab lab;
    struct psd_solver *solver = make(&lab, with_prefix(NET_INSIDE));
    bool failed = true;
    long n = 0;

    CHECK_OK(psd_solver_snapshot(solver));
    for (; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = psd_solver_restore(solver, test_path("s_iter_0.solverstate"));
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
    CHECK(n > 10);
    drop(&lab, solver);
}

static void solvers_that_cannot_be_are_refused(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"base_lr: 1 lr_policy: 'fixed'",
         "test.prototxt: no training net is given; add net: \"FILE\""},
        {"net: 'a' train_net: 'b' lr_policy: 'fixed'",
         "test.prototxt:1:1: several training nets are given; keep one of net, net_param, "
         "train_net, train_net_param"},
        {"net: 'a' lr_policy: 'fixed' type: 'Quux'",
         "test.prototxt:1:29: type is \"SGD\", \"Nesterov\", \"AdaGrad\", \"RMSProp\", "
         "\"AdaDelta\" or "
         "\"Adam\""},
        {"net: 'a' lr_policy: 'fixed' type: 'SGD keeping'",
         "test.prototxt:1:29: type is \"SGD\", \"Nesterov\", \"AdaGrad\", \"RMSProp\", "
         "\"AdaDelta\" or "
         "\"Adam\""},
        {"net: 'a' lr_policy: 'fixed' iter_size: 0", "test.prototxt:1:29: iter_size is at least 1"},
        {"net: 'a' lr_policy: 'fixed' average_loss: 0",
         "test.prototxt:1:29: average_loss is at least 1"},
        {"net: 'a' lr_policy: 'fixed' regularization_type: 'L3'",
         "test.prototxt:1:29: regularization_type is \"L2\" or \"L1\""},
        {"net: 'a' lr_policy: 'fixed' test_net: 'b'",
         "test.prototxt: every test net needs a test_iter"},
        {"train_net: 'a' lr_policy: 'fixed' test_iter: 1",
         "test.prototxt:1:35: there are more test_iter than test nets"},
        {"net: 'a' lr_policy: 'fixed' test_iter: 1",
         "test.prototxt: a test net needs a test_interval above 0"},
        {"net: 'a' lr_policy: 'fixed' test_iter: -1 test_interval: 1",
         "test.prototxt:1:29: test_iter is at least 1"},
        {"net: 'no.prototxt' lr_policy: 'fixed'",
         "test.prototxt names no.prototxt, but there is no such file"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab;
        struct psd_solver *solver = NULL;
        struct psd_solver_options options = open_rig(&lab, cases[i].text);
        CHECK_STATUS(PSD_ECONFIG, psd_solver_create(&options, &solver));
        CHECK_TEXT(cases[i].sentence, psd_error());
        lab_close(&lab);
    }
}

int main(int argc, char **argv)
{
    RUN(a_solver_trains_to_its_last_iteration_and_saves)
    RUN(a_state_comes_back_to_the_bit)
    RUN(creating_survives_every_failed_allocation)
    RUN(saving_survives_every_failed_allocation)
    RUN(restoring_survives_every_failed_allocation)
    RUN(solvers_that_cannot_be_are_refused)
}
