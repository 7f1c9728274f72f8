/* node_send.c - what a node hands to others: messages to its peers, works to its helpers. */
#include "comm/node_state.h"

/* An older iteration comes first: who is still in it holds up all others in the next one. */
static uint64_t age_of(const struct psd_message *message)
{
    return message->iteration & INT32_MAX;
}

bool psd_node_send(struct psd_node *node, const struct psd_message *message, unsigned to,
                   enum psd_send_class class, uint32_t urgency, struct psd_span first,
                   struct psd_span second)
{
    struct psd_send *send = node->gone[to] ? NULL : psd_schedule_take(node->schedule);

    if (node->gone[to])
        return false;
    if (!send) {
        psd_node_no_memory(node);
        return false;
    }
    send->message = *message;
    send->message.from = node->rank;
    send->message.rate = psd_node_rate_of(node, message);
    send->message.length = first.bytes + second.bytes;
    send->frame.payload[0] = first;
    send->frame.payload[1] = second;
    send->to = to;
    send->class = class;
    send->urgency = age_of(message) << 32 | urgency;
    psd_schedule_queue(node->schedule, send);
    return true;
}

unsigned psd_node_tell(struct psd_node *node, const struct psd_message *message,
                       enum psd_send_class class, uint32_t urgency, const void *data,
                       unsigned except)
{
    struct psd_span payload = {data, message->length};
    unsigned told = 0;

    for (unsigned i = 1; i < node->job->ranks; i++) {
        unsigned to = (node->rank + i) % node->job->ranks;
        if (to != except)
            told += psd_node_send(node, message, to, class, urgency, payload, (struct psd_span){0});
    }
    return told;
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

/* The memory behind a message is its owner's again. */
static void released(struct psd_node *node, const struct psd_message *message, unsigned to)
{
    if (node->ended)
        return;
    psd_inquiry_sent(node, message, to);
    psd_collect_sent(node, message);
    psd_state_sent(node, message);
    psd_syncer_sent(node, message);
}

void psd_node_sent(struct psd_node *node, struct psd_send *send)
{
    struct psd_message message = send->message;
    unsigned to = send->to;

    psd_schedule_sent(node->schedule, send);
    released(node, &message, to);
}

void psd_node_dropped(void *node, const struct psd_message *message, unsigned to)
{
    released(node, message, to);
}
