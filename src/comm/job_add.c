/* job_add.c - a parameter joins a job, once it is checked. */
#include "base/alloc.h"
#include "base/status.h"
#include "comm/job.h"

#include <math.h>
#include <string.h>

static const size_t most_values = (size_t)1 << 40; /* of a parameter: 4 TB */

static psd_status check_alone(const struct psd_job *job, const struct psd_comm_param *param)
{
    if (!param->name || !*param->name)
        return psd_fail(PSD_EINVAL, "parameter %zu has no name", job->n_params);
    for (size_t i = 0; i < job->n_params; i++) {
        if (strcmp(job->params[i].name, param->name) == 0)
            return psd_fail(PSD_EINVAL, "%s: parameter %zu has that name already", param->name, i);
    }
    if (param->rows == 0 || param->cols == 0 || param->rows > most_values / param->cols)
        return psd_fail(PSD_EINVAL, "%s: %zu x %zu is no shape; a parameter has 1 to %zu values",
                        param->name, param->rows, param->cols, most_values);
    if (!isfinite(param->rate) || !isfinite(param->decay))
        return psd_fail(PSD_EINVAL, "%s: the multipliers of rate and decay are %g and %g",
                        param->name, (double)param->rate, (double)param->decay);
    if (!(isfinite(param->forward_s) && param->forward_s >= 0) ||
        !(isfinite(param->backward_s) && param->backward_s >= 0))
        return psd_fail(PSD_EINVAL, "%s: it computes for %g s forward and %g s backward",
                        param->name, param->forward_s, param->backward_s);
    return PSD_OK;
}

/* Whoever has its own optimizer averages its own values. */
static psd_status check_averaged(const struct psd_job *job, const struct psd_comm_param *param)
{
    if (!param->averaged)
        return PSD_OK;
    if (job->mode == PSD_COMM_SUM)
        return psd_fail(PSD_EINVAL,
                        "%s: values are averaged in update mode only; in sum mode sync them as a "
                        "gradient and divide the sum by the %u workers",
                        param->name, job->workers);
    if (param->factors || param->bias_of || param->form == PSD_FORM_FACTORED ||
        param->route > PSD_ROUTE_SERVERS)
        return psd_fail(PSD_EINVAL,
                        "%s: what is averaged are values; it is dense, and no factors make it or "
                        "come with it",
                        param->name);
    return PSD_OK;
}

/* What the parameter and its route together ask for. */
static enum psd_form form_of(const struct psd_comm_param *param)
{
    if (param->route == PSD_ROUTE_AUTO)
        return param->averaged ? PSD_FORM_DENSE : param->form;
    return param->route == PSD_ROUTE_SERVERS ? PSD_FORM_DENSE : PSD_FORM_FACTORED;
}

static psd_status check_route(const struct psd_job *job, const struct psd_comm_param *param)
{
    if ((unsigned)param->form > PSD_FORM_FACTORED ||
        (unsigned)param->route > PSD_ROUTE_SINGLE_OWNER)
        return psd_fail(PSD_EINVAL, "%s: there is no form %d or no route %d", param->name,
                        (int)param->form, (int)param->route);
    if (param->form != PSD_FORM_AUTO && param->form != form_of(param))
        return psd_fail(PSD_EINVAL, "%s: its route is one for %s parameters and its form is %s",
                        param->name, param->form == PSD_FORM_DENSE ? "factored" : "dense",
                        param->form == PSD_FORM_DENSE ? "dense" : "factored");
    if (form_of(param) == PSD_FORM_FACTORED && !param->factors && !param->bias_of)
        return psd_fail(PSD_EINVAL, "%s: it has no factors to travel by; let it be dense",
                        param->name);
    if (param->route == PSD_ROUTE_LOCAL && job->ranks > 1)
        return psd_fail(PSD_EINVAL, "%s: the local route is for one process, and there are %u",
                        param->name, job->ranks);
    return PSD_OK;
}

/* A bias asks for what its weight asks for, or leaves it to the weight. */
static psd_status check_bias(const struct psd_job *job, const struct psd_comm_param *param)
{
    if (param->bias_of == 0)
        return PSD_OK;
    if (param->bias_of < 0 || (size_t)param->bias_of > job->n_params)
        return psd_fail(PSD_EINVAL, "%s: there is no parameter %d that it could be the bias of",
                        param->name, param->bias_of - 1);

    const struct psd_job_param *weight = &job->params[param->bias_of - 1];
    if (!weight->factors || param->factors)
        return psd_fail(PSD_EINVAL, "%s: it is no bias of %s, because %s", param->name,
                        weight->name,
                        param->factors ? "it has factors of its own" : "that has no factors");
    if (param->rows != 1 || param->cols != weight->rows)
        return psd_fail(PSD_EINVAL, "%s: %zu x %zu is no bias for the %zu rows of %s", param->name,
                        param->rows, param->cols, weight->rows, weight->name);
    if (form_of(param) != PSD_FORM_AUTO && form_of(param) != weight->form)
        return psd_fail(PSD_EINVAL, "%s: a bias has the form of its weight %s; leave it open",
                        param->name, weight->name);
    if (form_of(param) == PSD_FORM_FACTORED && param->route != PSD_ROUTE_AUTO &&
        param->route != weight->route)
        return psd_fail(PSD_EINVAL, "%s: a bias has the route of its weight %s; leave it open",
                        param->name, weight->name);
    for (size_t i = 0; i < job->n_params; i++) {
        if (job->params[i].bias_of == param->bias_of - 1)
            return psd_fail(PSD_EINVAL, "%s: the bias of %s is %s, and there is one at most",
                            param->name, weight->name, job->params[i].name);
    }
    return PSD_OK;
}

static psd_status make_room(struct psd_job *job)
{
    if (job->n_params < job->params_room)
        return PSD_OK;
    size_t room = job->params_room ? 2 * job->params_room : 16;
    struct psd_job_param *params = psd_alloc_resize(job->params, room, sizeof *params);
    if (!params)
        return PSD_ENOMEM;
    job->params = params;
    job->params_room = room;
    return PSD_OK;
}

static float multiplier(float asked)
{
    return asked == 0 ? 1 : asked < 0 ? 0 : asked;
}

psd_status psd_job_add(struct psd_job *job, const struct psd_comm_param *param)
{
    PSD_TRY(check_alone(job, param));
    PSD_TRY(check_averaged(job, param));
    PSD_TRY(check_route(job, param));
    PSD_TRY(check_bias(job, param));
    PSD_TRY(make_room(job));
    char *name = psd_alloc_copy(param->name, strlen(param->name) + 1);
    if (!name)
        return PSD_ENOMEM;
    job->params[job->n_params++] = (struct psd_job_param){
        .name = name,
        .rows = param->rows,
        .cols = param->cols,
        .rate = multiplier(param->rate),
        .decay = multiplier(param->decay),
        .factors = param->factors,
        .averaged = param->averaged,
        .bias_of = param->bias_of - 1,
        .form = form_of(param),
        .route = param->route,
        .forward_s = param->forward_s,
        .backward_s = param->backward_s,
    };
    return PSD_OK;
}
