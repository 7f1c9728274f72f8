/* landing.c - parts of a payload, where they go and what is done with them. */
#include "net/tcp/landing.h"
#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/status.h"
#include "math/sum.h"

#include <string.h>

psd_status psd_landing_init(struct psd_landing *landing, bool has_crc)
{
    *landing = (struct psd_landing){.has_crc = has_crc};
    landing->scratch = psd_alloc_aligned(64, PSD_LANDING_ADDED);
    return landing->scratch ? PSD_OK : PSD_ENOMEM;
}

void psd_landing_fini(struct psd_landing *landing)
{
    psd_alloc_free(landing->scratch);
    landing->scratch = NULL;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

psd_status psd_landing_check(const struct psd_place *place, size_t bytes)
{
    size_t first = place->spans[0].bytes, second = place->spans[1].bytes;

    if (first > bytes || second != bytes - first)
        return psd_fail(PSD_EINVAL, "a payload of %zu bytes was given a place of %zu and %zu bytes",
                        bytes, first, second);
    if (first && second && !place->spans[0].data != !place->spans[1].data)
        return psd_fail(PSD_EINVAL,
                        "a payload of %zu bytes was given a place with memory for half of it",
                        bytes);
    if (place->add && (first % sizeof(float) || second % sizeof(float)))
        return psd_fail(PSD_EINVAL,
                        "a payload of %zu bytes cannot be added to a place of %zu and %zu bytes: a "
                        "border cuts a float",
                        bytes, first, second);
    return PSD_OK;
}

psd_status psd_landing_start(struct psd_landing *landing, const struct psd_place *place,
                             size_t bytes)
{
    PSD_TRY(psd_landing_check(place, bytes));
    landing->place = *place;
    landing->is_nowhere = !place->spans[place->spans[0].bytes == 0].data;
    landing->bytes = bytes;
    landing->at = landing->odd = 0;
    landing->crc = 0;
    return PSD_OK;
}

/* The memory of `count` bytes of the place from `at` on: one piece or two. */
static int pieces_of(const struct psd_place *place, size_t at, size_t count, struct iovec out[2])
{
    int pieces = 0;

    for (size_t i = 0; i < 2 && count > 0; i++) {
        size_t bytes = place->spans[i].bytes;
        size_t part = at < bytes ? least(bytes - at, count) : 0;
        if (part > 0)
            out[pieces++] = (struct iovec){(unsigned char *)place->spans[i].data + at, part};
        at = at < bytes ? 0 : at - bytes;
        count -= part;
    }
    return pieces;
}

int psd_landing_room(const struct psd_landing *landing, struct iovec to[2])
{
    size_t left = landing->bytes - landing->at;

    if (left == 0)
        return 0;
    if (!landing->place.add && !landing->is_nowhere)
        return pieces_of(&landing->place, landing->at, least(left, PSD_LANDING_STORED), to);
    to[0] = (struct iovec){(unsigned char *)landing->scratch + landing->odd,
                           least(left, PSD_LANDING_ADDED - landing->odd)};
    return 1;
}

/* Adds the whole floats of the scratch; what is left of one that was cut moves to the front. */
static void add(struct psd_landing *landing, size_t count)
{
    size_t there = landing->odd + count, whole = there - there % sizeof(float);
    struct iovec into[2];
    const float *from = landing->scratch;
    int pieces = pieces_of(&landing->place, landing->at - landing->odd, whole, into);

    for (int i = 0; i < pieces; i++) {
        size_t floats = into[i].iov_len / sizeof *from;
        psd_sum_add(into[i].iov_base, from, floats);
        from += floats;
    }
    landing->odd = there - whole;
    memmove(landing->scratch, from, landing->odd);
}

void psd_landing_take(struct psd_landing *landing, size_t count)
{
    struct iovec part[2];
    int pieces = psd_landing_room(landing, part);
    size_t left = count;

    for (int i = 0; i < pieces && landing->has_crc; i++) {
        size_t bytes = least(part[i].iov_len, left);
        landing->crc = psd_crc32c(landing->crc, part[i].iov_base, bytes);
        left -= bytes;
    }
    if (landing->place.add && !landing->is_nowhere)
        add(landing, count);
    landing->at += count;
}

size_t psd_landing_copy(struct psd_landing *landing, const unsigned char *bytes, size_t count)
{
    struct iovec to[2] = {{0}};
    size_t done = 0;

    while (done < count && psd_landing_room(landing, to) > 0) {
        size_t part = least(to[0].iov_len, count - done);
        memcpy(to[0].iov_base, bytes + done, part);
        psd_landing_take(landing, part);
        done += part;
    }
    return done;
}
