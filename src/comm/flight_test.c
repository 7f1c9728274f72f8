/* flight_test.c - the bounds on what is in flight, whatever lands first. */
#include "base/random.h"
#include "comm/flight.h"
#include "comm/layout.h"
#include "test.h"

enum { SENDS = 8 };

#define PIECE ((uint64_t)PSD_LAYOUT_MOST)

static struct psd_send send_of(uint64_t bytes)
{
    return (struct psd_send){.message.length = bytes};
}

static void one_goes_whatever_its_size(void)
{
    struct psd_flight flight = psd_flight_of(2, 10);
    struct psd_send large = send_of(1000), none = send_of(0);

    CHECK(psd_flight_admits(&flight, &large));
    psd_flight_add(&flight, &large);
    CHECK(!psd_flight_admits(&flight, &none));
    psd_flight_land(&flight, &large);
    CHECK(psd_flight_admits(&flight, &large) && flight.bytes == 0 && flight.count == 0);
}

static void bytes_in_flight_are_at_most_the_credit(void)
{
    struct psd_flight flight = psd_flight_of(2, 10);
    struct psd_send first = send_of(6), fits = send_of(4), large = send_of(5);

    psd_flight_add(&flight, &first);
    CHECK(psd_flight_admits(&flight, &fits) && !psd_flight_admits(&flight, &large));
    psd_flight_add(&flight, &fits);
    psd_flight_land(&flight, &first);
    CHECK(psd_flight_admits(&flight, &large));
}

/* How many sends of so many bytes leave when none lands. */
static size_t count_leaving(unsigned ranks, uint64_t bytes)
{
    struct psd_flight flight = psd_flight_of(ranks, 0);
    struct psd_send sends[64];
    size_t count = 0;

    for (; count < 64; count++) {
        sends[count] = send_of(bytes);
        if (!psd_flight_admits(&flight, &sends[count]))
            break;
        psd_flight_add(&flight, &sends[count]);
    }
    return count;
}

static void many_ranks_have_more_pieces_in_flight_and_none_fewer_than_four(void)
{
    CHECK(count_leaving(2, PIECE) == 4 && count_leaving(4, PIECE) == 4);
    CHECK(count_leaving(8, PIECE) == 6 && count_leaving(32, PIECE) == 18);
    CHECK(count_leaving(8, PIECE / 2) == 12);
    CHECK(count_leaving(2, 100 * PIECE) == 4 && count_leaving(8, 100 * PIECE) == 4);
}

/* Of eight ranks: the oldest stays, and a piece to each of the others may leave and land meanwhile. */
static void what_has_landed_counts_while_an_older_one_has_not(void)
{
    struct psd_flight flight = psd_flight_of(8, 0);
    struct psd_send oldest = send_of(PIECE), next = send_of(PIECE), small = send_of(1);

    psd_flight_add(&flight, &oldest);
    for (unsigned i = 1; i < 8; i++) {
        CHECK(psd_flight_admits(&flight, &next));
        psd_flight_add(&flight, &next);
        psd_flight_land(&flight, &next);
    }
    CHECK(flight.bytes == PIECE && !psd_flight_admits(&flight, &small));
    psd_flight_land(&flight, &oldest);
    CHECK(psd_flight_admits(&flight, &next));
}

static void the_second_is_the_oldest_when_the_first_has_landed(void)
{
    struct psd_flight flight = psd_flight_of(4, 0);
    struct psd_send first = send_of(PIECE), second = send_of(PIECE), third = send_of(2 * PIECE);
    struct psd_send fits = send_of(PIECE), large = send_of(PIECE + 1);

    psd_flight_add(&flight, &first);
    psd_flight_add(&flight, &second);
    psd_flight_add(&flight, &third);
    psd_flight_land(&flight, &third);
    CHECK(!psd_flight_admits(&flight, &fits));
    psd_flight_land(&flight, &first);
    CHECK(psd_flight_admits(&flight, &fits));
    CHECK(psd_flight_admits(&flight, &large)); /* and of its length four are the lead */
}

static void short_ones_leave_behind_long_ones_too(void)
{
    struct psd_flight flight = psd_flight_of(2, 0);
    struct psd_send longs[2] = {send_of(5 * PIECE), send_of(5 * PIECE)};
    struct psd_send shorts[2] = {send_of(PIECE), send_of(1)}, none = send_of(0);

    psd_flight_add(&flight, &longs[0]);
    psd_flight_add(&flight, &longs[1]);
    for (size_t i = 0; i < 2; i++) {
        CHECK(psd_flight_admits(&flight, &shorts[i]));
        psd_flight_add(&flight, &shorts[i]);
    }
    CHECK(!psd_flight_admits(&flight, &none)); /* four are a few */
}

/* Against a flight that is a table: which slots are out, and when they left. */
static void random_landings_agree_with_a_table(void)
{
    const uint64_t credit = 3 * PIECE, lead = 4 * PIECE;
    struct psd_flight flight = psd_flight_of(4, credit);
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
        sends[slot] = send_of(1 + psd_random_below(1, 1, 2 * step + 1, PIECE));
        uint64_t length = sends[slot].message.length;
        bool may = bytes == 0 || (bytes + length <= credit && left - oldest + length <= lead);
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
    RUN(many_ranks_have_more_pieces_in_flight_and_none_fewer_than_four)
    RUN(what_has_landed_counts_while_an_older_one_has_not)
    RUN(the_second_is_the_oldest_when_the_first_has_landed)
    RUN(short_ones_leave_behind_long_ones_too)
    RUN(random_landings_agree_with_a_table)
}
