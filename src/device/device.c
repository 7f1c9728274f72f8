/* device.c - what all kinds of device share: checks and books; the work is the kind's. */
#include "device/device.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/devices.h"
#include "device/kind.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* --- opening ----------------------------------------------------------------------------------*/

psd_status psd_device_open(const char *name, size_t budget, struct psd_device **out)
{
    const struct psd_device_kind *kind = NULL;
    size_t index = 0;

    PSD_TRY(psd_devices_parse(name, &kind, &index));
    struct psd_device *device = psd_alloc_zero(1, sizeof *device);
    if (!device)
        return PSD_ENOMEM;
    device->kind = kind;
    device->index = index;
    device->usage.budget = budget;
    psd_devices_describe(kind, index, &device->entry);
    psd_status status = kind->open(device);
    if (status != PSD_OK) {
        psd_alloc_free(device);
        return status;
    }
    pthread_mutex_init(&device->lock, NULL);
    *out = device;
    return PSD_OK;
}

void psd_device_close(struct psd_device *device)
{
    if (!device)
        return;
    assert(atomic_load(&device->children) == 0);
    device->kind->close(device);
    pthread_mutex_destroy(&device->lock);
    psd_alloc_free(device);
}

const struct psd_device_entry *psd_device_entry(const struct psd_device *device)
{
    return &device->entry;
}

bool psd_device_unified(const struct psd_device *device)
{
    return device->unified;
}

struct psd_device_usage psd_device_usage(struct psd_device *device)
{
    pthread_mutex_lock(&device->lock);
    struct psd_device_usage usage = device->usage;
    pthread_mutex_unlock(&device->lock);
    return usage;
}

psd_status psd_device_space(struct psd_device *device, size_t *unused, size_t *total)
{
    return device->kind->space(device, unused, total);
}

/* --- the books --------------------------------------------------------------------------------*/

/* Enters memory that is about to be found, so that two threads cannot both get the last of the
 * budget. */
static psd_status reserve(struct psd_device *device, size_t size, bool pinned)
{
    struct psd_device_usage *usage = &device->usage;
    psd_status status = PSD_OK;

    pthread_mutex_lock(&device->lock);
    if (pinned)
        usage->pinned += size;
    else if (usage->budget && size > usage->budget - usage->in_use)
        status = psd_fail(PSD_ENOMEM,
                          "%s: %zu bytes do not fit: %zu of the budget of %zu bytes are in use",
                          device->entry.name, size, usage->in_use, usage->budget);
    else
        usage->in_use += size;
    pthread_mutex_unlock(&device->lock);
    return status;
}

static void release(struct psd_device *device, size_t size, bool pinned)
{
    pthread_mutex_lock(&device->lock);
    *(pinned ? &device->usage.pinned : &device->usage.in_use) -= size;
    pthread_mutex_unlock(&device->lock);
}

/* The peak counts what was really there, not what was asked for in vain. */
static void note_peak(struct psd_device *device)
{
    struct psd_device_usage *usage = &device->usage;

    pthread_mutex_lock(&device->lock);
    if (usage->peak < usage->in_use)
        usage->peak = usage->in_use;
    pthread_mutex_unlock(&device->lock);
}

/* --- memory -----------------------------------------------------------------------------------*/

/* Reserves, then lets the kind find the bytes; a kind is never asked for none. */
static psd_status find_memory(struct psd_device_memory *memory, size_t size)
{
    struct psd_device *device = memory->device;

    if (size > PTRDIFF_MAX)
        return psd_fail(PSD_ENOMEM, "%s: %zu bytes are more than any device has",
                        device->entry.name, size);
    PSD_TRY(reserve(device, size, memory->pinned));
    memory->size = size ? size : 1;
    psd_status status = device->kind->alloc(memory);
    memory->size = size;
    if (status != PSD_OK)
        release(device, size, memory->pinned);
    else
        note_peak(device);
    return status;
}

static psd_status alloc(struct psd_device *device, size_t size, bool pinned,
                        struct psd_device_memory **out)
{
    struct psd_device_memory *memory = psd_alloc_zero(1, sizeof *memory);

    if (!memory)
        return PSD_ENOMEM;
    memory->device = device;
    memory->pinned = pinned;
    psd_status status = find_memory(memory, size);
    if (status != PSD_OK) {
        psd_alloc_free(memory);
        return status;
    }
    atomic_fetch_add(&device->children, 1);
    *out = memory;
    return PSD_OK;
}

psd_status psd_device_alloc(struct psd_device *device, size_t size, struct psd_device_memory **out)
{
    return alloc(device, size, false, out);
}

psd_status psd_device_alloc_pinned(struct psd_device *device, size_t size,
                                   struct psd_device_memory **out)
{
    return alloc(device, size, true, out);
}

void psd_device_free(struct psd_device_memory *memory)
{
    if (!memory)
        return;
    memory->device->kind->free(memory);
    release(memory->device, memory->size, memory->pinned);
    atomic_fetch_sub(&memory->device->children, 1);
    psd_alloc_free(memory);
}

size_t psd_device_size(const struct psd_device_memory *memory)
{
    return memory->size;
}

void *psd_device_host(const struct psd_device_memory *memory)
{
    return memory->host;
}

/* --- streams ----------------------------------------------------------------------------------*/

psd_status psd_device_stream_create(struct psd_device *device, struct psd_device_stream **out)
{
    struct psd_device_stream *stream = psd_alloc_zero(1, sizeof *stream);

    if (!stream)
        return PSD_ENOMEM;
    stream->device = device;
    psd_status status = device->kind->stream_create(stream);
    if (status != PSD_OK) {
        psd_alloc_free(stream);
        return status;
    }
    atomic_fetch_add(&device->children, 1);
    *out = stream;
    return PSD_OK;
}

void psd_device_stream_destroy(struct psd_device_stream *stream)
{
    if (!stream)
        return;
    stream->device->kind->stream_destroy(stream);
    atomic_fetch_sub(&stream->device->children, 1);
    psd_alloc_free(stream);
}

/* Whether the stream may touch these bytes; `what` begins the sentence if not. */
static psd_status check_range(const struct psd_device_stream *stream,
                              const struct psd_device_memory *memory, size_t offset, size_t size,
                              const char *what)
{
    if (memory->device != stream->device)
        return psd_fail(PSD_EINVAL, "%s: the memory is of %s, the stream of %s opened apart", what,
                        memory->device->entry.name, stream->device->entry.name);
    if (memory->pinned)
        return psd_fail(PSD_EINVAL, "%s: pinned memory is reached through psd_device_host", what);
    if (offset > memory->size || size > memory->size - offset)
        return psd_fail(PSD_EINVAL, "%s: %zu bytes from %zu on do not fit into %zu", what, size,
                        offset, memory->size);
    return PSD_OK;
}

psd_status psd_device_upload(struct psd_device_stream *stream, struct psd_device_memory *to,
                             size_t offset, const void *host, size_t size)
{
    PSD_TRY(check_range(stream, to, offset, size, "upload"));
    return size ? stream->device->kind->upload(stream, to, offset, host, size) : PSD_OK;
}

psd_status psd_device_download(struct psd_device_stream *stream,
                               const struct psd_device_memory *from, size_t offset, void *host,
                               size_t size)
{
    PSD_TRY(check_range(stream, from, offset, size, "download"));
    return size ? stream->device->kind->download(stream, from, offset, host, size) : PSD_OK;
}

psd_status psd_device_copy(struct psd_device_stream *stream, struct psd_device_memory *to,
                           size_t to_offset, const struct psd_device_memory *from,
                           size_t from_offset, size_t size)
{
    PSD_TRY(check_range(stream, to, to_offset, size, "copy"));
    PSD_TRY(check_range(stream, from, from_offset, size, "copy"));
    if (to == from && to_offset < from_offset + size && from_offset < to_offset + size)
        return psd_fail(PSD_EINVAL, "copy: %zu bytes at %zu and at %zu overlap", size, from_offset,
                        to_offset);
    if (size == 0)
        return PSD_OK;
    return stream->device->kind->copy(stream, to, to_offset, from, from_offset, size);
}

psd_status psd_device_zero(struct psd_device_stream *stream, struct psd_device_memory *memory,
                           size_t offset, size_t size)
{
    PSD_TRY(check_range(stream, memory, offset, size, "zero"));
    return size ? stream->device->kind->zero(stream, memory, offset, size) : PSD_OK;
}

static psd_status check_event(const struct psd_device_event *event,
                              const struct psd_device_stream *stream)
{
    if (event->device != stream->device)
        return psd_fail(PSD_EINVAL, "the event is of %s, the stream of %s opened apart",
                        event->device->entry.name, stream->device->entry.name);
    return PSD_OK;
}

psd_status psd_device_stream_wait(struct psd_device_stream *stream, struct psd_device_event *event)
{
    PSD_TRY(check_event(event, stream));
    return stream->device->kind->stream_wait(stream, event);
}

psd_status psd_device_stream_finish(struct psd_device_stream *stream)
{
    return stream->device->kind->stream_finish(stream);
}

/* --- events -----------------------------------------------------------------------------------*/

psd_status psd_device_event_create(struct psd_device *device, struct psd_device_event **out)
{
    struct psd_device_event *event = psd_alloc_zero(1, sizeof *event);

    if (!event)
        return PSD_ENOMEM;
    event->device = device;
    psd_status status = device->kind->event_create(event);
    if (status != PSD_OK) {
        psd_alloc_free(event);
        return status;
    }
    atomic_fetch_add(&device->children, 1);
    *out = event;
    return PSD_OK;
}

void psd_device_event_destroy(struct psd_device_event *event)
{
    if (!event)
        return;
    event->device->kind->event_destroy(event);
    atomic_fetch_sub(&event->device->children, 1);
    psd_alloc_free(event);
}

psd_status psd_device_event_record(struct psd_device_event *event, struct psd_device_stream *stream)
{
    PSD_TRY(check_event(event, stream));
    return event->device->kind->event_record(event, stream);
}

psd_status psd_device_event_query(struct psd_device_event *event, bool *reached)
{
    return event->device->kind->event_query(event, reached);
}

psd_status psd_device_event_wait(struct psd_device_event *event)
{
    return event->device->kind->event_wait(event);
}
