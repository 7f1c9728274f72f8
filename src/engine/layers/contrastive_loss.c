/* contrastive_loss.c - ContrastiveLoss: alike pairs should be near each other, others apart.
 *
 *     a, b [batch][row], alike [batch]        d = |a - b| of a sample
 *
 *     alike      d^2 / 2
 *     others     max(margin - d, 0)^2 / 2     with legacy_version max(margin - d^2, 0) / 2
 *
 * The loss is the mean over the samples. */
#include "engine/layer.h"

#include <math.h>

static const double least_distance = 1e-4; /* added where a gradient is divided by d, as in Caffe */

static const Caffe__ContrastiveLossParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__ContrastiveLossParameter none = CAFFE__CONTRASTIVE_LOSS_PARAMETER__INIT;
    return layer->param->contrastive_loss_param ? layer->param->contrastive_loss_param : &none;
}

static size_t batch_of(const struct psd_layer *layer)
{
    return layer->bottom[0]->shape.dim[0];
}

static psd_status reshape(struct psd_layer *layer)
{
    const struct psd_shape *shape = &layer->bottom[0]->shape, scalar = {0};
    char first[300], other[300];

    if (!shape->axes || !psd_shape_same(shape, &layer->bottom[1]->shape))
        return psd_layer_fail(layer, NULL, 0,
                              "needs samples and their partners of one shape, but reads %s and %s",
                              psd_layer_bottom_text(layer, 0, first, sizeof first),
                              psd_layer_bottom_text(layer, 1, other, sizeof other));
    if (layer->bottom[2]->count != batch_of(layer))
        return psd_layer_fail(layer, NULL, 0,
                              "needs for each of the %zu pairs a number, not 0 where they are "
                              "alike, but reads %s",
                              batch_of(layer),
                              psd_layer_bottom_text(layer, 2, other, sizeof other));
    return psd_layer_shape_top(layer, 0, &scalar);
}

/* A pair: its vectors, and whether they are alike. */
struct pair {
    const float *a, *b;
    size_t row;
    bool alike;
};

static struct pair pair_of(const struct psd_layer *layer, size_t i)
{
    size_t row = layer->bottom[0]->count / batch_of(layer);

    return (struct pair){psd_blob_values(layer->bottom[0]) + i * row,
                         psd_blob_values(layer->bottom[1]) + i * row, row,
                         truncf(psd_blob_values(layer->bottom[2])[i]) != 0};
}

static double square_distance(const struct pair *pair)
{
    double sum = 0;

    for (size_t k = 0; k < pair->row; k++) {
        double difference = (double)pair->a[k] - (double)pair->b[k];
        sum += difference * difference;
    }
    return sum;
}

static double cost(const Caffe__ContrastiveLossParameter *p, const struct pair *pair)
{
    double square = square_distance(pair), margin = (double)p->margin;

    if (pair->alike)
        return square;
    if (p->legacy_version)
        return fmax(margin - square, 0);
    double lack = fmax(margin - sqrt(square), 0);
    return lack * lack;
}

static psd_status forward(struct psd_layer *layer)
{
    size_t batch = batch_of(layer);
    double sum = 0;

    for (size_t i = 0; i < batch; i++) {
        struct pair pair = pair_of(layer, i);
        sum += cost(param_of(layer), &pair);
    }
    psd_blob_values(layer->top[0])[0] = (float)(sum / (double)batch / 2);
    return PSD_OK;
}

/* The gradient by a is this times (a - b), and by b the opposite. */
static double slope(const Caffe__ContrastiveLossParameter *p, const struct pair *pair)
{
    double square = square_distance(pair), margin = (double)p->margin;

    if (pair->alike)
        return 1;
    if (p->legacy_version)
        return margin - square > 0 ? -1 : 0;
    double lack = margin - sqrt(square);
    return lack > 0 ? -lack / (sqrt(square) + least_distance) : 0;
}

static psd_status backward(struct psd_layer *layer)
{
    size_t batch = batch_of(layer);
    double scale = (double)psd_blob_gradient(layer->top[0])[0] / (double)batch;

    for (size_t i = 0; i < batch; i++) {
        struct pair pair = pair_of(layer, i);
        double factor = scale * slope(param_of(layer), &pair);
        for (size_t side = 0; side < 2; side++) {
            if (!layer->propagates[side])
                continue;
            float *to = psd_blob_gradient(layer->bottom[side]) + i * pair.row;
            for (size_t k = 0; k < pair.row; k++)
                to[k] =
                    (float)((side ? -factor : factor) * ((double)pair.a[k] - (double)pair.b[k]));
        }
    }
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_contrastive_loss = {
    .type = "ContrastiveLoss",
    .about = "how far pairs are from being near, or from being apart by a margin",
    .reads = "contrastive_loss_param",
    .bottoms = 3,
    .most_bottoms = 3,
    .tops = 1,
    .most_tops = 1,
    .makes_tops = true,
    .is_loss = true,
    .unlearned = 1 << 2,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
