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
        [PSD_OP_BATCH_NORM] = &psd_plain_batch_norm,
        [PSD_OP_SCALE] = &psd_plain_scale,
        [PSD_OP_BIAS] = &psd_plain_bias,
        [PSD_OP_ELTWISE] = &psd_plain_eltwise,
        [PSD_OP_LSTM_UNIT] = &psd_plain_lstm_unit,
        [PSD_OP_MAP] = &psd_plain_map,
        [PSD_OP_PRELU] = &psd_plain_prelu,
        [PSD_OP_REDUCE] = &psd_plain_reduce,
        [PSD_OP_DISTANCE_LOSS] = &psd_plain_distance_loss,
        [PSD_OP_HINGE_LOSS] = &psd_plain_hinge_loss,
        [PSD_OP_SIGMOID_LOSS] = &psd_plain_sigmoid_loss,
        [PSD_OP_COLUMNS] = &psd_plain_columns,
        [PSD_OP_CONV_ND] = &psd_plain_conv_nd,
        [PSD_OP_DECONV] = &psd_plain_deconv,
    };
    op->code = codes[op->spec.kind];
    return PSD_OK;
}

const struct psd_backend psd_backend_plain = {.name = "plain", .device = "host", .plan = plan};
