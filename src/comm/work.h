/* work.h - arithmetic that a node orders and somebody else does.
 *
 *     node:  work->run = add;  order(work)  --->  helper:  work->run(work)  --->  psd_node_done(work)
 *
 * The node's thread never computes for long: it fills in a work, embedded where its result belongs,
 * and goes on when it is done. A live driver runs it on helper threads; a simulation counts the time
 * that `bytes` and `flops` take, and runs it only where payloads are real. Works that are ordered at
 * the same time touch different memory. */
#ifndef PSD_COMM_WORK_H
#define PSD_COMM_WORK_H

#include "base/box.h"

#include <stddef.h>
#include <stdint.h>

enum psd_work_kind {
    PSD_WORK_SUM,     /* adds gradients: bytes read once, on the host */
    PSD_WORK_UPDATE,  /* applies the rule: bytes of values, on the device */
    PSD_WORK_REBUILD, /* products, on the device, and the update of what they give */
    PSD_WORK_COPY     /* bytes moved on the host: counted, too small to matter */
};

struct psd_work {
    struct psd_boxed boxed; /* for whoever holds it meanwhile */
    enum psd_work_kind kind;
    uint32_t param;                      /* that it is for */
    uint32_t urgency;                    /* as of a send */
    double bytes;                        /* of values summed or updated */
    double flops;                        /* of products */
    void (*run)(struct psd_work *work);  /* any thread; NULL where only sizes are simulated */
    void (*done)(struct psd_work *work); /* the node's thread; called by psd_node_done */
    void *owner;                         /* for the two above */
    uint64_t until_ns;                   /* for whoever holds it, too */
};

#endif
