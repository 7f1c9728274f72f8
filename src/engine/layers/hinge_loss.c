/* hinge_loss.c - HingeLoss: scores should be above 1 for the label's class and below -1 for the others.
 * By how much they are not is added up, as it is (L1) or squared (L2), for each sample. */
#include "engine/layer.h"

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__HingeLossParameter *p = layer->param->hinge_loss_param;
    const struct psd_shape *shape = &layer->bottom[0]->shape, scalar = {0};
    bool squares = p && p->norm == CAFFE__HINGE_LOSS_PARAMETER__NORM__L2;
    size_t batch = shape->axes ? shape->dim[0] : 1;
    struct psd_op_spec spec = {PSD_OP_HINGE_LOSS,
                               .hinge_loss = {batch, layer->bottom[0]->count / batch, squares}};
    char scores[300], labels[300];

    if (layer->bottom[1]->count != batch)
        return psd_layer_fail(layer, NULL, 0,
                              "needs a label for each of the %zu samples of %s, but its labels are "
                              "%s",
                              batch, psd_layer_bottom_text(layer, 0, scores, sizeof scores),
                              psd_layer_bottom_text(layer, 1, labels, sizeof labels));
    PSD_TRY(psd_layer_shape_top(layer, 0, &scalar));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_hinge_loss = {
    .type = "HingeLoss",
    .about = "how far scores are from a margin of 1, L1 or L2",
    .reads = "hinge_loss_param",
    .bottoms = 2,
    .most_bottoms = 2,
    .tops = 1,
    .most_tops = 1,
    .makes_tops = true,
    .is_loss = true,
    .unlearned = 1 << 1,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
