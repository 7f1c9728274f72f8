/* upgrade_v1.c - layers { type: CONVOLUTION } becomes layer { type: "Convolution" }.
 *
 * Nearly every field of the old layer has one of the same name and type in the new one, so most of
 * the work is moving those. Left over are the type, which was an enumeration, and what is now
 * gathered in a param for each blob: its name, share mode and multipliers. */
#include "proto/field.h"
#include "proto/upgrade_steps.h"

#include <string.h>

#define TYPE(name) [CAFFE__V1_LAYER_PARAMETER__LAYER_TYPE__##name]

static const char *const types[] = {
    TYPE(NONE) = "",
    TYPE(ABSVAL) = "AbsVal",
    TYPE(ACCURACY) = "Accuracy",
    TYPE(ARGMAX) = "ArgMax",
    TYPE(BNLL) = "BNLL",
    TYPE(CONCAT) = "Concat",
    TYPE(CONTRASTIVE_LOSS) = "ContrastiveLoss",
    TYPE(CONVOLUTION) = "Convolution",
    TYPE(DATA) = "Data",
    TYPE(DECONVOLUTION) = "Deconvolution",
    TYPE(DROPOUT) = "Dropout",
    TYPE(DUMMY_DATA) = "DummyData",
    TYPE(ELTWISE) = "Eltwise",
    TYPE(EUCLIDEAN_LOSS) = "EuclideanLoss",
    TYPE(EXP) = "Exp",
    TYPE(FLATTEN) = "Flatten",
    TYPE(HDF5_DATA) = "HDF5Data",
    TYPE(HDF5_OUTPUT) = "HDF5Output",
    TYPE(HINGE_LOSS) = "HingeLoss",
    TYPE(IM2COL) = "Im2col",
    TYPE(IMAGE_DATA) = "ImageData",
    TYPE(INFOGAIN_LOSS) = "InfogainLoss",
    TYPE(INNER_PRODUCT) = "InnerProduct",
    TYPE(LRN) = "LRN",
    TYPE(MEMORY_DATA) = "MemoryData",
    TYPE(MULTINOMIAL_LOGISTIC_LOSS) = "MultinomialLogisticLoss",
    TYPE(MVN) = "MVN",
    TYPE(POOLING) = "Pooling",
    TYPE(POWER) = "Power",
    TYPE(RELU) = "ReLU",
    TYPE(SIGMOID) = "Sigmoid",
    TYPE(SIGMOID_CROSS_ENTROPY_LOSS) = "SigmoidCrossEntropyLoss",
    TYPE(SILENCE) = "Silence",
    TYPE(SLICE) = "Slice",
    TYPE(SOFTMAX) = "Softmax",
    TYPE(SOFTMAX_LOSS) = "SoftmaxWithLoss",
    TYPE(SPLIT) = "Split",
    TYPE(TANH) = "TanH",
    TYPE(THRESHOLD) = "Threshold",
    TYPE(WINDOW_DATA) = "WindowData",
};

static psd_status move_equal_fields(struct psd_upgrading *up, Caffe__V1LayerParameter *old,
                                    Caffe__LayerParameter *layer)
{
    const ProtobufCMessageDescriptor *type = old->base.descriptor;

    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *from = &type->fields[i];
        const ProtobufCFieldDescriptor *to =
            psd_field_find(layer->base.descriptor, from->name, strlen(from->name));
        if (to && to->type == from->type && to->descriptor == from->descriptor)
            PSD_TRY(psd_upgrade_move(up, &old->base, from, &layer->base, to));
    }
    return PSD_OK;
}

/* The param of blob `index`, made with all before it if need be. */
static Caffe__ParamSpec *param(struct psd_upgrading *up, Caffe__LayerParameter *layer, size_t index)
{
    const ProtobufCFieldDescriptor *field = psd_field_named(layer->base.descriptor, "param");
    ProtobufCMessage *added = NULL;

    while (layer->n_param <= index) {
        if (psd_field_add_message(up->document->arena, &layer->base, field, &added) != PSD_OK)
            return NULL;
    }
    return layer->param[index];
}

static psd_status gather_params(struct psd_upgrading *up, const Caffe__V1LayerParameter *old,
                                Caffe__LayerParameter *layer)
{
    Caffe__ParamSpec *spec;

    for (size_t i = 0; i < old->n_param; i++) {
        if (!(spec = param(up, layer, i)))
            return PSD_ENOMEM;
        spec->name = old->param[i];
    }
    for (size_t i = 0; i < old->n_blob_share_mode; i++) {
        if (!(spec = param(up, layer, i)))
            return PSD_ENOMEM;
        spec->has_share_mode = 1;
        spec->share_mode = (Caffe__ParamSpec__DimCheckMode)old->blob_share_mode[i];
    }
    for (size_t i = 0; i < old->n_blobs_lr; i++) {
        if (!(spec = param(up, layer, i)))
            return PSD_ENOMEM;
        spec->has_lr_mult = 1;
        spec->lr_mult = old->blobs_lr[i];
    }
    for (size_t i = 0; i < old->n_weight_decay; i++) {
        if (!(spec = param(up, layer, i)))
            return PSD_ENOMEM;
        spec->has_decay_mult = 1;
        spec->decay_mult = old->weight_decay[i];
    }
    return PSD_OK;
}

static psd_status upgrade_layer(struct psd_upgrading *up, Caffe__V1LayerParameter *old,
                                Caffe__LayerParameter *layer)
{
    struct psd_position at = psd_document_where(up->document, &old->base, 0);

    if (at.line)
        PSD_TRY(psd_positions_add(up->document->positions, layer, 0, at));
    PSD_TRY(move_equal_fields(up, old, layer));
    PSD_TRY(gather_params(up, old, layer));
    if (old->has_type) {
        const char *type = types[old->type];
        layer->type = psd_arena_text(up->document->arena, type, strlen(type));
        if (!layer->type)
            return PSD_ENOMEM;
    }
    psd_upgrade_leave_unknown(up, &old->base);
    return PSD_OK;
}

psd_status psd_upgrade_v1(struct psd_upgrading *up, Caffe__NetParameter *net)
{
    const ProtobufCMessageDescriptor *type = net->base.descriptor;
    const ProtobufCFieldDescriptor *layers = psd_field_named(type, "layers");
    const ProtobufCFieldDescriptor *layer = psd_field_named(type, "layer");

    if (!net->n_layers)
        return PSD_OK;
    up->report->done |= PSD_UPGRADE_V1;
    if (net->n_layer) {
        PSD_UPGRADE_SAY(
            &up->report->warnings, up->document, &net->base, layer->id,
            "the net has old \"layers\" and new \"layer\" parts; as in Caffe, the new ones "
            "are left out");
        psd_field_clear(&net->base, layer);
    }
    for (size_t i = 0; i < net->n_layers; i++) {
        ProtobufCMessage *added = NULL;
        PSD_TRY(psd_field_add_message(up->document->arena, &net->base, layer, &added));
        PSD_TRY(upgrade_layer(up, net->layers[i], (Caffe__LayerParameter *)added));
    }
    psd_field_clear(&net->base, layers);
    return PSD_OK;
}
