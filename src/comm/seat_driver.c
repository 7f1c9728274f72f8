/* seat_driver.c - does what the node asks for: with the mesh, the helpers, and whoever waits. */
#include "base/alloc.h"
#include "comm/seat.h"

/* A node whose seat is closed has nobody to send to. */
static void send(void *context, struct psd_send *out)
{
    struct psd_comm *comm = context;

    if (comm->mesh)
        psd_mesh_send(comm->mesh, out->to, &out->frame);
}

static void work(void *context, struct psd_work *ordered)
{
    struct psd_comm *comm = context;

    psd_helpers_order(comm->helpers, ordered);
}

/* Whoever is about to sleep counts itself before it looks at what is due: either it sees that nothing is,
 * or we see it, and it sleeps before we have the lock. */
static void wake_sleepers(struct psd_comm *comm)
{
    if (!atomic_load(&comm->sleepers))
        return;
    pthread_mutex_lock(&comm->lock);
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}

static void fresh(void *context, size_t param)
{
    struct psd_comm *comm = context;

    atomic_store(&comm->due[param], 0);
    wake_sleepers(comm);
    if (comm->unfresh > 0 && --comm->unfresh == 0)
        psd_seat_advance(comm, PSD_SEAT_STARTED);
    psd_seat_let_go(comm);
}

static void collected(void *context)
{
    struct psd_comm *comm = context;

    pthread_mutex_lock(&comm->lock);
    comm->collecting = false;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
    psd_seat_let_go(comm);
}

void psd_seat_note_end(struct psd_comm *comm, psd_status status, const char *sentence)
{
    pthread_mutex_lock(&comm->lock);
    if (comm->status == PSD_OK) {
        comm->status = status;
        comm->sentence = psd_alloc_text("%s", sentence);
    }
    atomic_store(&comm->ended, true);
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}

static void ended(void *context, psd_status status, const char *sentence)
{
    psd_seat_note_end(context, status, sentence);
}

void psd_seat_warn(struct psd_comm *comm, const char *sentence)
{
    comm->warnings++;
    if (comm->options.warn)
        comm->options.warn(comm->options.context, sentence);
}

static void warn(void *context, const char *sentence)
{
    psd_seat_warn(context, sentence);
}

const struct psd_node_driver psd_seat_driver = {.send = send,
                                                .work = work,
                                                .fresh = fresh,
                                                .collected = collected,
                                                .ended = ended,
                                                .warn = warn};

void psd_seat_advance(struct psd_comm *comm, enum psd_seat_phase phase)
{
    pthread_mutex_lock(&comm->lock);
    if (comm->phase < phase)
        comm->phase = phase;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}
