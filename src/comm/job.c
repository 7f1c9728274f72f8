/* job.c - makes a job and looks into it; job_add.c adds the parameters. */
#include "comm/job.h"
#include "base/alloc.h"
#include "base/status.h"
#include "comm/hosting.h"
#include "math/tree.h"

#include <math.h>

enum { MOST_RANKS = PSD_TREE_LEAVES };

static psd_status check_sizes(unsigned ranks, unsigned workers, size_t batch)
{
    if (ranks < 1 || ranks > MOST_RANKS)
        return psd_fail(PSD_EINVAL, "%u ranks: a job has 1 to %d", ranks, MOST_RANKS);
    if (workers < 1 || workers > PSD_TREE_LEAVES)
        return psd_fail(PSD_EINVAL, "%u workers: a job has 1 to %d", workers, PSD_TREE_LEAVES);
    if (batch < 1 || batch > PSD_JOB_BATCH)
        return psd_fail(PSD_EINVAL, "a batch of %zu samples: it is 1 to %d", batch, PSD_JOB_BATCH);
    return PSD_OK;
}

static psd_status check_number(const char *name, float number)
{
    if (!isfinite(number))
        return psd_fail(PSD_EINVAL, "%s is %g, not a finite number", name, (double)number);
    return PSD_OK;
}

static psd_status check_update(const struct psd_comm_update *update)
{
    PSD_TRY(check_number("momentum", update->momentum));
    PSD_TRY(check_number("momentum2", update->momentum2));
    PSD_TRY(check_number("delta", update->delta));
    PSD_TRY(check_number("rms_decay", update->rms_decay));
    PSD_TRY(check_number("weight decay", update->decay));
    PSD_TRY(check_number("the limit for clipping", update->clip));
    if (update->clip < 0)
        return psd_fail(PSD_EINVAL, "the limit for clipping is %g: it is above 0, or 0 for none",
                        (double)update->clip);
    return PSD_OK;
}

/* What is left zero gets its default; nothing is clipped where nothing is updated. */
static psd_status set_update(struct psd_job *job, const struct psd_comm_update *update)
{
    const char *rule = update->rule ? update->rule : "SGD";

    PSD_TRY(check_update(update));
    job->rule = psd_rules_find(rule);
    if (!job->rule)
        return psd_fail(PSD_EINVAL, "there is no rule \"%s\" to update by", rule);
    job->update = *update;
    job->update.rule = NULL;
    if (update->momentum2 == 0)
        job->update.momentum2 = 0.999f;
    if (update->delta == 0)
        job->update.delta = 1e-8f;
    if (update->rms_decay == 0)
        job->update.rms_decay = 0.99f;
    if (update->iter_size == 0)
        job->update.iter_size = 1;
    if (job->mode == PSD_COMM_SUM)
        job->update.clip = 0;
    return PSD_OK;
}

static psd_status fill(struct psd_job *job, size_t batch, const struct psd_comm_update *update)
{
    static const struct psd_comm_update plain = {0};

    PSD_TRY(set_update(job, update ? update : &plain));
    job->host = psd_alloc_zero(job->workers, sizeof *job->host);
    job->batch = psd_alloc_zero(job->workers, sizeof *job->batch);
    if (!job->host || !job->batch)
        return PSD_ENOMEM;
    psd_hosting_even(job->ranks, job->workers, job->host);
    for (unsigned worker = 0; worker < job->workers; worker++)
        job->batch[worker] = batch;
    return PSD_OK;
}

psd_status psd_job_create(unsigned ranks, unsigned workers, size_t batch, enum psd_comm_mode mode,
                          const struct psd_comm_update *update, struct psd_job **out)
{
    PSD_TRY(check_sizes(ranks, workers, batch));
    if (mode != PSD_COMM_UPDATE && mode != PSD_COMM_SUM)
        return psd_fail(PSD_EINVAL, "there is no mode %d", (int)mode);

    struct psd_job *job = psd_alloc_zero(1, sizeof *job);
    if (!job)
        return PSD_ENOMEM;
    job->ranks = ranks;
    job->workers = workers;
    job->mode = mode;
    psd_status status = fill(job, batch, update);
    if (status == PSD_OK)
        *out = job;
    else
        psd_job_destroy(job);
    return status;
}

void psd_job_destroy(struct psd_job *job)
{
    if (!job)
        return;
    for (size_t i = 0; i < job->n_params; i++)
        psd_alloc_free(job->params[i].name);
    psd_alloc_free(job->params);
    psd_alloc_free(job->batch);
    psd_alloc_free(job->host);
    psd_alloc_free(job);
}

size_t psd_job_count(const struct psd_job_param *param)
{
    return param->rows * param->cols;
}

bool psd_job_follows(const struct psd_job *job, size_t param)
{
    int weight = job->params[param].bias_of;
    return weight >= 0 && job->params[weight].form == PSD_FORM_FACTORED;
}

bool psd_job_is_factored(const struct psd_job *job, size_t param)
{
    return job->params[param].form == PSD_FORM_FACTORED || psd_job_follows(job, param);
}

size_t psd_job_leader(const struct psd_job *job, size_t param)
{
    return psd_job_follows(job, param) ? (size_t)job->params[param].bias_of : param;
}

size_t psd_job_follower(const struct psd_job *job, size_t param)
{
    size_t i = psd_job_is_factored(job, param) ? param + 1 : job->n_params;

    while (i < job->n_params && psd_job_leader(job, i) != param)
        i++;
    return i;
}

unsigned psd_job_states(const struct psd_job *job)
{
    return job->mode == PSD_COMM_UPDATE ? job->rule->states : 0;
}

unsigned psd_job_hosted(const struct psd_job *job, unsigned rank)
{
    unsigned count = 0;

    for (unsigned worker = 0; worker < job->workers; worker++)
        count += job->host[worker] == rank;
    return count;
}

size_t psd_job_samples_of(const struct psd_job *job, unsigned rank)
{
    size_t samples = 0;

    for (unsigned worker = 0; worker < job->workers; worker++)
        samples += job->host[worker] == rank ? job->batch[worker] : 0;
    return samples;
}

size_t psd_job_samples(const struct psd_job *job)
{
    size_t samples = 0;

    for (unsigned worker = 0; worker < job->workers; worker++)
        samples += job->batch[worker];
    return samples;
}

/* What turns a sum over all workers into their mean; exactly 1 for one worker. */
static float mean_of(const struct psd_job *job)
{
    return 1.0f / (float)job->workers;
}

struct psd_rule_step psd_job_step(const struct psd_job *job, size_t param, uint64_t iteration,
                                  float rate, float clipped)
{
    const struct psd_comm_update *update = &job->update;

    return (struct psd_rule_step){
        .rate = rate * job->params[param].rate,
        .decay = update->decay * job->params[param].decay,
        .l1 = update->l1,
        .scale = clipped * mean_of(job) / (float)update->iter_size,
        .momentum = update->momentum,
        .momentum2 = update->momentum2,
        .delta = update->delta,
        .rms_decay = update->rms_decay,
        .iteration = iteration,
    };
}

float psd_job_clip(const struct psd_job *job, double squares)
{
    float limit = job->update.clip, norm = (float)(sqrt(squares) * (double)mean_of(job));

    return limit == 0 || norm <= limit ? 1 : limit / norm;
}
