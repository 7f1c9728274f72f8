/* flight.c - a list in the order of leaving. */
#include "comm/flight.h"

bool psd_flight_admits(const struct psd_flight *flight, const struct psd_send *send)
{
    uint64_t length = send->message.length;

    if (!flight->oldest)
        return true;
    return flight->bytes + length <= flight->credit &&
           flight->left - flight->oldest->left_at + length <= flight->lead;
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
}
