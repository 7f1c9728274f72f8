#include "engine/state_hdf5.h"
#include "base/alloc.h"
#include "data/hdf5.h"
#include "proto/field.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 40 }; /* bytes for "history/" and a number */

/* --- reading ------------------------------------------------------------------------------------ */

/* Opens the dataset if there is one; *out is NULL where not. */
static psd_status open_if(const struct psd_hdf5 *file, const char *name,
                          struct psd_hdf5_dataset **out)
{
    bool has = false;

    *out = NULL;
    PSD_TRY(psd_hdf5_has(file, name, &has));
    return has ? psd_hdf5_dataset_open(file, name, out) : PSD_OK;
}

static psd_status read_integer(const struct psd_hdf5 *file, const char *path, const char *name,
                               int32_t *out, protobuf_c_boolean *has)
{
    struct psd_hdf5_dataset *dataset = NULL;
    int64_t number = 0;

    PSD_TRY(open_if(file, name, &dataset));
    *has = dataset != NULL;
    psd_status status = dataset ? psd_hdf5_dataset_integer(dataset, &number) : PSD_OK;
    psd_hdf5_dataset_close(dataset);
    if (status == PSD_OK && (number < 0 || number > INT32_MAX))
        status = psd_fail(PSD_ECONFIG, "%s: %s is %" PRId64, path, name, number);
    *out = (int32_t)number;
    return status;
}

static psd_status read_model(const struct psd_hdf5 *file, struct psd_document *document)
{
    Caffe__SolverState *state = (Caffe__SolverState *)document->root;
    struct psd_hdf5_dataset *dataset = NULL;
    char *text = NULL;

    PSD_TRY(open_if(file, "learned_net", &dataset));
    psd_status status = dataset ? psd_hdf5_dataset_text(dataset, &text) : PSD_OK;
    psd_hdf5_dataset_close(dataset);
    if (text) {
        state->learned_net = psd_arena_text(document->arena, text, strlen(text));
        status = state->learned_net ? PSD_OK : PSD_ENOMEM;
    }
    psd_alloc_free(text);
    return status;
}

static psd_status read_values(struct psd_hdf5_dataset *dataset, struct psd_document *document)
{
    const ProtobufCFieldDescriptor *field = psd_field_named(document->root->descriptor, "history");
    ProtobufCMessage *blob = NULL;

    PSD_TRY(psd_field_add_message(document->arena, document->root, field, &blob));
    float *values =
        psd_field_extend(document->arena, blob, psd_field_named(blob->descriptor, "data"),
                         (size_t)psd_hdf5_dataset_space(dataset)->count);
    if (!values)
        return PSD_ENOMEM;
    return psd_hdf5_dataset_read(dataset, 0, psd_hdf5_dataset_rows(dataset), values);
}

static psd_status read_history(const struct psd_hdf5 *file, struct psd_document *document)
{
    struct psd_hdf5_names names = {0};
    bool has = false;

    PSD_TRY(psd_hdf5_has(file, "history", &has));
    if (!has)
        return PSD_OK;
    PSD_TRY(psd_hdf5_names(file, "history", &names));
    size_t count = names.count;
    psd_hdf5_names_fini(&names);
    for (size_t i = 0; i < count; i++) {
        struct psd_hdf5_dataset *dataset = NULL;
        char name[NAME];
        snprintf(name, sizeof name, "history/%zu", i);
        PSD_TRY(psd_hdf5_dataset_open(file, name, &dataset));
        psd_status status = read_values(dataset, document);
        psd_hdf5_dataset_close(dataset);
        PSD_TRY(status);
    }
    return PSD_OK;
}

static psd_status read_state(const struct psd_hdf5 *file, struct psd_document *document)
{
    Caffe__SolverState *state = (Caffe__SolverState *)document->root;

    PSD_TRY(read_integer(file, document->path, "iter", &state->iter, &state->has_iter));
    PSD_TRY(read_integer(file, document->path, "current_step", &state->current_step,
                         &state->has_current_step));
    PSD_TRY(read_model(file, document));
    return read_history(file, document);
}

psd_status psd_state_read_hdf5(const char *path, struct psd_document **out)
{
    struct psd_document *document = NULL;
    struct psd_hdf5 *file = NULL;

    PSD_TRY(psd_hdf5_open(path, &file));
    psd_status status = psd_document_create(&caffe__solver_state__descriptor, path, 0, &document);
    if (status == PSD_OK)
        status = read_state(file, document);
    psd_hdf5_close(file);
    if (status == PSD_OK)
        *out = document;
    else
        psd_document_destroy(document);
    return status;
}

/* --- planning ----------------------------------------------------------------------------------- */

psd_status psd_state_plan_hdf5(const struct psd_solver *solver, const char *model,
                               struct psd_hdf5_plan *plan)
{
    size_t params = solver->net->n_params;

    PSD_TRY(psd_hdf5_plan_integer(plan, "iter", (int32_t)solver->iteration));
    PSD_TRY(psd_hdf5_plan_text(plan, "learned_net", model));
    PSD_TRY(psd_hdf5_plan_integer(plan, "current_step", solver->rate.step));
    PSD_TRY(psd_hdf5_plan_group(plan, "history"));
    for (size_t i = 0; i < solver->n_history; i++) {
        const struct psd_shape *shape = &solver->net->params[i % params]->blob.shape;
        char name[NAME];
        snprintf(name, sizeof name, "history/%zu", i);
        PSD_TRY(psd_hdf5_plan_floats(plan, name, shape->axes, shape->dim, solver->history[i]));
    }
    return PSD_OK;
}
