/* comm_close.c - gives a seat back, when the others have all they need from it.
 *
 *     values due here come --> leave is told --> all let us go --> connections close --> threads end */
#include "base/alloc.h"
#include "base/clock.h"
#include "comm/call.h"

#include <stdio.h>

/* When the job has ended, last words may take a tenth of its patience, and a second at least. */
static uint64_t last_words_ns(const struct psd_comm *comm)
{
    uint64_t patience_ns = comm->options.timeout_ms / 10 * PSD_CLOCK_MS;

    return patience_ns > PSD_CLOCK_S ? patience_ns : PSD_CLOCK_S;
}

/* Others may need what this seat still has to sum: its own values come when that is done. */
static void wait_for_values(struct psd_comm *comm)
{
    uint64_t deadline_ns = psd_call_deadline(comm);

    pthread_mutex_lock(&comm->lock);
    atomic_fetch_add(&comm->sleepers, 1);
    while (psd_seat_is_due(comm) && comm->status == PSD_OK && psd_call_wait(comm, deadline_ns))
        ;
    atomic_fetch_sub(&comm->sleepers, 1);
    pthread_mutex_unlock(&comm->lock);
}

static void end_early(struct psd_comm *comm)
{
    char sentence[128];

    snprintf(sentence, sizeof sentence, "rank %u closes its seat in the middle of iteration %llu",
             comm->options.rank, (unsigned long long)atomic_load(&comm->iteration));
    psd_seat_end(comm, PSD_EPEER, sentence);
}

static void say_goodbye(void *arg)
{
    struct psd_comm *comm = arg;

    if (comm->node && psd_seat_is_due(comm))
        end_early(comm);
    else if (comm->node)
        psd_node_leave(comm->node);
}

/* What close asks the loop again and again. */
struct look {
    struct psd_comm *comm; /* borrowed */
    bool busy;
};

/* Rank 0 is known to all before they are known to it: they are to hear why there is no job. */
static bool is_awaited(const struct psd_comm *comm)
{
    return comm->mesh && comm->options.rank == 0 && comm->phase == PSD_SEAT_JOINING &&
           comm->joined < comm->ranks - 1;
}

static void look(void *arg)
{
    struct look *look = arg;
    const struct psd_comm *comm = look->comm;

    look->busy = is_awaited(comm) || !psd_seat_is_heard(comm);
}

/* When to close all the same. The job may end while this seat waits for others to let it go. */
static uint64_t last_moment(const struct psd_comm *comm, uint64_t began_ns)
{
    if (atomic_load(&comm->ended))
        return began_ns + last_words_ns(comm);
    return began_ns + comm->options.timeout_ms * PSD_CLOCK_MS;
}

static void wait_until_heard(struct psd_comm *comm)
{
    uint64_t began_ns = psd_clock_now();
    struct look last = {.comm = comm};

    psd_call_surely(comm, look, &last);
    while (last.busy && psd_clock_now() < last_moment(comm, began_ns)) {
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS / 2);
        psd_call_surely(comm, look, &last);
    }
}

static void free_all(struct psd_comm *comm)
{
    for (unsigned i = 0; comm->offers && i < comm->ranks; i++)
        psd_pack_fini(&comm->offers[i]);
    psd_roster_free_addresses(comm->addresses, comm->ranks);
    void *owned[] = {comm->offers,   comm->has_offered, comm->members, comm->coordinator,
                     comm->named,    comm->address,     comm->plan,    comm->values,
                     comm->requests, comm->hosted,      comm->urgency, comm->due,
                     comm->order,    comm->sentence,    comm->batches};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        psd_alloc_free(owned[i]);
    pthread_cond_destroy(&comm->changed);
    pthread_mutex_destroy(&comm->lock);
    psd_alloc_free(comm);
}

/* The loop stops before the helpers: works that they are at end in nobody's hands. */
static void stop_threads(struct psd_comm *comm)
{
    wait_for_values(comm);
    psd_call_surely(comm, say_goodbye, comm);
    wait_until_heard(comm);
    psd_call_surely(comm, psd_seat_leave, comm);
    psd_loop_stop(comm->loop);
}

void psd_comm_close(struct psd_comm *comm)
{
    if (!comm)
        return;
    if (comm->is_running)
        stop_threads(comm);
    psd_helpers_destroy(comm->helpers);
    psd_loop_destroy(comm->loop);
    psd_node_destroy(comm->node);
    psd_merge_destroy(comm->merge);
    psd_layout_destroy(comm->layout);
    psd_roster_destroy(comm->roster);
    psd_job_destroy(comm->job);
    free_all(comm);
}
