/* turn.c - in squares of eight channels by eight pixels, turned in registers. */
#include "ops/simd/turn.h"
#include "ops/simd/lanes.h"

static size_t at_most_a_vector(size_t count)
{
    return count < PSD_SIMD_LANES ? count : PSD_SIMD_LANES;
}

/* Rows become columns: pairs of rows, pairs of pairs, halves. */
PSD_SIMD_INLINE void turn(__m256 v[PSD_SIMD_LANES])
{
    __m256 pair[PSD_SIMD_LANES], four[PSD_SIMD_LANES];

    PSD_SIMD_UNROLL
    for (int i = 0; i < 8; i += 2) {
        pair[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
        pair[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
    }
    PSD_SIMD_UNROLL
    for (int i = 0; i < 8; i += 4) {
        four[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
        four[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
        four[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
        four[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
    }
    PSD_SIMD_UNROLL
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_permute2f128_ps(four[i], four[i + 4], 0x20);
        v[i + 4] = _mm256_permute2f128_ps(four[i], four[i + 4], 0x31);
    }
}

/* `rows` rows of eight values become the first columns of `columns` rows; the other columns are 0. */
PSD_SIMD_INLINE void turn_square(const float *from, size_t from_step, size_t rows, size_t columns,
                                 bool adds, float *to, size_t to_step)
{
    __m256 v[PSD_SIMD_LANES];

    PSD_SIMD_UNROLL
    for (size_t i = 0; i < PSD_SIMD_LANES; i++)
        v[i] = i < rows ? _mm256_loadu_ps(from + i * from_step) : _mm256_setzero_ps();
    turn(v);
    PSD_SIMD_UNROLL
    for (size_t i = 0; i < PSD_SIMD_LANES; i++) {
        float *at = to + i * to_step;
        if (i < columns)
            _mm256_storeu_ps(at, adds ? _mm256_add_ps(_mm256_loadu_ps(at), v[i]) : v[i]);
    }
}

/* The same where rows end before, or the result's do. */
PSD_SIMD static void turn_edge(const float *from, size_t from_step, size_t rows, size_t columns,
                               size_t width, bool adds, float *to, size_t to_step)
{
    __m256i there = psd_simd_mask(columns), wanted = psd_simd_mask(width);
    __m256 v[PSD_SIMD_LANES];

    for (size_t i = 0; i < PSD_SIMD_LANES; i++)
        v[i] = i < rows ? _mm256_maskload_ps(from + i * from_step, there) : _mm256_setzero_ps();
    turn(v);
    for (size_t i = 0; i < columns; i++) {
        float *at = to + i * to_step;
        if (adds)
            v[i] = _mm256_add_ps(_mm256_maskload_ps(at, wanted), v[i]);
        psd_simd_store(at, v[i], width);
    }
}

PSD_SIMD void psd_simd_to_pixels(const float *planes, size_t plane, size_t channels, size_t count,
                                 float *pixels, size_t step)
{
    for (size_t c = 0; c < channels; c += PSD_SIMD_LANES, planes += PSD_SIMD_LANES * plane) {
        size_t rows = at_most_a_vector(channels - c), p = 0;
        for (; p + PSD_SIMD_LANES <= count; p += PSD_SIMD_LANES)
            turn_square(planes + p, plane, rows, PSD_SIMD_LANES, false, pixels + p * step + c,
                        step);
        if (p < count)
            turn_edge(planes + p, plane, rows, count - p, PSD_SIMD_LANES, false,
                      pixels + p * step + c, step);
    }
}

PSD_SIMD void psd_simd_to_planes(const float *pixels, size_t step, size_t channels, size_t count,
                                 bool adds, float *planes, size_t plane)
{
    for (size_t c = 0; c < channels; c += PSD_SIMD_LANES, planes += PSD_SIMD_LANES * plane) {
        size_t columns = at_most_a_vector(channels - c), p = 0;
        for (; p + PSD_SIMD_LANES <= count; p += PSD_SIMD_LANES)
            turn_square(pixels + p * step + c, step, PSD_SIMD_LANES, columns, adds, planes + p,
                        plane);
        if (p < count)
            turn_edge(pixels + p * step + c, step, count - p, columns, count - p, adds, planes + p,
                      plane);
    }
}

/* Without a border at its sides an image is one long row. */
static size_t rows(const struct psd_simd_pixels *at)
{
    return at->row == at->width ? 1 : at->height;
}

void psd_simd_pixels_load(const struct psd_simd_pixels *to, const float *image, float *pixels)
{
    size_t plane = to->height * to->width, width = plane / rows(to);

    pixels += to->first * to->step;
    for (size_t h = 0; h < rows(to); h++, pixels += to->row * to->step)
        psd_simd_to_pixels(image + h * width, plane, to->channels, width, pixels, to->step);
}

void psd_simd_pixels_store(const struct psd_simd_pixels *from, const float *pixels, bool adds,
                           float *image)
{
    size_t plane = from->height * from->width, width = plane / rows(from);

    pixels += from->first * from->step;
    for (size_t h = 0; h < rows(from); h++, pixels += from->row * from->step)
        psd_simd_to_planes(pixels, from->step, from->channels, width, adds, image + h * width,
                           plane);
}
