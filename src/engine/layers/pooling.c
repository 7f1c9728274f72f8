/* pooling.c - Pooling: one value out of each window of an image.
 *
 *     bottom [samples][channels][height][width]  -->  top, the same with fewer pixels
 *                                                     mask: where each maximum was (optional)
 *
 * With round_mode CEIL a last window hangs over the edge where the stride does not divide; one that
 * would hold no pixel of the image is left out. */
#include "engine/layers/window.h"

struct state {
    struct psd_pool_spec spec; /* all but what the bottom says */
};

static const Caffe__PoolingParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__PoolingParameter none = CAFFE__POOLING_PARAMETER__INIT;
    return layer->param->pooling_param ? layer->param->pooling_param : &none;
}

/* --- setup: the parameters -------------------------------------------------------------------- */

static psd_status check_global(const struct psd_layer *layer, const struct psd_pool_spec *spec)
{
    const Caffe__PoolingParameter *p = param_of(layer);

    if (p->has_kernel_size || p->has_kernel_h || p->has_kernel_w)
        return psd_layer_fail(layer, &p->base, 12,
                              "has global_pooling and a kernel; the image is the kernel");
    if (spec->pad[0] || spec->pad[1] || spec->stride[0] != 1 || spec->stride[1] != 1)
        return psd_layer_fail(layer, &p->base, 12,
                              "has global_pooling, for which pad is 0 and stride is 1");
    return PSD_OK;
}

static psd_status check_pad(const struct psd_layer *layer, const struct psd_pool_spec *spec)
{
    const ProtobufCMessage *p = &param_of(layer)->base;

    if (spec->pad[0] >= spec->kernel[0] || spec->pad[1] >= spec->kernel[1])
        return psd_layer_fail(layer, p, 4,
                              "its padding of %zu x %zu is not smaller than its kernel "
                              "of %zu x %zu",
                              spec->pad[0], spec->pad[1], spec->kernel[0], spec->kernel[1]);
    if (spec->method == PSD_POOL_STOCHASTIC && (spec->pad[0] || spec->pad[1]))
        return psd_layer_fail(layer, p, 4, "stochastic pooling knows no padding");
    return PSD_OK;
}

static psd_status read_window(const struct psd_layer *layer, struct psd_pool_spec *spec)
{
    const Caffe__PoolingParameter *p = param_of(layer);

    PSD_TRY(psd_window_read(layer, &p->base, PSD_WINDOW_STRIDE, 2, spec->stride));
    PSD_TRY(psd_window_read(layer, &p->base, PSD_WINDOW_PAD, 2, spec->pad));
    if (p->global_pooling)
        return check_global(layer, spec);
    PSD_TRY(psd_window_read(layer, &p->base, PSD_WINDOW_KERNEL, 2, spec->kernel));
    return check_pad(layer, spec);
}

static enum psd_pool_method method_of(const Caffe__PoolingParameter *p)
{
    switch (p->pool) {
    case CAFFE__POOLING_PARAMETER__POOL_METHOD__AVE:
        return PSD_POOL_AVERAGE;
    case CAFFE__POOLING_PARAMETER__POOL_METHOD__STOCHASTIC:
        return PSD_POOL_STOCHASTIC;
    default:
        return PSD_POOL_MAX;
    }
}

static psd_status setup(struct psd_layer *layer)
{
    struct psd_pool_spec *spec = &((struct state *)layer->state)->spec;

    spec->method = method_of(param_of(layer));
    spec->train = psd_layer_trains(layer);
    if (layer->n_top > 1 && spec->method != PSD_POOL_MAX)
        return psd_layer_fail(
            layer, &layer->param->base, 4,
            "has two tops, but only maxima have a place: pool is MAX, or there is "
            "no second top");
    return read_window(layer, spec);
}

/* --- reshape: the windows --------------------------------------------------------------------- */

/* Windows along one direction; 0: the kernel does not fit. */
static size_t windows(const struct psd_pool_spec *s, int direction, size_t size, bool ceil)
{
    size_t kernel = s->kernel[direction], stride = s->stride[direction], pad = s->pad[direction];
    size_t padded = size + 2 * pad;

    if (padded < kernel) /* only a window that hangs over the edge by less than a step counts */
        return ceil && kernel - padded < stride;
    size_t count = (padded - kernel + (ceil ? stride - 1 : 0)) / stride + 1;
    while ((count - 1) * stride >= size + pad)
        count--;
    return count;
}

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__PoolingParameter *p = param_of(layer);
    struct psd_shape shape = layer->bottom[0]->shape;
    struct psd_op_spec op = {PSD_OP_POOL, .pool = ((struct state *)layer->state)->spec};
    struct psd_pool_spec *spec = &op.pool;
    bool ceil = p->round_mode == CAFFE__POOLING_PARAMETER__ROUND_MODE__CEIL;
    char text[300];

    PSD_TRY(psd_layer_check_axes(layer, 0, 4));
    spec->planes = shape.dim[0] * shape.dim[1];
    spec->channels = shape.dim[1];
    spec->height = shape.dim[2];
    spec->width = shape.dim[3];
    if (p->global_pooling) {
        spec->kernel[0] = spec->height;
        spec->kernel[1] = spec->width;
    }
    spec->out_height = shape.dim[2] = windows(spec, 0, spec->height, ceil);
    spec->out_width = shape.dim[3] = windows(spec, 1, spec->width, ceil);
    if (!spec->out_height || !spec->out_width)
        return psd_layer_fail(layer, NULL, 0, "its kernel of %zu x %zu does not fit into %s",
                              spec->kernel[0], spec->kernel[1],
                              psd_layer_bottom_text(layer, 0, text, sizeof text));
    for (size_t i = 0; i < layer->n_top; i++)
        PSD_TRY(psd_layer_shape_top(layer, i, &shape));
    return psd_layer_plan(layer, 0, &op);
}

const struct psd_layer_kind psd_layer_pooling = {
    .type = "Pooling",
    .about = "the largest, the mean or a drawn value of a moving window",
    .reads = "pooling_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 2,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
