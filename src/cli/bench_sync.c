/* bench_sync.c - "poseidon bench sync": sums of gradients, against what the link allows.
 *
 *     bandwidths x nodes x sizes --> goodput --> members (chorus.h) --> a row */
#include "base/alloc.h"
#include "cli/bench_members.h"
#include "cli/chorus.h"
#include "cli/score.h"

#include <math.h>

struct stage {
    const struct psd_score *point;
    struct psd_bench_members members; /* find a struct psd_chorus_result each */
};

/* --- members ------------------------------------------------------------------------------------ */

static psd_status sing(void *arg, unsigned rank)
{
    struct stage *stage = arg;
    const struct psd_score *point = stage->point;
    struct psd_chorus chorus = {
        .counts = point->counts,
        .n_params = point->n_params,
        .times = point->times,
        .ready = psd_bench_members_ready,
        .context = &stage->members,
    };

    PSD_TRY(psd_bench_members_seat(&stage->members, rank, &chorus.seat));
    chorus.seat.bandwidth = point->goodput.bytes_per_s;
    chorus.seat.latency = point->goodput.latency;
    return psd_chorus_run(&chorus, psd_bench_members_result(&stage->members, rank));
}

/* From the first that begins to the last that ends. */
static double seconds_of(const struct psd_bench_members *members, unsigned time)
{
    uint64_t begin = UINT64_MAX, end = 0;

    for (unsigned i = 0; i < members->nodes; i++) {
        const struct psd_chorus_result *result = psd_bench_members_result(members, i);
        begin = result->begin_ns[time] < begin ? result->begin_ns[time] : begin;
        end = result->end_ns[time] > end ? result->end_ns[time] : end;
    }
    return (double)(end - begin) / 1e9;
}

static void sum_up(const struct psd_bench_members *members, struct psd_score *point)
{
    double times[PSD_SPREAD_MOST];

    for (unsigned i = 0; i < point->nodes; i++) {
        const struct psd_chorus_result *result = psd_bench_members_result(members, i);
        psd_busy_join(&point->busy, &result->busy);
    }
    for (unsigned i = 0; i < point->times; i++)
        times[i] = seconds_of(members, i);
    point->time = psd_spread_of(times, point->times);
}

/* --- a point ------------------------------------------------------------------------------------ */

/* As many as take about a second, at least a few. */
static unsigned times_of(const struct psd_bench *bench, const struct psd_score *point)
{
    double bound = psd_score_bound(point);

    if (bench->options->iterations)
        return (unsigned)bench->options->iterations;
    return bound > 0 ? (unsigned)fmin(200, fmax(3, ceil(1 / bound))) : 3;
}

static psd_status measure_point(struct psd_bench *bench, struct psd_score *point)
{
    struct stage stage = {.point = point,
                          .members = {.bench = bench,
                                      .nodes = point->nodes,
                                      .rate = point->bandwidth,
                                      .result_size = sizeof(struct psd_chorus_result),
                                      .run = sing,
                                      .arg = &stage}};

    point->times = times_of(bench, point);
    psd_status status = psd_bench_members_run(&stage.members);
    if (status == PSD_OK)
        sum_up(&stage.members, point);
    psd_bench_members_fini(&stage.members);
    psd_status freed = psd_links_shape(&bench->links, 0);
    if (status == PSD_OK)
        status = freed;
    if (status == PSD_OK) {
        psd_score_row(bench->cli->out, point);
        psd_score_csv_row(bench->csv, point);
        bench->has_rows = true;
        fflush(bench->cli->out);
    }
    return status;
}

/* --- all ---------------------------------------------------------------------------------------- */

/* What is added up: a net's parameters, or single ones of the sizes given. */
struct show {
    struct psd_bench *bench;
    struct psd_workload *workload; /* owned; NULL: sizes */
    size_t *counts;                /* owned; values of each parameter, or of each size */
    size_t n_counts;
};

/* All sizes, or the whole net. */
static psd_status show_sizes(struct show *show, struct psd_score point)
{
    if (show->workload) {
        point.name = show->workload->name;
        point.n_params = show->n_counts;
        point.bytes = (double)show->workload->values * sizeof(float);
        return measure_point(show->bench, &point);
    }
    for (size_t i = 0; i < show->n_counts; i++) {
        struct psd_score each = point;
        each.counts = &show->counts[i];
        each.n_params = 1;
        each.bytes = (double)show->counts[i] * sizeof(float);
        PSD_TRY(measure_point(show->bench, &each));
    }
    return PSD_OK;
}

static psd_status show_all(void *arg)
{
    struct show *show = arg;
    struct psd_bench *bench = show->bench;
    const struct psd_sweep_axes *axes = &bench->axes;

    psd_score_head(bench->cli->out);
    psd_score_csv_head(bench->csv);
    for (size_t i = 0; i < axes->n_bandwidths; i++) {
        struct psd_score point = {
            .bandwidth = axes->bandwidths[i], .name = "", .counts = show->counts};
        PSD_TRY(psd_bench_goodput(bench, point.bandwidth, 2, &point.goodput));
        for (size_t k = 0; k < axes->n_nodes; k++) {
            point.nodes = axes->nodes[k];
            PSD_TRY(show_sizes(show, point));
        }
    }
    return PSD_OK;
}

/* One of the sizes, on its way from text. */
struct size {
    size_t bytes;
};

static psd_status read_sizes(struct show *show)
{
    static const struct psd_value value = PSD_SIZE(struct size, bytes);
    struct psd_bench *bench = show->bench;
    struct size size;

    for (char **text = bench->options->bytes; *text; text++) {
        if (psd_value_parse(&value, *text, &size) != PSD_OK)
            return psd_cli_misuse(bench->cli, "--bytes: %s", psd_error());
        if (size.bytes == 0 || size.bytes % sizeof(float))
            return psd_cli_misuse(bench->cli, "--bytes: %s is not a number of whole floats", *text);
        size_t *counts = psd_alloc_grow(show->counts, show->n_counts, sizeof *counts);
        if (!counts)
            return PSD_ENOMEM;
        show->counts = counts;
        counts[show->n_counts++] = size.bytes / sizeof(float);
    }
    return PSD_OK;
}

static psd_status read_model(struct show *show)
{
    struct psd_comm_update update;

    PSD_TRY(psd_model_read(show->bench->cli, &show->bench->options->model, NULL, &show->workload,
                           &update));
    show->n_counts = show->workload->n_params;
    show->counts = psd_alloc_zero(show->n_counts, sizeof *show->counts);
    if (!show->counts)
        return PSD_ENOMEM;
    for (size_t i = 0; i < show->n_counts; i++)
        show->counts[i] = show->workload->params[i].rows * show->workload->params[i].cols;
    return PSD_OK;
}

psd_status psd_bench_sync(struct psd_bench *bench)
{
    struct show show = {.bench = bench};
    psd_status status = bench->options->bytes ? read_sizes(&show) : read_model(&show);

    if (status == PSD_OK)
        status = psd_bench_measure(bench, show_all, &show);
    psd_alloc_free(show.counts);
    psd_workload_destroy(show.workload);
    return status;
}
