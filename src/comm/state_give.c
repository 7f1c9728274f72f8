/* state_give.c - elsewhere: what is kept here goes when it is fetched, and saved here, too. */
#include "comm/node_state.h"

/* Whether the call here is the one that the host of worker 0 has made. */
static psd_status check_fetch(struct psd_node *node)
{
    const struct psd_states *states = &node->states;
    const struct psd_message *fetch = &states->fetch;
    const struct psd_job_param *params = node->job->params;

    if (fetch->subject == states->param && fetch->which == states->kind &&
        fetch->iteration == node->iteration)
        return PSD_OK;
    return psd_node_mistake(node, PSD_EPEER,
                            "rank %u saves state %u of %s after iteration %llu where rank %u saves "
                            "state %u of %s after %llu: all ranks make the same calls in the same "
                            "order",
                            node->rank, states->kind, params[states->param].name,
                            (unsigned long long)node->iteration, fetch->from, fetch->which,
                            params[fetch->subject].name, (unsigned long long)fetch->iteration);
}

/* Behind the values of the iteration, which others may wait for. */
psd_status psd_state_give(struct psd_node *node)
{
    struct psd_states *states = &node->states;
    const struct psd_layout_param *at = &node->layout->params[states->param];
    struct psd_message message = {
        .kind = PSD_MESSAGE_STATE, .iteration = node->iteration, .which = states->kind};

    states->is_fetched = false;
    PSD_TRY(check_fetch(node));
    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++) {
        struct psd_span state = {psd_state_find(node, part, states->kind),
                                 node->layout->parts[part].count * sizeof(float)};
        message.subject = (uint32_t)part;
        if (psd_state_server(node, part) == node->rank)
            states->left += psd_node_send(node, &message, node->job->host[0], PSD_SEND_VALUE,
                                          UINT32_MAX, state, (struct psd_span){0});
    }
    return PSD_OK;
}

/* The next fetch may come while the last parts of the one before are reported sent. */
psd_status psd_state_place_fetch(const struct psd_node *node, const struct psd_message *message)
{
    const struct psd_job *job = node->job;

    if (message->from != job->host[0] || message->length || node->states.is_fetched ||
        message->subject >= job->n_params || message->which >= psd_job_states(job) ||
        !psd_state_is_kept(node, message->subject, node->rank))
        return psd_fail(PSD_EPEER, "rank %u fetches state that rank %u does not keep for it",
                        message->from, node->rank);
    return PSD_OK;
}

void psd_state_take_fetch(struct psd_node *node, const struct psd_message *message)
{
    struct psd_states *states = &node->states;

    states->is_fetched = true;
    states->fetch = *message;
    if (psd_state_is_saved(node) && states->left == 0)
        (void)psd_state_give(node);
}
