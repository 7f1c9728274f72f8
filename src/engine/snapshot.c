/* snapshot.c - a solver's state as files.
 *
 *     <prefix>_iter_N.caffemodel       weights, as Caffe's
 *     <prefix>_iter_N.poseidonstate    positions, seed, choices: ours (state.proto)
 *     <prefix>_iter_N.solverstate      iteration and history, as Caffe's
 *
 * With snapshot_format: HDF5 Caffe's two are HDF5 files and end in .h5 (net_hdf5.h, state_hdf5.h).
 * All are written under temporary names before the first gets its own (spool.h), so a disk that is full
 * spoils nothing that was there. The solverstate comes last: where it is, the others are. */
#include "engine/snapshot.h"
#include "base/alloc.h"
#include "base/file.h"
#include "engine/blob_file.h"
#include "engine/carried_file.h"
#include "engine/net_hdf5.h"
#include "engine/show.h"
#include "engine/spool.h"
#include "engine/state.pb-c.h"
#include "engine/state_hdf5.h"
#include "proto/field.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *file_name(const struct psd_solver *solver, const char *ending)
{
    return psd_alloc_text("%s_iter_%lld.%s", solver->prefix, (long long)solver->iteration, ending);
}

static bool is_hdf5(const struct psd_solver *solver)
{
    return solver->param->snapshot_format == CAFFE__SOLVER_PARAMETER__SNAPSHOT_FORMAT__HDF5;
}

/* --- what each has in it -------------------------------------------------------------------------- */

/* As in Caffe, where the update has been made in the place of the gradient: what was last subtracted. */
static float *const *diffs_of(const struct psd_solver *solver)
{
    return solver->param->snapshot_diff ? solver->history + solver->n_history : NULL;
}

static psd_status fill_model(const struct psd_solver *solver, struct psd_document *document)
{
    return psd_net_save(solver->net, diffs_of(solver), document);
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

static psd_status plan_model(const struct psd_solver *solver, struct psd_hdf5_plan *plan)
{
    return psd_net_plan_hdf5(solver->net, diffs_of(solver), plan);
}

static psd_status plan_caffe_state(const struct psd_solver *solver, struct psd_hdf5_plan *plan)
{
    char *model = file_name(solver, "caffemodel.h5");
    psd_status status = model ? psd_state_plan_hdf5(solver, model, plan) : PSD_ENOMEM;

    psd_alloc_free(model);
    return status;
}

void psd_snapshot_choice(const struct psd_layer *layer, char *out, size_t room)
{
    snprintf(out, room, "%.200s %s", layer->name, psd_op_backend(layer->ops[0]));
}

static psd_status put_text(struct psd_document *document, const char *field, const char *text)
{
    char *copy = psd_arena_text(document->arena, text, strlen(text));

    if (!copy)
        return PSD_ENOMEM;
    return psd_field_put(document->arena, document->root,
                         psd_field_named(document->root->descriptor, field), &copy);
}

static psd_status put_choice(struct psd_document *document, const struct psd_layer *layer)
{
    char text[PSD_SNAPSHOT_CHOICE];

    psd_snapshot_choice(layer, text, sizeof text);
    return put_text(document, "choice", text);
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
    state->has_workers = 1;
    state->workers = solver->team.workers;
    state->has_global_batch = solver->net->position.global_batch != 0;
    state->global_batch = solver->net->position.global_batch;
    state->has_samples = 1;
    state->samples = psd_solver_pass(solver);
    for (size_t i = 0; i < solver->net->n_params; i++) {
        if (solver->net->params[i]->goes_as_factors)
            PSD_TRY(put_text(document, "factored", solver->net->params[i]->name));
    }
    for (size_t i = 0; i < solver->n_tests; i++)
        PSD_TRY(psd_field_put(document->arena, &state->base, tests, &solver->test_from[i]));
    for (size_t i = 0; i < solver->net->n_layers; i++) {
        if (solver->net->layers[i].n_ops)
            PSD_TRY(put_choice(document, &solver->net->layers[i]));
    }
    return psd_carried_save(solver->net, solver->carried, solver->team.workers, document);
}

/* --- the set ------------------------------------------------------------------------------------ */

/* The files of a snapshot, in the order in which they appear: messages, or HDF5 where there is a plan. */
struct part {
    const char *ending, *said; /* said, if not NULL, stands before the name in the log */
    const ProtobufCMessageDescriptor *type;
    psd_status (*fill)(const struct psd_solver *solver, struct psd_document *document);
    psd_status (*plan)(const struct psd_solver *solver, struct psd_hdf5_plan *plan);
};

enum { PARTS = 3 };
static const struct part binary_parts[PARTS] = {
    {"caffemodel", "Snapshotting to binary proto file", &caffe__net_parameter__descriptor,
     fill_model, NULL},
    {"poseidonstate", NULL, &psd__state__descriptor, fill_own_state, NULL},
    {"solverstate", "Snapshotting solver state to binary proto file",
     &caffe__solver_state__descriptor, fill_caffe_state, NULL},
};
static const struct part hdf5_parts[PARTS] = {
    {"caffemodel.h5", "Snapshotting to HDF5 file", NULL, NULL, plan_model},
    {"poseidonstate", NULL, &psd__state__descriptor, fill_own_state, NULL},
    {"solverstate.h5", "Snapshotting solver state to HDF5 file", NULL, NULL, plan_caffe_state},
};

/* Packs a part; `path` becomes the spool's, also on failure. */
static psd_status take_message(const struct psd_solver *solver, const struct part *part, char *path,
                               struct psd_spool *spool)
{
    struct psd_document *document = NULL;
    psd_status status =
        psd_document_create(part->type, path, psd_net_weight_bytes(solver->net), &document);

    if (status == PSD_OK)
        status = part->fill(solver, document);
    if (status == PSD_OK)
        status = psd_spool_add(spool, path, document->root);
    else
        psd_alloc_free(path);
    psd_document_destroy(document);
    return status;
}

/* The bytes of a planned file; the caller owns *out. */
static psd_status make_bytes(struct psd_hdf5_plan *plan, unsigned char **out, uint64_t *size)
{
    PSD_TRY(psd_hdf5_plan_lay_out(plan, size));
    *out = psd_alloc((size_t)*size);
    if (!*out)
        return PSD_ENOMEM;
    psd_hdf5_plan_write(plan, *out);
    return PSD_OK;
}

static psd_status take_hdf5(const struct psd_solver *solver, const struct part *part, char *path,
                            struct psd_spool *spool)
{
    struct psd_hdf5_plan *plan = NULL;
    unsigned char *bytes = NULL;
    uint64_t size = 0;
    psd_status status = psd_hdf5_plan_create(&plan);

    if (status == PSD_OK)
        status = part->plan(solver, plan);
    if (status == PSD_OK)
        status = make_bytes(plan, &bytes, &size);
    if (status == PSD_OK)
        status = psd_spool_add_bytes(spool, path, bytes, (size_t)size);
    else
        psd_alloc_free(path);
    psd_hdf5_plan_destroy(plan);
    return status;
}

static psd_status take_part(const struct psd_solver *solver, const struct part *part,
                            struct psd_spool *spool)
{
    char *path = file_name(solver, part->ending);

    if (!path)
        return PSD_ENOMEM;
    if (part->said)
        psd_log_info(solver->options.log, "%s %s", part->said, path);
    return (part->plan ? take_hdf5 : take_message)(solver, part, path, spool);
}

/* Packs the state as it is now, and starts to write it. */
static psd_status start_set(struct psd_solver *solver)
{
    const struct part *parts = is_hdf5(solver) ? hdf5_parts : binary_parts;
    struct psd_spool *spool = NULL;

    PSD_TRY(psd_spool_create(&spool));
    psd_status status = PSD_OK;
    for (size_t i = 0; status == PSD_OK && i < PARTS; i++)
        status = take_part(solver, &parts[i], spool);
    if (status == PSD_OK)
        status = psd_spool_start(spool);
    if (status == PSD_OK)
        solver->spool = spool;
    else
        psd_spool_end(spool);
    return status;
}

/* Memory for what others give, before they are asked for it; what is carried goes to everybody. */
static psd_status make_room(struct psd_solver *solver)
{
    if (solver->team.writes)
        PSD_TRY(psd_solver_make_history(solver));
    return psd_solver_make_carried(solver);
}

static psd_status write_if_ours(struct psd_solver *solver)
{
    return solver->team.writes ? start_set(solver) : PSD_OK;
}

/* All hear how `step` has ended everywhere. */
static psd_status try_together(struct psd_solver *solver, psd_status (*step)(struct psd_solver *),
                               psd_status *outcome)
{
    *outcome = step(solver);
    return psd_snapshot_share(solver, solver->iteration, outcome);
}

static psd_status pack_together(struct psd_solver *solver, psd_status *outcome)
{
    PSD_TRY(try_together(solver, make_room, outcome));
    if (*outcome != PSD_OK)
        return PSD_OK;
    PSD_TRY(solver->team.gather(solver->team.context));
    return try_together(solver, write_if_ours, outcome);
}

psd_status psd_solver_begin_snapshot(struct psd_solver *solver, psd_status *outcome)
{
    if (!solver->started)
        PSD_TRY(psd_solver_start(solver));
    PSD_TRY(solver->team.settle(solver->team.context));
    psd_status status = pack_together(solver, outcome);
    if (solver->options.team)
        psd_solver_drop_history(solver);
    solver->saved = status == PSD_OK && *outcome == PSD_OK ? solver->iteration : -1;
    return status;
}

psd_status psd_solver_end_snapshot(struct psd_solver *solver, psd_status *outcome)
{
    *outcome = psd_spool_end(solver->spool);
    solver->spool = NULL;
    PSD_TRY(psd_snapshot_share(solver, solver->saved, outcome));
    if (*outcome != PSD_OK)
        solver->saved = -1;
    return PSD_OK;
}

psd_status psd_solver_snapshot(struct psd_solver *solver)
{
    psd_status outcome;

    PSD_TRY(psd_solver_finish_snapshot(solver));
    PSD_TRY(psd_solver_begin_snapshot(solver, &outcome));
    if (outcome == PSD_OK)
        PSD_TRY(psd_solver_end_snapshot(solver, &outcome));
    return outcome;
}

psd_status psd_solver_probe(const struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;
    struct psd_file_writer *writer = NULL;
    char *path = file_name(solver, is_hdf5(solver) ? "caffemodel.h5" : "caffemodel");
    psd_status status = path ? PSD_OK : PSD_ENOMEM;

    if (status == PSD_OK && (p->snapshot || p->snapshot_after_train))
        status = psd_file_create(path, &writer);
    psd_file_abandon(writer);
    psd_alloc_free(path);
    if (status == PSD_ECONFIG)
        return psd_fail(PSD_ECONFIG, "snapshots cannot be written: %s", psd_error());
    return status;
}
