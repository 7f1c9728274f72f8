/* seat_part.c - nobody goes before the others have heard its last words.
 *
 *     rank 1   leave ----------> rank 0            rank 1   end: why ----------> rank 0
 *              <--------- parted, when its                  <---------- end: why
 *     closes             values have come          closes
 *
 * A frame that has been sent may still be lost with its connection, if that closes while more is on the
 * way in either direction. So a seat that leaves waits until every other one says that it has all it
 * needs; and when the job has ended, until it has heard that from every other one. */
#include "comm/seat.h"

bool psd_seat_is_due(const struct psd_comm *comm)
{
    for (size_t i = 0; atomic_load(&comm->started) && i < comm->job->n_params; i++) {
        if (atomic_load(&comm->due[i]))
            return true;
    }
    return false;
}

/* With or without values, a seat that starts or collects still needs the others. */
static bool is_waiting(struct psd_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    bool is_busy = comm->phase != PSD_SEAT_STARTED || comm->collecting;
    pthread_mutex_unlock(&comm->lock);
    return is_busy || psd_seat_is_due(comm);
}

void psd_seat_let_go(struct psd_comm *comm)
{
    if (comm->leavers == 0 || atomic_load(&comm->ended) || is_waiting(comm))
        return;
    comm->leavers = 0;
    for (unsigned i = 0; i < comm->ranks; i++) {
        struct psd_seat_member *member = &comm->members[i];
        if (!member->left || member->is_free)
            continue;
        member->is_free = true;
        psd_seat_check(comm, psd_letters_send(&comm->letters, PSD_MESSAGE_PARTED, 0, i, NULL, 0));
    }
}

void psd_seat_note_leave(struct psd_comm *comm, unsigned from)
{
    comm->leavers += !comm->members[from].left;
    comm->members[from].left = true;
    psd_seat_let_go(comm);
}

bool psd_seat_is_heard(const struct psd_comm *comm)
{
    bool ended = atomic_load(&comm->ended);

    if (psd_letters_busy(&comm->letters) || (comm->node && psd_node_busy(comm->node)))
        return false;

    for (unsigned i = 0; comm->mesh && i < comm->ranks; i++) {
        const struct psd_seat_member *member = &comm->members[i];
        bool knows = ended ? member->ended : member->parted || !comm->node;
        if (!knows && i != comm->options.rank && psd_mesh_has(comm->mesh, i))
            return false;
    }
    return true;
}
