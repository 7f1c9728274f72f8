/* inquiry.c - asks the owner of what is missing, and says what it answers. */
#include "comm/inquiry.h"
#include "base/alloc.h"
#include "comm/node_state.h"

#include <stdio.h>

#define NOBODY UINT32_MAX

/* Answers on their way to one rank: one that asks and does not listen gets no more. */
enum { MOST_ANSWERS = 16 };

psd_status psd_inquiry_init(struct psd_node *node)
{
    node->inquiries.answers = psd_alloc_zero(node->job->ranks, sizeof *node->inquiries.answers);
    return node->inquiries.answers ? PSD_OK : PSD_ENOMEM;
}

void psd_inquiry_fini(struct psd_node *node)
{
    psd_alloc_free(node->inquiries.answers);
}

static void warn(struct psd_node *node, size_t param, unsigned rank, unsigned server)
{
    char sentence[512];
    const char *name = node->job->params[param].name;
    unsigned long long iteration = node->syncers.all[param].iteration;

    if (rank == NOBODY && node->clip.on && !node->job->params[param].averaged)
        snprintf(sentence, sizeof sentence,
                 "rank %u waits for %s of iteration %llu: everybody has synced it, and its update "
                 "waits for the norm of all gradients; with clip, sync everything before waiting",
                 node->rank, name, iteration);
    else if (rank == NOBODY)
        snprintf(sentence, sizeof sentence,
                 "rank %u waits for %s of iteration %llu: everybody has synced it, and rank %u has "
                 "not yet sent its new value",
                 node->rank, name, iteration, server);
    else
        snprintf(sentence, sizeof sentence,
                 "rank %u waits for %s of iteration %llu: rank %u has not synced it", node->rank,
                 name, iteration, rank);
    node->counters.warnings++;
    node->driver->warn(node->context, sentence);
}

/* A part of `param` whose value has not come. */
static size_t missing_part(const struct psd_node *node, size_t param)
{
    const struct psd_layout_param *at = &node->layout->params[param];

    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++) {
        if (!node->syncers.is_fresh[part])
            return part;
    }
    return at->first_part;
}

/* Who has not synced `param` in `iteration`, as far as the owner of its `part` can know. */
static uint32_t missing_here(const struct psd_node *node, size_t param, size_t part,
                             uint64_t iteration)
{
    if (!psd_job_is_factored(node->job, param))
        return psd_shard_missing(node, part, iteration);
    uint32_t worker = psd_exchange_missing(node, psd_job_leader(node->job, param), iteration);
    return worker == UINT32_MAX ? NOBODY : node->job->host[worker];
}

static void warn_collect(struct psd_node *node)
{
    char sentence[256];

    psd_collect_overdue(node, sentence, sizeof sentence);
    node->counters.warnings++;
    node->driver->warn(node->context, sentence);
}

static unsigned server_of(const struct psd_node *node, size_t part)
{
    return node->layout->pieces[node->layout->parts[part].piece].server;
}

static void ask_who(struct psd_node *node, size_t param)
{
    size_t part = missing_part(node, param);
    unsigned server = server_of(node, part);
    struct psd_message message = {.kind = PSD_MESSAGE_WHO,
                                  .iteration = node->syncers.all[param].iteration,
                                  .subject = (uint32_t)part};

    if (server == node->rank || psd_exchange_is_whole(node, param))
        warn(node, param, missing_here(node, param, part, message.iteration), node->rank);
    else
        psd_node_send(node, &message, server, PSD_SEND_CONTROL, 0, (struct psd_span){0},
                      (struct psd_span){0});
}

void psd_node_overdue(struct psd_node *node, size_t param)
{
    if (node->ended)
        return;
    if (param == PSD_NODE_ALL && node->collects.waiting)
        warn_collect(node);
    else if (param != PSD_NODE_ALL && node->syncers.all[param].due)
        ask_who(node, param);
}

psd_status psd_inquiry_place(const struct psd_node *node, const struct psd_message *message)
{
    bool asks = message->kind == PSD_MESSAGE_WHO;
    unsigned owner = asks ? node->rank : message->from;

    if (message->length)
        return psd_fail(PSD_EPEER, "%s has no payload", psd_message_name(message->kind));
    if (message->subject >= node->layout->n_parts || server_of(node, message->subject) != owner)
        return psd_fail(PSD_EPEER, "rank %u %s part %u, which is not rank %u's", message->from,
                        asks ? "asks for" : "speaks of", message->subject, owner);
    if (!asks && message->first >= node->job->ranks && message->first != NOBODY)
        return psd_fail(PSD_EPEER, "rank %u misses rank %u, which does not exist", message->from,
                        message->first);
    return PSD_OK;
}

static void answer(struct psd_node *node, const struct psd_message *message, size_t param)
{
    struct psd_message missing = *message;

    if (node->inquiries.answers[message->from] == MOST_ANSWERS)
        return;
    node->inquiries.answers[message->from]++;
    missing.kind = PSD_MESSAGE_MISSING;
    missing.first = missing_here(node, param, message->subject, message->iteration);
    psd_node_send(node, &missing, message->from, PSD_SEND_CONTROL, 0, (struct psd_span){0},
                  (struct psd_span){0});
}

void psd_inquiry_arrived(struct psd_node *node, const struct psd_message *message)
{
    size_t param = node->layout->parts[message->subject].param;
    const struct psd_syncer *syncer = &node->syncers.all[param];

    if (message->kind == PSD_MESSAGE_WHO)
        answer(node, message, param);
    else if (syncer->due && syncer->iteration == message->iteration)
        warn(node, param, message->first, message->from);
}

void psd_inquiry_sent(struct psd_node *node, const struct psd_message *message, unsigned to)
{
    if (message->kind == PSD_MESSAGE_MISSING)
        node->inquiries.answers[to]--;
}
