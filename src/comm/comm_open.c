/* comm_open.c - takes a seat: checks what is asked for, starts the threads, and waits for all. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "comm/call.h"
#include "comm/terms.h"

#include <math.h>
#include <stdio.h>

static const uint64_t default_timeout_ms = 10000;
static const double default_bandwidth = 1.25e9, default_latency = 50e-6;

static psd_status check_rates(const struct psd_comm_rates *rates)
{
    double all[] = {rates->rebuild_flops, rates->update_bytes_per_s, rates->sum_bytes_per_s};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!isfinite(all[i]) || all[i] < 0)
            return psd_fail(PSD_EINVAL,
                            "a rate of %g a second: it is a finite number, or 0 to be measured",
                            all[i]);
    }
    return PSD_OK;
}

static psd_status check_options(const struct psd_comm_options *options)
{
    unsigned ranks = psd_terms_ranks(options), workers = psd_terms_workers(options);

    if (!options->coordinator)
        return psd_fail(PSD_EINVAL, "there is no coordinator: say where rank 0 is, such as "
                                    "\"inproc://name\"");
    if (options->rank >= ranks)
        return psd_fail(PSD_EINVAL, "rank %u is not below the number of ranks, %u", options->rank,
                        ranks);
    if (workers < ranks)
        return psd_fail(PSD_EINVAL, "%u workers are too few for %u ranks: each hosts one or more",
                        workers, ranks);
    if (options->hosted && options->n_hosted == 0)
        return psd_fail(PSD_EINVAL, "rank %u names no worker that it hosts", options->rank);
    if (options->batches && options->n_hosted == 0)
        return psd_fail(PSD_EINVAL, "rank %u gives batches of no worker: say in n_hosted how many",
                        options->rank);
    if (options->key_size > PSD_TRANSPORT_KEY || (options->key_size && !options->key))
        return psd_fail(PSD_EINVAL, "a key of %zu bytes: it has %d at most", options->key_size,
                        PSD_TRANSPORT_KEY);
    return check_rates(&options->rates);
}

/* Unless the caller knows better, rank 0 listens at the coordinator's address, the others wherever the
 * transport finds a place that rank 0 reaches. */
static psd_status copy_address(struct psd_comm *comm, const struct psd_comm_options *options)
{
    const char *address = options->rank ? "" : comm->first;

    if (options->address) {
        const struct psd_transport *transport = psd_transport_find(options->address, &address);
        if (!transport)
            return PSD_ECONFIG;
        if (transport != comm->transport)
            return psd_fail(PSD_ECONFIG, "rank %u would listen at %s, but the coordinator is %s",
                            options->rank, options->address, options->coordinator);
    }
    comm->address = psd_alloc_text("%s", address);
    return comm->address ? PSD_OK : PSD_ENOMEM;
}

static psd_status copy_workers(struct psd_comm *comm, const struct psd_comm_options *options)
{
    if (options->hosted) {
        comm->named = psd_alloc_copy(options->hosted, options->n_hosted * sizeof *comm->named);
        if (!comm->named)
            return PSD_ENOMEM;
    }
    if (options->batches) {
        comm->batches = psd_alloc_copy(options->batches, options->n_hosted * sizeof *comm->batches);
        if (!comm->batches)
            return PSD_ENOMEM;
    }
    return PSD_OK;
}

static psd_status copy_options(struct psd_comm *comm, const struct psd_comm_options *options)
{
    comm->options = *options;
    comm->ranks = psd_terms_ranks(options);
    comm->coordinator = psd_alloc_text("%s", options->coordinator);
    if (!comm->coordinator)
        return PSD_ENOMEM;
    comm->transport = psd_transport_find(comm->coordinator, &comm->first);
    if (!comm->transport)
        return PSD_ECONFIG;
    PSD_TRY(copy_address(comm, options));
    return copy_workers(comm, options);
}

static void fill_in(struct psd_comm_options *options, const struct psd_comm *comm)
{
    options->coordinator = comm->coordinator;
    options->hosted = comm->named;
    options->batches = comm->batches;
    if (options->timeout_ms == 0)
        options->timeout_ms = default_timeout_ms;
}

/* Without a word of the caller's there is a guess, which a measurement replaces. */
static void guess_network(struct psd_comm *comm)
{
    const struct psd_comm_options *options = &comm->options;
    bool is_fast = options->bandwidth > 0, is_near = options->latency > 0;

    comm->network = (struct psd_seat_network){
        .bandwidth = is_fast ? options->bandwidth : default_bandwidth,
        .latency = is_near ? options->latency : default_latency,
        .bandwidth_is = is_fast ? "given" : "assumed",
        .latency_is = is_near ? "given" : "assumed",
    };
    comm->measures = comm->ranks > 1 && !is_fast &&
                     (options->bandwidth < 0 || comm->transport != &psd_transport_inproc);
}

static void done(void *context, struct psd_work *work)
{
    struct psd_comm *comm = context;

    psd_node_done(comm->node, work);
}

static psd_status start_threads(struct psd_comm *comm)
{
    unsigned threads = comm->options.threads ? comm->options.threads : 1;

    comm->offers = psd_alloc_zero(comm->ranks, sizeof *comm->offers);
    comm->has_offered = psd_alloc_zero(comm->ranks, sizeof *comm->has_offered);
    comm->members = psd_alloc_zero(comm->ranks, sizeof *comm->members);
    if (!comm->offers || !comm->has_offered || !comm->members)
        return PSD_ENOMEM;
    PSD_TRY(psd_loop_create(&comm->loop));
    PSD_TRY(psd_helpers_create(threads, comm->loop, done, comm, &comm->helpers));
    PSD_TRY(psd_loop_start(comm->loop));
    comm->is_running = true;
    return psd_loop_post(comm->loop, psd_seat_join, comm);
}

/* The seat gives up by itself when this takes too long. */
static psd_status wait_for_all(struct psd_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    while (comm->phase < PSD_SEAT_SEATED && comm->status == PSD_OK)
        pthread_cond_wait(&comm->changed, &comm->lock);
    psd_status status = comm->status == PSD_OK ? PSD_OK : psd_call_end(comm);
    pthread_mutex_unlock(&comm->lock);
    return status;
}

static psd_status find_hosted(struct psd_comm *comm)
{
    comm->hosted = psd_alloc_zero(comm->job->workers, sizeof *comm->hosted);
    if (!comm->hosted)
        return PSD_ENOMEM;
    for (unsigned w = 0; w < comm->job->workers; w++) {
        if (comm->job->host[w] == comm->options.rank)
            comm->hosted[comm->n_hosted++] = w;
    }
    return PSD_OK;
}

static psd_status take_seat(struct psd_comm *comm, const struct psd_comm_options *options)
{
    PSD_TRY(copy_options(comm, options));
    fill_in(&comm->options, comm);
    guess_network(comm);
    PSD_TRY(start_threads(comm));
    PSD_TRY(wait_for_all(comm));
    comm->options.update.rule = comm->job->rule->name; /* the caller's text is no longer needed, */
    comm->options.key = NULL;                          /* and the transport has the next two */
    comm->options.congestion = NULL;
    return find_hosted(comm);
}

static void init_lock(struct psd_comm *comm)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC); /* as psd_call_wait has it */
    pthread_cond_init(&comm->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&comm->lock, NULL);
}

psd_status psd_comm_open(const struct psd_comm_options *options, struct psd_comm **out)
{
    PSD_TRY(check_options(options));
    struct psd_comm *comm = psd_alloc_zero(1, sizeof *comm);
    if (!comm)
        return PSD_ENOMEM;
    init_lock(comm);
    psd_status status = take_seat(comm, options);
    if (status == PSD_OK) {
        *out = comm;
        return PSD_OK;
    }
    char sentence[2048]; /* closing may fail, too */
    snprintf(sentence, sizeof sentence, "%s", psd_error());
    psd_comm_close(comm);
    return psd_fail(status, "%s", sentence);
}
