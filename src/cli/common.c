/* common.c - pages that a fork does not copy. */
#include "cli/common.h"
#include "base/status.h"

#include <sys/mman.h>

void *psd_common_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory != MAP_FAILED)
        return memory;
    psd_fail(PSD_ENOMEM, "out of memory: %zu bytes to share are not to be had", bytes);
    return NULL;
}

void psd_common_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}
