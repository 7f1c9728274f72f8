#include "engine/carried_file.h"
#include "proto/field.h"

#include <string.h>

/* The net's n-th carried blob that is a layer's own, and that layer; NULL when there are fewer. */
static struct psd_blob *find_own(const struct psd_net *net, size_t n, const char **layer)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        const struct psd_layer *each = &net->layers[i];
        for (size_t k = 0; k < each->n_carried; k++) {
            if (each->carried[k].kind != PSD_CARRY_OWN || n-- > 0)
                continue;
            *layer = each->name;
            return each->carried[k].blob;
        }
    }
    return NULL;
}

psd_status psd_carried_save(const struct psd_net *net, struct psd_document *document)
{
    const ProtobufCFieldDescriptor *field = psd_field_named(document->root->descriptor, "carried");
    const char *layer = NULL;
    const struct psd_blob *blob;

    for (size_t n = 0; (blob = find_own(net, n, &layer)); n++) {
        ProtobufCMessage *added = NULL;
        PSD_TRY(psd_field_add_message(document->arena, document->root, field, &added));
        Psd__Carried *carried = (Psd__Carried *)added;
        carried->layer = psd_arena_text(document->arena, layer, strlen(layer));
        if (!carried->layer)
            return PSD_ENOMEM;
        carried->n_value = blob->count;
        carried->value = psd_blob_values(blob); /* borrowed */
    }
    return PSD_OK;
}

psd_status psd_carried_load(struct psd_net *net, const Psd__State *state, const char *path)
{
    for (size_t n = 0; n < state->n_carried; n++) {
        const Psd__Carried *from = state->carried[n];
        const char *layer = NULL, *name = from->layer ? from->layer : "";
        struct psd_blob *blob = find_own(net, n, &layer);
        if (!blob || strcmp(layer, name) != 0 || blob->count != from->n_value)
            return psd_fail(PSD_ECONFIG,
                            "%s: the net has no layer %s that carries %zu values; is the file of "
                            "another net?",
                            path, name, from->n_value);
        memcpy(psd_blob_values(blob), from->value, from->n_value * sizeof *from->value);
    }
    return PSD_OK;
}
