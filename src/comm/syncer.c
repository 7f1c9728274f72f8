/* syncer.c - counts syncs, and adds up what an input's workers have. */
#include "base/alloc.h"
#include "comm/node_state.h"
#include "math/sum.h"

#include <string.h>

enum { CACHED = 4096 }; /* values of each worker that are added while they are in the cache */

static const struct psd_part *part_of(const struct psd_node *node, size_t part)
{
    return &node->layout->parts[part];
}

static bool any_sums(const struct psd_node *node)
{
    for (uint32_t i = 0; i < psd_merge_inputs(node->merge, node->rank); i++) {
        if (node->merge->nodes[psd_merge_input(node->merge, node->rank, i)].workers > 1)
            return true;
    }
    return false;
}

/* Every part of `param` is to come. */
static void await_all(struct psd_node *node, size_t param)
{
    const struct psd_layout_param *at = &node->layout->params[param];

    node->syncers.all[param].due = at->pieces;
    memset(node->syncers.is_fresh + at->first_part, 0, at->pieces * sizeof(bool));
}

psd_status psd_syncer_init(struct psd_node *node)
{
    struct psd_syncers *syncers = &node->syncers;
    size_t params = node->job->n_params, parts = node->layout->n_parts;

    syncers->all = psd_alloc_zero(params, sizeof *syncers->all);
    syncers->leaves = psd_alloc_zero(params * node->n_hosted, sizeof *syncers->leaves);
    syncers->is_fresh = psd_alloc_zero(parts, sizeof *syncers->is_fresh);
    syncers->is_coming = psd_alloc_zero(parts, sizeof *syncers->is_coming);
    syncers->urgency = psd_alloc_zero(params, sizeof *syncers->urgency);
    if (!syncers->all || !syncers->leaves || !syncers->is_fresh || !syncers->is_coming ||
        !syncers->urgency)
        return PSD_ENOMEM;
    if (any_sums(node)) {
        syncers->sums = psd_alloc_zero(parts * psd_merge_inputs(node->merge, node->rank),
                                       sizeof *syncers->sums);
        if (!syncers->sums)
            return PSD_ENOMEM;
    }
    if (node->job->mode == PSD_COMM_SUM) {
        syncers->leaving = psd_alloc_zero(parts, sizeof *syncers->leaving);
        if (!syncers->leaving)
            return PSD_ENOMEM;
    }
    for (size_t i = 0; i < params; i++) {
        syncers->urgency[i] = (uint32_t)i;
        await_all(node, i);
    }
    return PSD_OK;
}

void psd_syncer_fini(struct psd_node *node)
{
    psd_alloc_free(node->syncers.all);
    psd_alloc_free(node->syncers.leaves);
    psd_alloc_free(node->syncers.is_fresh);
    psd_alloc_free(node->syncers.is_coming);
    psd_alloc_free(node->syncers.urgency);
    psd_alloc_free(node->syncers.leaving);
    psd_alloc_free(node->syncers.sums);
}

void psd_node_set_value(struct psd_node *node, size_t param, float *value)
{
    node->syncers.all[param].value = value;
}

float *psd_syncer_value(const struct psd_node *node, size_t part)
{
    float *value = node->syncers.all[part_of(node, part)->param].value;

    return value ? value + part_of(node, part)->first : NULL;
}

float *psd_syncer_grad(const struct psd_node *node, size_t part, unsigned hosted)
{
    const struct psd_part *p = part_of(node, part);
    const struct psd_shared *shared = psd_shared_find(node, part);

    if (node->sizes_only)
        return NULL;
    if (shared)
        return shared->staging + hosted * node->layout->pieces[p->piece].count + p->at;
    return node->syncers.leaves[p->param * node->n_hosted + hosted].grad + p->first;
}

/* Nothing that a sync of `param` makes new is still due from the iteration before. */
static psd_status check_fresh(struct psd_node *node, size_t param, size_t bias)
{
    const struct psd_job_param *params = node->job->params;
    unsigned long long iteration = node->iteration;

    if (node->syncers.all[param].due)
        return psd_node_mistake(node, PSD_EINVAL,
                                "rank %u syncs %s in iteration %llu before its value of the one "
                                "before has come; wait for it first",
                                node->rank, params[param].name, iteration);
    if (bias < node->job->n_params && node->syncers.all[bias].due)
        return psd_node_mistake(node, PSD_EINVAL,
                                "rank %u syncs %s in iteration %llu before the value of its bias "
                                "%s of the one before has come; wait for that, too",
                                node->rank, params[param].name, iteration, params[bias].name);
    return PSD_OK;
}

static void renew(struct psd_node *node, size_t param)
{
    node->syncers.all[param].synced = true;
    node->syncers.all[param].iteration = node->iteration;
    await_all(node, param);
}

/* The first sync of an iteration: the value is no longer fresh, nor is that of a bias that follows. */
static psd_status open_round(struct psd_node *node, size_t param)
{
    size_t bias = psd_job_follower(node->job, param);

    PSD_TRY(check_fresh(node, param, bias));
    PSD_TRY(psd_leave_check_sync(node, param));
    renew(node, param);
    if (bias < node->job->n_params)
        renew(node, bias);
    node->syncers.all[param].missing = node->n_hosted;
    return PSD_OK;
}

static psd_status check_caller(struct psd_node *node, size_t param, unsigned worker)
{
    if (param >= node->job->n_params)
        return psd_fail(PSD_EINVAL, "there is no parameter %zu", param);
    if (!node->begun)
        return psd_fail(PSD_EINVAL, "%s is synced before an iteration has begun",
                        node->job->params[param].name);
    if (psd_node_hosted_index(node, worker) == node->n_hosted)
        return psd_fail(PSD_EINVAL, "%s is synced for worker %u, which rank %u does not host",
                        node->job->params[param].name, worker, node->rank);
    if (psd_job_follows(node->job, param))
        return psd_fail(PSD_EINVAL, "%s is not synced: it comes from the factors of %s",
                        node->job->params[param].name,
                        node->job->params[node->job->params[param].bias_of].name);
    return PSD_OK;
}

psd_status psd_syncer_count(struct psd_node *node, size_t param, unsigned worker, float *grad)
{
    unsigned hosted = psd_node_hosted_index(node, worker);

    PSD_TRY(check_caller(node, param, worker));
    struct psd_leaf *leaf = &node->syncers.leaves[param * node->n_hosted + hosted];
    if (leaf->next == node->iteration + 1)
        return psd_node_mistake(node, PSD_EINVAL,
                                "rank %u: worker %u syncs %s twice in iteration %llu; every worker "
                                "syncs a parameter once",
                                node->rank, worker, node->job->params[param].name,
                                (unsigned long long)node->iteration);
    struct psd_syncer *syncer = &node->syncers.all[param];
    if (!syncer->synced || syncer->iteration != node->iteration)
        PSD_TRY(open_round(node, param));
    leaf->grad = grad;
    leaf->next = node->iteration + 1;
    syncer->missing--;
    return PSD_OK;
}

bool psd_syncer_is_synced(const struct psd_node *node, size_t param)
{
    const struct psd_syncer *syncer = &node->syncers.all[param];

    return psd_job_follows(node->job, param) ||
           (syncer->synced && !syncer->missing && syncer->iteration == node->iteration);
}

size_t psd_syncer_unsynced(const struct psd_node *node)
{
    size_t i = 0;

    while (i < node->job->n_params && psd_syncer_is_synced(node, i))
        i++;
    return i;
}

bool psd_syncer_any(const struct psd_node *node)
{
    for (size_t i = 0; i < node->job->n_params; i++) {
        if (node->syncers.all[i].synced && node->syncers.all[i].iteration == node->iteration)
            return true;
    }
    return false;
}

static bool input_is_ready(const struct psd_node *node, size_t param, uint32_t input)
{
    const struct psd_merge_node *in = &node->merge->nodes[input];
    unsigned first = psd_node_hosted_index(node, in->first_worker);

    for (unsigned i = 0; i < in->workers; i++) {
        if (node->syncers.leaves[param * node->n_hosted + first + i].next != node->iteration + 1)
            return false;
    }
    return true;
}

/* Adds n values of `workers` gradients along the tree, into the first. */
static void add_up(const struct psd_node *node, size_t part, unsigned first, unsigned workers,
                   size_t from, size_t n)
{
    for (unsigned step = 1; step < workers; step *= 2) {
        for (unsigned i = 0; i + step < workers; i += 2 * step)
            psd_sum_add(psd_syncer_grad(node, part, first + i) + from,
                        psd_syncer_grad(node, part, first + i + step) + from, n);
    }
}

static void run_sum(struct psd_work *work)
{
    const struct psd_local_sum *sum = PSD_CONTAINER_OF(work, struct psd_local_sum, work);
    const struct psd_node *node = work->owner;
    const struct psd_merge_node *in = &node->merge->nodes[sum->input];
    unsigned first = psd_node_hosted_index(node, in->first_worker);
    size_t count = part_of(node, sum->part)->count;

    for (size_t i = 0; i < count; i += CACHED)
        add_up(node, sum->part, first, in->workers, i, count - i < CACHED ? count - i : CACHED);
}

static void sum_done(struct psd_work *work)
{
    const struct psd_local_sum *sum = PSD_CONTAINER_OF(work, struct psd_local_sum, work);

    psd_syncer_push(work->owner, sum->part, sum->input);
}

static void order_sum(struct psd_node *node, size_t part, uint32_t own)
{
    struct psd_local_sum *sum =
        &node->syncers.sums[part * psd_merge_inputs(node->merge, node->rank) + own];
    uint32_t input = psd_merge_input(node->merge, node->rank, own),
             param = part_of(node, part)->param;
    double values = (double)part_of(node, part)->count * (node->merge->nodes[input].workers - 1);

    *sum = (struct psd_local_sum){.part = (uint32_t)part, .input = input};
    sum->work = (struct psd_work){.kind = PSD_WORK_SUM,
                                  .param = param,
                                  .urgency = psd_node_urgency(node, param),
                                  .bytes = values * sizeof(float),
                                  .run = node->sizes_only ? NULL : run_sum,
                                  .done = sum_done,
                                  .owner = node};
    psd_node_order(node, &sum->work);
}

/* A small part of a shared piece: added at once. */
static void sum_small(struct psd_node *node, size_t part, uint32_t input)
{
    const struct psd_merge_node *in = &node->merge->nodes[input];

    if (!node->sizes_only)
        add_up(node, part, psd_node_hosted_index(node, in->first_worker), in->workers, 0,
               part_of(node, part)->count);
}

static void give_input(struct psd_node *node, size_t param, uint32_t own)
{
    const struct psd_layout_param *at = &node->layout->params[param];
    uint32_t input = psd_merge_input(node->merge, node->rank, own);

    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++) {
        if (psd_shared_find(node, part)) {
            sum_small(node, part, input);
            psd_shared_ready(node, part, input, own);
        } else if (node->merge->nodes[input].workers > 1) {
            order_sum(node, part, own);
        } else {
            psd_syncer_push(node, part, input);
        }
    }
}

/* Small parameters are staged where their piece is put together. */
static void stage(struct psd_node *node, size_t param, unsigned hosted, const float *grad)
{
    size_t part = node->layout->params[param].first_part;

    if (psd_shared_find(node, part))
        psd_shared_stage(node, part, hosted, grad);
}

psd_status psd_node_sync(struct psd_node *node, size_t param, unsigned worker, float *grad)
{
    if (node->ended)
        return psd_fail(PSD_EPEER, "the job has ended");
    if (param < node->job->n_params && psd_job_is_factored(node->job, param) &&
        !psd_job_follows(node->job, param))
        return psd_node_mistake(node, PSD_EINVAL,
                                "rank %u: worker %u syncs a gradient of %s, which is factored; "
                                "sync its factors, as the others do",
                                node->rank, worker, node->job->params[param].name);
    PSD_TRY(psd_syncer_count(node, param, worker, grad));
    stage(node, param, psd_node_hosted_index(node, worker), grad);
    for (uint32_t own = 0; own < psd_merge_inputs(node->merge, node->rank); own++) {
        const struct psd_merge_node *in =
            &node->merge->nodes[psd_merge_input(node->merge, node->rank, own)];
        if (worker >= in->first_worker && worker < in->first_worker + in->workers &&
            input_is_ready(node, param, psd_merge_input(node->merge, node->rank, own)))
            give_input(node, param, own);
    }
    return PSD_OK;
}

void psd_syncer_push(struct psd_node *node, size_t part, uint32_t input)
{
    const struct psd_part *p = part_of(node, part);
    uint64_t iteration = node->syncers.all[p->param].iteration;
    unsigned server = node->layout->pieces[p->piece].server;

    if (server == node->rank) {
        psd_shard_give(node, p->piece, 0, 1, input, iteration);
        return;
    }
    struct psd_message message = {.kind = PSD_MESSAGE_PUSH,
                                  .iteration = iteration,
                                  .subject = p->piece,
                                  .which = input,
                                  .count = 1};
    unsigned hosted = psd_node_hosted_index(node, node->merge->nodes[input].first_worker);
    struct psd_span grad = {psd_syncer_grad(node, part, hosted), p->count * sizeof(float)};
    psd_node_send(node, &message, server, PSD_SEND_PUSH, psd_node_urgency(node, p->param), grad,
                  (struct psd_span){0});
}
