/* data.c - Data: batches out of a database, transformed and read ahead (data/feed.h).
 *
 *     LMDB --> feed, on a thread of its own --> [ batch | batch | batch ] --> tops
 *
 * Which records a forward gets follows from iteration and worker alone; the feed runs ahead of the
 * net in that order and starts anew where the net seeks. */
#include "base/alloc.h"
#include "base/path.h"
#include "data/feed.h"
#include "engine/layer.h"
#include "engine/net.h"

#include <string.h>

struct state {
    struct psd_source *source;       /* owned */
    struct psd_transform *transform; /* owned */
    struct psd_feed *feed;           /* owned */
    unsigned worker, workers;        /* for which the feed was opened, */
    uint64_t seed;                   /* and with which seed */
    bool runs;                       /* the feed's next batch is that of the net's next forward */
    uint64_t bad;                    /* records left out so far */
};

static const Caffe__DataParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__DataParameter none = CAFFE__DATA_PARAMETER__INIT;
    return layer->param->data_param ? layer->param->data_param : &none;
}

/* What the data room says gets the layer's place. */
static psd_status with_place(const struct psd_layer *layer, unsigned field, psd_status status)
{
    if (status != PSD_ECONFIG && status != PSD_ENOSUP)
        return status;
    return psd_layer_fail(layer, &param_of(layer)->base, field, "%s", psd_error());
}

/* --- setup ------------------------------------------------------------------------------------ */

static psd_status open_source(const struct psd_layer *layer, struct psd_source **out)
{
    const Caffe__DataParameter *p = param_of(layer);
    bool lmdb = p->backend == CAFFE__DATA_PARAMETER__DB__LMDB;
    char *path = NULL;

    if (!p->source || !*p->source)
        return psd_layer_fail(layer, &p->base, 1, "has no source");
    PSD_TRY(with_place(layer, 1, psd_path_find(p->source, layer->net->document->path, &path)));
    psd_status status = psd_source_open(lmdb ? "lmdb" : "leveldb", path, out);
    psd_alloc_free(path);
    return with_place(layer, status == PSD_ENOSUP ? 8 : 1, status);
}

static psd_status make_transform(const struct psd_layer *layer, struct psd_transform **out)
{
    const Caffe__TransformationParameter *p = layer->param->transform_param;
    Caffe__Phase phase = psd_layer_trains(layer) ? CAFFE__PHASE__TRAIN : CAFFE__PHASE__TEST;
    psd_status status = psd_transform_create(p, phase, layer->net->document->path, out);

    if (status != PSD_ECONFIG)
        return status;
    return psd_layer_fail(layer, &p->base, 0, "%s", psd_error());
}

/* A feed for the worker that the net now is, and its seed; an earlier one is closed. */
static psd_status open_feed(struct psd_layer *layer)
{
    const Caffe__DataParameter *p = param_of(layer);
    const struct psd_net *net = layer->net;
    struct state *state = layer->state;
    struct psd_feed *feed = NULL;

    state->seed = net->seed;
    state->worker = net->position.worker;
    state->workers = net->position.workers ? net->position.workers : 1;
    struct psd_feed_options options = {
        .source = state->source,
        .transform = state->transform,
        .log = net->log,
        .batch = p->batch_size,
        .global_batch = (size_t)p->batch_size * state->workers,
        .offset = (size_t)p->batch_size * state->worker,
        .prefetch = p->prefetch,
        .seed = net->seed,
        .layer = (uint32_t)layer->index,
        .rand_skip = p->rand_skip,
        .max_bad = net->max_bad,
    };
    PSD_TRY(with_place(layer, 1, psd_feed_open(&options, &feed)));
    psd_feed_close(state->feed);
    state->feed = feed;
    state->runs = false;
    return PSD_OK;
}

static psd_status setup(struct psd_layer *layer)
{
    struct state *state = layer->state;

    if (!param_of(layer)->batch_size)
        return psd_layer_fail(layer, &param_of(layer)->base, 4,
                              "has no batch_size; 1 is the least");
    PSD_TRY(open_source(layer, &state->source));
    PSD_TRY(make_transform(layer, &state->transform));
    return open_feed(layer);
}

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_sample_shape sample = psd_feed_shape(((struct state *)layer->state)->feed);
    size_t batch = param_of(layer)->batch_size;
    struct psd_shape data = psd_shape_of(4, batch, sample.channels, sample.height, sample.width);
    struct psd_shape labels = psd_shape_of(1, batch, 0, 0, 0);

    PSD_TRY(psd_layer_shape_top(layer, 0, &data));
    return layer->n_top > 1 ? psd_layer_shape_top(layer, 1, &labels) : PSD_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

static psd_status seek(struct psd_layer *layer, uint64_t iteration)
{
    struct state *state = layer->state;
    const struct psd_net_position *position = &layer->net->position;
    unsigned workers = position->workers ? position->workers : 1;

    if (position->worker != state->worker || workers != state->workers ||
        layer->net->seed != state->seed)
        PSD_TRY(open_feed(layer));
    PSD_TRY(psd_feed_start(state->feed, iteration));
    state->runs = true;
    return PSD_OK;
}

static psd_status forward(struct psd_layer *layer)
{
    struct state *state = layer->state;
    struct psd_batch *batch = NULL;

    if (!state->runs)
        PSD_TRY(seek(layer, layer->net->position.iteration));
    PSD_TRY(with_place(layer, 1, psd_feed_take(state->feed, &batch)));
    memcpy(psd_blob_values(layer->top[0]), batch->data, layer->top[0]->count * sizeof(float));
    if (layer->n_top > 1)
        memcpy(psd_blob_values(layer->top[1]), batch->label, layer->top[1]->count * sizeof(float));
    state->bad = batch->bad;
    psd_feed_give(state->feed, batch);
    return PSD_OK;
}

static void drop(struct psd_layer *layer)
{
    struct state *state = layer->state;

    if (state->bad)
        psd_log_warning(layer->net->log, "%s: %llu bad records were left out, named above",
                        param_of(layer)->source, (unsigned long long)state->bad);
    psd_feed_close(state->feed);
    psd_transform_destroy(state->transform);
    psd_source_close(state->source);
}

const struct psd_layer_kind psd_layer_data = {
    .type = "Data",
    .tops = 1,
    .most_tops = 2,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .drop = drop,
    .seek = seek,
};
