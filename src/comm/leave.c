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
                                  .count = (uint32_t)node->collects.next[PSD_COLLECTIVE_COPY]};

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

psd_status psd_leave_check_collect(struct psd_node *node)
{
    const struct psd_collects *collects = &node->collects;

    for (unsigned rank = 0; node->leaves.count && rank < node->job->ranks; rank++) {
        const struct psd_leaver *leaver = &node->leaves.all[rank];
        uint32_t called = (uint32_t)collects->next[collects->kind];
        if (leaver->left && collects->waiting &&
            (int32_t)(called - leaver->collected[collects->kind]) > 0)
            return psd_node_mistake(node, PSD_EPEER,
                                    "rank %u has closed its seat, and rank %u waits in a reduce, "
                                    "barrier or broadcast: all ranks make the same calls",
                                    rank, node->rank);
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

void psd_leave_arrived(struct psd_node *node, const struct psd_message *message)
{
    node->leaves.count += !node->leaves.all[message->from].left;
    node->leaves.all[message->from] = (struct psd_leaver){
        .left = true,
        .iteration = message->iteration,
        .collected = {message->first, message->count},
    };
    if (check_waits(node, message->from) == PSD_OK)
        (void)psd_leave_check_collect(node);
}
