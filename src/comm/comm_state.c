/* comm_state.c - what the rule keeps beside the values: saved for a snapshot, loaded after it. */
#include "base/list.h"
#include "base/status.h"
#include "comm/call.h"

unsigned psd_comm_states(const struct psd_comm *comm)
{
    return psd_job_states(comm->job);
}

static void run_save(struct psd_call *call)
{
    psd_call_answer(call,
                    psd_node_save_state(call->comm->node, call->param, call->state, call->data));
}

psd_status psd_comm_save_state(struct psd_comm *comm, int id, unsigned kind, float *data)
{
    struct psd_call call = {.comm = comm, .param = (size_t)id, .state = kind};

    call.data = data;
    PSD_TRY(psd_call_check_param(comm, id));
    return psd_call_collect(run_save, &call);
}

/* What a load is asked with: a call's data may be written to. */
struct load {
    struct psd_call call;
    const float *data; /* borrowed */
};

/* Nothing changes state before the first begin, so the loop may well copy it by itself. */
static void run_load(struct psd_call *call)
{
    const struct load *load = PSD_CONTAINER_OF(call, struct load, call);

    psd_call_answer(call,
                    psd_node_load_state(call->comm->node, call->param, call->state, load->data));
}

psd_status psd_comm_load_state(struct psd_comm *comm, int id, unsigned kind, const float *data)
{
    struct load load = {.call = {.comm = comm, .param = (size_t)id, .state = kind}, .data = data};

    PSD_TRY(psd_call_check_param(comm, id));
    return psd_call_ask(run_load, &load.call);
}
