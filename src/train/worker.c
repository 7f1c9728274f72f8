#include "train/worker.h"
#include "base/alloc.h"
#include "engine/carried_file.h"

/* Memory for the gradient alone. */
static psd_status make_gradient(struct psd_blob *blob, const struct psd_blob *like)
{
    blob->shape = like->shape;
    blob->count = like->count;
    return psd_blob_need_diff(blob);
}

static psd_status make_factors(struct psd_worker_factors *factors, const struct psd_blob *like,
                               size_t rows)
{
    factors->u = psd_alloc_zero(rows * like->shape.dim[0], sizeof *factors->u);
    factors->v = psd_alloc_zero(rows * like->shape.dim[1], sizeof *factors->v);
    return factors->u && factors->v ? PSD_OK : PSD_ENOMEM;
}

/* The net computes a bias that comes with factors all the same; what becomes of it nobody asks. */
static psd_status make_lent(struct psd_worker *worker, const struct psd_net *net,
                            const struct psd_enrolment *enrolment, size_t i)
{
    const struct psd_blob *like = &net->params[i]->blob;

    switch (enrolment->ways[i]) {
    case PSD_ENROLLED_DENSE:
    case PSD_ENROLLED_FOLLOWS:
        return make_gradient(&worker->lent[i], like);
    case PSD_ENROLLED_AVERAGED:
        return psd_blob_reshape(&worker->lent[i], &like->shape);
    case PSD_ENROLLED_FACTORED:
        return enrolment->passes > 1
                   ? make_factors(&worker->factors[i], like, worker->batch * enrolment->passes)
                   : PSD_OK;
    case PSD_ENROLLED_NOT:
        break;
    }
    return PSD_OK;
}

psd_status psd_worker_init(struct psd_worker *worker, unsigned number, size_t batch,
                           const struct psd_net *net, const struct psd_enrolment *enrolment)
{
    size_t n = enrolment->n_params, carried = psd_carried_count(net);

    worker->number = number;
    worker->batch = batch;
    worker->lent = psd_alloc_zero(n, sizeof *worker->lent);
    worker->factors = psd_alloc_zero(n, sizeof *worker->factors);
    worker->carried = carried ? psd_alloc_zero(carried, sizeof *worker->carried) : NULL;
    if (!worker->lent || !worker->factors || (carried && !worker->carried))
        return PSD_ENOMEM;
    for (size_t i = 0; i < n; i++)
        psd_blob_init(&worker->lent[i], net->device);
    for (size_t i = 0; i < n; i++)
        PSD_TRY(make_lent(worker, net, enrolment, i));
    return PSD_OK;
}

void psd_worker_fini(struct psd_worker *worker, size_t n_params)
{
    for (size_t i = 0; i < n_params && worker->factors; i++) {
        psd_alloc_free(worker->factors[i].u);
        psd_alloc_free(worker->factors[i].v);
    }
    for (size_t i = 0; i < n_params && worker->lent && worker->factors; i++)
        psd_blob_fini(&worker->lent[i]);
    psd_alloc_free(worker->factors);
    psd_alloc_free(worker->lent);
    psd_alloc_free(worker->carried);
}

void psd_worker_lend(struct psd_worker *worker, struct psd_net *net,
                     const struct psd_enrolment *enrolment)
{
    for (size_t i = 0; i < enrolment->n_params; i++) {
        struct psd_blob *blob = &net->params[i]->blob;
        if (worker->lent[i].diff)
            psd_blob_share_diff(blob, &worker->lent[i]);
        if (enrolment->ways[i] == PSD_ENROLLED_AVERAGED)
            psd_blob_share_data(blob, &worker->lent[i]);
    }
    if (worker->carried)
        psd_carried_put(net, worker->carried);
}
