/* bound.c - from the costs that a plan has anyway. */
#include "cli/bound.h"

#include <math.h>

/* The first layer that learns, or the last; NULL: none does. */
static const struct psd_workload_layer *learner(const struct psd_workload *workload, bool last)
{
    const struct psd_workload_layer *found = NULL;

    for (size_t i = 0; i < workload->n_layers && (last || !found); i++) {
        if (workload->layers[i].params)
            found = &workload->layers[i];
    }
    return found;
}

/* The longest that one of the layer's parameters is on its way, alone on the network. */
static double tail_of(const struct psd_plan *plan, const struct psd_workload_layer *layer)
{
    double seconds = 0;

    for (size_t i = layer->first_param; i < layer->first_param + layer->params; i++)
        seconds = fmax(seconds, plan->params[i].cost[plan->params[i].choice].seconds);
    return seconds;
}

psd_status psd_bound_find(struct psd_job *job, const struct psd_workload *workload,
                          const struct psd_plan_network *network, struct psd_bound *out)
{
    const struct psd_workload_layer *first = learner(workload, false),
                                    *last = learner(workload, true);
    struct psd_plan *plan = NULL;

    PSD_TRY(psd_plan_create(job, workload, network, &plan));
    *out = (struct psd_bound){.bytes = plan->bytes, .network_s = plan->bytes / network->bandwidth};
    for (size_t i = 0; i < workload->n_layers; i++)
        out->compute_s += workload->layers[i].forward_s + workload->layers[i].backward_s;
    if (first && job->ranks > 1) {
        out->tail_s = tail_of(plan, first);
        out->turn_s = last->forward_s + last->backward_s;
    }
    psd_plan_destroy(plan);
    return PSD_OK;
}

double psd_bound_seconds(const struct psd_bound *bound)
{
    return fmax(bound->compute_s + bound->tail_s, bound->network_s + bound->turn_s);
}

bool psd_bound_is_network(const struct psd_bound *bound)
{
    return bound->network_s + bound->turn_s > bound->compute_s + bound->tail_s;
}
