/* node_reserve.c - how much can be under way at a time.
 *
 * A part's sum goes to its server once in an iteration, and its value comes back when that has arrived;
 * so each has one send at a time. Its state goes to one rank, when values are still on their way to
 * others. */
#include "comm/node_state.h"

static size_t sends_of_piece(const struct psd_node *node, const struct psd_piece *piece)
{
    size_t param = node->layout->parts[piece->first_part].param;

    if (piece->server == node->rank)
        return (size_t)piece->parts * node->job->ranks;
    return psd_job_is_factored(node->job, param)
               ? 0
               : (size_t)piece->parts * psd_merge_inputs(node->merge, node->rank);
}

psd_status psd_node_reserve(struct psd_node *node)
{
    size_t ranks = node->job->ranks, control = 5 * ranks + 16 + PSD_COLLECT_AHEAD;
    size_t sends = control + psd_exchange_sends(node);

    for (size_t i = 0; i < node->layout->n_pieces; i++)
        sends += sends_of_piece(node, &node->layout->pieces[i]);
    PSD_TRY(psd_schedule_reserve(node->schedule, sends));
    return psd_shard_reserve(node);
}
