/* net_find.c - blobs and parameters by the names that people give them. */
#include "base/suggest.h"
#include "engine/net.h"

#include <stdlib.h>
#include <string.h>

/* The parameter called "layer[index]". */
static struct psd_blob *find_param(const struct psd_net *net, const char *name)
{
    const char *bracket = strrchr(name, '[');
    char *end = NULL;

    if (!bracket)
        return NULL;
    unsigned long index = strtoul(bracket + 1, &end, 10);
    if (end == bracket + 1 || strcmp(end, "]") != 0)
        return NULL;
    for (size_t i = 0; i < net->n_layers; i++) {
        const struct psd_layer *layer = &net->layers[i];
        bool named = strlen(layer->name) == (size_t)(bracket - name) &&
                     strncmp(layer->name, name, (size_t)(bracket - name)) == 0;
        if (named && index < layer->n_params)
            return &layer->params[index]->blob;
    }
    return NULL;
}

static struct psd_blob *find_blob(const struct psd_net *net, const char *name, enum psd_net_end end)
{
    for (size_t i = 0; end == PSD_NET_FIRST && i < net->n_blobs; i++) {
        if (strcmp(net->blob_names[i], name) == 0)
            return &net->blobs[i];
    }
    return psd_net_blob(net, name);
}

psd_status psd_net_find(const struct psd_net *net, const char *name, enum psd_net_end end,
                        struct psd_blob **out)
{
    struct psd_suggest suggest;

    *out = find_blob(net, name, end);
    if (!*out)
        *out = find_param(net, name);
    if (*out)
        return PSD_OK;
    psd_suggest_init(&suggest, name, strlen(name));
    for (size_t i = 0; i < net->n_blobs; i++)
        psd_suggest_offer(&suggest, net->blob_names[i]);
    for (size_t i = 0; i < net->n_params; i++)
        psd_suggest_offer(&suggest, net->params[i]->name);
    return psd_fail(PSD_ECONFIG, "%s has no blob or parameter \"%s\"%s", net->document->path, name,
                    psd_suggest_phrase(&suggest));
}

const struct psd_layer *psd_net_maker(const struct psd_net *net, const struct psd_blob *blob)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        for (size_t k = 0; k < net->layers[i].n_top; k++) {
            if (net->layers[i].top[k] == blob)
                return &net->layers[i];
        }
    }
    return NULL;
}
