/* node.h - one process's part in a running job: events in, actions out.
 *
 *                  sync, sync_factors, wait                     send      to the transport
 *     caller  ------------------------------>  .--------.  ---------------------------->
 *                  place, arrived, sent        |  node  |       work      to helpers
 *     transport ---------------------------->  |        |  ---------------------------->
 *                  done                        |        |       fresh     to who waits
 *     helpers ------------------------------>  '--------'  ---------------------------->
 *
 * A node holds the syncers (what this process's workers have synced), the shards (the pieces it
 * owns), the factor exchange, clipping, collectives and the schedule. It does no I/O and reads no
 * clock: a driver feeds it events and does what it asks. comm.c is the driver with threads and
 * sockets, cluster.c the one with a virtual clock; both link this file. One thread at a time. */
#ifndef PSD_COMM_NODE_H
#define PSD_COMM_NODE_H

#include "comm/layout.h"
#include "comm/merge.h"
#include "comm/schedule.h"
#include "comm/work.h"

struct psd_node;

/* What a node asks of its driver. None of these calls the node back before it returns, except that
 * `work` and `send` may be answered at once by psd_node_done and psd_node_sent from an outer loop. */
struct psd_node_driver {
    /* Sends the message; the driver answers with psd_node_sent when header and payload are no longer
     * needed, and not before the send has left for good. */
    void (*send)(void *driver, struct psd_send *send);

    /* Lets the work be done and answers with psd_node_done. */
    void (*work)(void *driver, struct psd_work *work);

    /* The value of `param` is that of the iteration begun last. */
    void (*fresh)(void *driver, size_t param);

    /* The collective under way has ended; its result is where it was given. */
    void (*collected)(void *driver);

    /* The job has ended with a mistake or a loss; said once. `sentence` is borrowed for the call. */
    void (*ended)(void *driver, psd_status status, const char *sentence);

    /* Something a person should know. */
    void (*warn)(void *driver, const char *sentence);
};

struct psd_node_options {
    const struct psd_job *job;       /* borrowed, as all here, until destroy; planned */
    const struct psd_layout *layout; /* of that job */
    const struct psd_merge *merge;
    unsigned rank;
    size_t credit;   /* bytes in flight, for pushes and for values each; 0: the default */
    bool sizes_only; /* no memory behind values, gradients and factors */
    const struct psd_node_driver *driver;
    void *context; /* the driver's first argument */
};

/* PSD_EINVAL: the rank hosts no worker. PSD_ENOSUP: there are too many of them. */
psd_status psd_node_create(const struct psd_node_options *options, struct psd_node **out);
void psd_node_destroy(struct psd_node *node);

/* Makes everything in advance that can be under way at a time, so that nothing is allocated later. What
 * a simulation of thousands of nodes makes as it goes along takes less memory. */
psd_status psd_node_reserve(struct psd_node *node);

/* Where the caller's value of `param` is; before anything else, for each parameter. */
void psd_node_set_value(struct psd_node *node, size_t param, float *value);

/* Spreads worker 0's values, before any message comes; each parameter is reported fresh when it has come. In sum mode, and when
 * all values are `equal` already, nothing is spread and all is fresh at once. */
psd_status psd_node_start(struct psd_node *node, bool equal);

/* The caller's side of poseidon/comm.h. A failure other than PSD_ENOMEM is a certain mistake: the
 * node tells everybody, and `ended` follows on each. */
psd_status psd_node_begin(struct psd_node *node, uint64_t iteration, float rate);
psd_status psd_node_sync(struct psd_node *node, size_t param, unsigned worker, float *grad);
psd_status psd_node_sync_factors(struct psd_node *node, size_t param, unsigned worker,
                                 size_t batch);

/* Copies u and v to where sync_factors expects them; any thread, after begin and before that worker's
 * psd_node_sync_factors of the same iteration. */
void psd_node_copy_factors(struct psd_node *node, size_t param, unsigned worker, uint64_t iteration,
                           const float *u, const float *v, size_t batch);

/* The order in which values are wanted: [n_params], the smaller, the sooner. At first the order of the
 * parameters. Any order gives the same bits. */
void psd_node_set_urgency(struct psd_node *node, const uint32_t *urgency);

/* Somebody waits for `param` (or, with PSD_NODE_ALL, in a collective): what shares a piece with
 * others and is ready goes out now. */
#define PSD_NODE_ALL SIZE_MAX
void psd_node_waits(struct psd_node *node, size_t param);

/* Somebody has waited too long for `param` (or, with PSD_NODE_ALL, in a collective): asks who is
 * missing, and warns when the answer comes. */
void psd_node_overdue(struct psd_node *node, size_t param);

/* Takes part in the next collective, one at a time. `data` is borrowed until `collected`, which may
 * come before this returns: for a sum along the tree a row of `bytes` for each hosted worker, none at
 * all for a barrier; for a copy the `bytes` that worker 0's process gives all others. */
enum psd_collective {
    PSD_COLLECTIVE_SUM,
    PSD_COLLECTIVE_COPY,
    PSD_COLLECTIVE_STATE, /* by the call below */
    PSD_COLLECTIVES
};
psd_status psd_node_collect(struct psd_node *node, enum psd_collective kind, void *data,
                            size_t bytes);

/* The same for state `kind` of what the rule keeps of `param`, [rows][cols], which the host of worker 0
 * collects in `data`; the others may pass NULL. All values have come, and no iteration has begun since.
 * Any failure but PSD_EPEER changes nothing. */
psd_status psd_node_save_state(struct psd_node *node, size_t param, unsigned kind, float *data);

/* Takes of `data` what this rank keeps; before the first begin. */
psd_status psd_node_load_state(struct psd_node *node, size_t param, unsigned kind,
                               const float *data);

/* A header has come from `from`: where its payload goes. One that may not come now ends the job; then,
 * and afterwards, payloads go nowhere (spans without data). */
void psd_node_place(struct psd_node *node, unsigned from, const struct psd_message *message,
                    struct psd_place *place);

/* Whether the payload of a message that has its place is added to what is there. */
bool psd_node_adds(const struct psd_node *node, const struct psd_message *message);

/* Its payload is in place. */
void psd_node_arrived(struct psd_node *node, const struct psd_message *message);

void psd_node_sent(struct psd_node *node, struct psd_send *send);
void psd_node_done(struct psd_node *node, struct psd_work *work);

/* The connection to `rank` is gone: the job ends, unless that rank has left it before. */
void psd_node_lost(struct psd_node *node, unsigned rank, const char *why);

/* Ends the job for everybody with this sentence, once. */
void psd_node_end(struct psd_node *node, psd_status status, const char *sentence);

/* Tells all others that this rank closes its seat; once no value is due here any more. Who still waits
 * for something from it ends the job. */
void psd_node_leave(struct psd_node *node);

/* Whether sends are queued or in flight, or works ordered. */
bool psd_node_busy(const struct psd_node *node);

/* Bytes that the node holds for places, partial sums, factors, rule state and scratch; the plan's
 * figure. */
size_t psd_node_memory(const struct psd_node *node);

/* Adds what has happened here; waits are the driver's to count. */
void psd_node_count(const struct psd_node *node, struct psd_comm_counters *out);

#endif
