/* flight.c - a list in the order of leaving. */
#include "comm/flight.h"
#include "comm/layout.h"

enum { FEW = 4 };

/* What waits behind the credit can still be overtaken, so it is as small as may be. Simulated on links of
 * 1 to 40 Gbit/s, fewer than four sends leave links of two or four ranks idle at times; with more ranks
 * several may send to one, and half of them can do nothing meanwhile unless there is something for the
 * others. */
struct psd_flight psd_flight_of(unsigned ranks, size_t credit)
{
    size_t pieces = ranks / 2 + 2;

    if (credit)
        return (struct psd_flight){.ranks = ranks, .credit = credit, .few = 1};
    return (struct psd_flight){
        .ranks = ranks, .credit = (pieces > FEW ? pieces : FEW) * PSD_LAYOUT_MOST, .few = FEW};
}

static uint64_t most_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t lead_of(const struct psd_flight *flight, uint64_t length)
{
    uint64_t each = most_of(PSD_LAYOUT_MOST, most_of(length, flight->oldest->message.length));

    return most_of(flight->credit, each * most_of(flight->ranks, flight->few));
}

bool psd_flight_admits(const struct psd_flight *flight, const struct psd_send *send)
{
    uint64_t length = send->message.length;

    if (!flight->oldest)
        return true;
    if (flight->count >= flight->few && flight->bytes + length > flight->credit)
        return false;
    return flight->left - flight->oldest->left_at + length <= lead_of(flight, length);
}

void psd_flight_add(struct psd_flight *flight, struct psd_send *send)
{
    send->left_at = flight->left;
    send->next = NULL;
    send->before = flight->newest;
    if (send->before)
        send->before->next = send;
    else
        flight->oldest = send;
    flight->newest = send;
    flight->left += send->message.length;
    flight->bytes += send->message.length;
    flight->count++;
}

void psd_flight_land(struct psd_flight *flight, struct psd_send *send)
{
    if (send->before)
        send->before->next = send->next;
    else
        flight->oldest = send->next;
    if (send->next)
        send->next->before = send->before;
    else
        flight->newest = send->before;
    flight->bytes -= send->message.length;
    flight->count--;
}
