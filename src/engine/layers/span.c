#include "engine/layers/span.h"

#include <string.h>

/* A second bottom fits where its shape is found in the first from `axis` on. */
static psd_status by_bottom(const struct psd_layer *layer, const struct psd_span_param *param,
                            size_t *axis, struct psd_shape *out)
{
    const struct psd_shape *all = &layer->bottom[0]->shape, *part = &layer->bottom[1]->shape;
    char first[300], second[300];

    *axis = 0;
    if (part->axes)
        PSD_TRY(psd_layer_axis(layer, param->message, 1, 0, param->axis, axis));
    if (*axis + part->axes > all->axes ||
        memcmp(all->dim + *axis, part->dim, part->axes * sizeof *part->dim) != 0)
        return psd_layer_fail(layer, NULL, 0, "from axis %zu on, %s does not have the shape of %s",
                              *axis, psd_layer_bottom_text(layer, 0, first, sizeof first),
                              psd_layer_bottom_text(layer, 1, second, sizeof second));
    *out = *part;
    return PSD_OK;
}

static psd_status by_number(const struct psd_layer *layer, const struct psd_span_param *param,
                            size_t *axis, struct psd_shape *out)
{
    const struct psd_shape *all = &layer->bottom[0]->shape;
    char text[300];

    PSD_TRY(psd_layer_axis(layer, param->message, 1, 0, param->axis, axis));
    if (param->num_axes < -1 ||
        (param->num_axes > 0 && (size_t)param->num_axes > all->axes - *axis))
        return psd_layer_fail(layer, param->message, 2,
                              "num_axes is %d from axis %zu on, but it reads %s", param->num_axes,
                              *axis, psd_layer_bottom_text(layer, 0, text, sizeof text));
    *out = (struct psd_shape){.axes = param->num_axes < 0 ? all->axes - *axis
                                                          : (size_t)param->num_axes};
    for (size_t i = 0; i < out->axes; i++)
        out->dim[i] = all->dim[*axis + i];
    if (!out->axes)
        *axis = 0;
    return PSD_OK;
}

psd_status psd_span_find(const struct psd_layer *layer, const struct psd_span_param *param,
                         struct psd_span *out)
{
    const struct psd_shape *all = &layer->bottom[0]->shape;
    size_t axis = 0;

    PSD_TRY((layer->n_bottom > 1 ? by_bottom : by_number)(layer, param, &axis, &out->shape));
    out->outer = psd_shape_count(all, 0, axis);
    out->channels = psd_shape_count(&out->shape, 0, out->shape.axes);
    out->inner = psd_shape_count(all, axis + out->shape.axes, all->axes);
    return PSD_OK;
}

psd_status psd_span_check(const struct psd_layer *layer, const struct psd_span_param *param,
                          size_t index, struct psd_span *out)
{
    char text[300], shape[200];

    PSD_TRY(psd_span_find(layer, param, out));
    if (index >= layer->n_params || layer->params[index]->blob.count == out->channels)
        return PSD_OK;
    return psd_layer_fail(layer, NULL, 0, "has a parameter of shape %s, but reads %s",
                          psd_shape_text(&layer->params[index]->blob.shape, shape, sizeof shape),
                          psd_layer_bottom_text(layer, 0, text, sizeof text));
}
