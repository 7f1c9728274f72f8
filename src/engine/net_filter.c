/* net_filter.c - include { phase: TRAIN } and its kin. */
#include "engine/net_state.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has_stage(const struct psd_net_state *state, const char *stage)
{
    for (size_t i = 0; i < state->n_stages; i++) {
        if (strcmp(state->stages[i], stage) == 0)
            return true;
    }
    return false;
}

static bool fits(const Caffe__NetStateRule *rule, const struct psd_net_state *state)
{
    if (rule->has_phase && rule->phase != state->phase)
        return false;
    if (rule->has_min_level && state->level < rule->min_level)
        return false;
    if (rule->has_max_level && state->level > rule->max_level)
        return false;
    for (size_t i = 0; i < rule->n_stage; i++) {
        if (!has_stage(state, rule->stage[i]))
            return false;
    }
    for (size_t i = 0; i < rule->n_not_stage; i++) {
        if (has_stage(state, rule->not_stage[i]))
            return false;
    }
    return true;
}

static bool fits_any(Caffe__NetStateRule **rules, size_t count, const struct psd_net_state *state)
{
    for (size_t i = 0; i < count; i++) {
        if (fits(rules[i], state))
            return true;
    }
    return false;
}

static psd_status two_kinds(const struct psd_document *document, const Caffe__LayerParameter *layer)
{
    struct psd_position at = psd_document_where(document, &layer->base, 0);
    char place[64] = "";

    if (at.line) /* a binary file has no lines */
        snprintf(place, sizeof place, "%zu:%zu:", at.line, at.column);
    return psd_fail(PSD_ECONFIG, "%s:%s layer %s: has include and exclude rules; use one kind",
                    document->path, place, layer->name ? layer->name : "");
}

psd_status psd_net_filter(struct psd_document *document, Caffe__NetParameter *net,
                          const struct psd_net_state *state)
{
    size_t kept = 0;

    for (size_t i = 0; i < net->n_layer; i++) {
        Caffe__LayerParameter *layer = net->layer[i];
        if (layer->n_include && layer->n_exclude)
            return two_kinds(document, layer);
        if (layer->n_include ? fits_any(layer->include, layer->n_include, state)
                             : !fits_any(layer->exclude, layer->n_exclude, state))
            net->layer[kept++] = layer;
    }
    net->n_layer = kept;
    return PSD_OK;
}
