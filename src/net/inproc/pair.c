/* pair.c - what both sides of a connection share, and how one leaves.
 *
 *     A: leave                                     B: moves a payload of A's
 *                                                     grip = HOLDS
 *        shut B: grip of B |= SHUT                    ...
 *        B HOLDS: wait ................               let go: was it SHUT? tell A
 *        all frames are A's again     '<-----------   hold: it is SHUT, no more
 *
 * Each end's grip is one number, so B has let go before A looks, or A sees that it has not. */
#include "net/inproc/pair.h"
#include "base/alloc.h"

#include <string.h>

static void init_end(struct psd_inproc_end *end, struct psd_inproc_pair *pair)
{
    end->conn.transport = &psd_transport_inproc;
    end->pair = pair;
    end->note = (struct psd_note){.fn = psd_inproc_hear, .arg = end};
    psd_list_init(&end->link);
    sem_init(&end->has_let_go, 0, 0);
}

psd_status psd_inproc_pair_create(const char *from, const char *to, struct psd_inproc_pair **out)
{
    size_t length[2] = {strlen(from) + 1, strlen(to) + 1};
    struct psd_inproc_pair *pair = psd_alloc_zero(1, sizeof *pair + length[0] + length[1]);

    if (!pair)
        return PSD_ENOMEM;
    pair->address[0] = (char *)(pair + 1);
    pair->address[1] = pair->address[0] + length[0];
    memcpy(pair->address[0], from, length[0]);
    memcpy(pair->address[1], to, length[1]);
    init_end(&pair->ends[0], pair);
    init_end(&pair->ends[1], pair);
    atomic_store(&pair->refs, 1);
    *out = pair;
    return PSD_OK;
}

void psd_inproc_pair_release(struct psd_inproc_pair *pair)
{
    if (atomic_fetch_sub(&pair->refs, 1) > 1)
        return;
    sem_destroy(&pair->ends[0].has_let_go);
    sem_destroy(&pair->ends[1].has_let_go);
    psd_alloc_free(pair);
}

bool psd_inproc_hold(struct psd_inproc_end *end)
{
    if (!(atomic_fetch_add(&end->grip, PSD_INPROC_HOLDS) & PSD_INPROC_SHUT))
        return true;
    psd_inproc_let_go(end);
    return false;
}

void psd_inproc_let_go(struct psd_inproc_end *end)
{
    if (atomic_fetch_sub(&end->grip, PSD_INPROC_HOLDS) & PSD_INPROC_SHUT)
        sem_post(&end->has_let_go);
}

bool psd_inproc_wake(struct psd_inproc_end *end)
{
    if (atomic_exchange(&end->is_woken, true))
        return true;
    atomic_fetch_add(&end->pair->refs, 1);
    if (psd_loop_put(end->loop, &end->note) == PSD_OK)
        return true;
    psd_inproc_pair_release(end->pair);
    return false;
}

void psd_inproc_shut(struct psd_inproc_end *end, enum psd_reason reason)
{
    end->reason = reason;
    atomic_fetch_or(&end->grip, PSD_INPROC_SHUT);
    psd_inproc_wake(end);
}

void psd_inproc_part(struct psd_inproc_end *end, enum psd_reason reason)
{
    struct psd_inproc_end *peer = psd_inproc_peer(end);

    if (psd_inproc_hold(end)) {
        psd_inproc_shut(peer, reason);
        psd_inproc_let_go(end); /* before we wait: the peer may want to leave, too */
    }
    while (atomic_fetch_or(&peer->grip, PSD_INPROC_SHUT) & PSD_INPROC_HOLDS) /* so it tells us */
        sem_wait(&peer->has_let_go);
}

void psd_inproc_leave(struct psd_inproc_end *end, enum psd_reason reason)
{
    end->state = PSD_INPROC_GONE;
    end->endpoint->put_off -= end->is_put_off;
    psd_list_remove(&end->link);
    psd_inproc_part(end, reason);
    psd_inproc_pair_release(end->pair);
}
