#include "engine/net_hdf5.h"
#include "base/alloc.h"
#include "data/hdf5.h"
#include "engine/blob_file.h"

#include <string.h>

enum { DEEPEST = 16 }; /* slashes in the name of a layer */

/* Whether a layer's parameter is its own, and not another layer's that it shares. */
static bool is_own(const struct psd_layer *layer, size_t i)
{
    return layer->params[i]->layer == layer->index && layer->params[i]->index == i;
}

/* --- loading ------------------------------------------------------------------------------------ */

struct loading {
    struct psd_net *net;
    struct psd_hdf5 *file; /* owned */
    const char *path;
    size_t loaded; /* parameters */
};

static psd_status load_values(struct psd_blob *blob, struct psd_hdf5_dataset *dataset)
{
    const struct psd_hdf5_space *space = psd_hdf5_dataset_space(dataset);
    struct psd_shape theirs = {.axes = space->axes};

    _Static_assert((int)PSD_HDF5_AXES <= (int)PSD_BLOB_AXES, "every dataset has a shape of ours");
    for (size_t i = 0; i < space->axes; i++)
        theirs.dim[i] = (size_t)space->dim[i];
    PSD_TRY(psd_blob_check_shape(blob, &theirs));
    return psd_hdf5_dataset_read(dataset, 0, psd_hdf5_dataset_rows(dataset), psd_blob_values(blob));
}

static psd_status load_param(struct loading *loading, const char *group,
                             const struct psd_layer *layer, size_t i)
{
    struct psd_hdf5_dataset *dataset = NULL;
    char *name = psd_alloc_text("%s/%zu", group, i);
    bool has = false;

    if (!name)
        return PSD_ENOMEM;
    psd_status status = psd_hdf5_has(loading->file, name, &has);
    if (status == PSD_OK && has)
        status = psd_hdf5_dataset_open(loading->file, name, &dataset);
    if (status == PSD_OK && has)
        status = load_values(&layer->params[i]->blob, dataset);
    psd_hdf5_dataset_close(dataset);
    psd_alloc_free(name);
    if (status == PSD_OK && !has && is_own(layer, i))
        return psd_fail(PSD_ECONFIG, "%s: layer %s has no parameter %zu, the net's has %zu",
                        loading->path, layer->name, i, layer->n_params);
    if (status == PSD_ECONFIG)
        return psd_fail(PSD_ECONFIG, "%s: parameter %zu of layer %s: %s", loading->path, i,
                        layer->name, psd_error());
    loading->loaded += status == PSD_OK && has;
    return status;
}

/* `blobs` datasets are in the group. */
static psd_status load_layer(struct loading *loading, const char *group, const char *name,
                             size_t blobs)
{
    const struct psd_layer *layer = psd_net_layer(loading->net, name);

    if (!layer) {
        psd_log_info(loading->net->log, "Ignoring source layer %s", name);
        return PSD_OK;
    }
    if (blobs > layer->n_params)
        return psd_fail(PSD_ECONFIG, "%s: layer %s has %zu blobs, the net's has %zu", loading->path,
                        name, blobs, layer->n_params);
    for (size_t i = 0; i < layer->n_params; i++)
        PSD_TRY(load_param(loading, group, layer, i));
    return PSD_OK;
}

static psd_status load_group(struct loading *loading, const char *group, const char *name,
                             int depth);

/* Groups in the group are layers whose names have a slash more. */
static psd_status load_below(struct loading *loading, const char *group, const char *name,
                             const struct psd_hdf5_names *names, int depth)
{
    for (size_t i = 0; i < names->count; i++) {
        if (!names->all[i].is_group)
            continue;
        char *below = psd_alloc_text("%s/%s", group, names->all[i].text);
        char *longer = psd_alloc_text("%s%s%s", name, *name ? "/" : "", names->all[i].text);
        psd_status status =
            below && longer ? load_group(loading, below, longer, depth + 1) : PSD_ENOMEM;
        psd_alloc_free(below);
        psd_alloc_free(longer);
        PSD_TRY(status);
    }
    return PSD_OK;
}

static psd_status load_names(struct loading *loading, const char *group, const char *name,
                             const struct psd_hdf5_names *names, int depth)
{
    size_t blobs = 0;

    for (size_t i = 0; i < names->count; i++)
        blobs += !names->all[i].is_group;
    bool is_layer = *name && (blobs || !names->count || psd_net_layer(loading->net, name));
    if (is_layer)
        PSD_TRY(load_layer(loading, group, name, blobs));
    return load_below(loading, group, name, names, depth);
}

static psd_status load_group(struct loading *loading, const char *group, const char *name,
                             int depth)
{
    struct psd_hdf5_names names = {0};

    if (depth > DEEPEST)
        return psd_fail(PSD_ECONFIG, "%s: groups are nested more than 16 times in \"data\"",
                        loading->path);
    PSD_TRY(psd_hdf5_names(loading->file, group, &names));
    psd_status status = load_names(loading, group, name, &names, depth);
    psd_hdf5_names_fini(&names);
    return status;
}

psd_status psd_net_load_hdf5(struct psd_net *net, const char *path)
{
    struct loading loading = {.net = net, .path = path};

    PSD_TRY(psd_hdf5_open(path, &loading.file));
    psd_status status = load_group(&loading, "data", "", 0);
    psd_hdf5_close(loading.file);
    if (status == PSD_OK && !loading.loaded && net->n_params)
        psd_log_warning(net->log,
                        "%s has weights for no layer of this net, which keeps those it has; is it "
                        "of another net?",
                        path);
    return status;
}

/* --- saving ------------------------------------------------------------------------------------- */

/* Plans the layer's values, or what `diffs` has for them. */
static psd_status plan_layer(const struct psd_layer *layer, const char *top, float *const *diffs,
                             struct psd_hdf5_plan *plan)
{
    char *group = psd_alloc_text("%s/%s", top, layer->name);
    psd_status status = group ? psd_hdf5_plan_group(plan, group) : PSD_ENOMEM;

    for (size_t i = 0; status == PSD_OK && i < layer->n_params; i++) {
        const struct psd_blob *blob = &layer->params[i]->blob;
        const float *values = diffs ? diffs[layer->params[i]->number] : psd_blob_values(blob);
        if (!diffs && !is_own(layer, i))
            continue;
        char *name = psd_alloc_text("%s/%zu", group, i);
        status = name ? psd_hdf5_plan_floats(plan, name, blob->shape.axes, blob->shape.dim, values)
                      : PSD_ENOMEM;
        psd_alloc_free(name);
    }
    psd_alloc_free(group);
    return status;
}

psd_status psd_net_plan_hdf5(const struct psd_net *net, float *const *diffs,
                             struct psd_hdf5_plan *plan)
{
    PSD_TRY(psd_hdf5_plan_group(plan, "data"));
    for (size_t i = 0; i < net->n_layers; i++)
        PSD_TRY(plan_layer(&net->layers[i], "data", NULL, plan));
    for (size_t i = 0; diffs && i < net->n_layers; i++)
        PSD_TRY(plan_layer(&net->layers[i], "diff", diffs, plan));
    return PSD_OK;
}
