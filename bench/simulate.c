/* simulate.c - does the simulated cluster behave like the published one, and does ours scale better?
 *
 * VGG19-22K and Inception-V3 on nodes with one Titan X each, beside what was published with Poseidon
 * (USENIX ATC 2017: Caffe, seconds per 20 iterations of 32 images; Caffe alone takes 18.5 s).
 *
 *     hybrid        ours, at the nominal bandwidth, with all that it costs
 *     servers       "Caffe+WFBP": gradients leave as they are computed, all of them by servers. One
 *                   number is fitted, at 8 nodes: the effective bytes a second of a link. A node
 *                   computes at the rate that this system has alone, 33.0 images/s
 *     no overlap    "Caffe+PS" sends after backward; shown at that bandwidth, and not matched
 *
 * Speed-ups are over Caffe alone. At the end a thousand nodes, timed in seconds of a core. The
 * program fails when a promise is not kept. */
#include "comm/profile.h"
#include "comm/scheme.h"
#include "comm/timeline.h"
#include "comm/workload_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { POINTS = 5, FITTED = 2 /* the point of 8 nodes */ };

static const double latency = 50e-6, forty = 5e9, ten = 1.25e9; /* s, bytes/s */
static const double caffe_rate = 34.6, overlap_rate = 33.0;     /* images/s of one node */

static const struct {
    unsigned nodes;
    double hybrid, servers, no_overlap;
} published[POINTS] = {
    {2, 1.96, 1.78, 1.01},    {4, 3.83, 3.28, 1.47},    {8, 7.63, 6.12, 2.16},
    {16, 15.03, 11.56, 2.82}, {32, 29.45, 21.37, 4.42},
};

static bool kept = true;

static void check(psd_status status)
{
    if (status != PSD_OK) {
        fprintf(stderr, "%s\n", psd_error());
        exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    }
}

static struct psd_workload *read_workload(const char *model, const char *device, size_t batch)
{
    struct psd_workload *workload = NULL;
    struct psd_profile *profile = NULL;
    char path[200];

    snprintf(path, sizeof path, "models/descriptions/%s.txt", model);
    check(psd_workload_file_read(path, &workload));
    snprintf(path, sizeof path, "models/profiles/%s.txt", device);
    check(psd_profile_read(path, &profile));
    check(psd_profile_apply(profile, workload, batch));
    psd_profile_destroy(profile);
    return workload;
}

static void slow_down(struct psd_workload *workload, double times)
{
    for (size_t i = 0; i < workload->n_layers; i++) {
        workload->layers[i].forward_s *= times;
        workload->layers[i].backward_s *= times;
    }
}

static struct psd_timeline_result run(const struct psd_workload *workload, enum psd_scheme scheme,
                                      unsigned nodes, double bandwidth, unsigned iterations)
{
    const struct psd_plan_network network = {bandwidth, latency};
    struct psd_timeline_result result;
    struct psd_job *job = NULL;

    check(psd_scheme_job(scheme, workload, nodes, &network, &job));
    check(
        psd_timeline_run(&(struct psd_timeline_options){.job = job,
                                                        .workload = workload,
                                                        .bandwidth = bandwidth,
                                                        .latency = latency,
                                                        .no_overlap = !psd_scheme_overlaps(scheme),
                                                        .iterations = iterations},
                         &result));
    psd_job_destroy(job);
    return result;
}

static double speedup(const struct psd_workload *workload, enum psd_scheme scheme, unsigned nodes,
                      double bandwidth)
{
    struct psd_timeline_result result = run(workload, scheme, nodes, bandwidth, 3);

    return nodes * result.compute_s / result.iteration_s;
}

/* The same over Caffe alone, for nodes that compute at `overlap_rate`. */
static double over_caffe(const struct psd_workload *slower, enum psd_scheme scheme, unsigned nodes,
                         double bandwidth)
{
    return speedup(slower, scheme, nodes, bandwidth) * overlap_rate / caffe_rate;
}

/* The bandwidth at which 8 nodes are as fast as published. */
static double fit(const struct psd_workload *slower)
{
    double low = 1e8, high = 5e9;

    while (high - low > 1e5) {
        double middle = (low + high) / 2;
        bool slow = over_caffe(slower, PSD_SCHEME_SERVERS, published[FITTED].nodes, middle) <
                    published[FITTED].servers;
        *(slow ? &low : &high) = middle;
    }
    return high;
}

static void compare(const struct psd_workload *workload, const struct psd_workload *slower,
                    double bandwidth)
{
    printf("VGG19-22K, speed-ups simulated | published; servers and no overlap at %.3f GB/s, "
           "%.2f Gbit/s\n",
           bandwidth / 1e9, bandwidth * 8 / 1e9);
    printf("nodes   hybrid 40 Gbit/s   servers (difference)      no overlap\n");
    for (size_t i = 0; i < POINTS; i++) {
        unsigned nodes = published[i].nodes;
        double hybrid = speedup(workload, PSD_SCHEME_HYBRID, nodes, forty);
        double servers = over_caffe(slower, PSD_SCHEME_SERVERS, nodes, bandwidth);
        double none = over_caffe(slower, PSD_SCHEME_SERVERS_NO_OVERLAP, nodes, bandwidth);
        double off = servers / published[i].servers - 1;
        kept &= fabs(off) <= 0.1;
        printf("%5u   %6.2f | %6.2f    %6.2f | %6.2f (%+5.1f %%)   %6.2f | %6.2f\n", nodes, hybrid,
               published[i].hybrid, servers, published[i].servers, 100 * off, none,
               published[i].no_overlap);
    }
}

static void promise(const char *what, double got, double least)
{
    printf("%-38s %6.2f   at least %5.1f   %s\n", what, got, least,
           got >= least ? "kept" : "BROKEN");
    kept &= got >= least;
}

static void promise_most(const char *what, double got, double most)
{
    printf("%-38s %6.2f   below    %5.1f   %s\n", what, got, most, got < most ? "kept" : "BROKEN");
    kept &= got < most;
}

static double used_seconds(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/* One thread that never sleeps: what it uses of a core is what it takes on a machine with one to spare. */
static void simulate_a_thousand(void)
{
    struct psd_workload *workload = read_workload("resnet152", "titan-x", 32);
    struct rusage before, after;

    getrusage(RUSAGE_SELF, &before);
    struct psd_timeline_result result = run(workload, PSD_SCHEME_HYBRID, 1000, forty, 1);
    getrusage(RUSAGE_SELF, &after);
    double seconds = used_seconds(&after) - used_seconds(&before);
    double gigabytes = (double)after.ru_maxrss * 1024 / 1e9;
    printf(
        "\nResNet-152 on 1000 nodes, 40 Gbit/s: speed-up %.0f, %.1f M messages an iteration;\n"
        "simulated in %.1f s of a core an iteration (two of them, and the rest), at most %.2f GB\n",
        1000 * result.compute_s / result.iteration_s, (double)result.messages / 1e6, seconds / 2,
        gigabytes);
    promise_most("seconds of it", seconds / 2, 60);
    promise_most("gigabytes", gigabytes, 4);
    psd_workload_destroy(workload);
}

int main(void)
{
    struct psd_workload *vgg = read_workload("vgg19-22k", "titan-x-caffe", 32);
    struct psd_workload *slower = read_workload("vgg19-22k", "titan-x-caffe", 32);
    struct psd_workload *inception = read_workload("inception-v3", "titan-x", 32);

    slow_down(slower, caffe_rate / overlap_rate);
    compare(vgg, slower, fit(slower));
    printf("\nhybrid, with what it rebuilds and updates\n");
    promise("VGG19-22K, 32 nodes, 40 Gbit/s", speedup(vgg, PSD_SCHEME_HYBRID, 32, forty), 31);
    promise("VGG19-22K, 16 nodes, 10 Gbit/s", speedup(vgg, PSD_SCHEME_HYBRID, 16, ten), 15.6);
    promise("Inception-V3, 32 nodes, 40 Gbit/s", speedup(inception, PSD_SCHEME_HYBRID, 32, forty),
            31.8);
    psd_workload_destroy(vgg);
    psd_workload_destroy(slower);
    psd_workload_destroy(inception);
    simulate_a_thousand();
    return kept ? 0 : 1;
}
