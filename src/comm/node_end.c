/* node_end.c - how a job ends: once, with one sentence, on all ranks.
 *
 *     a mistake, a loss, no memory ---.
 *     end, from another member -------+--> ended: told to all others and to the driver
 *
 * Several members may end it at the same time, and any of them may break off in the midst of its
 * sentence; the first whole one counts. */
#include "base/alloc.h"
#include "comm/node_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 2048 }; /* bytes of a sentence */

/* A sentence on its way here. */
struct psd_ending {
    struct psd_ending *next; /* owned */
    unsigned from;
    char sentence[];
};

psd_status psd_node_init_end(struct psd_node *node)
{
    node->farewell = psd_alloc_zero(LONGEST + 1, 1);
    return node->farewell ? PSD_OK : PSD_ENOMEM;
}

void psd_node_fini_end(struct psd_node *node)
{
    for (struct psd_ending *ending = node->endings, *next; ending; ending = next) {
        next = ending->next;
        psd_alloc_free(ending);
    }
    psd_alloc_free(node->farewell);
}

void psd_node_end(struct psd_node *node, psd_status status, const char *sentence)
{
    struct psd_message message = {.kind = PSD_MESSAGE_END, .which = (uint32_t)-status};

    if (node->ended)
        return;
    node->ended = true; /* first, so that who cannot be told for lack of memory ends nothing */
    psd_schedule_clear(node->schedule);
    snprintf(node->farewell, LONGEST + 1, "%s", sentence);
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

/* To a member that has left everything has come that it needs: what the transport has not said yet, it
 * never will, so it counts as sent. */
void psd_node_lost(struct psd_node *node, unsigned rank, const char *why)
{
    node->gone[rank] = true;
    if (node->leaves.all[rank].left)
        psd_leave_check_lost(node, rank, why);
    else if (!node->ended)
        psd_node_mistake(node, PSD_EPEER, "rank %u is lost: %s", rank, why);
    psd_schedule_forget(node->schedule, rank, psd_node_dropped);
}

static struct psd_ending *find(const struct psd_node *node, unsigned from)
{
    struct psd_ending *ending = node->endings;

    while (ending && ending->from != from)
        ending = ending->next;
    return ending;
}

psd_status psd_node_place_end(struct psd_node *node, const struct psd_message *message,
                              struct psd_place *place)
{
    if (message->length > LONGEST)
        return psd_fail(PSD_EPEER, "rank %u ends the job with too many words", message->from);
    if (find(node, message->from))
        return psd_fail(PSD_EPEER, "rank %u ends the job twice", message->from);
    struct psd_ending *ending = psd_alloc_zero(1, sizeof *ending + message->length + 1);
    if (!ending)
        return PSD_ENOMEM;
    ending->from = message->from;
    ending->next = node->endings;
    node->endings = ending;
    place->spans[0].data = ending->sentence;
    place->spans[0].bytes = message->length;
    return PSD_OK;
}

void psd_node_hear_end(struct psd_node *node, const struct psd_message *message)
{
    psd_node_end(node, psd_message_status(message), find(node, message->from)->sentence);
}
