/* call.c - asks the loop, waits with all others, and knows how the job has ended. */
#include "comm/call.h"
#include "base/clock.h"
#include "base/status.h"

#include <stdio.h>

void psd_call_answer(struct psd_call *call, psd_status status)
{
    call->status = status;
    if (status != PSD_OK)
        snprintf(call->sentence, sizeof call->sentence, "%s", psd_error());
}

static const uint64_t telling_ns = 100 * PSD_CLOCK_MS;

static void look(void *arg)
{
    struct psd_comm *comm = arg;

    if (psd_seat_is_heard(comm))
        atomic_store(&comm->told, true);
}

void psd_call_surely(struct psd_comm *comm, void (*fn)(void *arg), void *arg)
{
    while (psd_loop_call(comm->loop, fn, arg) == PSD_ENOMEM)
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
}

/* The loop is the one that tells them. */
void psd_call_tell(struct psd_comm *comm)
{
    uint64_t deadline_ns = psd_clock_now() + telling_ns;

    while (!atomic_load(&comm->told) && psd_clock_now() < deadline_ns &&
           psd_loop_call(comm->loop, look, comm) == PSD_OK && !atomic_load(&comm->told))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS / 2);
    atomic_store(&comm->told, true);
}

psd_status psd_call_end(struct psd_comm *comm)
{
    if (!atomic_load(&comm->told) && !psd_loop_is_current(comm->loop)) {
        pthread_mutex_unlock(&comm->lock);
        psd_call_tell(comm);
        pthread_mutex_lock(&comm->lock);
    }
    return psd_fail(comm->status, "%s", comm->sentence ? comm->sentence : "the job has ended");
}

psd_status psd_call_check(struct psd_comm *comm)
{
    if (!atomic_load(&comm->ended))
        return PSD_OK;
    pthread_mutex_lock(&comm->lock);
    psd_status status = psd_call_end(comm);
    pthread_mutex_unlock(&comm->lock);
    return status;
}

/* The job may have ended on the way here. */
static void run(void *arg)
{
    struct psd_call *call = arg;

    psd_call_answer(call, psd_call_check(call->comm));
    if (call->status == PSD_OK)
        call->fn(call);
}

psd_status psd_call_ask(void (*fn)(struct psd_call *call), struct psd_call *call)
{
    call->fn = fn;
    PSD_TRY(psd_loop_call(call->comm->loop, run, call));
    if (call->status == PSD_OK)
        return PSD_OK;
    (void)psd_call_check(call->comm); /* if that has ended the job, the others know first */
    return psd_fail(call->status, "%s", call->sentence);
}

psd_status psd_call_check_started(struct psd_comm *comm)
{
    PSD_TRY(psd_call_check(comm));
    if (!atomic_load(&comm->started))
        return psd_fail(PSD_EINVAL, "the job has not been started: call psd_comm_start first");
    return PSD_OK;
}

psd_status psd_call_check_param(struct psd_comm *comm, int id)
{
    PSD_TRY(psd_call_check_started(comm));
    if (id < 0 || (size_t)id >= comm->job->n_params)
        return psd_fail(PSD_EINVAL, "there is no parameter %d; ids are 0 to %zu", id,
                        comm->job->n_params - 1);
    return PSD_OK;
}

uint64_t psd_call_deadline(const struct psd_comm *comm)
{
    return psd_clock_now() + comm->options.timeout_ms * PSD_CLOCK_MS;
}

bool psd_call_wait(struct psd_comm *comm, uint64_t deadline_ns)
{
    struct timespec until = psd_clock_timespec(deadline_ns);

    pthread_cond_timedwait(&comm->changed, &comm->lock, &until);
    return psd_clock_now() < deadline_ns;
}

psd_status psd_call_wait_while(struct psd_call *call, bool (*is_pending)(const struct psd_call *),
                               void (*overdue)(struct psd_call *))
{
    struct psd_comm *comm = call->comm;
    uint64_t deadline_ns = psd_call_deadline(comm);
    psd_status status = PSD_OK;

    while (is_pending(call) && comm->status == PSD_OK && status == PSD_OK) {
        if (psd_call_wait(comm, deadline_ns))
            continue;
        pthread_mutex_unlock(&comm->lock);
        status = psd_call_ask(overdue, call);
        deadline_ns = psd_call_deadline(comm);
        pthread_mutex_lock(&comm->lock);
    }
    return status;
}

static void run_overdue(struct psd_call *call)
{
    psd_node_overdue(call->comm->node, PSD_NODE_ALL);
}

static bool is_collecting(const struct psd_call *call)
{
    return call->comm->collecting;
}

/* One thread at a time. False: another is in such a call. */
static bool enter(struct psd_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    bool busy = comm->collecting;
    comm->collecting = true;
    pthread_mutex_unlock(&comm->lock);
    return !busy;
}

static void leave(struct psd_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->collecting = false;
    pthread_mutex_unlock(&comm->lock);
}

static psd_status wait_for_all(struct psd_call *call)
{
    struct psd_comm *comm = call->comm;

    pthread_mutex_lock(&comm->lock);
    psd_status status = psd_call_wait_while(call, is_collecting, run_overdue);
    if (comm->collecting && comm->status != PSD_OK)
        status = psd_call_end(comm);
    comm->collecting = false;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

psd_status psd_call_collect(void (*fn)(struct psd_call *call), struct psd_call *call)
{
    PSD_TRY(psd_call_check_started(call->comm));
    if (!enter(call->comm))
        return psd_fail(PSD_EINVAL,
                        "another thread is in a reduce, barrier, broadcast or save of state");
    psd_status status = psd_call_ask(fn, call);
    if (status == PSD_OK)
        return wait_for_all(call);
    leave(call->comm);
    return status;
}
