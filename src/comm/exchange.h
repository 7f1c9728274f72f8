/* exchange.h - factors of one weight: gathered worker by worker, then rebuilt row by row.
 *
 *     worker 0   u v ---.                        broadcast: every rank gathers all of u and v and
 *     worker 1   u v ---+--> u v u v u v         rebuilds the whole matrix
 *     worker 2   u v ---'        |               row-sharded: its rows of u and all of v, and it
 *                                v               publishes its rows to the others
 *                  product of chunks of rows --> rule --> value
 *
 * A block of samples comes exactly once from each worker in an iteration, in a few messages (cut.h),
 * and the product runs over them in the order of workers. On the broadcast route a fast member may be one iteration ahead, so
 * there are two sets of blocks. Part of the node. */
#ifndef PSD_COMM_EXCHANGE_H
#define PSD_COMM_EXCHANGE_H

#include "comm/cut.h"
#include "comm/node.h"
#include "math/product.h"

enum { PSD_EXCHANGE_WORKS = 4 }; /* chunks that are rebuilt at a time */

/* Rebuilding some rows. */
struct psd_exchange_work {
    struct psd_work work;
    struct psd_exchange *exchange; /* borrowed */
    size_t chunk;
    float *scratch;                   /* owned; some rows, or the bias; NULL in sum mode */
    struct psd_product_block *blocks; /* owned; [workers]: the rows at hand */
};

/* The factors of one iteration. */
struct psd_gather {
    uint64_t iteration;
    uint64_t *here;                   /* owned; [workers]: cuts that are here or coming, as bits, */
    uint64_t *came;                   /* owned; [workers]: and of them those that are here */
    size_t known;                     /* of them; 0: `iteration` means nothing */
    size_t missing;                   /* cuts that are not here */
    float *memory;                    /* owned; behind the blocks; NULL where sizes are simulated */
    struct psd_product_block *blocks; /* owned; [workers] */
};

struct psd_exchange {
    struct psd_node *node;        /* borrowed */
    size_t param, bias;           /* bias: SIZE_MAX for none */
    struct psd_rows rows;         /* that this rank rebuilds */
    struct psd_gather gathers[2]; /* broadcast: by parity of the iteration; else only the first */
    size_t cuts;                  /* of all workers' factors, as this rank gathers them */
    float *staging;            /* owned; own u's packed by receiver, and v's; NULL on broadcast */
    float **own;               /* owned; [n_hosted]: each worker's block in it */
    size_t chunks, next, done; /* of the rebuild under way; the last chunk is the bias, if any */
    size_t weights_done;       /* chunks of the weight among them */
    size_t chunk_rows;         /* on broadcast; */
    size_t chunk_pieces;       /* else a chunk is so many pieces */
    size_t pieces;             /* of the weight that are ours, */
    uint32_t first_piece;      /* the first of them; and the bias's */
    uint32_t bias_piece;
    bool ready;         /* all factors are here and the rebuild has not begun */
    uint64_t iteration; /* that is being rebuilt, or was last */
    bool rebuilt;       /* something, ever */
    struct psd_exchange_work works[PSD_EXCHANGE_WORKS];
    float *states[4], *bias_states[4]; /* owned; of the own rows */
};

struct psd_exchanges {
    struct psd_exchange *all; /* owned */
    uint32_t *of_param;       /* owned; [n_params]: 1 + index, 0: none */
    size_t count;
};

psd_status psd_exchange_init(struct psd_node *node);
void psd_exchange_fini(struct psd_node *node);

/* The exchange of a weight; NULL: it is none, or not factored. */
struct psd_exchange *psd_exchange_find(const struct psd_node *node, size_t param);

const struct psd_job_param *psd_exchange_weight(const struct psd_exchange *exchange);

/* Whether everybody rebuilds all of it: on the broadcast route, or alone. */
bool psd_exchange_is_broadcast(const struct psd_exchange *exchange);

/* How many rows this rank rebuilds. */
size_t psd_exchange_rows(const struct psd_exchange *exchange);

/* How the factors of `worker` travel to somebody who rebuilds `rows` rows. */
struct psd_cut psd_exchange_cut(const struct psd_exchange *exchange, unsigned worker, size_t rows);

/* --- own factors: exchange_send.c ---------------------------------------------------------------- */

psd_status psd_exchange_init_own(struct psd_exchange *exchange);

/* Copies a worker's factors into place; any thread. */
void psd_exchange_copy(struct psd_node *node, size_t param, unsigned worker, uint64_t iteration,
                       const float *u, const float *v, size_t batch);

/* Sends them to all who need them. */
void psd_exchange_send(struct psd_exchange *exchange, unsigned worker, uint64_t iteration);

/* How many messages of factors this rank can have on their way at a time. */
size_t psd_exchange_sends(const struct psd_node *node);

/* --- everybody's: exchange_gather.c -------------------------------------------------------------- */

psd_status psd_exchange_init_gathers(struct psd_exchange *exchange);
void psd_exchange_fini_gathers(struct psd_exchange *exchange);

/* Where the factors of an iteration are gathered. */
struct psd_gather *psd_exchange_gather(struct psd_exchange *exchange, uint64_t iteration);

/* Where those of a worker begin in the gather's own memory. */
float *psd_exchange_block(const struct psd_exchange *exchange, const struct psd_gather *gather,
                          unsigned worker);

/* A worker of ours has synced: its factors are gathered, and sent to all who need them. */
void psd_exchange_give(struct psd_node *node, size_t param, unsigned worker, uint64_t iteration);

psd_status psd_exchange_place(struct psd_node *node, const struct psd_message *message,
                              struct psd_place *place);
void psd_exchange_arrived(struct psd_node *node, const struct psd_message *message);

/* All of the iteration that is being rebuilt may be overwritten. */
void psd_exchange_empty(struct psd_exchange *exchange);

/* All factors of the iteration that is being rebuilt, with the rows of this rank. */
const struct psd_product_block *psd_exchange_blocks(struct psd_exchange *exchange);

/* Whether factors of `iteration` that `rank` has sent, or is to send, have not come. */
bool psd_exchange_awaits(const struct psd_node *node, size_t param, unsigned rank,
                         uint64_t iteration);

/* A worker whose factors of `iteration` are not here; UINT32_MAX: all are, or were. */
uint32_t psd_exchange_missing(const struct psd_node *node, size_t param, uint64_t iteration);

/* --- the product: exchange_rebuild.c ------------------------------------------------------------- */

psd_status psd_exchange_init_works(struct psd_exchange *exchange);
void psd_exchange_fini_works(struct psd_exchange *exchange);

/* All factors are here: rebuilds its rows. */
void psd_exchange_rebuild(struct psd_exchange *exchange);

/* Clipping is decided: rebuilds everything that is ready. */
void psd_exchange_update_all(struct psd_node *node);

/* Whether this rank rebuilds all of `param` for itself: no values of it come from others. */
bool psd_exchange_is_whole(const struct psd_node *node, size_t param);

#endif
