/* seat.h - one process's seat: its threads, its connections, and how it gets to a running node.
 *
 *     seat_join.c    connect to rank 0 --> join --> roster --> connect to all --> seated
 *     seat_start.c   psd_comm_start --> params --> plan --> node --> values --> started
 *     seat_measure.c, seat_flow.c              '--> how fast is the network? --'
 *     seat_driver.c  what the node asks for
 *     seat_refused.c what strangers and faults have cost
 *     seat.c         what comes from others, and the end
 *     seat_part.c    whom we may leave
 *
 *     caller's threads          the loop's thread                  helpers
 *     psd_comm_* -- post -----> seat, mesh, node -- work -----> sums, products, updates
 *          ^                        |     ^                          |
 *          '------ lock, wake ------'     '--------- post -----------'
 *
 * All but what the lock guards, and what is constant after start, belongs to the loop. Only for
 * seat*.c and comm*.c. */
#ifndef PSD_COMM_SEAT_H
#define PSD_COMM_SEAT_H

#include "base/loop.h"
#include "comm/helpers.h"
#include "comm/letters.h"
#include "comm/mesh.h"
#include "comm/node.h"
#include "comm/roster.h"

#include <pthread.h>
#include <stdatomic.h>

/* A hosted worker's sync of one parameter: there is one at a time, so none is ever allocated. */
struct psd_request {
    struct psd_comm *comm; /* borrowed */
    size_t param;
    unsigned worker;
    float *grad;            /* borrowed until wait; NULL: factors */
    size_t batch;           /* of the factors; 0: a gradient */
    _Atomic(uint64_t) next; /* the iteration after the one it was used in; 0: never */
};

/* Another member, as this seat knows it. */
struct psd_seat_member {
    bool joined;  /* it has been connected to us */
    bool missed;  /* it could not be reached, and is called again */
    bool ended;   /* it has told how the job ended */
    bool left;    /* it closes its seat, */
    bool is_free; /* and has been told that we need nothing more from it */
    bool parted;  /* it has told us the same */
};

/* What the plan is made with, and whence it is: "measured", "given" or "assumed". */
struct psd_seat_network {
    double bandwidth, latency;
    const char *bandwidth_is, *latency_is; /* static */
    unsigned slowest;                      /* the rank with that bandwidth, when it is measured */
};

struct psd_seat_flow; /* a measurement (seat_measure.h) */

enum psd_seat_phase { PSD_SEAT_JOINING, PSD_SEAT_SEATED, PSD_SEAT_STARTED };

struct psd_comm { /* NOLINT(clang-analyzer-optin.performance.Padding): by who owns what */
    struct psd_comm_options options;       /* its texts and arrays are owned, below */
    char *coordinator;                     /* owned, as are the next three */
    unsigned *named;                       /* the hosted workers of the options; NULL: dealt out */
    size_t *batches;                       /* theirs; NULL: all have options.batch */
    char *address;                         /* to listen at, without the scheme; "": anywhere */
    const char *first;                     /* where rank 0 does; borrowed from coordinator */
    const struct psd_transport *transport; /* static */
    unsigned ranks;
    bool is_running; /* the loop is */

    struct psd_loop *loop;       /* owned */
    struct psd_helpers *helpers; /* owned */

    /* On the loop. */
    struct psd_mesh *mesh; /* owned; NULL: not yet, or not any more */
    struct psd_letters letters;
    struct psd_seat_member *members; /* owned; [ranks] */
    struct psd_roster *roster;       /* owned; at rank 0 */
    char **addresses;                /* owned; [ranks] texts, once the roster is there */
    struct psd_pack *offers; /* owned; [ranks]: at rank 0, parameters still to be compared */
    bool *has_offered;       /* owned; [ranks]: whose parameters are known; at rank 0, or its own */
    struct psd_timer retry;  /* of connections that could not be made */
    struct psd_timer overdue; /* when joining, or starting, has taken too long */
    char why[256];            /* somebody was not reached the last time; "": all were */
    uint64_t warnings;
    unsigned joined;                 /* members that the mesh has */
    unsigned leavers;                /* members that wait for our word to close their seats */
    size_t unfresh;                  /* parameters whose initial value has not come; set by start */
    bool waited;                     /* joining has taken too long once */
    bool measures;                   /* the network, before the plan; rank 0's counts */
    struct psd_seat_network network; /* rank 0's */
    struct psd_comm_rates rates;     /* the same, of the options or measured; set by start */
    struct psd_seat_flow *flow;      /* owned; NULL: nothing is being measured */

    /* Made while joining and starting, constant afterwards. */
    struct psd_job *job; /* owned, as are the next four */
    struct psd_layout *layout;
    struct psd_merge *merge;
    struct psd_node *node;
    char *plan;
    float **values;               /* owned; [n_params] the callers' */
    struct psd_request *requests; /* owned; [n_params][n_hosted] */
    unsigned *hosted, n_hosted;   /* owned */
    uint32_t *urgency;            /* owned; [n_params]: what begin tells the node */

    /* Any thread. */
    _Atomic(uint64_t)
        *due; /* owned; [n_params]: 1 + the iteration whose value has not come; 0: none */
    _Atomic(uint32_t) *order; /* owned; [n_params]: place among the waits; UINT32_MAX: not yet */
    _Atomic(uint64_t) iteration, wait_count, wait_ns;
    _Atomic(uint32_t) ordered;  /* parameters that have a place, since the latest begin */
    _Atomic(uint32_t) sleepers; /* callers that wait for values, since before they look at due */
    _Atomic(bool) started, begun, ended;
    _Atomic(bool) told; /* others know of the end, or have had the time to */

    pthread_mutex_t lock; /* guards all below, and adding; held while waiting for `changed` */
    pthread_cond_t changed;
    enum psd_seat_phase phase;
    psd_status status; /* of the job, when it has ended */
    char *sentence;    /* owned; why it has */
    bool offered;      /* start has been called: nothing more is added */
    bool collecting;   /* a collective is under way */
};

/* Starts joining; on the loop, as all that follows. The argument is the struct psd_comm. */
void psd_seat_join(void *arg);

/* Offers this seat's parameters to rank 0. */
void psd_seat_offer(void *arg);

/* Closes the connections; nothing is heard or sent afterwards. */
void psd_seat_leave(void *arg);

/* Ends the job for this seat and, as far as they can be reached, for the others; once. */
void psd_seat_end(struct psd_comm *comm, psd_status status, const char *sentence);

/* The same with psd_error(), unless `status` is PSD_OK. */
void psd_seat_check(struct psd_comm *comm, psd_status status);

/* Tells whoever listens what a person should know. */
void psd_seat_warn(struct psd_comm *comm, const char *sentence);

/* What the network has refused so far (seat_refused.c): in numbers, and to whoever listens. */
void psd_seat_count_refused(const struct psd_comm *comm, struct psd_comm_counters *out);
void psd_seat_tell_refused(struct psd_comm *comm);

/* Opens the mesh at this seat's address (seat.c), and goes on when a member joins it (seat_join.c). */
psd_status psd_seat_open_mesh(struct psd_comm *comm);
void psd_seat_joined(struct psd_comm *comm, unsigned from);

/* The connection to a member is gone while there is no node. */
void psd_seat_lost(struct psd_comm *comm, unsigned from, const char *why);

/* A letter has come whole. A failure ends the job. */
psd_status psd_seat_take_join(struct psd_comm *comm, unsigned from);
psd_status psd_seat_take_roster(struct psd_comm *comm, const struct psd_pack *roster);
psd_status psd_seat_take_params(struct psd_comm *comm, unsigned from);
psd_status psd_seat_take_plan(struct psd_comm *comm, const struct psd_pack *letter);

/* Rank 0 knows all that the plan is made of: makes it, and the nodes begin. */
psd_status psd_seat_plan(struct psd_comm *comm);

/* Rank 0 lets all measure; psd_seat_plan follows. */
psd_status psd_seat_measure(struct psd_comm *comm);

/* The messages of a measurement (message.h), and the frames of its flow. */
psd_status psd_seat_take_measure(struct psd_comm *comm);
psd_status psd_seat_take_ping(struct psd_comm *comm, unsigned from);
psd_status psd_seat_take_pong(struct psd_comm *comm, unsigned from);
psd_status psd_seat_take_came(struct psd_comm *comm, unsigned from, uint32_t bytes);
psd_status psd_seat_take_measured(struct psd_comm *comm, unsigned from);
psd_status psd_seat_place_flow(struct psd_comm *comm, unsigned from,
                               const struct psd_message *message, struct psd_place *place);
psd_status psd_seat_take_flow(struct psd_comm *comm, const struct psd_message *message);
bool psd_seat_flow_sent(struct psd_comm *comm, const struct psd_frame *frame);

/* Frees the measurement: once it is over and there is a node; or anyway, when the mesh is closed. */
void psd_seat_end_flow(struct psd_comm *comm);
void psd_seat_free_flow(struct psd_comm *comm);

/* A member leaves, or we have what we waited for: those that wait for our word get it when nothing is
 * due here. */
void psd_seat_note_leave(struct psd_comm *comm, unsigned from);
void psd_seat_let_go(struct psd_comm *comm);

/* Whether all that we had to say has left, and every member has heard our last words: how the job ended,
 * or that we leave. */
bool psd_seat_is_heard(const struct psd_comm *comm);

/* Whether values of this seat are still on their way; any thread. */
bool psd_seat_is_due(const struct psd_comm *comm);

/* What the node asks for; its context is the struct psd_comm. */
extern const struct psd_node_driver psd_seat_driver;

/* Notes that the job has ended and wakes whoever waits; the first sentence stays. */
void psd_seat_note_end(struct psd_comm *comm, psd_status status, const char *sentence);

/* Moves on to `phase` and wakes whoever waits for it. */
void psd_seat_advance(struct psd_comm *comm, enum psd_seat_phase phase);

#endif
