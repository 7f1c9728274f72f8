/* restore.c - a solver goes on from its files, or from Caffe's, or starts from weights.
 *
 *     .solverstate --> iteration, history --> the .caffemodel that it names --> weights
 *                  --> the .poseidonstate beside it, if there is one --> seed, places in the data
 *                      (restore_own.c)
 *
 * Caffe's two may be HDF5 files; which form a file has, its first bytes say. */
#include "base/alloc.h"
#include "base/path.h"
#include "data/hdf5.h"
#include "engine/snapshot.h"
#include "engine/state_hdf5.h"
#include "proto/upgrade.h"

#include <string.h>

/* --- weights -------------------------------------------------------------------------------------- */

/* Test nets may have layers that the training net has not. */
static psd_status load_file(struct psd_solver *solver, const char *path, bool tests)
{
    PSD_TRY(psd_net_load_file(solver->net, path));
    for (size_t i = 0; tests && i < solver->n_tests; i++)
        PSD_TRY(psd_net_load_file(solver->tests[i], path));
    return PSD_OK;
}

/* One of several names, which stand in the file `in` (NULL: in none); blanks around it do not count. */
static psd_status load_named(struct psd_solver *solver, const char *name, size_t length,
                             const char *in)
{
    size_t blanks = strspn(name, " \t");

    for (name += blanks, length -= blanks; length && strchr(" \t", name[length - 1]);)
        length--;
    char *named = psd_alloc_text("%.*s", (int)length, name), *path = NULL;
    if (!named)
        return PSD_ENOMEM;
    psd_log_info(solver->options.log, "Finetuning from %s", named);
    psd_status status = psd_path_find(named, in, &path);
    if (status == PSD_OK)
        status = load_file(solver, path, true);
    psd_alloc_free(path);
    psd_alloc_free(named);
    return status;
}

static psd_status load_all(struct psd_solver *solver, const char *names, const char *in)
{
    while (*names) {
        size_t length = strcspn(names, ",");
        PSD_TRY(load_named(solver, names, length, in));
        names += length + (names[length] == ',');
    }
    return PSD_OK;
}

psd_status psd_solver_load(struct psd_solver *solver, const char *paths)
{
    const Caffe__SolverParameter *p = solver->param;

    if (paths)
        return load_all(solver, paths, NULL);
    for (size_t i = 0; i < p->n_weights; i++)
        PSD_TRY(load_all(solver, p->weights[i], solver->options.document->path));
    return PSD_OK;
}

/* --- Caffe's state -------------------------------------------------------------------------------- */

static psd_status check_state(const struct psd_solver *solver, const Caffe__SolverState *state,
                              const char *path)
{
    if (!state->has_iter && !state->learned_net && !state->n_history)
        return psd_fail(PSD_ECONFIG,
                        "%s is not the state of a solver; its name ends in "
                        ".solverstate",
                        path);
    if (state->iter < 0 || state->current_step < 0)
        return psd_fail(PSD_ECONFIG, "%s says that it is of iteration %d and step %d", path,
                        state->iter, state->current_step);
    if (state->n_history != solver->n_history)
        return psd_fail(PSD_ECONFIG, "%s has the history of %zu blobs, this solver has %zu", path,
                        state->n_history, solver->n_history);
    for (size_t i = 0; i < solver->n_history; i++) {
        const struct psd_param *param = solver->net->params[i % solver->net->n_params];
        size_t count = state->history[i]->n_data;
        if (count != param->blob.count)
            return psd_fail(PSD_ECONFIG, "%s: the history of %s has %zu values instead of %zu",
                            path, param->name, count, param->blob.count);
    }
    return PSD_OK;
}

static void take_state(struct psd_solver *solver, const Caffe__SolverState *state)
{
    for (size_t i = 0; i < solver->n_history; i++)
        memcpy(solver->history[i], state->history[i]->data,
               state->history[i]->n_data * sizeof(float));
    solver->iteration = state->iter;
    solver->rate.step = state->current_step;
}

static psd_status load_model(struct psd_solver *solver, const char *named, const char *path)
{
    char *model = NULL;

    PSD_TRY(psd_path_find(named, path, &model));
    psd_status status = load_file(solver, model, false);
    psd_alloc_free(model);
    return status;
}

static psd_status load_caffe_state(struct psd_solver *solver, const char *path)
{
    struct psd_document *document = NULL;

    if (psd_hdf5_is(path))
        PSD_TRY(psd_state_read_hdf5(path, &document));
    else
        PSD_TRY(psd_document_read(path, PSD_DOCUMENT_BINARY, &caffe__solver_state__descriptor,
                                  &document));
    const Caffe__SolverState *state = (const Caffe__SolverState *)document->root;
    psd_status status = check_state(solver, state, path);
    if (status == PSD_OK)
        status = psd_solver_make_history(solver);
    if (status == PSD_OK && state->learned_net)
        status = load_model(solver, state->learned_net, path);
    if (status == PSD_OK)
        take_state(solver, state);
    psd_document_destroy(document);
    return status;
}

/* How long the beginning of a path is without what its name ends in, a dot and letters. */
static size_t stem_of(const char *path, size_t length)
{
    for (size_t i = length; i-- > 0 && path[i] != '/';) {
        if (path[i] == '.')
            return i;
    }
    return length;
}

psd_status psd_solver_restore(struct psd_solver *solver, const char *path)
{
    size_t stem = stem_of(path, strlen(path));

    if (strcmp(path + stem, ".h5") == 0)
        stem = stem_of(path, stem);
    PSD_TRY(load_caffe_state(solver, path));
    /* After a run of Caffe's own the position follows from the iteration. */
    solver->passes = (uint64_t)solver->iteration * (uint64_t)solver->param->iter_size;
    char *own = psd_alloc_text("%.*s.poseidonstate", (int)stem, path);
    psd_status status = own ? psd_solver_restore_own(solver, own) : PSD_ENOMEM;
    psd_alloc_free(own);
    return status;
}
