/* net_needs.c - once forward to see what learns, once backward to see what a loss depends on. */
#include "engine/net_needs.h"
#include "base/alloc.h"

static bool learns(const struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_params; i++) {
        if (layer->params[i]->learns && !layer->net->share)
            return true;
    }
    return false;
}

/* Whether bottom i may get a gradient at all. */
static bool takes_gradient(const struct psd_layer *layer, size_t i)
{
    bool last = layer->kind->last_unlearned && i + 1 == layer->n_bottom;

    return !last && !(layer->kind->unlearned >> (i < 31 ? i : 31) & 1);
}

static psd_status look_forward(struct psd_net *net, struct psd_layer *layer)
{
    const Caffe__LayerParameter *param = layer->param;

    if (param->n_propagate_down && param->n_propagate_down != layer->n_bottom)
        return psd_layer_fail(
            layer, &param->base, 11,
            "propagate_down is given %zu times for %zu bottom%s; give one for each, or none",
            param->n_propagate_down, layer->n_bottom, layer->n_bottom == 1 ? "" : "s");
    layer->backward_needed = learns(layer);
    for (size_t i = 0; i < layer->n_bottom; i++) {
        bool needs = net->all_gradients || net->blob_needs_diff[layer->bottom_id[i]];
        if (param->n_propagate_down)
            needs = param->propagate_down[i];
        if (net->param->force_backward)
            needs = true;
        layer->propagates[i] = needs && takes_gradient(layer, i);
        layer->backward_needed |= layer->propagates[i];
    }
    for (size_t i = 0; i < layer->n_top; i++)
        net->blob_needs_diff[layer->top_id[i]] = layer->backward_needed;
    return PSD_OK;
}

/* Whether somebody outside may give bottom i a gradient that its reader has not. */
static bool may_be_given(const struct psd_layer *layer, size_t i)
{
    const Caffe__LayerParameter *param = layer->param;

    return layer->net->all_gradients && (!param->n_propagate_down || param->propagate_down[i]);
}

/* `arrives[b]`: a gradient of blob b will be there, from its reader. A layer whose tops get none has
 * none to give; that is so above a reader with propagate_down false, too. */
static void look_backward(struct psd_layer *layer, bool *arrives)
{
    bool any = layer->net->param->force_backward;

    for (size_t i = 0; i < layer->n_top; i++)
        any |= layer->loss_weight[i] != 0 || arrives[layer->top_id[i]];
    layer->backward_needed &= any;
    for (size_t i = 0; i < layer->n_bottom; i++) {
        layer->propagates[i] &= any;
        arrives[layer->bottom_id[i]] = any && (layer->propagates[i] || may_be_given(layer, i));
    }
}

psd_status psd_net_find_needs(struct psd_net *net)
{
    bool *arrives = psd_alloc_zero(net->n_blobs, sizeof *arrives);
    psd_status status = PSD_OK;

    if (!arrives)
        return PSD_ENOMEM;
    for (size_t i = 0; i < net->n_blobs; i++)
        arrives[i] = net->all_gradients; /* those of outputs come from outside */
    for (size_t i = 0; status == PSD_OK && i < net->n_layers; i++)
        status = look_forward(net, &net->layers[i]);
    for (size_t i = net->n_layers; status == PSD_OK && i-- > 0;) {
        struct psd_layer *layer = &net->layers[i];
        look_backward(layer, arrives);
        if (layer->backward_needed && !layer->kind->backward)
            status = psd_layer_fail(layer, NULL, 0,
                                    "%s layers have no gradient, but something before it learns",
                                    layer->kind->type);
    }
    psd_alloc_free(arrives);
    return status;
}

/* Counts the layers whose backward adds to each parameter. */
static void count_uses(struct psd_net *net)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        const struct psd_layer *layer = &net->layers[i];
        for (size_t k = 0; layer->backward_needed && !net->share && k < layer->n_params; k++)
            layer->params[k]->uses++;
    }
}

static psd_status take_diffs_of(const struct psd_layer *layer)
{
    bool all = layer->net->all_gradients;

    for (size_t k = 0; k < layer->n_bottom; k++) {
        if (layer->propagates[k] || (all && takes_gradient(layer, k)))
            PSD_TRY(psd_blob_need_diff(layer->bottom[k]));
    }
    for (size_t k = 0; layer->backward_needed && k < layer->n_top; k++)
        PSD_TRY(psd_blob_need_diff(layer->top[k]));
    return PSD_OK;
}

psd_status psd_net_take_diffs(struct psd_net *net)
{
    for (size_t i = 0; i < net->n_layers; i++)
        PSD_TRY(psd_layer_blame(&net->layers[i], take_diffs_of(&net->layers[i])));
    count_uses(net);
    for (size_t i = 0; !net->borrows_gradients && i < net->n_params; i++) {
        struct psd_param *param = net->params[i];
        if (param->uses || net->all_gradients ||
            (param->learns && net->phase == CAFFE__PHASE__TRAIN))
            PSD_TRY(psd_layer_blame(&net->layers[param->layer], psd_blob_need_diff(&param->blob)));
    }
    return PSD_OK;
}
