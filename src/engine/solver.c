/* solver.c - the iterations. The lines it logs are Caffe's, since people's scripts read them. */
#include "engine/solver.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "engine/update.h"

#include <string.h>

/* The outputs of a net, one a line; `values` NULL: those that it has now. */
static void show_outputs(struct psd_log *log, const char *which, const struct psd_net *net,
                         const float *values)
{
    size_t number = 0;

    for (size_t i = 0; i < net->n_outputs; i++) {
        const struct psd_blob *blob = &net->blobs[net->outputs[i]];
        double weight = (double)psd_net_loss_weight(net, net->outputs[i]);
        for (size_t k = 0; k < blob->count; k++, number++) {
            double value = (double)(values ? values[number] : psd_blob_values(blob)[k]);
            const char *name = net->blob_names[net->outputs[i]];
            if (weight != 0)
                psd_log_info(log, "    %s net output #%zu: %s = %g (* %g = %g loss)", which, number,
                             name, value, weight, weight * value);
            else
                psd_log_info(log, "    %s net output #%zu: %s = %g", which, number, name, value);
        }
    }
}

static enum psd_solver_action asked(const struct psd_solver *solver)
{
    return solver->options.action ? solver->options.action(solver->options.context)
                                  : PSD_SOLVER_GO_ON;
}

/* A full disk must not cost the training: the old snapshot is whole, and the next may work. */
static psd_status try_snapshot(struct psd_solver *solver)
{
    psd_status status = psd_solver_snapshot(solver);

    if (status != PSD_ECONFIG)
        return status;
    psd_log_warning(solver->options.log, "no snapshot at iteration %lld: %s",
                    (long long)solver->iteration, psd_error());
    return PSD_OK;
}

/* --- testing ------------------------------------------------------------------------------------- */

/* Adds the outputs of one test batch to the sums. */
static void add_outputs(const struct psd_net *net, double *sums)
{
    size_t n = 0;

    for (size_t i = 0; i < net->n_outputs; i++) {
        const struct psd_blob *blob = &net->blobs[net->outputs[i]];
        for (size_t k = 0; k < blob->count; k++)
            sums[n++] += (double)psd_blob_values(blob)[k];
    }
}

/* A stop that is asked for while testing ends the test, a snapshot is made at once. */
static psd_status obey(struct psd_solver *solver)
{
    enum psd_solver_action action = asked(solver);

    if (action == PSD_SOLVER_STOP)
        solver->stopped_early = true;
    return action == PSD_SOLVER_SNAPSHOT ? try_snapshot(solver) : PSD_OK;
}

static psd_status test_batches(struct psd_solver *solver, struct psd_net *net, int batches,
                               double *sums, double *loss_sum)
{
    for (int i = 0; i < batches; i++) {
        float loss = 0;
        PSD_TRY(obey(solver));
        if (solver->stopped_early)
            return PSD_OK;
        PSD_TRY(psd_net_forward(net, &loss));
        add_outputs(net, sums);
        *loss_sum += (double)loss;
    }
    return PSD_OK;
}

static psd_status test_net(struct psd_solver *solver, size_t id)
{
    struct psd_log *log = solver->options.log;
    struct psd_net *net = solver->tests[id];
    int batches = solver->param->test_iter[id];
    size_t count = psd_net_count_outputs(net);
    double *sums = psd_alloc_zero(count, sizeof *sums), loss = 0;
    float *means = psd_alloc_zero(count, sizeof *means);
    psd_status status = sums && means ? PSD_OK : PSD_ENOMEM;

    psd_log_info(log, "Iteration %lld, Testing net (#%zu)", (long long)solver->iteration, id);
    if (status == PSD_OK)
        status = test_batches(solver, net, batches, sums, &loss);
    if (status == PSD_OK && solver->stopped_early) {
        psd_log_info(log, "Test interrupted.");
    } else if (status == PSD_OK) {
        for (size_t i = 0; i < count; i++)
            means[i] = (float)(sums[i] / batches);
        if (solver->param->test_compute_loss)
            psd_log_info(log, "Test loss: %g", loss / batches);
        show_outputs(log, "Test", net, means);
    }
    psd_alloc_free(sums);
    psd_alloc_free(means);
    return status;
}

psd_status psd_solver_test(struct psd_solver *solver)
{
    for (size_t i = 0; i < solver->n_tests && !solver->stopped_early; i++)
        PSD_TRY(test_net(solver, i));
    for (size_t i = 0; i < solver->n_tests && !solver->stopped_early; i++)
        solver->test_from[i] = solver->tests[i]->position.iteration;
    return PSD_OK;
}

/* --- training ------------------------------------------------------------------------------------ */

/* The mean of the last average_loss losses. */
static void smooth(struct psd_solver *solver, float loss)
{
    size_t room = (size_t)solver->param->average_loss;
    double sum = 0;

    solver->losses[solver->n_losses++ % room] = loss;
    size_t count = solver->n_losses < room ? solver->n_losses : room;
    for (size_t i = 0; i < count; i++)
        sum += (double)solver->losses[i];
    solver->smoothed = (float)(sum / (double)count);
}

static bool displays(const struct psd_solver *solver)
{
    return solver->param->display && solver->iteration % solver->param->display == 0;
}

static void show_iteration(struct psd_solver *solver)
{
    struct psd_log *log = solver->options.log;
    uint64_t now = psd_clock_now();
    double seconds = (double)(now - solver->lap) / 1e9;
    double done = (double)(solver->iteration - solver->lap_first);

    psd_log_info(log, "Iteration %lld (%g iter/s, %gs/%d iters), loss = %g",
                 (long long)solver->iteration, done / (seconds > 0 ? seconds : 1), seconds,
                 solver->param->display, (double)solver->smoothed);
    show_outputs(log, "Train", solver->net, NULL);
    solver->lap = now;
    solver->lap_first = solver->iteration;
}

/* How many samples one pass works on: the first axis of the first blob. */
static size_t samples(const struct psd_net *net)
{
    return net->n_blobs && net->blobs[0].shape.axes ? net->blobs[0].shape.dim[0] : 1;
}

static psd_status iterate(struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;
    float sum = 0;
    bool stepped = false;

    for (int i = 0; i < p->iter_size; i++) {
        float loss = 0;
        PSD_TRY(psd_net_forward(solver->net, &loss));
        PSD_TRY(psd_net_backward(solver->net, i == 0));
        sum += loss;
    }
    smooth(solver, sum / (float)p->iter_size);
    if (displays(solver))
        show_iteration(solver);
    float rate = psd_rate_next(p, &solver->rate, solver->iteration, &stepped);
    if (stepped)
        psd_log_info(solver->options.log, "MultiStep Status: Iteration %lld, step = %d",
                     (long long)solver->iteration, solver->rate.step);
    if (displays(solver))
        psd_log_info(solver->options.log, "Iteration %lld, lr = %g", (long long)solver->iteration,
                     (double)rate);
    PSD_TRY(psd_solver_update(solver, rate));
    solver->iteration++;
    if (solver->options.progress)
        solver->options.progress(solver->options.context, solver->iteration, solver->smoothed,
                                 samples(solver->net) * (size_t)p->iter_size);
    return PSD_OK;
}

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

    solver->n_losses = 0;
    solver->smoothed = 0;
    solver->lap = psd_clock_now();
    solver->lap_first = solver->iteration;
    while (solver->iteration < end && !solver->stopped_early) {
        if (tests_now(solver))
            PSD_TRY(psd_solver_test(solver));
        if (solver->stopped_early)
            return PSD_OK;
        PSD_TRY(iterate(solver));
        enum psd_solver_action action = asked(solver);
        if (action == PSD_SOLVER_SNAPSHOT || snapshots_now(solver))
            PSD_TRY(try_snapshot(solver));
        solver->stopped_early = action == PSD_SOLVER_STOP;
    }
    return PSD_OK;
}

psd_status psd_solver_solve(struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;
    struct psd_log *log = solver->options.log;
    float loss = 0;

    psd_log_info(log, "Solving %s", solver->net->param->name ? solver->net->param->name : "");
    psd_log_info(log, "Learning Rate Policy: %s", p->lr_policy);
    PSD_TRY(psd_solver_step(solver, p->max_iter - solver->iteration));
    /* One that could not be written has its last chance here. */
    if ((p->snapshot_after_train || solver->stopped_early || snapshots_now(solver)) &&
        solver->saved != solver->iteration)
        PSD_TRY(psd_solver_snapshot(solver));
    if (solver->stopped_early) {
        psd_log_info(log, "Optimization stopped early.");
        return PSD_OK;
    }
    if (displays(solver)) {
        PSD_TRY(psd_net_forward(solver->net, &loss));
        smooth(solver, loss);
        psd_log_info(log, "Iteration %lld, loss = %g", (long long)solver->iteration,
                     (double)solver->smoothed);
    }
    if (p->test_interval && solver->iteration % p->test_interval == 0)
        PSD_TRY(psd_solver_test(solver));
    psd_log_info(log, "Optimization Done.");
    return PSD_OK;
}
