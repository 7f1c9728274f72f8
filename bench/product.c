/* product.c - is rebuilding a gradient from its factors as fast as a matrix product can be?
 *
 * Prints, for shapes of inner-product layers and samples of all workers together, the GFLOP/s of
 * psd_product_rows beside those of oneDNN's sgemm, which keeps no order of additions, and the time of
 * the norm (Gram matrix and squares) in parts of the product's. One thread. Time is what the processor
 * spent on it; the programs take turns, and the best of several rounds counts, since others may use
 * the machine.
 *
 *     product              the table
 *     product ROWS COLS SAMPLES   one row of it */
#include "math/product.h"
#include "base/alloc.h"
#include "math/product/kernel.h"

#include <dnnl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7, ROUND_NS = 50000000, WORKERS = 4 };

void omp_set_num_threads(int threads); /* of the library that oneDNN computes with */

struct shape {
    size_t rows, cols, samples;
};

/* What is timed works on these. */
struct problem {
    struct shape is;
    struct psd_product_block blocks[WORKERS];
    float *u, *v, *out; /* owned */
    double *gram, *tiles;
};

typedef void work_function(struct problem *p);

static void ours(struct problem *p)
{
    psd_product_rows(p->blocks, WORKERS, p->is.rows, p->is.cols, p->out);
}

/* Row by row it is the product of the other two: out = u^T v. */
static void sgemm(struct problem *p)
{
    dnnl_dim_t rows = (dnnl_dim_t)p->is.rows, cols = (dnnl_dim_t)p->is.cols;

    dnnl_sgemm('T', 'N', rows, cols, (dnnl_dim_t)p->is.samples, 1, p->u, rows, p->v, cols, 0,
               p->out, cols);
}

static void norm(struct problem *p)
{
    psd_product_gram(p->blocks, WORKERS, p->is.cols, p->gram);
    psd_product_squares(p->blocks, WORKERS, p->is.rows, p->gram, p->tiles);
}

static void drop_problem(struct problem *p)
{
    psd_alloc_free(p->u);
    psd_alloc_free(p->v);
    psd_alloc_free(p->out);
    psd_alloc_free(p->gram);
    psd_alloc_free(p->tiles);
}

static float *new_floats(size_t count)
{
    float *floats = psd_alloc_aligned(64, count * sizeof *floats);

    for (size_t i = 0; floats && i < count; i++)
        floats[i] = (float)(i % 1009) / 1009;
    return floats;
}

static bool make_problem(struct shape is, struct problem *p)
{
    size_t each = is.samples / WORKERS;

    *p = (struct problem){.is = is};
    p->u = new_floats(is.samples * is.rows);
    p->v = new_floats(is.samples * is.cols);
    p->out = new_floats(is.rows * is.cols);
    p->gram = psd_alloc_zero(is.samples * is.samples, sizeof *p->gram);
    p->tiles = psd_alloc_zero(psd_product_tile_count(is.rows), sizeof *p->tiles);
    if (!p->u || !p->v || !p->out || !p->gram || !p->tiles)
        return false;
    for (size_t w = 0; w < WORKERS; w++)
        p->blocks[w] = (struct psd_product_block){p->u + w * each * is.rows, is.rows,
                                                  p->v + w * each * is.cols,
                                                  w + 1 < WORKERS ? each : is.samples - w * each};
    return true;
}

/* Nanoseconds of this thread. */
static double now(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return 1e9 * (double)spent.tv_sec + (double)spent.tv_nsec;
}

/* Nanoseconds of the best call of a round. */
static double time_round(work_function *work, struct problem *p)
{
    double start = now(), best = HUGE_VAL;

    do {
        double before = now();
        work(p);
        best = fmin(best, now() - before);
    } while (now() - start < ROUND_NS);
    return best;
}

static void print_shape(struct shape is)
{
    static work_function *const works[] = {ours, sgemm, norm};
    enum { WORKS = sizeof works / sizeof *works };
    double flops = 2 * (double)(is.rows * is.cols) * (double)is.samples;
    double best[WORKS] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    struct problem p;

    if (!make_problem(is, &p)) {
        drop_problem(&p);
        printf("%6zu x %5zu %8zu   not measured: it does not fit\n", is.rows, is.cols, is.samples);
        return;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < WORKS; i++)
            best[i] = fmin(best[i], time_round(works[i], &p));
    }
    printf("%6zu x %5zu %8zu %8.1f %8.1f %8.2f %8.2f\n", is.rows, is.cols, is.samples,
           flops / best[0], flops / best[1], best[1] / best[0], best[2] / best[0]);
    fflush(stdout);
    drop_problem(&p);
}

int main(int argc, char **argv)
{
    static const struct shape shapes[] = {
        {4096, 25088, 32}, {4096, 25088, 256}, {1024, 25088, 1024}, {4096, 9216, 128},
        {4096, 4096, 32},  {4096, 4096, 256},  {1000, 4096, 256},   {500, 800, 64},
        {500, 800, 512},   {64, 25088, 256},   {16, 25088, 256},    {10, 4096, 256},
        {10, 500, 64}};

    omp_set_num_threads(1);
    printf("one thread, kernel %s; best of %d rounds; GFLOP/s, ratio, norm / product in time\n\n",
           psd_product_kernel_choose()->name, ROUNDS);
    printf("         shape  samples     ours    sgemm    ratio     norm\n");
    if (argc > 3)
        print_shape((struct shape){strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10),
                                   strtoull(argv[3], NULL, 10)});
    for (size_t i = 0; argc <= 3 && i < sizeof shapes / sizeof *shapes; i++)
        print_shape(shapes[i]);
}
