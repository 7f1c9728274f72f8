/* syncer_value.c - new values: where they land, and when they are fresh. */
#include "comm/node_state.h"

#include <assert.h>
#include <string.h>

static const struct psd_part *part_of(const struct psd_node *node, size_t part)
{
    return &node->layout->parts[part];
}

void psd_syncer_leaves(struct psd_node *node, size_t part, unsigned others)
{
    if (node->syncers.leaving)
        node->syncers.leaving[part] = others;
}

void psd_syncer_sent(struct psd_node *node, const struct psd_message *message)
{
    if (!node->syncers.leaving || message->kind != PSD_MESSAGE_VALUE)
        return;
    size_t part = node->layout->pieces[message->subject].first_part;
    if (node->syncers.leaving[part] && --node->syncers.leaving[part] == 0)
        psd_syncer_fresh(node, part);
}

void psd_syncer_fresh(struct psd_node *node, size_t part)
{
    struct psd_syncer *syncer = &node->syncers.all[part_of(node, part)->param];

    assert(!node->syncers.is_fresh[part]);
    if (node->ended || (node->syncers.leaving && node->syncers.leaving[part]))
        return;
    node->syncers.is_fresh[part] = true;
    if (--syncer->due)
        return;
    node->syncers.awaited -= syncer->awaited;
    syncer->awaited = false;
    node->driver->fresh(node->context, part_of(node, part)->param);
}

void psd_syncer_all_fresh(struct psd_node *node, size_t param)
{
    const struct psd_layout_param *at = &node->layout->params[param];

    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++)
        psd_syncer_fresh(node, part);
}

/* Whether a new value of the part may come from `from` now. */
static bool may_come(const struct psd_node *node, const struct psd_message *message, size_t part)
{
    size_t param = part_of(node, part)->param;
    const struct psd_syncer *syncer = &node->syncers.all[psd_job_leader(node->job, param)];

    if (node->syncers.is_fresh[part] || node->syncers.is_coming[part])
        return false;
    if (message->kind == PSD_MESSAGE_INITIAL)
        return node->spreads && !syncer->synced;
    return syncer->synced && syncer->missing == 0 && syncer->iteration == message->iteration &&
           !psd_exchange_is_whole(node, param);
}

static bool comes_from_right_rank(const struct psd_node *node, const struct psd_message *message)
{
    unsigned server = node->layout->pieces[message->subject].server;

    if (message->kind == PSD_MESSAGE_INITIAL && server == node->rank)
        return message->from == node->job->host[0];
    return message->from == server;
}

psd_status psd_syncer_place(struct psd_node *node, const struct psd_message *message,
                            struct psd_place *place)
{
    size_t bytes = 0;

    PSD_TRY(psd_node_check_run(node, message));
    const struct psd_piece *piece = &node->layout->pieces[message->subject];
    size_t first = piece->first_part + message->first;
    if (!comes_from_right_rank(node, message))
        return psd_fail(PSD_EPEER, "piece %u is not rank %u's", message->subject, message->from);
    for (size_t part = first; part < first + message->count; part++) {
        if (!may_come(node, message, part))
            return psd_fail(PSD_EPEER, "a value of %s that nobody waits for",
                            node->job->params[part_of(node, part)->param].name);
        bytes += part_of(node, part)->count * sizeof(float);
    }
    memset(node->syncers.is_coming + first, true, message->count * sizeof(bool));
    const struct psd_shared *shared = psd_shared_find(node, first);
    place->spans[0].data = shared && shared->values ? shared->values + part_of(node, first)->at
                                                    : psd_syncer_value(node, first);
    place->spans[0].bytes = bytes;
    return PSD_OK;
}

void psd_syncer_arrived(struct psd_node *node, const struct psd_message *message)
{
    const struct psd_piece *piece = &node->layout->pieces[message->subject];
    size_t first = piece->first_part + message->first;
    struct psd_shared *shared = psd_shared_find(node, first);

    memset(node->syncers.is_coming + first, false, message->count * sizeof(bool));
    if (shared)
        psd_shared_copy(node, shared, message->first, message->count, false);
    if (message->kind == PSD_MESSAGE_INITIAL && piece->server == node->rank)
        psd_shard_publish(node, message->subject, message->first, message->count, 0,
                          PSD_MESSAGE_INITIAL);
    for (size_t part = first; part < first + message->count; part++)
        psd_syncer_fresh(node, part);
}
