/* flight_test.c - the bounds on what is in flight, whatever lands first. */
#include "base/random.h"
#include "comm/flight.h"
#include "test.h"

enum { SENDS = 8 };

static struct psd_send send_of(uint64_t bytes)
{
    return (struct psd_send){.message.length = bytes};
}

static void one_goes_whatever_its_size(void)
{
    struct psd_flight flight = {.credit = 10, .lead = 10};
    struct psd_send large = send_of(1000), none = send_of(0);

    CHECK(psd_flight_admits(&flight, &large));
    psd_flight_add(&flight, &large);
    CHECK(!psd_flight_admits(&flight, &none));
    psd_flight_land(&flight, &large);
    CHECK(psd_flight_admits(&flight, &large) && flight.bytes == 0);
}

static void bytes_in_flight_are_at_most_the_credit(void)
{
    struct psd_flight flight = {.credit = 10, .lead = 1000};
    struct psd_send first = send_of(6), fits = send_of(4), large = send_of(5);

    psd_flight_add(&flight, &first);
    CHECK(psd_flight_admits(&flight, &fits) && !psd_flight_admits(&flight, &large));
    psd_flight_add(&flight, &fits);
    psd_flight_land(&flight, &first);
    CHECK(psd_flight_admits(&flight, &large));
}

static void what_has_landed_counts_while_an_older_one_has_not(void)
{
    struct psd_flight flight = {.credit = 1000, .lead = 10};
    struct psd_send oldest = send_of(3), second = send_of(4), third = send_of(3);
    struct psd_send next = send_of(1);

    psd_flight_add(&flight, &oldest);
    psd_flight_add(&flight, &second);
    psd_flight_add(&flight, &third);
    psd_flight_land(&flight, &third);
    psd_flight_land(&flight, &second);
    CHECK(flight.bytes == 3 && !psd_flight_admits(&flight, &next));
    psd_flight_land(&flight, &oldest);
    CHECK(psd_flight_admits(&flight, &next));
}

static void the_second_is_the_oldest_when_the_first_has_landed(void)
{
    struct psd_flight flight = {.credit = 1000, .lead = 10};
    struct psd_send first = send_of(6), second = send_of(4), fits = send_of(6), large = send_of(7);

    psd_flight_add(&flight, &first);
    psd_flight_add(&flight, &second);
    psd_flight_land(&flight, &first);
    CHECK(psd_flight_admits(&flight, &fits) && !psd_flight_admits(&flight, &large));
}

/* Against a flight that is a table: which slots are out, and when they left. */
static void random_landings_agree_with_a_table(void)
{
    struct psd_flight flight = {.credit = 40, .lead = 60};
    struct psd_send sends[SENDS];
    uint64_t left_at[SENDS], left = 1;
    bool out[SENDS] = {false};

    for (uint64_t step = 0; step < 100000; step++) {
        size_t slot = psd_random_below(1, 1, 2 * step, SENDS);
        uint64_t oldest = left, bytes = 0;
        for (size_t i = 0; i < SENDS; i++) {
            bytes += out[i] ? sends[i].message.length : 0;
            oldest = out[i] && left_at[i] < oldest ? left_at[i] : oldest;
        }
        CHECK(flight.bytes == bytes && (flight.oldest == NULL) == (bytes == 0));
        if (out[slot]) {
            psd_flight_land(&flight, &sends[slot]);
            out[slot] = false;
            continue;
        }
        sends[slot] = send_of(1 + psd_random_below(1, 1, 2 * step + 1, 30));
        uint64_t length = sends[slot].message.length;
        bool may = bytes == 0 || (bytes + length <= 40 && left - oldest + length <= 60);
        CHECK(psd_flight_admits(&flight, &sends[slot]) == may);
        if (!may)
            continue;
        psd_flight_add(&flight, &sends[slot]);
        out[slot] = true;
        left_at[slot] = left;
        left += length;
    }
}

int main(int argc, char **argv)
{
    RUN(one_goes_whatever_its_size)
    RUN(bytes_in_flight_are_at_most_the_credit)
    RUN(what_has_landed_counts_while_an_older_one_has_not)
    RUN(the_second_is_the_oldest_when_the_first_has_landed)
    RUN(random_landings_agree_with_a_table)
}
