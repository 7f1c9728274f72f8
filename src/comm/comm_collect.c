/* comm_collect.c - reduce, barrier and broadcast: calls that all processes make together. */
#include "base/status.h"
#include "comm/call.h"

static void run_collect(struct psd_call *call)
{
    psd_call_answer(call, psd_node_collect(call->comm->node, call->kind, call->data, call->bytes));
}

static void run_overdue(struct psd_call *call)
{
    psd_node_overdue(call->comm->node, PSD_NODE_ALL);
}

/* One thread at a time. False: another is in such a call. */
static bool enter(struct psd_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    bool busy = comm->collecting;
    comm->collecting = true;
    pthread_mutex_unlock(&comm->lock);
    return !busy;
}

static void leave(struct psd_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->collecting = false;
    pthread_mutex_unlock(&comm->lock);
}

/* Waits for the result, and says who is missing each time that takes too long. */
static psd_status wait_for_all(struct psd_call *call)
{
    struct psd_comm *comm = call->comm;
    uint64_t deadline_ns = psd_call_deadline(comm);
    psd_status status = PSD_OK;

    pthread_mutex_lock(&comm->lock);
    while (comm->collecting && comm->status == PSD_OK && status == PSD_OK) {
        if (psd_call_wait(comm, deadline_ns))
            continue;
        pthread_mutex_unlock(&comm->lock);
        status = psd_call_ask(run_overdue, call);
        deadline_ns = psd_call_deadline(comm);
        pthread_mutex_lock(&comm->lock);
    }
    if (comm->collecting && comm->status != PSD_OK)
        status = psd_call_end(comm);
    comm->collecting = false;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

static psd_status collect(struct psd_comm *comm, enum psd_collective kind, void *data, size_t bytes)
{
    struct psd_call call = {.comm = comm, .kind = kind, .data = data, .bytes = bytes};

    PSD_TRY(psd_call_check_started(comm));
    if (!enter(comm))
        return psd_fail(PSD_EINVAL, "another thread is in a reduce, barrier or broadcast");
    psd_status status = psd_call_ask(run_collect, &call);
    if (status == PSD_OK)
        return wait_for_all(&call);
    leave(comm);
    return status;
}

psd_status psd_comm_reduce(struct psd_comm *comm, float *data, size_t count)
{
    if (count == 0 || count > PSD_COMM_REDUCE_MOST || !data)
        return psd_fail(PSD_EINVAL, "%zu numbers at %s cannot be reduced; 1 to %d can", count,
                        data ? "an address" : "NULL", PSD_COMM_REDUCE_MOST);
    return collect(comm, PSD_COLLECTIVE_SUM, data, count * sizeof *data);
}

psd_status psd_comm_barrier(struct psd_comm *comm)
{
    return collect(comm, PSD_COLLECTIVE_SUM, NULL, 0);
}

psd_status psd_comm_broadcast(struct psd_comm *comm, void *data, size_t bytes)
{
    if (bytes && !data)
        return psd_fail(PSD_EINVAL, "%zu bytes at NULL cannot be broadcast", bytes);
    return collect(comm, PSD_COLLECTIVE_COPY, data, bytes);
}
