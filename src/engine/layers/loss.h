/* loss.h - what loss layers share: how a sum over places is divided. */
#ifndef PSD_ENGINE_LAYERS_LOSS_H
#define PSD_ENGINE_LAYERS_LOSS_H

#include "engine/layer.h"

/* What loss_param says, or else `otherwise`. `normalize` is the older way to say it, read when the
 * newer one is absent. */
static inline enum psd_loss_norm psd_loss_norm(const Caffe__LossParameter *p,
                                               enum psd_loss_norm otherwise)
{
    if (p && !p->has_normalization && p->has_normalize)
        return p->normalize ? PSD_LOSS_VALID : PSD_LOSS_BATCH_SIZE;
    if (!p || !p->has_normalization)
        return otherwise;
    switch (p->normalization) {
    case CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__FULL:
        return PSD_LOSS_FULL;
    case CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__BATCH_SIZE:
        return PSD_LOSS_BATCH_SIZE;
    case CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__NONE:
        return PSD_LOSS_NONE;
    default:
        return PSD_LOSS_VALID;
    }
}

#endif
