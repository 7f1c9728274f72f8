/* rates.c - the library's own functions, with a clock around them. */
#include "comm/rates.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "comm/workload.h"
#include "math/product.h"
#include "math/rules.h"
#include "math/sum.h"

#include <math.h>

enum {
    VALUES = 8 << 20, /* of a vector */
    ROUNDS = 5,

    ROWS = 256, /* of a gradient */
    COLS = 4096,
    GRADIENT = ROWS * COLS,
    SAMPLES = 64,
};

/* What is timed, on the vectors of a measurement. */
typedef void work_function(float *const *vectors);

/* Seconds of the best round on `count` vectors of `values` ones. */
static psd_status time_best(work_function *work, size_t count, size_t values, double *out)
{
    float *all = psd_alloc_aligned(64, count * values * sizeof *all), *vectors[4];
    double best = HUGE_VAL;

    if (!all)
        return PSD_ENOMEM;
    for (size_t i = 0; i < count * values; i++)
        all[i] = 1;
    for (size_t i = 0; i < count; i++)
        vectors[i] = all + i * values;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = psd_clock_now();
        work(vectors);
        best = fmin(best, (double)(psd_clock_now() - begin) / 1e9);
    }
    psd_alloc_free(all);
    *out = best;
    return PSD_OK;
}

static void sum(float *const *vectors)
{
    psd_sum_add(vectors[0], vectors[1], VALUES);
}

static void update(float *const *vectors)
{
    struct psd_rule_step step = {.rate = 0.01F, .decay = 0.0005F, .scale = 1, .momentum = 0.9F};

    psd_rule_sgd.apply(&step, VALUES, vectors[0], vectors[1], &vectors[2]);
}

/* gradient [ROWS][COLS] = u^T v, of u [SAMPLES][ROWS] and v [SAMPLES][COLS]. */
static void rebuild(float *const *vectors)
{
    struct psd_product_block block = {
        .u = vectors[1], .u_stride = ROWS, .v = vectors[2], .count = SAMPLES};

    psd_product_rows(&block, 1, ROWS, COLS, vectors[0]);
}

psd_status psd_rates_sum(double *bytes_per_s)
{
    double seconds;

    PSD_TRY(time_best(sum, 2, VALUES, &seconds));
    *bytes_per_s = (double)VALUES * PSD_WORKLOAD_SUM_BYTES / seconds;
    return PSD_OK;
}

psd_status psd_rates_update(double *bytes_per_s)
{
    double seconds;

    PSD_TRY(time_best(update, 3, VALUES, &seconds));
    *bytes_per_s = (double)VALUES * PSD_WORKLOAD_UPDATE_BYTES / seconds;
    return PSD_OK;
}

psd_status psd_rates_rebuild(double *flops)
{
    double seconds;

    PSD_TRY(time_best(rebuild, 3, GRADIENT, &seconds));
    *flops = 2.0 * GRADIENT * SAMPLES / seconds;
    return PSD_OK;
}
