/* bound.c - from the costs that a plan has anyway. */
#include "cli/bound.h"

#include <math.h>

static const struct psd_route_cost *cost_of(const struct psd_plan *plan, size_t param)
{
    return &plan->params[param].cost[plan->params[param].choice];
}

/* The share of a cost that a member has on the mean: the owners of different parameters differ. */
static double share_of(const struct psd_job *job, const struct psd_plan *plan, size_t param)
{
    return plan->params[param].choice == PSD_ROUTE_SINGLE_OWNER ? 1.0 / job->ranks : 1;
}

/* Bytes that a member sends for the parameter. One owner has pushes of all others, and sends values. */
static double bytes_of(const struct psd_job *job, const struct psd_plan *plan, size_t param)
{
    const struct psd_route_cost *cost = cost_of(plan, param);
    double down = plan->params[param].choice == PSD_ROUTE_SINGLE_OWNER ? cost->down : 0;

    return share_of(job, plan, param) * (cost->up + down);
}

static double compute_of(const struct psd_workload_layer *layer)
{
    return layer->forward_s + layer->backward_s;
}

/* The longest that a parameter of the first layer that learns is on its way, alone on the network; layers
 * below that learn nothing are computed meanwhile. */
static double find_tail(const struct psd_plan *plan, const struct psd_workload *workload)
{
    const struct psd_workload_layer *first = workload->layers;
    double seconds = 0, hidden = 0;

    for (; first->params == 0; first++)
        hidden += compute_of(first);
    for (size_t i = first->first_param; i < first->first_param + first->params; i++)
        seconds = fmax(seconds, cost_of(plan, i)->seconds);
    return fmax(0, seconds - hidden);
}

/* What the device rebuilds for others: it computes no layer then. */
static double find_device(const struct psd_job *job, const struct psd_plan *plan)
{
    double seconds = 0;

    for (size_t i = 0; i < job->n_params; i++)
        seconds += share_of(job, plan, i) * cost_of(plan, i)->device_s;
    return seconds;
}

/* The longest over all layers that learn, which have so many bytes together. */
static double find_network(const struct psd_job *job, const struct psd_plan *plan,
                           const struct psd_workload *workload, double bytes, double bandwidth)
{
    double longest = 0, compute_s = 0;

    for (size_t i = workload->n_layers; i-- > 0;) {
        const struct psd_workload_layer *layer = &workload->layers[i];
        compute_s += compute_of(layer);
        if (layer->params)
            longest = fmax(longest, compute_s + bytes / bandwidth);
        for (size_t j = 0; j < layer->params; j++)
            bytes -= bytes_of(job, plan, layer->first_param + j);
    }
    return longest;
}

psd_status psd_bound_find(struct psd_job *job, const struct psd_workload *workload,
                          const struct psd_plan_network *network, struct psd_bound *out)
{
    struct psd_plan *plan = NULL;

    PSD_TRY(psd_plan_create(job, workload, network, &plan));
    *out = (struct psd_bound){.compute_s = plan->compute_s};
    for (size_t i = 0; i < job->n_params; i++)
        out->bytes += bytes_of(job, plan, i);
    if (job->n_params > 0 && job->ranks > 1) {
        out->device_s = find_device(job, plan);
        out->tail_s = find_tail(plan, workload);
        out->network_s = find_network(job, plan, workload, out->bytes, network->bandwidth);
    }
    psd_plan_destroy(plan);
    return PSD_OK;
}

static double device_limit(const struct psd_bound *bound)
{
    return bound->compute_s + fmax(bound->device_s, bound->tail_s);
}

double psd_bound_seconds(const struct psd_bound *bound)
{
    return fmax(device_limit(bound), bound->network_s);
}

bool psd_bound_is_network(const struct psd_bound *bound)
{
    return bound->network_s > device_limit(bound);
}
