/* device.h - where tensors live: a device's memory, the streams that work on it, and events.
 *
 *     psd_device_open("host", 0, &device);
 *     psd_device_alloc(device, bytes, &memory);
 *     psd_device_stream_create(device, &stream);
 *
 *     psd_device_upload(stream, memory, 0, values, bytes);       returns at once
 *     ... kernels on the same stream find the values there ...
 *     psd_device_download(stream, memory, 0, values, bytes);
 *     psd_device_stream_finish(stream);                          values may be read again
 *
 * A stream is a queue: its work is done in order, one after the other. Work on two streams has no
 * order, except through an event:
 *
 *     stream a   upload --- record(event) --- ...
 *                                 \
 *     stream b   ... --------- wait(event) --- kernel         b does not pass before a gets there
 *
 * Calls are safe from any thread, but a stream, an event or a piece of memory belongs to one
 * thread at a time. Work in flight fails late: the next call that waits for it says so, with
 * PSD_EDEVICE. */
#ifndef PSD_DEVICE_DEVICE_H
#define PSD_DEVICE_DEVICE_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>

struct psd_device;        /* an open device */
struct psd_device_memory; /* a piece of its memory, or of host memory that it reads fast */
struct psd_device_stream; /* a queue of its work */
struct psd_device_event;  /* a point in a stream that others can wait for */

struct psd_device_entry; /* its name and description: device/devices.h */

/* Opens the device `name`: a kind and an index, "host:0"; without index the first. At most
 * `budget` bytes of its memory are given out at a time; 0 is no limit but the device's own. The
 * caller owns *out until psd_device_close. PSD_ECONFIG: there is no such device; the sentence
 * says what there is. */
psd_status psd_device_open(const char *name, size_t budget, struct psd_device **out);

/* Closes a device all of whose memory, streams and events are gone. NULL is fine. */
void psd_device_close(struct psd_device *device);

/* Its name and description, as in psd_devices_list. Borrowed until close. */
const struct psd_device_entry *psd_device_entry(const struct psd_device *device);

/* Whether the host can read and write the device's memory in place (see psd_device_host). */
bool psd_device_unified(const struct psd_device *device);

/* What this handle has given out, in bytes. */
struct psd_device_usage {
    size_t budget; /* 0: no limit */
    size_t in_use; /* device memory not yet freed */
    size_t peak;   /* the most that in_use has been */
    size_t pinned; /* pinned host memory not yet freed; not part of the budget */
};
struct psd_device_usage psd_device_usage(struct psd_device *device);

/* Bytes of the whole device: those that nobody uses now, all there are. What is left of the
 * budget is psd_device_usage's to say. */
psd_status psd_device_space(struct psd_device *device, size_t *unused, size_t *total);

/* Device memory, all zero, aligned for any kernel (64 bytes at least). The caller owns *out until
 * psd_device_free. PSD_ENOMEM: the device or the budget has less. A size of 0 is
 * fine. */
psd_status psd_device_alloc(struct psd_device *device, size_t size, struct psd_device_memory **out);

/* Host memory that the device copies from and to at full speed, while the host goes on. Its
 * contents are undefined. Reached through psd_device_host; the far end of a copy, never its near one.
 * The rest as above. */
psd_status psd_device_alloc_pinned(struct psd_device *device, size_t size,
                                   struct psd_device_memory **out);

/* Gives memory back that no work in flight uses. NULL is fine. */
void psd_device_free(struct psd_device_memory *memory);

size_t psd_device_size(const struct psd_device_memory *memory);

/* Where the host reads and writes this memory, between pieces of work on it; borrowed until free.
 * NULL when it cannot; never NULL for pinned memory and on unified devices. */
void *psd_device_host(const struct psd_device_memory *memory);

/* The caller owns *out until destroy, which waits for the work in it. NULL is fine. */
psd_status psd_device_stream_create(struct psd_device *device, struct psd_device_stream **out);
void psd_device_stream_destroy(struct psd_device_stream *stream);

/* Appends a copy to the stream. `host` is borrowed until the stream has passed it; where it is not
 * pinned the call may block as long as the copy takes. PSD_EINVAL: the range does not fit, or the
 * memory is pinned or another device's. */
psd_status psd_device_upload(struct psd_device_stream *stream, struct psd_device_memory *to,
                             size_t offset, const void *host, size_t size);
psd_status psd_device_download(struct psd_device_stream *stream,
                               const struct psd_device_memory *from, size_t offset, void *host,
                               size_t size);

/* The same within the device; the two ranges must not overlap. */
psd_status psd_device_copy(struct psd_device_stream *stream, struct psd_device_memory *to,
                           size_t to_offset, const struct psd_device_memory *from,
                           size_t from_offset, size_t size);

/* Appends the writing of zero bytes. */
psd_status psd_device_zero(struct psd_device_stream *stream, struct psd_device_memory *memory,
                           size_t offset, size_t size);

/* Lets what is appended from now on wait until `event` is reached. Does not block. */
psd_status psd_device_stream_wait(struct psd_device_stream *stream, struct psd_device_event *event);

/* Blocks until all work in the stream is done. */
psd_status psd_device_stream_finish(struct psd_device_stream *stream);

/* The caller owns *out until destroy; an event may go while streams still wait for it. NULL is
 * fine. */
psd_status psd_device_event_create(struct psd_device *device, struct psd_device_event **out);
void psd_device_event_destroy(struct psd_device_event *event);

/* Moves the event to the present end of `stream`: it is reached when all work appended so far is
 * done. Streams that wait for its earlier place keep waiting for that. */
psd_status psd_device_event_record(struct psd_device_event *event,
                                   struct psd_device_stream *stream);

/* Whether the event is reached, at once; blocks until it is. An event never recorded is reached. */
psd_status psd_device_event_query(struct psd_device_event *event, bool *reached);
psd_status psd_device_event_wait(struct psd_device_event *event);

#endif
