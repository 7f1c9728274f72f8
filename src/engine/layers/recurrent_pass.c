/* recurrent_pass.c - through the steps and back. */
#include "engine/layers/recurrent.h"
#include "engine/layers/recurrent_ops.h"
#include "engine/net.h"
#include "math/sum.h"

#include <string.h>

enum { X, CONT, MORE }; /* bottoms */

/* --- pieces of blobs ---------------------------------------------------------------------------- */

static struct psd_tensor piece(struct psd_tensor all, size_t first)
{
    return (struct psd_tensor){all.memory, all.offset + first};
}

static size_t state_at(const struct psd_recurrent *r, size_t t, size_t part)
{
    return t * r->state_size + part * r->streams * r->outputs;
}

struct psd_tensor psd_recurrent_state(const struct psd_recurrent *r, size_t t, size_t part)
{
    return piece(psd_blob_data(&r->state), state_at(r, t, part));
}

struct psd_tensor psd_recurrent_state_diff(const struct psd_recurrent *r, size_t t, size_t part)
{
    return piece(psd_blob_diff(&r->state), state_at(r, t, part));
}

struct psd_tensor psd_recurrent_input(const struct psd_recurrent *r, size_t t)
{
    return piece(psd_blob_data(&r->input), (t - 1) * r->input_size);
}

struct psd_tensor psd_recurrent_input_diff(const struct psd_recurrent *r, size_t t)
{
    return piece(psd_blob_diff(&r->input), (t - 1) * r->input_size);
}

struct psd_tensor psd_recurrent_cont(const struct psd_recurrent *r, size_t t)
{
    return piece(psd_blob_data(r->cont), (t - 1) * r->streams);
}

void psd_recurrent_read_param(const struct psd_layer *layer, size_t index, unsigned input,
                              bool again, struct psd_op_values *values)
{
    const struct psd_param *param = layer->params[index];

    values->in[input] = psd_blob_data(&param->blob);
    if (param->learns && !layer->net->share)
        values->in_diff[input] = psd_blob_diff(&param->blob);
    if (again || !param->fresh)
        values->adds |= 1u << input;
}

static void read_bottom(const struct psd_layer *layer, size_t bottom, struct psd_op_values *values)
{
    values->in[0] = psd_blob_data(layer->bottom[bottom]);
    if (layer->propagates[bottom])
        values->in_diff[0] = psd_blob_diff(layer->bottom[bottom]);
}

/* --- the operations' values --------------------------------------------------------------------- */

static struct psd_op_values values_of_x(const struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    struct psd_op_values values = {.out = {psd_blob_data(&r->input)},
                                   .out_diff = {psd_blob_diff(&r->input)}};

    read_bottom(layer, X, &values);
    psd_recurrent_read_param(layer, 0, 1, false, &values);
    psd_recurrent_read_param(layer, 1, 2, false, &values);
    return values;
}

static struct psd_op_values values_of_static(const struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    struct psd_op_values values = {.out = {psd_blob_data(&r->fixed)},
                                   .out_diff = {psd_blob_diff(&r->fixed)}};

    read_bottom(layer, MORE, &values);
    psd_recurrent_read_param(layer, 2, 1, false, &values);
    return values;
}

/* What was shown, as far as the sequence goes on. Its gradient is added to what came from the top. */
static struct psd_op_values values_of_scale(const struct psd_recurrent *r, size_t t)
{
    size_t shown = r->cell->parts - 1, first = (t - 1) * r->streams * r->outputs;

    return (struct psd_op_values){
        .in = {psd_recurrent_state(r, t - 1, shown), psd_recurrent_cont(r, t)},
        .in_diff = {psd_recurrent_state_diff(r, t - 1, shown)},
        .out = {piece(psd_blob_data(&r->continued), first)},
        .out_diff = {piece(psd_blob_diff(&r->continued), first)},
        .adds = 1,
    };
}

/* Steps go back from the last, which is the first to write the gradient of W. */
static struct psd_op_values values_of_turn(const struct psd_layer *layer, size_t t)
{
    const struct psd_recurrent *r = layer->state;
    size_t first = (t - 1) * r->streams * r->outputs;
    struct psd_op_values values = {
        .in = {piece(psd_blob_data(&r->continued), first)},
        .in_diff = {piece(psd_blob_diff(&r->continued), first)},
        .out = {psd_blob_data(&r->turned)},
        .out_diff = {psd_recurrent_input_diff(r, t)},
    };

    psd_recurrent_read_param(layer, r->statics ? 3 : 2, 1, t < r->steps, &values);
    return values;
}

/* --- forward ------------------------------------------------------------------------------------ */

/* input [t] += what. */
static psd_status add_to_input(const struct psd_layer *layer, size_t t, const struct psd_blob *what)
{
    struct psd_tensor input = psd_recurrent_input(layer->state, t);
    struct psd_op_values values = {.in = {input, psd_blob_data(what)}, .out = {input}};

    return psd_op_forward(layer->ops[OP_SUM], &values);
}

static psd_status step_forward(const struct psd_layer *layer, size_t t)
{
    const struct psd_recurrent *r = layer->state;
    struct psd_op_values scale = values_of_scale(r, t), turn = values_of_turn(layer, t);
    struct psd_op_values cell = r->cell->values(r, t);

    PSD_TRY(psd_op_forward(layer->ops[psd_recurrent_op(STEP_SCALE, t)], &scale));
    PSD_TRY(psd_op_forward(layer->ops[psd_recurrent_op(STEP_TURN, t)], &turn));
    PSD_TRY(add_to_input(layer, t, &r->turned));
    if (r->statics)
        PSD_TRY(add_to_input(layer, t, &r->fixed));
    return psd_op_forward(layer->ops[psd_recurrent_op(STEP_CELL, t)], &cell);
}

/* Bottoms and tops have what is shown first and the cells after it, a state the other way round. */
static size_t part_of(const struct psd_recurrent *r, size_t i)
{
    return r->cell->parts - 1 - i;
}

static void take_first_state(const struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    size_t size = r->streams * r->outputs * sizeof(float), more = MORE + (r->statics > 0);

    if (!r->exposes)
        memcpy(psd_blob_values(&r->state), psd_blob_values(&r->carried),
               r->state_size * sizeof(float));
    for (size_t i = 0; r->exposes && i < r->cell->parts; i++)
        memcpy(psd_tensor_host(psd_recurrent_state(r, 0, part_of(r, i))),
               psd_blob_values(layer->bottom[more + i]), size);
}

static void give_last_state(const struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    size_t size = r->streams * r->outputs * sizeof(float);

    if (!r->exposes)
        memcpy(psd_blob_values(&r->carried), psd_tensor_host(psd_recurrent_state(r, r->steps, 0)),
               r->state_size * sizeof(float));
    for (size_t i = 0; r->exposes && i < r->cell->parts; i++)
        memcpy(psd_blob_values(layer->top[1 + i]),
               psd_tensor_host(psd_recurrent_state(r, r->steps, part_of(r, i))), size);
}

psd_status psd_recurrent_forward(struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    struct psd_op_values of_x = values_of_x(layer);

    take_first_state(layer);
    PSD_TRY(psd_op_forward(layer->ops[OP_X], &of_x));
    if (r->statics) {
        struct psd_op_values fixed = values_of_static(layer);
        PSD_TRY(psd_op_forward(layer->ops[psd_recurrent_op(STEP_SCALE, r->steps + 1)], &fixed));
    }
    for (size_t t = 1; t <= r->steps; t++)
        PSD_TRY(step_forward(layer, t));
    give_last_state(layer);
    return PSD_OK;
}

/* --- backward ----------------------------------------------------------------------------------- */

static psd_status step_backward(const struct psd_layer *layer, size_t t)
{
    const struct psd_recurrent *r = layer->state;
    struct psd_op_values scale = values_of_scale(r, t), turn = values_of_turn(layer, t);
    struct psd_op_values cell = r->cell->values(r, t);

    PSD_TRY(psd_op_backward(layer->ops[psd_recurrent_op(STEP_CELL, t)], &cell));
    PSD_TRY(psd_op_backward(layer->ops[psd_recurrent_op(STEP_TURN, t)], &turn));
    return psd_op_backward(layer->ops[psd_recurrent_op(STEP_SCALE, t)], &scale);
}

/* No gradient leaves by the first state, as none comes in by the last: as in Caffe. */
static void clear_first_gradients(const struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    size_t size = r->streams * r->outputs * sizeof(float), more = MORE + (r->statics > 0);

    memset(psd_blob_gradient(&r->state), 0, r->state_size * sizeof(float));
    for (size_t i = 0; r->exposes && i < r->cell->parts; i++) {
        if (layer->propagates[more + i])
            memset(psd_blob_gradient(layer->bottom[more + i]), 0, size);
    }
}

/* The static input's is the sum over all steps. */
static psd_status static_backward(const struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    struct psd_op_values fixed = values_of_static(layer);
    float *sum = psd_blob_gradient(&r->fixed);

    memset(sum, 0, r->input_size * sizeof *sum);
    for (size_t t = 1; t <= r->steps; t++)
        psd_sum_add(sum, psd_tensor_host(psd_recurrent_input_diff(r, t)), r->input_size);
    return psd_op_backward(layer->ops[psd_recurrent_op(STEP_SCALE, r->steps + 1)], &fixed);
}

psd_status psd_recurrent_backward(struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    struct psd_op_values of_x = values_of_x(layer);

    clear_first_gradients(layer);
    for (size_t t = r->steps; t > 0; t--)
        PSD_TRY(step_backward(layer, t));
    if (r->statics)
        PSD_TRY(static_backward(layer));
    return psd_op_backward(layer->ops[OP_X], &of_x);
}
