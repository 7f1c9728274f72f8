/* models_test.c - every net of models/ is built at its published size, and learns from one sample.
 *
 *     models/NAME/solver.prototxt --> solver, with made-up samples for its databases
 *                                 --> one iteration: forward, backward, update
 *
 * Large ones take up to three times their parameters of memory, one after the other. */
#include "engine/solver.h"
#include "nets.h"
#include "proto/upgrade.h"

#include <math.h>

struct model {
    const char *name;
    size_t channels, side, classes, params;
};

/* Input sizes and numbers of parameters as published. */
static const struct model models[] = {
    {"lenet", 1, 28, 10, 431080},
    {"cifar10-quick", 3, 32, 10, 145578},
    {"cifar10-full", 3, 32, 10, 89578},
    {"alexnet", 3, 227, 1000, 60965224},
    {"caffenet", 3, 227, 1000, 60965224},
    {"googlenet", 3, 224, 1000, 13378280},
    {"vgg16", 3, 224, 1000, 138357544},
    {"vgg19", 3, 224, 1000, 143667240},
    {"vgg19-22k", 3, 224, 21841, 229052817},
    {"resnet50", 3, 224, 1000, 25557032},
    {"resnet152", 3, 224, 1000, 60192808},
    {"inception-v3", 3, 299, 1000, 27161264},
    {"lstm", 1, 28, 10, 81674},
};
enum { MODELS = sizeof models / sizeof *models, FEW = 15000000 };

static const struct model *model_named(const char *name)
{
    for (size_t i = 0; i < MODELS; i++) {
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    }
    TEST_FAIL("there is no model %s", name);
    return NULL;
}

static const char *file_of(const struct model *model, const char *file)
{
    static char path[200];

    snprintf(path, sizeof path, "models/%s/%s.prototxt", model->name, file);
    return path;
}

static struct psd_stand_in stand_in_for(const struct model *model, size_t batch)
{
    return (struct psd_stand_in){batch,
                                 psd_shape_of(3, model->channels, model->side, model->side, 0)};
}

/* --- one iteration ------------------------------------------------------------------------------ */

/* A solver with all that it stands on. */
struct rig {
    struct psd_device *device;
    struct psd_ops *ops;
    struct psd_document *document;
    struct psd_solver *solver;
};

/* One pass makes an iteration, and nothing is tested or saved. */
static void shorten(Caffe__SolverParameter *solver)
{
    solver->n_test_iter = 0;
    solver->has_test_interval = 0;
    solver->test_interval = 0;
    solver->iter_size = 1;
    solver->snapshot = 0;
    solver->snapshot_after_train = 0;
}

static struct rig rig_of(const struct model *model)
{
    struct psd_stand_in stand_in = stand_in_for(model, 1);
    struct psd_solver_options options = {.stand_in = &stand_in, .seed = 1};
    struct rig rig;

    CHECK_OK(psd_device_open("host", 0, &rig.device));
    CHECK_OK(psd_ops_open(&(struct psd_ops_options){.device = rig.device, .threads = 2}, &rig.ops));
    CHECK_OK(psd_upgrade_read(file_of(model, "solver"), &caffe__solver_parameter__descriptor, NULL,
                              &rig.document));
    shorten((Caffe__SolverParameter *)rig.document->root);
    options.document = rig.document;
    options.device = rig.device;
    options.ops = rig.ops;
    CHECK_OK(psd_solver_create(&options, &rig.solver));
    return rig;
}

static void drop_rig(struct rig *rig)
{
    psd_solver_destroy(rig->solver);
    psd_document_destroy(rig->document);
    psd_ops_close(rig->ops);
    psd_device_close(rig->device);
}

static void feed(const struct psd_net *net, const struct model *model)
{
    struct psd_blob *data = psd_net_blob(net, "data"), *label = psd_net_blob(net, "label");

    lab_scatter(psd_blob_values(data), data->count, 1);
    psd_blob_values(label)[0] = (float)(model->classes - 1);
}

/* The sum of squares of all values that learn, and how many parameters these are. */
static double norm_of(const struct psd_net *net, size_t *learning)
{
    double sum = 0;

    *learning = 0;
    for (size_t i = 0; i < net->n_params; i++) {
        const struct psd_param *param = net->params[i];
        const float *values = psd_blob_values(&param->blob);
        for (size_t k = 0; param->learns && k < param->blob.count; k++)
            sum += (double)values[k] * (double)values[k];
        *learning += param->learns ? param->blob.count : 0;
    }
    return sum;
}

/* How many of the parameters that learn have a gradient that is not all zero. */
static size_t count_gradients(const struct psd_net *net, size_t *params)
{
    size_t found = 0;

    *params = 0;
    for (size_t i = 0; i < net->n_params; i++) {
        const struct psd_param *param = net->params[i];
        const float *gradient = param->learns ? psd_blob_gradient(&param->blob) : NULL;
        size_t k = 0;
        while (gradient && k < param->blob.count && gradient[k] == 0)
            k++;
        *params += gradient != NULL;
        found += gradient && k < param->blob.count;
    }
    return found;
}

/* What cannot learn from one sample is a bias of a ReLU that is shut, or what a normalization of a
 * single value hides: few. */
static void learns_from_one_sample(const char *name)
{
    const struct model *model = model_named(name);
    if (TEST_IS_SANITIZED && model->params > FEW)
        SKIP("what a sanitizer keeps of so many parameters is too much for small machines");
    struct rig rig = rig_of(model);
    const struct psd_net *net = rig.solver->net;
    size_t learning = 0, params = 0;
    double before = norm_of(net, &learning);

    CHECK(learning == model->params);
    CHECK(psd_net_blob(net, "data")->count == model->channels * model->side * model->side);
    feed(net, model);
    CHECK_OK(psd_solver_start(rig.solver));
    CHECK_OK(psd_solver_step(rig.solver, 1));
    CHECK(isfinite(rig.solver->losses[0]) && rig.solver->losses[0] > 0);
    double after = norm_of(net, &learning);
    size_t found = count_gradients(net, &params);
    fprintf(stderr, "    %s: loss %g, norm %.9g, then %.9g, %zu of %zu gradients\n", name,
            (double)rig.solver->losses[0], before, after, found, params);
    CHECK(isfinite(after) && after != before);
    CHECK(found * 10 >= params * 9);
    drop_rig(&rig);
}

static void lenet_learns(void)
{
    learns_from_one_sample("lenet");
}

static void cifar10_quick_learns(void)
{
    learns_from_one_sample("cifar10-quick");
}

static void cifar10_full_learns(void)
{
    learns_from_one_sample("cifar10-full");
}

static void alexnet_learns(void)
{
    learns_from_one_sample("alexnet");
}

static void caffenet_learns(void)
{
    learns_from_one_sample("caffenet");
}

static void googlenet_learns(void)
{
    learns_from_one_sample("googlenet");
}

static void vgg16_learns(void)
{
    learns_from_one_sample("vgg16");
}

static void vgg19_learns(void)
{
    learns_from_one_sample("vgg19");
}

static void vgg19_22k_learns(void)
{
    learns_from_one_sample("vgg19-22k");
}

static void resnet50_learns(void)
{
    learns_from_one_sample("resnet50");
}

static void resnet152_learns(void)
{
    learns_from_one_sample("resnet152");
}

static void inception_v3_learns(void)
{
    learns_from_one_sample("inception-v3");
}

static void lstm_learns(void)
{
    learns_from_one_sample("lstm");
}

int main(int argc, char **argv)
{
    RUN(lenet_learns)
    RUN(cifar10_quick_learns)
    RUN(cifar10_full_learns)
    RUN(alexnet_learns)
    RUN(caffenet_learns)
    RUN(googlenet_learns)
    RUN(vgg16_learns)
    RUN(vgg19_learns)
    RUN(vgg19_22k_learns)
    RUN(resnet50_learns)
    RUN(resnet152_learns)
    RUN(inception_v3_learns)
    RUN(lstm_learns)
}
