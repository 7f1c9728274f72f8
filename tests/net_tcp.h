/* net_tcp.h - seats over TCP on the loopback, for tests of that transport. */
#ifndef PSD_TESTS_NET_TCP_H
#define PSD_TESTS_NET_TCP_H

#include "net_seats.h"

/* Chooses TCP for all seats. */
static inline void seats_over_tcp(struct psd_net_config config)
{
    seat_transport = &psd_transport_tcp;
    seat_where = "127.0.0.1:0";
    seat_key = "a key that nobody would guess";
    seat_config = config;
}

struct refusals_of {
    const struct seat *seat;
    struct psd_net_refusals refusals;
};

static inline void count_now(void *arg)
{
    struct refusals_of *of = arg;

    seat_transport->refusals(of->seat->endpoint, &of->refusals);
}

/* What the seat's endpoint has refused. */
static inline struct psd_net_refusals refusals_of(const struct seat *seat)
{
    struct refusals_of of = {.seat = seat};

    on_loop(seat->loop, count_now, &of);
    return of.refusals;
}

static inline unsigned port_of(const struct seat *seat)
{
    const char *address = seat_transport->address(seat->endpoint);

    CHECK(strncmp(address, "127.0.0.1:", 10) == 0);
    return (unsigned)strtoul(address + 10, NULL, 10);
}

static inline void stand_up_all(struct seat *seats, size_t count)
{
    for (size_t i = 0; i < count; i++)
        stand_up(&seats[i]);
}

#endif
