/* outer.c - tiles of outer products: numbers times vectors.
 *
 *                      x[0]      x[1]      x[2]          registers of a tile of 4 by 3:
 *     scale[0]   -->  sum[0][0] sum[0][1] sum[0][2]      12 sums, 3 x, 1 scale
 *     scale[1]   -->  sum[1][0] ...
 *     scale[2]   -->                                     a step: 3 loads, 4 broadcasts, 12 FMAs,
 *     scale[3]   -->                                     so 6 cycles if loads keep up, and they do
 */
#include "ops/simd/lanes.h"
#include "ops/simd/tile.h"

PSD_SIMD_INLINE __m256 load(const float *at, const size_t quad[2], bool split)
{
    if (!split)
        return _mm256_loadu_ps(at + quad[0]);
    __m256 low = _mm256_castps128_ps256(_mm_loadu_ps(at + quad[0]));
    return _mm256_insertf128_ps(low, _mm_loadu_ps(at + quad[1]), 1);
}

PSD_SIMD_INLINE void store(float *at, const size_t quad[2], bool split, __m256 value)
{
    if (!split) {
        _mm256_storeu_ps(at + quad[0], value);
    } else {
        _mm_storeu_ps(at + quad[0], _mm256_castps256_ps128(value));
        _mm_storeu_ps(at + quad[1], _mm256_extractf128_ps(value, 1));
    }
}

/* One tile; rows, columns and split are constants. */
PSD_SIMD_INLINE void multiply(const struct psd_simd_outer *job, const struct psd_simd_place *place,
                              size_t rows, size_t columns, bool split)
{
    __m256 sum[PSD_SIMD_ROWS][PSD_SIMD_COLUMNS];

    PSD_SIMD_UNROLL
    for (size_t t = 0; t < rows; t++) {
        __m256 start = job->start ? _mm256_broadcast_ss(job->start + t) : _mm256_setzero_ps();
        PSD_SIMD_UNROLL
        for (size_t p = 0; p < columns; p++)
            sum[t][p] = job->adds ? load(job->to + t * job->to_step, place[p].to, split) : start;
    }
    const float *scale = job->scale;
    const size_t *shift = job->shift, *end = shift + job->steps;
    for (; shift < end; shift++, scale += job->scale_step) {
        __m256 x[PSD_SIMD_COLUMNS];
        PSD_SIMD_UNROLL
        for (size_t p = 0; p < columns; p++)
            x[p] = load(job->from + *shift, place[p].from, split);
        PSD_SIMD_UNROLL
        for (size_t t = 0; t < rows; t++) {
            __m256 number = _mm256_broadcast_ss(scale + t);
            PSD_SIMD_UNROLL
            for (size_t p = 0; p < columns; p++)
                sum[t][p] = _mm256_fmadd_ps(number, x[p], sum[t][p]);
        }
    }
    PSD_SIMD_UNROLL
    for (size_t t = 0; t < rows; t++) {
        PSD_SIMD_UNROLL
        for (size_t p = 0; p < columns; p++)
            store(job->to + t * job->to_step, place[p].to, split, sum[t][p]);
    }
}

typedef void kernel(const struct psd_simd_outer *job, const struct psd_simd_place *place);

/* The kernels of one size: whole_4_3 and split_4_3. */
#define SIZE(rows, columns)                                                           \
    PSD_SIMD static void whole_##rows##_##columns(const struct psd_simd_outer *job,   \
                                                  const struct psd_simd_place *place) \
    {                                                                                 \
        multiply(job, place, rows, columns, false);                                   \
    }                                                                                 \
    PSD_SIMD static void split_##rows##_##columns(const struct psd_simd_outer *job,   \
                                                  const struct psd_simd_place *place) \
    {                                                                                 \
        multiply(job, place, rows, columns, true);                                    \
    }
PSD_SIMD_SIZES(SIZE)

#define WHOLE(rows, columns) [(rows)-1][(columns)-1] = whole_##rows##_##columns,
#define SPLIT(rows, columns) [(rows)-1][(columns)-1] = split_##rows##_##columns,
static kernel *const kernels[2][PSD_SIMD_ROWS][PSD_SIMD_COLUMNS] = {
    {PSD_SIMD_SIZES(WHOLE)},
    {PSD_SIMD_SIZES(SPLIT)},
};

void psd_simd_outer(const struct psd_simd_outer *job, size_t rows, size_t columns,
                    const struct psd_simd_place *places, size_t count, bool split)
{
    size_t pieces = psd_simd_pieces(count, columns);
    size_t width = pieces ? count / pieces : 0, wider = pieces ? count % pieces : 0;

    for (size_t i = 0; i < pieces; i++) {
        size_t here = i < wider ? width + 1 : width;
        kernels[split][rows - 1][here - 1](job, places);
        places += here;
    }
}

/* Half cycles that tiles of one width take for a step of `rows` rows at `count` places: as many as
 * FMAs or loads, and at least the FMA's latency. */
static size_t cost(size_t rows, size_t count, size_t columns)
{
    size_t pieces = psd_simd_pieces(rows, psd_simd_rows(columns));
    size_t strips = psd_simd_pieces(count, columns), sum = 0;

    for (size_t i = 0; i < pieces; i++) {
        size_t height = psd_simd_piece(rows, pieces, i + 1) - psd_simd_piece(rows, pieces, i);
        for (size_t j = 0; j < strips; j++) {
            size_t width = psd_simd_piece(count, strips, j + 1) - psd_simd_piece(count, strips, j);
            size_t fmas = height * width, loads = height + width + 1;
            size_t busy = fmas > loads ? fmas : loads;
            sum += busy > 8 ? busy : 8;
        }
    }
    return sum;
}

size_t psd_simd_outer_columns(size_t rows, size_t whole, size_t split)
{
    size_t least = SIZE_MAX, best = 0;

    for (size_t columns = PSD_SIMD_COLUMNS; columns > 0; columns--) {
        size_t cycles = cost(rows, whole, columns) + cost(rows, split, columns);
        if (cycles < least) {
            least = cycles;
            best = columns;
        }
    }
    return best;
}
