/* ensemble.c - the team's side: iterations, tests, means, agreements. */
#include "train/ensemble.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "engine/carried_file.h"
#include "engine/share.h"
#include "train/ensemble_state.h"

#include <string.h>

/* A request waits about so long until everybody has heard of it. */
static const double agree_s = 0.1;

/* What fails here ends the job for everybody, with our words. */
static psd_status tell(struct psd_ensemble *ensemble, psd_status status)
{
    if (status != PSD_OK && status != PSD_EPEER)
        psd_comm_end(ensemble->comm, psd_error());
    return status;
}

/* --- iterations --------------------------------------------------------------------------------- */

static psd_status iterate_twin(void *arg, size_t index)
{
    struct psd_ensemble *ensemble = arg;

    return psd_twin_iterate(&ensemble->twins[index], ensemble->step->forward_only);
}

static psd_status run_twins(struct psd_ensemble *ensemble, const struct psd_team_step *step)
{
    size_t outputs = psd_net_count_outputs(ensemble->solver->net);

    ensemble->step = step;
    psd_values_renew(&ensemble->values);
    for (unsigned i = 0; i < ensemble->hosted; i++)
        ensemble->workers[i].outputs = step->outputs ? step->outputs + i * outputs : NULL;
    return psd_pool_each(ensemble->pool, ensemble->n_twins, iterate_twin, ensemble);
}

static bool verifies(const struct psd_ensemble *ensemble, const struct psd_team_step *step)
{
    uint64_t every = ensemble->options.verify;

    return every && !step->forward_only && (step->iteration + 1) % every == 0;
}

static psd_status settle(void *context)
{
    struct psd_ensemble *ensemble = context;
    const struct psd_enrolment *enrolment = &ensemble->enrolment;

    for (size_t i = 0; i < enrolment->n_params; i++) {
        if (enrolment->ids[i] >= 0)
            PSD_TRY(psd_comm_wait(ensemble->comm, enrolment->ids[i]));
    }
    psd_enrolment_show(enrolment, ensemble->solver->net);
    return PSD_OK;
}

static psd_status iterate(void *context, const struct psd_team_step *step)
{
    struct psd_ensemble *ensemble = context;
    float passes = step->forward_only ? 1 : (float)ensemble->enrolment.passes;
    uint64_t begin_ns = psd_clock_now();

    if (!step->forward_only)
        PSD_TRY(psd_comm_begin(ensemble->comm, step->iteration, step->rate));
    PSD_TRY(tell(ensemble, run_twins(ensemble, step)));
    for (unsigned i = 0; i < ensemble->hosted; i++)
        step->losses[i] = ensemble->workers[i].loss / passes;
    ensemble->iteration_ns = psd_clock_now() - begin_ns;
    if (!verifies(ensemble, step))
        return PSD_OK;
    PSD_TRY(settle(ensemble));
    return tell(ensemble, psd_ensemble_verify(ensemble));
}

/* --- small sums --------------------------------------------------------------------------------- */

/* Adds up rows [count] of all workers, of which this process gives the first `rows` of its own; the sum is
 * put into the first. */
static psd_status add_rows(struct psd_ensemble *ensemble, float *data, size_t rows, size_t count)
{
    float *scratch = ensemble->scratch;

    for (size_t at = 0; at < count; at += PSD_COMM_REDUCE_MOST) {
        size_t part = count - at < PSD_COMM_REDUCE_MOST ? count - at : PSD_COMM_REDUCE_MOST;
        memset(scratch, 0, ensemble->hosted * part * sizeof *scratch);
        for (size_t i = 0; i < rows; i++)
            memcpy(scratch + i * part, data + i * count + at, part * sizeof *data);
        PSD_TRY(psd_comm_reduce(ensemble->comm, scratch, part));
        memcpy(data + at, scratch, part * sizeof *data);
    }
    return PSD_OK;
}

psd_status psd_ensemble_add_up(struct psd_ensemble *ensemble, float *data, size_t count)
{
    return add_rows(ensemble, data, 1, count);
}

/* Where shares of a global batch differ, who has more samples counts for more. */
static psd_status mean(void *context, float *data, size_t count)
{
    struct psd_ensemble *ensemble = context;

    for (size_t i = 0; i < ensemble->hosted * count; i++)
        data[i] *= ensemble->workers[i / count].share;
    PSD_TRY(add_rows(ensemble, data, ensemble->hosted, count));
    for (size_t i = 0; i < count; i++)
        data[i] /= (float)ensemble->of;
    return PSD_OK;
}

/* --- tests -------------------------------------------------------------------------------------- */

/* A net that carries something from batch to batch sees all of them, in order, on every process. */
static psd_status test_in_order(struct psd_ensemble *ensemble, const struct psd_team_test *test,
                                size_t width)
{
    for (size_t i = 0; i < test->batches; i++)
        PSD_TRY(psd_twin_test(&ensemble->twins[0], test->net, test->first + i, 1,
                              test->rows + i * width));
    return PSD_OK;
}

static psd_status test_twin(void *arg, size_t index)
{
    struct psd_ensemble *ensemble = arg;
    const struct psd_team_test *test = ensemble->test;
    size_t width = 1 + psd_net_count_outputs(ensemble->solver->tests[test->net]);
    size_t ours = ensemble->first_twin + index;

    if (ours >= test->batches)
        return PSD_OK;
    return psd_twin_test(&ensemble->twins[index], test->net, test->first + ours,
                         ensemble->all_twins, test->rows + ours * width);
}

static psd_status test(void *context, const struct psd_team_test *test)
{
    struct psd_ensemble *ensemble = context;
    const struct psd_net *net = ensemble->solver->tests[test->net];
    size_t width = 1 + psd_net_count_outputs(net);

    ensemble->calls_until = 0; /* tests are short, and the next iteration may be long */
    if (psd_carried_count(net))
        return tell(ensemble, test_in_order(ensemble, test, width));
    memset(test->rows, 0, test->batches * width * sizeof *test->rows);
    ensemble->test = test;
    PSD_TRY(tell(ensemble, psd_pool_each(ensemble->pool, ensemble->n_twins, test_twin, ensemble)));
    return psd_ensemble_add_up(ensemble, test->rows, test->batches * width);
}

/* --- agreements --------------------------------------------------------------------------------- */

/* How many calls to go until the next agreement: as many iterations as take about agree_s. */
static float calls_ahead(const struct psd_ensemble *ensemble)
{
    double calls = agree_s / ((double)(ensemble->iteration_ns + 1) / 1e9);

    return calls < 1 ? 1 : calls > 1000 ? 1000 : (float)(unsigned)calls;
}

/* Everybody calls this equally often, so all meet in the same one. */
static psd_status agree(void *context, enum psd_solver_action *action)
{
    struct psd_ensemble *ensemble = context;
    float votes[3] = {0};

    ensemble->asked = *action > ensemble->asked ? *action : ensemble->asked;
    *action = PSD_SOLVER_GO_ON;
    if (++ensemble->calls < ensemble->calls_until)
        return PSD_OK;
    votes[0] = ensemble->asked == PSD_SOLVER_STOP ? 1 : 0;
    votes[1] = ensemble->asked == PSD_SOLVER_SNAPSHOT ? 1 : 0;
    votes[2] = ensemble->rank == 0 ? calls_ahead(ensemble) : 0;
    PSD_TRY(psd_ensemble_add_up(ensemble, votes, 3));
    *action = votes[0] > 0   ? PSD_SOLVER_STOP
              : votes[1] > 0 ? PSD_SOLVER_SNAPSHOT
                             : PSD_SOLVER_GO_ON;
    ensemble->asked = PSD_SOLVER_GO_ON;
    ensemble->calls = 0;
    ensemble->calls_until = (unsigned)votes[2];
    return PSD_OK;
}

/* --- snapshots ---------------------------------------------------------------------------------- */

static psd_status gather_history(struct psd_ensemble *ensemble)
{
    struct psd_solver *solver = ensemble->solver;
    const struct psd_enrolment *enrolment = &ensemble->enrolment;

    if (solver->team.writes)
        PSD_TRY(psd_solver_make_history(solver));
    for (unsigned kind = 0; kind < psd_comm_states(ensemble->comm); kind++) {
        for (size_t i = 0; i < enrolment->n_params; i++) {
            float *to = solver->history ? solver->history[kind * enrolment->n_params + i] : NULL;
            if (enrolment->ids[i] >= 0)
                PSD_TRY(psd_comm_save_state(ensemble->comm, enrolment->ids[i], kind, to));
        }
    }
    return PSD_OK;
}

static const struct psd_worker *find_worker(const struct psd_ensemble *ensemble, unsigned number)
{
    for (unsigned i = 0; i < ensemble->hosted; i++) {
        if (ensemble->numbers[i] == number)
            return &ensemble->workers[i];
    }
    return NULL;
}

static psd_status gather_carried(struct psd_ensemble *ensemble)
{
    struct psd_solver *solver = ensemble->solver;
    size_t width = psd_carried_count(solver->net);

    PSD_TRY(psd_solver_make_carried(solver));
    for (unsigned w = 0; width && w < ensemble->of; w++) {
        const struct psd_worker *worker = find_worker(ensemble, w);
        float *row = solver->carried + w * width;
        if (worker)
            memcpy(row, worker->carried, width * sizeof *row);
        else
            memset(row, 0, width * sizeof *row);
        PSD_TRY(psd_ensemble_add_up(ensemble, row, width));
    }
    return PSD_OK;
}

static psd_status gather(void *context)
{
    psd_status status = gather_history(context);

    if (status == PSD_OK)
        status = gather_carried(context);
    return tell(context, status);
}

static psd_status share(void *context, void *data, size_t size)
{
    const struct psd_ensemble *ensemble = context;

    return psd_comm_broadcast(ensemble->comm, data, size);
}

/* --- the ensemble ------------------------------------------------------------------------------- */

/* Each rank has the workers that follow those of the one before. */
static psd_status choose_workers(struct psd_ensemble *ensemble)
{
    size_t first = psd_share_offset(ensemble->of, ensemble->ranks, ensemble->rank);

    ensemble->hosted = (unsigned)psd_share_size(ensemble->of, ensemble->ranks, ensemble->rank);
    ensemble->numbers = psd_alloc_zero(ensemble->hosted, sizeof *ensemble->numbers);
    if (!ensemble->numbers)
        return PSD_ENOMEM;
    for (unsigned i = 0; i < ensemble->hosted; i++)
        ensemble->numbers[i] = (unsigned)first + i;
    return PSD_OK;
}

psd_status psd_ensemble_create(const struct psd_ensemble_options *options,
                               struct psd_ensemble **out)
{
    struct psd_ensemble *ensemble = psd_alloc_zero(1, sizeof *ensemble);

    if (!ensemble)
        return PSD_ENOMEM;
    ensemble->options = *options;
    ensemble->rank = options->seat.rank;
    ensemble->ranks = options->seat.ranks ? options->seat.ranks : 1;
    ensemble->of = options->seat.workers ? options->seat.workers : ensemble->ranks;
    psd_status status = PSD_OK;
    if (ensemble->of < ensemble->ranks)
        status = psd_fail(PSD_EINVAL, "%u processes have only %u logical workers", ensemble->ranks,
                          ensemble->of);
    else if (options->global_batch && options->global_batch < ensemble->of)
        status = psd_fail(PSD_EINVAL,
                          "a global batch of %zu is less than a sample for each of %u "
                          "logical workers",
                          options->global_batch, ensemble->of);
    if (status == PSD_OK)
        status = choose_workers(ensemble);
    if (status == PSD_OK)
        *out = ensemble;
    else
        psd_ensemble_destroy(ensemble);
    return status;
}

void psd_ensemble_destroy(struct psd_ensemble *ensemble)
{
    if (!ensemble)
        return;
    psd_comm_close(ensemble->comm);
    for (unsigned i = ensemble->n_twins; i-- > 0;)
        psd_twin_fini(&ensemble->twins[i]);
    if (ensemble->solver)
        psd_enrolment_leave(&ensemble->enrolment, ensemble->solver->net);
    for (unsigned i = 0; ensemble->workers && i < ensemble->hosted; i++)
        psd_worker_fini(&ensemble->workers[i], ensemble->enrolment.n_params);
    psd_pool_destroy(ensemble->pool);
    psd_values_fini(&ensemble->values);
    psd_enrolment_fini(&ensemble->enrolment);
    psd_alloc_free(ensemble->twins);
    psd_alloc_free(ensemble->workers);
    psd_alloc_free(ensemble->numbers);
    psd_alloc_free(ensemble->scratch);
    psd_alloc_free(ensemble);
}

struct psd_team psd_ensemble_team(struct psd_ensemble *ensemble)
{
    return (struct psd_team){
        .workers = ensemble->of,
        .hosted = ensemble->hosted,
        .writes = ensemble->rank == 0,
        .test_batches = 1,
        .context = ensemble,
        .start = psd_ensemble_start,
        .iterate = iterate,
        .settle = settle,
        .test = test,
        .mean = mean,
        .agree = agree,
        .gather = gather,
        .share = share,
    };
}

void psd_ensemble_place(const struct psd_ensemble *ensemble, struct psd_solver_options *solver)
{
    size_t global = ensemble->options.global_batch;

    solver->batch = global ? psd_share_size(global, ensemble->of, ensemble->numbers[0]) : 0;
    solver->position = (struct psd_net_position){
        .workers = ensemble->numbers,
        .n_workers = 1,
        .of = ensemble->of,
        .global_batch = global,
    };
}

const char *psd_ensemble_plan(const struct psd_ensemble *ensemble)
{
    return ensemble->comm ? psd_comm_plan(ensemble->comm) : "";
}
