#include "engine/net_debug.h"

#include <math.h>
#include <stdio.h>

static double absolute_sum(const float *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += fabs((double)values[i]);
    return sum;
}

static double square_sum(const float *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)values[i] * (double)values[i];
    return sum;
}

/* A line about `values`, unless there are none. */
static void show(const struct psd_layer *layer, const char *pass, const char *what,
                 const char *which, const float *values, size_t count)
{
    if (values && count)
        psd_log_info(layer->net->log, "    [%s] Layer %s, %s blob %s %s: %g", pass, layer->name,
                     what, which, pass[0] == 'F' ? "data" : "diff",
                     absolute_sum(values, count) / (double)count);
}

/* As Caffe calls it: by the name that the prototxt gives it, or its number in the layer. */
static const char *param_name(const struct psd_layer *layer, size_t i, char *out, size_t room)
{
    const Caffe__LayerParameter *param = layer->param;

    if (i < param->n_param && param->param[i]->name && *param->param[i]->name)
        return param->param[i]->name;
    snprintf(out, room, "%zu", i);
    return out;
}

void psd_net_debug_forward(const struct psd_layer *layer)
{
    const struct psd_net *net = layer->net;
    char number[24];

    for (size_t i = 0; i < layer->n_top; i++)
        show(layer, "Forward", "top", net->blob_names[layer->top_id[i]],
             psd_blob_values(layer->top[i]), layer->top[i]->count);
    for (size_t i = 0; i < layer->n_params; i++) {
        const struct psd_blob *blob = &layer->params[i]->blob;
        show(layer, "Forward", "param", param_name(layer, i, number, sizeof number),
             psd_blob_values(blob), blob->count);
    }
}

void psd_net_debug_backward(const struct psd_layer *layer)
{
    const struct psd_net *net = layer->net;
    char number[24];

    for (size_t i = 0; i < layer->n_bottom; i++) {
        if (layer->propagates[i])
            show(layer, "Backward", "bottom", net->blob_names[layer->bottom_id[i]],
                 psd_blob_gradient(layer->bottom[i]), layer->bottom[i]->count);
    }
    for (size_t i = 0; i < layer->n_params; i++) {
        const struct psd_param *param = layer->params[i];
        snprintf(number, sizeof number, "%zu", i);
        if (param->learns && !param->factored)
            show(layer, "Backward", "param", number, psd_blob_gradient(&param->blob),
                 param->blob.count);
    }
}

void psd_net_debug_begin(struct psd_net *net)
{
    net->norms = (struct psd_net_norms){0};
}

void psd_net_debug_param(struct psd_net *net, const struct psd_param *param)
{
    const float *values = psd_blob_values(&param->blob), *diff = psd_blob_gradient(&param->blob);
    size_t count = param->blob.count;

    net->norms.data_l1 += absolute_sum(values, count);
    net->norms.data_l2 += square_sum(values, count);
    net->norms.diff_l1 += absolute_sum(diff, count);
    net->norms.diff_l2 += square_sum(diff, count);
}

void psd_net_debug_end(const struct psd_net *net)
{
    const struct psd_net_norms *norms = &net->norms;

    psd_log_info(net->log,
                 "    [Backward] All net params (data, diff): L1 norm = (%g, %g); "
                 "L2 norm = (%g, %g)",
                 norms->data_l1, norms->diff_l1, sqrt(norms->data_l2), sqrt(norms->diff_l2));
}
