/* node_rate.c - one learning rate an iteration, on all ranks, or the job ends.
 *
 *     begin(7, 0.1) --------.
 *     push of 7, rate 0.1 --+--> iteration 7: 0.1, says rank 2      who says otherwise is named,
 *     factors of 7, 0.1 ----'                                       as is rank 2
 *
 * Whoever updates does it with its own rate, so with different ones replicas would part, or parts of a
 * parameter be updated differently. Pushes and factors carry the rate of their sender, and all that
 * an update needs comes before it: a mismatch is found before it does harm. Messages of the iteration
 * before ours and of the one after may be on their way at the same time. In sum mode nobody looks at
 * rates. */
#include "comm/node_state.h"

#include <string.h>

static float from_bits(uint32_t bits)
{
    float rate;

    memcpy(&rate, &bits, sizeof rate);
    return rate;
}

/* The rank says that this is the rate of the iteration. Whose is the wrong one nobody knows. */
static psd_status note(struct psd_node *node, unsigned rank, uint64_t iteration, uint32_t bits)
{
    struct psd_node_rate *known = &node->rates[iteration % PSD_NODE_RATES];

    if (!known->is_known || known->iteration != iteration)
        *known = (struct psd_node_rate){
            .is_known = true, .iteration = iteration, .rank = rank, .bits = bits};
    if (known->bits == bits)
        return PSD_OK;
    return psd_node_mistake(node, PSD_EPEER,
                            "rank %u begins iteration %llu with a rate of %.9g, and rank %u with "
                            "%.9g; give the same rate on every rank",
                            rank, (unsigned long long)iteration, (double)from_bits(bits),
                            known->rank, (double)from_bits(known->bits));
}

psd_status psd_node_set_rate(struct psd_node *node, uint64_t iteration, float rate)
{
    uint32_t bits;

    memcpy(&bits, &rate, sizeof bits);
    return note(node, node->rank, iteration, bits);
}

static bool has_rate(const struct psd_node *node, const struct psd_message *message)
{
    return node->job->mode == PSD_COMM_UPDATE &&
           (message->kind == PSD_MESSAGE_PUSH || message->kind == PSD_MESSAGE_FACTORS);
}

bool psd_node_hear_rate(struct psd_node *node, const struct psd_message *message)
{
    return !has_rate(node, message) ||
           note(node, message->from, message->iteration, message->rate) == PSD_OK;
}

uint32_t psd_node_rate_of(const struct psd_node *node, const struct psd_message *message)
{
    return has_rate(node, message) ? node->rates[message->iteration % PSD_NODE_RATES].bits : 0;
}

float psd_node_rate(const struct psd_node *node, uint64_t iteration)
{
    return from_bits(node->rates[iteration % PSD_NODE_RATES].bits);
}
