/* hear.c - an end of a connection hears what has come up, on its loop's thread.
 *
 *     asked? accepted --> asking? connected --> sent ... --> place, move, arrived ... --> closed
 *
 * A handler may drop the connection or close the endpoint: after each one the end's state is looked
 * at again, and the post that runs here keeps the pair meanwhile. No more frames are taken in at a
 * time than were there at first, so that the loop's other work has its turn. */
#include "base/status.h"
#include "net/inproc/pair.h"
#include "net/payload.h"

#include <stdio.h>
#include <string.h>

static bool has_our_key(const struct psd_endpoint *endpoint, const struct psd_inproc_pair *pair)
{
    return memcmp(&endpoint->key, &pair->key, sizeof pair->key) == 0;
}

/* Becomes the end of the endpoint that has the name now, if that is on this loop, still. */
static void hear_asked(struct psd_inproc_end *end)
{
    struct psd_inproc_pair *pair = end->pair;

    psd_inproc_registry_lock();
    struct psd_endpoint *endpoint = psd_inproc_find(pair->address[1]);
    if (endpoint && !psd_loop_is_current(endpoint->loop))
        endpoint = NULL;
    psd_inproc_registry_unlock(); /* it cannot close before we return to its loop */

    bool is_refused = endpoint && !has_our_key(endpoint, pair);
    psd_inproc_pair_lock(pair);
    end->state = endpoint && !is_refused && !pair->is_broken ? PSD_INPROC_OPEN : PSD_INPROC_GONE;
    if (end->state == PSD_INPROC_OPEN) {
        end->endpoint = endpoint;
        psd_list_push_back(&endpoint->ends, &end->link);
        pair->refs++;
        pair->is_accepted = true;
        psd_inproc_wake(psd_inproc_peer(end)); /* so that it hears this before what we send */
    } else {
        end->loop = NULL;
        psd_inproc_pair_break(pair, is_refused ? PSD_REASON_KEY : PSD_REASON_NOBODY);
    }
    psd_inproc_pair_unlock(pair);
    if (end->state == PSD_INPROC_OPEN)
        endpoint->handler->accepted(endpoint->user, &end->conn);
}

static void hear_connected(struct psd_inproc_end *end)
{
    psd_inproc_pair_lock(end->pair);
    bool is_connected = end->pair->is_accepted && !end->pair->is_broken;
    psd_inproc_pair_unlock(end->pair);
    if (!is_connected)
        return;
    end->state = PSD_INPROC_OPEN;
    end->endpoint->handler->connected(end->endpoint->user, &end->conn);
}

static size_t count_of(struct psd_inproc_end *end, const struct psd_inproc_frames *frames)
{
    psd_inproc_pair_lock(end->pair);
    size_t count = frames->count;
    psd_inproc_pair_unlock(end->pair);
    return count;
}

/* Frames that the peer has taken in are their sender's again. */
static void hear_sent(struct psd_inproc_end *end)
{
    size_t left = count_of(end, &end->returned);

    for (; left > 0 && end->state == PSD_INPROC_OPEN; left--) {
        psd_inproc_pair_lock(end->pair);
        struct psd_frame *frame = psd_inproc_frames_take(&end->returned);
        psd_inproc_pair_unlock(end->pair);
        if (!frame) /* the pair has broken meanwhile */
            return;
        end->endpoint->handler->sent(end->endpoint->user, &end->conn, frame);
    }
}

/* A frame is refused: we hear why, the peer that we have closed. */
static void refuse(struct psd_inproc_end *end)
{
    const struct psd_endpoint *endpoint = end->endpoint;
    char why[4 * PSD_REASON_SIZE]; /* the handler may fail again, and look at this afterwards */

    snprintf(why, sizeof why, "%s", psd_error());
    psd_inproc_end_leave(end, PSD_REASON_CLOSED);
    endpoint->handler->closed(endpoint->user, &end->conn, why);
}

/* Copies the first header, since its frame may be its sender's again at any moment in which the lock
 * is not held. False: there is none. */
static bool look(struct psd_inproc_end *end, unsigned char *header, size_t *bytes)
{
    psd_inproc_pair_lock(end->pair);
    const struct psd_frame *frame = end->incoming.count ? end->incoming.first : NULL;
    if (frame) {
        memcpy(header, frame->header, PSD_FRAME_HEADER);
        *bytes = psd_payload_bytes(frame);
    }
    psd_inproc_pair_unlock(end->pair);
    return frame != NULL;
}

/* Moves the first payload. *out is NULL when the pair has broken meanwhile. */
static psd_status move(struct psd_inproc_end *end, const struct psd_place *place,
                       struct psd_frame **out)
{
    struct psd_inproc_pair *pair = end->pair;

    psd_inproc_pair_lock(pair);
    *out = psd_inproc_frames_take(&end->incoming);
    end->is_moving = *out != NULL; /* its sender waits for that before it has the frame again */
    psd_inproc_pair_unlock(pair);
    if (!*out)
        return PSD_OK;

    psd_status status = psd_payload_move(*out, place);
    psd_inproc_pair_lock(pair);
    end->is_moving = false;
    pthread_cond_signal(&pair->moved);
    psd_inproc_pair_unlock(pair);
    return status;
}

static void give_back(struct psd_inproc_end *end, struct psd_frame *frame)
{
    struct psd_inproc_end *sender = psd_inproc_peer(end);

    psd_inproc_pair_lock(end->pair);
    if (!end->pair->is_broken) {
        psd_inproc_frames_put(&sender->returned, frame);
        psd_inproc_wake(sender);
    }
    psd_inproc_pair_unlock(end->pair);
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
        psd_inproc_pair_lock(end->pair);
        psd_inproc_wake(end);
        psd_inproc_pair_unlock(end->pair);
    }
    endpoint->put_off = 0;
}

static void put_off(struct psd_inproc_end *end)
{
    end->endpoint->put_off += !end->is_put_off;
    end->is_put_off = true;
}

/* Takes the first incoming frame in. False: there was none, or it has to wait, or all is over. */
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
    size_t left = count_of(end, &end->incoming);

    while (left > 0 && end->state == PSD_INPROC_OPEN && take_in(end))
        left--;
}

/* The last news of a pair that has broken; else there may be more to hear by now. */
static void hear_closed(struct psd_inproc_end *end)
{
    const struct psd_endpoint *endpoint = end->endpoint;
    struct psd_inproc_pair *pair = end->pair;
    char why[PSD_REASON_SIZE];

    psd_inproc_pair_lock(pair);
    bool is_broken = pair->is_broken;
    enum psd_reason reason = pair->reason;
    if (end->returned.count || (end->incoming.count && !end->is_put_off))
        psd_inproc_wake(end);
    psd_inproc_pair_unlock(pair);
    if (!is_broken)
        return;
    psd_inproc_end_leave(end, reason);
    psd_reason_say(reason, psd_transport_inproc.scheme, pair->address[end == &pair->ends[0]], why,
                   sizeof why);
    endpoint->handler->closed(endpoint->user, &end->conn, why);
}

void psd_inproc_hear(void *arg)
{
    struct psd_inproc_end *end = arg;

    psd_inproc_pair_lock(end->pair);
    end->is_posted = false;
    psd_inproc_pair_unlock(end->pair);
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
