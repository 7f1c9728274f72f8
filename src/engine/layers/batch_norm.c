/* batch_norm.c - BatchNorm: every channel gets the mean 0 and the variance 1.
 *
 *     training    statistics of the batch          and what is kept moves towards them:
 *                     mean'     = fraction * mean + mean of the batch
 *                     variance' = fraction * variance + variance of the batch * m / (m - 1)
 *                     factor'   = fraction * factor + 1
 *     testing     mean / factor, variance / factor     use_global_stats says otherwise
 *
 * The three are parameters 0, 1 and 2 in files, are measured and do not learn. They are carried:
 * workers that train together go on with the mean of theirs. A net that uses another's parameters
 * leaves them as they are. What the channels are multiplied with afterwards is a Scale layer's. */
#include "engine/layer.h"
#include "engine/net.h"

enum { MEAN, VARIANCE, FACTOR };

struct state {
    size_t channels;
    bool global;
    float fraction, eps;
    struct psd_blob statistics; /* [2][channels]: what this pass takes off and divides by */
};

static size_t channels_of(const struct psd_layer *layer)
{
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    return shape->axes > 1 ? shape->dim[1] : 1;
}

static psd_status read_param(const struct psd_layer *layer, struct state *state)
{
    const Caffe__BatchNormParameter *p = layer->param->batch_norm_param;
    char text[300];

    state->global = p && p->has_use_global_stats ? p->use_global_stats : !psd_layer_trains(layer);
    state->fraction = p ? p->moving_average_fraction : 0.999f;
    state->eps = p ? p->eps : 1e-5f;
    if (layer->bottom[0]->shape.axes == 0)
        return psd_layer_fail(layer, NULL, 0, "normalizes a batch, but reads %s",
                              psd_layer_bottom_text(layer, 0, text, sizeof text));
    if (!(state->eps >= 0))
        return psd_layer_fail(layer, &p->base, 3, "eps is %g; 0 is the least", (double)state->eps);
    if (!(state->fraction >= 0 && state->fraction <= 1))
        return psd_layer_fail(layer, &p->base, 2,
                              "moving_average_fraction is %g; it is from 0 to 1",
                              (double)state->fraction);
    return PSD_OK;
}

static psd_status setup(struct psd_layer *layer)
{
    struct state *state = layer->state;
    size_t channels = channels_of(layer);
    struct psd_shape each = psd_shape_of(1, channels, 0, 0, 0), one = psd_shape_of(1, 1, 0, 0, 0);
    struct psd_shape both = psd_shape_of(2, 2, channels, 0, 0);

    PSD_TRY(read_param(layer, state));
    state->channels = channels;
    psd_blob_init(&state->statistics, layer->net->device);
    PSD_TRY(psd_blob_reshape(&state->statistics, &both));
    PSD_TRY(psd_layer_add_statistic(layer, &each));
    PSD_TRY(psd_layer_add_statistic(layer, &each));
    return psd_layer_add_statistic(layer, &one);
}

static psd_status reshape(struct psd_layer *layer)
{
    const struct psd_blob *bottom = layer->bottom[0];
    const struct state *state = layer->state;
    size_t batch = bottom->shape.dim[0];
    struct psd_op_spec spec = {PSD_OP_BATCH_NORM,
                               .batch_norm = {batch, state->channels,
                                              bottom->count / (batch * state->channels), state->eps,
                                              state->global}};
    char text[300];

    if (channels_of(layer) != state->channels)
        return psd_layer_fail(layer, NULL, 0, "has statistics of %zu channels, but reads %s",
                              state->channels, psd_layer_bottom_text(layer, 0, text, sizeof text));
    PSD_TRY(psd_layer_shape_top(layer, 0, &bottom->shape));
    return psd_layer_plan(layer, 0, &spec);
}

/* --- what is kept ------------------------------------------------------------------------------- */

static float *kept(const struct psd_layer *layer, size_t which)
{
    return psd_blob_values(&layer->params[which]->blob);
}

/* Before anything was measured the factor is 0, and so are mean and variance. */
static void take_statistics(const struct psd_layer *layer)
{
    const struct state *state = layer->state;
    float *to = psd_blob_values(&state->statistics);
    float factor = kept(layer, FACTOR)[0], scale = factor == 0 ? 0 : 1 / factor;

    for (size_t c = 0; c < state->channels; c++) {
        to[c] = scale * kept(layer, MEAN)[c];
        to[state->channels + c] = scale * kept(layer, VARIANCE)[c];
    }
}

static void keep_statistics(const struct psd_layer *layer)
{
    const struct state *state = layer->state;
    const float *from = psd_blob_values(&state->statistics);
    size_t m = layer->bottom[0]->count / state->channels;
    float estimate =
        m > 1 ? (float)m / (float)(m - 1) : 1; /* for values that are not in the batch */

    for (size_t c = 0; c < state->channels; c++) {
        float *mean = &kept(layer, MEAN)[c], *variance = &kept(layer, VARIANCE)[c];
        *mean = state->fraction * *mean + from[c];
        *variance = state->fraction * *variance + estimate * from[state->channels + c];
    }
    kept(layer, FACTOR)[0] = state->fraction * kept(layer, FACTOR)[0] + 1;
}

/* --- both ways ---------------------------------------------------------------------------------- */

static struct psd_op_values values_of(const struct psd_layer *layer)
{
    const struct state *state = layer->state;
    struct psd_op_values values = {
        .in = {psd_blob_data(layer->bottom[0])},
        .out = {psd_blob_data(layer->top[0])},
        .out_diff = {psd_blob_diff(layer->top[0])},
    };

    if (state->global)
        values.in[1] = psd_blob_data(&state->statistics);
    else
        values.out[1] = psd_blob_data(&state->statistics);
    if (layer->propagates[0])
        values.in_diff[0] = psd_blob_diff(layer->bottom[0]);
    return values;
}

static psd_status forward(struct psd_layer *layer)
{
    struct psd_op_values values = values_of(layer);
    bool global = ((const struct state *)layer->state)->global;

    if (global)
        take_statistics(layer);
    PSD_TRY(psd_op_forward(layer->ops[0], &values));
    if (!global && !layer->net->share)
        keep_statistics(layer);
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    struct psd_op_values values = values_of(layer);
    return psd_op_backward(layer->ops[0], &values);
}

static void drop(struct psd_layer *layer)
{
    psd_blob_fini(&((struct state *)layer->state)->statistics);
}

const struct psd_layer_kind psd_layer_batch_norm = {
    .type = "BatchNorm",
    .about = "x less its mean, by its deviation, of each channel",
    .reads = "batch_norm_param",
    .carries = "statistics, as the mean over all workers",
    .bottoms = 1,
    .most_bottoms = 1,
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
