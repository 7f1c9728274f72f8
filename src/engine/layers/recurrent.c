/* recurrent.c - shapes, parameters and operations; recurrent_pass.c computes with them. */
#include "engine/layers/recurrent.h"
#include "engine/layers/recurrent_ops.h"
#include "engine/net.h"

#include <string.h>

enum { X, CONT, MORE }; /* bottoms */

static const Caffe__RecurrentParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__RecurrentParameter none = CAFFE__RECURRENT_PARAMETER__INIT;
    return layer->param->recurrent_param ? layer->param->recurrent_param : &none;
}

/* --- bottoms ---------------------------------------------------------------------------------- */

static psd_status wrong_number(const struct psd_layer *layer, size_t parts)
{
    bool exposes = param_of(layer)->expose_hidden;

    return psd_layer_fail(layer, NULL, 0,
                          "with expose_hidden %s it has %zu or %zu bottoms and %zu tops, not %zu "
                          "and %zu",
                          exposes ? "true" : "false", MORE + parts, MORE + parts + 1, 1 + parts,
                          layer->n_bottom, layer->n_top);
}

static psd_status wrong_bottom(const struct psd_layer *layer, size_t bottom, const char *what)
{
    char first[300], other[300];

    return psd_layer_fail(layer, NULL, 0, "%s, but for %s it reads %s", what,
                          psd_layer_bottom_text(layer, X, first, sizeof first),
                          psd_layer_bottom_text(layer, bottom, other, sizeof other));
}

static psd_status check_bottoms(const struct psd_layer *layer, const struct psd_recurrent *r)
{
    const struct psd_shape *cont = &layer->bottom[CONT]->shape;
    struct psd_shape first = psd_shape_of(3, 1, r->streams, r->outputs, 0);
    size_t more = MORE + (r->statics > 0);

    if (cont->axes != 2 || cont->dim[0] != r->steps || cont->dim[1] != r->streams)
        return wrong_bottom(layer, CONT, "the second bottom has a number for each step and stream");
    if (r->statics && layer->bottom[MORE]->shape.dim[0] != r->streams)
        return wrong_bottom(layer, MORE, "a static input has a row for each stream");
    for (size_t i = 0; r->exposes && i < r->cell->parts; i++) {
        if (!psd_shape_same(&layer->bottom[more + i]->shape, &first))
            return wrong_bottom(layer, more + i, "a first state has the shape 1, streams, outputs");
    }
    return PSD_OK;
}

/* What the bottoms say of sizes. */
static psd_status measure(const struct psd_layer *layer, struct psd_recurrent *r)
{
    const struct psd_shape *x = &layer->bottom[X]->shape;
    char text[300];

    if (x->axes < 3)
        return psd_layer_fail(layer, NULL, 0, "reads steps, streams and inputs, but not %s",
                              psd_layer_bottom_text(layer, X, text, sizeof text));
    r->steps = x->dim[0];
    r->streams = x->dim[1];
    r->cont = layer->bottom[CONT];
    r->state_size = r->cell->parts * r->streams * r->outputs;
    r->input_size = r->streams * r->cell->gates * r->outputs;
    return check_bottoms(layer, r);
}

/* --- setup ------------------------------------------------------------------------------------ */

static psd_status read_param(const struct psd_layer *layer, struct psd_recurrent *r)
{
    const Caffe__RecurrentParameter *p = param_of(layer);
    size_t parts = p->expose_hidden ? r->cell->parts : 0;
    const struct psd_shape *shape = &layer->bottom[X]->shape;

    if (!p->num_output)
        return psd_layer_fail(layer, &p->base, 1, "has no num_output; 1 is the least");
    if (layer->n_top != 1 + parts || layer->n_bottom < MORE + parts ||
        layer->n_bottom > MORE + parts + 1)
        return wrong_number(layer, parts);
    r->outputs = p->num_output;
    r->exposes = p->expose_hidden;
    r->inputs = shape->axes > 2 ? psd_shape_count(shape, 2, shape->axes) : 0;
    if (layer->n_bottom == MORE + parts)
        return PSD_OK;
    shape = &layer->bottom[MORE]->shape;
    if (shape->axes < 2)
        return wrong_bottom(layer, MORE, "a static input has streams and inputs");
    r->statics = psd_shape_count(shape, 1, shape->axes);
    return PSD_OK;
}

static psd_status add_params(struct psd_layer *layer, const struct psd_recurrent *r)
{
    const Caffe__RecurrentParameter *p = param_of(layer);
    size_t rows = r->cell->gates * r->outputs;
    struct psd_shape of_x = psd_shape_of(2, rows, r->inputs, 0, 0);
    struct psd_shape bias = psd_shape_of(1, rows, 0, 0, 0);
    struct psd_shape of_static = psd_shape_of(2, rows, r->statics, 0, 0);
    struct psd_shape of_state = psd_shape_of(2, rows, r->outputs, 0, 0);

    PSD_TRY(psd_layer_add_param(layer, &of_x, p->weight_filler));
    PSD_TRY(psd_layer_add_param(layer, &bias, p->bias_filler));
    if (r->statics)
        PSD_TRY(psd_layer_add_param(layer, &of_static, p->weight_filler));
    return psd_layer_add_param(layer, &of_state, p->weight_filler);
}

psd_status psd_recurrent_setup(struct psd_layer *layer, const struct psd_recurrent_cell *cell)
{
    struct psd_recurrent *r = layer->state;
    struct psd_blob *blobs[] = {&r->state,  &r->input, &r->continued,
                                &r->turned, &r->fixed, &r->carried};

    r->cell = cell;
    for (size_t i = 0; i < sizeof blobs / sizeof *blobs; i++)
        psd_blob_init(blobs[i], layer->net->device);
    PSD_TRY(read_param(layer, r));
    PSD_TRY(measure(layer, r));
    PSD_TRY(add_params(layer, r));
    return r->exposes ? PSD_OK : psd_layer_carry(layer, PSD_CARRY_OWN, &r->carried);
}

void psd_recurrent_drop(struct psd_layer *layer)
{
    struct psd_recurrent *r = layer->state;

    psd_blob_fini(&r->state);
    psd_blob_fini(&r->input);
    psd_blob_fini(&r->continued);
    psd_blob_fini(&r->turned);
    psd_blob_fini(&r->fixed);
    psd_blob_fini(&r->carried);
}

/* --- reshape ---------------------------------------------------------------------------------- */

static psd_status shape_blob(struct psd_blob *blob, struct psd_shape shape)
{
    PSD_TRY(psd_blob_reshape(blob, &shape));
    return psd_blob_need_diff(blob);
}

/* A carried state is of its streams; with another number of them all start anew. */
static psd_status shape_carried(struct psd_recurrent *r)
{
    struct psd_shape shape = psd_shape_of(3, r->cell->parts, r->streams, r->outputs, 0);

    if (r->exposes || psd_shape_same(&r->carried.shape, &shape))
        return PSD_OK;
    PSD_TRY(psd_blob_reshape(&r->carried, &shape));
    memset(psd_blob_values(&r->carried), 0, r->carried.count * sizeof(float));
    return PSD_OK;
}

static psd_status shape_blobs(struct psd_recurrent *r)
{
    size_t steps = r->steps, streams = r->streams, each = r->cell->gates * r->outputs;

    PSD_TRY(shape_blob(&r->state, psd_shape_of(2, steps + 1, r->state_size, 0, 0)));
    PSD_TRY(shape_blob(&r->input, psd_shape_of(3, steps, streams, each, 0)));
    PSD_TRY(shape_blob(&r->continued, psd_shape_of(3, steps, streams, r->outputs, 0)));
    PSD_TRY(shape_blob(&r->turned, psd_shape_of(2, streams, each, 0, 0)));
    if (r->statics)
        PSD_TRY(shape_blob(&r->fixed, psd_shape_of(2, streams, each, 0, 0)));
    return shape_carried(r);
}

static psd_status plan_steps(struct psd_layer *layer, const struct psd_recurrent *r)
{
    size_t each = r->cell->gates * r->outputs;
    struct psd_op_spec scale = {PSD_OP_SCALE, .scale = {1, r->streams, r->outputs, false}};
    struct psd_op_spec turn = {PSD_OP_FC, .fc = {r->streams, r->outputs, each, false, false}};
    struct psd_op_spec cell = r->cell->spec(r);

    for (size_t t = 1; t <= r->steps; t++) {
        PSD_TRY(psd_layer_plan(layer, psd_recurrent_op(STEP_SCALE, t), &scale));
        PSD_TRY(psd_layer_plan(layer, psd_recurrent_op(STEP_TURN, t), &turn));
        PSD_TRY(psd_layer_plan(layer, psd_recurrent_op(STEP_CELL, t), &cell));
    }
    return PSD_OK;
}

static psd_status plan(struct psd_layer *layer, const struct psd_recurrent *r, size_t *next)
{
    size_t each = r->cell->gates * r->outputs;
    struct psd_op_spec of_x = {PSD_OP_FC,
                               .fc = {r->steps * r->streams, r->inputs, each, true, false}};
    struct psd_op_spec sum = {PSD_OP_ELTWISE, .eltwise = {PSD_ELTWISE_SUM, r->input_size, {1, 1}}};
    struct psd_op_spec fixed = {PSD_OP_FC, .fc = {r->streams, r->statics, each, false, false}};

    PSD_TRY(psd_layer_plan(layer, OP_X, &of_x));
    PSD_TRY(psd_layer_plan(layer, OP_SUM, &sum));
    PSD_TRY(plan_steps(layer, r));
    *next = psd_recurrent_op(STEP_SCALE, r->steps + 1);
    return r->statics ? psd_layer_plan(layer, (*next)++, &fixed) : PSD_OK;
}

psd_status psd_recurrent_reshape(struct psd_layer *layer, size_t *next)
{
    const struct psd_shape *shape = &layer->bottom[X]->shape;
    struct psd_recurrent *r = layer->state;
    char text[300];

    PSD_TRY(measure(layer, r));
    struct psd_shape all = psd_shape_of(3, r->steps, r->streams, r->outputs, 0);
    struct psd_shape last = psd_shape_of(3, 1, r->streams, r->outputs, 0);
    if (psd_shape_count(shape, 2, shape->axes) != r->inputs)
        return psd_layer_fail(layer, NULL, 0, "has weights for %zu inputs, but reads %s", r->inputs,
                              psd_layer_bottom_text(layer, X, text, sizeof text));
    for (size_t i = 0; i < layer->n_top; i++)
        PSD_TRY(psd_layer_shape_top(layer, i, i == 0 ? &all : &last));
    PSD_TRY(shape_blobs(r));
    return plan(layer, r, next);
}

double psd_recurrent_macs(const struct psd_layer *layer)
{
    const struct psd_recurrent *r = layer->state;
    double of_step = (double)r->input_size * (double)(r->inputs + r->outputs);

    return (double)r->steps * of_step + (double)r->input_size * (double)r->statics;
}
