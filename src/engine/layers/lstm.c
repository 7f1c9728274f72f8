/* lstm.c - LSTM: long short-term memory over sequences.
 *
 *     a state is [cells, shown][streams][outputs]; a step is an operation (ops/plain/lstm_unit.c),
 *     and what is shown of all steps is the top
 *
 * The rest is in layers/recurrent.h. Parameters: W [4 outputs][inputs], b [4 outputs], W of a static
 * input, W [4 outputs][outputs] of what was shown; gates stand in the order input, forget, output,
 * candidate. */
#include "engine/layers/recurrent.h"

#include <string.h>

enum { CELLS, SHOWN, PARTS, GATES = 4 };

static struct psd_op_spec spec_of(const struct psd_recurrent *r)
{
    return (struct psd_op_spec){PSD_OP_LSTM_UNIT, .lstm_unit = {r->streams, r->outputs}};
}

static struct psd_op_values values_of(const struct psd_recurrent *r, size_t t)
{
    return (struct psd_op_values){
        .in = {psd_recurrent_state(r, t - 1, CELLS), psd_recurrent_input(r, t),
               psd_recurrent_cont(r, t)},
        .in_diff = {psd_recurrent_state_diff(r, t - 1, CELLS), psd_recurrent_input_diff(r, t)},
        .out = {psd_recurrent_state(r, t, CELLS)}, /* and what is shown behind it */
        .out_diff = {psd_recurrent_state_diff(r, t, CELLS)},
        .adds = 1,
    };
}

static psd_status setup(struct psd_layer *layer)
{
    static const struct psd_recurrent_cell cell = {PARTS, GATES, spec_of, values_of};
    return psd_recurrent_setup(layer, &cell);
}

static psd_status reshape(struct psd_layer *layer)
{
    size_t next;
    return psd_recurrent_reshape(layer, &next);
}

static psd_status forward(struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    size_t count = r->streams * r->outputs;

    PSD_TRY(psd_recurrent_forward(layer));
    for (size_t t = 1; t <= r->steps; t++)
        memcpy(psd_blob_values(layer->top[0]) + (t - 1) * count,
               psd_tensor_host(psd_recurrent_state(r, t, SHOWN)), count * sizeof(float));
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    size_t count = r->streams * r->outputs;

    for (size_t t = 1; t <= r->steps; t++) {
        memset(psd_tensor_host(psd_recurrent_state_diff(r, t, CELLS)), 0, count * sizeof(float));
        memcpy(psd_tensor_host(psd_recurrent_state_diff(r, t, SHOWN)),
               psd_blob_gradient(layer->top[0]) + (t - 1) * count, count * sizeof(float));
    }
    return psd_recurrent_backward(layer);
}

const struct psd_layer_kind psd_layer_lstm = {
    .type = "LSTM",
    .about = "long short-term memory over time steps",
    .reads = "recurrent_param",
    .carries = "its state, each worker its own",
    .bottoms = 2,
    .most_bottoms = 5,
    .tops = 1,
    .most_tops = 3,
    .unlearned = 1 << 1,
    .state_size = sizeof(struct psd_recurrent),
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
    .drop = psd_recurrent_drop,
    .macs = psd_recurrent_macs,
};
