/* state_gather.c - at the host of worker 0: fetches what others keep, and copies what it keeps itself. */
#include "comm/node_state.h"

#include <string.h>

/* What this rank keeps itself; what nobody keeps is zero. */
static void run_copy(struct psd_work *work)
{
    const struct psd_node *node = work->owner;
    const struct psd_states *states = &node->states;
    const struct psd_layout_param *at = &node->layout->params[states->param];

    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++) {
        const struct psd_part *p = &node->layout->parts[part];
        const float *state = psd_state_find(node, part, states->kind);
        if (state)
            memcpy(states->data + p->first, state, p->count * sizeof *state);
        else if (node->job->params[p->param].averaged)
            memset(states->data + p->first, 0, p->count * sizeof *state);
    }
}

static void copy_done(struct psd_work *work)
{
    psd_state_count(work->owner);
}

/* How many values this rank has itself, and how many parts are to come. */
static size_t expect(struct psd_node *node)
{
    struct psd_states *states = &node->states;
    const struct psd_layout_param *at = &node->layout->params[states->param];
    bool is_local = psd_state_is_everywhere(node, states->param);
    size_t own = 0;

    states->left = 1; /* the copy of our own */
    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++) {
        bool is_own = is_local || psd_state_server(node, part) == node->rank;
        states->parts[part] = is_own ? PSD_STATE_HERE : PSD_STATE_MISSING;
        states->left += !is_own;
        own += is_own ? node->layout->parts[part].count : 0;
    }
    return own;
}

void psd_state_gather(struct psd_node *node)
{
    struct psd_states *states = &node->states;
    struct psd_message fetch = {.kind = PSD_MESSAGE_FETCH,
                                .iteration = node->iteration,
                                .subject = (uint32_t)states->param,
                                .which = states->kind};
    size_t own = expect(node);

    for (unsigned i = 1; i < node->job->ranks; i++) {
        unsigned to = (node->rank + i) % node->job->ranks;
        if (psd_state_is_kept(node, states->param, to))
            psd_node_send(node, &fetch, to, PSD_SEND_CONTROL, 0, (struct psd_span){0},
                          (struct psd_span){0});
    }
    if (node->ended) /* for lack of memory */
        return;
    states->copy = (struct psd_work){.kind = PSD_WORK_COPY,
                                     .param = (uint32_t)states->param,
                                     .urgency = psd_node_urgency(node, states->param),
                                     .bytes = (double)(own * sizeof(float)),
                                     .run = node->sizes_only ? NULL : run_copy,
                                     .done = copy_done,
                                     .owner = node};
    psd_node_order(node, &states->copy);
}

/* Whether this part of what is saved may come from `message->from` now. */
static bool may_come(const struct psd_node *node, const struct psd_message *message)
{
    const struct psd_states *states = &node->states;
    size_t part = message->subject;

    return psd_state_is_saved(node) && states->parts && part < node->layout->n_parts &&
           node->layout->parts[part].param == states->param && message->which == states->kind &&
           message->iteration == node->iteration && psd_state_server(node, part) == message->from &&
           states->parts[part] == PSD_STATE_MISSING &&
           message->length == node->layout->parts[part].count * sizeof(float);
}

psd_status psd_state_place_part(struct psd_node *node, const struct psd_message *message,
                                struct psd_place *place)
{
    if (!may_come(node, message))
        return psd_fail(PSD_EPEER, "rank %u sends state that rank %u has not asked for",
                        message->from, node->rank);
    node->states.parts[message->subject] = PSD_STATE_COMING;
    if (!node->sizes_only)
        place->spans[0].data = node->states.data + node->layout->parts[message->subject].first;
    place->spans[0].bytes = message->length;
    return PSD_OK;
}
