/* ops_bench.h - times the cases of cases.h on every backend, for `ops_test --bench`. */
#ifndef PSD_TESTS_OPS_BENCH_H
#define PSD_TESTS_OPS_BENCH_H

#include "base/clock.h"
#include "ops_problem.h"

enum { BENCH_RUNS = 15 };
#define BENCH_NS (200 * PSD_CLOCK_MS) /* a measurement ends after so long, if it has one run */

/* Additions and multiplications of one forward; 0 where counting them says nothing. */
static inline double operations(const struct psd_op_spec *spec)
{
    const struct psd_conv_spec *conv = &spec->conv;
    double outputs = (double)psd_op_output_count(spec, 0);

    if (spec->kind == PSD_OP_CONV) { /* each output is a sum over the weights of its channel */
        size_t weights = psd_op_input_count(spec, 1) / conv->outputs;
        return 2 * outputs * (double)weights;
    }
    return spec->kind == PSD_OP_FC ? 2 * outputs * (double)spec->fc.inputs : 0;
}

static inline int by_time(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* The median of some runs, in milliseconds. */
static inline double median_ms(struct psd_op *op, const struct psd_op_values *values,
                               psd_status (*run)(struct psd_op *op,
                                                 const struct psd_op_values *values))
{
    uint64_t times[BENCH_RUNS], begin = psd_clock_now();
    size_t count = 0;

    while (count < BENCH_RUNS && (count == 0 || psd_clock_now() - begin < BENCH_NS)) {
        uint64_t start = psd_clock_now();
        CHECK_OK(run(op, values));
        times[count++] = psd_clock_now() - start;
    }
    qsort(times, count, sizeof *times, by_time);
    uint64_t median = times[count / 2];
    return (double)median / (double)PSD_CLOCK_MS;
}

/* Milliseconds of both directions. */
struct timing {
    double forward, backward;
};

static inline bool time_case(struct problem *problem, const char *backend, unsigned threads,
                             struct timing *out)
{
    struct psd_ops *ops;
    struct psd_op *op;

    if (!problem_open(problem, backend, threads, &ops, &op))
        return false;
    CHECK_OK(psd_op_forward(op, &problem->values)); /* once for the caches */
    out->forward = median_ms(op, &problem->values, psd_op_forward);
    out->backward = median_ms(op, &problem->values, psd_op_backward);
    problem_close(ops, op);
    return true;
}

static inline void print_rate(double operations, double ms)
{
    if (operations > 0)
        printf(" %8.1f", operations / ms / 1e6);
    else
        printf(" %8s", "-");
}

static inline void print_timing(const struct op_case *test, const char *backend, unsigned threads,
                                struct timing timing, struct timing plain)
{
    double work = operations(&test->spec);

    printf("%-20s %-8s %7u %9.3f %9.3f", test->name, backend, threads, timing.forward,
           timing.backward);
    print_rate(work, timing.forward);
    print_rate(2 * work, timing.backward);
    printf(" %7.1fx\n", (plain.forward + plain.backward) / (timing.forward + timing.backward));
    fflush(stdout);
}

/* Plain, which the others are compared with, comes first. */
static inline void bench_case(const struct op_case *test)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct problem problem;
    struct timing plain, timing;

    problem_init(&problem, test);
    CHECK(time_case(&problem, "plain", 1, &plain));
    print_timing(test, "plain", 1, plain, plain);
    for (const char *const *backend = psd_ops_backends(); *backend; backend++) {
        for (unsigned threads = 1; threads <= (unsigned)processors; threads *= 2) {
            if (strcmp(*backend, "plain") != 0 && time_case(&problem, *backend, threads, &timing))
                print_timing(test, *backend, threads, timing, plain);
        }
    }
    problem_fini(&problem);
}

/* Times the cases whose names contain `text`; NULL: those that are there to be timed. */
static inline void bench(const char *text)
{
    printf("%-20s %-8s %7s %9s %9s %8s %8s %8s\n", "", "backend", "threads", "fwd ms", "bwd ms",
           "GFLOP/s", "GFLOP/s", "speed");
    for (size_t i = 0; i < OP_CASES; i++) {
        if (text ? strstr(op_cases[i].name, text) != NULL : op_cases[i].use == BENCH)
            bench_case(&op_cases[i]);
    }
}

#endif
