/* queue.c - a ring of items behind one lock. */
#include "base/queue.h"
#include "base/alloc.h"
#include "base/status.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

struct psd_queue {
    size_t item_size, capacity; /* set once */

    pthread_mutex_t lock;    /* guards all below */
    pthread_cond_t has_item; /* an item came in, or the queue was closed */
    pthread_cond_t has_room; /* an item went out, or the queue was closed */
    size_t oldest, count;    /* the items in use: `count` places from `oldest` on, around the end */
    bool is_closed;
    unsigned char items[]; /* [capacity][item_size] */
};

psd_status psd_queue_create(size_t item_size, size_t capacity, struct psd_queue **out)
{
    if (item_size == 0 || capacity == 0)
        return psd_fail(PSD_EINVAL, "a queue of %zu items of %zu bytes holds nothing", capacity,
                        item_size);
    if (capacity > (SIZE_MAX - sizeof(struct psd_queue)) / item_size)
        return psd_fail(PSD_ENOMEM, "a queue of %zu items of %zu bytes is beyond all memory",
                        capacity, item_size);

    struct psd_queue *queue = psd_alloc_zero(1, sizeof *queue + capacity * item_size);
    if (!queue)
        return PSD_ENOMEM;
    queue->item_size = item_size;
    queue->capacity = capacity;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->has_item, NULL);
    pthread_cond_init(&queue->has_room, NULL);
    *out = queue;
    return PSD_OK;
}

void psd_queue_destroy(struct psd_queue *queue)
{
    if (!queue)
        return;
    pthread_cond_destroy(&queue->has_room);
    pthread_cond_destroy(&queue->has_item);
    pthread_mutex_destroy(&queue->lock);
    psd_alloc_free(queue);
}

/* The n-th place counted from the oldest item. */
static unsigned char *place(struct psd_queue *queue, size_t n)
{
    size_t to_end = queue->capacity - queue->oldest;
    size_t index = n < to_end ? queue->oldest + n : n - to_end;

    return queue->items + index * queue->item_size;
}

/* Puts the item in unless the queue is full or closed; the lock is held. */
static bool copy_in(struct psd_queue *queue, const void *item)
{
    if (queue->is_closed || queue->count == queue->capacity)
        return false;
    memcpy(place(queue, queue->count), item, queue->item_size);
    queue->count++;
    pthread_cond_signal(&queue->has_item);
    return true;
}

/* Takes the oldest item out unless there is none; the lock is held. */
static bool copy_out(struct psd_queue *queue, void *item)
{
    if (queue->count == 0)
        return false;
    memcpy(item, place(queue, 0), queue->item_size);
    queue->oldest = (queue->oldest + 1) % queue->capacity;
    queue->count--;
    pthread_cond_signal(&queue->has_room);
    return true;
}

bool psd_queue_put(struct psd_queue *queue, const void *item)
{
    pthread_mutex_lock(&queue->lock);
    while (!queue->is_closed && queue->count == queue->capacity)
        pthread_cond_wait(&queue->has_room, &queue->lock);
    bool moved = copy_in(queue, item);
    pthread_mutex_unlock(&queue->lock);
    return moved;
}

bool psd_queue_take(struct psd_queue *queue, void *item)
{
    pthread_mutex_lock(&queue->lock);
    while (!queue->is_closed && queue->count == 0)
        pthread_cond_wait(&queue->has_item, &queue->lock);
    bool moved = copy_out(queue, item);
    pthread_mutex_unlock(&queue->lock);
    return moved;
}

bool psd_queue_try_put(struct psd_queue *queue, const void *item)
{
    pthread_mutex_lock(&queue->lock);
    bool moved = copy_in(queue, item);
    pthread_mutex_unlock(&queue->lock);
    return moved;
}

bool psd_queue_try_take(struct psd_queue *queue, void *item)
{
    pthread_mutex_lock(&queue->lock);
    bool moved = copy_out(queue, item);
    pthread_mutex_unlock(&queue->lock);
    return moved;
}

void psd_queue_close(struct psd_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->is_closed = true;
    pthread_cond_broadcast(&queue->has_item);
    pthread_cond_broadcast(&queue->has_room);
    pthread_mutex_unlock(&queue->lock);
}
