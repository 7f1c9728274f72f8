/* restore_fuzz.c - any bytes as one of the files that a solver goes on from: no crash, a sentence for
 * what is refused, and after it a solver that still computes.
 *
 * The first byte says which file the rest is: 0 a .solverstate, 1 a .poseidonstate beside a good
 * .solverstate, else weights. Files are in a folder of our own. */
#include "base/alloc.h"
#include "documents.h"
#include "engine/solver.h"
#include "fuzz.h"

static const char text[] =
    "net_param {"
    "  layer { name: 'd' type: 'DummyData' top: 'x' top: 'l' dummy_data_param {"
    "    shape { dim: 2 dim: 3 } shape { dim: 2 } data_filler { type: 'gaussian' }"
    "    data_filler { type: 'constant' value: 1 } } }"
    "  layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'"
    "    inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } }"
    "  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'y' bottom: 'l' top: 'loss' } }"
    "base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 random_seed: 7";

static struct psd_solver *make_solver(void)
{
    struct psd_solver_options options = {.document = document_of(SOLVER, text)};
    struct psd_ops_options ops = {.threads = 1};
    struct psd_solver *solver = NULL;

    CHECK_OK(psd_device_open("host", 0, &options.device));
    ops.device = options.device;
    CHECK_OK(psd_ops_open(&ops, &options.ops));
    CHECK_OK(psd_solver_create(&options, &solver));
    return solver;
}

/* A solver of our own with a good snapshot "good_iter_0" in the folder. */
static struct psd_solver *start(void)
{
    struct psd_solver *solver = make_solver();

    psd_alloc_free(solver->prefix);
    solver->prefix = psd_alloc_text("%s", test_path("good"));
    CHECK(solver->prefix);
    CHECK_OK(psd_solver_snapshot(solver));
    return solver;
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static psd_status take(struct psd_solver *solver, uint8_t which, const uint8_t *data, size_t size)
{
    if (which == 1) {
        write_file(test_path("good_iter_0.poseidonstate"), data, size);
        return psd_solver_restore(solver, test_path("good_iter_0.solverstate"));
    }
    write_file(test_path("any"), data, size);
    return which == 0 ? psd_solver_restore(solver, test_path("any"))
                      : psd_solver_load(solver, test_path("any"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct psd_solver *solver; /* made once, for speed; ends with the process */
    float loss;

    if (!solver)
        solver = start();
    if (size < 2)
        return 0;
    solver->iteration = 0;
    if (take(solver, data[0], data + 1, size - 1) != PSD_OK && !*psd_error())
        abort(); /* a mistake without a sentence */
    if (solver->iteration < 0 || psd_net_forward(solver->net, &loss) != PSD_OK)
        abort();
    return 0;
}
