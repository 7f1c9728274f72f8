/* crc32c.c - the ways that are compiled in; the only place that asks which. */
#include "base/crc32c.h"
#include "base/crc32c_way.h"

const struct psd_crc32c_way *const psd_crc32c_ways[] = {
/* best first */
#if defined(__x86_64__)
    &psd_crc32c_avx2,
    &psd_crc32c_sse42,
#endif
    &psd_crc32c_plain, /* runs anywhere */
    NULL,
};

/* The best that this processor can run. */
static const struct psd_crc32c_way *choose(void)
{
    for (size_t i = 0; psd_crc32c_ways[i]; i++) {
        if (psd_crc32c_ways[i]->usable())
            return psd_crc32c_ways[i];
    }
    return &psd_crc32c_plain;
}

uint32_t psd_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    return ~choose()->update(~crc, data, bytes);
}
