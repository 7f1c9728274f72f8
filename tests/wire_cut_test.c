/* wire_cut_test.c - processes with networks of their own: a cable is cut, packets are lost. */
#include "wire.h"

/* By what it does not acknowledge, long before its time is over. */
static void a_member_that_is_cut_off_is_named(void)
{
    wire_part();
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++)
        wire_lose(WIRE_CUT, crew_ground, false);
}

static void a_lossy_network_changes_no_bit(void)
{
    struct crew_case c = {
        .ranks = 3, .workers = 8, .rule = "Adam", .forms = CREW_MIXED, .iterations = 40};

    wire_part();
    if (!wire_run("nft list ruleset >/dev/null"))
        SKIP("nft is not installed, or the kernel does not know it");
    wire_loses_some = true;
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
    RUN(a_lossy_network_changes_no_bit)
}
