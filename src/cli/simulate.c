/* simulate.c - "poseidon simulate": clusters that are not there, at work on a net.
 *
 *     bandwidths x nodes x schemes --> the product's own state machines on a virtual clock
 *                                  --> a row each, and at the end files */
#include "cli/model.h"
#include "cli/sweep.h"
#include "cli/sweep_axes.h"
#include "cli/text_file.h"

enum format { TABLE, CSV };

struct simulate_options {
    struct psd_model_options model;
    char **nodes, **bandwidths, **schemes;
    int64_t iterations, seed;
    uint64_t delay_ns;
    enum format format;
    char *csv, *svg;
};

static const char *const formats[] = {[TABLE] = "table", [CSV] = "csv", NULL};

static const struct psd_option simulate_options[] = {
    PSD_MODEL_OPTIONS(struct simulate_options),
    {"nodes", "N,...", NULL, "how many nodes; default: 1,2,4,8,16,32",
     PSD_LIST(struct simulate_options, nodes)},
    {"bandwidth", "SPEED,...", NULL, "of each node's link, each way; default: 10Gbit,40Gbit",
     PSD_LIST(struct simulate_options, bandwidths)},
    {"scheme", "servers-no-overlap|servers|hybrid-bytes|hybrid|single-owner,...", NULL,
     "which ways of sending gradients are compared; default: all",
     PSD_LIST(struct simulate_options, schemes)},
    {"iterations", "N", "3", "takes the mean of N iterations, after one to warm up",
     PSD_INT(struct simulate_options, iterations, 1, 1000000)},
    {"delay", NULL, "0", "adds up to this to each message, drawn from the seed",
     PSD_TIME(struct simulate_options, delay_ns)},
    {"seed", "N", "1", "of the delays; equal seeds give equal results",
     PSD_INT(struct simulate_options, seed, 0, INT64_MAX)},
    {"format", NULL, "table", "what is printed",
     PSD_CHOICE(struct simulate_options, format, formats)},
    {"csv", "FILE", NULL, "writes comma-separated values there, too",
     PSD_TEXT(struct simulate_options, csv)},
    {"svg", "FILE", NULL, "draws the speed-ups", PSD_TEXT(struct simulate_options, svg)},
    {0},
};

static void show_head(struct psd_cli *cli, const struct simulate_options *options,
                      const struct psd_sweep *sweep)
{
    const struct psd_workload *workload = sweep->workload;

    if (options->format == CSV) {
        psd_sweep_csv_head(cli->out);
        return;
    }
    fprintf(cli->out, "%s: %zu parameters, %.3f M values, batch %zu on each node\n", workload->name,
            workload->n_params, (double)workload->values / 1e6, workload->batch);
    psd_sweep_table_head(cli->out);
}

static void show_status(struct psd_cli *cli, const struct psd_sweep *sweep, size_t i)
{
    char line[200];

    if (!psd_screen_wants_status(cli->screen))
        return;
    snprintf(line, sizeof line, "simulation %zu of %zu: %u nodes, %s", i + 1, sweep->count,
             sweep->points[i].nodes, psd_scheme_names[sweep->points[i].scheme]);
    psd_screen_status(cli->screen, line);
}

/* A row appears as soon as it is known. */
static psd_status run_all(struct psd_cli *cli, const struct simulate_options *options,
                          struct psd_sweep *sweep)
{
    show_head(cli, options, sweep);
    for (size_t i = 0; i < sweep->count; i++) {
        show_status(cli, sweep, i);
        PSD_TRY(psd_sweep_run(sweep, &sweep->points[i]));
        psd_screen_clear(cli->screen);
        if (options->format == CSV)
            psd_sweep_csv_row(cli->out, sweep, &sweep->points[i]);
        else
            psd_sweep_table_row(cli->out, &sweep->points[i]);
        fflush(cli->out);
    }
    return PSD_OK;
}

static psd_status write_csv(const struct psd_sweep *sweep, const char *path)
{
    struct psd_text_file file;

    PSD_TRY(psd_text_file_begin(&file));
    psd_sweep_csv_head(file.out);
    for (size_t i = 0; i < sweep->count; i++)
        psd_sweep_csv_row(file.out, sweep, &sweep->points[i]);
    return psd_text_file_save(&file, path);
}

static psd_status simulate(struct psd_cli *cli, const struct simulate_options *options,
                           const struct psd_workload *workload, const struct psd_sweep_axes *axes)
{
    struct psd_sweep sweep = {
        .workload = workload,
        .latency = psd_model_latency(&options->model),
        .delay = (double)options->delay_ns / 1e9,
        .iterations = (unsigned)options->iterations,
        .seed = (uint64_t)options->seed,
    };

    for (size_t i = 0; i < axes->n_nodes; i++)
        PSD_TRY(psd_model_check_samples(cli, workload, axes->nodes[i]));
    PSD_TRY(psd_sweep_init(&sweep, axes));
    psd_status status = run_all(cli, options, &sweep);
    psd_screen_clear(cli->screen);
    if (status == PSD_OK && options->csv)
        status = write_csv(&sweep, options->csv);
    if (status == PSD_OK && options->svg)
        status = psd_sweep_plot(&sweep, options->svg);
    psd_sweep_fini(&sweep);
    return status;
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct simulate_options *options = opaque;
    struct psd_workload *workload = NULL;
    struct psd_comm_update update;
    struct psd_sweep_axes axes;

    (void)argc, (void)argv;
    if (!options->model.model)
        return psd_cli_misuse(cli, "a net is needed: --model FILE or NAME");
    if (!options->model.profile)
        return psd_cli_misuse(cli, "say how fast a node computes: --profile FILE or NAME");
    PSD_TRY(psd_text_file_try(options->csv));
    PSD_TRY(psd_text_file_try(options->svg));
    PSD_TRY(psd_sweep_axes_read(cli, options->nodes, options->bandwidths, options->schemes, &axes));
    PSD_TRY(psd_model_read(cli, &options->model, NULL, &workload, &update));
    psd_status status = simulate(cli, options, workload, &axes);
    psd_workload_destroy(workload);
    return status;
}

const struct psd_command psd_command_simulate = {
    .name = "simulate",
    .summary = "measures training on clusters that are not there",
    .synopsis = "",
    .description =
        "Trains a net on simulated clusters, one for each bandwidth, number of nodes and scheme: "
        "the "
        "program's own communication, on a virtual clock and links with bandwidth and latency. "
        "Only "
        "what is computed is taken from the profile. Shown are the time of an iteration, the "
        "speed-up over one node, the share of it in which a device waits and the one in which it "
        "does more than one node alone would, and the megabytes that a node sends and receives, "
        "with those of the busiest node divided by the mean.",
    .options = simulate_options,
    .options_size = sizeof(struct simulate_options),
    .run = run,
};
