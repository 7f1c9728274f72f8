/* net_workload_test.c - workloads of small nets, and of those that also have a description. */
#include "base/alloc.h"
#include "cli/net_workload.h"
#include "cli/sketch.h"
#include "comm/workload_file.h"
#include "nets.h"

#define DATA                                               \
    "layer { name: 'data' type: 'Input' top: 'x' top: 'l'" \
    "        input_param { shape { dim: 4 dim: 3 dim: 2 } shape { dim: 4 } } }"
#define FC(name, bottom, top, ip, more)                                                       \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" bottom "' top: '" top "' " more \
    "        inner_product_param { num_output: 5 weight_filler { type: 'xavier' } " ip " } }"
#define LOSS "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'c' bottom: 'l' }"

static struct psd_workload *workload_of(const char *text)
{
    struct psd_workload *workload = NULL;
    struct lab lab = lab_of(text);

    CHECK_OK(psd_net_workload_create(lab.net, &workload));
    lab_close(&lab);
    return workload;
}

/* The parameters as "a[0] 5x6 factors, a[1] 1x5 of 0". */
static const char *params_of(const char *text)
{
    static char out[500];
    struct psd_workload *workload = workload_of(text);
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; i < workload->n_params; i++) {
        const struct psd_workload_param *param = &workload->params[i];
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%s %zux%zu%s", i ? ", " : "",
                                 param->name, param->rows, param->cols,
                                 param->factors ? " factors" : "");
        if (param->bias_of >= 0)
            used += (size_t)snprintf(out + used, sizeof out - used, " of %d", param->bias_of);
    }
    psd_workload_destroy(workload);
    return out;
}

static void layers_come_with_their_cost(void)
{
    struct psd_workload *workload = workload_of("name: 'tiny'" DATA FC(
        "a", "x", "a", "", "") "layer { name: 'r' type: 'ReLU' "
                               "bottom: 'a' top: 'a' }" FC("b", "a", "c", "bias_term: false", "")
                                                    LOSS);

    CHECK_TEXT("tiny", workload->name);
    CHECK(workload->batch == 4 && workload->n_layers == 5);
    CHECK_TEXT("data", workload->layers[0].name);
    CHECK_TEXT("b", workload->layers[3].name);
    CHECK_NEAR(workload->layers[1].macs, 5 * 6, 0);
    CHECK_NEAR(workload->layers[2].macs, 0, 0);
    CHECK_NEAR(workload->layers[3].macs, 5 * 5, 0);
    CHECK(workload->layers[1].params == 2 && workload->layers[3].first_param == 2);
    CHECK(workload->values == 5 * 6 + 5 + 5 * 5);
    psd_workload_destroy(workload);
}

static void inner_products_have_factors(void)
{
    CHECK_TEXT(
        "a[0] 5x6 factors, a[1] 1x5 of 0, b[0] 5x5 factors",
        params_of(DATA FC("a", "x", "a", "", "") FC("b", "a", "c", "bias_term: false", "") LOSS));
    /* u is the bottom then, whose sum is no bias */
    CHECK_TEXT("a[0] 6x5 factors, a[1] 1x5",
               params_of(DATA FC("a", "x", "c", "transpose: true", "") LOSS));
    CHECK_TEXT("c[0] 5x6, c[1] 1x5",
               params_of("layer { name: 'data' type: 'Input' top: 'x' top: 'l' input_param {"
                         "  shape { dim: 4 dim: 3 dim: 2 dim: 1 } shape { dim: 4 } } }"
                         "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c'"
                         "  convolution_param { num_output: 5 kernel_h: 2 kernel_w: 1 } }" LOSS));
}

static void several_rows_a_sample_have_no_factors(void)
{
    CHECK_TEXT("a[0] 5x2, a[1] 1x5, b[0] 5x15 factors, b[1] 1x5 of 2",
               params_of(DATA FC("a", "x", "a", "axis: 2", "") FC("b", "a", "c", "", "") LOSS));
}

static void shared_weights_are_there_once(void)
{
    CHECK_TEXT("w 5x6, a[1] 1x5, b[1] 1x5",
               params_of(DATA FC("a", "x", "a", "", "param { name: 'w' }")
                             FC("b", "x", "c", "", "param { name: 'w' }") LOSS
                         "layer { name: 'loss2' type: 'SoftmaxWithLoss' bottom: 'a' "
                         "bottom: 'l' }"));
}

static void what_does_not_learn_is_left_out(void)
{
    CHECK_TEXT("a[1] 1x5, b[0] 5x5 factors",
               params_of(DATA FC("a", "x", "a", "", "param { lr_mult: 0 }") FC(
                   "b", "a", "c", "", "param { lr_mult: 1 } param { lr_mult: 0 }") LOSS));
}

/* --- the nets of models/ ---------------------------------------------------------------------- */

static struct psd_workload *model_of(const char *name, const char *shape, size_t batch)
{
    char *path = psd_alloc_text("models/%s/train_val.prototxt", name);
    char *sample = psd_alloc_text("%s", shape);
    struct psd_sketch_options options = {.model = path,
                                         .input_shape = sample,
                                         .batch = (int64_t)batch,
                                         .phase = CAFFE__PHASE__TRAIN};
    struct psd_cli cli = {.out = stdout, .err = stderr};
    struct psd_workload *workload = NULL;
    struct psd_sketch sketch;

    CHECK_OK(psd_sketch_open(&cli, &options, &sketch));
    CHECK_OK(psd_net_workload_create(sketch.net, &workload));
    psd_sketch_close(&sketch);
    psd_alloc_free(sample);
    psd_alloc_free(path);
    return workload;
}

static struct psd_workload *description_of(const char *name)
{
    char *path = psd_alloc_text("models/descriptions/%s.txt", name);
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_file_read(path, &workload));
    psd_alloc_free(path);
    return workload;
}

/* Scale and shift of a normalization are a layer of their own in a net; elsewhere names agree. */
static void check_same_params(const struct psd_workload *a, const struct psd_workload *b,
                              bool normed)
{
    CHECK(a->n_params == b->n_params && a->values == b->values);
    for (size_t i = 0; i < a->n_params; i++) {
        const struct psd_workload_param *p = &a->params[i], *q = &b->params[i];
        if (!normed || strstr(p->name, "[0]"))
            CHECK_TEXT(p->name, q->name);
        CHECK(p->rows == q->rows && p->cols == q->cols);
        CHECK(p->factors == q->factors && p->bias_of == q->bias_of);
    }
    CHECK_NEAR(psd_workload_macs(a), psd_workload_macs(b), 0);
}

static void a_net_and_its_description_are_the_same_workload(void)
{
    static const struct {
        const char *name, *shape;
        bool normed;
    } cases[] = {
        {"lenet", "1x28x28", false},       {"cifar10-quick", "3x32x32", false},
        {"alexnet", "3x227x227", false},   {"googlenet", "3x224x224", false},
        {"vgg16", "3x224x224", false},     {"vgg19", "3x224x224", false},
        {"vgg19-22k", "3x224x224", false}, {"resnet50", "3x224x224", true},
        {"resnet152", "3x224x224", true},  {"inception-v3", "3x299x299", true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].name);
        struct psd_workload *described = description_of(cases[i].name);
        struct psd_workload *net = model_of(cases[i].name, cases[i].shape, described->batch);
        CHECK(net->batch == described->batch);
        check_same_params(described, net, cases[i].normed);
        psd_workload_destroy(described);
        psd_workload_destroy(net);
    }
}

/* --- what --model means ----------------------------------------------------------------------- */

static psd_status read_model(const char *model, struct psd_workload **out)
{
    struct psd_cli cli = {.out = stdout, .err = stderr};
    struct psd_compute_options options = {.threads = 1};

    return psd_net_workload_read(&cli, &options, model, out);
}

static void a_model_is_a_description_or_a_net(void)
{
    struct psd_workload *workload = NULL;
    FILE *file = fopen(test_path("net.prototxt"), "w");

    CHECK(file);
    fputs("name: 'tiny' " DATA FC("a", "x", "c", "", "") LOSS, file);
    CHECK(fclose(file) == 0);
    CHECK_OK(read_model(test_path("net.prototxt"), &workload));
    CHECK_TEXT("tiny", workload->name);
    CHECK(workload->values == 35);
    psd_workload_destroy(workload);
    CHECK_OK(read_model("models/descriptions/lenet.txt", &workload));
    CHECK_TEXT("lenet", workload->name);
    psd_workload_destroy(workload);
    CHECK_STATUS(PSD_ECONFIG, read_model("models/nothing.prototxt", &workload));
    CHECK_TEXT("there is no file models/nothing.prototxt", psd_error());
}

static void every_failed_allocation_is_survived(void)
{
    struct lab lab = lab_of(DATA FC("a", "x", "c", "", "") LOSS);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_workload *workload = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_net_workload_create(lab.net, &workload);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_workload_destroy(workload);
    }
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(layers_come_with_their_cost)
    RUN(inner_products_have_factors)
    RUN(several_rows_a_sample_have_no_factors)
    RUN(shared_weights_are_there_once)
    RUN(what_does_not_learn_is_left_out)
    RUN(a_net_and_its_description_are_the_same_workload)
    RUN(a_model_is_a_description_or_a_net)
    RUN(every_failed_allocation_is_survived)
}
