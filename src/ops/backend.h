/* backend.h - the contract between the ops room and a backend, for whoever writes the next one.
 *
 *     ops.c                                  plain/plain.c, onednn/..., simd/...
 *     finds who can do a spec, keeps    -->  struct psd_backend: plans and computes
 *     the books, checks values
 *
 * To add one, write <name>/<name>.c, declare it below and add its line to backends.c; ops_test.c
 * and ops_slope_test.c then run all their cases on it. */
#ifndef PSD_OPS_BACKEND_H
#define PSD_OPS_BACKEND_H

#include "base/pool.h"
#include "ops/ops.h"

struct psd_op {
    struct psd_ops *ops; /* borrowed; outlives us */
    const struct psd_backend *backend;
    const struct psd_op_code *code; /* what does the work; set by the backend's plan */
    struct psd_op_spec spec;
    void *plan; /* the backend's own, from plan to drop; may be NULL */
};

/* How one kind of operation is done. */
struct psd_op_code {
    /* Both compute at once on the calling thread and the pool; neither may allocate, except that
     * backward may take room when it is asked for the first time to add to a gradient or to leave
     * one out. They see values that are already checked: every input and out[0] is there and fits
     * (in backward out_diff[0] and what in_diff asks for), and no result overlaps an input or
     * another result but what is in place. Where only the gradient of its input is wanted, the
     * backward of a convolution reads no input and needs no forward before it: deconvolutions call
     * it so (compose/deconv.c). backward is NULL where an operation has no gradient. */
    psd_status (*forward)(struct psd_op *op, const struct psd_op_values *values);
    psd_status (*backward)(struct psd_op *op, const struct psd_op_values *values);

    /* Frees op->plan; NULL when there is none. */
    void (*drop)(struct psd_op *op);
};

struct psd_backend {
    const char *name;
    const char *device; /* the kind of device it computes on: "host" */

    /* Whether it can run on this machine at all: its library is there, the CPU has what it needs.
     * Asked by each psd_ops_open. NULL: always. */
    bool (*usable)(void);

    /* Sets op->code and op->plan for op->spec, which makes sense. PSD_ENOSUP: it cannot do that
     * one, without a sentence; the next backend is asked. A plan that fails has freed what it made.
     */
    psd_status (*plan)(struct psd_op *op);
};

/* Where the random number for element `element` of the n-th sample of `values` stands in its
 * stream: samples are 2^32 apart, so a row starts with a fresh block of base/random.h and numbers
 * do not depend on how long it is. */
static inline uint64_t psd_op_draw(const struct psd_op_values *values, uint64_t n, uint64_t element)
{
    return (values->sample + n) << 32 | element;
}

/* All that are compiled in, in the order in which they are asked; ends with NULL (backends.c). */
extern const struct psd_backend *const psd_backends[];

/* The backends; each is defined in its folder. */
extern const struct psd_backend psd_backend_onednn;
extern const struct psd_backend psd_backend_plain;
extern const struct psd_backend psd_backend_simd;

#endif
