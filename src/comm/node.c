/* node.c - makes a node, hands messages to the part they are for, and ends the job once. */
#include "comm/node.h"
#include "base/alloc.h"
#include "comm/node_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 2048 }; /* bytes of a sentence that ends a job */

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
    node->farewell = psd_alloc_zero(LONGEST + 1, 1);
    node->heard = psd_alloc_zero(LONGEST + 1, 1);
    if (!node->gone || !node->farewell || !node->heard)
        return PSD_ENOMEM;
    PSD_TRY(find_hosted(node));
    PSD_TRY(psd_schedule_create(node->job->ranks, node->rank, credit, emit, node, &node->schedule));
    PSD_TRY(psd_syncer_init(node));
    PSD_TRY(psd_shared_init(node));
    PSD_TRY(psd_shard_init(node));
    PSD_TRY(psd_exchange_init(node));
    PSD_TRY(psd_clip_init(node));
    PSD_TRY(psd_collect_init(node));
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
    psd_collect_fini(node);
    psd_clip_fini(node);
    psd_exchange_fini(node);
    psd_shard_fini(node);
    psd_shared_fini(node);
    psd_syncer_fini(node);
    psd_schedule_destroy(node->schedule);
    psd_alloc_free(node->hosted);
    psd_alloc_free(node->gone);
    psd_alloc_free(node->farewell);
    psd_alloc_free(node->heard);
    psd_alloc_free(node);
}

psd_status psd_node_floats(struct psd_node *node, size_t count, float **out)
{
    node->memory += count * sizeof(float);
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

/* An older iteration comes first: who is still in it holds up all others in the next one. */
static uint64_t age_of(const struct psd_message *message)
{
    return message->iteration & INT32_MAX;
}

void psd_node_send(struct psd_node *node, const struct psd_message *message, unsigned to,
                   enum psd_send_class class, uint32_t urgency, struct psd_span first,
                   struct psd_span second)
{
    struct psd_send *send = node->gone[to] ? NULL : psd_schedule_take(node->schedule);

    if (node->gone[to]) /* it needs nothing any more */
        return;
    if (!send) {
        psd_node_no_memory(node);
        return;
    }
    send->message = *message;
    send->message.from = node->rank;
    send->message.length = first.bytes + second.bytes;
    send->frame.payload[0] = first;
    send->frame.payload[1] = second;
    send->to = to;
    send->class = class;
    send->urgency = age_of(message) << 32 | urgency;
    psd_schedule_queue(node->schedule, send);
}

void psd_node_tell(struct psd_node *node, const struct psd_message *message,
                   enum psd_send_class class, uint32_t urgency, const void *data, unsigned except)
{
    struct psd_span payload = {data, message->length};

    for (unsigned i = 1; i < node->job->ranks; i++) {
        unsigned to = (node->rank + i) % node->job->ranks;
        if (to != except)
            psd_node_send(node, message, to, class, urgency, payload, (struct psd_span){0});
    }
}

void psd_node_order(struct psd_node *node, struct psd_work *work)
{
    node->works++;
    node->driver->work(node->context, work);
}

void psd_node_done(struct psd_node *node, struct psd_work *work)
{
    node->works--;
    if (!node->ended)
        work->done(work);
}

void psd_node_sent(struct psd_node *node, struct psd_send *send)
{
    struct psd_message message = send->message;
    unsigned to = send->to;

    psd_schedule_sent(node->schedule, send);
    if (node->ended)
        return;
    psd_inquiry_sent(node, &message, to);
    psd_collect_sent(node, &message);
    psd_syncer_sent(node, &message);
}

void psd_node_end(struct psd_node *node, psd_status status, const char *sentence)
{
    struct psd_message message = {.kind = PSD_MESSAGE_END, .which = (uint32_t)-status};

    if (node->ended)
        return;
    node->ended = true; /* first, so that who cannot be told for lack of memory ends nothing */
    psd_schedule_clear(node->schedule);
    snprintf(node->farewell, LONGEST, "%s", sentence);
    message.length = strlen(node->farewell);
    psd_node_tell(node, &message, PSD_SEND_CONTROL, 0, node->farewell, node->rank);
    node->driver->ended(node->context, status, sentence);
}

void psd_node_no_memory(struct psd_node *node)
{
    char sentence[64];

    snprintf(sentence, sizeof sentence, "rank %u is out of memory", node->rank);
    psd_node_end(node, PSD_ENOMEM, sentence);
}

psd_status psd_node_mistake(struct psd_node *node, psd_status status, const char *format, ...)
{
    char sentence[LONGEST];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    psd_node_end(node, status == PSD_EINVAL ? PSD_EPEER : status, sentence);
    return psd_fail(status, "%s", sentence);
}

void psd_node_lost(struct psd_node *node, unsigned rank, const char *why)
{
    node->gone[rank] = true;
    psd_schedule_forget(node->schedule, rank);
    if (!node->ended && !node->leaves.all[rank].left)
        psd_node_mistake(node, PSD_EPEER, "rank %u is lost: %s", rank, why);
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
    if (!node->begun)
        psd_clip_begin(node, iteration);
    node->begun = true;
    node->iteration = iteration;
    node->rate[iteration & 1] = rate;
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

float psd_node_rate(const struct psd_node *node, uint64_t iteration)
{
    return node->rate[iteration & 1];
}

uint32_t psd_node_urgency(const struct psd_node *node, size_t param)
{
    return node->syncers.urgency[param];
}

void psd_node_apply(const struct psd_node *node, size_t param, uint64_t iteration, size_t first,
                    size_t count, const float *gradient, float *const *states, size_t at)
{
    float *value = node->syncers.all[param].value + first;
    float *state[4] = {NULL};

    if (node->job->mode == PSD_COMM_SUM) {
        if (value != gradient)
            memcpy(value, gradient, count * sizeof *value);
        return;
    }
    struct psd_rule_step step =
        psd_job_step(node->job, param, iteration, psd_node_rate(node, iteration),
                     psd_clip_factor(node, iteration));
    for (unsigned i = 0; i < node->job->rule->states; i++)
        state[i] = states[i] + at;
    node->job->rule->apply(&step, count, value, gradient, state);
}

psd_status psd_node_check_run(const struct psd_node *node, const struct psd_message *message)
{
    const struct psd_layout *layout = node->layout;

    if (message->subject >= layout->n_pieces)
        return psd_fail(PSD_EPEER, "there is no piece %u", message->subject);
    const struct psd_piece *piece = &layout->pieces[message->subject];
    if (message->count == 0 || message->first >= piece->parts ||
        message->count > piece->parts - message->first)
        return psd_fail(PSD_EPEER, "piece %u has no parts from %u, %u of them", message->subject,
                        message->first, message->count);
    const struct psd_part *first = &layout->parts[piece->first_part + message->first];
    const struct psd_part *last = first + message->count - 1;
    if (message->length != (last->at + last->count - first->at) * sizeof(float))
        return psd_fail(PSD_EPEER, "%s of %s has %llu bytes", psd_message_name(message->kind),
                        node->job->params[first->param].name, (unsigned long long)message->length);
    return PSD_OK;
}

static psd_status place_end(struct psd_node *node, const struct psd_message *message,
                            struct psd_place *place)
{
    if (message->length > LONGEST)
        return psd_fail(PSD_EPEER, "rank %u ends the job with too many words", message->from);
    place->spans[0].bytes = message->length;
    if (node->is_ending) /* the first sentence is the one that counts */
        return PSD_OK;
    node->is_ending = true;
    node->ender = message->from;
    place->spans[0].data = node->heard;
    node->heard[message->length] = '\0';
    return PSD_OK;
}

static psd_status place_nothing(const struct psd_message *message)
{
    return message->length
               ? psd_fail(PSD_EPEER, "%s has no payload", psd_message_name(message->kind))
               : PSD_OK;
}

psd_status psd_node_find_place(struct psd_node *node, unsigned from,
                               const struct psd_message *message, struct psd_place *place)
{
    if (message->from != from)
        return psd_fail(PSD_EPEER, "%s of rank %u comes from rank %u",
                        psd_message_name(message->kind), message->from, from);
    switch (message->kind) {
    case PSD_MESSAGE_PUSH:
        return psd_shard_place(node, message, place);
    case PSD_MESSAGE_VALUE:
    case PSD_MESSAGE_INITIAL:
        return psd_syncer_place(node, message, place);
    case PSD_MESSAGE_FACTORS:
        return psd_exchange_place(node, message, place);
    case PSD_MESSAGE_SQUARES:
    case PSD_MESSAGE_SCALE:
        return psd_clip_place(node, message, place);
    case PSD_MESSAGE_GIVE:
    case PSD_MESSAGE_TAKE:
        return psd_collect_place(node, message, place);
    case PSD_MESSAGE_END:
        return place_end(node, message, place);
    case PSD_MESSAGE_WHO:
    case PSD_MESSAGE_MISSING:
        return psd_inquiry_place(node, message);
    case PSD_MESSAGE_LEAVE:
        return place_nothing(message);
    default:
        return psd_fail(PSD_EPEER, "%s does not belong into a running job",
                        psd_message_name(message->kind));
    }
}

/* The connection stays, also after a mistake: the sentence that ends the job travels on it. */
void psd_node_place(struct psd_node *node, unsigned from, const struct psd_message *message,
                    struct psd_place *place)
{
    psd_status status = PSD_OK;

    *place = (struct psd_place){.add = false};
    if (!node->ended)
        status = psd_node_find_place(node, from, message, place);
    if (status == PSD_ENOMEM)
        psd_node_no_memory(node);
    else if (status != PSD_OK && !node->ended)
        psd_node_mistake(node, PSD_EPEER, "%s", psd_error());
    if (node->ended) {
        *place = (struct psd_place){.add = false};
        place->spans[0].bytes = message->length;
    }
}

static void hand_over(struct psd_node *node, const struct psd_message *message)
{
    switch (message->kind) {
    case PSD_MESSAGE_PUSH:
        psd_shard_arrived(node, message);
        break;
    case PSD_MESSAGE_VALUE:
    case PSD_MESSAGE_INITIAL:
        psd_syncer_arrived(node, message);
        break;
    case PSD_MESSAGE_FACTORS:
        psd_exchange_arrived(node, message);
        break;
    case PSD_MESSAGE_SQUARES:
    case PSD_MESSAGE_SCALE:
        psd_clip_arrived(node, message);
        break;
    case PSD_MESSAGE_GIVE:
    case PSD_MESSAGE_TAKE:
        psd_collect_arrived(node, message);
        break;
    case PSD_MESSAGE_END:
        if (message->from == node->ender)
            psd_node_end(node, PSD_EPEER, node->heard);
        break;
    case PSD_MESSAGE_LEAVE:
        psd_leave_arrived(node, message);
        break;
    default:
        psd_inquiry_arrived(node, message);
    }
}

void psd_node_arrived(struct psd_node *node, const struct psd_message *message)
{
    node->counters.received_messages++;
    node->counters.received_bytes += PSD_MESSAGE_SIZE + message->length;
    if (!node->ended)
        hand_over(node, message);
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
