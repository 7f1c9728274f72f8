/* compose.h - operations that are made of others, for backends that are fast at those.
 *
 *     columns.c    COLUMNS     rows copied to where taps see them, planes shared out to threads
 *     conv_nd.c    CONV_ND     columns of a few samples, and a CONV of 1 x 1 over them
 *     deconv.c     DECONV      the gradients of a CONV or CONV_ND, and a BIAS
 *
 * A backend's plan hands an operation of these kinds over. The operations inside are planned by
 * whoever is asked first for them: with `simd` a convolution of stride 2 is onednn's. */
#ifndef PSD_OPS_COMPOSE_COMPOSE_H
#define PSD_OPS_COMPOSE_COMPOSE_H

#include "ops/backend.h"

/* Sets op->code and op->plan. PSD_ENOSUP: it is no operation of these kinds. */
psd_status psd_compose_plan(struct psd_op *op);

psd_status psd_compose_plan_conv_nd(struct psd_op *op);
psd_status psd_compose_plan_deconv(struct psd_op *op);

extern const struct psd_op_code psd_compose_columns;

/* Both go through `batch` samples on the threads of `ops`. The first sets columns, the second adds
 * what comes back to dx, or sets it. */
psd_status psd_compose_columns_gather(struct psd_ops *ops, const struct psd_columns_spec *spec,
                                      size_t batch, const float *x, float *columns);
psd_status psd_compose_columns_scatter(struct psd_ops *ops, const struct psd_columns_spec *spec,
                                       size_t batch, const float *columns, bool adds, float *dx);

/* The product of the numbers of all axes. */
static inline size_t psd_compose_count(const struct psd_columns_spec *spec, const size_t *numbers)
{
    size_t count = 1;

    for (size_t i = 0; i < spec->axes; i++)
        count *= numbers[i];
    return count;
}

#endif
