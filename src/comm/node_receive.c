/* node_receive.c - hands a message to the part that it is for, or refuses it. */
#include "comm/node_state.h"

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
    case PSD_MESSAGE_FETCH:
    case PSD_MESSAGE_STATE:
        return psd_state_place(node, message, place);
    case PSD_MESSAGE_END:
        return psd_node_place_end(node, message, place);
    case PSD_MESSAGE_WHO:
    case PSD_MESSAGE_MISSING:
        return psd_inquiry_place(node, message);
    case PSD_MESSAGE_LEAVE:
        return psd_leave_place(node, message);
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

bool psd_node_adds(const struct psd_node *node, const struct psd_message *message)
{
    return !node->ended && message->kind == PSD_MESSAGE_PUSH && psd_shard_adds(node, message);
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
    case PSD_MESSAGE_FETCH:
    case PSD_MESSAGE_STATE:
        psd_state_arrived(node, message);
        break;
    case PSD_MESSAGE_END:
        psd_node_hear_end(node, message);
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
    if (!node->ended && psd_node_hear_rate(node, message))
        hand_over(node, message);
}
