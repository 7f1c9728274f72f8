/* product.c - strips of up to three vectors, each in tiles of four rows from top to bottom. */
#include "ops/simd/product.h"
#include "ops/simd/lanes.h"
#include "ops/simd/tile.h"

enum { ROWS = 4 };

/* As many tiles as fit below `row`; rows and columns are constants. What is read in loops is copied
 * out of the job, since for all the compiler knows a store could change it. */
PSD_SIMD_INLINE void multiply(const struct psd_simd_product *job, size_t row, size_t vector,
                              size_t rows, size_t columns)
{
    const size_t a_row = job->a_row, a_step = job->a_step, b_step = job->b_step;
    const size_t to_step = job->to_step, steps = job->steps, end = job->rows;
    const bool adds = job->adds;
    const float *a = job->a + row * a_row, *b = job->b + vector * PSD_SIMD_LANES;
    float *to = job->to + row * to_step + vector * PSD_SIMD_LANES;

    for (; row + rows <= end; row += rows, a += rows * a_row, to += rows * to_step) {
        __m256 sum[ROWS][PSD_SIMD_COLUMNS];
        PSD_SIMD_UNROLL
        for (size_t t = 0; t < rows; t++) {
            PSD_SIMD_UNROLL
            for (size_t v = 0; v < columns; v++)
                sum[t][v] = _mm256_setzero_ps();
        }
        const float *number = a, *x = b;
        for (size_t s = steps; s > 0; s--, number += a_step, x += b_step) {
            PSD_SIMD_UNROLL
            for (size_t t = 0; t < rows; t++) {
                __m256 y = _mm256_broadcast_ss(number + t * a_row);
                PSD_SIMD_UNROLL
                for (size_t v = 0; v < columns; v++)
                    sum[t][v] =
                        _mm256_fmadd_ps(y, _mm256_load_ps(x + v * PSD_SIMD_LANES), sum[t][v]);
            }
        }
        PSD_SIMD_UNROLL
        for (size_t t = 0; t < rows; t++) {
            PSD_SIMD_UNROLL
            for (size_t v = 0; v < columns; v++) {
                float *at = to + t * to_step + v * PSD_SIMD_LANES;
                _mm256_store_ps(at,
                                adds ? _mm256_add_ps(_mm256_load_ps(at), sum[t][v]) : sum[t][v]);
            }
        }
    }
}

/* Tiles of four rows, then one of those that are left. */
PSD_SIMD_INLINE void strip(const struct psd_simd_product *job, size_t vector, size_t columns)
{
    size_t left = job->rows % ROWS, row = job->rows - left;

    multiply(job, 0, vector, ROWS, columns);
    if (left == 3)
        multiply(job, row, vector, 3, columns);
    else if (left == 2)
        multiply(job, row, vector, 2, columns);
    else if (left == 1)
        multiply(job, row, vector, 1, columns);
}

PSD_SIMD void psd_simd_product(const struct psd_simd_product *job)
{
    size_t strips = psd_simd_pieces(job->vectors, PSD_SIMD_COLUMNS);

    for (size_t i = 0; i < strips; i++) {
        size_t vector = psd_simd_piece(job->vectors, strips, i);
        size_t columns = psd_simd_piece(job->vectors, strips, i + 1) - vector;
        if (columns == 3)
            strip(job, vector, 3);
        else if (columns == 2)
            strip(job, vector, 2);
        else
            strip(job, vector, 1);
    }
}
