/* mpi.c - a rank of Open MPI: all-reduces buckets of gradients as they become ready.
 *
 *     mpi ITERATIONS SECONDS ELEMENTS@READY...
 *
 * A bucket is all-reduced in place READY seconds after the iteration's start, or when the one before it
 * is done; an iteration lasts SECONDS at least. That is PyTorch's DDP with a device that computes beside
 * it, since times on a line that is fixed need no second thread. With SECONDS 0 only the gradients are
 * summed. What is not counted, what is checked and what rank 0 prints is as in rank.py.
 *
 * compare builds it with mpicc and starts it with Open MPI's options for large messages on TCP. */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 3, CHECKED = 2, BUCKETS = 256, ITERATIONS = 1000 };

struct bucket {
    int elements;
    double ready;    /* seconds after the iteration's start */
    float *gradient; /* owned */
};

struct run {
    struct bucket buckets[BUCKETS];
    int count, rank, ranks, iterations;
    double seconds; /* that an iteration lasts at least */
};

/* Seconds that the processors of the machine have worked. */
static double busy(void)
{
    unsigned long long ticks[8] = {0};
    FILE *stat = fopen("/proc/stat", "r");

    if (!stat || fscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1],
                        &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) != 8)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fclose(stat);
    return (double)(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7]) /
           (double)sysconf(_SC_CLK_TCK);
}

static double seconds_of(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double end)
{
    struct timespec time = {.tv_sec = (time_t)end,
                            .tv_nsec = (long)((end - (double)(time_t)end) * 1e9)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
        ;
}

static void iterate(const struct run *run)
{
    double start = seconds_of(CLOCK_MONOTONIC);

    for (int i = 0; i < run->count; i++) {
        const struct bucket *bucket = &run->buckets[i];
        if (bucket->ready > 0)
            sleep_until(start + bucket->ready);
        MPI_Allreduce(MPI_IN_PLACE, bucket->gradient, bucket->elements, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    }
    if (run->seconds > 0)
        sleep_until(start + run->seconds);
}

static void fill(const struct run *run, float number)
{
    for (int i = 0; i < run->count; i++)
        for (int k = 0; k < run->buckets[i].elements; k++)
            run->buckets[i].gradient[k] = number;
}

static bool all_are(const struct run *run, float number)
{
    for (int i = 0; i < run->count; i++)
        for (int k = 0; k < run->buckets[i].elements; k++)
            if (run->buckets[i].gradient[k] != number)
                return false;
    return true;
}

/* On the machine's clock; elapsed, busy and own are sums of differences (count). */
struct measurement {
    double begins[ITERATIONS], ends[ITERATIONS];
    double elapsed, busy, own;
    int right;
};

static void report(const struct run *run, const struct measurement *measured)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major = 0, minor = 0, patch = 0;

    MPI_Get_library_version(version, &length);
    sscanf(version, "Open MPI v%d.%d.%d", &major, &minor, &patch);
    printf("{\"program\": \"Open MPI %d.%d.%d\", \"seconds\": [", major, minor, patch);
    for (int i = 0; i < run->iterations; i++)
        printf("%s%.6f", i ? ", " : "", measured->ends[i] - measured->begins[i]);
    printf("], \"elapsed\": %.6f, \"busy\": %.2f, \"own\": %.2f, \"right\": %s}\n",
           measured->elapsed, measured->busy, measured->own, measured->right ? "true" : "false");
    fflush(stdout);
}

/* Adds what has been done so far; with `sign` -1 it is taken away. */
static void count(struct measurement *out, double sign)
{
    out->elapsed += sign * seconds_of(CLOCK_MONOTONIC);
    out->busy += sign * busy();
    out->own += sign * seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

static void time_one(const struct run *run, int i, struct measurement *out)
{
    double begin = seconds_of(CLOCK_MONOTONIC);

    iterate(run);
    if (i >= WARM) {
        out->begins[i - WARM] = begin;
        out->ends[i - WARM] = seconds_of(CLOCK_MONOTONIC);
    }
}

static bool is_right(const struct run *run)
{
    return all_are(run, (float)(run->ranks * (run->ranks + 1)) / 2);
}

static void train(const struct run *run, int i, struct measurement *out)
{
    if (i == CHECKED)
        fill(run, (float)(run->rank + 1));
    if (i <= WARM)
        MPI_Barrier(MPI_COMM_WORLD);
    if (i == WARM)
        count(out, -1);
    time_one(run, i, out);
    if (i == CHECKED) {
        out->right = is_right(run);
        fill(run, 0); /* sums of sums would leave the range of floats */
    }
}

static void sum(const struct run *run, int i, struct measurement *out)
{
    fill(run, (float)(run->rank + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    if (i >= WARM)
        count(out, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    time_one(run, i, out);
    MPI_Barrier(MPI_COMM_WORLD);
    if (i >= WARM)
        count(out, 1);
    out->right &= is_right(run);
}

static void measure(const struct run *run, struct measurement *out)
{
    out->right = true;
    for (int i = 0; i < WARM + run->iterations; i++)
        (run->seconds > 0 ? train : sum)(run, i, out);
    if (run->seconds > 0)
        count(out, 1);
}

/* Makes of each rank's measurement that of all: the first begins, the last ends. */
static void combine(const struct run *run, struct measurement *measured)
{
    MPI_Allreduce(MPI_IN_PLACE, &measured->right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &measured->own, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (run->seconds > 0)
        return;
    MPI_Allreduce(MPI_IN_PLACE, measured->begins, run->iterations, MPI_DOUBLE, MPI_MIN,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, measured->ends, run->iterations, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
}

static bool parse(int argc, char **argv, struct run *run)
{
    if (argc < 4 || argc > 3 + BUCKETS)
        return false;
    run->iterations = atoi(argv[1]);
    run->seconds = atof(argv[2]);
    run->count = argc - 3;
    for (int i = 0; i < run->count; i++) {
        struct bucket *bucket = &run->buckets[i];
        if (sscanf(argv[3 + i], "%d@%lf", &bucket->elements, &bucket->ready) != 2)
            return false;
        bucket->gradient = calloc((size_t)bucket->elements, sizeof(float));
        if (!bucket->gradient)
            return false;
    }
    return run->iterations > 0 && run->iterations <= ITERATIONS;
}

int main(int argc, char **argv)
{
    static struct run run;
    static struct measurement measured;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
    if (!parse(argc, argv, &run)) {
        fprintf(stderr, "mpi: this is called as: mpi ITERATIONS SECONDS ELEMENTS@READY...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    measure(&run, &measured);
    combine(&run, &measured);
    if (run.rank == 0)
        report(&run, &measured);
    for (int i = 0; i < run.count; i++)
        free(run.buckets[i].gradient);
    MPI_Finalize();
    return 0;
}
