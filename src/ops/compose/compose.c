/* compose.c - which operations are made of others. */
#include "ops/compose/compose.h"

psd_status psd_compose_plan(struct psd_op *op)
{
    switch (op->spec.kind) {
    case PSD_OP_COLUMNS:
        op->code = &psd_compose_columns;
        return PSD_OK;
    case PSD_OP_CONV_ND:
        return psd_compose_plan_conv_nd(op);
    case PSD_OP_DECONV:
        return psd_compose_plan_deconv(op);
    default:
        return PSD_ENOSUP;
    }
}
