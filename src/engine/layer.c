/* layer.c - what all layers share: their sentences, their shapes, their operations. */
#include "engine/layer.h"
#include "base/alloc.h"
#include "engine/net.h"
#include "ops/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

psd_status psd_layer_fail(const struct psd_layer *layer, const ProtobufCMessage *message,
                          unsigned field, const char *format, ...)
{
    const struct psd_document *document = layer->net->document;
    struct psd_position at =
        psd_document_where(document, message ? message : &layer->param->base, field);
    char sentence[1000], place[64] = "";
    va_list args;

    if (!at.line && message)
        at = psd_document_where(document, message, 0);
    if (!at.line)
        at = psd_document_where(document, &layer->param->base, 0);
    if (at.line)
        snprintf(place, sizeof place, "%zu:%zu:", at.line, at.column);
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return psd_fail(PSD_ECONFIG, "%s:%s layer %s: %s", document->path, place, layer->name,
                    sentence);
}

psd_status psd_layer_blame(const struct psd_layer *layer, psd_status status)
{
    if (status == PSD_ENOMEM)
        psd_layer_fail(layer, NULL, 0, "%s", psd_error());
    return status;
}

/* --- shapes ----------------------------------------------------------------------------------- */

psd_status psd_layer_axis(const struct psd_layer *layer, const ProtobufCMessage *message,
                          unsigned field, size_t bottom, int index, size_t *out)
{
    char text[300];

    if (psd_shape_axis(&layer->bottom[bottom]->shape, index, out))
        return PSD_OK;
    return psd_layer_fail(layer, message, field, "axis is %d, but it reads %s", index,
                          psd_layer_bottom_text(layer, bottom, text, sizeof text));
}

/* The layer above `layer` that made a blob; of blobs that were split, the one that people know. */
static const struct psd_layer *maker_of(const struct psd_layer *layer, size_t blob, size_t *top)
{
    for (size_t i = layer->index; i-- > 0;) {
        const struct psd_layer *other = &layer->net->layers[i];
        for (size_t k = 0; k < other->n_top; k++) {
            if (other->top_id[k] != blob)
                continue;
            if (other->kind == &psd_layer_split)
                return maker_of(other, other->bottom_id[0], top);
            *top = k;
            return other;
        }
    }
    return NULL;
}

const char *psd_layer_bottom_text(const struct psd_layer *layer, size_t bottom, char *out,
                                  size_t room)
{
    size_t top = 0;
    const struct psd_layer *maker = maker_of(layer, layer->bottom_id[bottom], &top);
    const char *name = maker ? layer->net->blob_names[maker->top_id[top]] : "";
    char shape[200];

    snprintf(out, room, "\"%s\" of shape %s from layer %s", name,
             psd_shape_text(&layer->bottom[bottom]->shape, shape, sizeof shape),
             maker ? maker->name : "");
    return out;
}

psd_status psd_layer_check_axes(const struct psd_layer *layer, size_t bottom, size_t axes)
{
    char text[300];

    if (layer->bottom[bottom]->shape.axes == axes)
        return PSD_OK;
    return psd_layer_fail(layer, NULL, 0, "reads a blob of %zu axes, but not %s", axes,
                          psd_layer_bottom_text(layer, bottom, text, sizeof text));
}

psd_status psd_layer_check_labels(const struct psd_layer *layer, size_t axis)
{
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    size_t places = psd_shape_count(shape, 0, axis) * psd_shape_count(shape, axis + 1, shape->axes);
    char scores[300], labels[300];

    if (layer->bottom[1]->count == places)
        return PSD_OK;
    return psd_layer_fail(layer, NULL, 0,
                          "needs a label for each of the %zu places of %s, but its labels are %s",
                          places, psd_layer_bottom_text(layer, 0, scores, sizeof scores),
                          psd_layer_bottom_text(layer, 1, labels, sizeof labels));
}

psd_status psd_layer_index(const struct psd_layer *layer, const char *what, float value,
                           size_t count, size_t *out)
{
    if (!count)
        return psd_layer_fail(layer, NULL, 0, "%s %g is asked for, and there is none", what,
                              (double)value);
    if (!(value > -1 && (double)value < (double)count))
        return psd_layer_fail(layer, NULL, 0, "%s %g is not one of 0 to %zu", what, (double)value,
                              count - 1);
    *out = (size_t)value;
    return PSD_OK;
}

psd_status psd_layer_read_shape(const struct psd_layer *layer, const Caffe__BlobShape *from,
                                struct psd_shape *out)
{
    if (from->n_dim > PSD_BLOB_AXES)
        return psd_layer_fail(layer, &from->base, 1, "has a shape of %zu axes; %d is the most",
                              from->n_dim, PSD_BLOB_AXES);
    out->axes = from->n_dim;
    for (size_t i = 0; i < from->n_dim; i++) {
        if (from->dim[i] < 1)
            return psd_layer_fail(layer, &from->base, 1,
                                  "dim %zu of a shape is %lld; 1 is the least", i,
                                  (long long)from->dim[i]);
        out->dim[i] = (size_t)from->dim[i];
    }
    return PSD_OK;
}

psd_status psd_layer_shape_top(struct psd_layer *layer, size_t top, const struct psd_shape *shape)
{
    psd_status status = psd_blob_reshape(layer->top[top], shape);

    return status == PSD_EINVAL ? psd_layer_fail(layer, NULL, 0, "%s", psd_error()) : status;
}

/* --- operations ------------------------------------------------------------------------------- */

bool psd_layer_trains(const struct psd_layer *layer)
{
    return (layer->param->has_phase ? layer->param->phase : layer->net->phase) ==
           CAFFE__PHASE__TRAIN;
}

uint64_t psd_layer_stream(const struct psd_layer *layer, unsigned purpose)
{
    return ((uint64_t)layer->index + 1) << 16 | purpose;
}

void psd_layer_draw(const struct psd_layer *layer, unsigned purpose, size_t rows,
                    struct psd_op_values *values)
{
    values->seed = layer->net->seed;
    values->stream = psd_layer_stream(layer, purpose);
    values->sample = psd_net_row(layer->net, rows);
}

psd_status psd_layer_plan(struct psd_layer *layer, size_t i, const struct psd_op_spec *spec)
{
    struct psd_op *op = NULL;

    if (i >= layer->n_ops) {
        struct psd_op **ops = psd_alloc_resize(layer->ops, i + 1, sizeof *ops);
        if (!ops)
            return PSD_ENOMEM;
        memset(ops + layer->n_ops, 0, (i + 1 - layer->n_ops) * sizeof *ops);
        layer->ops = ops;
        layer->n_ops = i + 1;
    }
    psd_status status =
        layer->net->sketch ? psd_spec_check(spec) : psd_op_create(layer->net->ops, spec, &op);
    if (status == PSD_EINVAL)
        return psd_layer_fail(layer, NULL, 0, "%s", psd_error());
    if (status != PSD_OK)
        return status;
    psd_op_destroy(layer->ops[i]);
    layer->ops[i] = op;
    return PSD_OK;
}

struct psd_op_values psd_layer_values(const struct psd_layer *layer, size_t i)
{
    struct psd_op_values values = {0};
    bool alone = layer->kind->as_many_tops;
    size_t n = 0, first = alone ? i : 0;
    size_t bottoms = alone ? 1 : layer->n_bottom, tops = alone ? 1 : layer->n_top;

    for (size_t k = first; k < first + bottoms && n < PSD_OP_INPUTS; k++, n++) {
        values.in[n] = psd_blob_data(layer->bottom[k]);
        if (layer->propagates[k])
            values.in_diff[n] = psd_blob_diff(layer->bottom[k]);
    }
    for (size_t k = 0; k < layer->n_params && n < PSD_OP_INPUTS; k++, n++) {
        const struct psd_param *param = layer->params[k];
        values.in[n] = psd_blob_data(&param->blob);
        if (param->learns && !layer->net->share)
            values.in_diff[n] = psd_blob_diff(&param->blob);
        if (!param->fresh || i > 0)
            values.adds |= 1u << n;
    }
    for (size_t k = first; k < first + tops && k - first < PSD_OP_OUTPUTS; k++) {
        values.out[k - first] = psd_blob_data(layer->top[k]);
        values.out_diff[k - first] = psd_blob_diff(layer->top[k]);
    }
    return values;
}

/* What is wrong with a layer's values gets the layer's place. */
static psd_status with_place(const struct psd_layer *layer, psd_status status)
{
    return status == PSD_ECONFIG ? psd_layer_fail(layer, NULL, 0, "%s", psd_error()) : status;
}

psd_status psd_layer_op_forward(struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_ops; i++) {
        struct psd_op_values values = psd_layer_values(layer, i);
        psd_layer_draw(layer, (unsigned)i, layer->bottom[i]->shape.dim[0], &values);
        PSD_TRY(with_place(layer, psd_op_forward(layer->ops[i], &values)));
    }
    return PSD_OK;
}

psd_status psd_layer_op_backward(struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_ops; i++) {
        struct psd_op_values values = psd_layer_values(layer, i);
        psd_layer_draw(layer, (unsigned)i, layer->bottom[i]->shape.dim[0], &values);
        PSD_TRY(psd_op_backward(layer->ops[i], &values));
    }
    return PSD_OK;
}
