/* net.c - forward, backward, and the looks inside. */
#include "engine/net_position.h"

#include <string.h>

struct psd_layer *psd_net_layer(const struct psd_net *net, const char *name)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        if (strcmp(net->layers[i].name, name) == 0)
            return &net->layers[i];
    }
    return NULL;
}

/* The last of that name: what an in-place layer, if it made a blob of its own, has computed. */
struct psd_blob *psd_net_blob(const struct psd_net *net, const char *name)
{
    for (size_t i = net->n_blobs; i-- > 0;) {
        if (strcmp(net->blob_names[i], name) == 0)
            return &net->blobs[i];
    }
    return NULL;
}

psd_status psd_net_reshape(struct psd_net *net)
{
    for (size_t i = 0; i < net->n_layers; i++)
        PSD_TRY(net->layers[i].kind->reshape(&net->layers[i]));
    return PSD_OK;
}

float psd_net_loss_weight(const struct psd_net *net, size_t blob)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        const struct psd_layer *layer = &net->layers[i];
        for (size_t k = 0; k < layer->n_top; k++) {
            if (layer->top_id[k] == blob && layer->loss_weight[k] != 0)
                return layer->loss_weight[k];
        }
    }
    return 0;
}

size_t psd_net_samples(const struct psd_net *net)
{
    return net->n_blobs && net->blobs[0].shape.axes ? net->blobs[0].shape.dim[0] : 1;
}

size_t psd_net_count_outputs(const struct psd_net *net)
{
    size_t count = 0;

    for (size_t i = 0; i < net->n_outputs; i++)
        count += net->blobs[net->outputs[i]].count;
    return count;
}

void psd_net_get_outputs(const struct psd_net *net, float *out)
{
    for (size_t i = 0; i < net->n_outputs; i++) {
        const struct psd_blob *blob = &net->blobs[net->outputs[i]];
        memcpy(out, psd_blob_values(blob), blob->count * sizeof *out);
        out += blob->count;
    }
}

/* The layer that made a parameter is the first to use it. One that another net made is asked for at
 * each use. */
static psd_status need_values(const struct psd_net *net, const struct psd_layer *layer)
{
    for (size_t i = 0; net->hooks.need_value && i < layer->n_params; i++) {
        struct psd_param *param = layer->params[i];
        if (net->share || (param->layer == layer->index && param->index == i))
            PSD_TRY(net->hooks.need_value(net->hooks.context, param));
    }
    return PSD_OK;
}

static float loss_of(const struct psd_layer *layer)
{
    float loss = 0;

    for (size_t i = 0; i < layer->n_top; i++) {
        const struct psd_blob *top = layer->top[i];
        const float *values = psd_blob_values(top);
        for (size_t k = 0; layer->loss_weight[i] != 0 && k < top->count; k++)
            loss += layer->loss_weight[i] * values[k];
    }
    return loss;
}

psd_status psd_net_forward(struct psd_net *net, float *loss)
{
    float sum = 0;

    net->pass = net->position;
    for (size_t i = 0; i < net->n_layers; i++) {
        struct psd_layer *layer = &net->layers[i];
        PSD_TRY(need_values(net, layer));
        PSD_TRY(layer->kind->forward(layer));
        sum += loss_of(layer);
        if (net->hooks.passed)
            net->hooks.passed(net->hooks.context, layer, false);
    }
    psd_net_advance(&net->position);
    if (loss)
        *loss = sum;
    return PSD_OK;
}

/* The gradient of the loss by a top that is a loss is its weight. */
static void start_loss(const struct psd_net *net, const struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_top; i++) {
        float *diff = layer->loss_weight[i] != 0 ? psd_blob_gradient(layer->top[i]) : NULL;
        for (size_t k = 0; diff && k < layer->top[i]->count; k++)
            diff[k] = layer->loss_weight[i] * net->loss_scale;
    }
}

static psd_status give_gradient(const struct psd_net *net, struct psd_param *param)
{
    if (!param->blob.diff)
        return psd_fail(PSD_EINVAL, "nobody has lent a gradient of %s before backward",
                        param->name);
    return net->hooks.gradient_ready ? net->hooks.gradient_ready(net->hooks.context, param)
                                     : PSD_OK;
}

/* After a layer's backward its parameters have one use less to come. */
static psd_status finish_params(const struct psd_net *net, const struct psd_layer *layer)
{
    for (size_t i = 0; !net->share && i < layer->n_params; i++) {
        struct psd_param *param = layer->params[i];
        param->fresh = false;
        if (--param->left == 0 && param->learns && !param->factored)
            PSD_TRY(give_gradient(net, param));
    }
    return PSD_OK;
}

psd_status psd_net_backward(struct psd_net *net, bool clear)
{
    for (size_t i = 0; i < net->n_params; i++) {
        net->params[i]->fresh = clear;
        net->params[i]->factored = false;
        net->params[i]->left = net->params[i]->uses;
    }
    for (size_t i = net->n_layers; i-- > 0;) {
        struct psd_layer *layer = &net->layers[i];
        if (!layer->backward_needed)
            continue;
        start_loss(net, layer);
        PSD_TRY(layer->kind->backward(layer));
        PSD_TRY(finish_params(net, layer));
        if (net->hooks.passed)
            net->hooks.passed(net->hooks.context, layer, true);
    }
    return PSD_OK;
}
