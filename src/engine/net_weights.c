/* net_weights.c - weights from and to Caffe's files, by the names of layers. */
#include "data/hdf5.h"
#include "engine/blob_file.h"
#include "engine/net_hdf5.h"
#include "proto/field.h"
#include "proto/upgrade.h"

#include <string.h>

static psd_status load_layer(struct psd_net *net, const Caffe__LayerParameter *from,
                             const char *path, size_t *loaded)
{
    const char *name = from->name ? from->name : "";
    const struct psd_layer *layer = psd_net_layer(net, name);

    if (!layer) {
        psd_log_info(net->log, "Ignoring source layer %s", name);
        return PSD_OK;
    }
    if (from->n_blobs != layer->n_params)
        return psd_fail(PSD_ECONFIG, "%s: layer %s has %zu blobs, the net's has %zu", path, name,
                        from->n_blobs, layer->n_params);
    for (size_t i = 0; i < layer->n_params; i++) {
        if (psd_blob_load(&layer->params[i]->blob, from->blobs[i]) != PSD_OK)
            return psd_fail(PSD_ECONFIG, "%s: parameter %zu of layer %s: %s", path, i, name,
                            psd_error());
    }
    *loaded += layer->n_params;
    return PSD_OK;
}

psd_status psd_net_load(struct psd_net *net, const struct psd_document *weights)
{
    const Caffe__NetParameter *from = (const Caffe__NetParameter *)weights->root;
    size_t loaded = 0;

    for (size_t i = 0; i < from->n_layer; i++)
        PSD_TRY(load_layer(net, from->layer[i], weights->path, &loaded));
    if (!loaded && net->n_params)
        psd_log_warning(net->log,
                        "%s has weights for no layer of this net, which keeps those it has; is it "
                        "of another net?",
                        weights->path);
    return PSD_OK;
}

psd_status psd_net_load_file(struct psd_net *net, const char *path)
{
    struct psd_document *document = NULL;

    if (psd_hdf5_is(path))
        return psd_net_load_hdf5(net, path);
    PSD_TRY(psd_upgrade_read(path, &caffe__net_parameter__descriptor, net->log, &document));
    psd_status status = psd_net_load(net, document);
    psd_document_destroy(document);
    return status;
}

/* A copy of the layer as the prototxt has it, with its parameters as blobs. The copy is shallow: what
 * it points at stays the net's document. */
static psd_status save_layer(const struct psd_layer *layer, float *const *diffs,
                             struct psd_arena *arena, Caffe__LayerParameter *to)
{
    const ProtobufCFieldDescriptor *blobs = psd_field_named(layer->param->base.descriptor, "blobs");

    *to = *layer->param;
    psd_field_clear(&to->base, blobs);
    for (size_t i = 0; i < layer->n_params; i++) {
        const struct psd_blob *blob = &layer->params[i]->blob;
        ProtobufCMessage *added = NULL;
        PSD_TRY(psd_field_add_message(arena, &to->base, blobs, &added));
        PSD_TRY(psd_blob_save(blob, psd_blob_values(blob),
                              diffs ? diffs[layer->params[i]->number] : NULL, arena,
                              (Caffe__BlobProto *)added));
    }
    return PSD_OK;
}

psd_status psd_net_save(const struct psd_net *net, float *const *diffs,
                        struct psd_document *document)
{
    Caffe__NetParameter *to = (Caffe__NetParameter *)document->root;

    to->name = net->param->name;
    for (size_t i = 0; i < net->n_layers; i++) {
        ProtobufCMessage *added = NULL;
        PSD_TRY(psd_field_add_message(document->arena, &to->base,
                                      psd_field_named(to->base.descriptor, "layer"), &added));
        PSD_TRY(
            save_layer(&net->layers[i], diffs, document->arena, (Caffe__LayerParameter *)added));
    }
    return PSD_OK;
}

uint64_t psd_net_weight_bytes(const struct psd_net *net)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < net->n_params; i++)
        bytes += net->params[i]->blob.count * sizeof(float);
    return bytes;
}

psd_status psd_net_save_file(const struct psd_net *net, const char *path)
{
    struct psd_document *document = NULL;

    PSD_TRY(psd_document_create(&caffe__net_parameter__descriptor, path, psd_net_weight_bytes(net),
                                &document));
    psd_status status = psd_net_save(net, NULL, document);
    if (status == PSD_OK)
        status = psd_document_write(document, PSD_DOCUMENT_BINARY, NULL, path);
    psd_document_destroy(document);
    return status;
}
