/* poseidon/comm.h - take a seat in a training job and keep its parameters in step.
 *
 *     psd_comm_open(&options, &comm);                          each process, once
 *     psd_comm_add(comm, &(struct psd_comm_param){...}, &fc6);   each parameter, in forward order
 *     psd_comm_start(comm);                                    all values equal worker 0's
 *
 *     psd_comm_begin(comm, iteration, rate);                   each iteration:
 *     backward(fc6);  psd_comm_sync(comm, fc6, worker, grad);    last layer to first: returns at once
 *     psd_comm_wait(comm, fc6);  forward(fc6);                 first layer to last: value is fresh
 *
 *     psd_comm_close(comm);
 *
 * A job has S logical workers, fixed for its life, and processes that host them. Each worker computes
 * a gradient of every parameter in every iteration; their sum changes the values in the same way,
 * to the bit, however many processes there are (docs/numerics.md).
 *
 * Every call is safe from any thread, and a process may hold many seats. The first mistake or loss
 * ends the job: from then on every call of every process answers with its sentence, and gradients
 * that were synced, and the data of a call that it broke off, stay the library's until close.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef POSEIDON_COMM_H
#define POSEIDON_COMM_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct psd_comm; /* one process's seat in one job */

/* What a gradient is made of: a number for each value, or two thin factors whose product it is. The
 * form fixes the order of all additions, so it belongs to the job and never changes. */
enum psd_form { PSD_FORM_AUTO, PSD_FORM_DENSE, PSD_FORM_FACTORED };

/* How an update travels (docs/comm.md, "Routes"). Routes of one form give the same bits. */
enum psd_route {
    PSD_ROUTE_AUTO,
    PSD_ROUTE_SERVERS,     /* dense: pieces are summed and updated by all processes */
    PSD_ROUTE_BROADCAST,   /* factored: factors go to all, who rebuild the whole gradient */
    PSD_ROUTE_ROW_SHARDED, /* factored: each process rebuilds and updates some rows for all */
    PSD_ROUTE_LOCAL,       /* factored, one process */
    PSD_ROUTE_SINGLE_OWNER /* factored: one process rebuilds and updates for all; a baseline */
};

/* What comes back: updated values, or the sum of the gradients for a caller with its own optimizer. */
enum psd_comm_mode { PSD_COMM_UPDATE, PSD_COMM_SUM };

/* How values are updated; the names and the meaning are those of Caffe's solvers. A field left zero
 * takes its default, as in all structures here. */
struct psd_comm_update {
    /* "SGD" (also when NULL), "Nesterov", "AdaGrad", "RMSProp", "AdaDelta" or "Adam"; copied. */
    const char *rule;
    float momentum, momentum2, delta, rms_decay; /* 0: 0, 0.999, 1e-8, 0.99 */
    float decay; /* weight decay, times the parameter's multiplier */
    bool l1;     /* decay by sign instead of by value */

    /* The largest norm of the mean gradient; 0: any. With it no value is fresh before all parameters are
     * synced: wait after the last sync. */
    float clip;
    unsigned iter_size; /* passes that a gradient is the sum of; 0: 1 */
};

/* How fast a process computes what communication asks of it, for the plan, which rank 0 makes: operations
 * a second (two for each multiply-add) of rebuilding a gradient from its factors, and bytes that memory
 * moves in a second during updates (20 for each value) and sums (12). What is 0 rank 0 measures in
 * psd_comm_start, on one thread and for a few milliseconds, when there are several processes. */
struct psd_comm_rates {
    double rebuild_flops, update_bytes_per_s, sum_bytes_per_s;
};

/* What a seat is opened with. All but address, streams, lanes, congestion, window, rank, hosted, batch,
 * batches, bandwidth, latency, timeout_ms, threads, warn, context, rates and no_ktls is the same for all
 * processes. */
struct psd_comm_options {
    /* Where rank 0 is found: "tcp://host:port", or, among threads of one process, "inproc://name";
     * copied. */
    const char *coordinator;

    /* Where this process listens, with the same scheme; copied. tcp: "tcp://host:port", the first free
     * one of "tcp://host:first-last", or "tcp://host": from 7070 on. NULL: rank 0 at the coordinator's
     * address, the others where rank 0 would reach them, from 7070 on. */
    const char *address;

    const void *key; /* the job's secret: who has another takes no seat; borrowed for the call */
    size_t key_size; /* in bytes, up to 64; tcp: 16 at least; 0: the empty key */
    uint64_t job;    /* a number of its own: frames of other jobs with the same key are refused */

    /* tcp: payloads are not encrypted. Strangers are kept out all the same, but not who can change
     * packets on their way, nor who reads them. */
    bool in_clear;

    unsigned streams; /* tcp: sockets to each process; 0: as many as lanes, or 1 */
    unsigned lanes;   /* tcp: threads that read and write; 0: the one that does everything else, or,
                         without `streams`, those that a link above 10 Gbit/s needs */

    /* tcp: the kernel's congestion control for our sockets, "reno"; copied. NULL: the system's, but cubic
     * or reno in place of bbr, which stops now and then while all wait for it. */
    const char *congestion;

    /* tcp: bytes that are on their way to a process at most, for each stream; 16384 or more. 0: what the link
     * of the plan carries in two round trips, 256 KB at least. More than the system allows: as many as the
     * kernel likes, which fills the queues of the network. */
    size_t window;

    unsigned rank, ranks; /* this process among how many; 0 ranks: 1 */
    unsigned workers;     /* S logical workers of the whole job, at least `ranks`; 0: as many */

    /* The logical workers of this process, rising; copied. NULL, for all: dealt out evenly. */
    const unsigned *hosted;
    unsigned n_hosted;

    size_t batch; /* samples that each hosted worker's factors have in an iteration; 0: 1 */
    const size_t *batches; /* [n_hosted], where they differ; copied; NULL: `batch` for each */
    enum psd_comm_mode mode;
    struct psd_comm_update update; /* for PSD_COMM_UPDATE */

    /* Of a process's link, for the plan, which rank 0 makes: bytes a second each way, and seconds. No
     * bandwidth, 0: both are measured by psd_comm_start, in less than a second; inproc, and where only
     * a latency is missing: 10 Gbit/s, 50 us. Negative: measured inproc, too. */
    double bandwidth, latency;

    /* So long open waits for the other processes; any other wait is warned of after it. tcp: a process of
     * which nothing is heard for so long is lost. 0: 10 s. */
    uint64_t timeout_ms;
    unsigned threads; /* that sum, rebuild and update beside the caller's; 0: 1 */

    /* Told what a person should know, a sentence at a time, on a thread of ours; it must not call us.
     * NULL: nobody. */
    void (*warn)(void *context, const char *sentence);
    void *context; /* borrowed until close */

    struct psd_comm_rates rates; /* only those of rank 0 count */

    /* tcp: OpenSSL encrypts, even where the kernel can, which spares copies (kTLS, since Linux 6.14). */
    bool no_ktls;
};

/* A parameter to keep in step. */
struct psd_comm_param {
    const char *name;  /* the same on every process; copied */
    size_t rows, cols; /* rows is 1 for a vector */

    /* [rows][cols], borrowed until close. In update mode the value itself: yours, to read, from the
     * return of wait until the last hosted worker's sync, and ours in between. In sum mode the place
     * where the sum is put, which may be the gradient of a hosted worker: yours from the return of
     * wait until the next sync. */
    float *value;

    float rate, decay; /* multipliers of rate and weight decay; 0: 1, and a negative number: 0 */
    bool factors;      /* an inner product's weight, which can be synced by its factors */

    /* Not learned but measured (a running mean): what is synced are values, each worker's in memory of
     * its own, and the mean of those of all workers is everybody's next value. No rule, rate, decay or
     * clipping; dense. Update mode only. */
    bool averaged;

    /* For the bias of such a weight: 1 + the weight's id. When the weight is factored the bias comes
     * from its u and has no sync of its own; it is waited for as any other. */
    int bias_of;

    enum psd_form form;   /* AUTO: by shape, S and batch alone */
    enum psd_route route; /* AUTO leaves it to the plan */

    /* For the plan, which hides what it can behind computing; only those of rank 0 count. Seconds that a
     * worker computes, forward and backward, in the layers from the first with this parameter on, up to
     * the one with the next that has any. Both 0: used together with the parameter before; all are 0:
     * nothing is known of computing. */
    double forward_s, backward_s;
};

/* Takes the seat and returns when every seat of the job is taken. The caller owns *out until
 * psd_comm_close. PSD_ETIMEOUT: some process never came. PSD_EPEER: a process has other options. */
PSD_API psd_status psd_comm_open(const struct psd_comm_options *options, struct psd_comm **out);

/* Leaves the job and frees `comm`; what other processes still need from this one is computed and sent
 * first. If they go on without it, or this one has not synced all of an iteration, their job ends. No
 * other thread may still be in a call. NULL is fine. */
PSD_API void psd_comm_close(struct psd_comm *comm);

/* Registers a parameter. All processes add the same ones in the same order, the one that forward uses
 * first at the beginning; ids count from 0. */
PSD_API psd_status psd_comm_add(struct psd_comm *comm, const struct psd_comm_param *param, int *id);

/* Compares the parameters of all processes, makes the plan and, in update mode, gives every value
 * what it is on the process of logical worker 0. PSD_EPEER: a process has other parameters. */
PSD_API psd_status psd_comm_start(struct psd_comm *comm);

/* How `id` is made and travels; AUTO before the start, and for an id that there is not. */
PSD_API enum psd_form psd_comm_form(const struct psd_comm *comm, int id);
PSD_API enum psd_route psd_comm_route(const struct psd_comm *comm, int id);

/* The logical workers of this process, rising; borrowed until close. */
PSD_API const unsigned *psd_comm_hosted(const struct psd_comm *comm, unsigned *count);

/* Begins iteration `iteration`, which is the one before plus one (any number at first), with the
 * learning rate `rate`, the same on every rank: in update mode another one ends the job, with both and
 * their ranks named. Every parameter has been synced in the one before; its values may still be on
 * their way: call this before the waits of forward, whose order tells what is needed first. */
PSD_API psd_status psd_comm_begin(struct psd_comm *comm, uint64_t iteration, float rate);

/* Says that `worker`'s gradient of `id` is ready and sends it on its way; once for each hosted worker
 * in an iteration, after the value of the one before has been waited for. Never blocks. `grad` is
 * [rows][cols] and the library's, to write too, until wait. */
PSD_API psd_status psd_comm_sync(struct psd_comm *comm, int id, unsigned worker, float *grad);

/* The same for a factored parameter, whose gradient is u^T v over `batch` samples: u is
 * [batch][rows], v is [batch][cols], both copied in the call. `batch` is the one of the options. */
PSD_API psd_status psd_comm_sync_factors(struct psd_comm *comm, int id, unsigned worker,
                                         const float *u, const float *v, size_t batch);

/* Returns when value holds the result of the latest sync of `id`, by all workers of the job. */
PSD_API psd_status psd_comm_wait(struct psd_comm *comm, int id);

/* How many numbers beside each value the rule keeps (SGD has one, Adam two); 0 in sum mode. */
PSD_API unsigned psd_comm_states(const struct psd_comm *comm);

/* Collects kind `kind` of what the rule keeps of `id`, [rows][cols], on the process of logical worker 0;
 * the others may pass NULL. A collective as those below, between the last wait of an iteration and the
 * next begin. An averaged parameter has none: zeros. */
PSD_API psd_status psd_comm_save_state(struct psd_comm *comm, int id, unsigned kind, float *data);

/* Gives it back before the first begin, after start; every process gives the same, of which it takes
 * what it keeps. Never given: zeros. */
PSD_API psd_status psd_comm_load_state(struct psd_comm *comm, int id, unsigned kind,
                                       const float *data);

enum { PSD_COMM_REDUCE_MOST = 4096 }; /* floats of each worker in a small all-reduce */

/* Adds `count` numbers of every logical worker of the job along the fixed tree. `data` is
 * [n_hosted][count]; the sum is put into its first row on every process. All processes call it, and
 * barrier and broadcast, in the same order, one thread at a time. */
PSD_API psd_status psd_comm_reduce(struct psd_comm *comm, float *data, size_t count);

/* Returns when every process is here. */
PSD_API psd_status psd_comm_barrier(struct psd_comm *comm);

/* Gives `data` what it is on the process of logical worker 0. That one waits until the others call only
 * where there is more than 1 MB, or where it is 16 broadcasts ahead. */
PSD_API psd_status psd_comm_broadcast(struct psd_comm *comm, void *data, size_t bytes);

/* Ends the job for all processes, whose calls answer with PSD_EPEER and this sentence, after "rank 2: ".
 * For what a process cannot go on after: it says so here before it closes its seat. */
PSD_API void psd_comm_end(struct psd_comm *comm, const char *sentence);

/* The plan as text for people, with its reasons; borrowed until close, "" before start. */
PSD_API const char *psd_comm_plan(const struct psd_comm *comm);

/* What has happened on this seat since its start. */
struct psd_comm_counters {
    uint64_t iterations;
    uint64_t sent_bytes, received_bytes; /* payloads and headers */
    uint64_t sent_messages, received_messages;
    uint64_t waits, waited_ns; /* that found a value still on its way, and for how long in all */
    uint64_t warnings;

    /* tcp: what strangers and faults have sent here since open; `warn` is told at close. */
    uint64_t refused_handshakes; /* by who has not the key */
    uint64_t refused_late;       /* callers, and streams of theirs, that took too long */
    uint64_t refused_garbled;    /* frames that were altered on their way; the first ends the job */
    uint64_t refused_foreign, refused_replayed, refused_old; /* of another job, sequence, epoch */
    uint64_t refused_starved; /* times that nobody was let in: too few descriptors, or no memory */
};
PSD_API void psd_comm_count(struct psd_comm *comm, struct psd_comm_counters *out);

#ifdef __cplusplus
}
#endif

#endif
