/* idx_fuzz.c - any bytes as a file of images or of labels, compressed or not. */
#include "base/alloc.h"
#include "data/idx.h"
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void read_all(const char *path, unsigned axes)
{
    struct psd_idx *idx = NULL;

    if (psd_idx_open(path, axes, &idx) != PSD_OK)
        return;
    uint8_t *item = psd_alloc(idx->item_size);
    psd_status status = item ? PSD_OK : PSD_ENOMEM;
    for (uint32_t i = 0; status == PSD_OK && i < idx->count && i < 1000; i++)
        status = psd_idx_read(idx, item);
    if (status == PSD_OK)
        (void)psd_idx_finish(idx);
    psd_alloc_free(item);
    psd_idx_close(idx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("idx", MFD_CLOEXEC);

    if (fd < 0)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size) {
        read_all(path, 1);
        read_all(path, 3);
    }
    close(fd);
    return 0;
}
