/* eltwise.c - Eltwise: bottoms of one shape, value by value: their sum, product or maximum.
 *
 *     sum       top = c0 * b0 + c1 * b1, then top = top + c2 * b2 ...      in place
 *     others    part 0 = b0, b1      part 1 = b2, part 0      ...          the last part is the top
 *
 * Operations take two arrays, so there is one less than bottoms. Products and maxima keep their
 * parts for backward. Gradients of products need no division, with stable_prod_grad or without. Of
 * equal maxima the first wins, but the second against the first: as in Caffe. */
#include "base/alloc.h"
#include "engine/layer.h"
#include "engine/net.h"

struct state {
    struct psd_blob *parts; /* owned; all but the last */
    size_t n_parts;
};

static const Caffe__EltwiseParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__EltwiseParameter none = CAFFE__ELTWISE_PARAMETER__INIT;
    return layer->param->eltwise_param ? layer->param->eltwise_param : &none;
}

static bool sums(const struct psd_layer *layer)
{
    return param_of(layer)->operation == CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__SUM;
}

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__EltwiseParameter *p = param_of(layer);
    struct state *state = layer->state;

    if (p->n_coeff && p->n_coeff != layer->n_bottom)
        return psd_layer_fail(
            layer, &p->base, 2,
            "coeff is given %zu times for %zu bottoms; give one for each, or none", p->n_coeff,
            layer->n_bottom);
    if (p->n_coeff && p->operation == CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__PROD)
        return psd_layer_fail(layer, &p->base, 2, "only sums have coefficients");
    if (sums(layer))
        return PSD_OK;
    state->parts = psd_alloc_zero(layer->n_bottom - 1, sizeof *state->parts);
    if (!state->parts)
        return PSD_ENOMEM;
    state->n_parts = layer->n_bottom - 2;
    for (size_t i = 0; i < state->n_parts; i++)
        psd_blob_init(&state->parts[i], layer->net->device);
    return PSD_OK;
}

static psd_status check_shapes(const struct psd_layer *layer)
{
    char first[300], other[300];

    for (size_t i = 1; i < layer->n_bottom; i++) {
        if (!psd_shape_same(&layer->bottom[0]->shape, &layer->bottom[i]->shape))
            return psd_layer_fail(layer, NULL, 0, "bottoms have one shape, but it reads %s and %s",
                                  psd_layer_bottom_text(layer, 0, first, sizeof first),
                                  psd_layer_bottom_text(layer, i, other, sizeof other));
    }
    return PSD_OK;
}

static struct psd_op_spec spec_of(const struct psd_layer *layer, size_t i)
{
    static const enum psd_eltwise_method methods[] = {
        [CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__PROD] = PSD_ELTWISE_PRODUCT,
        [CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__SUM] = PSD_ELTWISE_SUM,
        [CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__MAX] = PSD_ELTWISE_MAX,
    };
    const Caffe__EltwiseParameter *p = param_of(layer);
    struct psd_op_spec spec = {PSD_OP_ELTWISE,
                               .eltwise = {methods[p->operation], layer->bottom[0]->count, {1, 1}}};

    if (p->n_coeff && sums(layer)) { /* a maximum takes no notice of them */
        spec.eltwise.coefficient[0] = i == 0 ? p->coeff[0] : 1;
        spec.eltwise.coefficient[1] = p->coeff[i + 1];
    }
    return spec;
}

static psd_status reshape(struct psd_layer *layer)
{
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    const struct state *state = layer->state;

    PSD_TRY(check_shapes(layer));
    PSD_TRY(psd_layer_shape_top(layer, 0, shape));
    for (size_t i = 0; i < state->n_parts; i++) {
        PSD_TRY(psd_blob_reshape(&state->parts[i], shape));
        PSD_TRY(psd_blob_need_diff(&state->parts[i]));
    }
    for (size_t i = 0; i + 1 < layer->n_bottom; i++) {
        struct psd_op_spec spec = spec_of(layer, i);
        PSD_TRY(psd_layer_plan(layer, i, &spec));
    }
    return PSD_OK;
}

/* --- operation i ------------------------------------------------------------------------------ */

static void read_bottom(const struct psd_layer *layer, struct psd_op_values *values, unsigned input,
                        size_t bottom)
{
    values->in[input] = psd_blob_data(layer->bottom[bottom]);
    if (layer->propagates[bottom])
        values->in_diff[input] = psd_blob_diff(layer->bottom[bottom]);
}

/* What came before: the sum so far, whose gradient is the top's, or the part before. */
static void read_part(const struct psd_layer *layer, struct psd_op_values *values, size_t i)
{
    const struct state *state = layer->state;

    if (sums(layer))
        values->in[0] = psd_blob_data(layer->top[0]);
    else {
        values->in[1] = psd_blob_data(&state->parts[i - 1]);
        values->in_diff[1] = psd_blob_diff(&state->parts[i - 1]);
    }
}

static struct psd_op_values values_of(const struct psd_layer *layer, size_t i)
{
    const struct state *state = layer->state;
    const struct psd_blob *to = i < state->n_parts ? &state->parts[i] : layer->top[0];
    struct psd_op_values values = {.out = {psd_blob_data(to)}, .out_diff = {psd_blob_diff(to)}};

    if (i > 0) {
        read_part(layer, &values, i);
        read_bottom(layer, &values, sums(layer), i + 1);
    } else {
        read_bottom(layer, &values, 0, 0);
        read_bottom(layer, &values, 1, 1);
    }
    return values;
}

static psd_status forward(struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_ops; i++) {
        struct psd_op_values values = values_of(layer, i);
        PSD_TRY(psd_op_forward(layer->ops[i], &values));
    }
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    for (size_t i = layer->n_ops; i-- > 0;) {
        struct psd_op_values values = values_of(layer, i);
        if (values.in_diff[0].memory || values.in_diff[1].memory)
            PSD_TRY(psd_op_backward(layer->ops[i], &values));
    }
    return PSD_OK;
}

static void drop(struct psd_layer *layer)
{
    struct state *state = layer->state;

    for (size_t i = 0; i < state->n_parts; i++)
        psd_blob_fini(&state->parts[i]);
    psd_alloc_free(state->parts);
}

const struct psd_layer_kind psd_layer_eltwise = {
    .type = "Eltwise",
    .about = "the sum, product or largest of bottoms of one shape",
    .reads = "eltwise_param",
    .bottoms = 2,
    .most_bottoms = PSD_LAYER_ANY,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
    .drop = drop,
};
