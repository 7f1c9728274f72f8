/* sum.c - does adding gradients cost more than moving them?
 *
 * Prints, for each size of vector, how fast memory is read and written by memcpy, by psd_sum_add
 * and by psd_sum_tree over S vectors. Bytes are those the work must move at least: two vectors for
 * memcpy, three for an addition, S + 1 for a tree. The time is that of the best of several rounds,
 * since others may use the machine. One thread. */
#include "math/sum.h"
#include "base/alloc.h"
#include "base/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
    MOST = 8,               /* vectors in a tree */
    LARGEST = 64 << 20,     /* bytes of a vector */
    ROUNDS = 7,             /* of which the best counts */
    ROUND_BYTES = 256 << 20 /* of each vector, at least, in a round */
};

static float *leaves[MOST], *out;
static volatile double seen; /* keeps sums of squares from being optimized away */

/* What is timed, on vectors of n floats; `count` leaves matter to the tree only. */
typedef void work_function(size_t count, size_t n);

static void copy(size_t count, size_t n)
{
    (void)count;
    memcpy(out, leaves[0], n * sizeof *out);
    __asm__ volatile("" ::: "memory"); /* each copy counts */
}

static void add(size_t count, size_t n)
{
    (void)count;
    psd_sum_add(out, leaves[0], n);
}

static void tree(size_t count, size_t n)
{
    psd_sum_tree((const float *const *)leaves, count, n, out);
}

static void squares(size_t count, size_t n)
{
    (void)count;
    seen = psd_sum_squares(leaves[0], n);
}

/* GB/s of the work when it moves `vectors` vectors of `bytes`. */
static double speed(work_function *work, size_t count, size_t vectors, size_t bytes)
{
    size_t times = ROUND_BYTES / bytes;
    double best = HUGE_VAL;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = psd_clock_now();
        for (size_t i = 0; i < times; i++)
            work(count, bytes / sizeof *out);
        best = fmin(best, (double)(psd_clock_now() - start) / (double)times);
    }
    return (double)(vectors * bytes) / best; /* bytes per ns */
}

static void print_size(size_t bytes)
{
    static const struct {
        const char *name;
        work_function *work;
        size_t count, vectors;
    } rows[] = {{"add", add, 0, 3},
                {"tree S=2", tree, 2, 3},
                {"tree S=3", tree, 3, 4},
                {"tree S=8", tree, 8, 9},
                {"squares", squares, 0, 1}};
    double memcpy_speed = speed(copy, 0, 2, bytes);

    printf("%6zu KB  %-9s %8.1f %8.2f\n", bytes >> 10, "memcpy", memcpy_speed, 1.0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double gbs = speed(rows[i].work, rows[i].count, rows[i].vectors, bytes);
        printf("%6zu KB  %-9s %8.1f %8.2f\n", bytes >> 10, rows[i].name, gbs, gbs / memcpy_speed);
    }
}

static float *new_vector(void)
{
    float *vector = psd_alloc_aligned(2 << 20, LARGEST);

    if (vector) {
        madvise(vector, LARGEST, MADV_HUGEPAGE);
        memset(vector, 0, LARGEST);
    }
    return vector;
}

int main(void)
{
    bool complete = (out = new_vector()) != NULL;

    for (int i = 0; i < MOST; i++)
        complete &= (leaves[i] = new_vector()) != NULL;
    printf("one thread; best of %d rounds; GB/s read and written; ratio to memcpy\n\n", ROUNDS);
    printf("   vector  work          GB/s    ratio\n");
    for (size_t bytes = 64 << 10; complete && bytes <= LARGEST; bytes *= 32)
        print_size(bytes);
    if (!complete)
        printf("not measured: %d vectors of %d MB do not fit\n", MOST + 1, LARGEST >> 20);
    for (int i = 0; i < MOST; i++)
        psd_alloc_free(leaves[i]);
    psd_alloc_free(out);
}
