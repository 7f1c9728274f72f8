/* comm.c - an iteration: begin, syncs, waits. */
#include "poseidon/comm.h"
#include "base/clock.h"
#include "base/status.h"
#include "comm/call.h"

/* The order of the waits since the begin before becomes the order of urgency, if all were waited
 * for. */
static void pass_on_order(struct psd_comm *comm)
{
    size_t params = comm->job->n_params;

    if (atomic_load(&comm->ordered) == params) {
        for (size_t i = 0; i < params; i++)
            comm->urgency[i] = atomic_load(&comm->order[i]);
        psd_node_set_urgency(comm->node, comm->urgency);
    }
    for (size_t i = 0; i < params; i++)
        atomic_store(&comm->order[i], UINT32_MAX);
    atomic_store(&comm->ordered, 0);
}

static void run_begin(struct psd_call *call)
{
    psd_call_answer(call, psd_node_begin(call->comm->node, call->iteration, call->rate));
    if (call->status == PSD_OK)
        pass_on_order(call->comm);
}

psd_status psd_comm_begin(struct psd_comm *comm, uint64_t iteration, float rate)
{
    struct psd_call call = {.comm = comm, .iteration = iteration, .rate = rate};

    PSD_TRY(psd_call_check_started(comm));
    PSD_TRY(psd_call_ask(run_begin, &call));
    atomic_store(&comm->iteration, iteration);
    atomic_store(&comm->begun, true);
    return PSD_OK;
}

static psd_status sync_on_node(const struct psd_request *request)
{
    struct psd_node *node = request->comm->node;

    return request->batch
               ? psd_node_sync_factors(node, request->param, request->worker, request->batch)
               : psd_node_sync(node, request->param, request->worker, request->grad);
}

static void run_sync(void *arg)
{
    struct psd_request *request = arg;
    psd_status status = sync_on_node(request);

    if (status != PSD_OK) /* often the node has told everybody by now */
        psd_node_end(request->comm->node, status, psd_error());
}

static void run_mistake(struct psd_call *call)
{
    psd_call_answer(call, sync_on_node(call->request));
}

/* A sync that is a mistake: the node finds the words and tells everybody. The gradient is a real one,
 * for the case that two threads make the same mistake at once. */
static psd_status make_mistake(const struct psd_request *request, float *grad, size_t batch)
{
    struct psd_request wrong = {
        .comm = request->comm, .param = request->param, .worker = request->worker, .batch = batch};
    struct psd_call call = {.comm = request->comm, .request = &wrong};

    wrong.grad = grad;
    return psd_call_ask(run_mistake, &call);
}

/* Whether `worker` may sync `id` now; *hosted is its index among ours. */
static psd_status check_sync(struct psd_comm *comm, int id, unsigned worker, unsigned *hosted)
{
    PSD_TRY(psd_call_check_param(comm, id));
    if (!atomic_load(&comm->begun))
        return psd_fail(PSD_EINVAL, "%s is synced before an iteration has begun",
                        comm->job->params[id].name);
    for (unsigned i = 0; i < comm->n_hosted; i++) {
        if (comm->hosted[i] == worker) {
            *hosted = i;
            return PSD_OK;
        }
    }
    return psd_fail(PSD_EINVAL, "%s is synced for worker %u, which rank %u does not host",
                    comm->job->params[id].name, worker, comm->options.rank);
}

static bool is_older(const struct psd_comm *comm, size_t param, uint64_t iteration)
{
    uint64_t due = param < comm->job->n_params ? atomic_load(&comm->due[param]) : 0;

    return due != 0 && due != iteration + 1;
}

/* Whether a value of an iteration before is still on its way: its memory is in use. */
static bool is_unwaited(const struct psd_request *request, uint64_t iteration)
{
    const struct psd_comm *comm = request->comm;

    return is_older(comm, request->param, iteration) ||
           is_older(comm, psd_job_follower(comm->job, request->param), iteration);
}

static void run_unwaited(struct psd_call *call)
{
    struct psd_comm *comm = call->comm;
    psd_status status =
        psd_fail(PSD_EINVAL,
                 "rank %u syncs %s in iteration %llu before its value of the one before has come; "
                 "wait for it first",
                 comm->options.rank, comm->job->params[call->param].name,
                 (unsigned long long)call->iteration);

    psd_call_answer(call, status);
    psd_node_end(comm->node, PSD_EPEER, call->sentence);
}

/* Takes the request for this iteration. *before is what psd_request.next was. */
static psd_status claim(struct psd_request *request, uint64_t iteration, uint64_t *before)
{
    struct psd_call call = {.comm = request->comm, .param = request->param, .iteration = iteration};

    if (is_unwaited(request, iteration))
        return psd_call_ask(run_unwaited, &call);
    *before = atomic_exchange(&request->next, iteration + 1);
    return PSD_OK;
}

/* Marks the value, and that of a bias which follows, as on its way, and lets the node know. */
static psd_status post_sync(struct psd_request *request, uint64_t iteration, uint64_t before)
{
    struct psd_comm *comm = request->comm;
    size_t bias = psd_job_follower(comm->job, request->param);

    atomic_store(&comm->due[request->param], iteration + 1);
    if (bias < comm->job->n_params)
        atomic_store(&comm->due[bias], iteration + 1);
    psd_status status = psd_loop_post(comm->loop, run_sync, request);
    if (status != PSD_OK)
        atomic_store(&request->next, before); /* it may be tried again */
    return status;
}

psd_status psd_comm_sync(struct psd_comm *comm, int id, unsigned worker, float *grad)
{
    uint64_t before = 0;
    unsigned hosted = 0;

    PSD_TRY(check_sync(comm, id, worker, &hosted));
    struct psd_request *request = &comm->requests[(size_t)id * comm->n_hosted + hosted];
    uint64_t iteration = atomic_load(&comm->iteration);
    if (!grad)
        return psd_fail(PSD_EINVAL, "the gradient of %s is NULL", comm->job->params[id].name);
    if (comm->job->params[id].averaged && grad == comm->values[id])
        return psd_fail(PSD_EINVAL,
                        "%s is synced in the memory of its value; let each worker have a copy",
                        comm->job->params[id].name);
    if (psd_job_is_factored(comm->job, (size_t)id))
        return make_mistake(request, grad, 0);
    PSD_TRY(claim(request, iteration, &before));
    if (before == iteration + 1)
        return make_mistake(request, grad, 0);
    request->grad = grad;
    return post_sync(request, iteration, before);
}

psd_status psd_comm_sync_factors(struct psd_comm *comm, int id, unsigned worker, const float *u,
                                 const float *v, size_t batch)
{
    uint64_t before = 0;
    unsigned hosted = 0;

    PSD_TRY(check_sync(comm, id, worker, &hosted));
    struct psd_request *request = &comm->requests[(size_t)id * comm->n_hosted + hosted];
    uint64_t iteration = atomic_load(&comm->iteration);
    if (!u || !v || batch == 0)
        return psd_fail(PSD_EINVAL, "the factors of %s are NULL or empty",
                        comm->job->params[id].name);
    if (!psd_job_is_factored(comm->job, (size_t)id) || psd_job_follows(comm->job, (size_t)id) ||
        batch != comm->job->batch[worker])
        return make_mistake(request, NULL, batch);
    PSD_TRY(claim(request, iteration, &before));
    if (before == iteration + 1)
        return make_mistake(request, NULL, batch);
    psd_node_copy_factors(comm->node, (size_t)id, worker, iteration, u, v, batch);
    request->batch = batch;
    return post_sync(request, iteration, before);
}

static void run_waits(struct psd_call *call)
{
    psd_node_waits(call->comm->node, call->param);
}

static void run_overdue(struct psd_call *call)
{
    psd_node_overdue(call->comm->node, call->param);
}

static bool is_on_its_way(const struct psd_call *call)
{
    return atomic_load(&call->comm->due[call->param]);
}

static psd_status wait_for_value(struct psd_call *call)
{
    struct psd_comm *comm = call->comm;

    pthread_mutex_lock(&comm->lock);
    atomic_fetch_add(&comm->sleepers, 1);
    psd_status status = psd_call_wait_while(call, is_on_its_way, run_overdue);
    atomic_fetch_sub(&comm->sleepers, 1);
    if (comm->status != PSD_OK)
        status = psd_call_end(comm);
    pthread_mutex_unlock(&comm->lock);
    return status;
}

/* The order in which values are wanted is the order of the first waits after a begin. */
static void note_order(struct psd_comm *comm, int id)
{
    uint32_t unset = UINT32_MAX;

    if (atomic_load(&comm->order[id]) == unset &&
        atomic_compare_exchange_strong(&comm->order[id], &unset, atomic_load(&comm->ordered)))
        atomic_fetch_add(&comm->ordered, 1);
}

psd_status psd_comm_wait(struct psd_comm *comm, int id)
{
    struct psd_call call = {.comm = comm, .param = (size_t)id};

    PSD_TRY(psd_call_check_param(comm, id));
    note_order(comm, id);
    if (!atomic_load(&comm->due[id]))
        return PSD_OK;
    uint64_t begin_ns = psd_clock_now();
    PSD_TRY(psd_call_ask(run_waits, &call));
    psd_status status = wait_for_value(&call);
    atomic_fetch_add(&comm->wait_count, 1);
    atomic_fetch_add(&comm->wait_ns, psd_clock_now() - begin_ns);
    return status;
}
