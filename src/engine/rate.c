/* rate.c - base_lr times a function of the iteration. */
#include "engine/rate.h"
#include "base/suggest.h"

#include <math.h>
#include <string.h>

static double fixed(const Caffe__SolverParameter *s, struct psd_rate *rate, double t)
{
    (void)s, (void)rate, (void)t;
    return 1;
}

static double step(const Caffe__SolverParameter *s, struct psd_rate *rate, double t)
{
    rate->step = (int)(t / s->stepsize);
    return pow((double)s->gamma, rate->step);
}

static double exponential(const Caffe__SolverParameter *s, struct psd_rate *rate, double t)
{
    (void)rate;
    return pow((double)s->gamma, t);
}

static double inverse(const Caffe__SolverParameter *s, struct psd_rate *rate, double t)
{
    (void)rate;
    return pow(1 + (double)s->gamma * t, -(double)s->power);
}

static double multistep(const Caffe__SolverParameter *s, struct psd_rate *rate, double t)
{
    size_t next = (size_t)rate->step;

    if (next < s->n_stepvalue && t >= s->stepvalue[next])
        rate->step++;
    return pow((double)s->gamma, rate->step);
}

static double polynomial(const Caffe__SolverParameter *s, struct psd_rate *rate, double t)
{
    (void)rate;
    return pow(1 - t / s->max_iter, (double)s->power);
}

static double sigmoid(const Caffe__SolverParameter *s, struct psd_rate *rate, double t)
{
    (void)rate;
    return 1 / (1 + exp(-(double)s->gamma * (t - s->stepsize)));
}

static const struct policy {
    const char *name;
    double (*factor)(const Caffe__SolverParameter *s, struct psd_rate *rate, double t);
    bool needs_step;
} policies[] = {
    {"fixed", fixed, false},         {"step", step, true},
    {"exp", exponential, false},     {"inv", inverse, false},
    {"multistep", multistep, false}, {"poly", polynomial, false},
    {"sigmoid", sigmoid, true},
};

static const struct policy *find(const char *name)
{
    for (size_t i = 0; name && i < sizeof policies / sizeof *policies; i++) {
        if (strcmp(policies[i].name, name) == 0)
            return &policies[i];
    }
    return NULL;
}

psd_status psd_rate_check(const Caffe__SolverParameter *solver)
{
    const char *name = solver->lr_policy ? solver->lr_policy : "";
    const struct policy *policy = find(name);
    struct psd_suggest suggest;

    if (policy && policy->needs_step && solver->stepsize <= 0)
        return psd_fail(PSD_ECONFIG, "lr_policy \"%s\" needs a stepsize above 0", name);
    if (policy)
        return PSD_OK;
    psd_suggest_init(&suggest, name, strlen(name));
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        psd_suggest_offer(&suggest, policies[i].name);
    return psd_fail(PSD_ECONFIG,
                    "there is no lr_policy \"%s\", but fixed, step, exp, inv, multistep, poly and "
                    "sigmoid%s",
                    name, psd_suggest_phrase(&suggest));
}

/* The rate grows from warmup_start_factor of itself to itself. */
static double warm_up(const Caffe__SolverParameter *s, double t)
{
    double start = (double)s->warmup_start_factor;

    return s->warmup_iter > 0 && t < s->warmup_iter ? start + (1 - start) * t / s->warmup_iter : 1;
}

float psd_rate_next(const Caffe__SolverParameter *solver, struct psd_rate *rate, int64_t iteration,
                    bool *stepped)
{
    const struct policy *policy = find(solver->lr_policy);
    int before = rate->step;
    double t = (double)iteration;
    double factor = policy->factor(solver, rate, t) * warm_up(solver, t);

    if (stepped)
        *stepped = policy->factor == multistep && rate->step != before;
    return (float)((double)solver->base_lr * factor);
}
