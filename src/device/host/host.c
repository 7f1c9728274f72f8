/* host.c - the processor and its memory as a device.
 *
 * All work is done within the call that asks for it, by the thread that calls. So streams are
 * always empty, events are always reached, and neither needs anything of its own: the calls about
 * them have nothing to do. */
#include "base/alloc.h"
#include "device/kind.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LINE = 64,           /* bytes; the widest vector register and a cache line */
    HUGE_PAGE = 2 << 20, /* bytes; memory this large is worth few entries in the TLB */
};

static size_t total_memory(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* What the kernel could give without swapping; it alone knows which caches it would drop. */
static size_t available_memory(void)
{
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");

    if (!file)
        return (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    while (fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %llu", &kilobytes) != 1)
        continue;
    fclose(file);
    return (size_t)kilobytes << 10;
}

static size_t count(void)
{
    return 1;
}

static void describe(size_t index, char *text, size_t size)
{
    (void)index;
    snprintf(text, size, "%ld processors, %.1f GiB", sysconf(_SC_NPROCESSORS_ONLN),
             (double)total_memory() / (1 << 30));
}

static psd_status host_open(struct psd_device *device)
{
    device->unified = true;
    return PSD_OK;
}

static void host_close(struct psd_device *device)
{
    (void)device;
}

static psd_status space(struct psd_device *device, size_t *unused, size_t *total)
{
    (void)device;
    *unused = available_memory();
    *total = total_memory();
    return PSD_OK;
}

/* Pinned or not is the same here: there is nobody else whose copies would have to be fast. Pages of
 * large memory come with their first touch, so the threads that share out work on it find them. The
 * advice covers whole huge pages only, so that the last one does not cost more than is used. */
static psd_status host_alloc(struct psd_device_memory *memory)
{
    bool large = memory->size >= HUGE_PAGE;

    memory->host = psd_alloc_aligned_zero(large ? HUGE_PAGE : LINE, memory->size);
    if (!memory->host)
        return PSD_ENOMEM;
    if (large)
        madvise(memory->host, memory->size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    return PSD_OK;
}

static void host_free(struct psd_device_memory *memory)
{
    psd_alloc_free(memory->host);
}

static char *at(const struct psd_device_memory *memory, size_t offset)
{
    return (char *)memory->host + offset;
}

static psd_status upload(struct psd_device_stream *stream, struct psd_device_memory *to,
                         size_t offset, const void *host, size_t size)
{
    (void)stream;
    memcpy(at(to, offset), host, size);
    return PSD_OK;
}

static psd_status download(struct psd_device_stream *stream, const struct psd_device_memory *from,
                           size_t offset, void *host, size_t size)
{
    (void)stream;
    memcpy(host, at(from, offset), size);
    return PSD_OK;
}

static psd_status copy(struct psd_device_stream *stream, struct psd_device_memory *to,
                       size_t to_offset, const struct psd_device_memory *from, size_t from_offset,
                       size_t size)
{
    (void)stream;
    memcpy(at(to, to_offset), at(from, from_offset), size);
    return PSD_OK;
}

static psd_status zero(struct psd_device_stream *stream, struct psd_device_memory *memory,
                       size_t offset, size_t size)
{
    (void)stream;
    memset(at(memory, offset), 0, size);
    return PSD_OK;
}

static psd_status stream_nothing(struct psd_device_stream *stream)
{
    (void)stream;
    return PSD_OK;
}

static void stream_destroy(struct psd_device_stream *stream)
{
    (void)stream;
}

static psd_status stream_wait(struct psd_device_stream *stream, struct psd_device_event *event)
{
    (void)stream, (void)event;
    return PSD_OK;
}

static psd_status event_nothing(struct psd_device_event *event)
{
    (void)event;
    return PSD_OK;
}

static void event_destroy(struct psd_device_event *event)
{
    (void)event;
}

static psd_status event_record(struct psd_device_event *event, struct psd_device_stream *stream)
{
    (void)event, (void)stream;
    return PSD_OK;
}

static psd_status event_query(struct psd_device_event *event, bool *reached)
{
    (void)event;
    *reached = true;
    return PSD_OK;
}

const struct psd_device_kind psd_device_kind_host = {
    .name = "host",
    .count = count,
    .describe = describe,
    .open = host_open,
    .close = host_close,
    .space = space,
    .alloc = host_alloc,
    .free = host_free,
    .stream_create = stream_nothing,
    .stream_destroy = stream_destroy,
    .upload = upload,
    .download = download,
    .copy = copy,
    .zero = zero,
    .stream_wait = stream_wait,
    .stream_finish = stream_nothing,
    .event_create = event_nothing,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_query = event_query,
    .event_wait = event_nothing,
};
