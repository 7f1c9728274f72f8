/* timeline.c - every rank's program, step by step: forward as far as values are fresh, then backward. */
#include "comm/timeline.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"

#include <math.h>

/* One rank's place in its program. */
struct runner {
    struct timeline *timeline; /* borrowed */
    unsigned rank;
    unsigned *workers; /* borrowed from the timeline; this rank's */
    unsigned n_workers;
    uint64_t iteration;
    bool backward;
    size_t layer;           /* the next to compute */
    bool computing;         /* the device is at it */
    bool *fresh;            /* owned; [params] */
    size_t unfresh;         /* how many are not */
    struct psd_timer timer; /* wakes it when a value that it waits for has come */
    double busy_s;          /* of the device, when measuring began; */
    double extra_s;         /* and of that beyond one machine's work */
};

struct timeline {
    const struct psd_timeline_options *options; /* borrowed */
    struct psd_cluster *cluster;                /* owned */
    struct runner *runners;                     /* owned; [ranks] */
    unsigned *workers;                          /* owned; [workers], by the rank that hosts them */
    unsigned last;                              /* the iteration after the measured ones */
    unsigned arrived;                           /* ranks that have begun it */
    uint64_t begin_ns, end_ns;                  /* of what is measured, on rank 0 */
    psd_status status;                          /* the first failure */
    struct psd_sim_traffic *traffic;            /* owned; [ranks]: when measuring began */
};

static void go_on(struct runner *runner);

static void note(struct timeline *timeline, psd_status status)
{
    if (timeline->status == PSD_OK)
        timeline->status = status;
}

static const struct psd_workload_layer *layer_of(const struct runner *runner)
{
    return &runner->timeline->options->workload->layers[runner->layer];
}

/* Every hosted worker's sync of one parameter. */
static psd_status sync_param(struct runner *runner, size_t param)
{
    const struct psd_job *job = runner->timeline->options->job;
    struct psd_node *node = psd_cluster_node(runner->timeline->cluster, runner->rank);

    for (unsigned i = 0; i < runner->n_workers; i++) {
        unsigned w = runner->workers[i];
        if (psd_job_is_factored(job, param))
            PSD_TRY(psd_node_sync_factors(node, param, w, job->batch[w]));
        else
            PSD_TRY(psd_node_sync(node, param, w, NULL));
    }
    return PSD_OK;
}

static psd_status sync_layer(struct runner *runner, const struct psd_workload_layer *layer)
{
    const struct psd_job *job = runner->timeline->options->job;

    for (size_t i = layer->first_param; i < layer->first_param + layer->params; i++) {
        runner->unfresh += runner->fresh[i];
        runner->fresh[i] = false;
    }
    for (size_t i = layer->first_param; i < layer->first_param + layer->params; i++) {
        if (!psd_job_follows(job, i))
            PSD_TRY(sync_param(runner, i));
    }
    return PSD_OK;
}

static psd_status sync_all(struct runner *runner)
{
    const struct psd_workload *workload = runner->timeline->options->workload;

    for (size_t i = workload->n_layers; i > 0; i--)
        PSD_TRY(sync_layer(runner, &workload->layers[i - 1]));
    return PSD_OK;
}

static void computed(void *arg)
{
    struct runner *runner = arg;
    const struct psd_timeline_options *options = runner->timeline->options;

    runner->computing = false;
    if (!runner->backward) {
        runner->backward = runner->layer + 1 == options->workload->n_layers;
        runner->layer += !runner->backward;
    } else {
        if (!options->no_overlap)
            note(runner->timeline, sync_layer(runner, layer_of(runner)));
        else if (runner->layer == 0)
            note(runner->timeline, sync_all(runner));
        if (runner->layer == 0)
            runner->iteration++;
        runner->backward = runner->layer > 0;
        runner->layer -= runner->layer > 0;
    }
    go_on(runner);
}

/* Whether forward may compute its next layer; if not, it waits for what is missing. */
static bool may_forward(struct runner *runner)
{
    const struct psd_workload_layer *layer = layer_of(runner);
    struct psd_node *node = psd_cluster_node(runner->timeline->cluster, runner->rank);

    if (runner->timeline->options->no_overlap && runner->unfresh) {
        psd_node_waits(node, PSD_NODE_ALL);
        return false;
    }
    for (size_t i = layer->first_param; i < layer->first_param + layer->params; i++) {
        if (!runner->fresh[i]) {
            psd_node_waits(node, i);
            return false;
        }
    }
    return true;
}

static void begin_measuring(struct runner *runner)
{
    struct timeline *timeline = runner->timeline;

    runner->busy_s = psd_cluster_busy(timeline->cluster, runner->rank);
    runner->extra_s = psd_cluster_extra(timeline->cluster, runner->rank);
    timeline->traffic[runner->rank] = psd_cluster_traffic(timeline->cluster, runner->rank);
    if (runner->rank == 0)
        timeline->begin_ns = psd_sim_now(psd_cluster_sim(timeline->cluster));
}

/* The first layer's forward is next: a new iteration. False: it was the last. */
static bool begin_iteration(struct runner *runner)
{
    struct timeline *timeline = runner->timeline;
    struct psd_node *node = psd_cluster_node(timeline->cluster, runner->rank);

    if (runner->iteration == 1)
        begin_measuring(runner);
    if (runner->iteration == timeline->last) {
        if (runner->rank == 0)
            timeline->end_ns = psd_sim_now(psd_cluster_sim(timeline->cluster));
        timeline->arrived++;
        runner->computing = true; /* nothing more is computed */
        return false;
    }
    note(timeline, psd_node_begin(node, runner->iteration, 0.01f));
    return true;
}

static void go_on(struct runner *runner)
{
    struct timeline *timeline = runner->timeline;
    const struct psd_workload_layer *layer = layer_of(runner);
    double workers = runner->n_workers;

    if (timeline->status != PSD_OK || runner->computing)
        return;
    if (!runner->backward && !may_forward(runner))
        return;
    if (!runner->backward && runner->layer == 0 && !begin_iteration(runner))
        return;
    runner->computing = true;
    note(timeline,
         psd_cluster_compute(timeline->cluster, runner->rank,
                             workers * (runner->backward ? layer->backward_s : layer->forward_s),
                             computed, runner));
}

static void wake(void *arg)
{
    go_on(arg);
}

static void fresh(void *user, unsigned rank, size_t param)
{
    struct timeline *timeline = user;
    struct runner *runner = &timeline->runners[rank];

    runner->fresh[param] = true;
    runner->unfresh--;
    if (!runner->computing && !runner->backward && !runner->timer.place)
        note(timeline,
             psd_sim_at(psd_cluster_sim(timeline->cluster), 0, wake, runner, &runner->timer));
}

static void ended(void *user, unsigned rank, psd_status status, const char *sentence)
{
    note(user, psd_fail(status, "simulated rank %u: %s", rank, sentence));
}

/* Tells each runner its workers. */
static psd_status share_workers(struct timeline *timeline)
{
    const struct psd_job *job = timeline->options->job;
    unsigned *next = timeline->workers = psd_alloc_zero(job->workers, sizeof *next);

    if (!next)
        return PSD_ENOMEM;
    for (unsigned w = 0; w < job->workers; w++)
        timeline->runners[job->host[w]].n_workers++;
    for (unsigned i = 0; i < job->ranks; i++) {
        timeline->runners[i].workers = next;
        next += timeline->runners[i].n_workers;
        timeline->runners[i].n_workers = 0;
    }
    for (unsigned w = 0; w < job->workers; w++) {
        struct runner *runner = &timeline->runners[job->host[w]];
        runner->workers[runner->n_workers++] = w;
    }
    return PSD_OK;
}

static psd_status prepare(struct timeline *timeline)
{
    const struct psd_timeline_options *options = timeline->options;
    unsigned ranks = options->job->ranks;
    struct psd_cluster_options cluster = {
        .job = options->job,
        .workload = options->workload,
        .network = {.seed = options->seed,
                    .bandwidth = options->bandwidth,
                    .latency_ns = (uint64_t)(options->latency * (double)PSD_CLOCK_S),
                    .delay_ns = {0, (uint64_t)(options->delay * (double)PSD_CLOCK_S)},
                    .overhead = PSD_MESSAGE_SIZE},
        .most = options->most,
        .credit = options->credit,
        .sizes_only = true,
        .fresh = fresh,
        .ended = ended,
        .user = timeline,
    };

    timeline->runners = psd_alloc_zero(ranks, sizeof *timeline->runners);
    timeline->traffic = psd_alloc_zero(ranks, sizeof *timeline->traffic);
    if (!timeline->runners || !timeline->traffic)
        return PSD_ENOMEM;
    for (unsigned i = 0; i < ranks; i++) {
        struct runner *runner = &timeline->runners[i];
        *runner = (struct runner){.timeline = timeline, .rank = i};
        runner->fresh = psd_alloc_zero(options->job->n_params, sizeof *runner->fresh);
        runner->unfresh = options->job->n_params;
        if (!runner->fresh)
            return PSD_ENOMEM;
    }
    PSD_TRY(share_workers(timeline));
    return psd_cluster_create(&cluster, &timeline->cluster);
}

static psd_status run(struct timeline *timeline)
{
    unsigned ranks = timeline->options->job->ranks;

    for (unsigned i = 0; i < ranks; i++)
        PSD_TRY(psd_node_start(psd_cluster_node(timeline->cluster, i), true));
    while (timeline->arrived < ranks) {
        bool stands = !psd_cluster_step(timeline->cluster);
        PSD_TRY(timeline->status);
        PSD_TRY(psd_cluster_status(timeline->cluster));
        if (stands)
            return psd_fail(PSD_EPEER, "the simulated job does not go on");
    }
    return PSD_OK;
}

static void measure(const struct timeline *timeline, struct psd_timeline_result *out)
{
    const struct psd_job *job = timeline->options->job;
    double iterations = timeline->last - 1, busy = 0, extra = 0;
    double elapsed = (double)(timeline->end_ns - timeline->begin_ns) / (double)PSD_CLOCK_S;

    *out = (struct psd_timeline_result){.iteration_s = elapsed / iterations};
    for (unsigned i = 0; i < job->ranks; i++) {
        struct psd_sim_traffic now = psd_cluster_traffic(timeline->cluster, i);
        double bytes = (double)(now.sent_bytes - timeline->traffic[i].sent_bytes +
                                now.received_bytes - timeline->traffic[i].received_bytes);
        busy += psd_cluster_busy(timeline->cluster, i) - timeline->runners[i].busy_s;
        extra += psd_cluster_extra(timeline->cluster, i) - timeline->runners[i].extra_s;
        out->bytes_mean += bytes / iterations / job->ranks;
        out->bytes_most =
            out->bytes_most > bytes / iterations ? out->bytes_most : bytes / iterations;
        out->messages += now.sent_frames - timeline->traffic[i].sent_frames;
    }
    out->messages = (uint64_t)((double)out->messages / iterations);
    out->stall = elapsed > 0 ? fmax(0, 1 - busy / elapsed / job->ranks) : 0; /* by rounding */
    out->extra = elapsed > 0 ? extra / elapsed / job->ranks : 0;
}

static double compute_seconds(const struct psd_timeline_options *options)
{
    double seconds = 0;

    for (size_t i = 0; i < options->workload->n_layers; i++)
        seconds += options->workload->layers[i].forward_s + options->workload->layers[i].backward_s;
    return seconds * psd_job_hosted(options->job, 0);
}

psd_status psd_timeline_run(const struct psd_timeline_options *options,
                            struct psd_timeline_result *out)
{
    struct timeline timeline = {.options = options,
                                .last = (options->iterations ? options->iterations : 3) + 1};
    psd_status status = prepare(&timeline);

    if (status == PSD_OK)
        status = run(&timeline);
    if (status == PSD_OK) {
        measure(&timeline, out);
        out->compute_s = compute_seconds(options);
    }
    psd_cluster_destroy(timeline.cluster);
    for (unsigned i = 0; timeline.runners && i < options->job->ranks; i++)
        psd_alloc_free(timeline.runners[i].fresh);
    psd_alloc_free(timeline.runners);
    psd_alloc_free(timeline.workers);
    psd_alloc_free(timeline.traffic);
    return status;
}
