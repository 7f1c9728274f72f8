/* secret.c - pages with the advice that the kernel has for such. */
#include "base/secret.h"
#include "base/alloc.h"
#include "base/status.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct psd_secret {
    size_t size;
    size_t mapped; /* whole pages */
    void *pages;   /* owned */
};

/* Before anything is in them. */
static psd_status hide(void *pages, size_t mapped)
{
    if (madvise(pages, mapped, MADV_DONTDUMP))
        return psd_fail(PSD_ENOSUP, "a key cannot be kept out of core files: %s",
                        strerrordesc_np(errno));
    if (madvise(pages, mapped, MADV_WIPEONFORK)) /* older than Linux 4.14: */
        madvise(pages, mapped, MADV_DONTFORK);   /* a child that looks at them dies */
    mlock(pages, mapped); /* not every user may; then they can be swapped out */
    return PSD_OK;
}

static psd_status map_pages(size_t size, struct psd_secret *secret)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t mapped = size < SIZE_MAX - page ? (size / page + 1) * page : 0;
    void *pages = MAP_FAILED;

    if (mapped)
        pages = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return psd_fail(PSD_ENOMEM, "out of memory: %zu bytes for a key are not to be had", size);
    *secret = (struct psd_secret){.size = size, .mapped = mapped, .pages = pages};
    return hide(pages, mapped);
}

psd_status psd_secret_create(const void *bytes, size_t size, struct psd_secret **out)
{
    struct psd_secret *secret = psd_alloc_zero(1, sizeof *secret);

    if (!secret)
        return PSD_ENOMEM;
    psd_status status = map_pages(size, secret);
    if (status != PSD_OK) {
        psd_secret_destroy(secret);
        return status;
    }
    if (size)
        memcpy(secret->pages, bytes, size);
    *out = secret;
    return PSD_OK;
}

void psd_secret_destroy(struct psd_secret *secret)
{
    if (!secret)
        return;
    if (secret->pages) {
        explicit_bzero(secret->pages, secret->mapped);
        munmap(secret->pages, secret->mapped);
    }
    psd_alloc_free(secret);
}

const void *psd_secret_data(const struct psd_secret *secret)
{
    return secret->pages;
}

size_t psd_secret_size(const struct psd_secret *secret)
{
    return secret->size;
}
