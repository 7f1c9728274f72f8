/* time.c - "poseidon time": where the time of a pass goes, layer by layer.
 *
 *     begin --- layer 0 --- layer 1 --- ... --- layer n --- end        forward; then backwards
 *              |         |           |
 *              a look at the clock after each: the difference is the layer's */
#include "base/alloc.h"
#include "base/clock.h"
#include "cli/compute.h"
#include "cli/net_workload.h"
#include "comm/profile.h"
#include "comm/rates.h"
#include "device/devices.h"
#include "proto/caffe.pb-c.h"
#include "proto/upgrade.h"

struct time_options {
    struct psd_compute_options compute;
    char *model;
    char **weights;
    Caffe__Phase phase;
    int64_t iterations;
    char *profile_out;
};

static const struct psd_option time_options[] = {
    {"model", "FILE", NULL, "the net", PSD_TEXT(struct time_options, model)},
    {"weights", "FILE,...", NULL,
     "its weights, .caffemodel or .caffemodel.h5 files; default: as the fillers say",
     PSD_LIST(struct time_options, weights)},
    {"phase", NULL, "TRAIN", "builds the net for this phase",
     PSD_CHOICE(struct time_options, phase, psd_compute_phases)},
    {"iterations", "N", "50", "takes the mean of N passes",
     PSD_INT(struct time_options, iterations, 1, INT32_MAX)},
    {"profile-out", "FILE", NULL,
     "writes the times to FILE, a profile for \"plan\" and \"simulate\"",
     PSD_TEXT(struct time_options, profile_out)},
    PSD_COMPUTE_OPTIONS(struct time_options),
    {0},
};

/* Nanoseconds, of all iterations together. */
struct times {
    uint64_t last;                /* when the layer before ended */
    uint64_t *forward, *backward; /* owned; of each layer */
};

static void take_time(void *context, const struct psd_layer *layer, bool backward)
{
    struct times *times = context;
    uint64_t now = psd_clock_now();

    (backward ? times->backward : times->forward)[layer->index] += now - times->last;
    times->last = now;
}

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* One pass to warm up, as in Caffe. */
static psd_status warm_up(struct psd_cli *cli, struct psd_net *net)
{
    float loss = 0;

    psd_log_info(cli->log, "Performing Forward");
    PSD_TRY(psd_net_forward(net, &loss));
    psd_log_info(cli->log, "Initial loss: %g", (double)loss);
    psd_log_info(cli->log, "Performing Backward");
    return psd_net_backward(net, true);
}

static psd_status pass(struct psd_net *net, struct times *times, uint64_t *forward,
                       uint64_t *backward)
{
    uint64_t begin = psd_clock_now();

    times->last = begin;
    PSD_TRY(psd_net_forward(net, NULL));
    uint64_t middle = psd_clock_now();
    times->last = middle;
    PSD_TRY(psd_net_backward(net, true));
    *forward += middle - begin;
    *backward += psd_clock_now() - middle;
    return PSD_OK;
}

static void show_layers(struct psd_cli *cli, const struct psd_net *net, const struct times *times,
                        double passes)
{
    psd_log_info(cli->log, "Average time per layer: ");
    for (size_t i = 0; i < net->n_layers; i++) {
        const char *name = net->layers[i].name;
        psd_log_info(cli->log, "%10s\tforward: %g ms.", name,
                     milliseconds(times->forward[i]) / passes);
        psd_log_info(cli->log, "%10s\tbackward: %g ms.", name,
                     milliseconds(times->backward[i]) / passes);
    }
}

static psd_status measure(struct psd_cli *cli, struct psd_net *net, int64_t passes,
                          struct times *times)
{
    uint64_t forward = 0, backward = 0, begin = psd_clock_now();

    psd_log_info(cli->log, "*** Benchmark begins ***");
    psd_log_info(cli->log, "Testing for %lld iterations.", (long long)passes);
    for (int64_t i = 0; i < passes; i++) {
        uint64_t before = psd_clock_now();
        PSD_TRY(pass(net, times, &forward, &backward));
        psd_log_info(cli->log, "Iteration: %lld forward-backward time: %g ms.", (long long)i + 1,
                     milliseconds(psd_clock_now() - before));
    }
    double total = milliseconds(psd_clock_now() - begin), n = (double)passes;
    show_layers(cli, net, times, n);
    psd_log_info(cli->log, "Average Forward pass: %g ms.", milliseconds(forward) / n);
    psd_log_info(cli->log, "Average Backward pass: %g ms.", milliseconds(backward) / n);
    psd_log_info(cli->log, "Average Forward-Backward: %g ms.", total / n);
    psd_log_info(cli->log, "Total Time: %g ms.", total);
    psd_log_info(cli->log, "*** Benchmark ends ***");
    return PSD_OK;
}

/* --- the profile ------------------------------------------------------------------------------ */

static psd_status fill_profile(const struct psd_net *net, const struct times *times, double passes,
                               struct psd_profile *profile)
{
    struct psd_comm_rates rates = {.rebuild_flops = 0};
    struct psd_workload *workload = NULL;

    PSD_TRY(psd_rates_measure(PSD_RATES_THOROUGH, &rates));
    profile->rebuild_flops = rates.rebuild_flops;
    profile->update_bytes_per_s = rates.update_bytes_per_s;
    profile->sum_bytes_per_s = rates.sum_bytes_per_s;
    PSD_TRY(psd_net_workload_create(net, &workload));
    psd_status status = psd_profile_add_model(profile, workload->name, workload->batch, 0);
    psd_workload_destroy(workload);
    for (size_t i = 0; status == PSD_OK && i < net->n_layers; i++)
        status = psd_profile_add_layer(profile, net->layers[i].name,
                                       (double)times->forward[i] / passes / 1e9,
                                       (double)times->backward[i] / passes / 1e9);
    return status;
}

static psd_status write_profile(const struct time_options *options, const struct psd_net *net,
                                const struct times *times)
{
    const struct psd_device_entry *entry = psd_device_entry(net->device);
    struct psd_profile *profile = NULL;
    char device[300];

    snprintf(device, sizeof device, "%s, %s", entry->name, entry->description);
    PSD_TRY(psd_profile_create("the profile", device, &profile));
    psd_status status = fill_profile(net, times, (double)options->iterations, profile);
    if (status == PSD_OK)
        status = psd_profile_write(profile, options->profile_out);
    psd_profile_destroy(profile);
    return status;
}

static psd_status time_net(struct psd_cli *cli, const struct time_options *options,
                           struct psd_net *net)
{
    struct times times = {
        .forward = psd_alloc_zero(net->n_layers, sizeof(uint64_t)),
        .backward = psd_alloc_zero(net->n_layers, sizeof(uint64_t)),
    };
    psd_status status = times.forward && times.backward ? PSD_OK : PSD_ENOMEM;

    if (status == PSD_OK)
        status = psd_compute_load(net, options->weights);
    if (status == PSD_OK)
        status = warm_up(cli, net);
    net->hooks.context = &times;
    net->hooks.passed = take_time;
    if (status == PSD_OK)
        status = measure(cli, net, options->iterations, &times);
    if (status == PSD_OK && options->profile_out)
        status = write_profile(options, net, &times);
    psd_alloc_free(times.forward);
    psd_alloc_free(times.backward);
    return status;
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct time_options *options = opaque;
    struct psd_document *document = NULL;
    struct psd_compute compute;
    struct psd_net *net = NULL;

    (void)argc, (void)argv;
    if (!options->model)
        return psd_cli_misuse(cli, "a net is needed: --model FILE");
    PSD_TRY(psd_compute_open(cli, &options->compute, &compute));
    psd_log_info(cli->log, "Use CPU.");
    psd_status status =
        psd_upgrade_read(options->model, &caffe__net_parameter__descriptor, cli->log, &document);
    if (status == PSD_OK)
        status = psd_compute_net(cli, &compute, document, options->phase, &net);
    if (status == PSD_OK)
        status = time_net(cli, options, net);
    psd_net_destroy(net);
    psd_document_destroy(document);
    psd_compute_close(&compute);
    return status;
}

const struct psd_command psd_command_time = {
    .name = "time",
    .summary = "measures how long each layer of a net takes",
    .synopsis = "",
    .description =
        "Builds the net, runs it forward and backward and shows the mean time of each layer, and "
        "of whole passes. Options and messages are those of \"caffe time\".\n\n"
        "With --profile-out it also measures how fast this machine sums, updates and rebuilds "
        "gradients, on one thread, and writes all of it to a file.",
    .options = time_options,
    .options_size = sizeof(struct time_options),
    .logs_as_caffe = true,
    .run = run,
};
