/* solver_rig.h - the solvers of tests/fixtures/solvers, each with all it stands on.
 *
 *     struct rig rig = make_rig(fixture("solvers/%s/solver.prototxt", cases[i]));
 *     feed(rig.solver, &data, &labels);
 *     psd_solver_step(rig.solver, 1);
 *     drop_rig(&rig); */
#ifndef PSD_TESTS_SOLVER_RIG_H
#define PSD_TESTS_SOLVER_RIG_H

#include "base/alloc.h"
#include "engine/layers/memory_data.h"
#include "engine/solver.h"
#include "proto/upgrade.h"
#include "test.h"

#include "device/device.h"

#include <stdarg.h>
#include <sys/stat.h>

static const char *const cases[] = {
    "sgd_plain", "sgd_momentum", "sgd_mom_l1", "sgd_mom_l2", "sgd_clip",      "sgd_itersize2",
    "sgd_exp",   "sgd_inv",      "sgd_poly",   "sgd_step",   "sgd_multistep", "sgd_sigmoid",
    "nesterov",  "adagrad",      "rmsprop",    "adadelta",   "adam",          "sgd_hdf5snap",
};
enum { CASES = sizeof cases / sizeof *cases, SAMPLES = 24, TWO_THREADS = 2 };

/* A solver with all it stands on. */
struct rig {
    struct psd_device *device;
    struct psd_ops *ops;
    struct psd_document *document;
    struct psd_solver *solver;
};

/* `change`, if not NULL, changes the solver's parameters first. */
static inline struct rig make_rig_with(const char *path, void (*change)(Caffe__SolverParameter *))
{
    struct rig rig;
    struct psd_upgrade upgrade;

    CHECK_OK(psd_device_open("host", 0, &rig.device));
    CHECK_OK(psd_ops_open(&(struct psd_ops_options){.device = rig.device, .threads = TWO_THREADS},
                          &rig.ops));
    CHECK_OK(psd_document_read(path, PSD_DOCUMENT_TEXT, &caffe__solver_parameter__descriptor,
                               &rig.document));
    psd_upgrade_init(&upgrade, rig.document);
    CHECK_OK(psd_upgrade_solver(rig.document, &upgrade));
    if (change)
        change((Caffe__SolverParameter *)rig.document->root);
    struct psd_solver_options options = {
        .document = rig.document, .device = rig.device, .ops = rig.ops};
    CHECK_OK(psd_solver_create(&options, &rig.solver));
    return rig;
}

static inline struct rig make_rig(const char *path)
{
    return make_rig_with(path, NULL);
}

static inline void drop_rig(struct rig *rig)
{
    psd_solver_destroy(rig->solver);
    psd_document_destroy(rig->document);
    psd_ops_close(rig->ops);
    psd_device_close(rig->device);
}

static char path[300];

__attribute__((format(printf, 1, 2))) static inline const char *fixture(const char *format, ...)
{
    static const char folder[] = "tests/fixtures/";
    va_list args;

    va_start(args, format);
    memcpy(path, folder, sizeof folder);
    vsnprintf(path + strlen(folder), sizeof path - strlen(folder), format, args);
    va_end(args);
    return path;
}

/* The floats in the file `path`; the caller frees them. */
static inline float *read_floats(size_t *count)
{
    struct stat about;
    FILE *file = fopen(path, "rb");

    if (!file || fstat(fileno(file), &about) != 0)
        TEST_FAIL("there is no %s", path);
    float *floats = malloc((size_t)about.st_size + 1);
    *count = (size_t)about.st_size / sizeof *floats;
    CHECK(floats && fread(floats, sizeof *floats, *count, file) == *count);
    fclose(file);
    return floats;
}

/* Gives the data layer the samples of all cases. */
static inline void feed(struct psd_solver *solver, float **data, float **labels)
{
    size_t count;

    fixture("solvers/common/data.bin");
    *data = read_floats(&count);
    fixture("solvers/common/label.bin");
    *labels = read_floats(&count);
    CHECK(count == SAMPLES);
    CHECK_OK(psd_memory_data_set(psd_net_layer(solver->net, "data"), *data, *labels, SAMPLES));
}

#endif
