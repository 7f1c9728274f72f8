/* tile.c - Tile: the bottom several times, side by side along an axis.
 *
 *     bottom [outer][row]   -->   top [outer][tiles][row]        a row starts with the axis
 *
 * The gradient is the sum over the tiles. */
#include "engine/layer.h"
#include "math/sum.h"

#include <string.h>

struct state {
    size_t tiles, row;
};

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__TileParameter *p = layer->param->tile_param;
    struct psd_shape shape = layer->bottom[0]->shape;
    struct state *state = layer->state;
    size_t axis;

    if (!p || p->tiles < 1)
        return psd_layer_fail(layer, p ? &p->base : NULL, 2, "tiles is %d; 1 is the least",
                              p ? p->tiles : 0);
    PSD_TRY(psd_layer_axis(layer, &p->base, 1, 0, p->axis, &axis));
    state->tiles = (size_t)p->tiles;
    state->row = psd_shape_count(&shape, axis, shape.axes);
    if (__builtin_mul_overflow(shape.dim[axis], state->tiles, &shape.dim[axis]))
        return psd_layer_fail(layer, &p->base, 2, "tiles is %d, which is too many", p->tiles);
    return psd_layer_shape_top(layer, 0, &shape);
}

static psd_status forward(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    const float *from = psd_blob_values(layer->bottom[0]);
    float *to = psd_blob_values(layer->top[0]);

    for (size_t i = 0; i < layer->top[0]->count / state->row; i++)
        memcpy(to + i * state->row, from + i / state->tiles * state->row, state->row * sizeof *to);
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    const float *from = psd_blob_gradient(layer->top[0]);
    float *to = psd_blob_gradient(layer->bottom[0]);

    if (!layer->propagates[0])
        return PSD_OK;
    memset(to, 0, layer->bottom[0]->count * sizeof *to);
    for (size_t i = 0; i < layer->top[0]->count / state->row; i++)
        psd_sum_add(to + i / state->tiles * state->row, from + i * state->row, state->row);
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_tile = {
    .type = "Tile",
    .about = "the bottom several times along an axis",
    .reads = "tile_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .state_size = sizeof(struct state),
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
