/* bench_cluster.c - "poseidon bench cluster": training on real sockets, with compute that is slept.
 *
 *     bandwidths x nodes x schemes --> goodput, plan, bound --> members (emulation.h) --> a row
 *                                                          '-> the same cluster simulated --^ */
#include "base/alloc.h"
#include "base/thread.h"
#include "cli/bench_cell.h"
#include "cli/emulation.h"

#include <string.h>

enum { ITERATIONS = 5, DILATE_MOST = 16, DILATE_AUTO = 0 };

struct show {
    struct psd_bench *bench;
    struct psd_bench_cell what; /* its workload and gradients are owned */
    unsigned dilate;            /* DILATE_AUTO, or by how much */
};

/* Dilated as it is asked for, or as much as it needs. */
static psd_status find_dilation(struct show *show, struct psd_cell *cell)
{
    if (show->dilate != DILATE_AUTO) {
        cell->dilate = show->dilate;
        return psd_bench_cell_measure(show->bench, &show->what, cell);
    }
    for (cell->dilate = 1;; cell->dilate *= 2) {
        PSD_TRY(psd_bench_cell_measure(show->bench, &show->what, cell));
        cell->too_busy = psd_busy_is_limit(&cell->busy, psd_thread_processors());
        if (!cell->too_busy || cell->dilate == DILATE_MOST)
            return PSD_OK;
    }
}

static psd_status show_cell(struct show *show, struct psd_cell *cell)
{
    struct psd_bench *bench = show->bench;
    char line[200];

    snprintf(line, sizeof line, "measuring %u nodes, %.4g Gbit/s, %s", cell->nodes,
             cell->bandwidth * 8 / 1e9, psd_scheme_names[cell->scheme]);
    if (psd_screen_wants_status(bench->cli->screen))
        psd_screen_status(bench->cli->screen, line);
    PSD_TRY(find_dilation(show, cell));
    psd_screen_clear(bench->cli->screen);
    psd_cell_table_row(bench->cli->out, cell);
    fflush(bench->cli->out);
    psd_cell_csv_row(bench->csv, show->what.workload->name, show->what.workload->batch, cell);
    bench->has_rows = true;
    return PSD_OK;
}

static void say_workload(const struct show *show)
{
    const struct psd_workload *workload = show->what.workload;
    double seconds = 0;

    for (size_t i = 0; i < workload->n_layers; i++)
        seconds += workload->layers[i].forward_s + workload->layers[i].backward_s;
    fprintf(show->bench->cli->out,
            "%s: %zu parameters, %.3f M values, batch %zu; a node alone computes %.1f ms; "
            "rebuilding and updating %s\n",
            workload->name, workload->n_params, (double)workload->values / 1e6, workload->batch,
            seconds * 1e3,
            show->bench->options->arithmetic == PSD_BENCH_REAL
                ? "are done"
                : "are slept, so values are not what they would be");
}

static psd_status show_all(void *arg)
{
    struct show *show = arg;
    struct psd_sweep sweep = {.workload = show->what.workload};

    PSD_TRY(psd_sweep_init(&sweep, &show->bench->axes));
    say_workload(show);
    psd_cell_table_head(show->bench->cli->out);
    psd_cell_csv_head(show->bench->csv);
    psd_status status = PSD_OK;
    for (size_t i = 0; i < sweep.count && status == PSD_OK; i++) {
        const struct psd_sweep_point *point = &sweep.points[i];
        status = show_cell(show, &(struct psd_cell){.bandwidth = point->bandwidth,
                                                    .nodes = point->nodes,
                                                    .scheme = point->scheme});
    }
    psd_sweep_fini(&sweep);
    return status;
}

/* --- what is trained ----------------------------------------------------------------------------- */

static psd_status read_workload(struct psd_bench *bench, struct psd_workload **out)
{
    const struct psd_bench_options *options = bench->options;
    struct psd_comm_update update;

    if (!options->compute_ns)
        return psd_model_read(bench->cli, &options->model, NULL, out, &update);
    return psd_model_read_timed(bench->cli, &options->model, (double)options->compute_ns / 1e9,
                                out);
}

/* How much slower, on its way from text. */
struct dilation {
    int64_t times;
};

static psd_status read_dilation(struct psd_bench *bench, unsigned *out)
{
    static const struct psd_value value = PSD_INT(struct dilation, times, 1, 1000);
    const char *text = bench->options->dilate;
    struct dilation dilation;

    *out = DILATE_AUTO;
    if (strcmp(text, "auto") == 0)
        return PSD_OK;
    if (psd_value_parse(&value, text, &dilation) != PSD_OK)
        return psd_cli_misuse(bench->cli, "--dilate: %s, and it is not \"auto\"", psd_error());
    *out = (unsigned)dilation.times;
    return PSD_OK;
}

static psd_status make_gradients(struct show *show)
{
    size_t count = psd_emulation_floats(show->what.workload);

    show->what.gradients = psd_alloc(count * sizeof *show->what.gradients);
    if (!show->what.gradients)
        return PSD_ENOMEM;
    for (size_t i = 0; i < count; i++)
        show->what.gradients[i] = (float)(uint32_t)(i * 2654435761U) * 0x1p-40f;
    return PSD_OK;
}

psd_status psd_bench_cluster(struct psd_bench *bench)
{
    struct show show = {.bench = bench, .what.iterations = ITERATIONS};

    if (bench->options->iterations)
        show.what.iterations = (unsigned)bench->options->iterations;
    PSD_TRY(read_dilation(bench, &show.dilate));
    PSD_TRY(read_workload(bench, &show.what.workload));
    psd_status status = make_gradients(&show);
    if (status == PSD_OK)
        status = psd_bench_measure(bench, show_all, &show);
    psd_alloc_free(show.what.gradients);
    psd_workload_destroy(show.what.workload);
    return status;
}
