/* cluster.h - a whole job in one process, on a network and a clock of its own.
 *
 *     node 0   node 1   node 2 ...      the state machines of node.h, as they run for real
 *        \       |       /
 *         net/sim: links, delays, faults, the clock
 *
 * The second driver of node.h, after comm.c. Each node has a host processor that sums (at the
 * workload's rate) and a device that computes layers, rebuilds and updates: things that need the
 * same one wait for each other, in the order they come, except that a layer, which takes long, gives
 * way to rebuilding and updating in its midst and ends later by as much. What one machine alone also
 * does in an iteration (one local product of each factored layer, one update of each value) is part
 * of the layers' time: only what exceeds it takes device time, and what is saved is not credited.
 *
 * Payloads are real or sizes only. Everything is repeatable from the seed. One thread. */
#ifndef PSD_COMM_CLUSTER_H
#define PSD_COMM_CLUSTER_H

#include "comm/node.h"
#include "comm/workload.h"
#include "net/sim/sim.h"

struct psd_cluster;

struct psd_cluster_options {
    const struct psd_job *job; /* borrowed until destroy; planned */
    const struct psd_workload
        *workload; /* rates of host and device; NULL: arithmetic takes no time */
    struct psd_sim_options network;
    size_t most;   /* bytes of the largest piece; 0: the default */
    size_t credit; /* of each node; 0: the default */
    bool sizes_only;

    /* What happens on a node, on the caller's thread, inside psd_cluster_step. */
    void (*fresh)(void *user, unsigned rank, size_t param);
    void (*collected)(void *user, unsigned rank);
    void (*ended)(void *user, unsigned rank, psd_status status, const char *sentence);
    void (*warn)(void *user, unsigned rank, const char *sentence);
    void *user;
};

psd_status psd_cluster_create(const struct psd_cluster_options *options, struct psd_cluster **out);
void psd_cluster_destroy(struct psd_cluster *cluster);

struct psd_node *psd_cluster_node(struct psd_cluster *cluster, unsigned rank); /* borrowed */
struct psd_sim *psd_cluster_sim(struct psd_cluster *cluster);
const struct psd_layout *psd_cluster_layout(const struct psd_cluster *cluster);

/* Lets fn(arg) run when the device of `rank` has worked `seconds` for it, after the layers that it was
 * given before, and without what it gives way to. */
psd_status psd_cluster_compute(struct psd_cluster *cluster, unsigned rank, double seconds,
                               void (*fn)(void *arg), void *arg);

/* Lets the next event happen. False: there is none. */
bool psd_cluster_step(struct psd_cluster *cluster);
psd_status psd_cluster_status(const struct psd_cluster *cluster);

/* The member is gone, or two have lost each other. */
void psd_cluster_kill(struct psd_cluster *cluster, unsigned rank);
void psd_cluster_cut(struct psd_cluster *cluster, unsigned a, unsigned b);
void psd_cluster_slow(struct psd_cluster *cluster, unsigned rank, double bandwidth, double times);

struct psd_sim_traffic psd_cluster_traffic(const struct psd_cluster *cluster, unsigned rank);

/* Seconds that a rank's device has worked in all; and of these, beyond what one machine alone does. */
double psd_cluster_busy(const struct psd_cluster *cluster, unsigned rank);
double psd_cluster_extra(const struct psd_cluster *cluster, unsigned rank);

#endif
