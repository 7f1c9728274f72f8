/* filters.c - parameters, weights and shapes of layers with filters. */
#include "engine/layers/filters.h"
#include "engine/layers/window.h"

static const Caffe__ConvolutionParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__ConvolutionParameter none = CAFFE__CONVOLUTION_PARAMETER__INIT;
    return layer->param->convolution_param ? layer->param->convolution_param : &none;
}

/* --- setup ------------------------------------------------------------------------------------ */

/* Weights have two axes beside the spatial ones. */
static psd_status find_axes(const struct psd_layer *layer, size_t *axis, size_t *spatial)
{
    const Caffe__ConvolutionParameter *p = param_of(layer);
    size_t axes = layer->bottom[0]->shape.axes;

    PSD_TRY(psd_layer_axis(layer, &p->base, 16, 0, p->axis, axis));
    *spatial = axes - *axis - 1;
    if (*spatial + 2 > PSD_BLOB_AXES)
        return psd_layer_fail(layer, &p->base, 16, "has %zu spatial axes; %d is the most", *spatial,
                              PSD_BLOB_AXES - 2);
    return PSD_OK;
}

static psd_status check_groups(const struct psd_layer *layer, size_t channels)
{
    const Caffe__ConvolutionParameter *p = param_of(layer);

    if (!p->num_output)
        return psd_layer_fail(layer, &p->base, 1, "has no num_output; 1 is the least");
    if (!p->group || channels % p->group || p->num_output % p->group)
        return psd_layer_fail(layer, &p->base, 5,
                              "group is %u, which does not divide %zu channels and %u outputs",
                              p->group, channels, p->num_output);
    return PSD_OK;
}

static psd_status add_params(struct psd_layer *layer)
{
    const Caffe__ConvolutionParameter *p = param_of(layer);
    const struct psd_conv_nd_spec *spec = &((struct psd_filters *)layer->state)->spec;
    const struct psd_columns_spec *window = &spec->window;
    struct psd_shape weights = {2 + window->axes, {spec->outputs, window->channels / spec->group}};
    struct psd_shape bias = psd_shape_of(1, p->num_output, 0, 0, 0);

    for (size_t i = 0; i < window->axes; i++)
        weights.dim[2 + i] = window->kernel[i];
    PSD_TRY(psd_layer_add_param(layer, &weights, p->weight_filler));
    return p->bias_term ? psd_layer_add_param(layer, &bias, p->bias_filler) : PSD_OK;
}

psd_status psd_filters_setup(struct psd_layer *layer, bool back)
{
    const Caffe__ConvolutionParameter *p = param_of(layer);
    struct psd_filters *filters = layer->state;
    struct psd_conv_nd_spec *spec = &filters->spec;
    size_t spatial;

    filters->back = back;
    PSD_TRY(find_axes(layer, &filters->axis, &spatial));
    size_t channels = layer->bottom[0]->shape.dim[filters->axis];
    PSD_TRY(check_groups(layer, channels));
    PSD_TRY(psd_window_read_all(layer, &p->base, spatial, &spec->window));
    spec->window.channels = back ? p->num_output : channels;
    spec->outputs = back ? channels : p->num_output;
    spec->group = p->group;
    spec->bias = p->bias_term;
    return add_params(layer);
}

/* --- reshape ---------------------------------------------------------------------------------- */

static psd_status check_bottom(const struct psd_layer *layer, size_t i)
{
    const struct psd_filters *filters = layer->state;
    const struct psd_conv_nd_spec *spec = &filters->spec;
    const struct psd_shape *shape = &layer->bottom[i]->shape;
    size_t channels = filters->back ? spec->outputs : spec->window.channels;
    char ours[300], first[300];

    if (i && !psd_shape_same(shape, &layer->bottom[0]->shape))
        return psd_layer_fail(layer, NULL, 0, "its bottoms differ: %s, and %s",
                              psd_layer_bottom_text(layer, 0, first, sizeof first),
                              psd_layer_bottom_text(layer, i, ours, sizeof ours));
    if (shape->axes != filters->axis + 1 + spec->window.axes ||
        shape->dim[filters->axis] != channels)
        return psd_layer_fail(
            layer, NULL, 0, "has weights for %zu channels and %zu spatial axes, but reads %s",
            channels, spec->window.axes, psd_layer_bottom_text(layer, i, ours, sizeof ours));
    return PSD_OK;
}

/* The size along axis i of the top on which filters have as many places as the bottom is long; false:
 * there is none, or it is beyond this machine. */
static bool find_size(struct psd_columns_spec *w, size_t i)
{
    size_t extent = w->dilation[i] * (w->kernel[i] - 1) + 1, size;

    if (__builtin_mul_overflow(w->out[i] - 1, w->stride[i], &size) ||
        __builtin_add_overflow(size, extent, &size) || size <= 2 * w->pad[i])
        return false;
    w->size[i] = size - 2 * w->pad[i];
    return true;
}

static psd_status slide_back(const struct psd_layer *layer, size_t bottom,
                             struct psd_columns_spec *w)
{
    const struct psd_filters *filters = layer->state;
    const struct psd_shape *shape = &layer->bottom[bottom]->shape;
    char text[300];

    w->batch = psd_shape_count(shape, 0, filters->axis);
    for (size_t i = 0; i < w->axes; i++) {
        w->out[i] = shape->dim[filters->axis + 1 + i];
        if (!find_size(w, i))
            return psd_layer_fail(
                layer, NULL, 0, "with a pad of %zu nothing is left of what it makes of %s",
                w->pad[i], psd_layer_bottom_text(layer, bottom, text, sizeof text));
    }
    return PSD_OK;
}

/* The shape of the top is that of the bottom with other channels and sizes. */
static psd_status plan_one(struct psd_layer *layer, size_t i)
{
    const struct psd_filters *filters = layer->state;
    struct psd_conv_nd_spec conv = filters->spec;
    struct psd_columns_spec *window = &conv.window;
    struct psd_shape shape = layer->bottom[i]->shape;
    bool back = filters->back;

    PSD_TRY(check_bottom(layer, i));
    if (back)
        PSD_TRY(slide_back(layer, i, window));
    else
        PSD_TRY(psd_window_slide(layer, i, filters->axis, window));
    struct psd_op_spec spec = {PSD_OP_DECONV, .deconv = conv};
    if (!back)
        spec = psd_op_conv(&conv);
    PSD_TRY(psd_layer_plan(layer, i, &spec));
    shape.dim[filters->axis] = back ? window->channels : conv.outputs;
    for (size_t k = 0; k < window->axes; k++)
        shape.dim[filters->axis + 1 + k] = back ? window->size[k] : window->out[k];
    return psd_layer_shape_top(layer, i, &shape);
}

psd_status psd_filters_reshape(struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_bottom; i++)
        PSD_TRY(plan_one(layer, i));
    return PSD_OK;
}

/* Each value that the filters make, or start from, is tied to the weights of one of them. */
double psd_filters_macs(const struct psd_layer *layer)
{
    const struct psd_filters *filters = layer->state;
    const struct psd_blob *weights = &layer->params[0]->blob;
    size_t values = 0, each = weights->count / weights->shape.dim[0];

    for (size_t i = 0; i < layer->n_top; i++)
        values += (filters->back ? layer->bottom[i] : layer->top[i])->count;
    return (double)values * (double)each;
}
