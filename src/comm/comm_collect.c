/* comm_collect.c - reduce, barrier and broadcast: calls that all processes make together. */
#include "base/status.h"
#include "comm/call.h"

static void run_collect(struct psd_call *call)
{
    psd_call_answer(call, psd_node_collect(call->comm->node, call->kind, call->data, call->bytes));
}

static psd_status collect(struct psd_comm *comm, enum psd_collective kind, void *data, size_t bytes)
{
    struct psd_call call = {.comm = comm, .kind = kind, .data = data, .bytes = bytes};

    return psd_call_collect(run_collect, &call);
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
