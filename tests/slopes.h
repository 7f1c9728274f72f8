/* slopes.h - the gradients of a small net against finite differences, on every backend.
 *
 *     check_slopes("layer { name: 'd' type: 'Input' ... } layer { ... }", fill);
 *
 * The loss is the sum of all outputs by weights of both signs. Some values of each Input blob that
 * has a gradient, and of each parameter that learns, are moved a little up and down. What layers
 * carry from pass to pass is put back before each pass, which is always the first: what is drawn at random
 * is then the same in all. */
#ifndef PSD_TESTS_SLOPES_H
#define PSD_TESTS_SLOPES_H

#include "base/alloc.h"
#include "nets.h"

enum { SLOPE_PROBES = 7 };
#define SLOPE_STEP 0.0078125

/* What a worker of its own would have brought. */
static inline void put_back_carried(const struct psd_net *net)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        const struct psd_layer *layer = &net->layers[i];
        for (size_t k = 0; k < layer->n_carried; k++) {
            if (layer->carried[k].kind == PSD_CARRY_OWN)
                lab_scatter(psd_blob_values(layer->carried[k].blob), layer->carried[k].blob->count,
                            (unsigned)k + 5);
        }
    }
}

static inline float slope_weight(size_t output, size_t i)
{
    return (float)((i * 31 + output * 17 + 3) % 13) / 6.0F - 1.0F;
}

static inline double slope_loss(struct psd_net *net)
{
    struct psd_net_position first = {0};
    double sum = 0;

    put_back_carried(net);
    CHECK_OK(psd_net_seek(net, &first));
    CHECK_OK(psd_net_forward(net, NULL));
    for (size_t o = 0; o < net->n_outputs; o++) {
        const struct psd_blob *blob = &net->blobs[net->outputs[o]];
        for (size_t i = 0; i < blob->count; i++)
            sum += (double)slope_weight(o, i) * (double)psd_blob_values(blob)[i];
    }
    return sum;
}

/* They also replace the weight of a loss. */
static inline void set_slope_weights(struct psd_net *net)
{
    for (size_t o = 0; o < net->n_outputs; o++) {
        const struct psd_blob *blob = &net->blobs[net->outputs[o]];
        psd_net_give_diff(net, blob);
        for (size_t i = 0; blob->diff && i < blob->count; i++)
            psd_blob_gradient(blob)[i] = slope_weight(o, i);
    }
}

static inline void check_blob_slopes(struct psd_net *net, const struct psd_blob *blob,
                                     const char *name)
{
    size_t probes = blob->count < SLOPE_PROBES ? blob->count : SLOPE_PROBES;
    float *values = psd_blob_values(blob);
    double most = 0.05;

    for (size_t i = 0; i < blob->count; i++)
        most = fmax(most, fabs((double)psd_blob_gradient(blob)[i]));
    for (size_t k = 0; k < probes; k++) {
        size_t i = k * blob->count / probes;
        float kept = values[i];
        values[i] = (float)((double)kept + SLOPE_STEP);
        double above = slope_loss(net);
        values[i] = (float)((double)kept - SLOPE_STEP);
        double slope = (above - slope_loss(net)) / (2 * SLOPE_STEP);
        values[i] = kept;
        double gradient = (double)psd_blob_gradient(blob)[i];
        if (!(fabs(slope - gradient) <= 3e-3 * most))
            TEST_FAIL("%s[%zu]: the gradient is %g, the slope %g", name, i, gradient, slope);
    }
}

static inline void check_slopes_on(struct lab *lab, void (*fill)(struct lab *lab))
{
    struct psd_net *net = lab->net;

    for (size_t i = 0; i < net->n_blobs; i++)
        lab_scatter(psd_blob_values(&net->blobs[i]), net->blobs[i].count, (unsigned)i + 1);
    if (fill)
        fill(lab);
    slope_loss(net);
    set_slope_weights(net);
    CHECK_OK(psd_net_backward(net, true));
    for (size_t i = 0; i < net->n_layers; i++) {
        const struct psd_layer *layer = &net->layers[i];
        bool input = layer->kind == &psd_layer_input;
        for (size_t k = 0; input && k < layer->n_top; k++) {
            if (layer->top[k]->diff)
                check_blob_slopes(net, layer->top[k], net->blob_names[layer->top_id[k]]);
        }
    }
    for (size_t i = 0; i < net->n_params; i++) {
        if (net->params[i]->learns)
            check_blob_slopes(net, &net->params[i]->blob, net->params[i]->name);
    }
}

/* `fill`, if not NULL, changes what Input blobs start with: scattered values in [-1, 1]. */
static inline void check_slopes(const char *text, void (*fill)(struct lab *lab))
{
    const char *const *backends = psd_ops_backends();

    for (size_t b = 0; backends[b]; b++) {
        struct lab lab;
        if (!lab_open(&lab, backends[b], 2))
            continue;
        lab.document = net_of(text);
        CHECK_OK(lab_build(&lab, NULL));
        check_slopes_on(&lab, fill);
        lab_close(&lab);
    }
}

/* The net is made, or not, whichever allocation fails. */
static inline void check_survives(const char *text)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct lab lab;
        CHECK(lab_open(&lab, NULL, 1));
        lab.document = net_of(text);
        psd_alloc_fail_at(n);
        psd_status status = lab_build(&lab, NULL);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (lab.net == NULL));
        lab_close(&lab);
    }
}

#endif
