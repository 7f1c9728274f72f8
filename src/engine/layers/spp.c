/* spp.c - SPP, spatial pyramid pooling: images of any size become vectors of one.
 *
 *     level 0    1 x 1 windows        bottom --- pooling ---> part 0 [samples][channels * 1]
 *     level 1    2 x 2                       --- pooling ---> part 1 [samples][channels * 4]
 *     level l    2^l x 2^l                   ...
 *     top        [samples][part 0, part 1 ...]
 *
 * The windows of a level cover the image without overlap; where it cannot be divided they reach over
 * its edges on both sides, as padding does. With a single level the top is that of the pooling:
 * [samples][channels][1][1]. */
#include "engine/layer.h"
#include "engine/net.h"

#include <string.h>

enum { LEVELS = 28 }; /* more windows than pixels that an operation takes */

struct state {
    size_t levels;
    struct psd_blob parts[LEVELS]; /* owned; the first `levels` are in use */
};

static const Caffe__SPPParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__SPPParameter none = CAFFE__SPPPARAMETER__INIT;
    return layer->param->spp_param ? layer->param->spp_param : &none;
}

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__SPPParameter *p = param_of(layer);
    struct state *state = layer->state;

    if (p->pyramid_height < 1 || p->pyramid_height > LEVELS)
        return psd_layer_fail(layer, &p->base, 1, "pyramid_height is %u; it is from 1 to %d",
                              p->pyramid_height, LEVELS);
    state->levels = p->pyramid_height;
    for (size_t i = 0; i < state->levels; i++)
        psd_blob_init(&state->parts[i], layer->net->device);
    return PSD_OK;
}

static void drop(struct psd_layer *layer)
{
    struct state *state = layer->state;

    for (size_t i = 0; i < state->levels; i++)
        psd_blob_fini(&state->parts[i]);
}

/* --- reshape ---------------------------------------------------------------------------------- */

/* The windows along one direction; false: one of them would hold no pixel. */
static bool cover(struct psd_pool_spec *spec, int direction, size_t size, size_t windows)
{
    size_t kernel = (size + windows - 1) / windows, pad = (kernel * windows - size + 1) / 2;

    spec->kernel[direction] = spec->stride[direction] = kernel;
    spec->pad[direction] = pad;
    return pad < kernel;
}

static psd_status plan_level(struct psd_layer *layer, size_t level)
{
    static const enum psd_pool_method methods[] = {
        [CAFFE__SPPPARAMETER__POOL_METHOD__MAX] = PSD_POOL_MAX,
        [CAFFE__SPPPARAMETER__POOL_METHOD__AVE] = PSD_POOL_AVERAGE,
        [CAFFE__SPPPARAMETER__POOL_METHOD__STOCHASTIC] = PSD_POOL_STOCHASTIC,
    };
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    size_t windows = (size_t)1 << level;
    struct psd_op_spec spec = {PSD_OP_POOL, .pool = {.method = methods[param_of(layer)->pool],
                                                     .planes = shape->dim[0] * shape->dim[1],
                                                     .channels = shape->dim[1],
                                                     .height = shape->dim[2],
                                                     .width = shape->dim[3],
                                                     .out_height = windows,
                                                     .out_width = windows,
                                                     .train = psd_layer_trains(layer)}};
    char text[300];

    if (!cover(&spec.pool, 0, shape->dim[2], windows) ||
        !cover(&spec.pool, 1, shape->dim[3], windows))
        return psd_layer_fail(layer, &param_of(layer)->base, 1,
                              "level %zu has %zu x %zu windows, of which some hold no pixel of %s",
                              level, windows, windows,
                              psd_layer_bottom_text(layer, 0, text, sizeof text));
    return psd_layer_plan(layer, level, &spec);
}

static psd_status shape_part(struct psd_layer *layer, size_t level)
{
    struct psd_blob *part = &((struct state *)layer->state)->parts[level];
    const struct psd_shape *bottom = &layer->bottom[0]->shape;
    size_t windows = (size_t)1 << level;
    struct psd_shape shape = psd_shape_of(4, bottom->dim[0], bottom->dim[1], windows, windows);

    PSD_TRY(psd_blob_reshape(part, &shape));
    return psd_blob_need_diff(part);
}

static psd_status reshape(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    struct psd_shape shape = psd_shape_of(2, 0, 0, 0, 0);

    PSD_TRY(psd_layer_check_axes(layer, 0, 4));
    shape.dim[0] = layer->bottom[0]->shape.dim[0];
    for (size_t i = 0; i < state->levels; i++) {
        PSD_TRY(plan_level(layer, i));
        PSD_TRY(shape_part(layer, i));
        shape.dim[1] += state->parts[i].count / shape.dim[0];
    }
    return psd_layer_shape_top(layer, 0, state->levels == 1 ? &state->parts[0].shape : &shape);
}

/* --- levels ----------------------------------------------------------------------------------- */

/* From the second level on, gradients are added. */
static struct psd_op_values values_of(const struct psd_layer *layer, size_t level)
{
    const struct psd_blob *part = &((const struct state *)layer->state)->parts[level];
    struct psd_op_values values = {.in = {psd_blob_data(layer->bottom[0])},
                                   .out = {psd_blob_data(part)},
                                   .in_diff = {psd_blob_diff(layer->bottom[0])},
                                   .out_diff = {psd_blob_diff(part)},
                                   .adds = level > 0};

    psd_layer_draw(layer, (unsigned)level, layer->bottom[0]->shape.dim[0], &values);
    return values;
}

static psd_status forward(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    float *top = psd_blob_values(layer->top[0]);
    size_t samples = layer->bottom[0]->shape.dim[0], all = layer->top[0]->count / samples;

    for (size_t i = 0; i < state->levels; i++) {
        const float *part = psd_blob_values(&state->parts[i]);
        size_t row = state->parts[i].count / samples;
        struct psd_op_values values = values_of(layer, i);
        PSD_TRY(psd_op_forward(layer->ops[i], &values));
        for (size_t n = 0; n < samples; n++)
            memcpy(top + n * all, part + n * row, row * sizeof *top);
        top += row;
    }
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    const float *top = psd_blob_gradient(layer->top[0]);
    size_t samples = layer->bottom[0]->shape.dim[0], all = layer->top[0]->count / samples;

    for (size_t i = 0; layer->propagates[0] && i < state->levels; i++) {
        float *part = psd_blob_gradient(&state->parts[i]);
        size_t row = state->parts[i].count / samples;
        struct psd_op_values values = values_of(layer, i);
        for (size_t n = 0; n < samples; n++)
            memcpy(part + n * row, top + n * all, row * sizeof *part);
        PSD_TRY(psd_op_backward(layer->ops[i], &values));
        top += row;
    }
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_spp = {
    .type = "SPP",
    .about = "pooling of 1, 4, 16, ... windows, one after the other",
    .reads = "spp_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
    .drop = drop,
};
