/* solver.c - the iterations. The lines it logs are Caffe's, since people's scripts read them. */
#include "engine/solver.h"
#include "base/clock.h"
#include "engine/show.h"
#include "engine/snapshot.h"

#include <string.h>

psd_status psd_solver_start(struct psd_solver *solver)
{
    solver->started = true;
    return solver->team.start(solver->team.context, solver);
}

/* What is asked for here, by anybody in the team. */
psd_status psd_solver_ask(struct psd_solver *solver, enum psd_solver_action *action)
{
    *action =
        solver->options.action ? solver->options.action(solver->options.context) : PSD_SOLVER_GO_ON;
    return solver->team.agree ? solver->team.agree(solver->team.context, action) : PSD_OK;
}

/* A full disk, or memory, must not cost the training: the old snapshot is whole, and the next may work. One
 * process says so for all. */
static void forgive(const struct psd_solver *solver, psd_status outcome)
{
    if (outcome != PSD_OK && solver->team.writes)
        psd_log_warning(solver->options.log, "%s", psd_error());
}

psd_status psd_solver_finish_snapshot(struct psd_solver *solver)
{
    psd_status outcome;

    if (!solver->started)
        return PSD_OK;
    PSD_TRY(psd_solver_end_snapshot(solver, &outcome));
    forgive(solver, outcome);
    return PSD_OK;
}

psd_status psd_solver_try_snapshot(struct psd_solver *solver)
{
    psd_status outcome;

    PSD_TRY(psd_solver_finish_snapshot(solver));
    PSD_TRY(psd_solver_begin_snapshot(solver, &outcome));
    forgive(solver, outcome);
    return PSD_OK;
}

/* --- an iteration --------------------------------------------------------------------------------- */

static bool displays(const struct psd_solver *solver)
{
    return solver->param->display && solver->iteration % solver->param->display == 0;
}

/* The mean over the last average_loss losses of hosted worker `worker`. */
static float smooth(const struct psd_solver *solver, size_t worker)
{
    size_t room = (size_t)solver->param->average_loss, hosted = solver->team.hosted;
    size_t count = solver->n_losses < room ? solver->n_losses : room;
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)solver->losses[i * hosted + worker];
    return (float)(sum / (double)count);
}

static psd_status compute(struct psd_solver *solver, float rate, bool forward_only)
{
    size_t room = (size_t)solver->param->average_loss;
    struct psd_team_step step = {
        .iteration = (uint64_t)solver->iteration,
        .rate = rate,
        .forward_only = forward_only,
        .losses = solver->losses + solver->n_losses % room * solver->team.hosted,
        .outputs = displays(solver) ? solver->outputs : NULL,
    };

    PSD_TRY(solver->team.iterate(solver->team.context, &step));
    solver->n_losses++;
    return PSD_OK;
}

psd_status psd_solver_mean(struct psd_solver *solver, size_t count)
{
    const struct psd_team *team = &solver->team;

    return team->mean ? team->mean(team->context, solver->shown, count) : PSD_OK;
}

/* Means over all workers of smoothed losses and outputs, in the first row of `shown`. */
static psd_status average(struct psd_solver *solver)
{
    size_t outputs = psd_net_count_outputs(solver->net);

    for (size_t i = 0; i < solver->team.hosted; i++) {
        float *row = solver->shown + i * (1 + outputs);
        row[0] = smooth(solver, i);
        memcpy(row + 1, solver->outputs + i * outputs, outputs * sizeof *row);
    }
    return psd_solver_mean(solver, 1 + outputs);
}

static psd_status show_iteration(struct psd_solver *solver, float rate)
{
    struct psd_log *log = solver->options.log;
    uint64_t now = psd_clock_now();
    double seconds = (double)(now - solver->lap) / 1e9;
    double done = (double)(solver->iteration - solver->lap_first);

    PSD_TRY(average(solver));
    psd_log_info(log, "Iteration %lld (%g iter/s, %gs/%d iters), loss = %g",
                 (long long)solver->iteration, done / (seconds > 0 ? seconds : 1), seconds,
                 solver->param->display, (double)solver->shown[0]);
    psd_show_row(solver, &(struct psd_solver_row){.net = solver->net,
                                                  .test = -1,
                                                  .iteration = solver->iteration,
                                                  .loss = solver->shown[0],
                                                  .outputs = solver->shown + 1});
    psd_log_info(log, "Iteration %lld, lr = %g", (long long)solver->iteration, (double)rate);
    solver->lap = now;
    solver->lap_first = solver->iteration;
    return PSD_OK;
}

size_t psd_solver_pass(const struct psd_solver *solver)
{
    const struct psd_net *net = solver->net;

    return net->position.global_batch ? net->position.global_batch
                                      : psd_net_samples(net) * solver->team.workers;
}

size_t psd_solver_samples(const struct psd_solver *solver)
{
    return psd_solver_pass(solver) * (size_t)solver->param->iter_size;
}

static void report(const struct psd_solver *solver)
{
    if (solver->options.progress)
        solver->options.progress(solver->options.context, solver->iteration, smooth(solver, 0),
                                 psd_solver_samples(solver));
}

static psd_status iterate(struct psd_solver *solver)
{
    bool stepped = false;
    float rate = psd_rate_next(solver->param, &solver->rate, solver->iteration, &stepped);

    if (stepped)
        psd_log_info(solver->options.log, "MultiStep Status: Iteration %lld, step = %d",
                     (long long)solver->iteration, solver->rate.step);
    PSD_TRY(compute(solver, rate, false));
    if (displays(solver))
        PSD_TRY(show_iteration(solver, rate));
    solver->iteration++;
    report(solver);
    return PSD_OK;
}

/* --- training ------------------------------------------------------------------------------------- */

static bool tests_now(const struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;

    return p->test_interval && solver->iteration % p->test_interval == 0 &&
           (solver->iteration > 0 || p->test_initialization);
}

static bool snapshots_now(const struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;

    return p->snapshot && solver->iteration % p->snapshot == 0;
}

psd_status psd_solver_step(struct psd_solver *solver, int64_t iterations)
{
    int64_t end = solver->iteration + iterations;
    enum psd_solver_action action;

    if (!solver->started)
        PSD_TRY(psd_solver_start(solver));
    solver->n_losses = 0;
    solver->lap = psd_clock_now();
    solver->lap_first = solver->iteration;
    while (solver->iteration < end && !solver->stopped_early) {
        if (tests_now(solver))
            PSD_TRY(psd_solver_test(solver));
        if (solver->stopped_early)
            return PSD_OK;
        PSD_TRY(iterate(solver));
        PSD_TRY(psd_solver_ask(solver, &action));
        if (action == PSD_SOLVER_SNAPSHOT || snapshots_now(solver))
            PSD_TRY(psd_solver_try_snapshot(solver));
        solver->stopped_early = action == PSD_SOLVER_STOP;
    }
    return PSD_OK;
}

/* Caffe looks once more at what the last update has made of the loss. */
static psd_status show_last_loss(struct psd_solver *solver)
{
    if (!displays(solver))
        return PSD_OK;
    PSD_TRY(compute(solver, 0, true));
    PSD_TRY(average(solver));
    psd_log_info(solver->options.log, "Iteration %lld, loss = %g", (long long)solver->iteration,
                 (double)solver->shown[0]);
    return PSD_OK;
}

/* The last snapshot is there when training ends; one that could not be written has a last chance. */
static psd_status save_last(struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;
    bool wanted = p->snapshot_after_train || solver->stopped_early || snapshots_now(solver);

    PSD_TRY(psd_solver_finish_snapshot(solver));
    return wanted && solver->saved != solver->iteration ? psd_solver_snapshot(solver) : PSD_OK;
}

psd_status psd_solver_solve(struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;
    struct psd_log *log = solver->options.log;

    psd_log_info(log, "Solving %s", solver->net->param->name ? solver->net->param->name : "");
    psd_log_info(log, "Learning Rate Policy: %s", p->lr_policy);
    PSD_TRY(psd_solver_step(solver, p->max_iter - solver->iteration));
    PSD_TRY(save_last(solver));
    if (solver->stopped_early) {
        psd_log_info(log, "Optimization stopped early.");
        return PSD_OK;
    }
    PSD_TRY(show_last_loss(solver));
    if (p->test_interval && solver->iteration % p->test_interval == 0)
        PSD_TRY(psd_solver_test(solver));
    psd_log_info(log, "Optimization Done.");
    return PSD_OK;
}
