/* plan_forms.c - the paper's rule, and the forms that follow from it.
 *
 * The rule compares bytes. With as many servers as workers it says broadcast when all samples of the
 * job together are no more than 2 M N / (M + N), however many nodes share them; so a form that is
 * fixed by the rule for S workers is also what the paper would do on P nodes. */
#include "comm/plan.h"

bool psd_plan_paper(double m, double n, double k, double p1, double p2)
{
    return 2 * k * (p1 - 1) * (m + n) <= 2 * m * n * (p1 + p2 - 2) / p2;
}

static enum psd_form form_of(const struct psd_job *job, size_t param)
{
    const struct psd_job_param *one = &job->params[param];
    double workers = job->workers, batch = (double)psd_job_samples(job) / workers;

    if (psd_job_follows(job, param))
        return PSD_FORM_FACTORED;
    if (!one->factors || job->workers == 1)
        return PSD_FORM_DENSE;
    return psd_plan_paper((double)one->rows, (double)one->cols, batch, workers, workers)
               ? PSD_FORM_FACTORED
               : PSD_FORM_DENSE;
}

/* A weight stands before its bias. */
void psd_plan_forms(struct psd_job *job)
{
    for (size_t i = 0; i < job->n_params; i++) {
        if (job->params[i].form == PSD_FORM_AUTO)
            job->params[i].form = form_of(job, i);
    }
}
