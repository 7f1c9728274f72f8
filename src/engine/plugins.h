/* plugins.h - layers from outside: shared libraries, and the kinds of layers in them.
 *
 *     psd_plugins_create(&plugins);
 *     psd_plugins_load(plugins, "./libswirl.so");
 *     psd_net_options.plugins = plugins;            a net finds "Swirl" there
 *
 * The contract with the library is poseidon/plugin.h. One thread loads; many nets may read. */
#ifndef PSD_ENGINE_PLUGINS_H
#define PSD_ENGINE_PLUGINS_H

#include "engine/layer.h"
#include "poseidon/plugin.h"

struct psd_plugins;

psd_status psd_plugins_create(struct psd_plugins **out);

/* Unloads all; no net has layers of them any more. NULL is fine. */
void psd_plugins_destroy(struct psd_plugins *plugins);

/* Loads a library. PSD_ECONFIG: it cannot be loaded, is no plugin or of another version, or has a type
 * that is there already. */
psd_status psd_plugins_load(struct psd_plugins *plugins, const char *path);

/* Makes plugins of all these libraries; `paths` NULL, or ends with NULL. *out is the caller's, also after a
 * failure, and NULL where there are none. */
psd_status psd_plugins_load_all(const char *const *paths, struct psd_plugins **out);

/* Adds the types of a plugin that is in memory; `path` is for sentences. */
psd_status psd_plugins_add(struct psd_plugins *plugins, const char *path,
                           const struct psd_plugin *plugin);

/* The kind of that type; NULL: there is none, or there are no plugins. */
const struct psd_layer_kind *psd_plugins_find(const struct psd_plugins *plugins, const char *type);

/* The number `i`, counted from 0; NULL: there are fewer. */
const struct psd_layer_kind *psd_plugins_at(const struct psd_plugins *plugins, size_t i);

/* A kind of our own that calls a layer from outside (layers/outside.c). */
struct psd_outside_kind {
    struct psd_layer_kind kind;             /* first: a layer's kind is cast to this */
    const struct psd_plugin_layer *outside; /* borrowed from the library */
};
struct psd_outside_kind psd_outside_kind_of(const struct psd_plugin_layer *layer);

#endif
