/* winograd.c - the three matrices and their transposes, along one axis and then along the other.
 *
 * With a = 2/3 and b = 3/2, so a * b = 1, and s = a^2 + b^2:
 *
 *     point    A' (2 x 6)   B' (6 x 6), of x[0..5]                  G (6 x 5), of w[0..4]
 *     0        1  0         1    0   -s    0    1    0              1
 *     a        1  a         0   -b  -b^2   a    1    0              powers of  a  by N(a)
 *     -a       1 -a         0    b  -b^2  -a    1    0              powers of -a  by N(a)
 *     b        1  b         0   -a  -a^2   b    1    0              powers of  b  by N(b)
 *     -b       1 -b         0    a  -a^2  -b    1    0              powers of -b  by N(b)
 *     infinity 0  1         0    1    0   -s    0    1              0 0 0 0 1
 *
 * N(a) = 1 / (2 a^2 (a^2 - b^2)), N(b) = 1 / (2 b^2 (b^2 - a^2)). A row of B' is the product of
 * (x - q) over the other points q; pairs of points share the even and the odd half of theirs. */
#include "ops/simd/winograd.h"

enum {
    SIDE = PSD_SIMD_WINOGRAD_SIDE,
    OUT = PSD_SIMD_WINOGRAD_OUT,
    KERNEL = PSD_SIMD_WINOGRAD_KERNEL
};

#define A  (2.0 / 3)
#define B  (3.0 / 2)
#define A2 (A * A)
#define B2 (B * B)
#define S  (A2 + B2)
#define NA (1 / (2 * A2 * (A2 - B2)))
#define NB (1 / (2 * B2 * (B2 - A2)))

#define ALL(number) _mm256_set1_ps((float)(number))

/* --- one axis --------------------------------------------------------------------------------*/

PSD_SIMD_INLINE void times_bt(const __m256 x[SIDE], __m256 v[SIDE])
{
    __m256 even_a = _mm256_fnmadd_ps(ALL(B2), x[2], x[4]);
    __m256 odd_a = _mm256_fnmadd_ps(ALL(B2), x[1], x[3]);
    __m256 even_b = _mm256_fnmadd_ps(ALL(A2), x[2], x[4]);
    __m256 odd_b = _mm256_fnmadd_ps(ALL(A2), x[1], x[3]);

    v[0] = _mm256_add_ps(_mm256_fnmadd_ps(ALL(S), x[2], x[0]), x[4]);
    v[1] = _mm256_fmadd_ps(ALL(A), odd_a, even_a);
    v[2] = _mm256_fnmadd_ps(ALL(A), odd_a, even_a);
    v[3] = _mm256_fmadd_ps(ALL(B), odd_b, even_b);
    v[4] = _mm256_fnmadd_ps(ALL(B), odd_b, even_b);
    v[5] = _mm256_add_ps(_mm256_fnmadd_ps(ALL(S), x[3], x[1]), x[5]);
}

PSD_SIMD_INLINE void times_b(const __m256 v[SIDE], __m256 x[SIDE])
{
    __m256 even_a = _mm256_add_ps(v[1], v[2]), odd_a = _mm256_sub_ps(v[1], v[2]);
    __m256 even_b = _mm256_add_ps(v[3], v[4]), odd_b = _mm256_sub_ps(v[3], v[4]);
    __m256 odd = _mm256_fmadd_ps(ALL(B), odd_b, _mm256_mul_ps(ALL(A), odd_a));
    __m256 even = _mm256_fmadd_ps(ALL(A2), even_b, _mm256_mul_ps(ALL(B2), even_a));

    x[0] = v[0];
    x[1] = _mm256_fnmadd_ps(ALL(A), odd_b, _mm256_fnmadd_ps(ALL(B), odd_a, v[5]));
    x[2] = _mm256_fnmsub_ps(ALL(S), v[0], even);
    x[3] = _mm256_fnmadd_ps(ALL(S), v[5], odd);
    x[4] = _mm256_add_ps(v[0], _mm256_add_ps(even_a, even_b));
    x[5] = v[5];
}

PSD_SIMD_INLINE void times_at(const __m256 v[SIDE], __m256 y[SIDE])
{
    __m256 odd_a = _mm256_sub_ps(v[1], v[2]), odd_b = _mm256_sub_ps(v[3], v[4]);
    __m256 even = _mm256_add_ps(_mm256_add_ps(v[1], v[2]), _mm256_add_ps(v[3], v[4]));

    y[0] = _mm256_add_ps(v[0], even);
    y[1] = _mm256_fmadd_ps(ALL(A), odd_a, _mm256_fmadd_ps(ALL(B), odd_b, v[5]));
}

PSD_SIMD_INLINE void times_a(const __m256 y[SIDE], __m256 v[SIDE])
{
    v[0] = y[0];
    v[1] = _mm256_fmadd_ps(ALL(A), y[1], y[0]);
    v[2] = _mm256_fnmadd_ps(ALL(A), y[1], y[0]);
    v[3] = _mm256_fmadd_ps(ALL(B), y[1], y[0]);
    v[4] = _mm256_fnmadd_ps(ALL(B), y[1], y[0]);
    v[5] = y[1];
}

PSD_SIMD_INLINE void times_g(const __m256 w[SIDE], __m256 v[SIDE])
{
    __m256 even_a = _mm256_fmadd_ps(
        ALL(NA * A2 * A2), w[4], _mm256_fmadd_ps(ALL(NA * A2), w[2], _mm256_mul_ps(ALL(NA), w[0])));
    __m256 even_b = _mm256_fmadd_ps(
        ALL(NB * B2 * B2), w[4], _mm256_fmadd_ps(ALL(NB * B2), w[2], _mm256_mul_ps(ALL(NB), w[0])));
    __m256 odd_a = _mm256_fmadd_ps(ALL(NA * A2 * A), w[3], _mm256_mul_ps(ALL(NA * A), w[1]));
    __m256 odd_b = _mm256_fmadd_ps(ALL(NB * B2 * B), w[3], _mm256_mul_ps(ALL(NB * B), w[1]));

    v[0] = w[0];
    v[1] = _mm256_add_ps(even_a, odd_a);
    v[2] = _mm256_sub_ps(even_a, odd_a);
    v[3] = _mm256_add_ps(even_b, odd_b);
    v[4] = _mm256_sub_ps(even_b, odd_b);
    v[5] = w[4];
}

PSD_SIMD_INLINE void times_gt(const __m256 v[SIDE], __m256 w[SIDE])
{
    __m256 even_a = _mm256_mul_ps(ALL(NA), _mm256_add_ps(v[1], v[2]));
    __m256 even_b = _mm256_mul_ps(ALL(NB), _mm256_add_ps(v[3], v[4]));
    __m256 odd_a = _mm256_mul_ps(ALL(NA * A), _mm256_sub_ps(v[1], v[2]));
    __m256 odd_b = _mm256_mul_ps(ALL(NB * B), _mm256_sub_ps(v[3], v[4]));

    w[0] = _mm256_add_ps(v[0], _mm256_add_ps(even_a, even_b));
    w[1] = _mm256_add_ps(odd_a, odd_b);
    w[2] = _mm256_fmadd_ps(ALL(A2), even_a, _mm256_mul_ps(ALL(B2), even_b));
    w[3] = _mm256_fmadd_ps(ALL(A2), odd_a, _mm256_mul_ps(ALL(B2), odd_b));
    w[4] = _mm256_fmadd_ps(ALL(A2 * A2), even_a, _mm256_fmadd_ps(ALL(B2 * B2), even_b, v[5]));
}

/* --- both axes -------------------------------------------------------------------------------*/

typedef void axis(const __m256 from[SIDE], __m256 to[SIDE]);

/* A square of `size` vectors a side becomes one of `result`: along rows, then along columns. All but
 * the pointers are constants. The result is added to what is there, or to
 * one vector, or to neither. */
PSD_SIMD_INLINE void both(axis *matrix, const float *from, size_t row_step, size_t step,
                          size_t size, float *to, size_t to_row, size_t to_step, size_t result,
                          bool adds, const float *start)
{
    __m256 half[SIDE][SIDE];

    PSD_SIMD_UNROLL
    for (size_t r = 0; r < size; r++) {
        __m256 row[SIDE];
        PSD_SIMD_UNROLL
        for (size_t c = 0; c < size; c++)
            row[c] = _mm256_load_ps(from + r * row_step + c * step);
        matrix(row, half[r]);
    }
    PSD_SIMD_UNROLL
    for (size_t c = 0; c < result; c++) {
        __m256 column[SIDE], out[SIDE];
        PSD_SIMD_UNROLL
        for (size_t r = 0; r < size; r++)
            column[r] = half[r][c];
        matrix(column, out);
        PSD_SIMD_UNROLL
        for (size_t r = 0; r < result; r++) {
            float *at = to + r * to_row + c * to_step;
            const float *more = adds ? at : start;
            _mm256_store_ps(at, more ? _mm256_add_ps(out[r], _mm256_load_ps(more)) : out[r]);
        }
    }
}

PSD_SIMD void psd_simd_winograd_x(const float *x, size_t row_step, size_t step, float *to,
                                  size_t point)
{
    both(times_bt, x, row_step, step, SIDE, to, SIDE * point, point, SIDE, false, NULL);
}

PSD_SIMD void psd_simd_winograd_w(const float *w, size_t step, float *to, size_t point)
{
    both(times_g, w, KERNEL * step, step, KERNEL, to, SIDE * point, point, SIDE, false, NULL);
}

PSD_SIMD void psd_simd_winograd_y(const float *from, size_t point, const float *start, float *y,
                                  size_t row_step, size_t step)
{
    both(times_at, from, SIDE * point, point, SIDE, y, row_step, step, OUT, false, start);
}

PSD_SIMD void psd_simd_winograd_dy(const float *dy, size_t row_step, size_t step, float *to,
                                   size_t point)
{
    both(times_a, dy, row_step, step, OUT, to, SIDE * point, point, SIDE, false, NULL);
}

PSD_SIMD void psd_simd_winograd_dx(const float *from, size_t point, float *dx, size_t row_step,
                                   size_t step)
{
    both(times_b, from, SIDE * point, point, SIDE, dx, row_step, step, SIDE, true, NULL);
}

PSD_SIMD void psd_simd_winograd_dw(const float *from, size_t point, float *dw, size_t step)
{
    both(times_gt, from, SIDE * point, point, SIDE, dw, KERNEL * step, step, KERNEL, false, NULL);
}
