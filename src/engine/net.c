/* net.c - forward, backward, and the looks inside. */
#include "engine/net_connect.h"
#include "engine/net_debug.h"
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

void psd_net_measure_outputs(struct psd_net *net)
{
    for (size_t i = 0; i < net->n_outputs; i++)
        net->output_counts[i] = net->blobs[net->outputs[i]].count;
}

psd_status psd_net_reshape(struct psd_net *net)
{
    for (size_t i = 0; i < net->n_layers; i++)
        PSD_TRY(psd_layer_run_reshape(&net->layers[i]));
    psd_net_measure_outputs(net);
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
    for (size_t i = 0; i < net->n_layers; i++) {
        const struct psd_layer *layer = &net->layers[i];
        if (layer->n_top && layer->kind != &psd_layer_parameter)
            return layer->top[0]->shape.axes ? layer->top[0]->shape.dim[0] : 1;
    }
    return 1;
}

void psd_net_limit_outputs(struct psd_net *net, const size_t *most)
{
    for (size_t i = 0; i < net->n_outputs; i++) {
        if (most[i] < net->output_counts[i])
            net->output_counts[i] = most[i];
    }
}

size_t psd_net_output_size(const struct psd_net *net, size_t i)
{
    return net->output_counts[i];
}

size_t psd_net_count_outputs(const struct psd_net *net)
{
    size_t count = 0;

    for (size_t i = 0; i < net->n_outputs; i++)
        count += psd_net_output_size(net, i);
    return count;
}

void psd_net_get_outputs(const struct psd_net *net, float *out)
{
    for (size_t i = 0; i < net->n_outputs; i++) {
        const struct psd_blob *blob = &net->blobs[net->outputs[i]];
        size_t room = psd_net_output_size(net, i), count = blob->count < room ? blob->count : room;
        memcpy(out, psd_blob_values(blob), count * sizeof *out);
        memset(out + count, 0, (room - count) * sizeof *out);
        out += room;
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

/* After a pass that has failed half way, shapes are looked at again from the start. */
psd_status psd_net_forward(struct psd_net *net, float *loss)
{
    float sum = 0;

    if (net->sketch)
        return psd_fail(PSD_EINVAL, "a net that is a sketch has shapes and computes nothing");
    net->pass = net->position;
    for (size_t i = 0; i < net->n_layers; i++) {
        struct psd_layer *layer = &net->layers[i];
        PSD_TRY(need_values(net, layer));
        if (net->reshaped)
            PSD_TRY(psd_layer_run_reshape(layer));
        PSD_TRY(psd_layer_run_forward(layer));
        sum += loss_of(layer);
        if (net->debug_info)
            psd_net_debug_forward(layer);
        if (net->hooks.passed)
            net->hooks.passed(net->hooks.context, layer, false);
    }
    net->reshaped = false;
    psd_net_advance(&net->position);
    if (loss)
        *loss = sum;
    return PSD_OK;
}

void psd_net_give_diff(struct psd_net *net, const struct psd_blob *blob)
{
    net->diff_given[blob - net->blobs] = true;
}

/* The gradient of the loss by a top that is a loss is its weight, unless it is given. */
static void start_loss(const struct psd_net *net, const struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_top; i++) {
        bool starts = layer->loss_weight[i] != 0 && !net->diff_given[layer->top_id[i]];
        float *diff = starts ? psd_blob_gradient(layer->top[i]) : NULL;
        for (size_t k = 0; diff && k < layer->top[i]->count; k++)
            diff[k] = layer->loss_weight[i] * net->loss_scale;
    }
}

static psd_status give_gradient(struct psd_net *net, struct psd_param *param)
{
    if (!param->blob.diff)
        return psd_fail(PSD_EINVAL, "nobody has lent a gradient of %s before backward",
                        param->name);
    if (net->debug_info)
        psd_net_debug_param(net, param);
    return net->hooks.gradient_ready ? net->hooks.gradient_ready(net->hooks.context, param)
                                     : PSD_OK;
}

/* After a layer's backward its parameters have one use less to come. */
static psd_status finish_params(struct psd_net *net, const struct psd_layer *layer)
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
    psd_net_debug_begin(net);
    for (size_t i = net->n_layers; i-- > 0;) {
        struct psd_layer *layer = &net->layers[i];
        if (!layer->backward_needed)
            continue;
        start_loss(net, layer);
        PSD_TRY(psd_layer_run_backward(layer));
        if (net->debug_info)
            psd_net_debug_backward(layer);
        PSD_TRY(finish_params(net, layer));
        if (net->hooks.passed)
            net->hooks.passed(net->hooks.context, layer, true);
    }
    if (net->debug_info)
        psd_net_debug_end(net);
    return PSD_OK;
}
