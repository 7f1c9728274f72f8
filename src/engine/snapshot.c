/* snapshot.c - a solver's state as files, and back.
 *
 *     <prefix>_iter_N.caffemodel       weights, as Caffe's
 *     <prefix>_iter_N.poseidonstate    positions, seed, choices: ours (state.proto)
 *     <prefix>_iter_N.solverstate      iteration and history, as Caffe's; written last, so that what it
 *                                      names is there
 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/path.h"
#include "engine/blob_file.h"
#include "engine/solver.h"
#include "engine/state.pb-c.h"
#include "proto/field.h"
#include "proto/upgrade.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *file_name(const struct psd_solver *solver, const char *ending)
{
    return psd_alloc_text("%s_iter_%lld.%s", solver->prefix, (long long)solver->iteration, ending);
}

/* Bytes of all parameters: what a document of them needs. */
static uint64_t weight_bytes(const struct psd_net *net)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < net->n_params; i++)
        bytes += net->params[i]->blob.count * sizeof(float);
    return bytes;
}

/* --- writing --------------------------------------------------------------------------------- */

static psd_status fill_model(const struct psd_solver *solver, struct psd_document *document)
{
    return psd_net_save(solver->net, solver->param->snapshot_diff, document);
}

static psd_status fill_caffe_state(const struct psd_solver *solver, struct psd_document *document)
{
    Caffe__SolverState *state = (Caffe__SolverState *)document->root;
    size_t params = solver->net->n_params;
    char *model = file_name(solver, "caffemodel");

    state->learned_net = model ? psd_arena_text(document->arena, model, strlen(model)) : NULL;
    psd_alloc_free(model);
    if (!state->learned_net)
        return PSD_ENOMEM;
    state->has_iter = state->has_current_step = 1;
    state->iter = (int32_t)solver->iteration;
    state->current_step = solver->rate.step;
    for (size_t i = 0; i < solver->n_history; i++) {
        const struct psd_blob *like = &solver->net->params[i % params]->blob;
        ProtobufCMessage *blob = NULL;
        PSD_TRY(psd_field_add_message(document->arena, &state->base,
                                      psd_field_named(state->base.descriptor, "history"), &blob));
        PSD_TRY(psd_blob_save(like, solver->history[i], NULL, document->arena,
                              (Caffe__BlobProto *)blob));
    }
    return PSD_OK;
}

static psd_status put_choice(struct psd_document *document, const struct psd_layer *layer)
{
    char text[300];
    int length =
        snprintf(text, sizeof text, "%.200s %s", layer->name, psd_op_backend(layer->ops[0]));
    char *choice = psd_arena_text(document->arena, text, (size_t)length);

    if (!choice)
        return PSD_ENOMEM;
    return psd_field_put(document->arena, document->root,
                         psd_field_named(document->root->descriptor, "choice"), &choice);
}

static psd_status fill_own_state(const struct psd_solver *solver, struct psd_document *document)
{
    Psd__State *state = (Psd__State *)document->root;
    const ProtobufCFieldDescriptor *tests =
        psd_field_named(state->base.descriptor, "test_position");

    state->version = psd_arena_text(document->arena, psd_version(), strlen(psd_version()));
    if (!state->version)
        return PSD_ENOMEM;
    state->has_iteration = state->has_seed = state->has_threads = state->has_train_position = 1;
    state->iteration = solver->iteration;
    state->seed = solver->seed;
    state->threads = psd_ops_threads(solver->options.ops);
    state->train_position = solver->net->position.iteration;
    for (size_t i = 0; i < solver->n_tests; i++)
        PSD_TRY(psd_field_put(document->arena, &state->base, tests,
                              &solver->tests[i]->position.iteration));
    for (size_t i = 0; i < solver->net->n_layers; i++) {
        if (solver->net->layers[i].n_ops)
            PSD_TRY(put_choice(document, &solver->net->layers[i]));
    }
    return PSD_OK;
}

static psd_status write_file(const struct psd_solver *solver,
                             const ProtobufCMessageDescriptor *type, const char *ending,
                             psd_status (*fill)(const struct psd_solver *solver,
                                                struct psd_document *document))
{
    struct psd_document *document = NULL;
    char *path = file_name(solver, ending);
    psd_status status = path ? PSD_OK : PSD_ENOMEM;

    if (status == PSD_OK)
        status = psd_document_create(type, path, weight_bytes(solver->net), &document);
    if (status == PSD_OK)
        status = fill(solver, document);
    if (status == PSD_OK)
        status = psd_document_write(document, PSD_FORM_BINARY, NULL, path);
    psd_document_destroy(document);
    psd_alloc_free(path);
    return status;
}

psd_status psd_solver_snapshot(struct psd_solver *solver)
{
    struct psd_log *log = solver->options.log;

    psd_log_info(log, "Snapshotting to binary proto file %s_iter_%lld.caffemodel", solver->prefix,
                 (long long)solver->iteration);
    PSD_TRY(write_file(solver, &caffe__net_parameter__descriptor, "caffemodel", fill_model));
    PSD_TRY(write_file(solver, &psd__state__descriptor, "poseidonstate", fill_own_state));
    psd_log_info(log, "Snapshotting solver state to binary proto file %s_iter_%lld.solverstate",
                 solver->prefix, (long long)solver->iteration);
    return write_file(solver, &caffe__solver_state__descriptor, "solverstate", fill_caffe_state);
}

psd_status psd_solver_probe(const struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;
    struct psd_file_writer *writer = NULL;
    char *path = file_name(solver, "caffemodel");
    psd_status status = path ? PSD_OK : PSD_ENOMEM;

    if (status == PSD_OK && (p->snapshot || p->snapshot_after_train))
        status = psd_file_create(path, &writer);
    psd_file_abandon(writer);
    psd_alloc_free(path);
    if (status == PSD_ECONFIG)
        return psd_fail(PSD_ECONFIG, "snapshots cannot be written: %s", psd_error());
    return status;
}

/* --- reading ----------------------------------------------------------------------------------- */

static psd_status load_history(struct psd_solver *solver, const Caffe__SolverState *state,
                               const char *path)
{
    size_t params = solver->net->n_params;

    if (state->n_history != solver->n_history)
        return psd_fail(PSD_ECONFIG, "%s has the history of %zu blobs, this solver has %zu", path,
                        state->n_history, solver->n_history);
    for (size_t i = 0; i < solver->n_history; i++) {
        const struct psd_param *param = solver->net->params[i % params];
        const Caffe__BlobProto *blob = state->history[i];
        if (blob->n_data != param->blob.count)
            return psd_fail(PSD_ECONFIG, "%s: the history of %s has %zu values instead of %zu",
                            path, param->name, blob->n_data, param->blob.count);
        memcpy(solver->history[i], blob->data, blob->n_data * sizeof *blob->data);
    }
    solver->iteration = state->iter;
    solver->rate.step = state->current_step;
    return PSD_OK;
}

static psd_status seek(struct psd_solver *solver, const Psd__State *own)
{
    uint64_t passes = (uint64_t)solver->iteration * (uint64_t)solver->param->iter_size;
    struct psd_net_position position = {.iteration = own ? own->train_position : passes};

    PSD_TRY(psd_net_seek(solver->net, &position));
    for (size_t i = 0; own && i < solver->n_tests && i < own->n_test_position; i++) {
        position.iteration = own->test_position[i];
        PSD_TRY(psd_net_seek(solver->tests[i], &position));
    }
    return PSD_OK;
}

/* Ours lies beside Caffe's; without it, as after a run of Caffe's own, the position follows from the
 * iteration. */
static psd_status load_own_state(struct psd_solver *solver, const char *path)
{
    struct psd_document *document = NULL;
    const char *dot = strrchr(path, '.');
    char *own = psd_alloc_text("%.*s.poseidonstate", (int)(dot ? dot - path : 0), path);
    psd_status status = own ? PSD_OK : PSD_ENOMEM;

    if (status == PSD_OK && access(own, F_OK) == 0) {
        status = psd_document_read(own, PSD_FORM_BINARY, &psd__state__descriptor, &document);
        if (status == PSD_OK) {
            const Psd__State *state = (const Psd__State *)document->root;
            solver->seed = solver->net->seed = state->seed;
            status = seek(solver, state);
        }
    } else if (status == PSD_OK) {
        status = seek(solver, NULL);
    }
    psd_document_destroy(document);
    psd_alloc_free(own);
    return status;
}

psd_status psd_solver_restore(struct psd_solver *solver, const char *path)
{
    struct psd_document *document = NULL;

    PSD_TRY(psd_document_read(path, PSD_FORM_BINARY, &caffe__solver_state__descriptor, &document));
    const Caffe__SolverState *state = (const Caffe__SolverState *)document->root;
    psd_status status = load_history(solver, state, path);
    char *model = NULL;
    if (status == PSD_OK && state->learned_net) {
        status = psd_path_find(state->learned_net, path, &model);
        if (status == PSD_OK)
            status = psd_solver_load(solver, model);
    }
    if (status == PSD_OK)
        status = load_own_state(solver, path);
    psd_alloc_free(model);
    psd_document_destroy(document);
    return status;
}

static psd_status load_one(struct psd_solver *solver, const char *path)
{
    struct psd_document *document = NULL;

    PSD_TRY(
        psd_upgrade_read(path, &caffe__net_parameter__descriptor, solver->options.log, &document));
    psd_status status = psd_net_load(solver->net, document);
    psd_document_destroy(document);
    return status;
}

psd_status psd_solver_load(struct psd_solver *solver, const char *paths)
{
    psd_status status = PSD_OK;

    while (*paths && status == PSD_OK) {
        size_t length = strcspn(paths, ",");
        char *path = psd_alloc_text("%.*s", (int)length, paths);
        status = path ? load_one(solver, path) : PSD_ENOMEM;
        psd_alloc_free(path);
        paths += length + (paths[length] == ',');
    }
    return status;
}
