/* shard_merge.c - what happens when two siblings are there: one is added to the other, and the sum of
 * all is applied.
 *
 * Sums of a shared piece, which are small, are added and updated at once, the others by works. Where the
 * caller wants the sum in place of its gradient, it is made there, and there is nothing to update. */
#include "base/alloc.h"
#include "comm/node_state.h"
#include "math/sum.h"

#include <string.h>

/* A work that is nobody's; NULL: no memory. */
static struct psd_shard_work *make_work(struct psd_node *node)
{
    struct psd_shard_work *work = psd_alloc_zero(1, sizeof *work);

    if (!work)
        return NULL;
    work->before = node->shards.made;
    node->shards.made = work;
    return work;
}

/* In a piece with one part, pairs of siblings are added at the same time, or it is updated. */
psd_status psd_shard_reserve(struct psd_node *node)
{
    size_t pairs = node->merge->n_inputs / 2;

    for (size_t i = 0; i < node->shards.count * (pairs ? pairs : 1); i++) {
        struct psd_shard_work *work = make_work(node);
        if (!work)
            return PSD_ENOMEM;
        work->next = node->shards.idle;
        node->shards.idle = work;
    }
    return PSD_OK;
}

/* A work for the single part of `shard`; NULL: the job has ended for lack of memory. */
static struct psd_shard_work *take_work(struct psd_node *node, struct psd_shard *shard,
                                        enum psd_work_kind kind)
{
    struct psd_shard_work *work = node->shards.idle ? node->shards.idle : make_work(node);
    const struct psd_part *part = psd_shard_part(node, shard, 0);

    if (!work) {
        psd_node_no_memory(node);
        return NULL;
    }
    if (work == node->shards.idle)
        node->shards.idle = work->next;
    *work = (struct psd_shard_work){.node = node, .shard = shard, .before = work->before};
    work->work = (struct psd_work){.kind = kind,
                                   .param = part->param,
                                   .urgency = psd_node_urgency(node, part->param),
                                   .bytes = (double)(part->count * sizeof(float)),
                                   .owner = work};
    return work;
}

static void give_back(struct psd_shard_work *work)
{
    work->next = work->node->shards.idle;
    work->node->shards.idle = work;
}

/* The value is updated: the round closes. */
static void close_round(struct psd_node *node, struct psd_shard *shard, uint32_t k)
{
    struct psd_shard_part *part = &shard->parts[k];

    memset(part->at, 0, psd_shard_nodes(node) * sizeof *part->at);
    part->root = 0;
    part->iteration++;
    shard->fresh |= UINT64_C(1) << k;
}

static void apply(const struct psd_node *node, const struct psd_shard *shard, uint32_t k)
{
    const struct psd_part *part = psd_shard_part(node, shard, k);

    psd_node_apply(node, part->param, shard->parts[k].iteration, part->first, part->count,
                   psd_shard_memory(node, shard, k, psd_shard_place_of(shard->parts[k].root)),
                   shard->states, part->at);
}

static void run_update(struct psd_work *work)
{
    const struct psd_shard_work *update = work->owner;

    apply(update->node, update->shard, 0);
}

static void update_done(struct psd_work *work)
{
    struct psd_shard_work *update = work->owner;

    close_round(update->node, update->shard, 0);
    psd_shard_publish_fresh(update->node, update->shard);
    give_back(update);
}

/* Whether the sum of a piece with one part is all that is wanted, and has been made where it belongs. In sum
 * mode nothing is averaged. */
static bool is_in_place(const struct psd_node *node, const struct psd_shard *shard)
{
    const struct psd_part *part = psd_shard_part(node, shard, 0);

    return node->job->mode == PSD_COMM_SUM && !node->sizes_only &&
           psd_shard_memory(node, shard, 0, psd_shard_place_of(shard->parts[0].root)) ==
               node->syncers.all[part->param].value + part->first;
}

static void update(struct psd_node *node, struct psd_shard *shard, uint32_t k)
{
    bool is_shared = psd_shard_is_shared(node, shard);

    if (is_shared && !node->sizes_only)
        apply(node, shard, k);
    if (is_shared || is_in_place(node, shard)) {
        close_round(node, shard, k);
        return;
    }
    struct psd_shard_work *work = take_work(node, shard, PSD_WORK_UPDATE);
    if (!work)
        return;
    work->work.run = node->sizes_only ? NULL : run_update;
    work->work.done = update_done;
    psd_node_order(node, &work->work);
}

static void run_add(struct psd_work *work)
{
    const struct psd_shard_work *add = work->owner;
    const struct psd_shard *shard = add->shard;
    const uint16_t *at = shard->parts[0].at;

    psd_sum_add(psd_shard_memory(add->node, shard, 0, psd_shard_place_of(at[add->kept])),
                psd_shard_memory(add->node, shard, 0, psd_shard_place_of(at[add->added])),
                psd_shard_part(add->node, shard, 0)->count);
}

/* `added` is in `kept` now, which is the sum of their parent. */
void psd_shard_merged(struct psd_node *node, struct psd_shard *shard, uint32_t k, uint32_t kept,
                      uint32_t added)
{
    uint16_t *at = shard->parts[k].at;
    uint16_t place = psd_shard_place_of(at[kept]);

    at[kept] = PSD_SHARD_GONE;
    at[added] = PSD_SHARD_GONE;
    psd_shard_arrive(node, shard, k, node->merge->nodes[kept].parent, place);
}

/* What comes next, another addition or the update, takes the work that this gives back. */
static void add_done(struct psd_work *work)
{
    const struct psd_shard_work add = *(struct psd_shard_work *)work->owner;

    give_back(work->owner);
    psd_shard_merged(add.node, add.shard, 0, add.kept, add.added);
    psd_shard_publish_fresh(add.node, add.shard);
}

static void order_add(struct psd_node *node, struct psd_shard *shard, uint32_t kept, uint32_t added)
{
    struct psd_shard_work *work = take_work(node, shard, PSD_WORK_SUM);
    uint16_t *at = shard->parts[0].at;

    if (!work)
        return;
    at[kept] |= PSD_SHARD_BUSY;
    at[added] |= PSD_SHARD_BUSY;
    work->kept = kept;
    work->added = added;
    work->work.run = node->sizes_only ? NULL : run_add;
    work->work.done = add_done;
    psd_node_order(node, &work->work);
}

static void add_small(struct psd_node *node, struct psd_shard *shard, uint32_t k, uint32_t kept,
                      uint32_t added)
{
    const uint16_t *at = shard->parts[k].at;

    if (!node->sizes_only)
        psd_sum_add(psd_shard_memory(node, shard, k, psd_shard_place_of(at[kept])),
                    psd_shard_memory(node, shard, k, psd_shard_place_of(at[added])),
                    psd_shard_part(node, shard, k)->count);
    psd_shard_merged(node, shard, k, kept, added);
}

static bool is_averaged(const struct psd_node *node, const struct psd_shard *shard)
{
    return node->job->params[psd_shard_part(node, shard, 0)->param].averaged;
}

static void complete(struct psd_node *node, struct psd_shard *shard, uint32_t k, uint16_t place)
{
    shard->parts[k].root = (uint16_t)(place + 1);
    if (node->clip.on && !is_averaged(node, shard))
        psd_clip_part(node, psd_shard_piece(node, shard)->first_part + k);
    else
        update(node, shard, k);
}

/* Whether a place is a gradient of our own workers, where the sum may belong: it is added to. */
static bool is_own(const struct psd_shard *shard, uint16_t place)
{
    return place >= shard->n_slots;
}

/* The sum of node m is at `place`. At most as deep as the tree is high. */
void psd_shard_arrive(struct psd_node *node, struct psd_shard *shard, uint32_t k, uint32_t m,
                      uint16_t place)
{
    const struct psd_merge_node *at_merge = &node->merge->nodes[m];
    uint16_t *at = shard->parts[k].at;

    at[m] = (uint16_t)(place + 1);
    if (at_merge->parent == PSD_MERGE_NONE)
        complete(node, shard, k, place);
    else if (!psd_shard_is_here(at[at_merge->sibling]))
        return;
    else if (psd_shard_is_shared(node, shard))
        add_small(node, shard, k, at_merge->sibling, m);
    else if (is_own(shard, place) && !is_own(shard, psd_shard_place_of(at[at_merge->sibling])))
        order_add(node, shard, m, at_merge->sibling);
    else
        order_add(node, shard, at_merge->sibling, m);
}

void psd_shard_update_all(struct psd_node *node)
{
    for (size_t i = 0; i < node->shards.count; i++) {
        struct psd_shard *shard = &node->shards.all[i];
        if (is_averaged(node, shard))
            continue; /* it waits for no norm */
        for (uint32_t k = 0; k < psd_shard_piece(node, shard)->parts; k++) {
            if (shard->parts[k].root)
                update(node, shard, k);
        }
        psd_shard_publish_fresh(node, shard);
    }
}
