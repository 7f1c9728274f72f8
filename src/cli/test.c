/* test.c - "poseidon test": how good a trained net is, batch by batch and on average. */
#include "base/alloc.h"
#include "cli/compute.h"
#include "proto/caffe.pb-c.h"
#include "proto/upgrade.h"

struct test_options {
    struct psd_compute_options compute;
    char *model;
    char **weights;
    int64_t iterations;
};

static const struct psd_option test_options[] = {
    {"model", "FILE", NULL, "the net", PSD_TEXT(struct test_options, model)},
    {"weights", "FILE,...", NULL, "its weights, .caffemodel or .caffemodel.h5 files",
     PSD_LIST(struct test_options, weights)},
    {"iterations", "N", "50", "tests on N batches",
     PSD_INT(struct test_options, iterations, 1, INT32_MAX)},
    PSD_COMPUTE_OPTIONS(struct test_options),
    {0},
};

/* Shows the outputs of a batch and adds them to the sums. */
static void take_scores(struct psd_cli *cli, const struct psd_net *net, long long batch,
                        double *sums)
{
    size_t number = 0;

    for (size_t i = 0; i < net->n_outputs; i++) {
        const struct psd_blob *blob = &net->blobs[net->outputs[i]];
        for (size_t k = 0; k < blob->count; k++) {
            double score = (double)psd_blob_values(blob)[k];
            psd_log_info(cli->log, "Batch %lld, %s = %g", batch, net->blob_names[net->outputs[i]],
                         score);
            sums[number + k] += score;
        }
        number += psd_net_output_size(net, i);
    }
}

static void show_means(struct psd_cli *cli, const struct psd_net *net, const double *sums,
                       double batches)
{
    size_t number = 0;

    for (size_t i = 0; i < net->n_outputs; i++) {
        const char *name = net->blob_names[net->outputs[i]];
        double weight = (double)psd_net_loss_weight(net, net->outputs[i]);
        for (size_t k = 0; k < psd_net_output_size(net, i); k++) {
            double mean = sums[number++] / batches;
            if (weight != 0)
                psd_log_info(cli->log, "%s = %g (* %g = %g loss)", name, mean, weight,
                             weight * mean);
            else
                psd_log_info(cli->log, "%s = %g", name, mean);
        }
    }
}

static psd_status test_batches(struct psd_cli *cli, struct psd_net *net, int64_t batches,
                               double *sums)
{
    double losses = 0;

    psd_log_info(cli->log, "Running for %lld iterations.", (long long)batches);
    for (int64_t i = 0; i < batches; i++) {
        float loss = 0;
        PSD_TRY(psd_net_forward(net, &loss));
        take_scores(cli, net, (long long)i, sums);
        losses += (double)loss;
    }
    psd_log_info(cli->log, "Loss: %g", losses / (double)batches);
    show_means(cli, net, sums, (double)batches);
    return PSD_OK;
}

static psd_status test(struct psd_cli *cli, const struct test_options *options,
                       const struct psd_compute *compute)
{
    struct psd_document *document = NULL;
    struct psd_net *net = NULL;
    double *sums = NULL;

    PSD_TRY(
        psd_upgrade_read(options->model, &caffe__net_parameter__descriptor, cli->log, &document));
    psd_status status = psd_compute_net(cli, compute, document, CAFFE__PHASE__TEST, &net);
    if (status == PSD_OK)
        status = psd_compute_load(net, options->weights);
    if (status == PSD_OK) {
        sums = psd_alloc_zero(psd_net_count_outputs(net), sizeof *sums);
        status = sums ? test_batches(cli, net, options->iterations, sums) : PSD_ENOMEM;
    }
    psd_alloc_free(sums);
    psd_net_destroy(net);
    psd_document_destroy(document);
    return status;
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct test_options *options = opaque;
    struct psd_compute compute;

    (void)argc, (void)argv;
    if (!options->model)
        return psd_cli_misuse(cli, "a net is needed: --model FILE");
    if (!options->weights)
        return psd_cli_misuse(cli, "weights are needed: --weights FILE");
    PSD_TRY(psd_compute_open(cli, &options->compute, &compute));
    psd_log_info(cli->log, "Use CPU.");
    psd_status status = test(cli, options, &compute);
    psd_compute_close(&compute);
    return status;
}

const struct psd_command psd_command_test = {
    .name = "test",
    .summary = "scores a trained net on batches of its test data",
    .synopsis = "",
    .description =
        "Builds the net for the phase TEST, gives it the weights, runs it forward and shows its "
        "outputs for every batch, and then their means. Options and messages are those of "
        "\"caffe test\".",
    .options = test_options,
    .options_size = sizeof(struct test_options),
    .logs_as_caffe = true,
    .run = run,
};
