/* rates.c - the library's own functions, with a clock around them. */
#include "comm/rates.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "comm/workload.h"
#include "math/product.h"
#include "math/rules.h"
#include "math/sum.h"

#include <math.h>

enum { SAMPLES = 64 }; /* of the factors */

/* What is worked on, and how often. */
struct sizes {
    size_t values;     /* of a vector */
    size_t rows, cols; /* of a gradient, which has more values than a factor */
    unsigned rounds;   /* at most; */
    uint64_t enough;   /* no round begins after so many nanoseconds */
};

static const struct sizes sizes_of[] = {
    [PSD_RATES_QUICK] = {256 << 10, 128, 1024, 5, 4 * PSD_CLOCK_MS},
    [PSD_RATES_THOROUGH] = {8 << 20, 256, 4096, 5, UINT64_MAX},
};

/* What is timed, on the vectors of a measurement. */
typedef void work_function(const struct sizes *sizes, float *const *vectors);

static double best_round(work_function *work, const struct sizes *sizes, float *const *vectors)
{
    uint64_t first = psd_clock_now(), now = first;
    double best = HUGE_VAL;

    for (unsigned round = 0; round < sizes->rounds && now - first < sizes->enough; round++) {
        uint64_t begin = now;
        work(sizes, vectors);
        now = psd_clock_now();
        best = fmin(best, (double)(now - begin) / 1e9);
    }
    return fmax(best, 1e-9); /* a clock may be coarse */
}

/* Seconds of the best round on `count` vectors of `values` ones. */
static psd_status time_best(work_function *work, const struct sizes *sizes, size_t count,
                            size_t values, double *out)
{
    float *all = psd_alloc_aligned(64, count * values * sizeof *all), *vectors[4];

    if (!all)
        return PSD_ENOMEM;
    for (size_t i = 0; i < count * values; i++)
        all[i] = 1;
    for (size_t i = 0; i < count; i++)
        vectors[i] = all + i * values;
    *out = best_round(work, sizes, vectors);
    psd_alloc_free(all);
    return PSD_OK;
}

static void sum(const struct sizes *sizes, float *const *vectors)
{
    psd_sum_add(vectors[0], vectors[1], sizes->values);
}

static void update(const struct sizes *sizes, float *const *vectors)
{
    struct psd_rule_step step = {.rate = 0.01F, .decay = 0.0005F, .scale = 1, .momentum = 0.9F};

    psd_rule_sgd.apply(&step, sizes->values, vectors[0], vectors[1], &vectors[2]);
}

/* gradient [rows][cols] = u^T v, of u [SAMPLES][rows] and v [SAMPLES][cols]. */
static void rebuild(const struct sizes *sizes, float *const *vectors)
{
    struct psd_product_block block = {
        .u = vectors[1], .u_stride = sizes->rows, .v = vectors[2], .count = SAMPLES};

    psd_product_rows(&block, 1, sizes->rows, sizes->cols, vectors[0]);
}

psd_status psd_rates_sum(enum psd_rates_effort effort, double *bytes_per_s)
{
    const struct sizes *sizes = &sizes_of[effort];
    double seconds;

    PSD_TRY(time_best(sum, sizes, 2, sizes->values, &seconds));
    *bytes_per_s = (double)sizes->values * PSD_WORKLOAD_SUM_BYTES / seconds;
    return PSD_OK;
}

psd_status psd_rates_update(enum psd_rates_effort effort, double *bytes_per_s)
{
    const struct sizes *sizes = &sizes_of[effort];
    double seconds;

    PSD_TRY(time_best(update, sizes, 3, sizes->values, &seconds));
    *bytes_per_s = (double)sizes->values * PSD_WORKLOAD_UPDATE_BYTES / seconds;
    return PSD_OK;
}

psd_status psd_rates_rebuild(enum psd_rates_effort effort, double *flops)
{
    const struct sizes *sizes = &sizes_of[effort];
    size_t gradient = sizes->rows * sizes->cols;
    double seconds;

    PSD_TRY(time_best(rebuild, sizes, 3, gradient, &seconds));
    *flops = 2.0 * (double)gradient * SAMPLES / seconds;
    return PSD_OK;
}

psd_status psd_rates_measure(enum psd_rates_effort effort, struct psd_comm_rates *rates)
{
    if (rates->rebuild_flops == 0)
        PSD_TRY(psd_rates_rebuild(effort, &rates->rebuild_flops));
    if (rates->update_bytes_per_s == 0)
        PSD_TRY(psd_rates_update(effort, &rates->update_bytes_per_s));
    if (rates->sum_bytes_per_s == 0)
        PSD_TRY(psd_rates_sum(effort, &rates->sum_bytes_per_s));
    return PSD_OK;
}
