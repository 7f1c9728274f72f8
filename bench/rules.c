/* rules.c - does an update cost more than moving what it changes?
 *
 * Prints, for each rule and in the cache and out of it, millions of values updated in a second and
 * the GB/s of memory that this reads and writes: value, gradient and states are read, value and
 * states are written. One thread. Time is what the processor spent on it; the best of several rounds
 * counts, since others may use the machine. */
#include "math/rules.h"
#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 9, VECTORS = 4, ROUND_VALUES = 16 << 20 };

/* So slow that values stay what they are: numbers close to 0 take processors longer. */
static const struct psd_rule_step step = {.rate = 1e-9f,
                                          .decay = 0.0005f,
                                          .scale = 1,
                                          .momentum = 0.9f,
                                          .momentum2 = 0.999f,
                                          .delta = 1e-8f,
                                          .rms_decay = 0.99f};

/* Nanoseconds of this thread. */
static double now(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return 1e9 * (double)spent.tv_sec + (double)spent.tv_nsec;
}

/* vectors: value, gradient, two states. */
static void print_rule(const struct psd_rule *rule, float *const *vectors, size_t n)
{
    size_t times = ROUND_VALUES / n;
    double best = HUGE_VAL;

    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (size_t i = 0; i < times; i++)
            rule->apply(&step, n, vectors[0], vectors[1], vectors + 2);
        best = fmin(best, (now() - start) / (double)(times * n)); /* ns for a value */
    }
    printf("%8zu  %-9s %8.0f %8.1f\n", n, rule->name, 1e3 / best,
           sizeof(float) * (3 + 2 * rule->states) / best);
}

int main(void)
{
    float *vectors[VECTORS] = {NULL};
    bool complete = true;

    for (size_t i = 0; i < VECTORS; i++)
        complete &= (vectors[i] = psd_alloc_zero(ROUND_VALUES, sizeof(float))) != NULL;
    printf("one thread; best of %d rounds; millions of values/s, GB/s\n\n", ROUNDS);
    printf("  values  rule        Mval/s     GB/s\n");
    for (size_t n = 4 << 10; complete && n <= ROUND_VALUES; n <<= 12) {
        for (size_t i = 0; i < n; i++)
            vectors[1][i] = (float)(i % 1009 + 1) / 1009;
        for (size_t i = 0; psd_rules[i]; i++)
            print_rule(psd_rules[i], vectors, n);
    }
    if (!complete)
        printf("not measured: %d vectors of %d values do not fit\n", VECTORS, ROUND_VALUES);
    for (size_t i = 0; i < VECTORS; i++)
        psd_alloc_free(vectors[i]);
}
