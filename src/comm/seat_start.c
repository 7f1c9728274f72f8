/* seat_start.c - everybody's parameters are compared, rank 0 plans, and the nodes begin. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "comm/job_workload.h"
#include "comm/plan.h"
#include "comm/seat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The posts that can wait for the loop at a time: syncs, arrivals, and what callers ask. */
static size_t most_posts(const struct psd_comm *comm)
{
    return comm->job->n_params * comm->n_hosted + comm->ranks + 64;
}

static psd_status create_node(struct psd_comm *comm)
{
    PSD_TRY(psd_layout_create(comm->job, 0, &comm->layout));
    PSD_TRY(psd_merge_create(comm->job, &comm->merge));
    struct psd_node_options options = {.job = comm->job,
                                       .layout = comm->layout,
                                       .merge = comm->merge,
                                       .rank = comm->options.rank,
                                       .driver = &psd_seat_driver,
                                       .context = comm};
    PSD_TRY(psd_node_create(&options, &comm->node));
    PSD_TRY(psd_node_reserve(comm->node));
    PSD_TRY(psd_loop_reserve(comm->loop, most_posts(comm)));
    for (size_t i = 0; i < comm->job->n_params; i++)
        psd_node_set_value(comm->node, i, comm->values[i]);
    psd_seat_end_flow(comm);
    if (comm->job->window && !comm->options.window)
        psd_mesh_set_window(comm->mesh, comm->job->window);
    return PSD_OK;
}

/* Whence the rates are. */
static const char *source_of(const struct psd_comm_rates *given)
{
    int count =
        (given->rebuild_flops > 0) + (given->update_bytes_per_s > 0) + (given->sum_bytes_per_s > 0);

    return count == 0 ? "measured" : count == 3 ? "given" : "some of it given, the rest measured";
}

/* What the plan was made with, below its text; one process needs no arithmetic to choose. */
static char *add_sources(const struct psd_comm *comm, const char *plan)
{
    const struct psd_seat_network *network = &comm->network;
    const struct psd_comm_rates *rates = &comm->rates;
    char least[32] = "", window[64] = "", arithmetic[160] = "";

    if (strcmp(network->bandwidth_is, "measured") == 0)
        snprintf(least, sizeof least, " (least: rank %u)", network->slowest);
    if (comm->transport->set_window && comm->ranks > 1)
        snprintf(window, sizeof window, "; windows of %.0f KB", (double)comm->job->window / 1024);
    if (comm->ranks > 1)
        snprintf(arithmetic, sizeof arithmetic,
                 "arithmetic rebuild %.3g GFLOP/s, update %.3g GB/s, sum %.3g GB/s, %s\n",
                 rates->rebuild_flops / 1e9, rates->update_bytes_per_s / 1e9,
                 rates->sum_bytes_per_s / 1e9, source_of(&comm->options.rates));
    return psd_alloc_text("%snetwork    %.1f MB/s each way, %s%s; %.1f us one way, %s%s\n%s", plan,
                          network->bandwidth / 1e6, network->bandwidth_is, least,
                          network->latency * 1e6, network->latency_is, window, arithmetic);
}

static psd_status explain(struct psd_comm *comm, const struct psd_plan *made)
{
    char *text = psd_plan_text(comm->job, made);

    if (text)
        comm->plan = add_sources(comm, text);
    psd_alloc_free(text);
    return comm->plan ? PSD_OK : PSD_ENOMEM;
}

/* Twice what a link carries in a round trip keeps it full. More would only wait: in queues, where what is
 * urgent waits behind it, and until no cache has it any more. With much less packets are small. */
static size_t window_of(const struct psd_seat_network *network)
{
    static const double least = 256 << 10, most = 1 << 30; /* which no system allows */

    return (size_t)fmin(most, fmax(least, 2 * network->bandwidth * 2 * network->latency));
}

static psd_status plan(struct psd_comm *comm)
{
    struct psd_plan_network network = {.bandwidth = comm->network.bandwidth,
                                       .latency = comm->network.latency};
    struct psd_workload *workload = NULL;
    struct psd_plan *made = NULL;

    psd_plan_forms(comm->job);
    comm->job->window = window_of(&comm->network);
    PSD_TRY(psd_job_workload_create(comm->job, &comm->rates, &workload));
    psd_status status = psd_plan_create(comm->job, workload, &network, &made);
    psd_workload_destroy(workload);
    if (status == PSD_OK)
        status = explain(comm, made);
    psd_plan_destroy(made);
    return status;
}

static psd_status tell_plan(struct psd_comm *comm)
{
    struct psd_pack pack = {.bytes = NULL};
    psd_status status = psd_roster_pack_plan(comm->job, comm->plan, &pack);

    if (status == PSD_OK)
        status = psd_letters_send(&comm->letters, PSD_MESSAGE_PLAN, 0, comm->ranks, pack.bytes,
                                  pack.length);
    psd_pack_fini(&pack);
    return status;
}

/* Everybody's parameters are the same. The others may send to our node once they have the plan. */
psd_status psd_seat_plan(struct psd_comm *comm)
{
    PSD_TRY(plan(comm));
    PSD_TRY(tell_plan(comm));
    PSD_TRY(create_node(comm));
    return psd_node_start(comm->node, false);
}

/* Rank 0 compares what has come so far, once its own parameters are all there. */
static psd_status compare(struct psd_comm *comm)
{
    bool all = comm->has_offered[0];

    for (unsigned i = 1; comm->has_offered[0] && i < comm->ranks; i++) {
        struct psd_pack *offer = &comm->offers[i];
        all = all && comm->has_offered[i];
        if (!offer->bytes)
            continue;
        PSD_TRY(psd_roster_compare_params(comm->job, i, offer->bytes, offer->length));
        psd_pack_fini(offer);
    }
    if (!all)
        return PSD_OK;
    return comm->measures ? psd_seat_measure(comm) : psd_seat_plan(comm);
}

psd_status psd_seat_take_params(struct psd_comm *comm, unsigned from)
{
    struct psd_pack *letter = &comm->letters.inbox[from];

    if (comm->has_offered[from])
        return psd_fail(PSD_EPEER, "rank %u sends its parameters twice", from);
    comm->has_offered[from] = true;
    comm->offers[from] = *letter; /* ours now */
    *letter = (struct psd_pack){.bytes = NULL};
    return compare(comm);
}

psd_status psd_seat_take_plan(struct psd_comm *comm, const struct psd_pack *letter)
{
    if (!comm->has_offered[comm->options.rank])
        return psd_fail(PSD_EPEER, "rank 0 sends a plan out of turn");
    PSD_TRY(psd_roster_read_plan(comm->job, letter->bytes, letter->length, &comm->plan));
    PSD_TRY(create_node(comm));
    return psd_node_start(comm->node, false);
}

static uint64_t timeout_from_now(const struct psd_comm *comm)
{
    return psd_clock_now() + comm->options.timeout_ms * PSD_CLOCK_MS;
}

/* Starting takes long: some rank has not called psd_comm_start, and rank 0 knows which. */
static void say_who_is_missing(const struct psd_comm *comm, char *sentence, size_t size)
{
    unsigned missing = 0;

    while (missing < comm->ranks && comm->has_offered[missing])
        missing++;
    if (comm->node)
        snprintf(sentence, size, "rank %u waits in psd_comm_start for initial values of rank %u",
                 comm->options.rank, comm->job->host[0]);
    else if (comm->options.rank == 0)
        snprintf(sentence, size, "rank 0 waits in psd_comm_start: rank %u has not called it",
                 missing);
    else
        snprintf(sentence, size, "rank %u waits in psd_comm_start for rank 0's plan",
                 comm->options.rank);
}

static void warn_of_start(void *arg)
{
    struct psd_comm *comm = arg;
    char sentence[256];

    if (atomic_load(&comm->ended) || comm->phase == PSD_SEAT_STARTED)
        return;
    say_who_is_missing(comm, sentence, sizeof sentence);
    psd_seat_warn(comm, sentence);
    psd_seat_check(
        comm, psd_loop_at(comm->loop, timeout_from_now(comm), warn_of_start, comm, &comm->overdue));
}

static psd_status offer(struct psd_comm *comm)
{
    struct psd_pack pack = {.bytes = NULL};

    comm->has_offered[comm->options.rank] = true;
    PSD_TRY(psd_loop_at(comm->loop, timeout_from_now(comm), warn_of_start, comm, &comm->overdue));
    if (comm->options.rank == 0)
        return compare(comm);
    psd_status status = psd_roster_pack_params(comm->job, &pack);
    if (status == PSD_OK)
        status =
            psd_letters_send(&comm->letters, PSD_MESSAGE_PARAMS, 0, 0, pack.bytes, pack.length);
    psd_pack_fini(&pack);
    return status;
}

void psd_seat_offer(void *arg)
{
    struct psd_comm *comm = arg;

    if (!atomic_load(&comm->ended))
        psd_seat_check(comm, offer(comm));
}
