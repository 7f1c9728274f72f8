/* leave.c - compares what a member that has left took part in with what is under way here. */
#include "comm/leave.h"
#include "base/alloc.h"
#include "comm/node_state.h"

psd_status psd_leave_init(struct psd_node *node)
{
    node->leaves.all = psd_alloc_zero(node->job->ranks, sizeof *node->leaves.all);
    return node->leaves.all ? PSD_OK : PSD_ENOMEM;
}

void psd_leave_fini(struct psd_node *node)
{
    psd_alloc_free(node->leaves.all);
}

/* An iteration that is synced in part can never become whole. */
static bool is_half_synced(const struct psd_node *node)
{
    return node->begun && psd_syncer_any(node) && psd_syncer_unsynced(node) < node->job->n_params;
}

void psd_node_leave(struct psd_node *node)
{
    struct psd_message message = {.kind = PSD_MESSAGE_LEAVE,
                                  .iteration = node->iteration,
                                  .first = (uint32_t)node->collects.next[PSD_COLLECTIVE_SUM],
                                  .count = (uint32_t)node->collects.next[PSD_COLLECTIVE_COPY],
                                  .which = (uint32_t)node->collects.next[PSD_COLLECTIVE_STATE]};

    if (node->ended)
        return;
    if (is_half_synced(node)) {
        psd_node_mistake(node, PSD_EINVAL,
                         "rank %u closes its seat before it has synced %s in iteration %llu",
                         node->rank, node->job->params[psd_syncer_unsynced(node)].name,
                         (unsigned long long)node->iteration);
        return;
    }
    message.iteration += node->begun && psd_syncer_any(node);
    psd_node_tell(node, &message, PSD_SEND_CONTROL, 0, NULL, node->rank);
}

/* The member's share of `param` in `iteration` never comes. */
static psd_status miss(struct psd_node *node, unsigned rank, size_t param, uint64_t iteration)
{
    return psd_node_mistake(node, PSD_EPEER,
                            "rank %u has closed its seat, and rank %u waits for %s of iteration "
                            "%llu: all ranks make the same number of iterations",
                            rank, node->rank, node->job->params[param].name,
                            (unsigned long long)iteration);
}

psd_status psd_leave_check_sync(struct psd_node *node, size_t param)
{
    for (unsigned rank = 0; node->leaves.count && rank < node->job->ranks; rank++) {
        const struct psd_leaver *leaver = &node->leaves.all[rank];
        if (leaver->left && node->iteration >= leaver->iteration)
            return miss(node, rank, param, node->iteration);
    }
    return PSD_OK;
}

/* What the collective under way here is called. */
static const char *name_of(const struct psd_collects *collects)
{
    return collects->kind == PSD_COLLECTIVE_STATE ? "a save of state"
                                                  : "a reduce, barrier or broadcast";
}

psd_status psd_leave_check_collect(struct psd_node *node)
{
    const struct psd_collects *collects = &node->collects;

    for (unsigned rank = 0; node->leaves.count && rank < node->job->ranks; rank++) {
        const struct psd_leaver *leaver = &node->leaves.all[rank];
        uint32_t called = (uint32_t)collects->next[collects->kind];
        if (leaver->left && collects->waiting &&
            (int32_t)(called - leaver->collected[collects->kind]) > 0)
            return psd_node_mistake(
                node, PSD_EPEER,
                "rank %u has closed its seat, and rank %u waits in %s: all ranks "
                "make the same calls",
                rank, node->rank, name_of(collects));
    }
    return PSD_OK;
}

/* Whether we wait for something that the member has not synced. */
static psd_status check_waits(struct psd_node *node, unsigned rank)
{
    for (size_t i = 0; i < node->job->n_params; i++) {
        const struct psd_syncer *syncer = &node->syncers.all[i];
        if (syncer->synced && syncer->due && syncer->iteration >= node->leaves.all[rank].iteration)
            return miss(node, rank, i, syncer->iteration);
    }
    return PSD_OK;
}

psd_status psd_leave_place(const struct psd_node *node, const struct psd_message *message)
{
    if (message->length)
        return psd_fail(PSD_EPEER, "leave has no payload");
    if (node->leaves.all[message->from].left)
        return psd_fail(PSD_EPEER, "rank %u leaves twice", message->from);
    return PSD_OK;
}

void psd_leave_arrived(struct psd_node *node, const struct psd_message *message)
{
    node->leaves.count += !node->leaves.all[message->from].left;
    node->leaves.all[message->from] = (struct psd_leaver){
        .left = true,
        .iteration = message->iteration,
        .collected = {message->first, message->count, message->which},
    };
    if (check_waits(node, message->from) == PSD_OK)
        (void)psd_leave_check_collect(node);
}

/* Who the value of a part that is not fresh comes from; ourselves, where we make it. */
static unsigned source_of(const struct psd_node *node, size_t part)
{
    const struct psd_part *p = &node->layout->parts[part];
    unsigned server = node->layout->pieces[p->piece].server;

    return server == node->rank && !node->syncers.all[p->param].synced ? node->job->host[0]
                                                                       : server;
}

/* Whether a value that is due here needs something of `rank` that has not come. What it pushed to us
 * has: it had all new values when it left. */
static bool is_owed(const struct psd_node *node, size_t param, unsigned rank)
{
    const struct psd_layout_param *at = &node->layout->params[param];
    const struct psd_syncer *syncer = &node->syncers.all[param];
    bool clips = node->clip.on && !node->job->params[param].averaged;

    if (syncer->due == 0)
        return false;
    if (syncer->synced && clips && rank == 0 && syncer->iteration >= node->clip.next)
        return true;
    if (syncer->synced && psd_exchange_is_whole(node, param))
        return psd_exchange_awaits(node, psd_job_leader(node->job, param), rank, syncer->iteration);
    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++) {
        if (!node->syncers.is_fresh[part] && source_of(node, part) == rank)
            return true;
    }
    return false;
}

/* Whether the collective under way here needs something of `rank` that has not come. */
static bool is_awaited(const struct psd_node *node, unsigned rank)
{
    enum psd_collective kind = node->collects.kind;

    if (kind == PSD_COLLECTIVE_STATE)
        return psd_state_needs(node, rank);
    return node->collects.waiting && rank == (kind == PSD_COLLECTIVE_SUM ? 0 : node->job->host[0]);
}

void psd_leave_check_lost(struct psd_node *node, unsigned rank, const char *why)
{

    for (size_t i = 0; i < node->job->n_params && !node->ended; i++) {
        if (is_owed(node, i, rank))
            psd_node_mistake(node, PSD_EPEER,
                             "rank %u has closed its seat, and what rank %u needs of it for %s is "
                             "lost: %s",
                             rank, node->rank, node->job->params[i].name, why);
    }
    if (!node->ended && is_awaited(node, rank))
        psd_node_mistake(
            node, PSD_EPEER,
            "rank %u has closed its seat, and what rank %u waits for in %s is lost: %s", rank,
            node->rank, name_of(&node->collects), why);
}
