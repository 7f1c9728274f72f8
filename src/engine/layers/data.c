/* data.c - Data: batches out of a database, transformed and read ahead (data/feed.h).
 *
 *     LMDB --> feed, on a thread of its own --> [ batch | batch | batch ] --> tops
 *
 * Which records a forward gets follows from iteration and worker alone; the feed runs ahead of the
 * net in the order of iterations and of the workers in them, and starts anew where the net seeks.
 * Twins read one database, each with a feed of its own; that workers may have databases of their own is
 * data_sources.h's. */
#include "base/alloc.h"
#include "data/feed.h"
#include "engine/layers/data_sources.h"
#include "engine/net_position.h"
#include "engine/share.h"

#include <string.h>

struct state {
    struct psd_data_sources sources; /* owned */
    struct psd_transform *transform; /* owned unless the net is a twin: its elder's */
    struct psd_feed *feed;           /* owned; NULL: it could not be opened */
    struct psd_sample_shape shape;   /* of its samples, for good */
    struct psd_net_position next;    /* of the feed's next batch; of is 0: there is no feed */
    unsigned *workers;               /* owned; those in it */
    size_t *offsets;                 /* owned; of each one's samples in the global batch */
    uint64_t seed;                   /* that the feed has */
    bool runs;                       /* the feed does */
    uint64_t bad;                    /* records left out so far */
};

static const Caffe__DataParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__DataParameter none = CAFFE__DATA_PARAMETER__INIT;
    return layer->param->data_param ? layer->param->data_param : &none;
}

/* The samples of a pass. */
static size_t batch_of(const struct psd_layer *layer)
{
    return layer->net->batch ? layer->net->batch : param_of(layer)->batch_size;
}

/* What the data room says gets the layer's place. */
static psd_status with_place(const struct psd_layer *layer, unsigned field, psd_status status)
{
    if (status != PSD_ECONFIG && status != PSD_ENOSUP)
        return status;
    return psd_layer_fail(layer, &param_of(layer)->base, field, "%s", psd_error());
}

/* --- setup ------------------------------------------------------------------------------------ */

static psd_status make_transform(const struct psd_layer *layer, struct psd_transform **out)
{
    const Caffe__TransformationParameter *p = layer->param->transform_param;
    Caffe__Phase phase = psd_layer_trains(layer) ? CAFFE__PHASE__TRAIN : CAFFE__PHASE__TEST;
    psd_status status = psd_transform_create(p, phase, layer->net->document->path, out);

    if (status != PSD_ECONFIG)
        return status;
    return psd_layer_fail(layer, &p->base, 0, "%s", psd_error());
}

/* Room for what is known of each worker of the net's position. */
static psd_status take_room(struct state *state, unsigned workers)
{
    unsigned *all = psd_alloc_resize(state->workers, workers, sizeof *all);
    if (!all)
        return PSD_ENOMEM;
    state->workers = all;
    size_t *offsets = psd_alloc_resize(state->offsets, workers, sizeof *offsets);
    if (!offsets)
        return PSD_ENOMEM;
    state->offsets = offsets;
    return PSD_OK;
}

/* A net computes with one batch. */
static psd_status check_share(const struct psd_layer *layer, size_t global, unsigned worker)
{
    size_t batch = batch_of(layer), share = psd_share_size(global, layer->net->position.of, worker);

    if (share == batch)
        return PSD_OK;
    return psd_fail(PSD_EINVAL,
                    "layer %s: worker %u of %u has %zu of a global batch of %zu samples, but the "
                    "net's batch is %zu",
                    layer->name, worker, layer->net->position.of, share, global, batch);
}

/* Notes the workers of the net's position, and where their samples are. */
static psd_status note_workers(struct psd_layer *layer, size_t global)
{
    const struct psd_net_position *position = &layer->net->position;
    struct state *state = layer->state;

    PSD_TRY(take_room(state, position->n_workers));
    for (unsigned turn = 0; turn < position->n_workers; turn++) {
        unsigned worker = position->workers ? position->workers[turn] : 0;
        PSD_TRY(check_share(layer, global, worker));
        state->workers[turn] = worker;
        state->offsets[turn] = psd_share_offset(global, position->of, worker);
    }
    return PSD_OK;
}

/* The layer of the net that ours is a twin of. */
static const struct state *elder_of(const struct psd_layer *layer)
{
    return layer->net->twin ? layer->net->twin->layers[layer->index].state : NULL;
}

static psd_status open_feed(struct psd_layer *layer, size_t global, struct psd_feed **out)
{
    const Caffe__DataParameter *p = param_of(layer);
    struct state *state = layer->state;
    struct psd_data_sources *sources = &state->sources;
    struct psd_feed_options options = {
        .source = sources->common,
        .sources = (const struct psd_source *const *)sources->parts,
        .transform = state->transform,
        .log = layer->net->log,
        .batch = batch_of(layer),
        .global_batch = global,
        .turns = layer->net->position.n_workers,
        .stride = layer->net->position.stride,
        .offsets = state->offsets,
        .prefetch = p->prefetch,
        .seed = layer->net->seed,
        .layer = (uint32_t)layer->index,
        .rand_skip = p->rand_skip,
        .max_bad = layer->net->max_bad,
    };

    return with_place(layer, 1, psd_feed_open(&options, out));
}

/* The net's shapes are those of the first samples. */
static psd_status check_shape(const struct psd_layer *layer)
{
    const struct state *state = layer->state;
    struct psd_sample_shape is = psd_feed_shape(state->feed), was = state->shape;

    if (is.channels == was.channels && is.height == was.height && is.width == was.width)
        return PSD_OK;
    return psd_layer_fail(layer, &param_of(layer)->base, 1,
                          "these workers have samples of %zu x %zu x %zu, but the net was made for "
                          "%zu x %zu x %zu",
                          is.channels, is.height, is.width, was.channels, was.height, was.width);
}

/* A feed for the workers that the net now has, and its seed, instead of an earlier one. */
static psd_status serve(struct psd_layer *layer)
{
    const struct psd_net_position *position = &layer->net->position;
    struct state *state = layer->state;
    const struct state *elder = elder_of(layer);
    bool first = !state->shape.channels;
    size_t global =
        position->global_batch ? position->global_batch : batch_of(layer) * position->of;

    psd_feed_close(state->feed);
    state->feed = NULL;
    state->next.of = 0;
    state->runs = false;
    PSD_TRY(note_workers(layer, global));
    PSD_TRY(psd_data_sources_open(&state->sources, layer, elder ? &elder->sources : NULL));
    PSD_TRY(open_feed(layer, global, &state->feed));
    if (first)
        state->shape = psd_feed_shape(state->feed);
    PSD_TRY(check_shape(layer));
    state->seed = layer->net->seed;
    state->next = *position;
    state->next.workers = state->workers;
    return PSD_OK;
}

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__DataParameter *p = param_of(layer);
    struct state *state = layer->state;

    if (!batch_of(layer))
        return psd_layer_fail(layer, &p->base, 4, "has no batch_size; 1 is the least");
    layer->pins = !p->shared_file_system && layer->net->phase == CAFFE__PHASE__TRAIN;
    if (layer->net->twin)
        state->transform = elder_of(layer)->transform;
    else
        PSD_TRY(make_transform(layer, &state->transform));
    return serve(layer);
}

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_sample_shape sample = ((const struct state *)layer->state)->shape;
    size_t batch = batch_of(layer);
    struct psd_shape data = psd_shape_of(4, batch, sample.channels, sample.height, sample.width);
    struct psd_shape labels = psd_shape_of(1, batch, 0, 0, 0);

    PSD_TRY(psd_layer_shape_top(layer, 0, &data));
    return layer->n_top > 1 ? psd_layer_shape_top(layer, 1, &labels) : PSD_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

/* A feed that is where it is wanted goes on. */
static psd_status seek(struct psd_layer *layer)
{
    const struct psd_net_position *position = &layer->net->position;
    struct state *state = layer->state;

    if (!psd_net_same_workers(&state->next, position) || state->seed != layer->net->seed)
        PSD_TRY(serve(layer));
    else if (state->runs && state->next.iteration == position->iteration &&
             state->next.turn == position->turn)
        return PSD_OK;
    state->runs = false;
    PSD_TRY(psd_feed_start(state->feed, position->iteration, position->turn));
    state->runs = true;
    state->next.iteration = position->iteration;
    state->next.turn = position->turn;
    return PSD_OK;
}

static psd_status take(struct psd_layer *layer, struct psd_batch **out)
{
    struct state *state = layer->state;

    PSD_TRY(seek(layer));
    psd_status status = psd_feed_take(state->feed, out);
    state->runs = status == PSD_OK;
    psd_net_advance(&state->next);
    return with_place(layer, 1, status);
}

static psd_status forward(struct psd_layer *layer)
{
    struct state *state = layer->state;
    struct psd_batch *batch = NULL;

    PSD_TRY(take(layer, &batch));
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
    psd_alloc_free(state->offsets);
    psd_alloc_free(state->workers);
    psd_data_sources_close(&state->sources);
    if (!layer->net->twin)
        psd_transform_destroy(state->transform);
}

const struct psd_layer_kind psd_layer_data = {
    .type = "Data",
    .about = "samples of a database, transformed",
    .reads = "data_param, transform_param",
    .tops = 1,
    .most_tops = 2,
    .takes_batch = true,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .drop = drop,
    .seek = seek,
};
