/* comm_start.c - adds parameters, and starts when all are there. */
#include "base/alloc.h"
#include "base/status.h"
#include "comm/call.h"
#include "comm/rates.h"

/* With the lock held. */
static psd_status add(struct psd_comm *comm, const struct psd_comm_param *param, int *id)
{
    const char *name = param->name ? param->name : "a parameter";
    size_t count = comm->job->n_params;

    if (comm->offered)
        return psd_fail(PSD_EINVAL, "%s is added after the start", name);
    if (!param->value)
        return psd_fail(PSD_EINVAL, "the value of %s is NULL", name);
    float **values = psd_alloc_grow(comm->values, count, sizeof *values);
    if (!values)
        return PSD_ENOMEM;
    comm->values = values;
    PSD_TRY(psd_job_add(comm->job, param));
    values[count] = param->value;
    *id = (int)count;
    return PSD_OK;
}

psd_status psd_comm_add(struct psd_comm *comm, const struct psd_comm_param *param, int *id)
{
    PSD_TRY(psd_call_check(comm));
    pthread_mutex_lock(&comm->lock);
    psd_status status = add(comm, param, id);
    pthread_mutex_unlock(&comm->lock);
    return status;
}

static void fill_requests(struct psd_comm *comm)
{
    for (size_t i = 0; i < comm->job->n_params * comm->n_hosted; i++) {
        comm->requests[i].comm = comm;
        comm->requests[i].param = i / comm->n_hosted;
        comm->requests[i].worker = comm->hosted[i % comm->n_hosted];
    }
}

/* What calls need for each parameter, unless a start before has failed after this. */
static psd_status make_room(struct psd_comm *comm)
{
    size_t params = comm->job->n_params;

    if (!comm->urgency)
        comm->urgency = psd_alloc_zero(params, sizeof *comm->urgency);
    if (!comm->due)
        comm->due = psd_alloc_zero(params, sizeof *comm->due);
    if (!comm->order)
        comm->order = psd_alloc_zero(params, sizeof *comm->order);
    if (!comm->requests)
        comm->requests = psd_alloc_zero(params * comm->n_hosted, sizeof *comm->requests);
    if (!comm->urgency || !comm->due || !comm->order || !comm->requests)
        return PSD_ENOMEM;
    fill_requests(comm);
    comm->unfresh = params;
    return PSD_OK;
}

/* What the plan is made with is measured here, where nobody waits for the loop. One process has nothing
 * to choose. */
static psd_status know_rates(const struct psd_comm *comm, struct psd_comm_rates *rates)
{
    *rates = comm->options.rates;
    return comm->options.rank == 0 && comm->ranks > 1 ? psd_rates_measure(PSD_RATES_QUICK, rates)
                                                      : PSD_OK;
}

/* With the lock held. */
static psd_status offer(struct psd_comm *comm, const struct psd_comm_rates *rates)
{
    if (comm->offered)
        return psd_fail(PSD_EINVAL, "the job has been started already");
    if (comm->job->n_params == 0)
        return psd_fail(PSD_EINVAL, "there are no parameters: add them before the start");
    PSD_TRY(make_room(comm));
    comm->rates = *rates;
    PSD_TRY(psd_loop_post(comm->loop, psd_seat_offer, comm));
    comm->offered = true;
    return PSD_OK;
}

/* With the lock held: waits as long as it takes; the seat says who is missing. */
static psd_status wait_for_start(struct psd_comm *comm)
{
    while (comm->phase < PSD_SEAT_STARTED && comm->status == PSD_OK)
        pthread_cond_wait(&comm->changed, &comm->lock);
    return comm->status == PSD_OK ? PSD_OK : psd_call_end(comm);
}

psd_status psd_comm_start(struct psd_comm *comm)
{
    struct psd_comm_rates rates;

    PSD_TRY(psd_call_check(comm));
    PSD_TRY(know_rates(comm, &rates));
    pthread_mutex_lock(&comm->lock);
    psd_status status = offer(comm, &rates);
    if (status == PSD_OK)
        status = wait_for_start(comm);
    pthread_mutex_unlock(&comm->lock);
    if (status == PSD_OK)
        atomic_store(&comm->started, true);
    return status;
}
