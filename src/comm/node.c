/* node.c - makes a node, and takes the calls that are for no part of it alone. */
#include "comm/node.h"
#include "base/alloc.h"
#include "comm/node_state.h"

#include <string.h>

static void emit(void *arg, struct psd_send *send)
{
    struct psd_node *node = arg;

    node->counters.sent_messages++;
    node->counters.sent_bytes += PSD_MESSAGE_SIZE + send->message.length;
    node->driver->send(node->context, send);
}

static psd_status find_hosted(struct psd_node *node)
{
    unsigned count = psd_job_hosted(node->job, node->rank);

    if (count == 0)
        return psd_fail(PSD_EINVAL,
                        "rank %u hosts no worker: let the job have fewer processes or more workers",
                        node->rank);
    node->hosted = psd_alloc_zero(count, sizeof *node->hosted);
    if (!node->hosted)
        return PSD_ENOMEM;
    for (unsigned w = 0; w < node->job->workers; w++) {
        if (node->job->host[w] == node->rank)
            node->hosted[node->n_hosted++] = w;
    }
    return PSD_OK;
}

static psd_status init_parts(struct psd_node *node, size_t credit)
{
    node->gone = psd_alloc_zero(node->job->ranks, sizeof *node->gone);
    if (!node->gone)
        return PSD_ENOMEM;
    PSD_TRY(psd_node_init_end(node));
    PSD_TRY(find_hosted(node));
    PSD_TRY(psd_schedule_create(node->job->ranks, node->rank, credit, emit, node, &node->schedule));
    PSD_TRY(psd_syncer_init(node));
    PSD_TRY(psd_shared_init(node));
    PSD_TRY(psd_shard_init(node));
    PSD_TRY(psd_exchange_init(node));
    PSD_TRY(psd_clip_init(node));
    PSD_TRY(psd_collect_init(node));
    PSD_TRY(psd_state_init(node));
    PSD_TRY(psd_inquiry_init(node));
    return psd_leave_init(node);
}

psd_status psd_node_create(const struct psd_node_options *options, struct psd_node **out)
{
    struct psd_node *node = psd_alloc_zero(1, sizeof *node);

    if (!node)
        return PSD_ENOMEM;
    node->job = options->job;
    node->layout = options->layout;
    node->merge = options->merge;
    node->rank = options->rank;
    node->sizes_only = options->sizes_only;
    node->driver = options->driver;
    node->context = options->context;
    psd_status status = init_parts(node, options->credit);
    if (status == PSD_OK)
        *out = node;
    else
        psd_node_destroy(node);
    return status;
}

void psd_node_destroy(struct psd_node *node)
{
    if (!node)
        return;
    psd_leave_fini(node);
    psd_inquiry_fini(node);
    psd_state_fini(node);
    psd_collect_fini(node);
    psd_clip_fini(node);
    psd_exchange_fini(node);
    psd_shard_fini(node);
    psd_shared_fini(node);
    psd_syncer_fini(node);
    psd_schedule_destroy(node->schedule);
    psd_alloc_free(node->hosted);
    psd_alloc_free(node->gone);
    psd_node_fini_end(node);
    psd_alloc_free(node);
}

psd_status psd_node_floats(struct psd_node *node, size_t count, float **out)
{
    node->memory += count * sizeof **out;
    if (node->sizes_only)
        return PSD_OK;
    *out = psd_alloc_zero(count, sizeof **out);
    return *out ? PSD_OK : PSD_ENOMEM;
}

psd_status psd_node_doubles(struct psd_node *node, size_t count, double **out)
{
    node->memory += count * sizeof **out;
    if (node->sizes_only)
        return PSD_OK;
    *out = psd_alloc_zero(count, sizeof **out);
    return *out ? PSD_OK : PSD_ENOMEM;
}

unsigned psd_node_hosted_index(const struct psd_node *node, unsigned worker)
{
    unsigned low = 0, high = node->n_hosted;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (node->hosted[middle] < worker)
            low = middle + 1;
        else
            high = middle;
    }
    return low < node->n_hosted && node->hosted[low] == worker ? low : node->n_hosted;
}

/* The host of worker 0 gives its values to the owners of the pieces, who give them to all. */
static void spread_piece(struct psd_node *node, uint32_t i)
{
    const struct psd_piece *piece = &node->layout->pieces[i];
    const struct psd_part *part = &node->layout->parts[piece->first_part];
    struct psd_shared *shared = psd_shared_find(node, piece->first_part);
    struct psd_message message = {.kind = PSD_MESSAGE_INITIAL, .subject = i, .count = piece->parts};
    const float *values = psd_syncer_value(node, piece->first_part);

    if (piece->server == node->rank) {
        psd_shard_publish(node, i, 0, piece->parts, 0, PSD_MESSAGE_INITIAL);
        return;
    }
    if (shared) {
        psd_shared_copy(node, shared, 0, piece->parts, true);
        values = shared->values;
    }
    psd_node_send(node, &message, piece->server, PSD_SEND_VALUE,
                  psd_node_urgency(node, part->param),
                  (struct psd_span){values, piece->count * sizeof(float)}, (struct psd_span){0});
}

psd_status psd_node_start(struct psd_node *node, bool equal)
{
    bool spread = node->job->mode == PSD_COMM_UPDATE && !equal;
    bool gives = spread && node->job->host[0] == node->rank;

    node->spreads = spread;
    for (size_t i = 0; gives && i < node->layout->n_pieces; i++)
        spread_piece(node, (uint32_t)i);
    for (size_t i = 0; i < node->job->n_params; i++) {
        if (gives || !spread)
            psd_syncer_all_fresh(node, i);
    }
    return node->ended ? psd_fail(PSD_ENOMEM, "out of memory") : PSD_OK;
}

/* Everything of the iteration before has been synced, or some program is wrong. */
static psd_status check_all_synced(struct psd_node *node)
{
    size_t param = psd_syncer_unsynced(node);

    if (param == node->job->n_params)
        return PSD_OK;
    return psd_node_mistake(node, PSD_EINVAL,
                            "rank %u has not synced %s in iteration %llu; every worker syncs every "
                            "parameter once",
                            node->rank, node->job->params[param].name,
                            (unsigned long long)node->iteration);
}

static psd_status check_begin(struct psd_node *node, uint64_t iteration)
{
    if (node->ended)
        return psd_fail(PSD_EPEER, "the job has ended");
    if (!node->begun)
        return PSD_OK;
    if (iteration != node->iteration + 1)
        return psd_fail(PSD_EINVAL, "iteration %llu does not follow iteration %llu",
                        (unsigned long long)iteration, (unsigned long long)node->iteration);
    return check_all_synced(node);
}

psd_status psd_node_begin(struct psd_node *node, uint64_t iteration, float rate)
{
    PSD_TRY(check_begin(node, iteration));
    PSD_TRY(psd_node_set_rate(node, iteration, rate));
    if (!node->begun)
        psd_clip_begin(node, iteration);
    node->begun = true;
    node->iteration = iteration;
    node->counters.iterations++;
    return PSD_OK;
}

psd_status psd_node_sync_factors(struct psd_node *node, size_t param, unsigned worker, size_t batch)
{
    if (node->ended)
        return psd_fail(PSD_EPEER, "the job has ended");
    if (param < node->job->n_params &&
        (!psd_job_is_factored(node->job, param) || psd_job_follows(node->job, param)))
        return psd_node_mistake(node, PSD_EINVAL,
                                "rank %u: worker %u syncs factors of %s, which is dense; sync its "
                                "gradient, as the others do",
                                node->rank, worker, node->job->params[param].name);
    if (worker < node->job->workers && param < node->job->n_params &&
        batch != node->job->batch[worker])
        return psd_node_mistake(
            node, PSD_EINVAL, "rank %u: worker %u syncs %s with %zu samples; %zu were agreed",
            node->rank, worker, node->job->params[param].name, batch, node->job->batch[worker]);
    PSD_TRY(psd_syncer_count(node, param, worker, NULL));
    psd_exchange_give(node, param, worker, node->iteration);
    return PSD_OK;
}

void psd_node_copy_factors(struct psd_node *node, size_t param, unsigned worker, uint64_t iteration,
                           const float *u, const float *v, size_t batch)
{
    psd_exchange_copy(node, param, worker, iteration, u, v, batch);
}

bool psd_node_awaited(const struct psd_node *node)
{
    return node->syncers.awaited > 0 || node->collects.waiting;
}

void psd_node_waits(struct psd_node *node, size_t param)
{
    if (param != PSD_NODE_ALL && node->syncers.all[param].due &&
        !node->syncers.all[param].awaited) {
        node->syncers.all[param].awaited = true;
        node->syncers.awaited++;
    }
    psd_shared_flush(node);
}

void psd_node_set_urgency(struct psd_node *node, const uint32_t *urgency)
{
    memcpy(node->syncers.urgency, urgency, node->job->n_params * sizeof *urgency);
}

uint32_t psd_node_urgency(const struct psd_node *node, size_t param)
{
    return node->syncers.urgency[param];
}

bool psd_node_busy(const struct psd_node *node)
{
    return node->works > 0 || psd_schedule_pending(node->schedule) > 0;
}

size_t psd_node_memory(const struct psd_node *node)
{
    return node->memory;
}

void psd_node_count(const struct psd_node *node, struct psd_comm_counters *out)
{
    *out = node->counters;
}
