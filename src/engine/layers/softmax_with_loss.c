/* softmax_with_loss.c - SoftmaxWithLoss: how surprised a net is by the labels.
 *
 *     scores [outer][classes][inner], labels [outer][inner]  -->  loss, and on request probabilities
 *
 * The sum over all places is divided by what loss_param says. Caffe documents the second top but
 * cannot set it up; here it works. */
#include "engine/layers/loss.h"

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__SoftmaxParameter *p = layer->param->softmax_param;
    const Caffe__LossParameter *loss = layer->param->loss_param;
    const struct psd_shape *shape = &layer->bottom[0]->shape, scalar = {0};
    struct psd_op_spec spec = {PSD_OP_SOFTMAX_LOSS,
                               .softmax_loss = {.norm = psd_loss_norm(loss, PSD_LOSS_VALID)}};
    struct psd_softmax_loss_spec *s = &spec.softmax_loss;
    size_t axis;

    PSD_TRY(psd_layer_axis(layer, p ? &p->base : NULL, 2, 0, p ? p->axis : 1, &axis));
    PSD_TRY(psd_layer_check_labels(layer, axis));
    s->outer = psd_shape_count(shape, 0, axis);
    s->channels = shape->dim[axis];
    s->inner = psd_shape_count(shape, axis + 1, shape->axes);
    s->has_ignored = loss && loss->has_ignore_label;
    s->ignored = s->has_ignored ? loss->ignore_label : 0;
    PSD_TRY(psd_layer_shape_top(layer, 0, &scalar));
    if (layer->n_top > 1)
        PSD_TRY(psd_layer_shape_top(layer, 1, shape));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_softmax_with_loss = {
    .type = "SoftmaxWithLoss",
    .about = "the log loss of a softmax",
    .reads = "softmax_param, loss_param",
    .bottoms = 2,
    .most_bottoms = 2,
    .tops = 1,
    .most_tops = 2,
    .makes_tops = true,
    .is_loss = true,
    .unlearned = 1 << 1,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
