/* plugins.c - libraries are opened, looked at, and closed. */
#include "engine/plugins.h"
#include "base/alloc.h"
#include "base/status.h"

#include <dlfcn.h>
#include <string.h>

struct psd_plugins {
    void **libraries; /* owned */
    size_t n_libraries;
    struct psd_outside_kind **kinds; /* owned, as is each */
    size_t n_kinds;
};

psd_status psd_plugins_create(struct psd_plugins **out)
{
    *out = psd_alloc_zero(1, sizeof **out);
    return *out ? PSD_OK : PSD_ENOMEM;
}

void psd_plugins_destroy(struct psd_plugins *plugins)
{
    if (!plugins)
        return;
    for (size_t i = 0; i < plugins->n_kinds; i++)
        psd_alloc_free(plugins->kinds[i]);
    for (size_t i = 0; i < plugins->n_libraries; i++)
        dlclose(plugins->libraries[i]);
    psd_alloc_free(plugins->kinds);
    psd_alloc_free(plugins->libraries);
    psd_alloc_free(plugins);
}

const struct psd_layer_kind *psd_plugins_at(const struct psd_plugins *plugins, size_t i)
{
    return plugins && i < plugins->n_kinds ? &plugins->kinds[i]->kind : NULL;
}

const struct psd_layer_kind *psd_plugins_find(const struct psd_plugins *plugins, const char *type)
{
    const struct psd_layer_kind *kind = NULL;

    for (size_t i = 0; (kind = psd_plugins_at(plugins, i)) && strcmp(kind->type, type) != 0;)
        i++;
    return kind;
}

static psd_status check(const struct psd_plugins *plugins, const char *path,
                        const struct psd_plugin_layer *layer)
{
    if (!layer->type || !layer->reshape || !layer->forward)
        return psd_fail(PSD_ECONFIG,
                        "%s: a layer%s%s lacks its type, reshape or forward; give it all three",
                        path, layer->type ? " of type " : "", layer->type ? layer->type : "");
    if (psd_layers_find(layer->type) || psd_plugins_find(plugins, layer->type))
        return psd_fail(PSD_ECONFIG,
                        "%s has layers of type \"%s\", but there are such layers already; give "
                        "them another name",
                        path, layer->type);
    return PSD_OK;
}

static psd_status add_layer(struct psd_plugins *plugins, const struct psd_plugin_layer *layer)
{
    struct psd_outside_kind **kinds =
        psd_alloc_resize(plugins->kinds, plugins->n_kinds + 1, sizeof *kinds);

    if (!kinds)
        return PSD_ENOMEM;
    plugins->kinds = kinds;
    kinds[plugins->n_kinds] = psd_alloc_zero(1, sizeof **kinds);
    if (!kinds[plugins->n_kinds])
        return PSD_ENOMEM;
    *kinds[plugins->n_kinds++] = psd_outside_kind_of(layer);
    return PSD_OK;
}

psd_status psd_plugins_add(struct psd_plugins *plugins, const char *path,
                           const struct psd_plugin *plugin)
{
    if (plugin->version != PSD_PLUGIN_VERSION)
        return psd_fail(PSD_ECONFIG,
                        "%s was made for version %u of plugins, and this is version %d; compile it "
                        "again",
                        path, plugin->version, PSD_PLUGIN_VERSION);
    for (size_t i = 0; plugin->layers && plugin->layers[i]; i++) {
        PSD_TRY(check(plugins, path, plugin->layers[i]));
        PSD_TRY(add_layer(plugins, plugin->layers[i]));
    }
    return PSD_OK;
}

/* The library is the plugins' own from here on. */
static psd_status keep(struct psd_plugins *plugins, void *library)
{
    void **libraries =
        psd_alloc_resize(plugins->libraries, plugins->n_libraries + 1, sizeof *libraries);

    if (!libraries) {
        dlclose(library);
        return PSD_ENOMEM;
    }
    plugins->libraries = libraries;
    libraries[plugins->n_libraries++] = library;
    return PSD_OK;
}

/* The loader would look for a name without a slash in the system's folders only. */
static psd_status open_library(const char *path, void **out)
{
    char *name = psd_alloc_text("%s%s", strchr(path, '/') ? "" : "./", path);

    if (!name)
        return PSD_ENOMEM;
    *out = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    psd_alloc_free(name);
    return *out ? PSD_OK : psd_fail(PSD_ECONFIG, "a plugin cannot be loaded: %s", dlerror());
}

psd_status psd_plugins_load(struct psd_plugins *plugins, const char *path)
{
    void *library = NULL;

    PSD_TRY(open_library(path, &library));
    PSD_TRY(keep(plugins, library));
    const struct psd_plugin *plugin = dlsym(library, "psd_plugin");
    if (!plugin)
        return psd_fail(PSD_ECONFIG,
                        "%s is no plugin: it has no variable psd_plugin (poseidon/plugin.h)", path);
    return psd_plugins_add(plugins, path, plugin);
}

psd_status psd_plugins_load_all(const char *const *paths, struct psd_plugins **out)
{
    *out = NULL;
    if (!paths || !paths[0])
        return PSD_OK;
    PSD_TRY(psd_plugins_create(out));
    for (size_t i = 0; paths[i]; i++)
        PSD_TRY(psd_plugins_load(*out, paths[i]));
    return PSD_OK;
}
