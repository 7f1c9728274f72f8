/* cluster.c - drives nodes by a virtual clock.
 *
 *     send   --> mesh on net/sim --> place, arrived at the other node
 *     work   --> host or device of the rank, one at a time, in the order of ordering --> done
 *
 * A payload that is added as it arrives occupies the host for the time of the addition; the node
 * hears of it when that is over. */
#include "comm/cluster.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/status.h"
#include "comm/mesh.h"

#include <stdio.h>
#include <string.h>

enum { ADDRESS = 16 }; /* bytes of a member's */

/* Something that takes time on a processor: a work, an addition on arrival, or a layer. */
struct task {
    struct psd_timer timer;
    struct member *member;      /* borrowed */
    struct psd_work *work;      /* borrowed; */
    struct psd_message message; /* or what has arrived, when its kind is set; */
    void (*fn)(void *arg);      /* or this */
    void *arg;
    struct task *next;   /* that is idle, or of the device's layers the one after it */
    struct task *before; /* the one made before it */
};

/* A processor does one thing at a time. */
struct processor {
    uint64_t free_ns; /* when it has done all that it was given */
    uint64_t busy_ns; /* in all */
};

struct member {
    struct psd_cluster *cluster; /* borrowed */
    unsigned rank;
    size_t samples; /* that its workers compute with */
    bool dead;
    bool adds;             /* the payload that arrives is added */
    struct psd_node *node; /* owned */
    struct psd_mesh *mesh; /* owned */
    struct processor host, device;
    struct task *layers; /* borrowed; that the device computes, the first first */
    double *flops,
        *bytes;        /* owned; [params]: what one machine alone does in an iteration, left over */
    uint64_t extra_ns; /* device time that works took */
};

struct psd_cluster {
    struct psd_cluster_options options;
    struct psd_sim *sim;       /* owned */
    struct psd_layout *layout; /* owned */
    struct psd_merge *merge;   /* owned */
    struct member *members;    /* owned; [ranks] */
    struct task *made;         /* owned; all tasks, the last first */
    struct task *idle;         /* borrowed from them; to take from */
    psd_status status;         /* what has failed in an event */
    size_t joined;             /* pairs, counted from both ends */
};

static struct task *take_task(struct member *member)
{
    struct psd_cluster *cluster = member->cluster;
    struct task *task = cluster->idle, *before = cluster->made;

    if (task) {
        cluster->idle = task->next;
        before = task->before;
    } else {
        task = psd_alloc(sizeof *task);
        cluster->made = task ? task : before;
    }
    if (task)
        *task = (struct task){.member = member, .before = before};
    else
        cluster->status = PSD_ENOMEM;
    return task;
}

static void finish(void *arg)
{
    struct task *task = arg, done = *task;
    struct member *member = task->member;

    if (task == member->layers)
        member->layers = task->next;
    task->next = member->cluster->idle;
    member->cluster->idle = task;
    if (member->dead)
        return;
    if (done.work) {
        if (done.work->run)
            done.work->run(done.work);
        psd_node_done(member->node, done.work);
    } else if (done.fn) {
        done.fn(done.arg);
    } else {
        psd_node_arrived(member->node, &done.message);
    }
}

static void end_at(struct task *task, uint64_t when_ns)
{
    struct psd_cluster *cluster = task->member->cluster;

    if (psd_sim_at(cluster->sim, when_ns, finish, task, &task->timer) != PSD_OK)
        cluster->status = PSD_ENOMEM;
}

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)(seconds * (double)PSD_CLOCK_S);
}

/* Lets the task end when the processor has worked `seconds` for it. */
static void run_on(struct processor *processor, double seconds, struct task *task)
{
    uint64_t now = psd_sim_now(task->member->cluster->sim), ns = nanoseconds(seconds);

    if (processor->free_ns < now)
        processor->free_ns = now;
    processor->free_ns += ns;
    processor->busy_ns += ns;
    end_at(task, processor->free_ns);
}

/* A work has the device before the layers, which end later by as much. */
static void run_before_layers(struct member *member, double seconds, struct task *task)
{
    uint64_t ns = nanoseconds(seconds);

    run_on(&member->device, seconds, task);
    member->extra_ns += ns;
    for (struct task *layer = ns ? member->layers : NULL; layer; layer = layer->next)
        end_at(layer, layer->timer.when_ns + ns);
}

/* A layer has the device after the works and layers that are there. */
static void run_layer(struct member *member, double seconds, struct task *task)
{
    uint64_t now = psd_sim_now(member->cluster->sim), ns = nanoseconds(seconds);
    uint64_t begin = member->device.free_ns > now ? member->device.free_ns : now;
    struct task **last = &member->layers;

    for (; *last; last = &(*last)->next)
        begin = (*last)->timer.when_ns;
    *last = task;
    member->device.busy_ns += ns;
    end_at(task, begin + ns);
}

static double divided(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

static double sum_seconds(const struct psd_cluster *cluster, double bytes)
{
    const struct psd_workload *workload = cluster->options.workload;
    double values = bytes / sizeof(float);

    return workload ? divided(values * PSD_WORKLOAD_SUM_BYTES, workload->sum_bytes_per_s) : 0;
}

/* What exceeds the allowance, which it uses up. */
static double exceed(double *allowance, double amount)
{
    double used = amount < *allowance ? amount : *allowance;

    *allowance -= used;
    return amount - used;
}

static double device_seconds(struct member *member, const struct psd_work *work)
{
    const struct psd_workload *workload = member->cluster->options.workload;

    if (!workload)
        return 0;
    double flops = exceed(&member->flops[work->param], work->flops);
    double values = exceed(&member->bytes[work->param], work->bytes) / sizeof(float);
    return divided(flops, workload->rebuild_flops) +
           divided(values * PSD_WORKLOAD_UPDATE_BYTES, workload->update_bytes_per_s);
}

/* What a machine alone does for `param` in an iteration is part of its layer's time. */
static void allow(struct member *member, size_t param)
{
    const struct psd_job *job = member->cluster->options.job;
    double values = (double)psd_job_count(&job->params[param]);

    member->bytes[param] = values * sizeof(float);
    member->flops[param] = 2 * values * (double)member->samples;
}

static void order(void *context, struct psd_work *work)
{
    struct member *member = context;
    struct task *task = take_task(member);

    if (!task)
        return;
    task->work = work;
    if (work->kind == PSD_WORK_UPDATE || work->kind == PSD_WORK_REBUILD)
        run_before_layers(member, device_seconds(member, work), task);
    else
        run_on(&member->host, sum_seconds(member->cluster, work->bytes), task);
}

static void send(void *context, struct psd_send *out)
{
    struct member *member = context;

    psd_mesh_send(member->mesh, out->to, &out->frame);
}

static void fresh(void *context, size_t param)
{
    struct member *member = context;
    const struct psd_cluster_options *options = &member->cluster->options;

    allow(member, param);
    if (options->fresh)
        options->fresh(options->user, member->rank, param);
}

static void collected(void *context)
{
    struct member *member = context;
    const struct psd_cluster_options *options = &member->cluster->options;

    if (options->collected)
        options->collected(options->user, member->rank);
}

static void ended(void *context, psd_status status, const char *sentence)
{
    struct member *member = context;
    const struct psd_cluster_options *options = &member->cluster->options;

    if (options->ended)
        options->ended(options->user, member->rank, status, sentence);
}

static void warn(void *context, const char *sentence)
{
    struct member *member = context;
    const struct psd_cluster_options *options = &member->cluster->options;

    if (options->warn)
        options->warn(options->user, member->rank, sentence);
}

static const struct psd_node_driver driver = {.send = send,
                                              .work = order,
                                              .fresh = fresh,
                                              .collected = collected,
                                              .ended = ended,
                                              .warn = warn};

static void joined(void *user, unsigned from)
{
    struct member *member = user;

    (void)from;
    member->cluster->joined++;
}

static psd_status place(void *user, unsigned from, const struct psd_message *message,
                        struct psd_place *out)
{
    struct member *member = user;

    psd_node_place(member->node, from, message, out);
    member->adds = out->add;
    return PSD_OK;
}

static psd_status arrived(void *user, unsigned from, const struct psd_message *message)
{
    struct member *member = user;

    (void)from;
    if (!member->adds) {
        psd_node_arrived(member->node, message);
        return PSD_OK;
    }
    struct task *task = take_task(member);
    if (!task)
        return PSD_ENOMEM;
    task->message = *message;
    run_on(&member->host, sum_seconds(member->cluster, (double)message->length), task);
    return PSD_OK;
}

static void sent(void *user, struct psd_frame *frame)
{
    struct member *member = user;

    psd_node_sent(member->node, PSD_CONTAINER_OF(frame, struct psd_send, frame));
}

static void lost(void *user, unsigned from, const char *why)
{
    struct member *member = user;

    psd_node_lost(member->node, from, why);
}

static const struct psd_mesh_handler mesh_handler = {
    .joined = joined, .place = place, .arrived = arrived, .sent = sent, .lost = lost};

static void address_of(unsigned rank, char out[ADDRESS])
{
    snprintf(out, ADDRESS, "%u", rank);
}

static psd_status open_member(struct psd_cluster *cluster, unsigned rank)
{
    struct member *member = &cluster->members[rank];
    const struct psd_job *job = cluster->options.job;
    char address[ADDRESS];
    struct psd_node_options node = {.job = job,
                                    .layout = cluster->layout,
                                    .merge = cluster->merge,
                                    .rank = rank,
                                    .credit = cluster->options.credit,
                                    .sizes_only = cluster->options.sizes_only,
                                    .driver = &driver,
                                    .context = member};
    struct psd_mesh_options mesh = {.transport = &psd_transport_sim,
                                    .address = address,
                                    .world = cluster->sim,
                                    .rank = rank,
                                    .ranks = job->ranks,
                                    .handler = &mesh_handler,
                                    .user = member};

    address_of(rank, address);
    member->cluster = cluster;
    member->rank = rank;
    member->samples = psd_job_samples_of(job, rank);
    member->flops = psd_alloc_zero(job->n_params, sizeof *member->flops);
    member->bytes = psd_alloc_zero(job->n_params, sizeof *member->bytes);
    if (!member->flops || !member->bytes)
        return PSD_ENOMEM;
    PSD_TRY(psd_node_create(&node, &member->node));
    return psd_mesh_open(&mesh, &member->mesh);
}

/* Everybody connects to everybody below. */
static psd_status connect_all(struct psd_cluster *cluster)
{
    size_t ranks = cluster->options.job->ranks;
    char address[ADDRESS];

    for (unsigned to = 0; to < ranks; to++) {
        address_of(to, address);
        for (unsigned from = to + 1; from < ranks; from++)
            PSD_TRY(psd_mesh_connect(cluster->members[from].mesh, to, address));
    }
    while (cluster->joined < ranks * (ranks - 1)) {
        bool stands = !psd_cluster_step(cluster);
        PSD_TRY(psd_cluster_status(cluster));
        if (stands)
            return psd_fail(PSD_EPEER, "the simulated members do not find each other");
    }
    return PSD_OK;
}

static psd_status build(struct psd_cluster *cluster)
{
    const struct psd_cluster_options *options = &cluster->options;

    PSD_TRY(psd_layout_create(options->job, options->most, &cluster->layout));
    PSD_TRY(psd_merge_create(options->job, &cluster->merge));
    PSD_TRY(psd_sim_create(&options->network, &cluster->sim));
    cluster->members = psd_alloc_zero(options->job->ranks, sizeof *cluster->members);
    if (!cluster->members)
        return PSD_ENOMEM;
    for (unsigned rank = 0; rank < options->job->ranks; rank++)
        PSD_TRY(open_member(cluster, rank));
    return connect_all(cluster);
}

psd_status psd_cluster_create(const struct psd_cluster_options *options, struct psd_cluster **out)
{
    struct psd_cluster *cluster = psd_alloc_zero(1, sizeof *cluster);

    if (!cluster)
        return PSD_ENOMEM;
    cluster->options = *options;
    psd_status status = build(cluster);
    if (status == PSD_OK)
        *out = cluster;
    else
        psd_cluster_destroy(cluster);
    return status;
}

static void close_member(struct member *member)
{
    psd_mesh_close(member->mesh);
    psd_node_destroy(member->node);
    psd_alloc_free(member->flops);
    psd_alloc_free(member->bytes);
}

void psd_cluster_destroy(struct psd_cluster *cluster)
{
    if (!cluster)
        return;
    for (unsigned i = 0; cluster->members && i < cluster->options.job->ranks; i++)
        close_member(&cluster->members[i]);
    psd_sim_destroy(cluster->sim);
    psd_layout_destroy(cluster->layout);
    psd_merge_destroy(cluster->merge);
    psd_alloc_free(cluster->members);
    while (cluster->made) {
        struct task *task = cluster->made;
        cluster->made = task->before;
        psd_alloc_free(task);
    }
    psd_alloc_free(cluster);
}

struct psd_node *psd_cluster_node(struct psd_cluster *cluster, unsigned rank)
{
    return cluster->members[rank].node;
}

struct psd_sim *psd_cluster_sim(struct psd_cluster *cluster)
{
    return cluster->sim;
}

const struct psd_layout *psd_cluster_layout(const struct psd_cluster *cluster)
{
    return cluster->layout;
}

psd_status psd_cluster_compute(struct psd_cluster *cluster, unsigned rank, double seconds,
                               void (*fn)(void *arg), void *arg)
{
    struct task *task = take_task(&cluster->members[rank]);

    if (!task)
        return PSD_ENOMEM;
    task->fn = fn;
    task->arg = arg;
    run_layer(&cluster->members[rank], seconds, task);
    return cluster->status;
}

bool psd_cluster_step(struct psd_cluster *cluster)
{
    return psd_sim_step(cluster->sim);
}

psd_status psd_cluster_status(const struct psd_cluster *cluster)
{
    return cluster->status != PSD_OK ? cluster->status : psd_sim_status(cluster->sim);
}

void psd_cluster_kill(struct psd_cluster *cluster, unsigned rank)
{
    char address[ADDRESS];

    cluster->members[rank].dead = true;
    address_of(rank, address);
    psd_sim_kill(cluster->sim, address);
}

void psd_cluster_cut(struct psd_cluster *cluster, unsigned a, unsigned b)
{
    char one[ADDRESS], other[ADDRESS];

    address_of(a, one);
    address_of(b, other);
    psd_sim_cut(cluster->sim, one, other);
}

void psd_cluster_slow(struct psd_cluster *cluster, unsigned rank, double bandwidth, double times)
{
    char address[ADDRESS];

    address_of(rank, address);
    psd_sim_slow(cluster->sim, address, bandwidth, times);
}

struct psd_sim_traffic psd_cluster_traffic(const struct psd_cluster *cluster, unsigned rank)
{
    char address[ADDRESS];

    address_of(rank, address);
    return psd_sim_traffic_of(cluster->sim, address);
}

double psd_cluster_extra(const struct psd_cluster *cluster, unsigned rank)
{
    return (double)cluster->members[rank].extra_ns / (double)PSD_CLOCK_S;
}

double psd_cluster_busy(const struct psd_cluster *cluster, unsigned rank)
{
    return (double)cluster->members[rank].device.busy_ns / (double)PSD_CLOCK_S;
}
