/* bench_cell.c - members train at one bandwidth, and the same cluster is simulated.
 *
 *     goodput --> plan, bound --> members (emulation.h) --> times, bytes, processors
 *                            '--> comm/timeline.h -------> the simulated time */
#include "cli/bench_cell.h"
#include "cli/emulation.h"
#include "comm/timeline.h"

/* What the members of one cell need, and what they find. */
struct stage {
    struct psd_bench *bench;
    const struct psd_cell *cell;
    struct psd_workload *workload; /* not dilated; a member has a copy, as of all memory */
    const struct psd_job *job;
    struct psd_plan_network network; /* not dilated */
    float *gradients;
    unsigned iterations;
    char coordinator[64];
    struct board *board; /* seen by all */
};

struct board {
    struct psd_bench_gate gate;
    struct psd_emulation_result results[]; /* [nodes] */
};

/* --- a member ----------------------------------------------------------------------------------- */

static void dilate(struct psd_workload *workload, double times)
{
    for (size_t i = 0; i < workload->n_layers; i++) {
        workload->layers[i].forward_s *= times;
        workload->layers[i].backward_s *= times;
    }
    workload->rebuild_flops /= times;
    workload->update_bytes_per_s /= times;
}

static psd_status ready(void *context)
{
    return psd_bench_gate_wait(context);
}

static psd_status train(void *arg, unsigned rank)
{
    struct stage *stage = arg;
    const struct psd_cell *cell = stage->cell;
    struct psd_emulation emulation = {
        .workload = stage->workload,
        .job = stage->job,
        .gradients = stage->gradients,
        .iterations = stage->iterations,
        .no_overlap = !psd_scheme_overlaps(cell->scheme),
        .real = stage->bench->options->arithmetic == PSD_BENCH_REAL,
        .ready = ready,
        .context = &stage->board->gate,
    };

    dilate(stage->workload, cell->dilate);
    PSD_TRY(psd_bench_seat(stage->bench, stage->coordinator, rank, cell->nodes, &emulation.seat));
    emulation.seat.batch = stage->workload->batch;
    emulation.seat.update.momentum = 0.9f;
    emulation.seat.bandwidth = cell->goodput.bytes_per_s;
    emulation.seat.latency = cell->goodput.latency;
    return psd_emulation_run(&emulation, &stage->board->results[rank]);
}

/* --- a cell ------------------------------------------------------------------------------------- */

static psd_status watch(void *arg)
{
    struct stage *stage = arg;

    return psd_bench_gate_watch(&stage->board->gate);
}

static psd_status check_values(const struct stage *stage)
{
    const struct psd_emulation_result *results = stage->board->results;

    for (unsigned i = 1; i < stage->cell->nodes; i++) {
        if (results[i].digest != results[0].digest)
            return psd_fail(PSD_EPEER, "member %u ends with other values than member 0", i);
    }
    return PSD_OK;
}

static void sum_up(const struct stage *stage, struct psd_cell *cell)
{
    struct psd_emulation_result *results = stage->board->results;

    cell->busy = (struct psd_busy){.machine_s = results[0].busy.machine_s};
    cell->elapsed_s = results[0].elapsed_s;
    cell->all_sent = 0;
    for (unsigned i = 0; i < cell->nodes; i++) {
        cell->busy.own_s += results[i].busy.own_s;
        cell->all_sent += results[i].sent;
    }
    cell->sent = cell->all_sent / cell->nodes / stage->iterations;
    for (unsigned i = 0; i < stage->iterations; i++)
        results[0].times[i] /= cell->dilate;
    cell->iteration = psd_spread_of(results[0].times, stage->iterations);
}

static psd_status run_members(struct stage *stage, struct psd_cell *cell)
{
    size_t size = sizeof *stage->board + cell->nodes * sizeof *stage->board->results;

    PSD_TRY(
        psd_links_coordinator(&stage->bench->links, stage->coordinator, sizeof stage->coordinator));
    stage->board = psd_common_map(size);
    if (!stage->board)
        return PSD_ENOMEM;
    stage->board->gate = (struct psd_bench_gate){.links = &stage->bench->links,
                                                 .rate = cell->bandwidth / cell->dilate,
                                                 .count = cell->nodes};
    psd_status status = psd_members_run(&(struct psd_members_options){
        .count = cell->nodes,
        .enter = psd_links_enter,
        .place = &stage->bench->links,
        .run = train,
        .watch = watch,
        .arg = stage,
    });
    if (status == PSD_OK)
        status = check_values(stage);
    if (status == PSD_OK)
        sum_up(stage, cell);
    psd_common_unmap(stage->board, size);
    return status;
}

static psd_status simulate(const struct stage *stage, struct psd_cell *cell)
{
    struct psd_timeline_result result;

    PSD_TRY(psd_timeline_run(
        &(struct psd_timeline_options){.job = stage->job,
                                       .workload = stage->workload,
                                       .bandwidth = stage->network.bandwidth,
                                       .latency = stage->network.latency,
                                       .no_overlap = !psd_scheme_overlaps(cell->scheme),
                                       .seed = 1},
        &result));
    cell->simulated_s = result.iteration_s;
    return PSD_OK;
}

/* What is really computed takes what it takes, and not what the workload says. */
static psd_status find_bound(const struct stage *stage, struct psd_job *job, struct psd_bound *out)
{
    struct psd_workload workload = *stage->workload;

    if (stage->bench->options->arithmetic == PSD_BENCH_REAL)
        workload.rebuild_flops = workload.update_bytes_per_s = workload.sum_bytes_per_s = 0;
    return psd_bound_find(job, &workload, &stage->network, out);
}

psd_status psd_bench_cell_measure(struct psd_bench *bench, const struct psd_bench_cell *what,
                                  struct psd_cell *cell)
{
    struct psd_job *job = NULL;

    PSD_TRY(psd_bench_goodput(bench, cell->bandwidth / cell->dilate, cell->nodes, &cell->goodput));
    struct psd_plan_network network = {cell->goodput.bytes_per_s * cell->dilate,
                                       cell->goodput.latency / cell->dilate};
    PSD_TRY(psd_scheme_job(cell->scheme, what->workload, cell->nodes, &network, &job));
    struct stage stage = {.bench = bench,
                          .cell = cell,
                          .workload = what->workload,
                          .job = job,
                          .network = network,
                          .gradients = what->gradients,
                          .iterations = what->iterations};
    psd_status status = find_bound(&stage, job, &cell->bound);
    if (status == PSD_OK)
        status = run_members(&stage, cell);
    psd_status freed = psd_links_shape(&bench->links, 0);
    if (status == PSD_OK)
        status = freed;
    if (status == PSD_OK)
        status = simulate(&stage, cell);
    psd_job_destroy(job);
    return status;
}
