/* wire_cut_test.c - processes with networks of their own: a cable is cut, packets are lost. */
#include "wire.h"

static void part_with_nft(void)
{
    wire_part();
    if (!wire_run("nft list ruleset >/dev/null"))
        SKIP("nft is not installed, or the kernel does not know it");
}

/* By what it does not acknowledge, long before its time is over. */
static void a_member_that_is_cut_off_is_named(void)
{
    wire_part();
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++)
        wire_lose(WIRE_CUT, crew_ground, false);
}

/* It misses the others as they miss it, but what it says of that waits behind what nobody acknowledges. */
static void a_member_that_nothing_reaches_is_named(void)
{
    part_with_nft();
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++)
        wire_lose(WIRE_DEAF, crew_ground, false);
}

static void a_lossy_network_changes_no_bit(void)
{
    static const struct {
        unsigned loses, iterations;
    } cases[] = {{1, 40}, {5, 8}};

    part_with_nft();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct crew_case c = {.ranks = 3,
                              .workers = 8,
                              .rule = "Adam",
                              .forms = CREW_MIXED,
                              .iterations = cases[i].iterations};
        float *alone = crew_train_alone(&c);
        wire_loses = cases[i].loses;
        for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++)
            wire_check_bits(&c, alone);
        free(alone);
    }
}

/* Nothing comes to rank 1 and nothing leaves it from one whole second to the next, by a clock that the kernel
 * itself looks at. */
static void fall_out_for_a_second(unsigned rank)
{
    struct timespec now;

    if (rank != 1)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_S - (uint64_t)now.tv_nsec);
    wire_drop("input", "meta time < %lld", (long long)now.tv_sec + 2);
    wire_drop("output", "meta time < %lld", (long long)now.tv_sec + 2);
}

static void an_outage_of_a_second_changes_no_bit(void)
{
    struct crew_case c = {
        .ranks = 3, .workers = 8, .rule = "Adam", .forms = CREW_MIXED, .iterations = 10};

    part_with_nft();
    wire_midway = fall_out_for_a_second;
    float *alone = crew_train_alone(&c);
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++)
        wire_check_bits(&c, alone);
    free(alone);
}

static void eight_workers_have_the_same_bits_on_any_route(void)
{
    struct crew_case c = {.workers = 8, .rule = "Adam", .forms = CREW_MIXED, .iterations = 3};

    wire_part();
    float *alone = crew_train_alone(&c);
    for (c.ranks = 2; c.ranks <= 8; c.ranks *= 2) {
        for (size_t i = 0; i < WIRE_ROUTES; i++) {
            c.route = wire_routes[i];
            crew_ground = i % 2 ? CREW_CLEAR : CREW_TLS;
            wire_check_bits(&c, alone);
        }
    }
    free(alone);
}

int main(int argc, char **argv)
{
    RUN(eight_workers_have_the_same_bits_on_any_route)
    RUN(a_member_that_is_cut_off_is_named)
    RUN(a_member_that_nothing_reaches_is_named)
    RUN(a_lossy_network_changes_no_bit)
    RUN(an_outage_of_a_second_changes_no_bit)
}
