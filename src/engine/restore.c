/* restore.c - a solver goes on from its files, or from Caffe's, or starts from weights.
 *
 *     .solverstate --> iteration, history --> the .caffemodel that it names --> weights
 *                  --> the .poseidonstate beside it, if there is one --> seed, places in the data
 */
#include "base/alloc.h"
#include "base/path.h"
#include "engine/carried_file.h"
#include "engine/snapshot.h"
#include "engine/state.pb-c.h"
#include "proto/upgrade.h"

#include <string.h>
#include <unistd.h>

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

    PSD_TRY(
        psd_document_read(path, PSD_DOCUMENT_BINARY, &caffe__solver_state__descriptor, &document));
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

/* --- our own -------------------------------------------------------------------------------------- */

/* The promise of equal bits is for equal threads and operations; where they differ, we say so. */
static void compare_choices(const struct psd_solver *solver, const Psd__State *own,
                            const char *path)
{
    struct psd_log *log = solver->options.log;
    unsigned threads = psd_ops_threads(solver->options.ops);
    size_t n = 0;

    if (own->has_threads && own->threads != threads)
        psd_log_warning(log,
                        "%s was computed with %u threads, and this run has %u: it equals one that "
                        "was not stopped only within rounding; --threads %u makes it equal",
                        path, own->threads, threads, own->threads);
    for (size_t i = 0; i < solver->net->n_layers && n < own->n_choice; i++) {
        char now[PSD_SNAPSHOT_CHOICE];
        if (!solver->net->layers[i].n_ops)
            continue;
        psd_snapshot_choice(&solver->net->layers[i], now, sizeof now);
        const char *then = own->choice[n++];
        if (strcmp(now, then) == 0)
            continue;
        psd_log_warning(log,
                        "%s: then \"%s\", now \"%s\": this run equals one that was not stopped "
                        "only within rounding",
                        path, then, now);
        return;
    }
}

static void reseed(struct psd_solver *solver, uint64_t seed)
{
    solver->seed = solver->net->seed = seed;
    for (size_t i = 0; i < solver->n_tests; i++)
        solver->tests[i]->seed = seed;
}

/* Passes are counted for all workers together where their number has changed. */
static void take_position(struct psd_solver *solver, const Psd__State *own, const char *path)
{
    unsigned then = own->workers ? own->workers : 1;
    unsigned now = solver->team.workers ? solver->team.workers : 1;

    solver->passes = own->train_position * then / now;
    if (then != now)
        psd_log_warning(solver->options.log,
                        "%s was computed by %u logical workers, and this run has %u: it goes on, "
                        "but not as one that was not stopped; --logical-workers %u makes it equal",
                        path, then, now, then);
    for (size_t i = 0; i < solver->n_tests && i < own->n_test_position; i++)
        solver->test_from[i] = own->test_position[i];
}

/* What a gradient is made of belongs to a job for its life. */
static void take_forms(struct psd_solver *solver, const Psd__State *own)
{
    solver->forms_known = own->has_workers && own->workers == solver->team.workers;
    for (size_t i = 0; i < solver->net->n_params; i++) {
        struct psd_param *param = solver->net->params[i];
        param->goes_as_factors = false;
        for (size_t k = 0; k < own->n_factored; k++)
            param->goes_as_factors |= strcmp(param->name, own->factored[k]) == 0;
    }
}

static psd_status take_own_state(struct psd_solver *solver, const Psd__State *own, const char *path)
{
    if (own->iteration != solver->iteration)
        return psd_fail(PSD_ECONFIG,
                        "%s is of iteration %lld, the .solverstate beside it of iteration %lld; "
                        "remove it to go on without",
                        path, (long long)own->iteration, (long long)solver->iteration);
    compare_choices(solver, own, path);
    PSD_TRY(psd_solver_make_carried(solver));
    PSD_TRY(psd_carried_load(solver->net, solver->carried, solver->team.workers, own, path));
    if (own->has_seed)
        reseed(solver, own->seed);
    take_forms(solver, own);
    take_position(solver, own, path);
    return PSD_OK;
}

static psd_status load_own_state(struct psd_solver *solver, const char *path)
{
    struct psd_document *document = NULL;

    if (access(path, F_OK) != 0)
        return PSD_OK;
    PSD_TRY(psd_document_read(path, PSD_DOCUMENT_BINARY, &psd__state__descriptor, &document));
    psd_status status = take_own_state(solver, (const Psd__State *)document->root, path);
    psd_document_destroy(document);
    return status;
}

psd_status psd_solver_restore(struct psd_solver *solver, const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);

    PSD_TRY(load_caffe_state(solver, path));
    /* After a run of Caffe's own the position follows from the iteration. */
    solver->passes = (uint64_t)solver->iteration * (uint64_t)solver->param->iter_size;
    char *own = psd_alloc_text("%.*s.poseidonstate", (int)stem, path);
    psd_status status = own ? load_own_state(solver, own) : PSD_ENOMEM;
    psd_alloc_free(own);
    return status;
}
