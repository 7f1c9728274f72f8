/* cluster.c - drives nodes by a virtual clock.
 *
 *     send   --> mesh on net/sim --> place, arrived at the other node
 *     work   --> host or device of the rank, one at a time, in the order of ordering --> done
 *
 * A payload that is added as it arrives occupies the host for the time of the addition; the node
 * hears of it when that is over. How long things take is in cluster_time.c. */
#include "comm/cluster.h"
#include "base/alloc.h"
#include "base/list.h"
#include "base/status.h"
#include "comm/cluster_state.h"

#include <stdio.h>

enum { ADDRESS = 16 }; /* bytes of a member's */

static void order(void *context, struct psd_work *work)
{
    psd_cluster_order(context, work);
}

static void send(void *context, struct psd_send *out)
{
    struct psd_cluster_member *member = context;

    psd_mesh_send(member->mesh, out->to, &out->frame);
}

static void fresh(void *context, size_t param)
{
    struct psd_cluster_member *member = context;
    const struct psd_cluster_options *options = &member->cluster->options;

    psd_cluster_allow(member, param);
    if (options->fresh)
        options->fresh(options->user, member->rank, param);
}

static void collected(void *context)
{
    struct psd_cluster_member *member = context;
    const struct psd_cluster_options *options = &member->cluster->options;

    if (options->collected)
        options->collected(options->user, member->rank);
}

static void ended(void *context, psd_status status, const char *sentence)
{
    struct psd_cluster_member *member = context;
    const struct psd_cluster_options *options = &member->cluster->options;

    if (options->ended)
        options->ended(options->user, member->rank, status, sentence);
}

static void warn(void *context, const char *sentence)
{
    struct psd_cluster_member *member = context;
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
    struct psd_cluster_member *member = user;

    (void)from;
    member->cluster->joined++;
}

static psd_status place(void *user, unsigned from, const struct psd_message *message,
                        struct psd_place *out)
{
    struct psd_cluster_member *member = user;

    psd_node_place(member->node, from, message, out);
    return PSD_OK;
}

static psd_status arrived(void *user, unsigned from, const struct psd_message *message)
{
    struct psd_cluster_member *member = user;

    (void)from;
    if (psd_node_adds(member->node, message))
        return psd_cluster_add(member, message);
    psd_node_arrived(member->node, message);
    return PSD_OK;
}

static void sent(void *user, struct psd_frame *frame)
{
    struct psd_cluster_member *member = user;

    psd_node_sent(member->node, PSD_CONTAINER_OF(frame, struct psd_send, frame));
}

static void lost(void *user, unsigned from, const char *why)
{
    struct psd_cluster_member *member = user;

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
    struct psd_cluster_member *member = &cluster->members[rank];
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

static void close_member(struct psd_cluster_member *member)
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
        struct psd_cluster_task *task = cluster->made;
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
