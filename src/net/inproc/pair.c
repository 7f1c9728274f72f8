/* pair.c - what both sides of a connection share. */
#include "net/inproc/pair.h"
#include "base/alloc.h"

#include <string.h>

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
    for (size_t i = 0; i < 2; i++) {
        pair->ends[i].conn.transport = &psd_transport_inproc;
        pair->ends[i].pair = pair;
        psd_list_init(&pair->ends[i].link);
    }
    pthread_mutex_init(&pair->lock, NULL);
    pthread_cond_init(&pair->moved, NULL);
    pair->refs = 1;
    *out = pair;
    return PSD_OK;
}

void psd_inproc_pair_lock(struct psd_inproc_pair *pair)
{
    pthread_mutex_lock(&pair->lock);
}

void psd_inproc_pair_unlock(struct psd_inproc_pair *pair)
{
    pthread_mutex_unlock(&pair->lock);
}

void psd_inproc_pair_release(struct psd_inproc_pair *pair)
{
    pthread_mutex_lock(&pair->lock);
    bool is_last = --pair->refs == 0;
    pthread_mutex_unlock(&pair->lock);
    if (!is_last)
        return;
    pthread_cond_destroy(&pair->moved);
    pthread_mutex_destroy(&pair->lock);
    psd_alloc_free(pair);
}

void psd_inproc_frames_put(struct psd_inproc_frames *frames, struct psd_frame *frame)
{
    frame->next = NULL;
    if (frames->count++ == 0)
        frames->first = frame;
    else
        frames->last->next = frame;
    frames->last = frame;
}

struct psd_frame *psd_inproc_frames_take(struct psd_inproc_frames *frames)
{
    struct psd_frame *frame = frames->count ? frames->first : NULL;

    if (frame) {
        frames->first = frame->next;
        frames->count--;
    }
    return frame;
}

void psd_inproc_wake(struct psd_inproc_end *end)
{
    if (end->is_posted || !end->loop)
        return;
    psd_status status = psd_loop_post(end->loop, psd_inproc_hear, end);
    if (status == PSD_OK) {
        end->is_posted = true;
        end->pair->refs++;
    } else {
        psd_inproc_pair_break(end->pair,
                              status == PSD_ENOMEM ? PSD_REASON_MEMORY : PSD_REASON_CLOSED);
    }
}

void psd_inproc_pair_break(struct psd_inproc_pair *pair, enum psd_reason reason)
{
    if (pair->is_broken)
        return;
    pair->is_broken = true;
    pair->reason = reason;
    for (size_t i = 0; i < 2; i++) {
        pair->ends[i].incoming = pair->ends[i].returned = (struct psd_inproc_frames){.count = 0};
        psd_inproc_wake(&pair->ends[i]);
    }
}

void psd_inproc_end_leave(struct psd_inproc_end *end, enum psd_reason reason)
{
    end->state = PSD_INPROC_GONE;
    end->endpoint->put_off -= end->is_put_off;
    psd_list_remove(&end->link);
    pthread_mutex_lock(&end->pair->lock);
    end->loop = NULL;
    psd_inproc_pair_break(end->pair, reason);
    while (psd_inproc_peer(end)->is_moving) /* as long as a copy takes; it waits for nobody */
        pthread_cond_wait(&end->pair->moved, &end->pair->lock);
    pthread_mutex_unlock(&end->pair->lock);
    psd_inproc_pair_release(end->pair);
}
