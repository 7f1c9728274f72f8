#include "ops/simd/rows.h"
#include "ops/simd/lanes.h"

enum {
    PAIR = 2 * PSD_SIMD_LANES,
    BLOCK = 512 * PSD_SIMD_LANES /* values whose sums are floats */
};

/* --- sums --------------------------------------------------------------------------------------*/

struct sums {
    __m256 single, product;
};

/* Lanes that are not in the mask add nothing. */
PSD_SIMD_INLINE void add_lanes(struct sums *sums, __m256 a, __m256 b, __m256i mask)
{
    __m256 kept = _mm256_and_ps(a, _mm256_castsi256_ps(mask));

    sums->single = _mm256_add_ps(sums->single, kept);
    sums->product = _mm256_fmadd_ps(kept, b, sums->product);
}

PSD_SIMD_INLINE double total(__m256 lanes)
{
    float each[PSD_SIMD_LANES];
    double sum = 0;

    _mm256_storeu_ps(each, lanes);
    for (int i = 0; i < PSD_SIMD_LANES; i++)
        sum += (double)each[i];
    return sum;
}

PSD_SIMD static void add_block(const struct psd_simd_rows *rows, size_t begin, size_t end,
                               double out[2])
{
    const __m256 from_a = _mm256_set1_ps(rows->from_a), from_b = _mm256_set1_ps(rows->from_b);
    const __m256i all = _mm256_set1_epi32(-1);
    struct sums even = {_mm256_setzero_ps(), _mm256_setzero_ps()}, odd = even;
    size_t i = begin;

    for (; i + PAIR <= end; i += PAIR) {
        const float *a = rows->a + i, *b = rows->b + i;
        add_lanes(&even, _mm256_sub_ps(_mm256_loadu_ps(a), from_a),
                  _mm256_sub_ps(_mm256_loadu_ps(b), from_b), all);
        add_lanes(&odd, _mm256_sub_ps(_mm256_loadu_ps(a + PSD_SIMD_LANES), from_a),
                  _mm256_sub_ps(_mm256_loadu_ps(b + PSD_SIMD_LANES), from_b), all);
    }
    for (; i < end; i += PSD_SIMD_LANES) {
        __m256i mask = psd_simd_mask(end - i);
        add_lanes(&even, _mm256_sub_ps(_mm256_maskload_ps(rows->a + i, mask), from_a),
                  _mm256_sub_ps(_mm256_maskload_ps(rows->b + i, mask), from_b), mask);
    }
    out[0] += total(_mm256_add_ps(even.single, odd.single));
    out[1] += total(_mm256_add_ps(even.product, odd.product));
}

void psd_simd_row_sums(const struct psd_simd_rows *rows, double sums[2])
{
    for (size_t begin = 0; begin < rows->count; begin += BLOCK) {
        size_t left = rows->count - begin;
        add_block(rows, begin, begin + (left < BLOCK ? left : BLOCK), sums);
    }
}

/* --- lines -------------------------------------------------------------------------------------*/

struct lanes_line {
    __m256 from_a, from_b, by_a, by_b, plus;
};

PSD_SIMD_INLINE __m256 line_at(const struct lanes_line *line, __m256 a, __m256 b, bool both)
{
    __m256 y = _mm256_fmadd_ps(line->by_a, _mm256_sub_ps(a, line->from_a), line->plus);

    return both ? _mm256_fmadd_ps(line->by_b, _mm256_sub_ps(b, line->from_b), y) : y;
}

PSD_SIMD_INLINE void draw(const struct psd_simd_rows *rows, const struct lanes_line *line,
                          float *to, bool both, bool adds)
{
    const __m256 zero = _mm256_setzero_ps();
    size_t i = 0;

    for (; i + PSD_SIMD_LANES <= rows->count; i += PSD_SIMD_LANES) {
        __m256 y = line_at(line, _mm256_loadu_ps(rows->a + i),
                           both ? _mm256_loadu_ps(rows->b + i) : zero, both);
        _mm256_storeu_ps(to + i, adds ? _mm256_add_ps(_mm256_loadu_ps(to + i), y) : y);
    }
    if (i < rows->count) {
        __m256i mask = psd_simd_mask(rows->count - i);
        __m256 y = line_at(line, _mm256_maskload_ps(rows->a + i, mask),
                           both ? _mm256_maskload_ps(rows->b + i, mask) : zero, both);
        if (adds)
            y = _mm256_add_ps(_mm256_maskload_ps(to + i, mask), y);
        _mm256_maskstore_ps(to + i, mask, y);
    }
}

PSD_SIMD static void draw_row(const struct psd_simd_rows *rows, const struct psd_simd_line *line,
                              float *to)
{
    const struct lanes_line lanes = {_mm256_set1_ps(rows->from_a), _mm256_set1_ps(rows->from_b),
                                     _mm256_set1_ps(line->by_a), _mm256_set1_ps(line->by_b),
                                     _mm256_set1_ps(line->plus)};

    if (rows->b && line->adds)
        draw(rows, &lanes, to, true, true);
    else if (rows->b)
        draw(rows, &lanes, to, true, false);
    else if (line->adds)
        draw(rows, &lanes, to, false, true);
    else
        draw(rows, &lanes, to, false, false);
}

void psd_simd_row_line(const struct psd_simd_rows *rows, const struct psd_simd_line *line,
                       float *to)
{
    draw_row(rows, line, to);
}
