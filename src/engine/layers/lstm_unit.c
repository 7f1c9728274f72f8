/* lstm_unit.c - LSTMUnit: one step of an LSTM, for nets that are unrolled by hand.
 *
 *     bottoms  old cells [1][streams][outputs]  gates [1][streams][4 outputs]  cont [1][streams]
 *     tops     new cells, and what is shown of them
 *
 * cont is 0 where a sequence starts. The operation has both results in one array. */
#include "engine/layer.h"
#include "engine/net.h"

#include <string.h>

enum { OLD, GATES, CONT };

struct state {
    struct psd_blob both; /* [2][streams][outputs] */
};

static psd_status check(const struct psd_layer *layer)
{
    const struct psd_shape *old = &layer->bottom[OLD]->shape;
    struct psd_shape gates = psd_shape_of(3, 1, old->dim[1], 4 * old->dim[2], 0);
    struct psd_shape cont = psd_shape_of(2, 1, old->dim[1], 0, 0);
    char text[3][300];

    if (old->axes == 3 && old->dim[0] == 1 &&
        psd_shape_same(&layer->bottom[GATES]->shape, &gates) &&
        psd_shape_same(&layer->bottom[CONT]->shape, &cont))
        return PSD_OK;
    for (size_t i = 0; i < 3; i++)
        psd_layer_bottom_text(layer, i, text[i], sizeof text[i]);
    return psd_layer_fail(layer, NULL, 0,
                          "reads shapes 1 N D, 1 N 4D and 1 N, but not %s, %s and %s", text[OLD],
                          text[GATES], text[CONT]);
}

static psd_status setup(struct psd_layer *layer)
{
    psd_blob_init(&((struct state *)layer->state)->both, layer->net->device);
    return PSD_OK;
}

static psd_status reshape(struct psd_layer *layer)
{
    const struct psd_shape *old = &layer->bottom[OLD]->shape;
    struct state *state = layer->state;

    PSD_TRY(check(layer));
    struct psd_shape both = psd_shape_of(3, 2, old->dim[1], old->dim[2], 0);
    struct psd_op_spec spec = {PSD_OP_LSTM_UNIT, .lstm_unit = {old->dim[1], old->dim[2]}};
    PSD_TRY(psd_layer_shape_top(layer, 0, old));
    PSD_TRY(psd_layer_shape_top(layer, 1, old));
    PSD_TRY(psd_blob_reshape(&state->both, &both));
    PSD_TRY(psd_blob_need_diff(&state->both));
    return psd_layer_plan(layer, 0, &spec);
}

static struct psd_op_values values_of(const struct psd_layer *layer)
{
    const struct state *state = layer->state;
    struct psd_op_values values = {.out = {psd_blob_data(&state->both)},
                                   .out_diff = {psd_blob_diff(&state->both)}};

    for (size_t i = 0; i < 3; i++) {
        values.in[i] = psd_blob_data(layer->bottom[i]);
        if (layer->propagates[i])
            values.in_diff[i] = psd_blob_diff(layer->bottom[i]);
    }
    return values;
}

static psd_status forward(struct psd_layer *layer)
{
    struct psd_op_values values = values_of(layer);
    const float *both = psd_blob_values(&((const struct state *)layer->state)->both);
    size_t count = layer->top[0]->count;

    PSD_TRY(psd_op_forward(layer->ops[0], &values));
    memcpy(psd_blob_values(layer->top[0]), both, count * sizeof *both);
    memcpy(psd_blob_values(layer->top[1]), both + count, count * sizeof *both);
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    struct psd_op_values values = values_of(layer);
    float *both = psd_blob_gradient(&((const struct state *)layer->state)->both);
    size_t count = layer->top[0]->count;

    memcpy(both, psd_blob_gradient(layer->top[0]), count * sizeof *both);
    memcpy(both + count, psd_blob_gradient(layer->top[1]), count * sizeof *both);
    return psd_op_backward(layer->ops[0], &values);
}

static void drop(struct psd_layer *layer)
{
    psd_blob_fini(&((struct state *)layer->state)->both);
}

const struct psd_layer_kind psd_layer_lstm_unit = {
    .type = "LSTMUnit",
    .about = "one step of an LSTM, from gates to cells",
    .bottoms = 3,
    .most_bottoms = 3,
    .tops = 2,
    .most_tops = 2,
    .unlearned = 1 << CONT,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
    .drop = drop,
};
