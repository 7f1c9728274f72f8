/* bench.h - what "poseidon bench sync" and "poseidon bench cluster" share.
 *
 *     options --> axes, links, a key --> for each bandwidth and number of nodes: bench_members.h */
#ifndef PSD_CLI_BENCH_H
#define PSD_CLI_BENCH_H

#include "cli/links.h"
#include "cli/model.h"
#include "cli/sweep.h"

enum psd_bench_arithmetic { PSD_BENCH_SLEEP, PSD_BENCH_REAL };
enum psd_bench_encrypt { PSD_BENCH_CLEAR, PSD_BENCH_ENCRYPTED };

struct psd_bench_options {
    struct psd_model_options model;
    char **nodes, **bandwidths, **schemes, **bytes;
    uint64_t compute_ns;
    int64_t iterations, streams, lanes;
    size_t window;
    enum psd_bench_arithmetic arithmetic;
    enum psd_bench_encrypt encrypt;
    enum psd_network_ktls ktls;
    char *dilate;
    bool loopback;
    char *csv;
};

struct psd_bench {
    struct psd_cli *cli; /* borrowed, as is the next */
    const struct psd_bench_options *options;
    struct psd_sweep_axes axes; /* loopback has one bandwidth, 0 */
    struct psd_links links;
    double rate;                /* at which the goodput was measured the last time */
    struct psd_goodput goodput; /* all zero: it was not */
    int key_fd;                 /* owned; the key of all jobs (key.h) */
    struct psd_secret *key;     /* it, in a member, as long as that lives */
    FILE *csv;                  /* borrowed; rows for programs */
    bool has_rows;              /* there are some */
};

/* What one stream gets through links of `rate`, which are free again afterwards; measured once for each
 * rate in turn. A node alone gets the rate. */
psd_status psd_bench_goodput(struct psd_bench *bench, double rate, unsigned nodes,
                             struct psd_goodput *out);

/* Makes the links, says so, and calls measure(arg), whose rows for programs go to bench->csv. All that
 * can be wrong with the options has been looked at before. */
psd_status psd_bench_measure(struct psd_bench *bench, psd_status (*measure)(void *arg), void *arg);

/* The two. */
psd_status psd_bench_sync(struct psd_bench *bench);
psd_status psd_bench_cluster(struct psd_bench *bench);

#endif
