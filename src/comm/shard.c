/* shard.c - where each sum of a round is, and what happens when two siblings are there.
 *
 * at[m] for a node m of the merge: 0, not here; GONE, added to another; else 1 + its place, with BUSY
 * while it arrives or is added to. Places below n_slots are slots, those above are the gradients of
 * our own workers. ADDING: it arrives and is added to its sibling on the way. Sums of a shared piece,
 * which are small, are added and updated at once, the others by works. */
#include "comm/shard.h"
#include "base/alloc.h"
#include "comm/node_state.h"
#include "math/sum.h"

#include <string.h>

enum { GONE = 0x7fff, BUSY = 0x8000, ADDING = 0xffff };

static uint32_t merge_nodes(const struct psd_node *node)
{
    return 2 * node->merge->n_inputs - 1;
}

static const struct psd_piece *piece_of(const struct psd_node *node, const struct psd_shard *shard)
{
    return &node->layout->pieces[shard->piece];
}

static bool is_shared(const struct psd_node *node, const struct psd_shard *shard)
{
    return piece_of(node, shard)->parts > 1;
}

static const struct psd_part *part_at(const struct psd_node *node, const struct psd_shard *shard,
                                      uint32_t k)
{
    return &node->layout->parts[piece_of(node, shard)->first_part + k];
}

/* A part of a shared piece may find its slot only by itself, so each input has one there. */
static uint32_t slot_of(const struct psd_node *node, const struct psd_shard *shard, uint32_t input)
{
    return is_shared(node, shard) ? input : node->merge->nodes[input].slot;
}

static uint16_t place_in(uint16_t at)
{
    return (uint16_t)((at & ~BUSY) - 1);
}

static bool is_here(uint16_t at)
{
    return at != 0 && at != GONE && !(at & BUSY);
}

static float *memory_at(const struct psd_node *node, const struct psd_shard *shard, uint32_t k,
                        uint16_t place)
{
    const struct psd_piece *piece = piece_of(node, shard);

    if (node->sizes_only)
        return NULL;
    if (place < shard->n_slots)
        return shard->slots + place * piece->count + part_at(node, shard, k)->at;
    return psd_syncer_grad(node, piece->first_part + k, place - shard->n_slots);
}

static bool is_summed(const struct psd_node *node, const struct psd_piece *piece)
{
    return piece->server == node->rank &&
           !psd_job_is_factored(node->job, node->layout->parts[piece->first_part].param);
}

static psd_status init_one(struct psd_node *node, struct psd_shard *shard)
{
    const struct psd_piece *piece = piece_of(node, shard);
    unsigned states = node->job->mode == PSD_COMM_UPDATE ? node->job->rule->states : 0;

    shard->n_slots = is_shared(node, shard) ? node->merge->n_inputs : node->merge->n_slots;
    shard->parts = psd_alloc_zero(piece->parts, sizeof *shard->parts);
    shard->at = psd_alloc_zero((size_t)piece->parts * merge_nodes(node), sizeof *shard->at);
    if (!shard->parts || !shard->at)
        return PSD_ENOMEM;
    for (uint32_t k = 0; k < piece->parts; k++)
        shard->parts[k].at = shard->at + (size_t)k * merge_nodes(node);
    PSD_TRY(psd_node_floats(node, shard->n_slots * piece->count, &shard->slots));
    for (unsigned i = 0; i < states; i++)
        PSD_TRY(psd_node_floats(node, piece->count, &shard->states[i]));
    return PSD_OK;
}

psd_status psd_shard_init(struct psd_node *node)
{
    struct psd_shards *shards = &node->shards;
    const struct psd_layout *layout = node->layout;

    if (node->merge->n_inputs + node->n_hosted >= GONE)
        return psd_fail(PSD_ENOSUP, "%u sums of %u workers are more than a server can keep apart",
                        node->merge->n_inputs, node->job->workers);
    shards->of_piece = psd_alloc_zero(layout->n_pieces, sizeof *shards->of_piece);
    if (!shards->of_piece)
        return PSD_ENOMEM;
    for (size_t i = 0; i < layout->n_pieces; i++) {
        if (is_summed(node, &layout->pieces[i]))
            shards->of_piece[i] = (uint32_t)++shards->count;
    }
    shards->all = psd_alloc_zero(shards->count, sizeof *shards->all);
    if (!shards->all)
        return PSD_ENOMEM;
    for (size_t i = 0; i < layout->n_pieces; i++) {
        if (shards->of_piece[i]) {
            struct psd_shard *shard = &shards->all[shards->of_piece[i] - 1];
            shard->piece = (uint32_t)i;
            PSD_TRY(init_one(node, shard));
        }
    }
    return PSD_OK;
}

void psd_shard_fini(struct psd_node *node)
{
    struct psd_shards *shards = &node->shards;

    for (size_t i = 0; shards->all && i < shards->count; i++) {
        psd_alloc_free(shards->all[i].parts);
        psd_alloc_free(shards->all[i].at);
        psd_alloc_free(shards->all[i].slots);
        for (unsigned k = 0; k < 4; k++)
            psd_alloc_free(shards->all[i].states[k]);
    }
    psd_alloc_free(shards->all);
    psd_alloc_free(shards->of_piece);
    while (shards->made) {
        struct psd_shard_work *work = shards->made;
        shards->made = work->before;
        psd_alloc_free(work);
    }
}

static struct psd_shard *find(const struct psd_node *node, uint32_t piece)
{
    uint32_t index = piece < node->layout->n_pieces ? node->shards.of_piece[piece] : 0;

    return index ? &node->shards.all[index - 1] : NULL;
}

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
    const struct psd_part *part = part_at(node, shard, 0);

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

void psd_shard_publish(struct psd_node *node, uint32_t piece, uint32_t first, uint32_t count,
                       uint64_t iteration, enum psd_message_kind kind)
{
    size_t part = node->layout->pieces[piece].first_part + first;
    const struct psd_part *from = &node->layout->parts[part], *last = from + count - 1;
    struct psd_shared *shared = psd_shared_find(node, part);
    struct psd_message message = {.kind = kind,
                                  .iteration = iteration,
                                  .subject = piece,
                                  .first = first,
                                  .count = count,
                                  .length = (last->at + last->count - from->at) * sizeof(float)};
    const float *values = psd_syncer_value(node, part);

    if (shared) {
        psd_shared_copy(node, shared, first, count, true);
        values = shared->values ? shared->values + from->at : NULL;
    } else if (kind == PSD_MESSAGE_VALUE) {
        psd_syncer_leaves(node, part);
    }
    psd_node_tell(node, &message, PSD_SEND_VALUE, psd_node_urgency(node, from->param), values,
                  kind == PSD_MESSAGE_INITIAL ? node->job->host[0] : node->rank);
}

/* Publishes the parts that the event has made fresh, in runs. */
static void publish_fresh(struct psd_node *node, struct psd_shard *shard)
{
    uint64_t fresh = shard->fresh;

    shard->fresh = 0;
    for (uint32_t first = 0, end; first < piece_of(node, shard)->parts; first = end) {
        for (end = first; end < 64 && fresh >> end & 1; end++)
            ;
        if (end == first) {
            end++;
            continue;
        }
        psd_shard_publish(node, shard->piece, first, end - first, shard->parts[first].iteration - 1,
                          PSD_MESSAGE_VALUE);
        for (uint32_t k = first; k < end; k++)
            psd_syncer_fresh(node, piece_of(node, shard)->first_part + k);
    }
}

/* The value is updated: the round closes. */
static void close_round(struct psd_node *node, struct psd_shard *shard, uint32_t k)
{
    struct psd_shard_part *part = &shard->parts[k];

    memset(part->at, 0, merge_nodes(node) * sizeof *part->at);
    part->root = 0;
    part->iteration++;
    shard->fresh |= UINT64_C(1) << k;
}

static void apply(const struct psd_node *node, const struct psd_shard *shard, uint32_t k)
{
    const struct psd_part *part = part_at(node, shard, k);

    psd_node_apply(node, part->param, shard->parts[k].iteration, part->first, part->count,
                   memory_at(node, shard, k, place_in(shard->parts[k].root)), shard->states,
                   part->at);
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
    publish_fresh(update->node, update->shard);
    give_back(update);
}

static void update(struct psd_node *node, struct psd_shard *shard, uint32_t k)
{
    if (is_shared(node, shard)) {
        if (!node->sizes_only)
            apply(node, shard, k);
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

static void arrive(struct psd_node *node, struct psd_shard *shard, uint32_t k, uint32_t m,
                   uint16_t place);

static void run_add(struct psd_work *work)
{
    const struct psd_shard_work *add = work->owner;
    const struct psd_shard *shard = add->shard;
    const uint16_t *at = shard->parts[0].at;

    psd_sum_add(memory_at(add->node, shard, 0, place_in(at[add->kept])),
                memory_at(add->node, shard, 0, place_in(at[add->added])),
                part_at(add->node, shard, 0)->count);
}

/* `added` is in `kept` now, which is the sum of their parent. */
static void merged(struct psd_node *node, struct psd_shard *shard, uint32_t k, uint32_t kept,
                   uint32_t added)
{
    uint16_t *at = shard->parts[k].at;
    uint16_t place = place_in(at[kept]);

    at[kept] = GONE;
    at[added] = GONE;
    arrive(node, shard, k, node->merge->nodes[kept].parent, place);
}

/* What comes next, another addition or the update, takes the work that this gives back. */
static void add_done(struct psd_work *work)
{
    const struct psd_shard_work add = *(struct psd_shard_work *)work->owner;

    give_back(work->owner);
    merged(add.node, add.shard, 0, add.kept, add.added);
    publish_fresh(add.node, add.shard);
}

static void order_add(struct psd_node *node, struct psd_shard *shard, uint32_t kept, uint32_t added)
{
    struct psd_shard_work *work = take_work(node, shard, PSD_WORK_SUM);
    uint16_t *at = shard->parts[0].at;

    if (!work)
        return;
    at[kept] |= BUSY;
    at[added] |= BUSY;
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
        psd_sum_add(memory_at(node, shard, k, place_in(at[kept])),
                    memory_at(node, shard, k, place_in(at[added])), part_at(node, shard, k)->count);
    merged(node, shard, k, kept, added);
}

static void complete(struct psd_node *node, struct psd_shard *shard, uint32_t k, uint16_t place)
{
    shard->parts[k].root = (uint16_t)(place + 1);
    if (node->clip.on)
        psd_clip_part(node, piece_of(node, shard)->first_part + k);
    else
        update(node, shard, k);
}

/* The sum of node m is at `place`. At most as deep as the tree is high. */
static void arrive(struct psd_node *node, struct psd_shard *shard, uint32_t k, uint32_t m,
                   uint16_t place)
{
    const struct psd_merge_node *at_merge = &node->merge->nodes[m];
    uint16_t *at = shard->parts[k].at;

    at[m] = (uint16_t)(place + 1);
    if (at_merge->parent == PSD_MERGE_NONE)
        complete(node, shard, k, place);
    else if (!is_here(at[at_merge->sibling]))
        return;
    else if (is_shared(node, shard))
        add_small(node, shard, k, at_merge->sibling, m);
    else
        order_add(node, shard, at_merge->sibling, m);
}

/* Whether something of `iteration` may come now. */
static bool is_due(const struct psd_shard_part *part, uint64_t iteration)
{
    return !part->known || part->iteration == iteration;
}

/* It comes: a part's first arrival says which iteration its rounds begin with. */
static void open_round(struct psd_shard_part *part, uint64_t iteration)
{
    part->known = true;
    part->iteration = iteration;
}

void psd_shard_give(struct psd_node *node, uint32_t piece, uint32_t first, uint32_t count,
                    uint32_t input, uint64_t iteration)
{
    struct psd_shard *shard = find(node, piece);
    unsigned hosted = psd_node_hosted_index(node, node->merge->nodes[input].first_worker);

    for (uint32_t k = first; k < first + count; k++) {
        if (!is_due(&shard->parts[k], iteration)) {
            psd_node_mistake(
                node, PSD_EINVAL, "rank %u syncs %s in iteration %llu, where others are in %llu",
                node->rank, node->job->params[part_at(node, shard, k)->param].name,
                (unsigned long long)iteration, (unsigned long long)shard->parts[k].iteration);
            return;
        }
        open_round(&shard->parts[k], iteration);
        arrive(node, shard, k, input, (uint16_t)(shard->n_slots + hosted));
    }
    publish_fresh(node, shard);
}

static psd_status check_push(struct psd_node *node, const struct psd_message *message)
{
    struct psd_shard *shard = find(node, message->subject);

    PSD_TRY(psd_node_check_run(node, message));
    if (!shard)
        return psd_fail(PSD_EPEER, "piece %u is not for rank %u to sum", message->subject,
                        node->rank);
    if (message->which >= node->merge->n_inputs ||
        node->merge->nodes[message->which].rank != message->from)
        return psd_fail(PSD_EPEER, "input %u is not rank %u's", message->which, message->from);
    for (uint32_t k = message->first; k < message->first + message->count; k++) {
        if (!is_due(&shard->parts[k], message->iteration) || shard->parts[k].at[message->which])
            return psd_fail(PSD_EPEER, "rank %u pushes %s of iteration %llu out of turn",
                            message->from, node->job->params[part_at(node, shard, k)->param].name,
                            (unsigned long long)message->iteration);
    }
    return PSD_OK;
}

/* A part with its piece to itself: added to its sibling on the way, or kept. */
static void place_single(struct psd_node *node, struct psd_shard *shard, uint32_t input,
                         struct psd_place *place)
{
    uint16_t *at = shard->parts[0].at;
    uint32_t sibling = node->merge->nodes[input].sibling;
    uint16_t slot = (uint16_t)slot_of(node, shard, input);

    if (sibling != PSD_MERGE_NONE && is_here(at[sibling])) {
        place->add = true;
        place->spans[0].data = memory_at(node, shard, 0, place_in(at[sibling]));
        at[sibling] |= BUSY;
        at[input] = ADDING;
    } else if (sibling != PSD_MERGE_NONE && at[sibling] & BUSY && place_in(at[sibling]) == slot) {
        place->later = true;
    } else {
        place->spans[0].data = memory_at(node, shard, 0, slot);
        at[input] = (uint16_t)(BUSY | (slot + 1));
    }
}

static void place_shared(struct psd_node *node, struct psd_shard *shard,
                         const struct psd_message *message, struct psd_place *place)
{
    uint16_t slot = (uint16_t)slot_of(node, shard, message->which);

    place->spans[0].data = memory_at(node, shard, message->first, slot);
    for (uint32_t k = message->first; k < message->first + message->count; k++)
        shard->parts[k].at[message->which] = (uint16_t)(BUSY | (slot + 1));
}

psd_status psd_shard_place(struct psd_node *node, const struct psd_message *message,
                           struct psd_place *place)
{
    PSD_TRY(check_push(node, message));
    struct psd_shard *shard = find(node, message->subject);
    place->spans[0].bytes = message->length;
    for (uint32_t k = message->first; k < message->first + message->count; k++)
        open_round(&shard->parts[k], message->iteration);
    if (is_shared(node, shard))
        place_shared(node, shard, message, place);
    else
        place_single(node, shard, message->which, place);
    return PSD_OK;
}

void psd_shard_arrived(struct psd_node *node, const struct psd_message *message)
{
    struct psd_shard *shard = find(node, message->subject);
    uint32_t input = message->which;

    for (uint32_t k = message->first; k < message->first + message->count; k++) {
        uint16_t *at = shard->parts[k].at;
        if (at[input] == ADDING)
            merged(node, shard, k, node->merge->nodes[input].sibling, input);
        else
            arrive(node, shard, k, input, place_in(at[input]));
    }
    publish_fresh(node, shard);
}

const float *psd_shard_sum(const struct psd_node *node, size_t part)
{
    const struct psd_part *p = &node->layout->parts[part];
    const struct psd_shard *shard = find(node, p->piece);
    uint32_t k = (uint32_t)(part - piece_of(node, shard)->first_part);

    return memory_at(node, shard, k, place_in(shard->parts[k].root));
}

void psd_shard_update_all(struct psd_node *node)
{
    for (size_t i = 0; i < node->shards.count; i++) {
        struct psd_shard *shard = &node->shards.all[i];
        for (uint32_t k = 0; k < piece_of(node, shard)->parts; k++) {
            if (shard->parts[k].root)
                update(node, shard, k);
        }
        publish_fresh(node, shard);
    }
}

uint32_t psd_shard_missing(const struct psd_node *node, size_t part, uint64_t iteration)
{
    const struct psd_shard *shard = find(node, node->layout->parts[part].piece);
    const struct psd_shard_part *round =
        shard ? &shard->parts[part - piece_of(node, shard)->first_part] : NULL;

    if (!round || (round->known && round->iteration > iteration))
        return UINT32_MAX;
    for (uint32_t i = 0; i < node->merge->n_inputs; i++) {
        if (round->at[i] == 0)
            return node->merge->nodes[i].rank;
    }
    return UINT32_MAX;
}
