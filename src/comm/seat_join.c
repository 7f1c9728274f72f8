/* seat_join.c - finds rank 0, joins, and meets everybody else. */
#include "base/clock.h"
#include "base/status.h"
#include "comm/seat.h"

#include <stdio.h>

static const uint64_t retry_ns = 20 * PSD_CLOCK_MS;

static uint64_t timeout_from_now(const struct psd_comm *comm)
{
    return psd_clock_now() + comm->options.timeout_ms * PSD_CLOCK_MS;
}

static void check_seated(struct psd_comm *comm)
{
    if (!comm->job || comm->joined < comm->ranks - 1)
        return;
    psd_loop_cancel(comm->loop, &comm->overdue);
    psd_seat_advance(comm, PSD_SEAT_SEATED);
}

/* The roster is known: connects to everybody below, except rank 0, which is there. */
psd_status psd_seat_take_roster(struct psd_comm *comm, const struct psd_pack *roster)
{
    PSD_TRY(psd_roster_read(&comm->options, roster->bytes, roster->length, &comm->job,
                            &comm->addresses));
    for (unsigned i = 1; i < comm->options.rank; i++)
        PSD_TRY(psd_mesh_connect(comm->mesh, i, comm->addresses[i]));
    check_seated(comm);
    return PSD_OK;
}

/* When the last has joined, everybody gets the roster. */
static psd_status check_full(struct psd_comm *comm)
{
    struct psd_pack pack = {.bytes = NULL};

    if (!psd_roster_is_full(comm->roster))
        return PSD_OK;
    psd_status status = psd_roster_pack(comm->roster, &pack);
    if (status == PSD_OK)
        status = psd_letters_send(&comm->letters, PSD_MESSAGE_ROSTER, 0, comm->ranks, pack.bytes,
                                  pack.length);
    if (status == PSD_OK)
        status = psd_seat_take_roster(comm, &pack);
    psd_pack_fini(&pack);
    return status;
}

psd_status psd_seat_take_join(struct psd_comm *comm, unsigned from)
{
    const struct psd_pack *letter = psd_letters_inbox(&comm->letters, from);

    PSD_TRY(psd_roster_join(comm->roster, from, letter->bytes, letter->length));
    return check_full(comm);
}

static psd_status send_join(struct psd_comm *comm)
{
    struct psd_join own = {.address = psd_mesh_address(comm->mesh), .options = &comm->options};
    struct psd_pack pack = {.bytes = NULL};
    psd_status status = psd_roster_pack_join(&own, &pack);

    if (status == PSD_OK)
        status = psd_letters_send(&comm->letters, PSD_MESSAGE_JOIN, 0, 0, pack.bytes, pack.length);
    psd_pack_fini(&pack);
    return status;
}

void psd_seat_joined(struct psd_comm *comm, unsigned from)
{
    *comm->why = '\0';
    if (from == 0)
        psd_seat_check(comm, send_join(comm));
    check_seated(comm);
}

/* Connects once more to those that were not reached. */
static void connect_again(void *arg)
{
    struct psd_comm *comm = arg;

    for (unsigned i = 0; i < comm->options.rank && !atomic_load(&comm->ended); i++) {
        if (!comm->members[i].missed)
            continue;
        comm->members[i].missed = false;
        psd_seat_check(comm, psd_mesh_connect(comm->mesh, i, i ? comm->addresses[i] : comm->first));
    }
}

/* Rank 0 may not be there yet, another rank may be too busy to let us in: tries again until joining takes
 * too long. */
void psd_seat_lost(struct psd_comm *comm, unsigned from, const char *why)
{
    snprintf(comm->why, sizeof comm->why, "%s", why);
    if (comm->members[from].joined) {
        psd_seat_check(comm, psd_fail(PSD_EPEER, "rank %u is lost: %s", from, why));
        return;
    }
    comm->members[from].missed = true;
    psd_seat_check(comm, psd_loop_at(comm->loop, psd_clock_now() + retry_ns, connect_again, comm,
                                     &comm->retry));
}

/* The first member that is not connected to us. */
static unsigned missing_rank(const struct psd_comm *comm)
{
    unsigned rank = comm->options.rank == 0;

    while (rank + 1 < comm->ranks && (rank == comm->options.rank || psd_mesh_has(comm->mesh, rank)))
        rank++;
    return rank;
}

/* Perhaps it came, and could not be let in, or has another key. */
static void note_refusals(struct psd_comm *comm)
{
    struct psd_net_refusals refusals = psd_mesh_refusals(comm->mesh);

    if (*comm->why)
        return;
    if (refusals.starved)
        snprintf(comm->why, sizeof comm->why,
                 "it has too few descriptors, or no memory, to let others in (ulimit -n)");
    else if (refusals.handshakes)
        snprintf(comm->why, sizeof comm->why,
                 "%llu handshakes were refused, as with another key, job or encryption",
                 (unsigned long long)refusals.handshakes);
}

/* Who has found rank 0 leaves it to rank 0 to say who is missing, unless that takes as long again. */
static void give_up(void *arg)
{
    struct psd_comm *comm = arg;
    char sentence[512];

    if (comm->options.rank != 0 && psd_mesh_has(comm->mesh, 0) && !comm->waited) {
        comm->waited = true;
        psd_seat_check(
            comm, psd_loop_at(comm->loop, timeout_from_now(comm), give_up, comm, &comm->overdue));
        return;
    }
    note_refusals(comm);
    snprintf(
        sentence, sizeof sentence,
        "rank %u has not come to %s within %llu ms; %u of %u ranks are there, says rank %u%s%s",
        missing_rank(comm), comm->coordinator, (unsigned long long)comm->options.timeout_ms,
        comm->joined + 1, comm->ranks, comm->options.rank, *comm->why ? ": " : "", comm->why);
    psd_seat_end(comm, PSD_ETIMEOUT, sentence);
}

/* Rank 0 has a place for everybody. */
static psd_status open_roster(struct psd_comm *comm)
{
    struct psd_join own = {.address = psd_mesh_address(comm->mesh), .options = &comm->options};

    PSD_TRY(psd_roster_create(&own, &comm->roster));
    return check_full(comm);
}

static psd_status join(struct psd_comm *comm)
{
    PSD_TRY(psd_loop_at(comm->loop, timeout_from_now(comm), give_up, comm, &comm->overdue));
    PSD_TRY(psd_seat_open_mesh(comm));
    return comm->options.rank == 0 ? open_roster(comm)
                                   : psd_mesh_connect(comm->mesh, 0, comm->first);
}

void psd_seat_join(void *arg)
{
    psd_seat_check(arg, join(arg));
}
