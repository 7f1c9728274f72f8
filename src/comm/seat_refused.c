/* seat_refused.c - what the network's door has turned away: counted, and told to a person at the end. */
#include "comm/seat.h"

#include <stdio.h>

void psd_seat_count_refused(const struct psd_comm *comm, struct psd_comm_counters *out)
{
    if (!comm->mesh)
        return;
    struct psd_net_refusals refusals = psd_mesh_refusals(comm->mesh);
    out->refused_handshakes = refusals.handshakes;
    out->refused_late = refusals.late;
    out->refused_garbled = refusals.garbled;
    out->refused_foreign = refusals.foreign;
    out->refused_replayed = refusals.replayed;
    out->refused_old = refusals.old;
    out->refused_starved = refusals.starved;
}

/* "2 garbled frames; 1 frames of another job", of those that are not zero; returns whether there is one. */
static bool list(const struct psd_net_refusals *refusals, char *out, size_t size)
{
    const struct {
        uint64_t count;
        const char *what;
    } rows[] = {
        {refusals->handshakes, "handshakes, as with another key"},
        {refusals->late, "callers that took too long"},
        {refusals->garbled, "garbled frames"},
        {refusals->foreign, "frames of another job"},
        {refusals->replayed, "frames out of sequence"},
        {refusals->old, "frames of another epoch"},
        {refusals->starved, "times all callers, with too few descriptors or no memory"},
    };
    size_t at = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows && at < size; i++) {
        if (rows[i].count)
            at += (size_t)snprintf(out + at, size - at, "%s%llu %s", at ? "; " : "",
                                   (unsigned long long)rows[i].count, rows[i].what);
    }
    return at > 0;
}

/* Who has no job has heard of it in the sentence that says so. */
void psd_seat_tell_refused(struct psd_comm *comm)
{
    char what[400], sentence[500];

    if (!comm->mesh || comm->phase == PSD_SEAT_JOINING)
        return;
    struct psd_net_refusals refusals = psd_mesh_refusals(comm->mesh);
    if (!list(&refusals, what, sizeof what))
        return;
    snprintf(sentence, sizeof sentence, "rank %u has refused on the network: %s",
             comm->options.rank, what);
    psd_seat_warn(comm, sentence);
}
