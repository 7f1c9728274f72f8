/* comm_look.c - a look at what has been agreed on, and at what has happened. */
#include "comm/call.h"

static const struct psd_job_param *find(const struct psd_comm *comm, int id)
{
    bool known = atomic_load(&comm->started) && id >= 0 && (size_t)id < comm->job->n_params;

    return known ? &comm->job->params[id] : NULL;
}

enum psd_form psd_comm_form(const struct psd_comm *comm, int id)
{
    const struct psd_job_param *param = find(comm, id);

    return param ? param->form : PSD_FORM_AUTO;
}

enum psd_route psd_comm_route(const struct psd_comm *comm, int id)
{
    const struct psd_job_param *param = find(comm, id);

    return param ? param->route : PSD_ROUTE_AUTO;
}

const unsigned *psd_comm_hosted(const struct psd_comm *comm, unsigned *count)
{
    *count = comm->n_hosted;
    return comm->hosted;
}

const char *psd_comm_plan(const struct psd_comm *comm)
{
    return atomic_load(&comm->started) ? comm->plan : "";
}

static void run_count(void *arg)
{
    struct psd_call *call = arg;
    struct psd_comm *comm = call->comm;
    struct psd_comm_counters *out = call->data;

    if (comm->node)
        psd_node_count(comm->node, out);
    psd_seat_count_refused(comm, out);
    out->warnings = comm->warnings;
}

void psd_comm_count(struct psd_comm *comm, struct psd_comm_counters *out)
{
    struct psd_call call = {.comm = comm, .data = out};

    *out = (struct psd_comm_counters){0};
    (void)psd_loop_call(comm->loop, run_count, &call); /* no memory to ask: no answer */
    out->waits = atomic_load(&comm->wait_count);
    out->waited_ns = atomic_load(&comm->wait_ns);
}
