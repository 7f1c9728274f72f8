/* arithmetic.h - works that take their time and compute nothing, for measurements.
 *
 *     loop    order(rebuild) ---> until(rebuild) = 12.4 ms from now ---> ... done(rebuild)
 *             order(sum)     ---> until(sum) = 0: a helper runs it
 *
 * A benchmark on a machine that has no device gives works the time that a device would need. What
 * they would have computed is wrong then; what travels is as it would be. */
#ifndef PSD_COMM_ARITHMETIC_H
#define PSD_COMM_ARITHMETIC_H

#include "comm/work.h"
#include "poseidon/comm.h"

struct psd_arithmetic {
    /* When `work`, which is ordered now, ends on the clock of base/clock.h; 0: it is to be run. It
     * is asked on the loop's thread, once for each work, and what it answers never falls. */
    uint64_t (*until)(void *context, const struct psd_work *work);
    void *context;
};

/* Has the works of an open seat done by `arithmetic`, which is borrowed until close; before
 * psd_comm_start. */
psd_status psd_arithmetic_set(struct psd_comm *comm, const struct psd_arithmetic *arithmetic);

#endif
