/* measure.c - medians, and bytes over time. */
#include "comm/measure.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t warm_up_ns = 40 * PSD_CLOCK_MS; /* for windows and buffers to grow */

void psd_measure_round(struct psd_measure *measure, uint64_t ns)
{
    if (measure->n_rounds < PSD_MEASURE_ROUNDS)
        measure->rounds_ns[measure->n_rounds++] = ns;
}

void psd_measure_piece(struct psd_measure *measure, uint64_t now_ns, uint64_t bytes)
{
    if (measure->pieces++ == 0) {
        measure->first_ns = now_ns;
        measure->first_bytes = bytes;
    }
    measure->bytes += bytes;
    measure->last_ns = now_ns;
    if (!measure->warm_ns && now_ns - measure->first_ns >= warm_up_ns) {
        measure->warm_ns = now_ns;
        measure->warm_bytes = measure->bytes;
    }
}

void psd_measure_last(struct psd_measure *measure, uint32_t count)
{
    measure->is_last = true;
    measure->of_pieces = count;
}

bool psd_measure_is_done(const struct psd_measure *measure)
{
    return measure->n_rounds > 0 && measure->is_last && measure->pieces >= measure->of_pieces;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, by_size);
    return numbers[count / 2];
}

static uint64_t rate(uint64_t bytes, uint64_t from_ns, uint64_t to_ns)
{
    double seconds = (double)(to_ns - from_ns) / (double)PSD_CLOCK_S;
    double rate = seconds > 0 ? (double)bytes / seconds : 0;

    return rate < 1 ? 1 : rate < 1e18 ? (uint64_t)rate : (uint64_t)1e18;
}

/* What came after a moment, over the time since: after the warm-up, if that ended before the last piece. */
static uint64_t bandwidth(const struct psd_measure *measure, uint64_t begin_ns)
{
    if (measure->warm_ns && measure->last_ns > measure->warm_ns)
        return rate(measure->bytes - measure->warm_bytes, measure->warm_ns, measure->last_ns);
    if (measure->last_ns > measure->first_ns)
        return rate(measure->bytes - measure->first_bytes, measure->first_ns, measure->last_ns);
    return rate(measure->bytes, begin_ns,
                measure->last_ns > begin_ns ? measure->last_ns : begin_ns);
}

struct psd_measured psd_measure_result(const struct psd_measure *measure, uint64_t begin_ns)
{
    uint64_t rounds[PSD_MEASURE_ROUNDS];

    memcpy(rounds, measure->rounds_ns, sizeof rounds);
    return (struct psd_measured){.latency_ns = median(rounds, measure->n_rounds) / 2,
                                 .bandwidth = bandwidth(measure, begin_ns)};
}

psd_status psd_measure_pack(const struct psd_measured *measured, struct psd_pack *pack)
{
    psd_pack_u64(pack, measured->latency_ns);
    psd_pack_u64(pack, measured->bandwidth);
    return pack->status;
}

psd_status psd_measure_read(unsigned from, const void *bytes, size_t length,
                            struct psd_measured *out)
{
    struct psd_unpack unpack = {.at = bytes, .left = length};
    struct psd_measured read = {.latency_ns = psd_unpack_u64(&unpack)};

    read.bandwidth = psd_unpack_u64(&unpack);
    PSD_TRY(psd_unpack_end(&unpack, from, "a measurement"));
    if (read.bandwidth == 0)
        return psd_fail(PSD_EPEER, "rank %u says that nothing has reached it", from);
    *out = read;
    return PSD_OK;
}

psd_status psd_measure_combine(const struct psd_measured *all, unsigned count,
                               struct psd_measured *out, unsigned *slowest)
{
    uint64_t *latencies = psd_alloc_zero(count, sizeof *latencies);

    if (!latencies)
        return PSD_ENOMEM;
    *slowest = 0;
    for (unsigned i = 0; i < count; i++) {
        latencies[i] = all[i].latency_ns;
        if (all[i].bandwidth < all[*slowest].bandwidth)
            *slowest = i;
    }
    *out = (struct psd_measured){.latency_ns = median(latencies, count),
                                 .bandwidth = all[*slowest].bandwidth};
    psd_alloc_free(latencies);
    return PSD_OK;
}
