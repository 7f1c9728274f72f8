/* node_apply.c - what becomes of a complete sum.
 *
 *     sum mode      the sum itself          value = sum
 *     averaged      the mean of values      value = sum / S
 *     else          the rule's step         value -= ...
 *
 * Each looks at one value at a time, so it has the same bits however a parameter is cut. On any thread. */
#include "comm/node_state.h"

#include <string.h>

/* One division, rounded once: exact where S is a power of two and nothing underflows. */
static void average(const struct psd_job *job, size_t count, const float *sum, float *value)
{
    float workers = (float)job->workers;

    for (size_t i = 0; i < count; i++)
        value[i] = sum[i] / workers;
}

void psd_node_apply(const struct psd_node *node, size_t param, uint64_t iteration, size_t first,
                    size_t count, const float *gradient, float *const *states, size_t at)
{
    const struct psd_job *job = node->job;
    float *value = node->syncers.all[param].value + first;
    float *state[4] = {NULL};

    if (job->params[param].averaged) {
        average(job, count, gradient, value);
        return;
    }
    if (job->mode == PSD_COMM_SUM) {
        if (value != gradient)
            memcpy(value, gradient, count * sizeof *value);
        return;
    }
    struct psd_rule_step step = psd_job_step(job, param, iteration, psd_node_rate(node, iteration),
                                             psd_clip_factor(node, iteration));
    for (unsigned i = 0; i < job->rule->states; i++)
        state[i] = states[i] + at;
    job->rule->apply(&step, count, value, gradient, state);
}
