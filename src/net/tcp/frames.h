/* frames.h - a line of frames, linked through themselves, so that queueing one needs no memory. */
#ifndef PSD_NET_TCP_FRAMES_H
#define PSD_NET_TCP_FRAMES_H

#include "net/transport.h"

/* All zero is the empty line. */
struct psd_frames {
    struct psd_frame *first, *last; /* borrowed; `last` counts only if there is a first */
};

static inline void psd_frames_put(struct psd_frames *frames, struct psd_frame *frame)
{
    frame->boxed.next = NULL;
    if (frames->first)
        frames->last->boxed.next = &frame->boxed;
    else
        frames->first = frame;
    frames->last = frame;
}

/* The first frame, which leaves the line; NULL when there is none. */
static inline struct psd_frame *psd_frames_take(struct psd_frames *frames)
{
    struct psd_frame *frame = frames->first;

    if (frame)
        frames->first = (struct psd_frame *)frame->boxed.next;
    return frame;
}

/* Puts all of `from` behind the others, and leaves it empty. */
static inline void psd_frames_append(struct psd_frames *frames, struct psd_frames *from)
{
    if (!from->first)
        return;
    if (frames->first)
        frames->last->boxed.next = &from->first->boxed;
    else
        frames->first = from->first;
    frames->last = from->last;
    from->first = NULL;
}

#endif
