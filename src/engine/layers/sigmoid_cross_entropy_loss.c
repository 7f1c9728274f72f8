/* sigmoid_cross_entropy_loss.c - SigmoidCrossEntropyLoss: how surprised a net is by targets in [0, 1],
 * each for itself. The sum is divided by the samples, unless loss_param says otherwise. A second top,
 * which Caffe has not, has the probabilities. */
#include "engine/layers/loss.h"

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__LossParameter *p = layer->param->loss_param;
    const struct psd_shape *shape = &layer->bottom[0]->shape, scalar = {0};
    size_t batch = shape->axes ? shape->dim[0] : 1;
    bool ignores = p && p->has_ignore_label;
    struct psd_op_spec spec = {PSD_OP_SIGMOID_LOSS,
                               .sigmoid_loss = {batch, layer->bottom[0]->count / batch, ignores,
                                                ignores ? p->ignore_label : 0,
                                                psd_loss_norm(p, PSD_LOSS_BATCH_SIZE)}};
    char scores[300], targets[300];

    if (layer->bottom[1]->count != layer->bottom[0]->count)
        return psd_layer_fail(layer, NULL, 0, "needs a target for each value, but reads %s and %s",
                              psd_layer_bottom_text(layer, 0, scores, sizeof scores),
                              psd_layer_bottom_text(layer, 1, targets, sizeof targets));
    PSD_TRY(psd_layer_shape_top(layer, 0, &scalar));
    if (layer->n_top > 1)
        PSD_TRY(psd_layer_shape_top(layer, 1, shape));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_sigmoid_cross_entropy_loss = {
    .type = "SigmoidCrossEntropyLoss",
    .about = "the log loss of sigmoids, each value a question of its own",
    .reads = "loss_param",
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
