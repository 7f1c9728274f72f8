/* outside.c - a layer from outside: a net's calls, put as poseidon/plugin.h says.
 *
 *     net --> kind (setup, reshape, forward, backward) --> struct psd_plugin_call --> the library
 */
#include "base/alloc.h"
#include "engine/net.h"
#include "engine/plugins.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of each layer; what the library keeps comes right behind it. */
struct state {
    struct psd_plugin_array *arrays; /* owned; bottoms, tops, parameters */
    max_align_t own[];
};

static const struct psd_plugin_layer *outside_of(const struct psd_layer *layer)
{
    return ((const struct psd_outside_kind *)layer->kind)->outside;
}

/* --- what the library may ask for ----------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static psd_status fail(struct psd_plugin_call *call,
                                                             const char *format, ...)
{
    char sentence[500];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return psd_layer_fail(call->host, NULL, 0, "%s", sentence);
}

static psd_status read_shape(const struct psd_layer *layer, const size_t *dim, size_t axes,
                             struct psd_shape *out)
{
    if (axes > PSD_BLOB_AXES)
        return psd_layer_fail(layer, NULL, 0, "its plugin asks for %zu axes, of which there are %d",
                              axes, PSD_BLOB_AXES);
    out->axes = axes;
    memcpy(out->dim, dim, axes * sizeof *dim);
    return PSD_OK;
}

static psd_status add_param(struct psd_plugin_call *call, const size_t *dim, size_t axes,
                            const struct psd_plugin_filler *filler)
{
    struct psd_layer *layer = call->host;
    Caffe__FillerParameter as = CAFFE__FILLER_PARAMETER__INIT;
    struct psd_shape shape;

    PSD_TRY(read_shape(layer, dim, axes, &shape));
    if (!filler)
        return psd_layer_add_param(layer, &shape, NULL);
    char *type = psd_alloc_text("%s", filler->type ? filler->type : "constant");
    if (!type)
        return PSD_ENOMEM;
    as.type = type;
    as.value = filler->value;
    as.min = filler->min;
    as.max = filler->max;
    as.mean = filler->mean;
    as.std = filler->std;
    psd_status status = psd_layer_add_param(layer, &shape, &as);
    psd_alloc_free(type);
    return status;
}

/* --- calls ----------------------------------------------------------------------------------------- */

static struct psd_plugin_array array_of(const struct psd_blob *blob, bool values)
{
    struct psd_plugin_array array = {.axes = blob->shape.axes, .count = blob->count};

    memcpy(array.dim, blob->shape.dim, blob->shape.axes * sizeof *array.dim);
    array.values = values ? psd_blob_values(blob) : NULL;
    return array;
}

static struct psd_plugin_call call_of(struct psd_layer *layer, bool values)
{
    struct state *state = layer->state;
    struct psd_plugin_array *bottoms = state->arrays, *tops = bottoms + layer->n_bottom;
    struct psd_plugin_array *params = tops + layer->n_top;
    const Caffe__PluginParameter *p = layer->param->plugin_param;

    for (size_t i = 0; i < layer->n_bottom; i++)
        bottoms[i] = array_of(layer->bottom[i], values);
    for (size_t i = 0; i < layer->n_top; i++)
        tops[i] = array_of(layer->top[i], values);
    for (size_t i = 0; values && i < layer->n_params; i++)
        params[i] = array_of(&layer->params[i]->blob, true);
    return (struct psd_plugin_call){
        .name = layer->name,
        .text = p && p->text ? p->text : "",
        .state = state->own,
        .trains = psd_layer_trains(layer),
        .n_bottoms = layer->n_bottom,
        .n_tops = layer->n_top,
        .n_params = values ? layer->n_params : 0,
        .bottoms = bottoms,
        .tops = tops,
        .params = params,
        .seed = layer->net->seed ^ psd_layer_stream(layer, 0),
        .sample = values && layer->n_bottom && layer->bottom[0]->shape.axes
                      ? psd_net_row(layer->net, layer->bottom[0]->shape.dim[0])
                      : 0,
        .add_param = add_param,
        .fail = fail,
        .host = layer,
    };
}

static psd_status make_arrays(struct psd_layer *layer, size_t params)
{
    struct state *state = layer->state;
    struct psd_plugin_array *arrays =
        psd_alloc_resize(state->arrays, layer->n_bottom + layer->n_top + params, sizeof *arrays);

    if (!arrays)
        return PSD_ENOMEM;
    state->arrays = arrays;
    return PSD_OK;
}

static psd_status setup(struct psd_layer *layer)
{
    const struct psd_plugin_layer *outside = outside_of(layer);

    PSD_TRY(make_arrays(layer, 0));
    struct psd_plugin_call call = call_of(layer, false);
    if (outside->setup)
        PSD_TRY(outside->setup(&call));
    return make_arrays(layer, layer->n_params);
}

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_plugin_call call = call_of(layer, false);
    struct psd_shape shape;

    PSD_TRY(outside_of(layer)->reshape(&call));
    for (size_t i = 0; i < layer->n_top; i++) {
        PSD_TRY(read_shape(layer, call.tops[i].dim, call.tops[i].axes, &shape));
        PSD_TRY(psd_layer_shape_top(layer, i, &shape));
    }
    return PSD_OK;
}

static psd_status forward(struct psd_layer *layer)
{
    struct psd_plugin_call call = call_of(layer, true);

    return outside_of(layer)->forward(&call);
}

static psd_status backward(struct psd_layer *layer)
{
    struct psd_plugin_call call = call_of(layer, true);
    struct psd_plugin_array *bottoms = ((struct state *)layer->state)->arrays;

    for (size_t i = 0; i < layer->n_bottom; i++)
        bottoms[i].gradient = layer->propagates[i] ? psd_blob_gradient(layer->bottom[i]) : NULL;
    for (size_t i = 0; i < layer->n_top; i++)
        call.tops[i].gradient = psd_blob_gradient(layer->top[i]);
    for (size_t i = 0; i < layer->n_params; i++)
        call.tops[layer->n_top + i].gradient = psd_layer_param_gradient(layer, i);
    return outside_of(layer)->backward(&call);
}

static void drop(struct psd_layer *layer)
{
    struct state *state = layer->state;
    struct psd_plugin_call call = {.name = layer->name, .text = "", .state = state->own};

    if (outside_of(layer)->drop)
        outside_of(layer)->drop(&call);
    psd_alloc_free(state->arrays);
}

struct psd_outside_kind psd_outside_kind_of(const struct psd_plugin_layer *layer)
{
    return (struct psd_outside_kind){
        .kind =
            {
                .type = layer->type,
                .bottoms = layer->bottoms,
                .most_bottoms = layer->most_bottoms,
                .tops = layer->tops,
                .most_tops = layer->most_tops,
                .is_loss = layer->is_loss,
                .makes_tops = layer->is_loss,
                .state_size = sizeof(struct state) + layer->state_size,
                .setup = setup,
                .reshape = reshape,
                .forward = forward,
                .backward = layer->backward ? backward : NULL,
                .drop = drop,
            },
        .outside = layer,
    };
}
