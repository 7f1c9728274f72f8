/* layer_params.c - what a layer learns: made once, shared by name, or another net's.
 *
 *     filled     by its filler, or with the blobs that the net's file itself has
 *     by name    one parameter                                in one net
 *     share      the other net's parameter                    a test net
 *     twin       a parameter of our own, the other's values   a net that trains at the same time */
#include "base/alloc.h"
#include "engine/blob_file.h"
#include "engine/filler.h"
#include "engine/layer.h"
#include "engine/net.h"

#include <string.h>

static const Caffe__ParamSpec *spec_of(const struct psd_layer *layer, size_t index)
{
    static const Caffe__ParamSpec none = CAFFE__PARAM_SPEC__INIT;
    return index < layer->param->n_param ? layer->param->param[index] : &none;
}

static struct psd_param *find_shared(const struct psd_layer *layer, const char *name)
{
    const struct psd_net *net = layer->net;

    for (size_t i = 0; name && *name && i < net->n_params; i++) {
        if (strcmp(net->params[i]->name, name) == 0)
            return net->params[i];
    }
    return NULL;
}

/* A net that shares another's weights uses the parameters of its layer of the same name. */
static struct psd_param *find_in_other(const struct psd_layer *layer, size_t index)
{
    const struct psd_layer *other =
        layer->net->share ? psd_net_layer(layer->net->share, layer->name) : NULL;

    return other && index < other->n_params ? other->params[index] : NULL;
}

static psd_status append_param(struct psd_layer *layer, struct psd_param *param)
{
    struct psd_param **params =
        psd_alloc_resize(layer->params, layer->n_params + 1, sizeof *layer->params);
    if (!params)
        return PSD_ENOMEM;
    layer->params = params;
    params[layer->n_params++] = param;
    return PSD_OK;
}

/* One more parameter for the net, which owns it from here on. */
static struct psd_param *add_to_net(struct psd_net *net)
{
    struct psd_param **params = psd_alloc_resize(net->params, net->n_params + 1, sizeof *params);
    struct psd_param *param;

    if (!params)
        return NULL;
    net->params = params;
    param = psd_alloc_zero(1, sizeof *param);
    if (!param)
        return NULL;
    param->number = net->n_params;
    net->params[net->n_params++] = param;
    psd_blob_init(&param->blob, net->device);
    return param;
}

static void read_spec(struct psd_param *param, const Caffe__ParamSpec *spec)
{
    param->rate = spec->lr_mult;
    param->decay = spec->decay_mult;
    param->has_rate = spec->has_lr_mult;
    param->has_decay = spec->has_decay_mult;
    param->learns = spec->lr_mult != 0;
}

/* Takes the values that the net's own file has for it, as every .caffemodel has. */
static psd_status take_blob(const struct psd_layer *layer, struct psd_param *param)
{
    size_t index = layer->n_params;

    if (index >= layer->param->n_blobs)
        return psd_layer_fail(layer, NULL, 0, "has %zu blobs, and none for parameter %zu",
                              layer->param->n_blobs, index);
    if (layer->net->sketch || psd_blob_load(&param->blob, layer->param->blobs[index]) == PSD_OK)
        return PSD_OK;
    return psd_layer_fail(layer, &layer->param->blobs[index]->base, 0, "blob %zu: %s", index,
                          psd_error());
}

static psd_status fill(const struct psd_layer *layer, const Caffe__FillerParameter *filler,
                       const struct psd_shape *shape, struct psd_param *param)
{
    uint64_t stream = layer->net->n_params - 1;
    psd_status status = psd_blob_reshape(&param->blob, shape);

    if (status == PSD_OK && layer->param->n_blobs)
        return take_blob(layer, param);
    if (status == PSD_OK && !layer->net->sketch)
        status = psd_filler_fill(filler, layer->net->seed, stream, &param->blob);
    if (status == PSD_EINVAL || status == PSD_ECONFIG)
        return psd_layer_fail(layer, filler ? &filler->base : NULL, 0, "parameter %zu: %s",
                              layer->n_params, psd_error());
    return status;
}

/* Twins are made of the same layers, so that their parameters have the same order. */
static psd_status look_at_twin(const struct psd_layer *layer, const struct psd_shape *shape,
                               struct psd_param *param)
{
    const struct psd_net *net = layer->net, *twin = net->twin;
    size_t number = param->number;

    if (number >= twin->n_params || !psd_shape_same(shape, &twin->params[number]->blob.shape))
        return psd_layer_fail(layer, NULL, 0,
                              "parameter %zu has another shape than in the net that it is a twin "
                              "of",
                              layer->n_params);
    psd_blob_share_data(&param->blob, &twin->params[number]->blob);
    return psd_blob_reshape(&param->blob, shape);
}

/* A parameter of the net's own, filled. */
static psd_status make_param(struct psd_layer *layer, const struct psd_shape *shape,
                             const Caffe__FillerParameter *filler, struct psd_param **out)
{
    const Caffe__ParamSpec *spec = spec_of(layer, layer->n_params);
    struct psd_param *param = add_to_net(layer->net);

    if (!param)
        return PSD_ENOMEM;
    param->layer = layer->index;
    param->index = layer->n_params;
    read_spec(param, spec);
    param->name = spec->name && *spec->name
                      ? psd_alloc_copy(spec->name, strlen(spec->name) + 1)
                      : psd_alloc_text("%s[%zu]", layer->name, layer->n_params);
    if (!param->name)
        return PSD_ENOMEM;
    PSD_TRY(layer->net->twin ? look_at_twin(layer, shape, param)
                             : fill(layer, filler, shape, param));
    *out = param;
    return PSD_OK;
}

static psd_status check_shared(const struct psd_layer *layer, const struct psd_param *param,
                               const struct psd_shape *shape)
{
    const Caffe__ParamSpec *spec = spec_of(layer, layer->n_params);
    bool permissive = spec->share_mode == CAFFE__PARAM_SPEC__DIM_CHECK_MODE__PERMISSIVE;
    char ours[200], theirs[200];

    if (permissive ? psd_shape_count(shape, 0, shape->axes) == param->blob.count
                   : psd_shape_same(shape, &param->blob.shape))
        return PSD_OK;
    return psd_layer_fail(layer, NULL, 0,
                          "parameter %zu has the shape %s, but \"%s\", which it shares, has %s",
                          layer->n_params, psd_shape_text(shape, ours, sizeof ours), param->name,
                          psd_shape_text(&param->blob.shape, theirs, sizeof theirs));
}

/* Of a multiplier that two sharers give, both say the same; one that only one gives holds for both. */
static psd_status share_multiplier(const struct psd_layer *layer, const char *what, bool given,
                                   float value, bool *has, float *shared)
{
    if (!given)
        return PSD_OK;
    if (*has && *shared != value)
        return psd_layer_fail(layer, &spec_of(layer, layer->n_params)->base, 0,
                              "%s of a shared parameter is %g here and %g above", what,
                              (double)value, (double)*shared);
    *has = true;
    *shared = value;
    return PSD_OK;
}

static psd_status join(struct psd_layer *layer, const struct psd_shape *shape,
                       struct psd_param *param)
{
    const Caffe__ParamSpec *spec = spec_of(layer, layer->n_params);

    PSD_TRY(check_shared(layer, param, shape));
    if (layer->net->share) /* the other net's word holds */
        return PSD_OK;
    PSD_TRY(share_multiplier(layer, "lr_mult", spec->has_lr_mult, spec->lr_mult, &param->has_rate,
                             &param->rate));
    PSD_TRY(share_multiplier(layer, "decay_mult", spec->has_decay_mult, spec->decay_mult,
                             &param->has_decay, &param->decay));
    param->learns = param->rate != 0;
    return PSD_OK;
}

psd_status psd_layer_add_param(struct psd_layer *layer, const struct psd_shape *shape,
                               const Caffe__FillerParameter *filler)
{
    const Caffe__ParamSpec *spec = spec_of(layer, layer->n_params);
    struct psd_param *param = find_in_other(layer, layer->n_params);

    if (!param)
        param = find_shared(layer, spec->name);
    if (param)
        PSD_TRY(join(layer, shape, param));
    else
        PSD_TRY(make_param(layer, shape, filler, &param));
    return append_param(layer, param);
}

float *psd_layer_param_gradient(struct psd_layer *layer, size_t index)
{
    const struct psd_param *param = layer->params[index];
    float *gradient = param->learns && !layer->net->share ? psd_blob_gradient(&param->blob) : NULL;

    if (gradient && param->fresh)
        memset(gradient, 0, param->blob.count * sizeof *gradient);
    return gradient;
}
