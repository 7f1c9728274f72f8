/* pacer.c - a line of layers, which works push back. */
#include "cli/pacer.h"
#include "base/alloc.h"
#include "base/clock.h"

#include <pthread.h>

struct psd_pacer {
    const struct psd_workload *workload; /* borrowed */
    uint64_t line_ns;                    /* thread of the layers only */

    pthread_mutex_t lock; /* guards all below */
    bool computing;       /* a layer is */
    uint64_t end_ns;      /* when that layer ends, as far as it is known */
    uint64_t free_ns;     /* when all works have ended */
    uint64_t worked_ns;
    double *flops, *bytes; /* owned; [params]: what a machine alone does, left over */
};

psd_status psd_pacer_create(const struct psd_workload *workload, struct psd_pacer **out)
{
    struct psd_pacer *pacer = psd_alloc_zero(1, sizeof *pacer);

    if (!pacer)
        return PSD_ENOMEM;
    pacer->workload = workload;
    pthread_mutex_init(&pacer->lock, NULL);
    pacer->flops = psd_alloc_zero(workload->n_params, sizeof *pacer->flops);
    pacer->bytes = psd_alloc_zero(workload->n_params, sizeof *pacer->bytes);
    if (!pacer->flops || !pacer->bytes) {
        psd_pacer_destroy(pacer);
        return PSD_ENOMEM;
    }
    *out = pacer;
    return PSD_OK;
}

void psd_pacer_destroy(struct psd_pacer *pacer)
{
    if (!pacer)
        return;
    pthread_mutex_destroy(&pacer->lock);
    psd_alloc_free(pacer->flops);
    psd_alloc_free(pacer->bytes);
    psd_alloc_free(pacer);
}

/* --- layers ------------------------------------------------------------------------------------- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)(seconds * (double)PSD_CLOCK_S);
}

void psd_pacer_stall(struct psd_pacer *pacer)
{
    pacer->line_ns = later(pacer->line_ns, psd_clock_now());
}

uint64_t psd_pacer_line(const struct psd_pacer *pacer)
{
    return pacer->line_ns;
}

static uint64_t begin(struct psd_pacer *pacer, double seconds)
{
    pthread_mutex_lock(&pacer->lock);
    uint64_t end = later(pacer->line_ns, pacer->free_ns) + nanoseconds(seconds);
    pacer->end_ns = end;
    pacer->computing = true;
    pthread_mutex_unlock(&pacer->lock);
    return end;
}

/* Whether the layer ends at `end`; if not, it is told when. */
static bool has_ended(struct psd_pacer *pacer, uint64_t *end)
{
    pthread_mutex_lock(&pacer->lock);
    bool ended = pacer->end_ns == *end;
    *end = pacer->end_ns;
    pacer->computing = !ended;
    pthread_mutex_unlock(&pacer->lock);
    return ended;
}

void psd_pacer_layer(struct psd_pacer *pacer, double seconds)
{
    uint64_t end = begin(pacer, seconds);

    do
        psd_clock_sleep_until(end);
    while (!has_ended(pacer, &end));
    pacer->line_ns = end;
}

/* --- works -------------------------------------------------------------------------------------- */

static double divided(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

/* What exceeds the allowance, which it uses up. */
static double exceed(double *allowance, double amount)
{
    double used = amount < *allowance ? amount : *allowance;

    *allowance -= used;
    return amount - used;
}

/* With the lock held. */
static double seconds_of(struct psd_pacer *pacer, const struct psd_work *work)
{
    const struct psd_workload *workload = pacer->workload;
    double flops = exceed(&pacer->flops[work->param], work->flops);
    double values = exceed(&pacer->bytes[work->param], work->bytes) / sizeof(float);

    return divided(flops, workload->rebuild_flops) +
           divided(values * PSD_WORKLOAD_UPDATE_BYTES, workload->update_bytes_per_s);
}

void psd_pacer_allow(struct psd_pacer *pacer, size_t param)
{
    const struct psd_workload_param *shape = &pacer->workload->params[param];
    double values = (double)(shape->rows * shape->cols);

    pthread_mutex_lock(&pacer->lock);
    pacer->bytes[param] = values * sizeof(float);
    pacer->flops[param] = 2 * values * (double)pacer->workload->batch;
    pthread_mutex_unlock(&pacer->lock);
}

uint64_t psd_pacer_until(void *pacer, const struct psd_work *work)
{
    struct psd_pacer *self = pacer;

    if (work->kind != PSD_WORK_UPDATE && work->kind != PSD_WORK_REBUILD)
        return 0;
    pthread_mutex_lock(&self->lock);
    uint64_t ns = nanoseconds(seconds_of(self, work));
    uint64_t end = later(self->free_ns, psd_clock_now()) + ns;
    if (ns > 0) /* else the device has nothing to do for it, and no layer waits */
        self->free_ns = end;
    self->worked_ns += ns;
    self->end_ns += self->computing ? ns : 0;
    pthread_mutex_unlock(&self->lock);
    return end;
}

double psd_pacer_worked(struct psd_pacer *pacer)
{
    pthread_mutex_lock(&pacer->lock);
    uint64_t ns = pacer->worked_ns;
    pthread_mutex_unlock(&pacer->lock);
    return (double)ns / (double)PSD_CLOCK_S;
}
