/* profile.c - profiles in memory, and the times they give. */
#include "comm/profile.h"
#include "base/alloc.h"
#include "base/map.h"

#include <ctype.h>

psd_status psd_profile_create(const char *source, const char *device, struct psd_profile **out)
{
    struct psd_profile *profile = psd_alloc_zero(1, sizeof *profile);

    if (!profile)
        return PSD_ENOMEM;
    profile->source = psd_alloc_text("%s", source);
    profile->device = psd_alloc_text("%s", device);
    if (!profile->source || !profile->device) {
        psd_profile_destroy(profile);
        return PSD_ENOMEM;
    }
    *out = profile;
    return PSD_OK;
}

static void free_model(struct psd_profile_model *model)
{
    for (size_t i = 0; i < model->n_layers; i++)
        psd_alloc_free(model->layers[i].name);
    psd_alloc_free(model->layers);
    psd_alloc_free(model->name);
}

void psd_profile_destroy(struct psd_profile *profile)
{
    if (!profile)
        return;
    for (size_t i = 0; i < profile->n_models; i++)
        free_model(&profile->models[i]);
    psd_alloc_free(profile->models);
    psd_alloc_free(profile->source);
    psd_alloc_free(profile->device);
    psd_alloc_free(profile);
}

psd_status psd_profile_add_model(struct psd_profile *profile, const char *name, size_t batch,
                                 double rate)
{
    struct psd_profile_model *models =
        psd_alloc_grow(profile->models, profile->n_models, sizeof *profile->models);

    if (!models)
        return PSD_ENOMEM;
    profile->models = models;
    char *copy = psd_alloc_text("%s", name);
    if (!copy)
        return PSD_ENOMEM;
    models[profile->n_models++] =
        (struct psd_profile_model){.name = copy, .batch = batch, .rate = rate};
    return PSD_OK;
}

psd_status psd_profile_add_layer(struct psd_profile *profile, const char *name, double forward_s,
                                 double backward_s)
{
    struct psd_profile_model *model = &profile->models[profile->n_models - 1];
    struct psd_profile_layer *layers =
        psd_alloc_grow(model->layers, model->n_layers, sizeof *model->layers);

    if (!layers)
        return PSD_ENOMEM;
    model->layers = layers;
    char *copy = psd_alloc_text("%s", name);
    if (!copy)
        return PSD_ENOMEM;
    layers[model->n_layers++] = (struct psd_profile_layer){copy, forward_s, backward_s};
    return PSD_OK;
}

static int plain(char letter)
{
    return letter == '_' ? '-' : tolower((unsigned char)letter);
}

static bool same_name(const char *a, const char *b)
{
    while (*a && plain(*a) == plain(*b))
        a++, b++;
    return !*a && !*b;
}

const struct psd_profile_model *psd_profile_find(const struct psd_profile *profile,
                                                 const char *name)
{
    for (size_t i = 0; i < profile->n_models; i++) {
        if (same_name(profile->models[i].name, name))
            return &profile->models[i];
    }
    return NULL;
}

/* --- applying --------------------------------------------------------------------------------- */

/* What a layer of the workload gets. */
struct times {
    double forward_s, backward_s;
    bool seen; /* the profile has the layer */
};

/* One third forward, two thirds backward, by multiply-adds. */
static psd_status share_out(const struct psd_profile_model *model,
                            const struct psd_workload *workload, double batch, struct times *times)
{
    double macs = psd_workload_macs(workload), iteration_s = batch / model->rate;

    if (macs <= 0)
        return psd_fail(
            PSD_ECONFIG,
            "no layer of the model \"%.100s\" has multiply-adds to share out its rate by",
            workload->name);
    for (size_t i = 0; i < workload->n_layers; i++) {
        double s = iteration_s * workload->layers[i].macs / macs;
        times[i] = (struct times){s / 3, s * 2 / 3, true};
    }
    return PSD_OK;
}

static psd_status map_layers(const struct psd_workload *workload, struct psd_map *map)
{
    for (size_t i = 0; i < workload->n_layers; i++)
        PSD_TRY(psd_map_put(map, workload->layers[i].name, i));
    return PSD_OK;
}

/* The times of layers that the workload lacks are those of the layer before. */
static psd_status copy_layers(const struct psd_profile_model *model,
                              const struct psd_workload *workload, double batch,
                              struct times *times)
{
    double scale = batch / (double)model->batch;
    struct psd_map map;
    size_t at = 0;

    psd_map_init(&map);
    psd_status status = map_layers(workload, &map);
    for (size_t i = 0; status == PSD_OK && i < model->n_layers; i++) {
        const struct psd_profile_layer *layer = &model->layers[i];
        if (psd_map_find(&map, layer->name, &at))
            times[at].seen = true;
        times[at].forward_s += layer->forward_s * scale;
        times[at].backward_s += layer->backward_s * scale;
    }
    psd_map_fini(&map);
    return status;
}

static psd_status check_seen(const struct psd_profile *profile, const struct psd_workload *workload,
                             const struct times *times)
{
    for (size_t i = 0; i < workload->n_layers; i++) {
        const struct psd_workload_layer *layer = &workload->layers[i];
        if (!times[i].seen && (layer->macs > 0 || layer->params))
            return psd_fail(PSD_ECONFIG,
                            "%s has no time for the layer \"%.100s\" of the model \"%.100s\"; was "
                            "another net measured?",
                            profile->source, layer->name, workload->name);
    }
    return PSD_OK;
}

static psd_status find_times(const struct psd_profile *profile, const struct psd_workload *workload,
                             double batch, struct times *times)
{
    const struct psd_profile_model *model = psd_profile_find(profile, workload->name);

    if (!model)
        return psd_fail(
            PSD_ECONFIG,
            "%s has no times for the model \"%.100s\"; measure them with \"poseidon time "
            "--profile-out\", or add a line: model %.100s batch N rate N images/s",
            profile->source, workload->name, workload->name);
    if (model->rate > 0)
        return share_out(model, workload, batch, times);
    PSD_TRY(copy_layers(model, workload, batch, times));
    return check_seen(profile, workload, times);
}

static void give_times(const struct psd_profile *profile, const struct times *times,
                       struct psd_workload *workload)
{
    for (size_t i = 0; i < workload->n_layers; i++) {
        workload->layers[i].forward_s = times[i].forward_s;
        workload->layers[i].backward_s = times[i].backward_s;
    }
    workload->rebuild_flops = profile->rebuild_flops;
    workload->update_bytes_per_s = profile->update_bytes_per_s;
    workload->sum_bytes_per_s = profile->sum_bytes_per_s;
}

psd_status psd_profile_apply(const struct psd_profile *profile, struct psd_workload *workload,
                             size_t batch)
{
    struct times *times = psd_alloc_zero(workload->n_layers + 1, sizeof *times);

    if (!times)
        return PSD_ENOMEM;
    if (!batch)
        batch = workload->batch;
    psd_status status = find_times(profile, workload, (double)batch, times);
    if (status == PSD_OK) {
        give_times(profile, times, workload);
        workload->batch = batch;
    }
    psd_alloc_free(times);
    return status;
}
