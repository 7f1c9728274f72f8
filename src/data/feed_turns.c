/* feed_turns.c - a start and a step for each worker, and a picker for each source. */
#include "data/feed_turns.h"
#include "base/alloc.h"
#include "base/random.h"
#include "data/picker.h"

struct turn {
    struct psd_picker *picker; /* that of turn 0, unless each has a source */
    uint64_t start, step;      /* its first record, and from one iteration to the next */
    size_t offset;             /* of its samples in the global batch, for what is drawn */
};

struct psd_feed_turns {
    uint64_t seed;
    uint32_t layer;
    size_t batch;
    struct psd_sample_shape shape;
    struct turn *turns; /* owned */
    size_t count, sources;
};

/* The stream of an iteration that never comes. */
static uint64_t choose_skip(const struct psd_feed_options *options)
{
    uint64_t stream = UINT64_C(0xffffffff) << 32 | options->layer;

    return options->rand_skip ? psd_random_below(options->seed, stream, 0, options->rand_skip) : 0;
}

/* --- sources ------------------------------------------------------------------------------------ */

static psd_status check_shape(const struct psd_feed_turns *turns, const struct psd_source *source,
                              struct psd_sample_shape shape)
{
    struct psd_sample_shape all = turns->shape;

    if (shape.channels == all.channels && shape.height == all.height && shape.width == all.width)
        return PSD_OK;
    return psd_fail(PSD_ECONFIG,
                    "%s has samples of %zu x %zu x %zu; those of the workers before are %zu x %zu "
                    "x %zu",
                    psd_source_path(source), shape.channels, shape.height, shape.width,
                    all.channels, all.height, all.width);
}

static psd_status open_source(struct psd_feed_turns *turns, size_t i,
                              const struct psd_feed_options *options)
{
    const struct psd_source *source = options->sources ? options->sources[i] : options->source;
    struct psd_sample_shape shape;

    PSD_TRY(psd_picker_create(source, options->transform, &options->max_bad, options->log,
                              &turns->turns[i].picker));
    turns->sources = i + 1;
    PSD_TRY(psd_picker_shape(turns->turns[i].picker, &shape));
    if (i == 0)
        turns->shape = shape;
    return check_shape(turns, source, shape);
}

/* --- turns -------------------------------------------------------------------------------------- */

static void set_turn(struct turn *turn, const struct psd_feed_options *options, size_t offset)
{
    bool apart = options->sources != NULL;

    turn->offset = offset;
    turn->start = choose_skip(options) + (apart ? 0 : offset);
    turn->step = apart ? options->batch : options->global_batch;
}

static psd_status set_turns(struct psd_feed_turns *turns, const struct psd_feed_options *options)
{
    size_t sources = options->sources ? turns->count : 1;

    for (size_t i = 0; i < sources; i++)
        PSD_TRY(open_source(turns, i, options));
    for (size_t i = 0; i < turns->count; i++) {
        set_turn(&turns->turns[i], options, options->offsets ? options->offsets[i] : 0);
        if (i >= sources)
            turns->turns[i].picker = turns->turns[0].picker;
    }
    return PSD_OK;
}

psd_status psd_feed_turns_create(const struct psd_feed_options *options,
                                 struct psd_feed_turns **out)
{
    struct psd_feed_turns *turns = psd_alloc_zero(1, sizeof *turns);

    if (!turns)
        return PSD_ENOMEM;
    turns->seed = options->seed;
    turns->layer = options->layer;
    turns->batch = options->batch;
    turns->count = options->turns;
    turns->turns = psd_alloc_zero(turns->count, sizeof *turns->turns);
    psd_status status = turns->turns ? set_turns(turns, options) : PSD_ENOMEM;
    if (status == PSD_OK)
        *out = turns;
    else
        psd_feed_turns_destroy(turns);
    return status;
}

void psd_feed_turns_destroy(struct psd_feed_turns *turns)
{
    if (!turns)
        return;
    for (size_t i = 0; turns->turns && i < turns->sources; i++)
        psd_picker_destroy(turns->turns[i].picker);
    psd_alloc_free(turns->turns);
    psd_alloc_free(turns);
}

struct psd_sample_shape psd_feed_turns_shape(const struct psd_feed_turns *turns)
{
    return turns->shape;
}

/* --- filling ------------------------------------------------------------------------------------ */

static uint64_t count_bad(const struct psd_feed_turns *turns)
{
    uint64_t bad = 0;

    for (size_t i = 0; i < turns->sources; i++)
        bad += psd_picker_bad(turns->turns[i].picker);
    return bad;
}

psd_status psd_feed_turns_fill(struct psd_feed_turns *turns, uint64_t iteration, size_t turn,
                               struct psd_batch *batch)
{
    const struct turn *whose = &turns->turns[turn];
    struct psd_draw draw = {turns->seed, iteration << 32 | turns->layer, 0};
    uint64_t first = whose->start + iteration * whose->step;
    size_t values = turns->shape.channels * turns->shape.height * turns->shape.width;

    batch->iteration = iteration;
    batch->turn = turn;
    for (size_t k = 0; k < turns->batch; k++) {
        draw.index = whose->offset + k;
        PSD_TRY(psd_picker_pick(whose->picker, first + k, &draw, turns->shape,
                                batch->data + k * values, batch->label + k));
    }
    batch->bad = count_bad(turns);
    return PSD_OK;
}
