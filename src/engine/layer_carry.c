/* layer_carry.c - what a layer keeps from one pass to the next beside what it learns. */
#include "base/alloc.h"
#include "engine/layer.h"
#include "engine/net.h"

psd_status psd_layer_carry(struct psd_layer *layer, enum psd_carry kind, struct psd_blob *blob)
{
    struct psd_carried *carried =
        psd_alloc_resize(layer->carried, layer->n_carried + 1, sizeof *layer->carried);

    if (!carried)
        return PSD_ENOMEM;
    layer->carried = carried;
    carried[layer->n_carried++] = (struct psd_carried){kind, blob};
    return PSD_OK;
}

psd_status psd_layer_add_statistic(struct psd_layer *layer, const struct psd_shape *shape)
{
    size_t index = layer->n_params;
    const Caffe__ParamSpec *spec =
        index < layer->param->n_param ? layer->param->param[index] : NULL;

    if (spec && spec->has_lr_mult && spec->lr_mult != 0)
        return psd_layer_fail(layer, &spec->base, 3,
                              "parameter %zu is measured and does not learn; its lr_mult is 0, "
                              "not %g",
                              index, (double)spec->lr_mult);
    PSD_TRY(psd_layer_add_param(layer, shape, NULL));
    if (layer->net->share)
        return PSD_OK;
    layer->params[index]->rate = 0;
    layer->params[index]->learns = false;
    return psd_layer_carry(layer, PSD_CARRY_AVERAGED, &layer->params[index]->blob);
}
