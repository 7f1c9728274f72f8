/* bench_cell.c - members train at one bandwidth, and the same cluster is simulated.
 *
 *     goodput --> plan, bound --> members (emulation.h) --> times, bytes, processors
 *                            '--> comm/timeline.h -------> the simulated time */
#include "cli/bench_cell.h"
#include "cli/bench_members.h"
#include "cli/emulation.h"
#include "comm/timeline.h"

/* What the members of one cell need. */
struct stage {
    const struct psd_cell *cell;
    struct psd_workload *workload; /* not dilated; a member has a copy, as of all memory */
    const struct psd_job *job;
    float *gradients;
    unsigned iterations;
    bool is_real;                     /* arithmetic is done */
    struct psd_bench_members members; /* find a struct psd_emulation_result each */
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
        .real = stage->is_real,
        .ready = psd_bench_members_ready,
        .context = &stage->members,
    };

    dilate(stage->workload, cell->dilate);
    PSD_TRY(psd_bench_members_seat(&stage->members, rank, &emulation.seat));
    emulation.seat.batch = stage->workload->batch;
    emulation.seat.update.momentum = 0.9f;
    emulation.seat.bandwidth = cell->goodput.bytes_per_s;
    emulation.seat.latency = cell->goodput.latency;
    return psd_emulation_run(&emulation, psd_bench_members_result(&stage->members, rank));
}

/* --- a cell ------------------------------------------------------------------------------------- */

static psd_status check_values(const struct psd_bench_members *members)
{
    const struct psd_emulation_result *first = psd_bench_members_result(members, 0);

    for (unsigned i = 1; i < members->nodes; i++) {
        const struct psd_emulation_result *other = psd_bench_members_result(members, i);
        if (other->digest != first->digest)
            return psd_fail(PSD_EPEER, "member %u ends with other values than member 0", i);
    }
    return PSD_OK;
}

static void sum_up(const struct stage *stage, struct psd_cell *cell)
{
    struct psd_emulation_result *first = psd_bench_members_result(&stage->members, 0);

    cell->busy = (struct psd_busy){0}; /* not that of a smaller dilation */
    cell->all_sent = 0;
    for (unsigned i = 0; i < cell->nodes; i++) {
        const struct psd_emulation_result *result = psd_bench_members_result(&stage->members, i);
        psd_busy_join(&cell->busy, &result->busy);
        cell->all_sent += result->sent;
    }
    cell->sent = cell->all_sent / cell->nodes / stage->iterations;
    for (unsigned i = 0; i < stage->iterations; i++)
        first->times[i] /= cell->dilate;
    cell->iteration = psd_spread_of(first->times, stage->iterations);
}

static psd_status run_members(struct stage *stage, struct psd_cell *cell)
{
    psd_status status = psd_bench_members_run(&stage->members);

    if (status == PSD_OK)
        status = check_values(&stage->members);
    if (status == PSD_OK)
        sum_up(stage, cell);
    psd_bench_members_fini(&stage->members);
    return status;
}

/* The bound and the simulated time: of what the workload says, but for what is really computed, which takes
 * what it takes. */
static psd_status predict(const struct stage *stage, const struct psd_plan_network *network,
                          struct psd_job *job, struct psd_cell *cell)
{
    struct psd_workload workload = *stage->workload;
    struct psd_timeline_result result;

    if (stage->is_real)
        workload.rebuild_flops = workload.update_bytes_per_s = workload.sum_bytes_per_s = 0;
    PSD_TRY(psd_bound_find(job, &workload, network, &cell->bound));
    PSD_TRY(psd_timeline_run(
        &(struct psd_timeline_options){.job = job,
                                       .workload = &workload,
                                       .bandwidth = network->bandwidth,
                                       .latency = network->latency,
                                       .no_overlap = !psd_scheme_overlaps(cell->scheme),
                                       .seed = 1},
        &result));
    cell->simulated_s = result.iteration_s;
    return PSD_OK;
}

psd_status psd_bench_cell_measure(struct psd_bench *bench, const struct psd_bench_cell *what,
                                  struct psd_cell *cell)
{
    double rate = cell->bandwidth / cell->dilate;
    struct psd_job *job = NULL;

    PSD_TRY(psd_bench_goodput(bench, rate, cell->nodes, &cell->goodput));
    struct psd_plan_network network = {cell->goodput.bytes_per_s * cell->dilate,
                                       cell->goodput.latency / cell->dilate};
    PSD_TRY(psd_scheme_job(cell->scheme, what->workload, cell->nodes, &network, &job));
    struct stage stage = {.cell = cell,
                          .workload = what->workload,
                          .job = job,
                          .gradients = what->gradients,
                          .iterations = what->iterations,
                          .is_real = bench->options->arithmetic == PSD_BENCH_REAL,
                          .members = {.bench = bench,
                                      .nodes = cell->nodes,
                                      .rate = rate,
                                      .result_size = sizeof(struct psd_emulation_result),
                                      .run = train,
                                      .arg = &stage}};
    psd_status status = predict(&stage, &network, job, cell);
    if (status == PSD_OK)
        status = run_members(&stage, cell);
    psd_status freed = psd_links_shape(&bench->links, 0);
    psd_job_destroy(job);
    return status == PSD_OK ? freed : status;
}
