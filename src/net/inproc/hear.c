/* hear.c - an end of a connection hears what has come up, on its loop's thread.
 *
 *     asked? accepted --> asking? connected --> sent ... --> place, move, arrived ... --> closed
 *
 * A handler may drop the connection or close the endpoint: after each one the end's state is looked
 * at again, and the note that runs here keeps the pair meanwhile. No more frames are taken in at a
 * time than were there at first, so that the loop's other work has its turn. */
#include "base/secret.h"
#include "base/status.h"
#include "net/inproc/pair.h"
#include "net/payload.h"

#include <stdio.h>
#include <string.h>

static bool is_same(const struct psd_secret *a, const struct psd_secret *b)
{
    return psd_secret_size(a) == psd_secret_size(b) &&
           memcmp(psd_secret_data(a), psd_secret_data(b), psd_secret_size(a)) == 0;
}

/* The endpoint that has the name now, if that is on this loop, still. */
static struct psd_endpoint *find_listener(const struct psd_inproc_pair *pair)
{
    psd_inproc_registry_lock();
    struct psd_endpoint *endpoint = psd_inproc_find(pair->address[1]);
    if (endpoint && !psd_loop_is_current(endpoint->loop))
        endpoint = NULL;
    psd_inproc_registry_unlock(); /* it cannot close before we return to its loop */
    return endpoint;
}

/* Whether who asks has our key and is still there; it hears that it is accepted before what we send. */
static bool accept(struct psd_inproc_end *end, const struct psd_endpoint *endpoint)
{
    struct psd_inproc_pair *pair = end->pair;

    if (!psd_inproc_hold(end))
        return false;
    bool is_accepted = is_same(endpoint->key, pair->key);
    if (is_accepted) {
        atomic_store(&pair->is_accepted, true);
        psd_inproc_wake(psd_inproc_peer(end));
    }
    psd_inproc_let_go(end);
    return is_accepted;
}

static void hear_asked(struct psd_inproc_end *end)
{
    struct psd_endpoint *endpoint = find_listener(end->pair);

    if (!endpoint || !accept(end, endpoint)) {
        end->state = PSD_INPROC_GONE;
        psd_inproc_part(end, endpoint ? PSD_REASON_KEY : PSD_REASON_NOBODY);
        return;
    }
    end->state = PSD_INPROC_OPEN;
    end->endpoint = endpoint;
    psd_list_push_back(&endpoint->ends, &end->link);
    atomic_fetch_add(&end->pair->refs, 1);
    endpoint->handler->accepted(endpoint->user, &end->conn);
}

static bool is_shut(const struct psd_inproc_end *end)
{
    return atomic_load(&end->grip) & PSD_INPROC_SHUT;
}

static void hear_connected(struct psd_inproc_end *end)
{
    if (!atomic_load(&end->pair->is_accepted) || is_shut(end))
        return;
    end->state = PSD_INPROC_OPEN;
    end->endpoint->handler->connected(end->endpoint->user, &end->conn);
}

/* Frames that the peer has taken in are their sender's again. */
static void hear_sent(struct psd_inproc_end *end)
{
    struct psd_boxed *next = psd_box_take(&end->returned);

    while (next && end->state == PSD_INPROC_OPEN) {
        struct psd_frame *frame = (struct psd_frame *)next;
        next = next->next;
        end->endpoint->handler->sent(end->endpoint->user, &end->conn, frame);
    }
}

/* A frame is refused: we hear why, the peer that we have closed. */
static void refuse(struct psd_inproc_end *end)
{
    const struct psd_endpoint *endpoint = end->endpoint;
    char why[4 * PSD_REASON_SIZE]; /* the handler may fail again, and look at this afterwards */

    snprintf(why, sizeof why, "%s", psd_error());
    psd_inproc_leave(end, PSD_REASON_CLOSED);
    endpoint->handler->closed(endpoint->user, &end->conn, why);
}

static void take_out(struct psd_inproc_end *end)
{
    if (end->waiting || !psd_inproc_hold(end))
        return;
    end->waiting = (struct psd_frame *)psd_box_take(&end->incoming);
    psd_inproc_let_go(end);
}

/* Copies the first header, since its frame may be its sender's again at any moment in which we do not
 * hold on. False: it is. */
static bool look(struct psd_inproc_end *end, unsigned char *header, size_t *bytes)
{
    if (!psd_inproc_hold(end))
        return false;
    memcpy(header, end->waiting->header, PSD_FRAME_HEADER);
    *bytes = psd_payload_bytes(end->waiting);
    psd_inproc_let_go(end);
    return true;
}

/* Moves the first payload. *out stays NULL when its sender has left meanwhile. */
static psd_status move(struct psd_inproc_end *end, const struct psd_place *place,
                       struct psd_frame **out)
{
    if (!psd_inproc_hold(end))
        return PSD_OK;
    psd_status status = psd_payload_move(end->waiting, place);
    *out = end->waiting;
    end->waiting = (struct psd_frame *)end->waiting->boxed.next;
    psd_inproc_let_go(end);
    return status;
}

static void give_back(struct psd_inproc_end *end, struct psd_frame *frame)
{
    struct psd_inproc_end *sender = psd_inproc_peer(end);

    if (!psd_inproc_hold(end))
        return;
    if (psd_box_put(&sender->returned, &frame->boxed) == PSD_BOX_EMPTY)
        psd_inproc_wake(sender);
    psd_inproc_let_go(end);
}

/* Something has arrived: those that waited for that try again. */
static void wake_put_off(struct psd_endpoint *endpoint)
{
    if (endpoint->put_off == 0)
        return;
    PSD_LIST_EACH (link, &endpoint->ends) {
        struct psd_inproc_end *end = PSD_CONTAINER_OF(link, struct psd_inproc_end, link);
        if (!end->is_put_off)
            continue;
        end->is_put_off = false;
        psd_inproc_wake(end);
    }
    endpoint->put_off = 0;
}

static void put_off(struct psd_inproc_end *end)
{
    end->endpoint->put_off += !end->is_put_off;
    end->is_put_off = true;
}

/* Takes the first waiting frame in. False: it has to wait, or all is over. */
static bool take_in(struct psd_inproc_end *end)
{
    const struct psd_net_handler *handler = end->endpoint->handler;
    void *user = end->endpoint->user;
    unsigned char header[PSD_FRAME_HEADER];
    struct psd_place place = {.later = false};
    struct psd_frame *frame = NULL;
    size_t bytes = 0;

    if (!look(end, header, &bytes))
        return false;
    psd_status status = handler->place(user, &end->conn, header, bytes, &place);
    if (status == PSD_OK && end->state == PSD_INPROC_OPEN && place.later) {
        put_off(end);
        return false;
    }
    if (status == PSD_OK && end->state == PSD_INPROC_OPEN)
        status = move(end, &place, &frame);
    if (status == PSD_OK && frame)
        status = handler->arrived(user, &end->conn, header);
    if (end->state != PSD_INPROC_OPEN)
        return false;
    if (status != PSD_OK) {
        refuse(end);
        return false;
    }
    if (frame) {
        give_back(end, frame);
        wake_put_off(end->endpoint);
    }
    return frame != NULL;
}

static void hear_frames(struct psd_inproc_end *end)
{
    take_out(end);
    while (end->waiting && end->state == PSD_INPROC_OPEN && take_in(end))
        ;
}

static bool has_more(const struct psd_inproc_end *end)
{
    return !psd_box_is_empty(&end->returned) ||
           (!end->is_put_off && (end->waiting || !psd_box_is_empty(&end->incoming)));
}

/* The last news of an end that is shut; else there may be more to hear by now. */
static void hear_closed(struct psd_inproc_end *end)
{
    const struct psd_endpoint *endpoint = end->endpoint;
    struct psd_inproc_pair *pair = end->pair;
    char why[PSD_REASON_SIZE];

    if (!is_shut(end)) {
        if (has_more(end))
            psd_inproc_wake(end);
        return;
    }
    enum psd_reason reason = end->reason;
    psd_inproc_leave(end, reason);
    psd_reason_say(reason, psd_transport_inproc.scheme, pair->address[end == &pair->ends[0]], why,
                   sizeof why);
    endpoint->handler->closed(endpoint->user, &end->conn, why);
}

void psd_inproc_hear(void *arg)
{
    struct psd_inproc_end *end = arg;

    atomic_store(&end->is_woken, false); /* before we look: what comes later wakes us again */
    if (end->state == PSD_INPROC_ASKED)
        hear_asked(end);
    if (end->state == PSD_INPROC_ASKING)
        hear_connected(end);
    if (end->state == PSD_INPROC_OPEN)
        hear_sent(end);
    if (end->state == PSD_INPROC_OPEN)
        hear_frames(end);
    if (end->state != PSD_INPROC_GONE)
        hear_closed(end);
    psd_inproc_pair_release(end->pair);
}
