/* multinomial_logistic_loss.c - MultinomialLogisticLoss: how surprised probabilities are by labels.
 *
 *     probabilities [batch][classes], labels [batch]   -->   mean of -log(probability of the label)
 *
 * A probability counts as 1e-20 at least. SoftmaxWithLoss makes the probabilities, too, and its
 * gradient is better behaved. */
#include "engine/layer.h"

#include <math.h>
#include <string.h>

static const float least = 1e-20f;

static psd_status reshape(struct psd_layer *layer)
{
    const struct psd_shape *shape = &layer->bottom[0]->shape, scalar = {0};
    char text[300], labels[300];

    if (!shape->axes || layer->bottom[1]->count != shape->dim[0])
        return psd_layer_fail(layer, NULL, 0, "needs a label for each sample of %s, but reads %s",
                              psd_layer_bottom_text(layer, 0, text, sizeof text),
                              psd_layer_bottom_text(layer, 1, labels, sizeof labels));
    return psd_layer_shape_top(layer, 0, &scalar);
}

/* Where the probability of the label of sample i is. */
static psd_status find_place(const struct psd_layer *layer, size_t i, size_t *out)
{
    size_t classes = layer->bottom[0]->count / layer->bottom[0]->shape.dim[0], label = 0;

    PSD_TRY(psd_layer_index(layer, "label", psd_blob_values(layer->bottom[1])[i], classes, &label));
    *out = i * classes + label;
    return PSD_OK;
}

static float at_least(float probability)
{
    return probability < least ? least : probability;
}

static psd_status forward(struct psd_layer *layer)
{
    const float *p = psd_blob_values(layer->bottom[0]);
    size_t batch = layer->bottom[0]->shape.dim[0], place = 0;
    double sum = 0;

    for (size_t i = 0; i < batch; i++) {
        PSD_TRY(find_place(layer, i, &place));
        sum -= log((double)at_least(p[place]));
    }
    psd_blob_values(layer->top[0])[0] = (float)(sum / (double)batch);
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    const float *p = psd_blob_values(layer->bottom[0]);
    float *to = psd_blob_gradient(layer->bottom[0]);
    size_t batch = layer->bottom[0]->shape.dim[0], place = 0;
    float scale = -psd_blob_gradient(layer->top[0])[0] / (float)batch;

    if (!layer->propagates[0])
        return PSD_OK;
    memset(to, 0, layer->bottom[0]->count * sizeof *to);
    for (size_t i = 0; i < batch; i++) {
        PSD_TRY(find_place(layer, i, &place));
        to[place] = scale / at_least(p[place]);
    }
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_multinomial_logistic_loss = {
    .type = "MultinomialLogisticLoss",
    .about = "the log loss of probabilities",
    .bottoms = 2,
    .most_bottoms = 2,
    .tops = 1,
    .most_tops = 1,
    .makes_tops = true,
    .is_loss = true,
    .unlearned = 1 << 1,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
