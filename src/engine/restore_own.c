/* restore_own.c - what our own file of a snapshot adds to Caffe's two, and how this run differs from the
 * one that wrote it.
 *
 *     .poseidonstate --> seed, forms, places in the data, what workers carry
 *                    --> what is another now is refused where it cannot work, else warned of
 */
#include "engine/carried_file.h"
#include "engine/snapshot.h"
#include "engine/state.pb-c.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* --- workers and batches ------------------------------------------------------------------------- */

/* Who has how many samples, then or now. */
struct shares {
    unsigned workers;
    uint64_t samples; /* of all of them in a pass */
};

static struct shares shares_now(const struct psd_solver *solver)
{
    return (struct shares){solver->team.workers, psd_solver_pass(solver)};
}

/* Where the file does not say how many samples there were, each worker had as many as now. */
static struct shares shares_then(const struct psd_solver *solver, const Psd__State *own)
{
    struct shares now = shares_now(solver);
    struct shares then = {own->workers ? own->workers : 1, own->samples};

    if (!then.samples)
        then.samples = own->global_batch;
    if (!then.samples)
        then.samples = now.samples / now.workers * then.workers;
    return then;
}

/* Workers that read parts of their own have nothing to read for others. */
static psd_status check_parts(const struct psd_solver *solver, const Psd__State *own,
                              const char *path)
{
    unsigned then = shares_then(solver, own).workers, now = solver->team.workers;

    if (then == now || !psd_net_is_pinned(solver->net))
        return PSD_OK;
    return psd_fail(PSD_ECONFIG,
                    "%s is of a job with --logical-workers %u, each of which reads a part of the "
                    "data of its own (shared_file_system: false): it cannot be resized to %u; go "
                    "on with --logical-workers %u, or start anew with --weights",
                    path, then, now, then);
}

/* The options with which a run is the one that was stopped. */
static void describe_shares(const Psd__State *own, struct shares shares, char *out, size_t room)
{
    if (own->global_batch)
        snprintf(out, room, "--logical-workers %u --global-batch %llu", shares.workers,
                 (unsigned long long)own->global_batch);
    else
        snprintf(out, room, "--logical-workers %u and a batch_size of %llu", shares.workers,
                 (unsigned long long)shares.samples / shares.workers);
}

/* One process says it for all. */
static void compare_shares(const struct psd_solver *solver, const Psd__State *own, const char *path)
{
    struct shares now = shares_now(solver), then = shares_then(solver, own);
    char options[100];

    if (!solver->team.writes || (now.workers == then.workers && now.samples == then.samples))
        return;
    describe_shares(own, then, options, sizeof options);
    psd_log_warning(solver->options.log,
                    "%s is of a job with --logical-workers %u and %llu samples in a pass, and this "
                    "run has %u and %llu: it goes on at about the same place in the data, but to "
                    "other results than one that was not stopped; to go on exactly, give %s",
                    path, then.workers, (unsigned long long)then.samples, now.workers,
                    (unsigned long long)now.samples, options);
}

/* A pass may have had more or fewer samples, and the data go on where they were. */
static void take_position(struct psd_solver *solver, const Psd__State *own)
{
    uint64_t now = shares_now(solver).samples;

    solver->passes = own->train_position * shares_then(solver, own).samples / (now ? now : 1);
    for (size_t i = 0; i < solver->n_tests && i < own->n_test_position; i++)
        solver->test_from[i] = own->test_position[i];
}

/* --- all of it ----------------------------------------------------------------------------------- */

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
    PSD_TRY(check_parts(solver, own, path));
    compare_choices(solver, own, path);
    compare_shares(solver, own, path);
    PSD_TRY(psd_solver_make_carried(solver));
    PSD_TRY(psd_carried_load(solver->net, solver->carried, solver->team.workers, own, path));
    if (own->has_seed)
        reseed(solver, own->seed);
    take_forms(solver, own);
    take_position(solver, own);
    return PSD_OK;
}

psd_status psd_solver_restore_own(struct psd_solver *solver, const char *path)
{
    struct psd_document *document = NULL;

    if (access(path, F_OK) != 0)
        return PSD_OK;
    PSD_TRY(psd_document_read(path, PSD_DOCUMENT_BINARY, &psd__state__descriptor, &document));
    psd_status status = take_own_state(solver, (const Psd__State *)document->root, path);
    psd_document_destroy(document);
    return status;
}
