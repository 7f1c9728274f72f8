/* upgrade.c - the steps in their order, and the small ones among them. */
#include "proto/upgrade.h"
#include "proto/field.h"
#include "proto/upgrade_steps.h"

#include <string.h>

const char *psd_upgrade_step_name(enum psd_upgrade_step step)
{
    switch (step) {
    case PSD_UPGRADE_V0:
        return "V0 layers";
    case PSD_UPGRADE_TRANSFORM:
        return "old data transformation fields";
    case PSD_UPGRADE_V1:
        return "V1 layers";
    case PSD_UPGRADE_INPUT:
        return "old input fields";
    case PSD_UPGRADE_BATCH_NORM:
        return "old batch-norm parameters";
    case PSD_UPGRADE_SOLVER_TYPE:
        return "the old solver_type";
    }
    return "something unknown";
}

void psd_upgrade_init(struct psd_upgrade *upgrade, const struct psd_document *document)
{
    upgrade->done = 0;
    psd_mistakes_init(&upgrade->warnings, document->path);
}

psd_status psd_upgrade_move(struct psd_upgrading *up, ProtobufCMessage *from,
                            const ProtobufCFieldDescriptor *from_field, ProtobufCMessage *to,
                            const ProtobufCFieldDescriptor *to_field)
{
    struct psd_position at = psd_document_where(up->document, from, from_field->id);
    size_t count = psd_field_count(from, from_field);

    for (size_t i = 0; i < count; i++)
        PSD_TRY(
            psd_field_put(up->document->arena, to, to_field, psd_field_at(from, from_field, i)));
    psd_field_clear(from, from_field);
    return count && at.line ? psd_positions_add(up->document->positions, to, to_field->id, at)
                            : PSD_OK;
}

psd_status psd_upgrade_inner(struct psd_upgrading *up, ProtobufCMessage *message, const char *name,
                             ProtobufCMessage **out)
{
    const ProtobufCFieldDescriptor *field = psd_field_named(message->descriptor, name);

    if (psd_field_count(message, field)) {
        *out = psd_field_message(message, field, 0);
        return PSD_OK;
    }
    return psd_field_add_message(up->document->arena, message, field, out);
}

void psd_upgrade_leave_unknown(struct psd_upgrading *up, const ProtobufCMessage *old)
{
    for (unsigned i = 0; i < old->n_unknown_fields; i++)
        PSD_UPGRADE_SAY(&up->report->warnings, up->document, old, 0,
                        "field %u of an old layer is not known and is left out",
                        old->unknown_fields[i].tag);
}

/* How a data layer's samples are changed once stood in each data layer's own parameters. */
static psd_status move_transform(struct psd_upgrading *up, ProtobufCMessage *layer,
                                 ProtobufCMessage *parameters)
{
    static const char *const names[] = {"scale", "mean_file", "crop_size", "mirror"};

    for (size_t i = 0; parameters && i < sizeof names / sizeof *names; i++) {
        const ProtobufCFieldDescriptor *old = psd_field_named(parameters->descriptor, names[i]);
        ProtobufCMessage *transform = NULL;
        if (!psd_field_count(parameters, old))
            continue;
        up->report->done |= PSD_UPGRADE_TRANSFORM;
        PSD_TRY(psd_upgrade_inner(up, layer, "transform_param", &transform));
        PSD_TRY(psd_upgrade_move(up, parameters, old, transform,
                                 psd_field_named(transform->descriptor, names[i])));
    }
    return PSD_OK;
}

static psd_status upgrade_transform(struct psd_upgrading *up, Caffe__NetParameter *net)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        Caffe__V1LayerParameter *layer = net->layers[i];
        ProtobufCMessage *parameters = NULL;
        if (layer->type == CAFFE__V1_LAYER_PARAMETER__LAYER_TYPE__DATA)
            parameters = (ProtobufCMessage *)layer->data_param;
        else if (layer->type == CAFFE__V1_LAYER_PARAMETER__LAYER_TYPE__IMAGE_DATA)
            parameters = (ProtobufCMessage *)layer->image_data_param;
        else if (layer->type == CAFFE__V1_LAYER_PARAMETER__LAYER_TYPE__WINDOW_DATA)
            parameters = (ProtobufCMessage *)layer->window_data_param;
        PSD_TRY(move_transform(up, &layer->base, parameters));
    }
    return PSD_OK;
}

/* The shape of input i: its input_shape, or four of the old input_dim. */
static psd_status add_input_shape(struct psd_upgrading *up, Caffe__NetParameter *net, size_t i,
                                  Caffe__InputParameter *to)
{
    struct psd_arena *arena = up->document->arena;
    const ProtobufCFieldDescriptor *field = psd_field_named(to->base.descriptor, "shape");
    ProtobufCMessage *shape = NULL;

    if (i < net->n_input_shape)
        return psd_field_put(arena, &to->base, field, &net->input_shape[i]);
    if (net->n_input_shape || 4 * i + 4 > net->n_input_dim) {
        struct psd_quote quote;
        PSD_UPGRADE_SAY(
            &up->mistakes, up->document, &net->base, 3,
            "input \"%s\" has no shape; give each input an input_shape, or four input_dim",
            psd_quote(&quote, net->input[i], strlen(net->input[i])));
        return PSD_OK;
    }
    PSD_TRY(psd_field_add_message(arena, &to->base, field, &shape));
    for (size_t k = 4 * i; k < 4 * i + 4; k++) {
        int64_t dim = net->input_dim[k];
        PSD_TRY(psd_field_put(arena, shape, &shape->descriptor->fields[0], &dim));
    }
    return PSD_OK;
}

/* Puts an Input layer in front of all others. Weights often name inputs without any shape: there is
 * nothing to make of those. */
static psd_status upgrade_input(struct psd_upgrading *up, Caffe__NetParameter *net)
{
    static const char name[] = "input", type[] = "Input";
    struct psd_arena *arena = up->document->arena;
    const ProtobufCFieldDescriptor *layers = psd_field_named(net->base.descriptor, "layer");
    ProtobufCMessage *added = NULL, *parameters = NULL;

    if (!net->n_input)
        return PSD_OK;
    up->report->done |= PSD_UPGRADE_INPUT;
    if (net->n_input_shape || net->n_input_dim) {
        PSD_TRY(psd_field_add_message(arena, &net->base, layers, &added));
        memmove(net->layer + 1, net->layer, (net->n_layer - 1) * sizeof *net->layer);
        net->layer[0] = (Caffe__LayerParameter *)added;
        net->layer[0]->name = psd_arena_text(arena, name, strlen(name));
        net->layer[0]->type = psd_arena_text(arena, type, strlen(type));
        if (!net->layer[0]->name || !net->layer[0]->type)
            return PSD_ENOMEM;
        PSD_TRY(psd_upgrade_inner(up, added, "input_param", &parameters));
        for (size_t i = 0; i < net->n_input; i++)
            PSD_TRY(add_input_shape(up, net, i, (Caffe__InputParameter *)parameters));
        net->layer[0]->n_top = net->n_input;
        net->layer[0]->top = net->input;
    }
    for (unsigned i = 0; i < net->base.descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &net->base.descriptor->fields[i];
        if (strncmp(field->name, "input", strlen("input")) == 0)
            psd_field_clear(&net->base, field);
    }
    return PSD_OK;
}

/* A batch-norm layer's statistics are not learned; older nets had to say so themselves, and wrote
 * three params for that. */
static void upgrade_batch_norm(struct psd_upgrading *up, Caffe__NetParameter *net)
{
    for (size_t i = 0; i < net->n_layer; i++) {
        Caffe__LayerParameter *layer = net->layer[i];
        if (!layer->type || strcmp(layer->type, "BatchNorm") != 0 || layer->n_param != 3)
            continue;
        for (size_t k = 0; k < layer->n_param; k++) {
            Caffe__ParamSpec *param = layer->param[k];
            if (!param->has_lr_mult || !param->has_decay_mult || param->lr_mult != 0 ||
                param->decay_mult != 0)
                up->report->done |= PSD_UPGRADE_BATCH_NORM;
            param->has_lr_mult = param->has_decay_mult = 1;
            param->lr_mult = param->decay_mult = 0;
        }
    }
}

static psd_status upgrade_net(struct psd_upgrading *up, Caffe__NetParameter *net)
{
    PSD_TRY(psd_upgrade_v0(up, net));
    PSD_TRY(upgrade_transform(up, net));
    PSD_TRY(psd_upgrade_v1(up, net));
    PSD_TRY(upgrade_input(up, net));
    upgrade_batch_norm(up, net);
    return PSD_OK;
}

static psd_status upgrade_solver_type(struct psd_upgrading *up, Caffe__SolverParameter *solver)
{
    static const char *const names[] = {"SGD",     "Nesterov", "AdaGrad",
                                        "RMSProp", "AdaDelta", "Adam"};
    const ProtobufCFieldDescriptor *type = psd_field_named(solver->base.descriptor, "type");
    const ProtobufCFieldDescriptor *old = psd_field_named(solver->base.descriptor, "solver_type");

    if (!solver->has_solver_type)
        return PSD_OK;
    if (psd_field_count(&solver->base, type)) {
        PSD_UPGRADE_SAY(
            &up->mistakes, up->document, &solver->base, old->id,
            "the old \"solver_type\" and the new \"type\" are both given; keep \"type\"");
        return PSD_OK;
    }
    const char *name = names[solver->solver_type];
    solver->type = psd_arena_text(up->document->arena, name, strlen(name));
    if (!solver->type)
        return PSD_ENOMEM;
    psd_field_clear(&solver->base, old);
    up->report->done |= PSD_UPGRADE_SOLVER_TYPE;
    return PSD_OK;
}

static psd_status upgrade_solver(struct psd_upgrading *up, Caffe__SolverParameter *solver)
{
    PSD_TRY(upgrade_solver_type(up, solver));
    if (solver->net_param)
        PSD_TRY(upgrade_net(up, solver->net_param));
    if (solver->train_net_param)
        PSD_TRY(upgrade_net(up, solver->train_net_param));
    for (size_t i = 0; i < solver->n_test_net_param; i++)
        PSD_TRY(upgrade_net(up, solver->test_net_param[i]));
    return PSD_OK;
}

static psd_status finish(const struct psd_upgrading *up, psd_status status)
{
    return status == PSD_OK ? psd_mistakes_status(&up->mistakes) : status;
}

psd_status psd_upgrade_net(struct psd_document *document, struct psd_upgrade *upgrade)
{
    struct psd_upgrading up = {.document = document, .report = upgrade};

    psd_mistakes_init(&up.mistakes, document->path);
    return finish(&up, upgrade_net(&up, (Caffe__NetParameter *)document->root));
}

psd_status psd_upgrade_solver(struct psd_document *document, struct psd_upgrade *upgrade)
{
    struct psd_upgrading up = {.document = document, .report = upgrade};

    psd_mistakes_init(&up.mistakes, document->path);
    return finish(&up, upgrade_solver(&up, (Caffe__SolverParameter *)document->root));
}

void psd_upgrade_warn(const struct psd_upgrade *upgrade, struct psd_log *log)
{
    const struct psd_sentences *warnings = &upgrade->warnings.sentences;
    size_t length;

    for (const char *line = warnings->text; *line; line += length + (line[length] == '\n')) {
        length = strcspn(line, "\n");
        psd_log_warning(log, "%.*s", (int)length, line);
    }
    if (warnings->left)
        psd_log_warning(log, "and %u more", warnings->left);
}

psd_status psd_upgrade_read(const char *path, const ProtobufCMessageDescriptor *type,
                            struct psd_log *log, struct psd_document **out)
{
    bool is_net = type == &caffe__net_parameter__descriptor;
    struct psd_document *document = NULL;
    struct psd_upgrade upgrade;

    PSD_TRY(psd_document_read(path, PSD_DOCUMENT_AUTO, type, &document));
    psd_upgrade_init(&upgrade, document);
    psd_status status =
        is_net ? psd_upgrade_net(document, &upgrade) : psd_upgrade_solver(document, &upgrade);
    if (status != PSD_OK) {
        psd_document_destroy(document);
        return status;
    }
    psd_upgrade_warn(&upgrade, log);
    *out = document;
    return PSD_OK;
}
