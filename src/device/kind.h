/* kind.h - the contract between the device room and a kind of device, for whoever writes the next
 * one.
 *
 *     device.c                                host/host.c, cuda/cuda.c, ...
 *     checks arguments, keeps the books  -->  struct psd_device_kind: does the work
 *
 * A kind sees arguments that are already checked: ranges fit, memory and streams are its own, no
 * size is 0. It keeps its own things (a context, a cl_mem, a cudaStream_t) in the fields called
 * native, which also the kernels of its backend in ops/ read. To add one, write <name>/<name>.c,
 * declare it below and add its line to devices.c; device_test.c then runs on it. */
#ifndef PSD_DEVICE_KIND_H
#define PSD_DEVICE_KIND_H

#include "device/device.h"
#include "device/devices.h"

#include <pthread.h>
#include <stdatomic.h>

struct psd_device {
    const struct psd_device_kind *kind; /* borrowed for ever */
    size_t index;                       /* among the devices of its kind */
    struct psd_device_entry entry;
    void *native; /* the kind's own, from open to close; may stay NULL */
    bool unified; /* set by open: every alloc sets host */

    atomic_size_t children; /* memory, streams and events that are not yet gone */
    pthread_mutex_t lock;   /* guards usage */
    struct psd_device_usage usage;
};

struct psd_device_memory {
    struct psd_device *device; /* borrowed; outlives us */
    size_t size;               /* as asked for */
    bool pinned;               /* host memory for copies */
    void *native;              /* the kind's own, from alloc to free */
    void *host;                /* where the host touches it, or NULL */
};

struct psd_device_stream {
    struct psd_device *device; /* borrowed; outlives us */
    void *native;              /* the kind's own, from stream_create to stream_destroy */
};

struct psd_device_event {
    struct psd_device *device; /* borrowed; outlives us */
    void *native;              /* the kind's own, from event_create to event_destroy */
};

/* No slot may be NULL. One that fails has put its sentence into psd_error, owns nothing and has
 * changed nothing; its status is PSD_ENOMEM for memory and PSD_EDEVICE for the rest. Slots are
 * called from any thread, for one stream, event or memory from one at a time. None but those that
 * say so may block. */
struct psd_device_kind {
    const char *name; /* "cuda" in cuda:1; letters only */

    /* How many devices of the kind there are; 0 also when there is no driver. Called often: asks
     * the driver once and remembers. May block. */
    size_t (*count)(void);

    /* A line for people about device `index` < count, without opening it, cut to fit `size`. */
    void (*describe)(size_t index, char *text, size_t size);

    /* Opens device->index, sets `unified` and what it likes of `native`. May block. close is called
     * once, when memory, streams and events are gone, and may block. */
    psd_status (*open)(struct psd_device *device);
    void (*close)(struct psd_device *device);

    /* Bytes of the whole device that nobody uses, and all there are. */
    psd_status (*space)(struct psd_device *device, size_t *unused, size_t *total);

    /* Finds memory->size bytes that are zero, or, if memory->pinned, any in host memory; sets `native`
     * as it likes, and `host` if the host can touch them. May block. free is called once, when no work uses the
     * memory, and may block. */
    psd_status (*alloc)(struct psd_device_memory *memory);
    void (*free)(struct psd_device_memory *memory);

    /* Makes a queue. stream_destroy is called once and blocks until its work is done. */
    psd_status (*stream_create)(struct psd_device_stream *stream);
    void (*stream_destroy)(struct psd_device_stream *stream);

    /* Append to the queue and return. `host` stays valid until the queue has passed it; it may be
     * any host memory, and may be used up before the call returns. upload and download may block
     * if `host` is not pinned. The ranges of a copy do not overlap. */
    psd_status (*upload)(struct psd_device_stream *stream, struct psd_device_memory *to,
                         size_t offset, const void *host, size_t size);
    psd_status (*download)(struct psd_device_stream *stream, const struct psd_device_memory *from,
                           size_t offset, void *host, size_t size);
    psd_status (*copy)(struct psd_device_stream *stream, struct psd_device_memory *to,
                       size_t to_offset, const struct psd_device_memory *from, size_t from_offset,
                       size_t size);
    psd_status (*zero)(struct psd_device_stream *stream, struct psd_device_memory *memory,
                       size_t offset, size_t size);

    /* Lets later work of the queue wait for the event's present place, even when the event moves or
     * goes afterwards. */
    psd_status (*stream_wait)(struct psd_device_stream *stream, struct psd_device_event *event);

    /* Blocks until the queue is empty; reports what failed in it. */
    psd_status (*stream_finish)(struct psd_device_stream *stream);

    /* Makes an event that counts as reached until it is recorded. event_destroy is called once and
     * does not wait for anybody. */
    psd_status (*event_create)(struct psd_device_event *event);
    void (*event_destroy)(struct psd_device_event *event);

    /* Moves the event to the end of the queue; `stream` is of the same device. */
    psd_status (*event_record)(struct psd_device_event *event, struct psd_device_stream *stream);

    /* Whether it is reached. event_wait blocks until it is. */
    psd_status (*event_query)(struct psd_device_event *event, bool *reached);
    psd_status (*event_wait)(struct psd_device_event *event);
};

/* The kinds; each is defined in its folder. */
extern const struct psd_device_kind psd_device_kind_host;

#endif
