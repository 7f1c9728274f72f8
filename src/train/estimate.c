/* estimate.c - multiply-adds over a measured rate. */
#include "train/estimate.h"
#include "comm/rates.h"

/* Threads that compute at a time. */
static unsigned threads_of(const struct psd_ensemble_options *options, unsigned hosted)
{
    unsigned threads = (options->threads ? options->threads : 1) * hosted;
    unsigned processors = options->processors ? options->processors : 1;

    return threads < processors ? threads : processors;
}

psd_status psd_estimate_flops(const struct psd_ensemble_options *options, unsigned hosted,
                              double *flops)
{
    double rate = options->seat.rates.rebuild_flops;

    *flops = 0;
    if (options->seat.rank != 0 || options->seat.ranks <= 1)
        return PSD_OK;
    if (rate == 0)
        PSD_TRY(psd_rates_rebuild(PSD_RATES_QUICK, &rate));
    *flops = rate * threads_of(options, hosted);
    return PSD_OK;
}

static double macs_of(const struct psd_net *net, size_t first, size_t end)
{
    double macs = 0;

    for (size_t i = first; i < end; i++) {
        const struct psd_layer *layer = &net->layers[i];
        macs += layer->kind->macs ? layer->kind->macs(layer) : 0;
    }
    return macs;
}

void psd_estimate_seconds(const struct psd_net *net, size_t first, size_t end, double flops,
                          struct psd_comm_param *param)
{
    if (flops > 0) {
        param->forward_s = 2 * macs_of(net, first, end) / flops;
        param->backward_s = 2 * param->forward_s;
    }
}
