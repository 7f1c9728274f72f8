/* ensemble_verify.c - whether all replicas are equal, to the bit.
 *
 *     rank 0    a checksum of each parameter --> all others compare theirs
 *     all       the number of the first that differs, from each --> everybody knows who and what
 */
#include "base/alloc.h"
#include "base/crc32c.h"
#include "train/ensemble_state.h"

static uint32_t checksum(const struct psd_param *param)
{
    return psd_crc32c(0, psd_blob_values(&param->blob), param->blob.count * sizeof(float));
}

/* 1 + the number of our first parameter that differs from those of worker 0's process; 0: none. */
static psd_status find_difference(struct psd_ensemble *ensemble, uint32_t *theirs, float *out)
{
    const struct psd_net *net = ensemble->solver->net;

    for (size_t i = 0; i < net->n_params; i++)
        theirs[i] = checksum(net->params[i]);
    PSD_TRY(psd_comm_broadcast(ensemble->comm, theirs, net->n_params * sizeof *theirs));
    *out = 0;
    for (size_t i = 0; i < net->n_params && *out == 0; i++) {
        if (theirs[i] != checksum(net->params[i]))
            *out = (float)(1 + i);
    }
    return PSD_OK;
}

/* The iteration is named as by a snapshot, a test or a display of the same values. */
static psd_status compare(struct psd_ensemble *ensemble, uint32_t *theirs, float *found)
{
    const struct psd_solver *solver = ensemble->solver;

    PSD_TRY(find_difference(ensemble, theirs, &found[ensemble->rank]));
    PSD_TRY(psd_ensemble_add_up(ensemble, found, ensemble->ranks));
    for (unsigned i = 0; i < ensemble->ranks; i++) {
        if (found[i] != 0)
            return psd_fail(PSD_EPEER,
                            "at iteration %lld %s on rank %u is not what it is on rank 0: the "
                            "replicas have parted",
                            (long long)solver->iteration + 1,
                            solver->net->params[(size_t)found[i] - 1]->name, i);
    }
    return PSD_OK;
}

psd_status psd_ensemble_verify(struct psd_ensemble *ensemble)
{
    uint32_t *theirs = psd_alloc_zero(ensemble->solver->net->n_params, sizeof *theirs);
    float *found = psd_alloc_zero(ensemble->ranks, sizeof *found);
    psd_status status = theirs && found ? compare(ensemble, theirs, found) : PSD_ENOMEM;

    psd_alloc_free(theirs);
    psd_alloc_free(found);
    return status;
}
