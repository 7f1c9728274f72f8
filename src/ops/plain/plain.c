/* plain.c - the backend that can do everything, everywhere. */
#include "ops/plain/plain.h"

static psd_status plan(struct psd_op *op)
{
    static const struct psd_op_code *const codes[PSD_OP_KINDS] = {
        [PSD_OP_CONV] = &psd_plain_conv,
        [PSD_OP_POOL] = &psd_plain_pool,
        [PSD_OP_FC] = &psd_plain_fc,
        [PSD_OP_RELU] = &psd_plain_relu,
        [PSD_OP_TANH] = &psd_plain_tanh,
        [PSD_OP_LRN] = &psd_plain_lrn,
        [PSD_OP_DROPOUT] = &psd_plain_dropout,
        [PSD_OP_SOFTMAX] = &psd_plain_softmax,
        [PSD_OP_SOFTMAX_LOSS] = &psd_plain_softmax_loss,
    };
    op->code = codes[op->spec.kind];
    return PSD_OK;
}

const struct psd_backend psd_backend_plain = {.name = "plain", .device = "host", .plan = plan};
