/* product_test.c - products and their norms against plain loops, to the bit, by every kernel that
 * this processor can run. */
#include "base/random.h"
#include "math/product.h"
#include "math/product/kernel.h"
#include "math/sum.h"
#include "test.h"

enum { MOST_BLOCKS = 8, GUARD = 40 };

/* Factors of some samples, and what is made of them. */
struct problem {
    size_t rows, cols, samples, u_stride;
    float *u, *v, *out; /* owned; out has a guard behind it */
    struct psd_product_block blocks[MOST_BLOCKS];
    size_t n_blocks;
};

static void *new_memory(size_t size)
{
    void *memory = malloc(size + 1);

    CHECK(memory);
    return memory;
}

/* Numbers of many sizes, and some that are exactly 0. */
static void fill(float *values, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        values[i] = i % 17 ? ldexpf(psd_random_normal(seed, 0, i), -(int)(i % 9)) : 0;
}

/* Cuts the samples into n blocks, which need not be equal; some are empty. */
static void cut(struct problem *p, size_t n)
{
    size_t at = 0;

    p->n_blocks = n;
    for (size_t i = 0; i < n; i++) {
        size_t end = i + 1 == n ? p->samples : at + (p->samples - at) * (i % 3) / n;
        p->blocks[i] = (struct psd_product_block){p->u + at * p->u_stride, p->u_stride,
                                                  p->v + at * p->cols, end - at};
        at = end;
    }
}

static struct problem new_problem(size_t rows, size_t cols, size_t samples)
{
    struct problem p = {rows, cols, samples, .u_stride = rows + 3};

    p.u = new_memory(samples * p.u_stride * sizeof *p.u);
    p.v = new_memory(samples * cols * sizeof *p.v);
    p.out = new_memory((rows * cols + GUARD) * sizeof *p.out);
    fill(p.u, samples * p.u_stride, 1);
    fill(p.v, samples * cols, 2);
    cut(&p, 1);
    return p;
}

static void drop_problem(struct problem *p)
{
    free(p->u);
    free(p->v);
    free(p->out);
}

/* Not only equal values: -0 is not 0 here. */
static bool same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

/* --- products ----------------------------------------------------------------------------------- */

/* Whether each element is the plain loop's, and nothing is written behind them. */
static bool is_right(const struct problem *p, size_t first_row, size_t rows)
{
    for (size_t i = 0; i < rows * p->cols; i++) {
        const float *u = p->u + first_row + i / p->cols, *v = p->v + i % p->cols;
        float sum = 0;
        for (size_t k = 0; k < p->samples; k++)
            sum = fmaf(u[k * p->u_stride], v[k * p->cols], sum);
        if (!same_bits(&sum, p->out + i, sizeof sum))
            return false;
    }
    for (size_t i = 0; i < GUARD; i++) {
        if (p->out[rows * p->cols + i] != 77)
            return false;
    }
    return true;
}

static void spoil(struct problem *p)
{
    for (size_t i = 0; i < p->rows * p->cols + GUARD; i++)
        p->out[i] = 77;
}

/* Odd ones; whole tiles of each kernel; more than fits at once in each direction. */
static const struct {
    size_t rows, cols, samples;
} shapes[] = {{1, 1, 1},     {1, 5, 3},     {3, 17, 2},   {5, 16, 9},
              {6, 32, 7},    {7, 33, 40},   {10, 500, 3}, {16, 31, 64},
              {29, 47, 50},  {257, 19, 30}, {513, 33, 4}, {11, 37, 255},
              {12, 64, 256}, {13, 49, 257}, {2, 40, 600}, {200, 70, 300}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void every_kernel_computes_every_shape_to_the_bit(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        struct problem p = new_problem(shapes[i].rows, shapes[i].cols, shapes[i].samples);
        for (size_t k = 0; psd_product_kernels[k]; k++) {
            const struct psd_product_kernel *kernel = psd_product_kernels[k];
            if (!kernel->usable())
                continue;
            spoil(&p);
            psd_product_rows_by(kernel, p.blocks, 1, p.rows, p.cols, p.out);
            if (!is_right(&p, 0, p.rows))
                TEST_FAIL("%s: %zu x %zu of %zu", kernel->name, p.rows, p.cols, p.samples);
        }
        drop_problem(&p);
    }
}

static void blocks_may_be_cut_anywhere(void)
{
    struct problem p = new_problem(20, 45, 300);

    for (size_t n = 1; n <= MOST_BLOCKS; n++) {
        cut(&p, n);
        spoil(&p);
        psd_product_rows(p.blocks, n, p.rows, p.cols, p.out);
        CHECK(is_right(&p, 0, p.rows));
    }
    drop_problem(&p);
}

static void rows_may_be_computed_in_any_calls(void)
{
    struct problem p = new_problem(50, 40, 33);

    for (size_t first = 0; first < p.rows; first += 7) {
        size_t rows = p.rows - first < 11 ? p.rows - first : 11;
        struct psd_product_block block = p.blocks[0];
        block.u += first;
        spoil(&p);
        psd_product_rows(&block, 1, rows, p.cols, p.out);
        CHECK(is_right(&p, first, rows));
    }
    drop_problem(&p);
}

static void without_samples_a_product_is_0(void)
{
    struct psd_product_block empty = {NULL, 4, NULL, 0};
    float out[12], bias[4];
    double tile = 1;

    for (size_t n = 0; n < 2; n++) {
        memset(out, 1, sizeof out);
        memset(bias, 1, sizeof bias);
        psd_product_rows(&empty, n, 4, 3, out);
        psd_product_bias(&empty, n, 4, bias);
        psd_product_squares(&empty, n, 4, NULL, &tile);
        CHECK(same_bits(out, (float[12]){0}, sizeof out));
        CHECK(same_bits(bias, (float[4]){0}, sizeof bias));
        CHECK(tile == 0);
    }
}

static void a_bias_adds_samples_in_order(void)
{
    struct problem p = new_problem(37, 1, 100);

    for (size_t n = 1; n <= MOST_BLOCKS; n += 3) {
        cut(&p, n);
        psd_product_bias(p.blocks, n, p.rows, p.out);
        for (size_t r = 0; r < p.rows; r++) {
            float sum = 0;
            for (size_t k = 0; k < p.samples; k++)
                sum += p.u[k * p.u_stride + r];
            CHECK(same_bits(&sum, p.out + r, sizeof sum));
        }
    }
    drop_problem(&p);
}

/* --- norms -------------------------------------------------------------------------------------- */

/* One element of the Gram matrix, as product.h defines it. */
static double plain_dot(const float *a, const float *b, size_t cols)
{
    double total = 0;

    for (size_t from = 0; from < cols; from += PSD_PRODUCT_COLUMNS) {
        double lane[4] = {0};
        for (size_t c = from; c < cols && c < from + PSD_PRODUCT_COLUMNS; c++)
            lane[c % 4] += (double)a[c] * (double)b[c];
        total += (lane[0] + lane[2]) + (lane[1] + lane[3]);
    }
    return total;
}

/* The sum of squares of a row, as product.h defines it. */
static double plain_square(const struct problem *p, const double *gram, size_t row)
{
    double sum = 0;

    for (size_t i = 0; i < p->samples; i++) {
        double h = 0, u = (double)p->u[i * p->u_stride + row];
        for (size_t j = 0; j < i; j++)
            h += gram[i * p->samples + j] * (double)p->u[j * p->u_stride + row];
        sum += u * (2 * h + gram[i * p->samples + i] * u);
    }
    return sum;
}

static void check_gram(const struct problem *p, const double *gram)
{
    for (size_t i = 0; i < p->samples; i++) {
        for (size_t j = 0; j < p->samples; j++) {
            double dot = plain_dot(p->v + i * p->cols, p->v + j * p->cols, p->cols);
            CHECK(same_bits(&dot, gram + i * p->samples + j, sizeof dot));
        }
    }
}

static void check_tiles(const struct problem *p, const double *gram, const double *tiles)
{
    for (size_t t = 0; t < psd_product_tile_count(p->rows); t++) {
        double sum = 0;
        for (size_t r = t * PSD_PRODUCT_ROWS; r < p->rows && r < (t + 1) * PSD_PRODUCT_ROWS; r++)
            sum += plain_square(p, gram, r);
        CHECK(same_bits(&sum, tiles + t, sizeof sum));
    }
}

/* The samples are not a multiple of anything; the columns are fewer, as many and more than a tile. */
static void every_kernel_computes_norms_in_the_order_stated(void)
{
    static const struct {
        size_t rows, cols, samples;
    } cases[] = {{1, 1, 1},      {15, 3, 2},    {16, 1024, 12}, {17, 1025, 13},
                 {50, 3000, 66}, {33, 30, 200}, {3, 7, 5}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem p = new_problem(cases[i].rows, cases[i].cols, cases[i].samples);
        double *gram = new_memory(p.samples * p.samples * sizeof *gram), tiles[4];
        for (size_t k = 0; psd_product_kernels[k]; k++) {
            if (!psd_product_kernels[k]->usable())
                continue;
            cut(&p, k % 2 ? 5 : 1);
            psd_product_gram_by(psd_product_kernels[k], p.blocks, p.n_blocks, p.cols, gram);
            check_gram(&p, gram);
            psd_product_squares_by(psd_product_kernels[k], p.blocks, p.n_blocks, p.rows, gram,
                                   tiles);
            check_tiles(&p, gram, tiles);
        }
        free(gram);
        drop_problem(&p);
    }
}

static void a_norm_is_that_of_the_product(void)
{
    struct problem p = new_problem(100, 700, 90);
    double *gram = new_memory(p.samples * p.samples * sizeof *gram), tiles[7];

    CHECK(psd_product_tile_count(p.rows) == 7);
    psd_product_rows(p.blocks, 1, p.rows, p.cols, p.out);
    psd_product_gram(p.blocks, 1, p.cols, gram);
    psd_product_squares(p.blocks, 1, p.rows, gram, tiles);
    double built = psd_sum_squares(p.out, p.rows * p.cols);
    CHECK_NEAR(psd_product_add_tiles(tiles, 7), built, 1e-6 * built);
    free(gram);
    drop_problem(&p);
}

static void shards_that_end_at_tiles_have_the_sums_of_the_whole(void)
{
    struct problem p = new_problem(70, 130, 40);
    double *gram = new_memory(p.samples * p.samples * sizeof *gram), whole[5], parts[5];

    cut(&p, 4);
    psd_product_gram(p.blocks, p.n_blocks, p.cols, gram);
    psd_product_squares(p.blocks, p.n_blocks, p.rows, gram, whole);
    psd_product_squares(p.blocks, p.n_blocks, 32, gram, parts);
    for (size_t i = 0; i < p.n_blocks; i++)
        p.blocks[i].u += 32;
    psd_product_squares(p.blocks, p.n_blocks, 38, gram, parts + 2);
    CHECK(same_bits(whole, parts, sizeof whole));
    free(gram);
    drop_problem(&p);
}

int main(int argc, char **argv)
{
    RUN(every_kernel_computes_every_shape_to_the_bit)
    RUN(blocks_may_be_cut_anywhere)
    RUN(rows_may_be_computed_in_any_calls)
    RUN(without_samples_a_product_is_0)
    RUN(a_bias_adds_samples_in_order)
    RUN(every_kernel_computes_norms_in_the_order_stated)
    RUN(a_norm_is_that_of_the_product)
    RUN(shards_that_end_at_tiles_have_the_sums_of_the_whole)
}
