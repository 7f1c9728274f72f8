/* upgrade_v0.c - layers { layer { type: "conv" kernelsize: 3 } } becomes layers { type: CONVOLUTION
 * convolution_param { kernel_size: 3 } }.
 *
 * In the first format one message had the parameters of all layers. Which of them belong to which
 * layer today is a table. Padding was a layer of its own, and becomes the pad of the layer that
 * reads it. */
#include "base/map.h"
#include "base/suggest.h"
#include "proto/field.h"
#include "proto/upgrade_steps.h"

#include <string.h>

#define TYPE(name) CAFFE__V1_LAYER_PARAMETER__LAYER_TYPE__##name

static const struct {
    const char *name;
    Caffe__V1LayerParameter__LayerType type;
} types[] = {
    {"accuracy", TYPE(ACCURACY)},
    {"bnll", TYPE(BNLL)},
    {"concat", TYPE(CONCAT)},
    {"conv", TYPE(CONVOLUTION)},
    {"data", TYPE(DATA)},
    {"dropout", TYPE(DROPOUT)},
    {"euclidean_loss", TYPE(EUCLIDEAN_LOSS)},
    {"flatten", TYPE(FLATTEN)},
    {"hdf5_data", TYPE(HDF5_DATA)},
    {"hdf5_output", TYPE(HDF5_OUTPUT)},
    {"im2col", TYPE(IM2COL)},
    {"images", TYPE(IMAGE_DATA)},
    {"infogain_loss", TYPE(INFOGAIN_LOSS)},
    {"innerproduct", TYPE(INNER_PRODUCT)},
    {"lrn", TYPE(LRN)},
    {"multinomial_logistic_loss", TYPE(MULTINOMIAL_LOGISTIC_LOSS)},
    {"pool", TYPE(POOLING)},
    {"relu", TYPE(RELU)},
    {"sigmoid", TYPE(SIGMOID)},
    {"softmax", TYPE(SOFTMAX)},
    {"softmax_loss", TYPE(SOFTMAX_LOSS)},
    {"split", TYPE(SPLIT)},
    {"tanh", TYPE(TANH)},
    {"window_data", TYPE(WINDOW_DATA)},
};

/* Where a parameter goes: of which layer type (NULL: any), into which field of which message (NULL:
 * the layer itself). */
static const struct rule {
    const char *name, *type, *message, *field;
} rules[] = {
    {"name", NULL, NULL, "name"},
    {"blobs", NULL, NULL, "blobs"},
    {"blobs_lr", NULL, NULL, "blobs_lr"},
    {"weight_decay", NULL, NULL, "weight_decay"},
    {"num_output", "conv", "convolution_param", "num_output"},
    {"num_output", "innerproduct", "inner_product_param", "num_output"},
    {"biasterm", "conv", "convolution_param", "bias_term"},
    {"biasterm", "innerproduct", "inner_product_param", "bias_term"},
    {"weight_filler", "conv", "convolution_param", "weight_filler"},
    {"weight_filler", "innerproduct", "inner_product_param", "weight_filler"},
    {"bias_filler", "conv", "convolution_param", "bias_filler"},
    {"bias_filler", "innerproduct", "inner_product_param", "bias_filler"},
    {"pad", "conv", "convolution_param", "pad"},
    {"pad", "pool", "pooling_param", "pad"},
    {"kernelsize", "conv", "convolution_param", "kernel_size"},
    {"kernelsize", "pool", "pooling_param", "kernel_size"},
    {"group", "conv", "convolution_param", "group"},
    {"stride", "conv", "convolution_param", "stride"},
    {"stride", "pool", "pooling_param", "stride"},
    {"pool", "pool", "pooling_param", "pool"},
    {"dropout_ratio", "dropout", "dropout_param", "dropout_ratio"},
    {"local_size", "lrn", "lrn_param", "local_size"},
    {"alpha", "lrn", "lrn_param", "alpha"},
    {"beta", "lrn", "lrn_param", "beta"},
    {"k", "lrn", "lrn_param", "k"},
    {"source", "data", "data_param", "source"},
    {"source", "hdf5_data", "hdf5_data_param", "source"},
    {"source", "images", "image_data_param", "source"},
    {"source", "window_data", "window_data_param", "source"},
    {"source", "infogain_loss", "infogain_loss_param", "source"},
    {"scale", NULL, "transform_param", "scale"},
    {"meanfile", NULL, "transform_param", "mean_file"},
    {"cropsize", NULL, "transform_param", "crop_size"},
    {"mirror", NULL, "transform_param", "mirror"},
    {"batchsize", "data", "data_param", "batch_size"},
    {"batchsize", "hdf5_data", "hdf5_data_param", "batch_size"},
    {"batchsize", "images", "image_data_param", "batch_size"},
    {"batchsize", "window_data", "window_data_param", "batch_size"},
    {"rand_skip", "data", "data_param", "rand_skip"},
    {"rand_skip", "images", "image_data_param", "rand_skip"},
    {"shuffle_images", "images", "image_data_param", "shuffle"},
    {"new_height", "images", "image_data_param", "new_height"},
    {"new_width", "images", "image_data_param", "new_width"},
    {"concat_dim", "concat", "concat_param", "concat_dim"},
    {"det_fg_threshold", "window_data", "window_data_param", "fg_threshold"},
    {"det_bg_threshold", "window_data", "window_data_param", "bg_threshold"},
    {"det_fg_fraction", "window_data", "window_data_param", "fg_fraction"},
    {"det_context_pad", "window_data", "window_data_param", "context_pad"},
    {"det_crop_mode", "window_data", "window_data_param", "crop_mode"},
    {"hdf5_output_param", "hdf5_output", NULL, "hdf5_output_param"},
};

static const char *type_of(const Caffe__V1LayerParameter *layer)
{
    return layer->layer && layer->layer->type ? layer->layer->type : "";
}

static bool is_padding(const Caffe__V1LayerParameter *layer)
{
    return strcmp(type_of(layer), "padding") == 0;
}

/* Whether `layer`, which reads what `padding` makes, can do the padding itself. */
static bool can_pad(struct psd_upgrading *up, const Caffe__V1LayerParameter *layer,
                    const Caffe__V1LayerParameter *padding)
{
    const char *type = type_of(layer);
    bool good = (strcmp(type, "conv") == 0 || strcmp(type, "pool") == 0) && layer->n_bottom == 1 &&
                padding->n_bottom == 1 && padding->n_top == 1;

    if (!good)
        PSD_UPGRADE_SAY(
            &up->mistakes, up->document, &layer->base, 0,
            "a padding layer can only stand between one blob and one conv or pool layer");
    return good;
}

static void fold_padding(struct psd_upgrading *up, const Caffe__NetParameter *net,
                         Caffe__V1LayerParameter *layer, const struct psd_map *makers)
{
    for (size_t k = 0; k < layer->n_bottom; k++) {
        size_t maker;
        if (!psd_map_find(makers, layer->bottom[k], &maker)) {
            struct psd_quote quote;
            PSD_UPGRADE_SAY(&up->mistakes, up->document, &layer->base, 0,
                            "no layer above makes the bottom \"%s\"",
                            psd_quote(&quote, layer->bottom[k], strlen(layer->bottom[k])));
            continue;
        }
        if (maker == net->n_layers || !is_padding(net->layers[maker]))
            continue;
        const Caffe__V1LayerParameter *padding = net->layers[maker];
        if (!can_pad(up, layer, padding))
            continue;
        layer->layer->has_pad = 1;
        layer->layer->pad = padding->layer->pad;
        layer->bottom[k] = padding->bottom[0];
    }
}

/* Gives the padding to the layers that read it; n_layers stands for the net's inputs. */
static psd_status fold_paddings(struct psd_upgrading *up, Caffe__NetParameter *net,
                                struct psd_map *makers)
{
    for (size_t i = 0; i < net->n_input; i++)
        PSD_TRY(psd_map_put(makers, net->input[i], net->n_layers));
    for (size_t i = 0; i < net->n_layers; i++) {
        Caffe__V1LayerParameter *layer = net->layers[i];
        fold_padding(up, net, layer, makers);
        for (size_t k = 0; k < layer->n_top; k++)
            PSD_TRY(psd_map_put(makers, layer->top[k], i));
    }
    size_t kept = 0;
    for (size_t i = 0; i < net->n_layers; i++) {
        if (!is_padding(net->layers[i]))
            net->layers[kept++] = net->layers[i];
    }
    net->n_layers = kept;
    return PSD_OK;
}

static void upgrade_type(struct psd_upgrading *up, Caffe__V1LayerParameter *layer,
                         const Caffe__V0LayerParameter *old)
{
    struct psd_suggest suggest;

    if (!old->type)
        return;
    psd_suggest_init(&suggest, old->type, strlen(old->type));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        psd_suggest_offer(&suggest, types[i].name);
        if (strcmp(types[i].name, old->type) == 0) {
            layer->has_type = 1;
            layer->type = types[i].type;
            return;
        }
    }
    struct psd_quote quote;
    PSD_UPGRADE_SAY(&up->mistakes, up->document, &old->base, 2, "unknown V0 layer type \"%s\"%s",
                    psd_quote(&quote, old->type, strlen(old->type)), psd_suggest_phrase(&suggest));
}

static const struct rule *find_rule(const char *name, const char *type)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].name, name) == 0 &&
            (!rules[i].type || strcmp(rules[i].type, type) == 0))
            return &rules[i];
    }
    return NULL;
}

static psd_status move_parameter(struct psd_upgrading *up, Caffe__V1LayerParameter *layer,
                                 Caffe__V0LayerParameter *old,
                                 const ProtobufCFieldDescriptor *field)
{
    const char *type = old->type ? old->type : "";
    const struct rule *rule = find_rule(field->name, type);
    ProtobufCMessage *to = &layer->base;

    if (!rule) {
        struct psd_quote quote;
        PSD_UPGRADE_SAY(&up->report->warnings, up->document, &old->base, field->id,
                        "\"%s\" means nothing to a layer of type \"%s\" and is left out",
                        field->name, psd_quote(&quote, type, strlen(type)));
        return PSD_OK;
    }
    if (rule->message)
        PSD_TRY(psd_upgrade_inner(up, to, rule->message, &to));
    return psd_upgrade_move(up, &old->base, field, to,
                            psd_field_named(to->descriptor, rule->field));
}

static psd_status upgrade_layer(struct psd_upgrading *up, Caffe__V1LayerParameter *layer)
{
    Caffe__V0LayerParameter *old = layer->layer;

    if (!old)
        return PSD_OK;
    upgrade_type(up, layer, old);
    for (unsigned i = 0; i < old->base.descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &old->base.descriptor->fields[i];
        if (psd_field_count(&old->base, field) && strcmp(field->name, "type") != 0)
            PSD_TRY(move_parameter(up, layer, old, field));
    }
    psd_upgrade_leave_unknown(up, &old->base);
    layer->layer = NULL;
    return PSD_OK;
}

psd_status psd_upgrade_v0(struct psd_upgrading *up, Caffe__NetParameter *net)
{
    struct psd_map makers;
    bool needed = false;

    for (size_t i = 0; i < net->n_layers; i++)
        needed |= net->layers[i]->layer != NULL;
    if (!needed)
        return PSD_OK;
    up->report->done |= PSD_UPGRADE_V0;
    psd_map_init(&makers);
    psd_status status = fold_paddings(up, net, &makers);
    psd_map_fini(&makers);
    for (size_t i = 0; status == PSD_OK && i < net->n_layers; i++)
        status = upgrade_layer(up, net->layers[i]);
    return status;
}
