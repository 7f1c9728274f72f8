/* pair.h - a connection inside the process: two ends, each with what it has yet to hear.
 *
 *     end of loop A                          end of loop B
 *     [ incoming  ] <------ send -----------                     and the same from A to B
 *     [ returned  ] <------ taken in -------
 *     [ is_broken ] both
 *
 *     wake(end): its loop runs psd_inproc_hear(end) soon, once, however much there is to hear
 *
 * Frames wait in lists through themselves, so a connection in use allocates nothing. The pair's lock
 * guards these lists, and is not held while a payload is moved or a handler runs. Whoever leaves a
 * pair waits for the payload of theirs that is being moved, and has all frames back then. */
#ifndef PSD_NET_INPROC_PAIR_H
#define PSD_NET_INPROC_PAIR_H

#include "base/list.h"
#include "base/loop.h"
#include "net/inproc/registry.h"
#include "net/reason.h"
#include "net/transport.h"

#include <pthread.h>

/* Frames in order; borrowed from their senders. */
struct psd_inproc_frames {
    struct psd_frame *first, *last;
    size_t count;
};

enum psd_inproc_state {
    PSD_INPROC_ASKED,  /* somebody wants to connect to us, and we have not heard of it yet */
    PSD_INPROC_ASKING, /* we want to connect */
    PSD_INPROC_OPEN,
    PSD_INPROC_GONE, /* nobody's any more */
};

/* One side of a connection. */
struct psd_inproc_end {
    struct psd_conn conn;
    struct psd_inproc_pair *pair; /* that we are part of */

    enum psd_inproc_state state;   /* loop thread only, as the three below */
    struct psd_endpoint *endpoint; /* whose it is, borrowed; while ASKING or OPEN */
    struct psd_list link;          /* in its endpoint's ends */
    bool is_put_off;               /* the first incoming frame waits for another arrival */

    struct psd_loop *loop; /* borrowed; NULL: nobody's. Guarded by the pair's lock, as all below */
    bool is_posted;        /* psd_inproc_hear is to run, and keeps the pair */
    bool is_moving;        /* a payload of the peer's to where we want it */
    struct psd_inproc_frames incoming; /* from the peer, until they are taken in */
    struct psd_inproc_frames returned; /* ours, taken in by the peer */
};

struct psd_inproc_pair {
    struct psd_inproc_end ends[2]; /* who asks, who is asked */
    char *address[2];              /* of the ends; in the memory behind us */
    struct psd_inproc_key key;     /* of who asks */

    pthread_mutex_t lock;
    pthread_cond_t moved; /* an end is_moving no more */
    size_t refs; /* ends that are somebody's, and posts; guarded by the lock, as all below */
    bool is_accepted;
    bool is_broken; /* nothing more is moved */
    enum psd_reason reason;
};

/* The other side. */
static inline struct psd_inproc_end *psd_inproc_peer(struct psd_inproc_end *end)
{
    return &end->pair->ends[end == &end->pair->ends[0]];
}

/* A pair with one reference, that of its first end. */
psd_status psd_inproc_pair_create(const char *from, const char *to, struct psd_inproc_pair **out);

void psd_inproc_pair_lock(struct psd_inproc_pair *pair);
void psd_inproc_pair_unlock(struct psd_inproc_pair *pair);

/* Gives a reference back; the last one frees the pair. The lock is not held. */
void psd_inproc_pair_release(struct psd_inproc_pair *pair);

/* With the lock held: appends, and takes the first; NULL when there is none. */
void psd_inproc_frames_put(struct psd_inproc_frames *frames, struct psd_frame *frame);
struct psd_frame *psd_inproc_frames_take(struct psd_inproc_frames *frames);

/* With the lock held: lets the end hear what there is, soon. Where that cannot be, the pair
 * breaks; an end that could not even hear of that does so with its next news. */
void psd_inproc_wake(struct psd_inproc_end *end);

/* With the lock held: forgets all frames and lets both ends hear it; once. */
void psd_inproc_pair_break(struct psd_inproc_pair *pair, enum psd_reason reason);

/* The end is nobody's any more and the pair breaks; gives the end's reference back. All frames of
 * its are left alone afterwards. Loop thread. */
void psd_inproc_end_leave(struct psd_inproc_end *end, enum psd_reason reason);

/* What an end has to hear, on its loop; `arg` is that struct psd_inproc_end. */
void psd_inproc_hear(void *arg);

#endif
