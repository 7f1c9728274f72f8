/* bytes.c - a window that moves over a file. */
#include "proto/bytes.h"
#include "base/alloc.h"
#include "base/file.h"

#include <assert.h>
#include <string.h>

enum { WINDOW = 64 << 10 };

void psd_bytes_init_memory(struct psd_bytes *bytes, const char *path, const void *data, size_t size)
{
    const uint8_t *start = data;

    *bytes = (struct psd_bytes){.path = path, .size = size, .next = start, .fd = -1};
    bytes->limit = size ? start + size : start;
}

psd_status psd_bytes_init_file(struct psd_bytes *bytes, const char *path, int fd, uint64_t size)
{
    uint8_t *window = psd_alloc(WINDOW);
    if (!window)
        return PSD_ENOMEM;
    *bytes = (struct psd_bytes){
        .path = path, .size = size, .next = window, .limit = window, .fd = fd, .window = window};
    return PSD_OK;
}

void psd_bytes_fini(struct psd_bytes *bytes)
{
    psd_alloc_free(bytes->window);
    bytes->window = NULL;
}

static psd_status move_window(struct psd_bytes *bytes)
{
    uint64_t left = bytes->size - bytes->at;
    size_t count = left < WINDOW ? (size_t)left : WINDOW;

    PSD_TRY(psd_file_read(bytes->fd, bytes->path, bytes->window, count));
    bytes->next = bytes->window;
    bytes->limit = bytes->window + count;
    return PSD_OK;
}

psd_status psd_bytes_copy(struct psd_bytes *bytes, void *to, size_t count)
{
    char *target = to;

    assert(count <= bytes->size - bytes->at);
    while (count) {
        size_t here = (size_t)(bytes->limit - bytes->next);
        size_t step = here < count ? here : count;
        if (here) {
            memcpy(target, bytes->next, step);
            bytes->next += step;
        } else if (count >= WINDOW) {
            PSD_TRY(psd_file_read(bytes->fd, bytes->path, target, count));
            step = count;
        } else {
            PSD_TRY(move_window(bytes));
        }
        bytes->at += step;
        target += step;
        count -= step;
    }
    return PSD_OK;
}

psd_status psd_bytes_one(struct psd_bytes *bytes, uint8_t *out)
{
    if (bytes->next == bytes->limit)
        PSD_TRY(move_window(bytes));
    *out = *bytes->next++;
    bytes->at++;
    return PSD_OK;
}
