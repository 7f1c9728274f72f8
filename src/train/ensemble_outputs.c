/* ensemble_outputs.c - what can be shown of all workers.
 *
 *     prob of worker 0, 3 samples     p0 p1 p2
 *     prob of worker 3, 2 samples     p0 p1
 *     means are shown of              p0 p1
 *
 * An output may have values for each sample, and shares of a global batch may differ by one. */
#include "base/alloc.h"
#include "train/ensemble_state.h"

/* Values of output i in the smallest of our nets. */
static size_t least_here(const struct psd_ensemble *ensemble, size_t i)
{
    size_t least = SIZE_MAX;

    for (unsigned t = 0; t < ensemble->n_twins; t++) {
        size_t size = psd_net_output_size(ensemble->twins[t].net, i);
        least = size < least ? size : least;
    }
    return least;
}

/* `sizes` [ranks][outputs] are those of all processes, of which each gives its own. */
static psd_status agree(struct psd_ensemble *ensemble, float *sizes, size_t *most)
{
    size_t outputs = ensemble->solver->net->n_outputs;

    for (size_t i = 0; i < outputs; i++)
        sizes[ensemble->rank * outputs + i] = (float)least_here(ensemble, i);
    PSD_TRY(psd_ensemble_add_up(ensemble, sizes, ensemble->ranks * outputs));
    for (size_t i = 0; i < ensemble->ranks * outputs; i++) {
        size_t size = (size_t)sizes[i], *least = &most[i % outputs];
        *least = i < outputs || size < *least ? size : *least;
    }
    for (unsigned t = 0; t < ensemble->n_twins; t++)
        psd_net_limit_outputs(ensemble->twins[t].net, most);
    return PSD_OK;
}

psd_status psd_ensemble_agree_outputs(struct psd_ensemble *ensemble)
{
    size_t outputs = ensemble->solver->net->n_outputs;

    if (ensemble->options.global_batch % ensemble->of == 0)
        return PSD_OK;
    float *sizes = psd_alloc_zero(ensemble->ranks * outputs, sizeof *sizes);
    size_t *most = psd_alloc_zero(outputs, sizeof *most);
    psd_status status = sizes && most ? agree(ensemble, sizes, most) : PSD_ENOMEM;
    psd_alloc_free(sizes);
    psd_alloc_free(most);
    return status;
}
