/* memory_data.c - MemoryData: batch after batch out of an array, and from its start again.
 *
 *     data   [ batch 0 | batch 1 | batch 2 ]         the first forward after psd_memory_data_set
 *                                                    copies batch 0 to the tops, the next batch 1;
 *                                                    of W workers each takes every W-th */
#include "engine/layers/memory_data.h"
#include "engine/net.h"

#include <string.h>

struct state {
    const float *data, *labels; /* borrowed from psd_memory_data_set; NULL before the first */
    size_t batches;
    uint64_t first; /* the net's batch that is our batch 0 */
};

static psd_status reshape(struct psd_layer *layer)
{
    static const Caffe__MemoryDataParameter none = CAFFE__MEMORY_DATA_PARAMETER__INIT;
    const Caffe__MemoryDataParameter *p =
        layer->param->memory_data_param ? layer->param->memory_data_param : &none;
    struct psd_shape data = psd_shape_of(4, p->batch_size, p->channels, p->height, p->width);
    struct psd_shape labels = psd_shape_of(1, p->batch_size, 0, 0, 0);

    if (!p->batch_size || !p->channels || !p->height || !p->width)
        return psd_layer_fail(layer, &p->base, 0,
                              "memory_data_param has batch_size, channels, height and width, and "
                              "none of them is 0");
    PSD_TRY(psd_layer_shape_top(layer, 0, &data));
    return psd_layer_shape_top(layer, 1, &labels);
}

psd_status psd_memory_data_set(struct psd_layer *layer, const float *data, const float *labels,
                               size_t n)
{
    if (layer->kind != &psd_layer_memory_data)
        return psd_fail(PSD_EINVAL, "layer %s is a %s layer; samples in memory are for MemoryData",
                        layer->name, layer->kind->type);
    size_t batch = layer->top[1]->count;
    struct state *state = layer->state;

    if (!n || n % batch)
        return psd_fail(PSD_EINVAL, "layer %s: %zu samples are no whole number of batches of %zu",
                        layer->name, n, batch);
    *state = (struct state){data, labels, n / batch, psd_net_next_batch(layer->net)};
    return PSD_OK;
}

static psd_status forward(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    const struct psd_blob *data = layer->top[0], *labels = layer->top[1];

    if (!state->data)
        return psd_layer_fail(layer, NULL, 0,
                              "has no samples yet; a program gives it some with psd_engine_feed, "
                              "and the poseidon command has none to give: for eval --set take an "
                              "Input layer");
    uint64_t skipped = state->batches - state->first % state->batches;
    size_t at = (size_t)((psd_net_batch(layer->net) + skipped) % state->batches);
    memcpy(psd_blob_values(data), state->data + at * data->count, data->count * sizeof(float));
    memcpy(psd_blob_values(labels), state->labels + at * labels->count,
           labels->count * sizeof(float));
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_memory_data = {
    .type = "MemoryData",
    .about = "samples that the program has in memory",
    .reads = "memory_data_param",
    .tops = 2,
    .most_tops = 2,
    .state_size = sizeof(struct state),
    .reshape = reshape,
    .forward = forward,
};
