/* net_connect.c - bottoms are found by name, tops are made, or are bottoms in place. */
#include "engine/net_connect.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

static psd_status wrong_count(const struct psd_layer *layer, const char *what, size_t count,
                              unsigned least, unsigned most)
{
    char range[64];

    if (least == most)
        snprintf(range, sizeof range, "%u", least);
    else if (most == PSD_LAYER_ANY)
        snprintf(range, sizeof range, "at least %u", least);
    else
        snprintf(range, sizeof range, "%u to %u", least, most);
    return psd_layer_fail(layer, NULL, 0, "%s layers take %s %s%s, not %zu", layer->kind->type,
                          range, what, most == 1 ? "" : "s", count);
}

psd_status psd_net_check_counts(const struct psd_layer *layer)
{
    const struct psd_layer_kind *kind = layer->kind;
    size_t bottoms = layer->param->n_bottom, tops = layer->param->n_top;

    if (bottoms < kind->bottoms || bottoms > kind->most_bottoms)
        return wrong_count(layer, "bottom", bottoms, kind->bottoms, kind->most_bottoms);
    if (tops > kind->most_tops || (tops < kind->tops && !kind->makes_tops))
        return wrong_count(layer, "top", tops, kind->tops, kind->most_tops);
    if (kind->as_many_tops && tops != bottoms)
        return psd_layer_fail(layer, NULL, 0,
                              "%s layers have as many tops as bottoms, not %zu and %zu", kind->type,
                              tops, bottoms);
    return PSD_OK;
}

/* --- bottoms ---------------------------------------------------------------------------------- */

/* Says why a bottom is not there: misspelt, made further below, or by nobody. */
static psd_status no_such_blob(const struct psd_net_build *build, const struct psd_layer *layer,
                               const char *name)
{
    const struct psd_net *net = build->net;
    struct psd_suggest suggest;

    for (size_t i = layer->index; i < net->param->n_layer; i++) {
        const Caffe__LayerParameter *other = net->param->layer[i];
        for (size_t k = 0; k < other->n_top; k++) {
            if (strcmp(other->top[k], name) == 0)
                return psd_layer_fail(layer, &layer->param->base, 3,
                                      "reads \"%s\", which is made only afterwards, by %s%s", name,
                                      i == layer->index ? "itself" : "layer ",
                                      i == layer->index || !other->name ? "" : other->name);
        }
    }
    psd_suggest_init(&suggest, name, strlen(name));
    for (size_t i = 0; i < net->n_blobs; i++)
        psd_suggest_offer(&suggest, net->blob_names[i]);
    return psd_layer_fail(layer, &layer->param->base, 3, "reads \"%s\", which no layer makes%s",
                          name, psd_suggest_phrase(&suggest));
}

static psd_status find_bottoms(struct psd_net_build *build, struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_bottom; i++) {
        const char *name = layer->param->bottom[i];
        size_t id;
        if (!psd_map_find(&build->blobs, name, &id))
            return no_such_blob(build, layer, name);
        layer->bottom_id[i] = id;
        layer->bottom[i] = &build->net->blobs[id];
        build->read[id] = true;
    }
    return PSD_OK;
}

/* --- tops ------------------------------------------------------------------------------------- */

static psd_status add_blob(struct psd_net_build *build, struct psd_layer *layer, size_t i,
                           const char *name)
{
    struct psd_net *net = build->net;
    size_t id = net->n_blobs++;

    psd_blob_init(&net->blobs[id], net->device);
    net->blob_names[id] = name;
    layer->top_id[i] = id;
    layer->top[i] = &net->blobs[id];
    return psd_map_put(&build->blobs, name, id);
}

/* The layer that made a blob, or was the last to work on it in place. */
static const struct psd_layer *maker_of(const struct psd_layer *layer, size_t blob)
{
    for (size_t i = layer->index + 1; i-- > 0;) {
        const struct psd_layer *other = &layer->net->layers[i];
        for (size_t k = 0; k < other->n_top; k++) {
            if (other->top[k] == &layer->net->blobs[blob])
                return other;
        }
    }
    return NULL;
}

/* A layer works in place where nobody needs the values any more; else its top is a blob of its own
 * with the same name. */
static psd_status find_place(struct psd_net_build *build, struct psd_layer *layer, size_t i)
{
    const char *name = layer->param->top[i];

    if (!layer->kind->may_be_in_place)
        return psd_layer_fail(
            layer, &layer->param->base, 4,
            "%s layers cannot work in place; give its top another name than \"%s\"",
            layer->kind->type, name);
    if (!layer->kind->keeps_signs || maker_of(layer, layer->bottom_id[i])->kind->keeps_tops)
        return add_blob(build, layer, i, name);
    layer->top_id[i] = layer->bottom_id[i];
    layer->top[i] = layer->bottom[i];
    build->read[layer->top_id[i]] = false;
    return PSD_OK;
}

static psd_status find_top(struct psd_net_build *build, struct psd_layer *layer, size_t i)
{
    const Caffe__LayerParameter *param = layer->param;
    const char *name = i < param->n_top ? param->top[i] : "(automatic)";
    size_t id;

    if (i < param->n_top && i < param->n_bottom && strcmp(param->bottom[i], name) == 0)
        return find_place(build, layer, i);
    if (i < param->n_top && psd_map_find(&build->blobs, name, &id))
        return psd_layer_fail(layer, &param->base, 4, "makes \"%s\", which layer %s makes", name,
                              maker_of(layer, id)->name);
    return add_blob(build, layer, i, name);
}

psd_status psd_net_connect(struct psd_net_build *build, struct psd_layer *layer)
{
    PSD_TRY(find_bottoms(build, layer));
    for (size_t i = 0; i < layer->n_top; i++)
        PSD_TRY(find_top(build, layer, i));
    return PSD_OK;
}
