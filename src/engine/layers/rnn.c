/* rnn.c - RNN: the simplest recurrent network.
 *
 *     shown [t] = tanh(W x [t] + b + V (cont [t] * shown [t-1]) + U static)
 *     top [t]   = tanh(O shown [t] + o)
 *
 * The rest is in layers/recurrent.h. Parameters: W, b, U where there is a static input, V, O, o. */
#include "engine/layers/recurrent.h"
#include "engine/net.h"

enum { SHOWN, PARTS, GATES = 1 };

struct state {
    struct psd_recurrent recurrent; /* first, as recurrent.c expects it */
    struct psd_blob sum;            /* [steps][streams][outputs]: the top before its tanh */
    size_t next;                    /* the first of our operations: O, then tanh */
};

static struct psd_op_spec spec_of(const struct psd_recurrent *r)
{
    return (struct psd_op_spec){PSD_OP_TANH, .tanh = {r->streams * r->outputs}};
}

static struct psd_op_values values_of(const struct psd_recurrent *r, size_t t)
{
    return (struct psd_op_values){
        .in = {psd_recurrent_input(r, t)},
        .in_diff = {psd_recurrent_input_diff(r, t)},
        .out = {psd_recurrent_state(r, t, SHOWN)},
        .out_diff = {psd_recurrent_state_diff(r, t, SHOWN)},
    };
}

static psd_status setup(struct psd_layer *layer)
{
    static const struct psd_recurrent_cell cell = {PARTS, GATES, spec_of, values_of};
    const Caffe__RecurrentParameter *p = layer->param->recurrent_param;
    struct state *state = layer->state;

    psd_blob_init(&state->sum, layer->net->device);
    PSD_TRY(psd_recurrent_setup(layer, &cell));
    size_t outputs = state->recurrent.outputs;
    struct psd_shape weights = psd_shape_of(2, outputs, outputs, 0, 0);
    struct psd_shape bias = psd_shape_of(1, outputs, 0, 0, 0);
    PSD_TRY(psd_layer_add_param(layer, &weights, p->weight_filler));
    return psd_layer_add_param(layer, &bias, p->bias_filler);
}

static psd_status reshape(struct psd_layer *layer)
{
    struct state *state = layer->state;
    const struct psd_recurrent *r = &state->recurrent;

    PSD_TRY(psd_recurrent_reshape(layer, &state->next));
    PSD_TRY(psd_blob_reshape(&state->sum, &layer->top[0]->shape));
    PSD_TRY(psd_blob_need_diff(&state->sum));
    struct psd_op_spec out = {PSD_OP_FC,
                              .fc = {r->steps * r->streams, r->outputs, r->outputs, true, false}};
    struct psd_op_spec tanh = {PSD_OP_TANH, .tanh = {state->sum.count}};
    PSD_TRY(psd_layer_plan(layer, state->next, &out));
    return psd_layer_plan(layer, state->next + 1, &tanh);
}

/* O with what all steps have shown, and tanh of it. */
static void find_values(const struct psd_layer *layer, struct psd_op_values *out,
                        struct psd_op_values *tanh)
{
    const struct state *state = layer->state;
    const struct psd_recurrent *r = &state->recurrent;
    size_t first = r->statics ? 4 : 3;

    *out = (struct psd_op_values){
        .in = {psd_recurrent_state(r, 1, SHOWN)},
        .in_diff = {psd_recurrent_state_diff(r, 1, SHOWN)},
        .out = {psd_blob_data(&state->sum)},
        .out_diff = {psd_blob_diff(&state->sum)},
    };
    psd_recurrent_read_param(layer, first, 1, false, out);
    psd_recurrent_read_param(layer, first + 1, 2, false, out);
    *tanh = (struct psd_op_values){
        .in = {psd_blob_data(&state->sum)},
        .in_diff = {psd_blob_diff(&state->sum)},
        .out = {psd_blob_data(layer->top[0])},
        .out_diff = {psd_blob_diff(layer->top[0])},
    };
}

static psd_status forward(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    struct psd_op_values out, tanh;

    PSD_TRY(psd_recurrent_forward(layer));
    find_values(layer, &out, &tanh);
    PSD_TRY(psd_op_forward(layer->ops[state->next], &out));
    return psd_op_forward(layer->ops[state->next + 1], &tanh);
}

static psd_status backward(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    struct psd_op_values out, tanh;

    find_values(layer, &out, &tanh);
    PSD_TRY(psd_op_backward(layer->ops[state->next + 1], &tanh));
    PSD_TRY(psd_op_backward(layer->ops[state->next], &out));
    return psd_recurrent_backward(layer);
}

static void drop(struct psd_layer *layer)
{
    psd_blob_fini(&((struct state *)layer->state)->sum);
    psd_recurrent_drop(layer);
}

static double macs(const struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    return psd_recurrent_macs(layer) + (double)layer->top[0]->count * (double)r->outputs;
}

const struct psd_layer_kind psd_layer_rnn = {
    .type = "RNN",
    .about = "a plain recurrent net over time steps",
    .reads = "recurrent_param",
    .carries = "its state, each worker its own",
    .bottoms = 2,
    .most_bottoms = 4,
    .tops = 1,
    .most_tops = 2,
    .keeps_tops = true,
    .unlearned = 1 << 1,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
    .drop = drop,
    .macs = macs,
};
