/* testing.c - the test nets of a solver: batches dealt out to the team, means in batch order.
 *
 *     batch     0  1  2  3 | 4  5  6  7 | ...      a round: as many as the team tests at a time
 *     row       [loss, outputs] of each, on every process
 *     mean      row 0 + row 1 + ...                in this order, however many processes there are
 */
#include "base/alloc.h"
#include "engine/show.h"

#include <stdio.h>
#include <string.h>

void psd_show_row(const struct psd_solver *solver, const struct psd_solver_row *row)
{
    const char *which = row->test < 0 ? "Train" : "Test";
    const struct psd_net *net = row->net;
    struct psd_log *log = solver->options.log;
    size_t number = 0;

    for (size_t i = 0; i < net->n_outputs; i++) {
        size_t count = psd_net_output_size(net, i);
        double weight = (double)psd_net_loss_weight(net, net->outputs[i]);
        const char *name = net->blob_names[net->outputs[i]];
        for (size_t k = 0; k < count; k++, number++) {
            double value = (double)row->outputs[number];
            if (weight != 0)
                psd_log_info(log, "    %s net output #%zu: %s = %g (* %g = %g loss)", which, number,
                             name, value, weight, weight * value);
            else
                psd_log_info(log, "    %s net output #%zu: %s = %g", which, number, name, value);
        }
    }
    if (solver->options.shown)
        solver->options.shown(solver->options.context, row);
}

/* A stop that is asked for while testing ends the test, a snapshot is made at once. */
static psd_status obey(struct psd_solver *solver)
{
    enum psd_solver_action action;

    PSD_TRY(psd_solver_ask(solver, &action));
    if (action == PSD_SOLVER_STOP)
        solver->stopped_early = true;
    return action == PSD_SOLVER_SNAPSHOT ? psd_solver_try_snapshot(solver) : PSD_OK;
}

/* What a test adds up, and where. */
struct tally {
    size_t width; /* 1 + outputs */
    float *rows;  /* owned; [test_batches][width]: of a round */
    double *sums; /* owned; [width] */
};

static psd_status open_tally(struct tally *tally, const struct psd_solver *solver, size_t id)
{
    tally->width = 1 + psd_net_count_outputs(solver->tests[id]);
    tally->rows = psd_alloc_zero(solver->team.test_batches * tally->width, sizeof *tally->rows);
    tally->sums = psd_alloc_zero(tally->width, sizeof *tally->sums);
    return tally->rows && tally->sums ? PSD_OK : PSD_ENOMEM;
}

static void close_tally(struct tally *tally)
{
    psd_alloc_free(tally->rows);
    psd_alloc_free(tally->sums);
}

static void add_rows(struct tally *tally, size_t count)
{
    for (size_t i = 0; i < count * tally->width; i++)
        tally->sums[i % tally->width] += (double)tally->rows[i];
}

static psd_status test_batches(struct psd_solver *solver, size_t id, struct tally *tally)
{
    size_t all = (size_t)solver->param->test_iter[id], at_once = solver->team.test_batches;

    for (size_t done = 0; done < all; done += at_once) {
        struct psd_team_test round = {
            .net = id,
            .first = solver->test_from[id] + done,
            .batches = all - done < at_once ? all - done : at_once,
            .rows = tally->rows,
        };
        PSD_TRY(obey(solver));
        if (solver->stopped_early)
            return PSD_OK;
        PSD_TRY(solver->team.test(solver->team.context, &round));
        add_rows(tally, round.batches);
    }
    return PSD_OK;
}

static void show_means(const struct psd_solver *solver, size_t id, const struct tally *tally)
{
    int batches = solver->param->test_iter[id];

    for (size_t i = 0; i < tally->width; i++)
        tally->rows[i] = (float)(tally->sums[i] / batches);
    if (solver->param->test_compute_loss)
        psd_log_info(solver->options.log, "Test loss: %g", tally->sums[0] / batches);
    psd_show_row(solver, &(struct psd_solver_row){.net = solver->tests[id],
                                                  .test = (int)id,
                                                  .iteration = solver->iteration,
                                                  .loss = tally->rows[0],
                                                  .outputs = tally->rows + 1});
}

static psd_status test_net(struct psd_solver *solver, size_t id)
{
    struct psd_log *log = solver->options.log;
    struct tally tally = {0};

    psd_log_info(log, "Iteration %lld, Testing net (#%zu)", (long long)solver->iteration, id);
    psd_status status = open_tally(&tally, solver, id);
    if (status == PSD_OK)
        status = test_batches(solver, id, &tally);
    if (status == PSD_OK && solver->stopped_early)
        psd_log_info(log, "Test interrupted.");
    else if (status == PSD_OK)
        show_means(solver, id, &tally);
    close_tally(&tally);
    return status;
}

psd_status psd_solver_test(struct psd_solver *solver)
{
    if (solver->n_tests)
        PSD_TRY(solver->team.settle(solver->team.context));
    for (size_t i = 0; i < solver->n_tests && !solver->stopped_early; i++)
        PSD_TRY(test_net(solver, i));
    for (size_t i = 0; i < solver->n_tests && !solver->stopped_early; i++)
        solver->test_from[i] += (uint64_t)solver->param->test_iter[i];
    return PSD_OK;
}
