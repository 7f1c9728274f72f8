/* bench.h - what "poseidon bench sync" and "poseidon bench cluster" share.
 *
 *     options --> axes, links, a key --> for each bandwidth and number of nodes:
 *
 *     we                                        members
 *     links are free
 *     members start --------------------------> seats are taken, values equal
 *     gate: are all ready? links are shaped <-- ready
 *     go -------------------------------------> iterations
 */
#ifndef PSD_CLI_BENCH_H
#define PSD_CLI_BENCH_H

#include "cli/common.h"
#include "cli/links.h"
#include "cli/members.h"
#include "cli/model.h"
#include "cli/sweep.h"

#include <stdatomic.h>

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
    FILE *csv;                  /* borrowed; NULL: none is wanted */
};

/* What members wait at until all have come and their links are shaped. In memory that all see. */
struct psd_bench_gate {
    struct psd_links *links; /* borrowed; ours alone */
    double rate;             /* that they are shaped to then; 0: not at all */
    unsigned count;
    _Atomic(unsigned) ready;
    _Atomic(bool) open;
};

/* For a member: returns when the gate is open. For us, again and again: opens it when all wait. */
psd_status psd_bench_gate_wait(struct psd_bench_gate *gate);
psd_status psd_bench_gate_watch(struct psd_bench_gate *gate);

/* In a member: the options of its seat; `coordinator` is borrowed by it. */
psd_status psd_bench_seat(struct psd_bench *bench, const char *coordinator, unsigned rank,
                          unsigned ranks, struct psd_comm_options *out);

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
