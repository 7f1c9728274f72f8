/* net_position.c - whose samples a pass works on.
 *
 *     workers {1, 2, 5} of 8      iteration 0: 1, 2, 5     iteration 1: 1, 2, 5     ...
 *                                 a pass each */
#include "engine/net_position.h"

#include "engine/share.h"

#include <string.h>

unsigned psd_net_worker(const struct psd_net_position *position)
{
    return position->workers ? position->workers[position->turn] : 0;
}

bool psd_net_is_pinned(const struct psd_net *net)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        if (net->layers[i].pins)
            return true;
    }
    return false;
}

static uint64_t batch_at(const struct psd_net_position *position)
{
    return position->iteration * position->of + psd_net_worker(position);
}

uint64_t psd_net_batch(const struct psd_net *net)
{
    return batch_at(&net->pass);
}

uint64_t psd_net_next_batch(const struct psd_net *net)
{
    return batch_at(&net->position);
}

/* `rows` for each `size` samples, and those for the samples before. Where the net has another number of
 * rows than samples, the ranges of workers with the same ratio still follow each other. */
static uint64_t rows_before(uint64_t samples, size_t size, size_t rows)
{
    return samples / size * rows + samples % size * rows / size;
}

uint64_t psd_net_row(const struct psd_net *net, size_t rows)
{
    const struct psd_net_position *position = &net->pass;
    size_t global = position->global_batch;
    unsigned of = position->of, worker = psd_net_worker(position);

    if (!global) /* all have as many */
        return (position->iteration * of + worker) * rows;
    return rows_before(position->iteration * global + psd_share_offset(global, of, worker),
                       psd_share_size(global, of, worker), rows);
}

/* --- moving ------------------------------------------------------------------------------------- */

static psd_status check(const struct psd_net_position *position)
{
    if (position->turn >= position->n_workers || (!position->workers && position->n_workers > 1))
        return psd_fail(PSD_EINVAL, "a net's position has turn %u of %u workers", position->turn,
                        position->n_workers);
    for (unsigned i = 0; position->workers && i < position->n_workers; i++) {
        if (position->workers[i] >= position->of ||
            (i > 0 && position->workers[i] <= position->workers[i - 1]))
            return psd_fail(PSD_EINVAL,
                            "a net's position has worker %u of %u at place %u; workers rise",
                            position->workers[i], position->of, i);
    }
    if (position->global_batch && position->global_batch < position->of)
        return psd_fail(PSD_ECONFIG,
                        "a global batch of %zu samples has none for some of %u workers; each needs "
                        "one",
                        position->global_batch, position->of);
    return PSD_OK;
}

psd_status psd_net_place(struct psd_net *net, const struct psd_net_position *position)
{
    struct psd_net_position whole = *position;

    if (whole.of == 0)
        whole.of = 1;
    if (whole.n_workers == 0)
        whole.n_workers = 1;
    if (whole.stride == 0)
        whole.stride = 1;
    PSD_TRY(check(&whole));
    net->position = whole;
    return PSD_OK;
}

psd_status psd_net_check_dealt(const struct psd_net *net)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        if (net->layers[i].kind->takes_batch)
            return PSD_OK;
    }
    return psd_fail(PSD_ECONFIG,
                    "%s: --global-batch needs a Data or HDF5Data layer, which takes any number of "
                    "samples; this "
                    "net has none",
                    net->document->path);
}

psd_status psd_net_seek(struct psd_net *net, const struct psd_net_position *position)
{
    if (position->global_batch)
        PSD_TRY(psd_net_check_dealt(net));
    PSD_TRY(psd_net_place(net, position));
    for (size_t i = 0; i < net->n_layers; i++) {
        struct psd_layer *layer = &net->layers[i];
        if (layer->kind->seek)
            PSD_TRY(layer->kind->seek(layer));
    }
    return PSD_OK;
}

bool psd_net_same_workers(const struct psd_net_position *a, const struct psd_net_position *b)
{
    if (a->of != b->of || a->n_workers != b->n_workers || a->global_batch != b->global_batch ||
        a->stride != b->stride)
        return false;
    if (!a->workers || !b->workers) /* worker 0 alone */
        return (a->workers ? a->workers[0] : 0) == (b->workers ? b->workers[0] : 0);
    return memcmp(a->workers, b->workers, a->n_workers * sizeof *a->workers) == 0;
}

void psd_net_advance(struct psd_net_position *position)
{
    if (++position->turn < position->n_workers)
        return;
    position->turn = 0;
    position->iteration += position->stride;
}
