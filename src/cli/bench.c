/* bench.c - "poseidon bench": real processes on real sockets, measured. */
#include "cli/bench.h"
#include "cli/key.h"
#include "cli/members.h"
#include "cli/spread.h"
#include "cli/sweep_axes.h"
#include "cli/text_file.h"

#include <string.h>
#include <unistd.h>

static const char *const arithmetics[] = {
    [PSD_BENCH_SLEEP] = "sleep", [PSD_BENCH_REAL] = "real", NULL};
static const char *const encrypts[] = {
    [PSD_BENCH_CLEAR] = "off", [PSD_BENCH_ENCRYPTED] = "on", NULL};

static const struct psd_option bench_options[] = {
    PSD_MODEL_NET_OPTIONS(struct psd_bench_options),
    {"bytes", "SIZE,...", NULL, "sync: adds up so many bytes instead of a net's gradients",
     PSD_LIST(struct psd_bench_options, bytes)},
    {"nodes", "N,...", NULL, "how many processes; default: 2,4,8",
     PSD_LIST(struct psd_bench_options, nodes)},
    {"bandwidth", "SPEED,...", NULL, "of each process's link, each way; default: 1Gbit,10Gbit",
     PSD_LIST(struct psd_bench_options, bandwidths)},
    {"compute", "TIME", NULL,
     "cluster: forward and backward of one node together take this long; the profile's speeds, "
     "titan-x's by default, are those of rebuilding and updating then",
     PSD_TIME(struct psd_bench_options, compute_ns)},
    {"scheme", "servers-no-overlap|servers|hybrid-bytes|hybrid|single-owner,...", NULL,
     "cluster: which ways of sending gradients are measured; default: hybrid",
     PSD_LIST(struct psd_bench_options, schemes)},
    {"arithmetic", NULL, "sleep",
     "cluster: rebuilding and updating take the time that the profile says, or are done",
     PSD_CHOICE(struct psd_bench_options, arithmetic, arithmetics)},
    {"dilate", "F|auto", "1",
     "cluster: slows compute and network F times, and divides what is measured by F; auto: the "
     "least of 1, 2, 4, 8 and 16 that leaves the processors idle for 30 % of the time",
     PSD_TEXT(struct psd_bench_options, dilate)},
    {"iterations", "N", NULL, "measures so many; default: 5, sync: about a second's worth",
     PSD_INT(struct psd_bench_options, iterations, 1, PSD_SPREAD_MOST)},
    {"encrypt", NULL, "on", "whether payloads are encrypted",
     PSD_CHOICE(struct psd_bench_options, encrypt, encrypts)},
    {"ktls", NULL, "auto",
     "whether the kernel encrypts payloads; auto: where it can (Linux 6.14, module tls)",
     PSD_CHOICE(struct psd_bench_options, ktls, psd_network_ktls_words)},
    {"streams", "N", "0", "sockets between two processes; 0: as many as lanes",
     PSD_INT(struct psd_bench_options, streams, 0, PSD_NETWORK_STREAMS)},
    {"window", NULL, "0",
     "bytes of a socket that are on their way at most, such as 128K; 0: what the link carries in "
     "two round trips, 256K at least; 1G: as many as the kernel likes",
     PSD_SIZE(struct psd_bench_options, window)},
    {"lanes", "N", "0", "threads of a process that read and write; 0: the one that decides, too",
     PSD_INT(struct psd_bench_options, lanes, 0, PSD_NETWORK_STREAMS)},
    {"loopback", NULL, NULL, "does without namespaces and shaped links",
     PSD_BOOL(struct psd_bench_options, loopback)},
    {"csv", "FILE", NULL, "writes comma-separated values there, too",
     PSD_TEXT(struct psd_bench_options, csv)},
    {0},
};

/* --- what both need ----------------------------------------------------------------------------- */

psd_status psd_bench_goodput(struct psd_bench *bench, double rate, unsigned nodes,
                             struct psd_goodput *out)
{
    if (nodes == 1) {
        *out = (struct psd_goodput){.bytes_per_s = rate > 0 ? rate : 1.25e9};
        return PSD_OK;
    }
    if (!(bench->goodput.bytes_per_s > 0) || bench->rate != rate) {
        PSD_TRY(psd_links_shape(&bench->links, rate));
        PSD_TRY(psd_links_measure(&bench->links, &bench->goodput));
        PSD_TRY(psd_links_shape(&bench->links, 0));
        bench->rate = rate;
    }
    *out = bench->goodput;
    return PSD_OK;
}

/* --- from options to links ----------------------------------------------------------------------- */

static psd_status read_axes(struct psd_bench *bench)
{
    static char two[] = "2", four[] = "4", eight[] = "8", one_gbit[] = "1Gbit",
                ten_gbit[] = "10Gbit", hybrid[] = "hybrid";
    char *nodes[] = {two, four, eight, NULL}, *bandwidths[] = {one_gbit, ten_gbit, NULL},
         *schemes[] = {hybrid, NULL};
    const struct psd_bench_options *options = bench->options;
    struct psd_sweep_axes *axes = &bench->axes;

    PSD_TRY(psd_sweep_axes_read(bench->cli, options->nodes ? options->nodes : nodes,
                                options->bandwidths ? options->bandwidths : bandwidths,
                                options->schemes ? options->schemes : schemes, axes));
    if (axes->nodes[axes->n_nodes - 1] > PSD_MEMBERS_MOST)
        return psd_cli_misuse(bench->cli, "--nodes: %u processes are more than %d",
                              axes->nodes[axes->n_nodes - 1], PSD_MEMBERS_MOST);
    return PSD_OK;
}

static void say_links(const struct psd_bench *bench)
{
    const char *why = bench->links.why;

    if (bench->links.netns)
        fputs("each process in a network namespace, links shaped both ways by tc tbf",
              bench->cli->out);
    else
        fprintf(bench->cli->out, "all processes on loopback, whose speed is not limited%s%s%s%s",
                *why ? " (" : "", why, *why && geteuid() != 0 ? "; root may" : "", *why ? ")" : "");
    fprintf(bench->cli->out, "; payloads %s\n",
            bench->options->encrypt == PSD_BENCH_CLEAR
                ? "in clear"
                : psd_network_encrypted(bench->options->ktls));
}

static psd_status open_links(struct psd_bench *bench)
{
    unsigned most = bench->axes.nodes[bench->axes.n_nodes - 1];

    PSD_TRY(psd_key_make(&bench->key_fd));
    PSD_TRY(psd_links_open(most < 2 ? 2 : most, bench->options->loopback, &bench->links));
    if (!bench->links.netns) {
        bench->axes.bandwidths[0] = 0;
        bench->axes.n_bandwidths = 1;
    }
    say_links(bench);
    return PSD_OK;
}

psd_status psd_bench_measure(struct psd_bench *bench, psd_status (*measure)(void *arg), void *arg)
{
    struct psd_text_file file;

    PSD_TRY(psd_text_file_try(bench->options->csv));
    bench->key_fd = bench->links.port.fd = -1;
    psd_status status = open_links(bench);
    if (status == PSD_OK)
        status = psd_text_file_begin(&file);
    if (status == PSD_OK) {
        bench->csv = file.out;
        status = measure(arg);
        psd_screen_clear(bench->cli->screen);
        bool is_worth_it = status == PSD_OK || bench->has_rows; /* hours of them, perhaps */
        psd_status saved = psd_text_file_save(&file, is_worth_it ? bench->options->csv : NULL);
        status = status == PSD_OK ? saved : status;
    }
    psd_links_close(&bench->links);
    if (bench->key_fd >= 0)
        close(bench->key_fd);
    return status;
}

static psd_status check_model(struct psd_bench *bench, bool is_sync)
{
    const struct psd_bench_options *options = bench->options;

    if (is_sync && options->bytes && options->model.model)
        return psd_cli_misuse(bench->cli,
                              "--bytes and --model each say what is added up: give one");
    if (is_sync && !options->bytes && !options->model.model)
        return psd_cli_misuse(bench->cli, "say what is added up: --bytes 1M,64M or --model NAME");
    if (!is_sync && !options->model.model)
        return psd_cli_misuse(bench->cli, "a net is needed: --model FILE or NAME");
    if (!is_sync && !options->model.profile && !options->compute_ns)
        return psd_cli_misuse(bench->cli, "say how long a node computes: --compute 600ms, or "
                                          "--profile FILE or NAME");
    return PSD_OK;
}

/* What only the other of the two understands. */
static psd_status check_kind(struct psd_bench *bench, bool is_sync)
{
    const struct psd_bench_options *options = bench->options;
    const struct {
        const char *name;
        bool is_given;
    } of_cluster[] = {
        {"profile", options->model.profile},
        {"batch", options->model.batch > 0},
        {"compute", options->compute_ns > 0},
        {"scheme", options->schemes},
        {"arithmetic", options->arithmetic != PSD_BENCH_SLEEP},
        {"dilate", strcmp(options->dilate, "1") != 0},
    };

    if (!is_sync && options->bytes)
        return psd_cli_misuse(bench->cli, "--bytes is for sync: a cluster trains a net");
    for (size_t i = 0; is_sync && i < sizeof of_cluster / sizeof *of_cluster; i++) {
        if (of_cluster[i].is_given)
            return psd_cli_misuse(bench->cli, "--%s is for cluster: sync computes nothing",
                                  of_cluster[i].name);
    }
    return PSD_OK;
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    struct psd_bench bench = {.cli = cli, .options = opaque};
    bool is_sync = strcmp(argv[0], "sync") == 0;

    (void)argc;
    if (!is_sync && strcmp(argv[0], "cluster") != 0)
        return psd_cli_misuse(cli, "\"%s\" is neither sync nor cluster", argv[0]);
    PSD_TRY(check_kind(&bench, is_sync));
    PSD_TRY(check_model(&bench, is_sync));
    PSD_TRY(read_axes(&bench));
    return is_sync ? psd_bench_sync(&bench) : psd_bench_cluster(&bench);
}

const struct psd_command psd_command_bench = {
    .name = "bench",
    .summary = "measures synchronization, and training whose compute is slept",
    .synopsis = "sync|cluster",
    .least = 1,
    .most = 1,
    .description =
        "Starts processes of this program, as root each in a network namespace whose link is "
        "shaped, else on loopback, and measures them.\n\n"
        "sync: they add up gradients, as many bytes as are given or those of a net, and check the "
        "sums. Shown are the time, the share of what the link allows, which is measured with one "
        "plain TCP stream in the same run, and what the processors do.\n\n"
        "cluster: they train a net. Compute is slept, layer by layer, as a profile says; gradients "
        "are real. Shown are the time of an iteration, the efficiency, a bound that nothing can be "
        "faster than, bytes, what the processors do and what is the limit; and the simulated time "
        "of the same cluster.",
    .options = bench_options,
    .options_size = sizeof(struct psd_bench_options),
    .run = run,
};
