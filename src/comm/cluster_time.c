/* cluster_time.c - how long things take: a host and a device for each member, one thing at a time. */
#include "base/alloc.h"
#include "base/clock.h"
#include "comm/cluster_state.h"

static struct psd_cluster_task *take_task(struct psd_cluster_member *member)
{
    struct psd_cluster *cluster = member->cluster;
    struct psd_cluster_task *task = cluster->idle, *before = cluster->made;

    if (task) {
        cluster->idle = task->next;
        before = task->before;
    } else {
        task = psd_alloc(sizeof *task);
        cluster->made = task ? task : before;
    }
    if (task)
        *task = (struct psd_cluster_task){.member = member, .before = before};
    else
        cluster->status = PSD_ENOMEM;
    return task;
}

static void finish(void *arg)
{
    struct psd_cluster_task *task = arg, done = *task;
    struct psd_cluster_member *member = task->member;

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

static void end_at(struct psd_cluster_task *task, uint64_t when_ns)
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
static void run_on(struct psd_cluster_processor *processor, double seconds,
                   struct psd_cluster_task *task)
{
    uint64_t now = psd_sim_now(task->member->cluster->sim), ns = nanoseconds(seconds);

    if (processor->free_ns < now)
        processor->free_ns = now;
    processor->free_ns += ns;
    processor->busy_ns += ns;
    end_at(task, processor->free_ns);
}

/* A work has the device before the layers, which end later by as much. */
static void run_before_layers(struct psd_cluster_member *member, double seconds,
                              struct psd_cluster_task *task)
{
    uint64_t ns = nanoseconds(seconds);

    run_on(&member->device, seconds, task);
    member->extra_ns += ns;
    for (struct psd_cluster_task *layer = ns ? member->layers : NULL; layer; layer = layer->next)
        end_at(layer, layer->timer.when_ns + ns);
}

/* A layer has the device after the works and layers that are there. */
static void run_layer(struct psd_cluster_member *member, double seconds,
                      struct psd_cluster_task *task)
{
    uint64_t now = psd_sim_now(member->cluster->sim), ns = nanoseconds(seconds);
    uint64_t begin = member->device.free_ns > now ? member->device.free_ns : now;
    struct psd_cluster_task **last = &member->layers;

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

static double device_seconds(struct psd_cluster_member *member, const struct psd_work *work)
{
    const struct psd_workload *workload = member->cluster->options.workload;

    if (!workload)
        return 0;
    double flops = exceed(&member->flops[work->param], work->flops);
    double values = exceed(&member->bytes[work->param], work->bytes) / sizeof(float);
    return divided(flops, workload->rebuild_flops) +
           divided(values * PSD_WORKLOAD_UPDATE_BYTES, workload->update_bytes_per_s);
}

void psd_cluster_allow(struct psd_cluster_member *member, size_t param)
{
    const struct psd_job *job = member->cluster->options.job;
    double values = (double)psd_job_count(&job->params[param]);

    member->bytes[param] = values * sizeof(float);
    member->flops[param] = 2 * values * (double)member->samples;
}

void psd_cluster_order(struct psd_cluster_member *member, struct psd_work *work)
{
    struct psd_cluster_task *task = take_task(member);

    if (!task)
        return;
    task->work = work;
    if (work->kind == PSD_WORK_UPDATE || work->kind == PSD_WORK_REBUILD)
        run_before_layers(member, device_seconds(member, work), task);
    else
        run_on(&member->host, sum_seconds(member->cluster, work->bytes), task);
}

psd_status psd_cluster_add(struct psd_cluster_member *member, const struct psd_message *message)
{
    struct psd_cluster_task *task = take_task(member);

    if (!task)
        return PSD_ENOMEM;
    task->message = *message;
    run_on(&member->host, sum_seconds(member->cluster, (double)message->length), task);
    return PSD_OK;
}

psd_status psd_cluster_compute(struct psd_cluster *cluster, unsigned rank, double seconds,
                               void (*fn)(void *arg), void *arg)
{
    struct psd_cluster_task *task = take_task(&cluster->members[rank]);

    if (!task)
        return PSD_ENOMEM;
    task->fn = fn;
    task->arg = arg;
    run_layer(&cluster->members[rank], seconds, task);
    return cluster->status;
}

double psd_cluster_extra(const struct psd_cluster *cluster, unsigned rank)
{
    return (double)cluster->members[rank].extra_ns / (double)PSD_CLOCK_S;
}

double psd_cluster_busy(const struct psd_cluster *cluster, unsigned rank)
{
    return (double)cluster->members[rank].device.busy_ns / (double)PSD_CLOCK_S;
}
