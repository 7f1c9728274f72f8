/* state.c - knows where state is kept, gives it back, and lets it be saved.
 *
 * A fetch says the parameter in `subject` and which of its states in `which`; a state says the part, and
 * the same. `iteration` is the one begun last: all save between the same two. */
#include "comm/state.h"
#include "base/alloc.h"
#include "comm/node_state.h"

#include <stdio.h>
#include <string.h>

psd_status psd_state_init(struct psd_node *node)
{
    if (node->rank != node->job->host[0])
        return PSD_OK;
    node->states.parts = psd_alloc_zero(node->layout->n_parts, sizeof *node->states.parts);
    return node->states.parts ? PSD_OK : PSD_ENOMEM;
}

void psd_state_fini(struct psd_node *node)
{
    psd_alloc_free(node->states.parts);
}

unsigned psd_state_server(const struct psd_node *node, size_t part)
{
    return node->layout->pieces[node->layout->parts[part].piece].server;
}

bool psd_state_is_everywhere(const struct psd_node *node, size_t param)
{
    return node->job->params[param].averaged || psd_exchange_is_whole(node, param);
}

bool psd_state_is_kept(const struct psd_node *node, size_t param, unsigned rank)
{
    const struct psd_layout_param *at = &node->layout->params[param];
    bool any = false;

    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++)
        any |= psd_state_server(node, part) == rank;
    return any && !psd_state_is_everywhere(node, param);
}

/* The state of a part of a factored parameter. */
static float *find_rebuilt(const struct psd_node *node, size_t part, unsigned kind)
{
    const struct psd_part *p = &node->layout->parts[part];
    bool is_bias = psd_job_follows(node->job, p->param);
    const struct psd_exchange *exchange =
        psd_exchange_find(node, psd_job_leader(node->job, p->param));

    if (!exchange ||
        (psd_state_server(node, part) != node->rank && !psd_exchange_is_broadcast(exchange)))
        return NULL;
    float *states = is_bias ? exchange->bias_states[kind] : exchange->states[kind];
    size_t before = exchange->rows.first * (is_bias ? 1 : psd_exchange_weight(exchange)->cols);
    return states ? states + (p->first - before) : NULL;
}

float *psd_state_find(const struct psd_node *node, size_t part, unsigned kind)
{
    const struct psd_part *p = &node->layout->parts[part];
    const struct psd_shard *shard = psd_shard_find(node, p->piece);

    if (!shard)
        return find_rebuilt(node, part, kind);
    return shard->states[kind] ? shard->states[kind] + p->at : NULL;
}

static psd_status check_kind(const struct psd_node *node, size_t param, unsigned kind)
{
    const struct psd_job *job = node->job;

    if (node->ended)
        return psd_fail(PSD_EPEER, "the job has ended");
    if (param >= job->n_params)
        return psd_fail(PSD_EINVAL, "there is no parameter %zu", param);
    if (job->mode == PSD_COMM_SUM)
        return psd_fail(PSD_EINVAL, "%s has no state here: in sum mode the caller has the rule",
                        job->params[param].name);
    if (kind >= psd_job_states(job))
        return psd_fail(PSD_EINVAL, "%s has no state %u: the rule %s keeps %u",
                        job->params[param].name, kind, job->rule->name, psd_job_states(job));
    return PSD_OK;
}

/* All values of the iteration begun last are here, so the rule has run wherever we keep its state. */
static psd_status check_quiet(const struct psd_node *node)
{
    size_t unsynced = node->begun ? psd_syncer_unsynced(node) : node->job->n_params;

    if (unsynced < node->job->n_params)
        return psd_fail(PSD_EINVAL,
                        "state is saved in iteration %llu before %s is synced: save it after the "
                        "last wait of an iteration and before the next begin",
                        (unsigned long long)node->iteration, node->job->params[unsynced].name);
    for (size_t i = 0; i < node->job->n_params; i++) {
        if (node->syncers.all[i].due)
            return psd_fail(PSD_EINVAL,
                            "state is saved before the value of %s of iteration %llu has come; "
                            "wait for it first",
                            node->job->params[i].name, (unsigned long long)node->iteration);
    }
    return PSD_OK;
}

psd_status psd_node_load_state(struct psd_node *node, size_t param, unsigned kind,
                               const float *data)
{
    PSD_TRY(check_kind(node, param, kind));
    const struct psd_layout_param *at = &node->layout->params[param];
    if (!data)
        return psd_fail(PSD_EINVAL, "the state of %s to load is NULL",
                        node->job->params[param].name);
    if (node->begun)
        return psd_fail(
            PSD_EINVAL,
            "the state of %s is loaded when iteration %llu has begun: load it after the "
            "start and before the first begin",
            node->job->params[param].name, (unsigned long long)node->iteration);
    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++) {
        const struct psd_part *p = &node->layout->parts[part];
        float *state = psd_state_find(node, part, kind);
        if (state)
            memcpy(state, data + p->first, p->count * sizeof *state);
    }
    return PSD_OK;
}

bool psd_state_is_saved(const struct psd_node *node)
{
    return node->collects.waiting && node->collects.kind == PSD_COLLECTIVE_STATE;
}

void psd_state_count(struct psd_node *node)
{
    if (--node->states.left == 0)
        psd_collect_done(node);
}

static psd_status start(struct psd_node *node)
{
    if (node->rank == node->job->host[0])
        psd_state_gather(node);
    else if (!psd_state_is_kept(node, node->states.param, node->rank))
        psd_collect_done(node);
    else if (node->states.is_fetched)
        PSD_TRY(psd_state_give(node));
    return node->ended ? psd_fail(PSD_ENOMEM, "out of memory") : PSD_OK;
}

psd_status psd_node_save_state(struct psd_node *node, size_t param, unsigned kind, float *data)
{
    struct psd_states *states = &node->states;

    PSD_TRY(check_kind(node, param, kind));
    PSD_TRY(check_quiet(node));
    if (node->rank == node->job->host[0] && !data && !node->sizes_only)
        return psd_fail(PSD_EINVAL,
                        "the state of %s is saved to NULL on rank %u, which hosts worker 0 and "
                        "collects it",
                        node->job->params[param].name, node->rank);
    PSD_TRY(psd_collect_begin(node, PSD_COLLECTIVE_STATE));
    states->param = param;
    states->kind = kind;
    states->data = data;
    return start(node);
}

psd_status psd_state_place(struct psd_node *node, const struct psd_message *message,
                           struct psd_place *place)
{
    return message->kind == PSD_MESSAGE_FETCH ? psd_state_place_fetch(node, message)
                                              : psd_state_place_part(node, message, place);
}

void psd_state_arrived(struct psd_node *node, const struct psd_message *message)
{
    if (message->kind == PSD_MESSAGE_FETCH) {
        psd_state_take_fetch(node, message);
        return;
    }
    node->states.parts[message->subject] = PSD_STATE_HERE;
    psd_state_count(node);
}

void psd_state_sent(struct psd_node *node, const struct psd_message *message)
{
    if (message->kind == PSD_MESSAGE_STATE)
        psd_state_count(node);
}

bool psd_state_needs(const struct psd_node *node, unsigned rank)
{
    const struct psd_states *states = &node->states;
    const struct psd_layout_param *at = &node->layout->params[states->param];
    bool needs = !states->parts && rank == node->job->host[0] && states->left == 0;

    for (size_t part = at->first_part; states->parts && part < at->first_part + at->pieces; part++)
        needs |= states->parts[part] != PSD_STATE_HERE && psd_state_server(node, part) == rank;
    return psd_state_is_saved(node) && needs;
}

void psd_state_overdue(const struct psd_node *node, char *sentence, size_t size)
{
    const char *name = node->job->params[node->states.param].name;
    unsigned rank = 0;

    while (rank < node->job->ranks && !psd_state_needs(node, rank))
        rank++;
    if (rank < node->job->ranks)
        snprintf(sentence, size, "rank %u waits in a save of the state of %s: rank %u is not there",
                 node->rank, name, rank);
    else
        snprintf(sentence, size, "rank %u saves the state of %s: its own part is on its way",
                 node->rank, name);
}
