/* ensemble_start.c - a seat in the job, workers, twins.
 *
 *     solver file --> rule, passes  --.
 *     net         --> parameters    --+--> seat --> forms, routes --> workers' memory --> twins
 *     snapshot    --> values, state --'
 */
#include "base/alloc.h"
#include "engine/carried_file.h"
#include "engine/share.h"
#include "train/ensemble_state.h"

#include <string.h>

/* --- the seat ----------------------------------------------------------------------------------- */

/* Samples of worker `number` in a pass. */
static size_t batch_of(const struct psd_ensemble *ensemble, unsigned number)
{
    size_t global = ensemble->options.global_batch;

    return global ? psd_share_size(global, ensemble->of, number)
                  : psd_net_samples(ensemble->solver->net);
}

static void fill_update(const struct psd_ensemble *ensemble, struct psd_comm_update *update)
{
    const Caffe__SolverParameter *p = ensemble->solver->param;

    *update = (struct psd_comm_update){
        .rule = ensemble->solver->rule->name,
        .momentum = p->momentum,
        .momentum2 = p->momentum2,
        .delta = p->delta,
        .rms_decay = p->rms_decay,
        .decay = p->weight_decay * (ensemble->options.sums ? (float)ensemble->of : 1),
        .l1 = p->regularization_type && strcmp(p->regularization_type, "L1") == 0,
        .clip = p->clip_gradients > 0 ? p->clip_gradients : 0,
        .iter_size = (unsigned)p->iter_size,
    };
}

static psd_status open_seat(struct psd_ensemble *ensemble)
{
    struct psd_comm_options seat = ensemble->options.seat;
    size_t *batches = psd_alloc_zero(ensemble->hosted, sizeof *batches);
    size_t passes = (size_t)ensemble->solver->param->iter_size;

    if (!batches)
        return PSD_ENOMEM;
    for (unsigned i = 0; i < ensemble->hosted; i++)
        batches[i] = batch_of(ensemble, ensemble->numbers[i]) * passes;
    seat.workers = ensemble->of;
    seat.hosted = ensemble->numbers;
    seat.n_hosted = ensemble->hosted;
    seat.batches = batches;
    seat.mode = PSD_COMM_UPDATE;
    fill_update(ensemble, &seat.update);
    psd_status status = psd_comm_open(&seat, &ensemble->comm);
    psd_alloc_free(batches);
    return status;
}

/* Small sums need it from here on. */
static psd_status make_scratch(struct psd_ensemble *ensemble)
{
    ensemble->scratch =
        psd_alloc_zero((size_t)ensemble->hosted * PSD_COMM_REDUCE_MOST, sizeof *ensemble->scratch);
    return ensemble->scratch ? PSD_OK : PSD_ENOMEM;
}

/* What a snapshot has brought goes to where the rule runs. */
static psd_status hand_over_history(struct psd_ensemble *ensemble)
{
    struct psd_solver *solver = ensemble->solver;
    const struct psd_enrolment *enrolment = &ensemble->enrolment;

    for (unsigned kind = 0; solver->history && kind < psd_comm_states(ensemble->comm); kind++) {
        for (size_t i = 0; i < enrolment->n_params; i++) {
            if (enrolment->ids[i] >= 0)
                PSD_TRY(psd_comm_load_state(ensemble->comm, enrolment->ids[i], kind,
                                            solver->history[kind * enrolment->n_params + i]));
        }
    }
    psd_solver_drop_history(solver);
    return PSD_OK;
}

/* --- workers and twins -------------------------------------------------------------------------- */

/* A worker's loss and gradient are those of the mean over its own samples, and every sample counts as
 * much as any other. */
static float share_of(const struct psd_ensemble *ensemble, const struct psd_worker *worker)
{
    size_t global = ensemble->options.global_batch;

    return global ? (float)worker->batch * (float)ensemble->of / (float)global : 1;
}

static psd_status make_workers(struct psd_ensemble *ensemble)
{
    const struct psd_solver *solver = ensemble->solver;
    size_t carried = psd_carried_count(solver->net);

    ensemble->workers = psd_alloc_zero(ensemble->hosted, sizeof *ensemble->workers);
    if (!ensemble->workers)
        return PSD_ENOMEM;
    for (unsigned i = 0; i < ensemble->hosted; i++) {
        struct psd_worker *worker = &ensemble->workers[i];
        unsigned number = ensemble->numbers[i];
        PSD_TRY(psd_worker_init(worker, number, batch_of(ensemble, number), solver->net,
                                &ensemble->enrolment));
        worker->share = share_of(ensemble, worker);
        if (carried && solver->carried)
            memcpy(worker->carried, solver->carried + number * carried,
                   carried * sizeof *worker->carried);
    }
    return PSD_OK;
}

/* Nets that compute at a time: as many as there are processors for, none without a worker. */
static unsigned lanes(const struct psd_ensemble *ensemble)
{
    unsigned threads = ensemble->options.threads ? ensemble->options.threads : 1;
    unsigned fit = ensemble->options.processors / threads;

    fit = fit ? fit : 1;
    return fit < ensemble->hosted ? fit : ensemble->hosted;
}

/* A net has one batch, so workers with a sample more have twins of their own. */
static unsigned count_larger(const struct psd_ensemble *ensemble)
{
    unsigned larger = 0;

    while (larger < ensemble->hosted &&
           ensemble->workers[larger].batch == ensemble->workers[0].batch)
        larger++;
    return larger;
}

static float scale_of(const struct psd_ensemble *ensemble, const struct psd_worker *worker)
{
    return ensemble->options.sums ? worker->share * (float)ensemble->of : worker->share;
}

/* Makes `count` twins for the workers from `first` on. */
static psd_status make_some(struct psd_ensemble *ensemble, unsigned first, unsigned workers,
                            unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct psd_worker *ours = ensemble->workers + first + psd_share_offset(workers, count, i);
        struct psd_twin_options options = {
            .solver = ensemble->solver,
            .comm = ensemble->comm,
            .values = &ensemble->values,
            .enrolment = &ensemble->enrolment,
            .workers = ours,
            .n_workers = (unsigned)psd_share_size(workers, count, i),
            .of = ensemble->of,
            .global_batch = ensemble->options.global_batch,
            .loss_scale = scale_of(ensemble, ours),
            .threads = ensemble->options.threads,
            .backend = ensemble->options.backend,
            .first = ensemble->n_twins == 0,
        };
        PSD_TRY(psd_twin_init(&ensemble->twins[ensemble->n_twins++], &options));
    }
    return PSD_OK;
}

static psd_status make_twins(struct psd_ensemble *ensemble)
{
    unsigned at_once = lanes(ensemble), larger = count_larger(ensemble);
    unsigned rest = ensemble->hosted - larger;
    unsigned for_larger =
        rest ? (at_once * larger + ensemble->hosted - 1) / ensemble->hosted : at_once;
    unsigned for_rest = at_once > for_larger ? at_once - for_larger : 1;

    ensemble->twins = psd_alloc_zero(at_once + 1, sizeof *ensemble->twins);
    if (!ensemble->twins)
        return PSD_ENOMEM;
    PSD_TRY(make_some(ensemble, 0, larger, for_larger));
    if (rest)
        PSD_TRY(make_some(ensemble, larger, rest, for_rest));
    return psd_pool_create(at_once, &ensemble->pool);
}

/* Every process learns how many twins the others have. */
static psd_status count_twins(struct psd_ensemble *ensemble)
{
    float *counts = psd_alloc_zero(ensemble->ranks, sizeof *counts);

    if (!counts)
        return PSD_ENOMEM;
    counts[ensemble->rank] = (float)ensemble->n_twins;
    psd_status status = psd_ensemble_add_up(ensemble, counts, ensemble->ranks);
    for (unsigned i = 0; i < ensemble->ranks; i++) {
        ensemble->first_twin += i < ensemble->rank ? (unsigned)counts[i] : 0;
        ensemble->all_twins += (unsigned)counts[i];
    }
    ensemble->solver->team.test_batches = ensemble->all_twins;
    psd_alloc_free(counts);
    return status;
}

static psd_status start(struct psd_ensemble *ensemble)
{
    struct psd_solver *solver = ensemble->solver;

    PSD_TRY(open_seat(ensemble));
    PSD_TRY(psd_enrolment_init(&ensemble->enrolment, ensemble->comm, solver, &ensemble->options));
    PSD_TRY(psd_comm_start(ensemble->comm));
    PSD_TRY(make_scratch(ensemble));
    PSD_TRY(psd_ensemble_agree_terms(ensemble));
    psd_enrolment_learn(&ensemble->enrolment, ensemble->comm, solver->net);
    PSD_TRY(psd_values_init(&ensemble->values, ensemble->comm, solver->net->n_params));
    PSD_TRY(hand_over_history(ensemble));
    PSD_TRY(make_workers(ensemble));
    PSD_TRY(make_twins(ensemble));
    PSD_TRY(count_twins(ensemble));
    PSD_TRY(psd_ensemble_agree_outputs(ensemble));
    psd_enrolment_show(&ensemble->enrolment, solver->net);
    return PSD_OK;
}

psd_status psd_ensemble_start(void *context, struct psd_solver *solver)
{
    struct psd_ensemble *ensemble = context;

    ensemble->solver = solver;
    psd_status status = start(ensemble);
    if (status != PSD_OK && status != PSD_EPEER && ensemble->comm)
        psd_comm_end(ensemble->comm, psd_error());
    return status;
}
