/* layer_empty_test.c - what layers do with the samples of a Filter that has selected none. */
#include "nets.h"

#define DATA                                                                                     \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'a' top: 'b' top: 'c' top: 's' "  \
    "input_param { shape { dim: 3 dim: 4 dim: 3 dim: 3 } shape { dim: 3 dim: 4 dim: 3 dim: 3 } " \
    "shape { dim: 3 } shape { dim: 3 } } }\n"                                                    \
    "layer { name: 'f' type: 'Filter' bottom: 'a' bottom: 'b' bottom: 'c' bottom: 's' top: 'x' " \
    "top: 'y' top: 't' }\n"                                                                      \
    "layer { name: 'o' type: 'Flatten' bottom: 'y' top: 'y2' }\n"

/* Layers that read x and y, both [n][4][3][3], y2 [n][36] and labels t [n]. */
static const char *const layers[] = {
    "layer { name: 'l' type: 'Accuracy' bottom: 'y2' bottom: 't' top: 'z' top: 'each' }",
    "layer { name: 'l' type: 'ArgMax' bottom: 'x' top: 'z' }",
    "layer { name: 'l' type: 'BatchNorm' bottom: 'x' top: 'z' }",
    "layer { name: 'l' type: 'BatchReindex' bottom: 'x' bottom: 't' top: 'z' }",
    "layer { name: 'l' type: 'Bias' bottom: 'x' bottom: 'y' top: 'z' bias_param { axis: 0 } }",
    "layer { name: 'l' type: 'Concat' bottom: 'x' bottom: 'y' top: 'z' }",
    "layer { name: 'l' type: 'ContrastiveLoss' bottom: 'x' bottom: 'y' bottom: 't' }",
    "layer { name: 'l' type: 'Convolution' bottom: 'x' bottom: 'y' top: 'z' top: 'w' "
    "convolution_param { num_output: 2 kernel_size: 2 weight_filler { type: 'gaussian' } } }",
    "layer { name: 'l' type: 'Dropout' bottom: 'x' top: 'x' }",
    "layer { name: 'l' type: 'Eltwise' bottom: 'x' bottom: 'y' top: 'z' eltwise_param { operation: "
    "PROD } }",
    "layer { name: 'l' type: 'Embed' bottom: 't' top: 'z' embed_param { num_output: 2 input_dim: 3 "
    "weight_filler { type: 'gaussian' } } }",
    "layer { name: 'l' type: 'EuclideanLoss' bottom: 'x' bottom: 'y' }",
    "layer { name: 'l' type: 'Filter' bottom: 'x' bottom: 't' top: 'z' }",
    "layer { name: 'l' type: 'HingeLoss' bottom: 'y2' bottom: 't' }",
    "layer { name: 'h' type: 'Parameter' top: 'h' parameter_param { shape { dim: 36 dim: 36 } } }"
    "layer { name: 'l' type: 'InfogainLoss' bottom: 'y2' bottom: 't' bottom: 'h' top: 'z' top: 'p' "
    "}",
    "layer { name: 'l' type: 'InnerProduct' bottom: 'x' top: 'z' inner_product_param { num_output: "
    "3 weight_filler { type: 'gaussian' } } }",
    "layer { name: 'l' type: 'LRN' bottom: 'x' top: 'z' lrn_param { local_size: 3 } }",
    "layer { name: 'l' type: 'MultinomialLogisticLoss' bottom: 'y2' bottom: 't' }",
    "layer { name: 'l' type: 'MVN' bottom: 'x' top: 'z' }",
    "layer { name: 'l' type: 'PReLU' bottom: 'x' top: 'z' }",
    "layer { name: 'l' type: 'Pooling' bottom: 'x' top: 'z' pooling_param { kernel_size: 2 } }",
    "layer { name: 'l' type: 'Power' bottom: 'x' top: 'z' power_param { power: 2 } }",
    "layer { name: 'l' type: 'Reduction' bottom: 'x' top: 'z' }",
    "layer { name: 'l' type: 'Reduction' bottom: 'x' top: 'z' reduction_param { axis: 1 } }",
    "layer { name: 'l' type: 'ReLU' bottom: 'x' top: 'x' }",
    "layer { name: 'l' type: 'Reshape' bottom: 'x' top: 'z' reshape_param { shape { dim: 2 dim: -1 "
    "dim: 9 } } }",
    "layer { name: 'l' type: 'Scale' bottom: 'x' top: 'z' scale_param { bias_term: true } }",
    "layer { name: 'l' type: 'SigmoidCrossEntropyLoss' bottom: 'x' bottom: 'y' }",
    "layer { name: 'l' type: 'Silence' bottom: 'x' }",
    "layer { name: 'l' type: 'Slice' bottom: 'x' top: 'z' top: 'w' }",
    "layer { name: 'l' type: 'Softmax' bottom: 'x' top: 'z' }",
    "layer { name: 'l' type: 'SoftmaxWithLoss' bottom: 'y2' bottom: 't' top: 'z' top: 'p' }",
    "layer { name: 'l' type: 'TanH' bottom: 'x' top: 'z' } layer { name: 'm' type: 'AbsVal' "
    "bottom: "
    "'x' top: 'w' }",
    "layer { name: 'l' type: 'Tile' bottom: 'x' top: 'z' tile_param { tiles: 2 } }",
};

static void pass(struct lab *lab, const float *selector)
{
    lab_scatter(lab_values(lab, "a"), 108, 1);
    lab_scatter(lab_values(lab, "b"), 108, 2);
    memcpy(lab_values(lab, "c"), (const float[]){1, 0, 0}, 3 * sizeof(float));
    memcpy(lab_values(lab, "s"), selector, 3 * sizeof(float));
    CHECK_OK(psd_net_forward(lab->net, NULL));
    CHECK_OK(psd_net_backward(lab->net, true));
}

static void check_zero(const float *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++)
        CHECK(values[i] == 0);
}

/* What a batch has, such as a loss, is 0 without samples, and so are gradients. */
static void check_nothing(const struct psd_net *net)
{
    const struct psd_layer *last = &net->layers[net->n_layers - 1];

    for (size_t i = 0; i < last->n_top; i++)
        check_zero(psd_blob_values(last->top[i]), last->top[i]->count);
    for (size_t i = 0; i < net->n_params; i++)
        check_zero(psd_blob_gradient(&net->params[i]->blob), net->params[i]->blob.count);
    for (size_t i = 0; i < 2; i++)
        check_zero(psd_blob_gradient(net->layers[0].top[i]), 108);
}

/* What follows is as if there had been no empty pass. */
static void check_same(const struct psd_net *net, const struct psd_net *other)
{
    for (size_t i = 0; i < net->n_blobs; i++) {
        const struct psd_blob *blob = &net->blobs[i];
        CHECK(psd_shape_same(&blob->shape, &other->blobs[i].shape));
        CHECK(same_bits(psd_blob_values(blob), psd_blob_values(&other->blobs[i]),
                        blob->count * sizeof(float)));
        if (blob->diff)
            CHECK(same_bits(psd_blob_gradient(blob), psd_blob_gradient(&other->blobs[i]),
                            blob->count * sizeof(float)));
    }
}

static void every_layer_does_nothing_with_nothing(void)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        char net[2000];
        snprintf(net, sizeof net, "%s%s", DATA, layers[i]);
        fprintf(stderr, "    %s\n", layers[i]);
        struct lab lab = lab_of(net), fresh = lab_of(net);
        pass(&lab, (const float[]){0, 0, 0});
        check_nothing(lab.net);
        fresh.net->position = lab.net->position; /* what is drawn is of the same pass */
        pass(&lab, (const float[]){1, 0, 1});
        pass(&fresh, (const float[]){1, 0, 1});
        check_same(lab.net, fresh.net);
        lab_close(&fresh);
        lab_close(&lab);
    }
}

/* Where only some bottoms are empty, the layer has its say. */
static void half_of_nothing_is_refused(void)
{
    struct lab lab = lab_of(DATA "layer { name: 'l' type: 'Eltwise' bottom: 'x' bottom: 'b' top: "
                                 "'z' }");

    memset(lab_values(&lab, "s"), 0, 3 * sizeof(float));
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK(strstr(psd_error(), "layer l: bottoms have one shape"));
    lab_close(&lab);
    lab = lab_of(DATA "layer { name: 'l' type: 'BatchReindex' bottom: 'x' bottom: 'c' top: 'z' }");
    memset(lab_values(&lab, "s"), 0, 3 * sizeof(float));
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK(strstr(psd_error(), "layer l: sample 0 is asked for, and there is none"));
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(every_layer_does_nothing_with_nothing)
    RUN(half_of_nothing_is_refused)
}
