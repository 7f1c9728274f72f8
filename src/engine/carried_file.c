#include "engine/carried_file.h"
#include "proto/field.h"

#include <string.h>

/* A blob that some layer carries as its own, and its place in a worker's row. */
struct own {
    const char *layer;
    struct psd_blob *blob;
    size_t offset;
};

/* The net's n-th such blob; false when there are fewer, and then `offset` is the length of a row. */
static bool find_own(const struct psd_net *net, size_t n, struct own *out)
{
    out->offset = 0;
    for (size_t i = 0; i < net->n_layers; i++) {
        const struct psd_layer *each = &net->layers[i];
        for (size_t k = 0; k < each->n_carried; k++) {
            if (each->carried[k].kind != PSD_CARRY_OWN)
                continue;
            out->layer = each->name;
            out->blob = each->carried[k].blob;
            if (n-- == 0)
                return true;
            out->offset += out->blob->count;
        }
    }
    return false;
}

size_t psd_carried_count(const struct psd_net *net)
{
    struct own own;

    find_own(net, SIZE_MAX, &own);
    return own.offset;
}

void psd_carried_take(const struct psd_net *net, float *row)
{
    struct own own;

    for (size_t n = 0; find_own(net, n, &own); n++)
        memcpy(row + own.offset, psd_blob_values(own.blob), own.blob->count * sizeof *row);
}

void psd_carried_put(struct psd_net *net, const float *row)
{
    struct own own;

    for (size_t n = 0; find_own(net, n, &own); n++)
        memcpy(psd_blob_values(own.blob), row + own.offset, own.blob->count * sizeof *row);
}

/* --- files ------------------------------------------------------------------------------------- */

static psd_status save_own(const struct own *own, float *row, unsigned worker,
                           struct psd_document *document)
{
    const ProtobufCFieldDescriptor *field = psd_field_named(document->root->descriptor, "carried");
    ProtobufCMessage *added = NULL;

    PSD_TRY(psd_field_add_message(document->arena, document->root, field, &added));
    Psd__Carried *carried = (Psd__Carried *)added;
    carried->layer = psd_arena_text(document->arena, own->layer, strlen(own->layer));
    if (!carried->layer)
        return PSD_ENOMEM;
    carried->has_worker = 1;
    carried->worker = worker;
    carried->n_value = own->blob->count;
    carried->value = row + own->offset; /* borrowed */
    return PSD_OK;
}

psd_status psd_carried_save(const struct psd_net *net, float *rows, unsigned workers,
                            struct psd_document *document)
{
    size_t width = psd_carried_count(net);
    struct own own;

    for (unsigned w = 0; w < workers; w++) {
        for (size_t n = 0; find_own(net, n, &own); n++)
            PSD_TRY(save_own(&own, rows + w * width, w, document));
    }
    return PSD_OK;
}

psd_status psd_carried_load(const struct psd_net *net, float *rows, unsigned workers,
                            const Psd__State *state, const char *path)
{
    size_t width = psd_carried_count(net), n = 0;

    for (size_t i = 0; i < state->n_carried; i++) {
        const Psd__Carried *from = state->carried[i];
        const char *name = from->layer ? from->layer : "";
        struct own own;
        n = i && from->worker != state->carried[i - 1]->worker ? 0 : n;
        if (!find_own(net, n++, &own) || strcmp(own.layer, name) != 0 ||
            own.blob->count != from->n_value)
            return psd_fail(PSD_ECONFIG,
                            "%s: the net has no layer %s that carries %zu values; is the file of "
                            "another net?",
                            path, name, from->n_value);
        if (from->worker < workers)
            memcpy(rows + from->worker * width + own.offset, from->value,
                   from->n_value * sizeof *rows);
    }
    return PSD_OK;
}
