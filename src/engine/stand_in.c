/* stand_in.c - what a prototxt tells of its samples, as the shapes of an Input layer. */
#include "engine/stand_in.h"
#include "base/alloc.h"
#include "base/path.h"
#include "engine/layer.h"
#include "proto/field.h"

#include <stdio.h>
#include <string.h>

/* What is known of a layer that reads files. */
struct reader {
    const char *type;
    const char *source;   /* NULL: none is given */
    uint32_t *batch;      /* where the layer says it; borrowed */
    size_t height, width; /* that images are brought to; 0: not said */
    bool gray;
};

static bool find_reader(const Caffe__LayerParameter *layer, struct reader *out)
{
    Caffe__DataParameter *data = layer->data_param;
    Caffe__ImageDataParameter *image = layer->image_data_param;
    Caffe__WindowDataParameter *window = layer->window_data_param;
    Caffe__HDF5DataParameter *hdf5 = layer->hdf5_data_param;

    if (data)
        *out = (struct reader){"Data", data->source, &data->batch_size, 0, 0, false};
    else if (image)
        *out = (struct reader){"ImageData",       image->source,    &image->batch_size,
                               image->new_height, image->new_width, !image->is_color};
    else if (window)
        *out = (struct reader){"WindowData",      window->source,    &window->batch_size,
                               window->crop_size, window->crop_size, false};
    else if (hdf5)
        *out = (struct reader){"HDF5Data", hdf5->source, &hdf5->batch_size, 0, 0, false};
    else
        return false;
    return true;
}

const char *psd_stand_in_type(const Caffe__LayerParameter *layer)
{
    const char *type = layer->type ? layer->type : "";
    struct reader reader;

    return strcmp(type, "Input") == 0 && find_reader(layer, &reader) ? reader.type : type;
}

/* --- shapes ------------------------------------------------------------------------------------- */

/* Whether the layer can read its files here. */
static psd_status find_files(const struct psd_document *document, const struct reader *reader,
                             bool *found)
{
    char *path = NULL;

    *found = false;
    if (!reader->source || !psd_layers_find(reader->type))
        return PSD_OK;
    psd_status status = psd_path_find(reader->source, document->path, &path);
    *found = status == PSD_OK;
    psd_alloc_free(path);
    return status == PSD_ECONFIG ? PSD_OK : status;
}

/* Means are given once for all colours, or for each. */
static size_t channels_of(const Caffe__TransformationParameter *p, bool gray)
{
    if (p && p->n_mean_value > 1)
        return p->n_mean_value;
    return gray || (p && p->force_gray) ? 1 : 3;
}

/* What the layer's own fields say of a sample; false: too little. */
static bool find_sample(const Caffe__LayerParameter *layer, const struct reader *reader,
                        struct psd_shape *out)
{
    const Caffe__TransformationParameter *p = layer->transform_param;
    size_t crop = p ? p->crop_size : 0;
    size_t height = crop ? crop : reader->height, width = crop ? crop : reader->width;

    *out = psd_shape_of(3, channels_of(p, reader->gray), height, width, 0);
    return height && width && strcmp(reader->type, "HDF5Data") != 0;
}

static psd_status fail(const struct psd_document *document, const Caffe__LayerParameter *layer,
                       const char *sentence)
{
    struct psd_position at = psd_document_where(document, &layer->base, 0);
    char place[64] = "";

    if (at.line)
        snprintf(place, sizeof place, "%zu:%zu:", at.line, at.column);
    return psd_fail(PSD_ECONFIG, "%s:%s layer %s: %s", document->path, place,
                    layer->name ? layer->name : "", sentence);
}

/* --- the layer ---------------------------------------------------------------------------------- */

static psd_status put_shape(struct psd_arena *arena, Caffe__InputParameter *input, size_t batch,
                            const struct psd_shape *sample)
{
    ProtobufCMessage *shape = NULL;
    int64_t dim = (int64_t)batch;

    PSD_TRY(psd_field_add_message(arena, &input->base,
                                  psd_field_named(input->base.descriptor, "shape"), &shape));
    const ProtobufCFieldDescriptor *field = psd_field_named(shape->descriptor, "dim");
    PSD_TRY(psd_field_put(arena, shape, field, &dim));
    for (size_t i = 0; i < sample->axes; i++) {
        dim = (int64_t)sample->dim[i];
        PSD_TRY(psd_field_put(arena, shape, field, &dim));
    }
    return PSD_OK;
}

/* Samples are the first top; another has a number for each. */
static psd_status replace(struct psd_arena *arena, Caffe__LayerParameter *layer, size_t batch,
                          const struct psd_shape *sample)
{
    ProtobufCMessage *input = NULL;
    char *type = psd_arena_text(arena, "Input", strlen("Input"));

    if (!type)
        return PSD_ENOMEM;
    layer->type = type;
    PSD_TRY(psd_field_add_message(arena, &layer->base,
                                  psd_field_named(layer->base.descriptor, "input_param"), &input));
    for (size_t i = 0; i < layer->n_top; i++)
        PSD_TRY(put_shape(arena, (Caffe__InputParameter *)input, batch,
                          i ? &(struct psd_shape){0} : sample));
    return PSD_OK;
}

static psd_status stand_in_for(const struct psd_stand_in *stand_in, struct psd_document *document,
                               Caffe__LayerParameter *layer, const struct reader *reader)
{
    size_t batch = stand_in->batch ? stand_in->batch : *reader->batch;
    struct psd_shape sample = stand_in->sample;
    bool found = false;

    if (!sample.axes)
        PSD_TRY(find_files(document, reader, &found));
    if (found) {
        *reader->batch = (uint32_t)batch;
        return PSD_OK;
    }
    if (!batch)
        return fail(document, layer, "has no batch_size; 1 is the least");
    if (layer->n_top > 2)
        return fail(document, layer,
                    "has more than two tops; only samples and labels have shapes "
                    "that are known without the files");
    if (!sample.axes && !find_sample(layer, reader, &sample))
        return fail(document, layer,
                    "its files are not there to tell what samples look like, and it has no "
                    "crop_size; say it, such as --input-shape 3x227x227");
    return replace(document->arena, layer, batch, &sample);
}

psd_status psd_stand_in_apply(const struct psd_stand_in *stand_in, struct psd_document *document,
                              Caffe__NetParameter *net)
{
    for (size_t i = 0; i < net->n_layer; i++) {
        Caffe__LayerParameter *layer = net->layer[i];
        struct reader reader;
        if (find_reader(layer, &reader) && layer->type && strcmp(layer->type, reader.type) == 0)
            PSD_TRY(stand_in_for(stand_in, document, layer, &reader));
    }
    return PSD_OK;
}
