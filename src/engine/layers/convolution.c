/* convolution.c - Convolution: filters that slide over images.
 *
 *     bottom [samples][channels][height][width]      weights [outputs][channels / group][kh][kw]
 *     top    [samples][outputs][out h][out w]        bias    [outputs]
 *
 * Each bottom has its top; all use the same weights. Bottoms with one spatial axis, or none, are
 * images of height, or size, 1. */
#include "engine/layers/window.h"

struct state {
    size_t spatial;            /* axes after the channels */
    struct psd_conv_spec spec; /* all but what the bottoms say */
};

static const Caffe__ConvolutionParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__ConvolutionParameter none = CAFFE__CONVOLUTION_PARAMETER__INIT;
    return layer->param->convolution_param ? layer->param->convolution_param : &none;
}

/* --- setup ------------------------------------------------------------------------------------ */

static psd_status read_window(const struct psd_layer *layer, size_t spatial,
                              struct psd_conv_spec *spec)
{
    const ProtobufCMessage *p = &param_of(layer)->base;

    PSD_TRY(psd_window_read(layer, p, PSD_WINDOW_KERNEL, spatial, spec->kernel));
    PSD_TRY(psd_window_read(layer, p, PSD_WINDOW_STRIDE, spatial, spec->stride));
    PSD_TRY(psd_window_read(layer, p, PSD_WINDOW_PAD, spatial, spec->pad));
    return psd_window_read(layer, p, PSD_WINDOW_DILATION, spatial, spec->dilation);
}

static psd_status count_spatial(const struct psd_layer *layer, size_t *spatial)
{
    const Caffe__ConvolutionParameter *p = param_of(layer);
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    size_t axis;

    PSD_TRY(psd_layer_axis(layer, &p->base, 16, 0, p->axis, &axis));
    if (axis != 1)
        return psd_layer_fail(layer, &p->base, 16,
                              "axis is %d; channels on another axis than 1 come later", p->axis);
    if (shape->axes > 4)
        return psd_layer_fail(layer, NULL, 0,
                              "its bottom has %zu spatial axes; more than 2 come later",
                              shape->axes - 2);
    *spatial = shape->axes - 2;
    return PSD_OK;
}

static psd_status check_groups(const struct psd_layer *layer)
{
    const Caffe__ConvolutionParameter *p = param_of(layer);
    size_t channels = layer->bottom[0]->shape.dim[1];

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
    const struct state *state = layer->state;
    const size_t *kernel = state->spec.kernel + 2 - state->spatial;
    size_t channels = layer->bottom[0]->shape.dim[1] / p->group;
    struct psd_shape weights = {2 + state->spatial, {p->num_output, channels}};
    struct psd_shape bias = psd_shape_of(1, p->num_output, 0, 0, 0);

    for (size_t i = 0; i < state->spatial; i++)
        weights.dim[2 + i] = kernel[i];
    PSD_TRY(psd_layer_add_param(layer, &weights, p->weight_filler));
    return p->bias_term ? psd_layer_add_param(layer, &bias, p->bias_filler) : PSD_OK;
}

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__ConvolutionParameter *p = param_of(layer);
    struct state *state = layer->state;

    PSD_TRY(count_spatial(layer, &state->spatial));
    PSD_TRY(check_groups(layer));
    PSD_TRY(read_window(layer, state->spatial, &state->spec));
    state->spec.channels = layer->bottom[0]->shape.dim[1];
    state->spec.outputs = p->num_output;
    state->spec.group = p->group;
    state->spec.bias = p->bias_term;
    return add_params(layer);
}

/* --- reshape ---------------------------------------------------------------------------------- */

static psd_status check_bottom(const struct psd_layer *layer, size_t i)
{
    const struct state *state = layer->state;
    const struct psd_shape *shape = &layer->bottom[i]->shape;
    char ours[300], first[300];

    if (i && !psd_shape_same(shape, &layer->bottom[0]->shape))
        return psd_layer_fail(layer, NULL, 0, "its bottoms differ: %s, and %s",
                              psd_layer_bottom_text(layer, 0, first, sizeof first),
                              psd_layer_bottom_text(layer, i, ours, sizeof ours));
    if (shape->axes != 2 + state->spatial || shape->dim[1] != state->spec.channels)
        return psd_layer_fail(layer, NULL, 0,
                              "has weights for %zu channels and %zu spatial axes, but reads %s",
                              state->spec.channels, state->spatial,
                              psd_layer_bottom_text(layer, i, ours, sizeof ours));
    return PSD_OK;
}

/* Places that the kernel has along one direction; 0: it does not fit. */
static size_t places(const struct psd_conv_spec *s, int direction, size_t size)
{
    size_t extent = s->dilation[direction] * (s->kernel[direction] - 1) + 1;
    size_t padded = size + 2 * s->pad[direction];

    return padded < extent ? 0 : (padded - extent) / s->stride[direction] + 1;
}

static psd_status plan_one(struct psd_layer *layer, size_t i)
{
    const struct state *state = layer->state;
    struct psd_shape shape = layer->bottom[i]->shape;
    struct psd_op_spec spec = {PSD_OP_CONV, .conv = state->spec};
    char text[300];

    PSD_TRY(check_bottom(layer, i));
    spec.conv.batch = shape.dim[0];
    spec.conv.height = state->spatial == 2 ? shape.dim[2] : 1;
    spec.conv.width = state->spatial ? shape.dim[1 + state->spatial] : 1;
    spec.conv.out_height = places(&spec.conv, 0, spec.conv.height);
    spec.conv.out_width = places(&spec.conv, 1, spec.conv.width);
    if (!spec.conv.out_height || !spec.conv.out_width)
        return psd_layer_fail(layer, NULL, 0,
                              "its kernel of %zu x %zu does not fit into %s, with its padding",
                              spec.conv.kernel[0], spec.conv.kernel[1],
                              psd_layer_bottom_text(layer, i, text, sizeof text));
    shape.dim[1] = spec.conv.outputs;
    if (state->spatial == 2)
        shape.dim[2] = spec.conv.out_height;
    if (state->spatial)
        shape.dim[1 + state->spatial] = spec.conv.out_width;
    PSD_TRY(psd_layer_shape_top(layer, i, &shape));
    return psd_layer_plan(layer, i, &spec);
}

static psd_status reshape(struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_bottom; i++)
        PSD_TRY(plan_one(layer, i));
    return PSD_OK;
}

/* Each value of a top is a product with the weights of its output. */
static double macs(const struct psd_layer *layer)
{
    const struct psd_blob *weights = &layer->params[0]->blob;
    size_t values = 0, each = weights->count / weights->shape.dim[0];

    for (size_t i = 0; i < layer->n_top; i++)
        values += layer->top[i]->count;
    return (double)values * (double)each;
}

const struct psd_layer_kind psd_layer_convolution = {
    .type = "Convolution",
    .bottoms = 1,
    .most_bottoms = PSD_LAYER_ANY,
    .tops = 1,
    .most_tops = PSD_LAYER_ANY,
    .as_many_tops = true,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
    .macs = macs,
};
