#include "train/values.h"
#include "base/alloc.h"

psd_status psd_values_init(struct psd_values *values, struct psd_comm *comm, size_t count)
{
    values->seen = psd_alloc_zero(count, sizeof *values->seen);
    if (!values->seen)
        return PSD_ENOMEM;
    values->comm = comm;
    values->round = 1;
    pthread_mutex_init(&values->lock, NULL);
    return PSD_OK;
}

void psd_values_fini(struct psd_values *values)
{
    if (!values->seen)
        return;
    pthread_mutex_destroy(&values->lock);
    psd_alloc_free(values->seen);
}

void psd_values_renew(struct psd_values *values)
{
    values->round++;
}

static bool is_seen(struct psd_values *values, int id)
{
    return atomic_load_explicit(&values->seen[id], memory_order_acquire) == values->round;
}

psd_status psd_values_wait(struct psd_values *values, int id)
{
    psd_status status = PSD_OK;

    if (is_seen(values, id))
        return PSD_OK;
    pthread_mutex_lock(&values->lock);
    if (!is_seen(values, id))
        status = psd_comm_wait(values->comm, id);
    if (status == PSD_OK)
        atomic_store_explicit(&values->seen[id], values->round, memory_order_release);
    pthread_mutex_unlock(&values->lock);
    return status;
}
