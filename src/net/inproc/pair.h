/* pair.h - a connection inside the process: two ends, each with what it has yet to hear.
 *
 *     end of loop A                          end of loop B
 *     [ incoming ] <------- send -----------                     and the same from A to B
 *     [ returned ] <------- taken in -------
 *
 *     wake(end): its loop runs psd_inproc_hear(end) soon, once, however much there is to hear
 *
 * Frames wait in boxes (base/box.h), so a connection in use allocates nothing and takes no lock. An end
 * may leave at any moment, and its frames and its loop go with it. Whoever touches those holds on to
 * them meanwhile:
 *
 *     if (psd_inproc_hold(end)) {       the peer's frames and loop are there, and stay
 *         ...                           a copy, a wake; no handler runs
 *         psd_inproc_let_go(end);
 *     }
 *
 * That waits for nobody. Who leaves shuts the other end, so that it holds on no more, and waits for it
 * to let go, as long as a copy takes. */
#ifndef PSD_NET_INPROC_PAIR_H
#define PSD_NET_INPROC_PAIR_H

#include "base/list.h"
#include "base/loop.h"
#include "net/inproc/registry.h"
#include "net/reason.h"
#include "net/transport.h"

#include <semaphore.h>

enum psd_inproc_state {
    PSD_INPROC_ASKED,  /* somebody wants to connect to us, and we have not heard of it yet */
    PSD_INPROC_ASKING, /* we want to connect */
    PSD_INPROC_OPEN,
    PSD_INPROC_GONE, /* nobody's any more */
};

/* What an end's grip is the sum of. */
enum { PSD_INPROC_SHUT = 1, PSD_INPROC_HOLDS = 2 };

/* One side of a connection. */
struct psd_inproc_end {
    struct psd_conn conn;
    struct psd_inproc_pair *pair; /* that we are part of */

    enum psd_inproc_state state;   /* loop thread only, as the four below */
    struct psd_endpoint *endpoint; /* whose it is, borrowed; while ASKING or OPEN */
    struct psd_list link;          /* in its endpoint's ends */
    struct psd_frame *waiting;     /* out of incoming and not taken in; borrowed while we hold on */
    bool is_put_off;               /* the first of them waits for another arrival */

    struct psd_loop *loop;  /* borrowed; constant since it was asked */
    struct psd_note note;   /* psd_inproc_hear */
    _Atomic(bool) is_woken; /* the note is put, and keeps the pair */

    _Atomic(unsigned) grip; /* on the peer */
    sem_t has_let_go;       /* of a peer that wants to leave, once or more */
    enum psd_reason reason; /* why it is shut; constant since then */

    struct psd_box incoming; /* frames from the peer; borrowed */
    struct psd_box returned; /* frames of ours that the peer has taken in */
};

struct psd_inproc_pair {
    struct psd_inproc_end ends[2]; /* who asks, who is asked */
    char *address[2];              /* of the ends; in the memory behind us */
    const struct psd_secret *key;  /* of who asks; borrowed while who is asked holds on */
    _Atomic(bool) is_accepted;
    _Atomic(size_t) refs; /* ends that are somebody's, and notes */
};

/* The other side. */
static inline struct psd_inproc_end *psd_inproc_peer(struct psd_inproc_end *end)
{
    return &end->pair->ends[end == &end->pair->ends[0]];
}

/* A pair with one reference, that of its first end. */
psd_status psd_inproc_pair_create(const char *from, const char *to, struct psd_inproc_pair **out);

/* Gives a reference back; the last one frees the pair. */
void psd_inproc_pair_release(struct psd_inproc_pair *pair);

/* Holds on to what is the peer's. False: the end is shut, and holds nothing. Loop thread. */
bool psd_inproc_hold(struct psd_inproc_end *end);
void psd_inproc_let_go(struct psd_inproc_end *end);

/* Lets the end hear what there is, soon. On its loop, or while its peer holds on to it. False: its loop
 * is stopped. */
bool psd_inproc_wake(struct psd_inproc_end *end);

/* Lets the end hear that it is over; once. As above. */
void psd_inproc_shut(struct psd_inproc_end *end, enum psd_reason reason);

/* Shuts the peer, unless that has shut us, and returns when it has let go. Loop thread. */
void psd_inproc_part(struct psd_inproc_end *end, enum psd_reason reason);

/* The same, and the end is nobody's any more; gives its reference back. */
void psd_inproc_leave(struct psd_inproc_end *end, enum psd_reason reason);

/* What an end has to hear, on its loop; `arg` is that struct psd_inproc_end. */
void psd_inproc_hear(void *arg);

#endif
