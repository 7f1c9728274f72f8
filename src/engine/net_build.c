/* net_build.c - from a prototxt's layers to a net that can compute.
 *
 *     for each layer in order:   its kind   bottoms: blobs made above   tops: new blobs, or in place
 *                                setup      parameters                  reshape: shapes, operations
 *     then, from the end:        which layers take part in the loss, and so need a backward
 */
#include "base/alloc.h"
#include "base/suggest.h"
#include "engine/net_connect.h"
#include "engine/net_needs.h"
#include "engine/net_position.h"
#include "engine/net_state.h"
#include "engine/plugins.h"

#include <string.h>

/* --- one layer -------------------------------------------------------------------------------- */

static psd_status unknown_type(const struct psd_layer *layer)
{
    const struct psd_plugins *plugins = layer->net->plugins;
    const char *type = layer->param->type ? layer->param->type : "";
    struct psd_suggest suggest;

    if (strcmp(type, "Python") == 0)
        return psd_layer_fail(
            layer, &layer->param->base, 2,
            "layers written in Python are not run here; write it in C as a plugin, which "
            "--plugin loads (poseidon/plugin.h)");
    psd_suggest_init(&suggest, type, strlen(type));
    for (size_t i = 0; psd_layers[i]; i++)
        psd_suggest_offer(&suggest, psd_layers[i]->type);
    for (size_t i = 0; psd_plugins_at(plugins, i); i++)
        psd_suggest_offer(&suggest, psd_plugins_at(plugins, i)->type);
    return psd_layer_fail(layer, &layer->param->base, 2, "unknown type \"%s\"%s", type,
                          psd_suggest_phrase(&suggest));
}

static psd_status take_memory(struct psd_layer *layer)
{
    layer->bottom = psd_alloc_zero(layer->n_bottom, sizeof *layer->bottom);
    layer->bottom_id = psd_alloc_zero(layer->n_bottom, sizeof *layer->bottom_id);
    layer->propagates = psd_alloc_zero(layer->n_bottom, sizeof *layer->propagates);
    layer->top = psd_alloc_zero(layer->n_top, sizeof *layer->top);
    layer->top_id = psd_alloc_zero(layer->n_top, sizeof *layer->top_id);
    layer->loss_weight = psd_alloc_zero(layer->n_top, sizeof *layer->loss_weight);
    layer->state = psd_alloc_zero(1, layer->kind->state_size);
    return layer->bottom && layer->bottom_id && layer->propagates && layer->top && layer->top_id &&
                   layer->loss_weight && layer->state
               ? PSD_OK
               : PSD_ENOMEM;
}

static psd_status set_loss_weights(struct psd_layer *layer)
{
    const Caffe__LayerParameter *param = layer->param;

    if (param->n_loss_weight && param->n_loss_weight != layer->n_top &&
        !(layer->kind->is_loss && param->n_loss_weight == 1))
        return psd_layer_fail(
            layer, &param->base, 5,
            "loss_weight is given %zu times for %zu top%s; give one for each, or none",
            param->n_loss_weight, layer->n_top, layer->n_top == 1 ? "" : "s");
    if (layer->kind->is_loss && layer->n_top)
        layer->loss_weight[0] = 1;
    for (size_t i = 0; i < param->n_loss_weight; i++)
        layer->loss_weight[i] = param->loss_weight[i];
    return PSD_OK;
}

static const struct psd_layer_kind *find_kind(const struct psd_net *net, const char *type)
{
    const struct psd_layer_kind *kind = psd_layers_find(type);

    return kind ? kind : psd_plugins_find(net->plugins, type);
}

/* What there is of a layer before its kind has a say. */
static psd_status start_layer(struct psd_net *net, size_t index)
{
    struct psd_layer *layer = &net->layers[index];

    layer->net = net;
    layer->param = net->param->layer[index];
    layer->name = layer->param->name ? layer->param->name : "";
    layer->index = index;
    layer->kind = find_kind(net, layer->param->type ? layer->param->type : "");
    if (!layer->kind)
        return unknown_type(layer);
    PSD_TRY(psd_net_check_counts(layer));
    layer->n_bottom = layer->param->n_bottom;
    layer->n_top = layer->param->n_top;
    if (layer->kind->makes_tops && layer->n_top < layer->kind->tops)
        layer->n_top = layer->kind->tops;
    layer->varies = layer->kind->varies || (index > 0 && net->layers[index - 1].varies);
    net->n_layers = index + 1; /* from here on destroy sees it */
    return take_memory(layer);
}

static psd_status build_layer(struct psd_net_build *build, size_t index)
{
    struct psd_layer *layer = &build->net->layers[index];

    PSD_TRY(start_layer(build->net, index));
    PSD_TRY(psd_net_connect(build, layer));
    PSD_TRY(set_loss_weights(layer));
    if (layer->kind->setup)
        PSD_TRY(psd_layer_blame(layer, layer->kind->setup(layer)));
    if (layer->param->n_blobs > layer->n_params)
        return psd_layer_fail(layer, &layer->param->blobs[layer->n_params]->base, 0,
                              "has %zu blobs for %zu parameters", layer->param->n_blobs,
                              layer->n_params);
    if (layer->param->n_param > layer->n_params)
        return psd_layer_fail(layer, &layer->param->base, 6,
                              "param is given %zu times, but it has %zu parameters",
                              layer->param->n_param, layer->n_params);
    return psd_layer_run_reshape(layer);
}

/* --- the net ------------------------------------------------------------------------------------- */

/* Blobs and layers never move afterwards, since layers point at blobs: room for all is taken first. */
static psd_status take_room(struct psd_net_build *build)
{
    struct psd_net *net = build->net;
    size_t blobs = 0;

    for (size_t i = 0; i < net->param->n_layer; i++)
        blobs += net->param->layer[i]->n_top + 2;
    net->layers = psd_alloc_zero(net->param->n_layer, sizeof *net->layers);
    net->blobs = psd_alloc_zero(blobs, sizeof *net->blobs);
    net->blob_names = psd_alloc_zero(blobs, sizeof *net->blob_names);
    net->blob_needs_diff = psd_alloc_zero(blobs, sizeof *net->blob_needs_diff);
    net->diff_given = psd_alloc_zero(blobs, sizeof *net->diff_given);
    net->outputs = psd_alloc_zero(blobs, sizeof *net->outputs);
    net->output_counts = psd_alloc_zero(blobs, sizeof *net->output_counts);
    build->read = psd_alloc_zero(blobs, sizeof *build->read);
    return net->layers && net->blobs && net->blob_names && net->blob_needs_diff &&
                   net->diff_given && net->outputs && net->output_counts && build->read
               ? PSD_OK
               : PSD_ENOMEM;
}

/* Blobs that nobody reads, in the order of their names, which is how Caffe lists them. */
static void find_outputs(struct psd_net_build *build)
{
    struct psd_net *net = build->net;

    for (size_t i = 0; i < net->n_blobs; i++) {
        size_t at = net->n_outputs;
        if (build->read[i])
            continue;
        for (; at > 0 && strcmp(net->blob_names[net->outputs[at - 1]], net->blob_names[i]) > 0;
             at--)
            net->outputs[at] = net->outputs[at - 1];
        net->outputs[at] = i;
        net->n_outputs++;
    }
}

static psd_status build_net(struct psd_net_build *build)
{
    struct psd_net *net = build->net;

    PSD_TRY(take_room(build));
    for (size_t i = 0; i < net->param->n_layer; i++)
        PSD_TRY(build_layer(build, i));
    if (net->batch || net->position.global_batch)
        PSD_TRY(psd_net_check_dealt(net));
    find_outputs(build);
    psd_net_measure_outputs(net);
    PSD_TRY(psd_net_find_needs(net));
    return psd_net_take_diffs(net);
}

/* What a net has of its own from the options. */
static struct psd_net *start_net(const struct psd_net_options *options)
{
    struct psd_net *net = psd_alloc_zero(1, sizeof *net);

    if (!net)
        return NULL;
    net->twin = options->twin_of;
    net->ops = options->ops;
    net->device = options->device;
    net->log = options->log;
    net->hooks = options->hooks;
    net->max_bad = options->max_bad;
    net->borrows_gradients = options->borrows_gradients;
    net->all_gradients = options->all_gradients;
    net->sketch = options->sketch;
    net->loss_scale = 1;
    net->debug_info = options->debug_info;
    return net;
}

/* What the net is, and what twins have in common. */
static void take_plan(struct psd_net *net, const struct psd_net_options *options)
{
    const struct psd_net *twin = options->twin_of;

    net->document = twin ? twin->document : options->document;
    net->param = twin           ? twin->param
                 : options->net ? options->net
                                : (Caffe__NetParameter *)options->document->root;
    net->phase = twin ? twin->phase : options->phase;
    net->seed = twin ? twin->seed : options->seed;
    net->share = twin ? twin->share : options->share;
    net->batch = options->batch ? options->batch : twin ? twin->batch : 0;
    net->plugins = twin ? twin->plugins : options->plugins;
    net->debug_info |= !twin && net->param->debug_info;
}

/* A twin finds the document as its elder has left it. */
static psd_status prepare(struct psd_net *net, const struct psd_net_options *options)
{
    struct psd_net_state state = {options->phase, options->level, 0, options->stages};

    PSD_TRY(psd_net_place(net, &options->position));
    net->pass = net->position;
    if (net->twin)
        return PSD_OK;
    while (options->stages && options->stages[state.n_stages])
        state.n_stages++;
    PSD_TRY(psd_net_filter(net->document, net->param, &state));
    if (options->stand_in)
        PSD_TRY(psd_stand_in_apply(options->stand_in, net->document, net->param));
    return psd_net_split(net->document, net->param);
}

psd_status psd_net_create(const struct psd_net_options *options, struct psd_net **out)
{
    struct psd_net_build build = {.net = start_net(options)};

    if (!build.net)
        return PSD_ENOMEM;
    take_plan(build.net, options);
    psd_map_init(&build.blobs);
    psd_status status = prepare(build.net, options);
    if (status == PSD_OK)
        status = build_net(&build);
    psd_map_fini(&build.blobs);
    psd_alloc_free(build.read);
    if (status == PSD_OK)
        *out = build.net;
    else
        psd_net_destroy(build.net);
    return status;
}

static void destroy_layer(struct psd_layer *layer)
{
    if (layer->kind->drop && layer->state)
        layer->kind->drop(layer);
    for (size_t i = 0; i < layer->n_ops; i++)
        psd_op_destroy(layer->ops[i]);
    psd_alloc_free(layer->ops);
    psd_alloc_free(layer->carried);
    psd_alloc_free(layer->state);
    psd_alloc_free(layer->bottom);
    psd_alloc_free(layer->bottom_id);
    psd_alloc_free(layer->propagates);
    psd_alloc_free(layer->top);
    psd_alloc_free(layer->top_id);
    psd_alloc_free(layer->loss_weight);
    psd_alloc_free(layer->params);
}

void psd_net_destroy(struct psd_net *net)
{
    if (!net)
        return;
    for (size_t i = 0; i < net->n_layers; i++)
        destroy_layer(&net->layers[i]);
    for (size_t i = 0; i < net->n_blobs; i++)
        psd_blob_fini(&net->blobs[i]);
    for (size_t i = 0; i < net->n_params; i++) {
        psd_blob_fini(&net->params[i]->blob);
        psd_alloc_free(net->params[i]->name);
        psd_alloc_free(net->params[i]);
    }
    psd_alloc_free(net->params);
    psd_alloc_free(net->layers);
    psd_alloc_free(net->blobs);
    psd_alloc_free((void *)net->blob_names);
    psd_alloc_free(net->blob_needs_diff);
    psd_alloc_free(net->diff_given);
    psd_alloc_free(net->outputs);
    psd_alloc_free(net->output_counts);
    psd_alloc_free(net);
}
