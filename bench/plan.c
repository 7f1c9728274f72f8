/* plan.c - how long does planning take, for large nets on large clusters?
 *
 * Prints milliseconds of one thread for the plan of a job: all routes of all parameters, chosen together.
 * Time is what the processor spent on it; the best of several rounds counts, since others may use the
 * machine. */
#include "comm/plan.h"
#include "comm/profile.h"
#include "comm/workload_file.h"
#include "comm/workload_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9 };

static void check(psd_status status)
{
    if (status != PSD_OK) {
        fprintf(stderr, "bench/plan: %s\n", psd_error());
        exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    }
}

/* Milliseconds of this thread. */
static double now(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return 1e3 * (double)spent.tv_sec + 1e-6 * (double)spent.tv_nsec;
}

static struct psd_workload *read_workload(const char *name)
{
    struct psd_workload *workload = NULL;
    struct psd_profile *profile = NULL;
    char path[100];

    snprintf(path, sizeof path, "models/descriptions/%s.txt", name);
    check(psd_workload_file_read(path, &workload));
    check(psd_profile_read("models/profiles/titan-x.txt", &profile));
    check(psd_profile_apply(profile, workload, 0));
    psd_profile_destroy(profile);
    return workload;
}

static double plan(const struct psd_workload *workload, unsigned ranks)
{
    static const struct psd_plan_network gbit10 = {.bandwidth = 1.25e9, .latency = 5e-5};
    struct psd_plan *made = NULL;
    struct psd_job *job = NULL;

    check(psd_workload_job_create(workload, ranks, ranks, NULL, NULL, &job));
    double start = now();
    psd_plan_forms(job);
    check(psd_plan_create(job, workload, &gbit10, &made));
    double spent = now() - start;
    psd_plan_destroy(made);
    psd_job_destroy(job);
    return spent;
}

int main(void)
{
    static const char *const names[] = {"vgg19-22k", "inception-v3", "resnet152"};
    static const unsigned ranks[] = {32, 1000};

    printf("one thread; best of %d rounds\n\nnet            nodes   parameters       ms\n", ROUNDS);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct psd_workload *workload = read_workload(names[i]);
        for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
            double best = HUGE_VAL;
            for (int round = 0; round < ROUNDS; round++)
                best = fmin(best, plan(workload, ranks[k]));
            printf("%-14s %5u %12zu %8.2f\n", names[i], ranks[k], workload->n_params, best);
        }
        psd_workload_destroy(workload);
    }
}
