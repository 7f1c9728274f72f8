/* dot.c - tiles of dot products: vectors times vectors, whose lanes are added up at the end.
 *
 *               b[0]      b[1]      b[2]          registers of a tile of 4 by 3:
 *     a[0] --> sum[0][0] sum[0][1] sum[0][2]      12 sums of 8 lanes, 3 b, 1 a
 *     a[1] --> sum[1][0] ...
 *     a[2] -->                                    a step: 7 loads, 12 FMAs
 *     a[3] -->
 */
#include "ops/simd/lanes.h"
#include "ops/simd/tile.h"

/* The sums of the lanes of four vectors. */
PSD_SIMD_INLINE __m128 add_lanes(__m256 a, __m256 b, __m256 c, __m256 d)
{
    __m256 sums = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    return _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps(sums, 1));
}

/* Brings four rows, or those of them there are, of one column to their places. */
PSD_SIMD_INLINE void finish(const struct psd_simd_dot *job, float *to, const float *start,
                            size_t rows, __m128 sums)
{
    __m128i mask = _mm256_castsi256_si128(psd_simd_mask(rows));

    if (job->adds)
        sums = _mm_add_ps(sums, _mm_maskload_ps(to, mask));
    else if (start)
        sums = _mm_add_ps(sums, _mm_maskload_ps(start, mask));
    _mm_maskstore_ps(to, mask, sums);
}

/* One step: eight lanes, or only those of the mask. */
PSD_SIMD_INLINE void step(const float *a, size_t a_row, const float *b, const size_t *shift,
                          size_t rows, size_t columns, bool masked, __m256i mask,
                          __m256 sum[PSD_SIMD_ROWS][PSD_SIMD_COLUMNS])
{
    __m256 x[PSD_SIMD_COLUMNS];

    PSD_SIMD_UNROLL
    for (size_t r = 0; r < columns; r++)
        x[r] = masked ? _mm256_maskload_ps(b + shift[r], mask) : _mm256_loadu_ps(b + shift[r]);
    PSD_SIMD_UNROLL
    for (size_t t = 0; t < rows; t++) {
        const float *at = a + t * a_row;
        __m256 y = masked ? _mm256_maskload_ps(at, mask) : _mm256_loadu_ps(at);
        PSD_SIMD_UNROLL
        for (size_t r = 0; r < columns; r++)
            sum[t][r] = _mm256_fmadd_ps(y, x[r], sum[t][r]);
    }
}

/* One tile; rows and columns are constants. */
PSD_SIMD_INLINE void multiply(const struct psd_simd_dot *job, const size_t *shift, size_t rows,
                              size_t columns)
{
    __m256 sum[PSD_SIMD_ROWS][PSD_SIMD_COLUMNS];
    const float *a = job->a, *b = job->b;
    const size_t a_row = job->a_row, a_step = job->a_step;
    const size_t *place = job->place, *end = place + job->steps;
    const __m256i mask = psd_simd_mask(job->tail);

    PSD_SIMD_UNROLL
    for (size_t t = 0; t < PSD_SIMD_ROWS; t++) {
        PSD_SIMD_UNROLL
        for (size_t r = 0; r < columns; r++)
            sum[t][r] = _mm256_setzero_ps();
    }
    for (; place < end; place++, a += a_step)
        step(a, a_row, b + *place, shift, rows, columns, false, mask, sum);
    if (job->tail)
        step(a, a_row, b + *place, shift, rows, columns, true, mask, sum);
    PSD_SIMD_UNROLL
    for (size_t r = 0; r < columns; r++) {
        float *to = job->to + r * job->to_step;
        finish(job, to, job->start, rows < 4 ? rows : 4,
               add_lanes(sum[0][r], sum[1][r], sum[2][r], sum[3][r]));
        if (rows > 4)
            finish(job, to + 4, job->start ? job->start + 4 : NULL, rows - 4,
                   add_lanes(sum[4][r], sum[5][r], sum[4][r], sum[5][r]));
    }
}

typedef void kernel(const struct psd_simd_dot *job, const size_t *shift);

#define SIZE(rows, columns)                                                     \
    PSD_SIMD static void dot_##rows##_##columns(const struct psd_simd_dot *job, \
                                                const size_t *shift)            \
    {                                                                           \
        multiply(job, shift, rows, columns);                                    \
    }
PSD_SIMD_SIZES(SIZE)

#define ENTRY(rows, columns) [(rows)-1][(columns)-1] = dot_##rows##_##columns,
static kernel *const kernels[PSD_SIMD_ROWS][PSD_SIMD_COLUMNS] = {PSD_SIMD_SIZES(ENTRY)};

void psd_simd_dot(const struct psd_simd_dot *job, size_t rows, const size_t *shift, size_t columns)
{
    kernels[(rows)-1][(columns)-1](job, shift);
}
