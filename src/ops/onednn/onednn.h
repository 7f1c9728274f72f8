/* onednn.h - what the operations of this backend share; only for onednn/. */
#ifndef PSD_OPS_ONEDNN_ONEDNN_H
#define PSD_OPS_ONEDNN_ONEDNN_H

#include "ops/backend.h"

psd_status psd_onednn_plan_conv(struct psd_op *op);

/* oneDNN brings threads of its own, by OpenMP. We share work out ourselves, so that results depend on
 * our number of threads alone: each of ours lets oneDNN compute on itself. Returns what was set
 * before; give that back where the thread is not ours. */
int psd_onednn_compute_alone(void);
void psd_onednn_compute_with(int threads);

#endif
