/* values.h - twins wait for fresh values, each value once in an iteration; only for train/.
 *
 *     twin 0    waits for conv1 ----> fresh       computes, syncs conv1 ...
 *     twin 1         waits for twin 0 ^           finds it fresh, whatever twin 0 has synced since
 *
 * A seat waits for the latest sync of a parameter. Who comes late must not wait for what a faster twin
 * has synced in the same iteration: that needs the late one's own gradient. Any thread. */
#ifndef PSD_TRAIN_VALUES_H
#define PSD_TRAIN_VALUES_H

#include "poseidon/comm.h"

#include <pthread.h>
#include <stdatomic.h>

struct psd_values {
    struct psd_comm *comm;  /* borrowed */
    uint64_t round;         /* changes only while nobody waits */
    _Atomic uint64_t *seen; /* owned; [count]: the round in which a value was found fresh */
    pthread_mutex_t lock;   /* held by the one who waits for the seat */
};

psd_status psd_values_init(struct psd_values *values, struct psd_comm *comm, size_t count);
void psd_values_fini(struct psd_values *values);

/* A new iteration: nothing is known to be fresh. While no twin runs. */
void psd_values_renew(struct psd_values *values);

/* Returns when the value of `id` is that of the iteration before. */
psd_status psd_values_wait(struct psd_values *values, int id);

#endif
