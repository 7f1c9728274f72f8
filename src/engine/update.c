/* update.c - rate, clip, divide by iter_size, decay, rule: in pieces, over the ops' threads. */
#include "engine/update.h"
#include "base/pool.h"
#include "math/sum.h"

#include <math.h>
#include <string.h>

enum { PIECE = 16384 }; /* values that one index updates */

/* What one parameter's pieces share. */
struct job {
    const struct psd_rule *rule;
    struct psd_rule_step step;
    size_t count;
    float *value;
    const float *gradient;
    float *state[4];
};

static psd_status update_piece(void *arg, size_t index)
{
    const struct job *job = arg;
    size_t first = index * PIECE, left = job->count - first;
    float *state[4];

    for (unsigned i = 0; i < job->rule->states; i++)
        state[i] = job->state[i] + first;
    job->rule->apply(&job->step, left < PIECE ? left : PIECE, job->value + first,
                     job->gradient + first, state);
    return PSD_OK;
}

/* The factor that keeps the norm of all gradients below clip_gradients. */
static float clip(const struct psd_solver *solver)
{
    double squares = 0;
    float limit = solver->param->clip_gradients;

    if (limit < 0)
        return 1;
    for (size_t i = 0; i < solver->net->n_params; i++) {
        const struct psd_param *param = solver->net->params[i];
        if (param->learns)
            squares += psd_sum_squares(psd_blob_gradient(&param->blob), param->blob.count);
    }
    float norm = (float)sqrt(squares);
    if (norm <= limit)
        return 1;
    psd_log_info(solver->options.log,
                 "Gradient clipping: scaling down gradients (L2 norm %g > %g) by scale factor %g",
                 (double)norm, (double)limit, (double)(limit / norm));
    return limit / norm;
}

static psd_status update_param(struct psd_solver *solver, size_t index,
                               const struct psd_rule_step *step)
{
    const struct psd_param *param = solver->net->params[index];
    struct job job = {.rule = solver->rule, .step = *step, .count = param->blob.count};

    if (!param->learns)
        return PSD_OK;
    job.step.rate *= param->rate;
    job.step.decay *= param->decay;
    job.value = psd_blob_values(&param->blob);
    job.gradient = psd_blob_gradient(&param->blob);
    for (unsigned i = 0; i < solver->rule->states; i++)
        job.state[i] = solver->history[i * solver->net->n_params + index];
    return psd_pool_each(psd_ops_pool(solver->options.ops), (job.count + PIECE - 1) / PIECE,
                         update_piece, &job);
}

psd_status psd_solver_update(struct psd_solver *solver, float rate)
{
    const Caffe__SolverParameter *p = solver->param;
    struct psd_rule_step step = {
        .rate = rate,
        .decay = p->weight_decay,
        .l1 = p->regularization_type && strcmp(p->regularization_type, "L1") == 0,
        .scale = clip(solver) / (float)p->iter_size,
        .momentum = p->momentum,
        .momentum2 = p->momentum2,
        .delta = p->delta,
        .rms_decay = p->rms_decay,
        .iteration = (uint64_t)solver->iteration,
    };

    for (size_t i = 0; i < solver->net->n_params; i++)
        PSD_TRY(update_param(solver, i, &step));
    return PSD_OK;
}
