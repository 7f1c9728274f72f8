/* spec.h - whether a spec makes sense, before any backend sees it. */
#ifndef PSD_OPS_SPEC_H
#define PSD_OPS_SPEC_H

#include "ops/ops.h"

/* PSD_EINVAL, with a sentence: a size is 0 or too large for this machine, or sizes contradict each
 * other. After PSD_OK no number that a loop over the spec computes overflows. */
psd_status psd_spec_check(const struct psd_op_spec *spec);

/* What people call the operation: "convolution". */
const char *psd_spec_name(const struct psd_op_spec *spec);

/* Whether out[0] may be in[0]. */
bool psd_spec_in_place(const struct psd_op_spec *spec);

/* Whether input i has a gradient. */
bool psd_spec_has_gradient(const struct psd_op_spec *spec, unsigned input);

#endif
