/* comm_bits_test.c - the same bits, however a job is spread over seats, threads and routes. */
#include "crew.h"

static void check_equal(const struct crew_case *c, const float *expected)
{
    float *values = crew_train(c);

    CHECK(crew_same(expected, values));
    free(values);
}

static void update_mode_equals_one_loop_with_the_same_rule(void)
{
    static const char *const rules[] = {"SGD",     "Nesterov", "AdaGrad",
                                        "RMSProp", "AdaDelta", "Adam"};

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct crew_case c = {.ranks = 3, .workers = 4, .rule = rules[i], .forms = CREW_MIXED};
        float *alone = crew_train_alone(&c);
        check_equal(&c, alone);
        free(alone);
    }
}

static void sum_mode_and_then_the_rule_equals_update_mode(void)
{
    static const enum crew_forms forms[] = {CREW_DENSE, CREW_FACTORED, CREW_MIXED};

    for (size_t i = 0; i < 3; i++) {
        struct crew_case c = {.ranks = 3, .workers = 5, .rule = "Adam", .forms = forms[i]};
        float *updated = crew_train(&c);
        c.mode = PSD_COMM_SUM;
        check_equal(&c, updated);
        c.in_place = true;
        check_equal(&c, updated);
        free(updated);
    }
}

static void any_number_of_seats_gives_the_bits_of_one(void)
{
    static const unsigned ranks[] = {1, 2, 3, 5, 8};
    static const struct {
        enum crew_forms forms;
        enum psd_route route;
    } ways[] = {{CREW_DENSE, PSD_ROUTE_AUTO},
                {CREW_FACTORED, PSD_ROUTE_AUTO},
                {CREW_FACTORED, PSD_ROUTE_BROADCAST},
                {CREW_FACTORED, PSD_ROUTE_ROW_SHARDED},
                {CREW_FACTORED, PSD_ROUTE_SINGLE_OWNER},
                {CREW_MIXED, PSD_ROUTE_ROW_SHARDED}};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct crew_case c = {.workers = 8, .rule = "Adam", .forms = ways[i].forms};
        float *alone = crew_train_alone(&c);
        for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
            c.ranks = ranks[k];
            c.route =
                ranks[k] == 1 && ways[i].forms != CREW_DENSE ? PSD_ROUTE_LOCAL : ways[i].route;
            check_equal(&c, alone);
        }
        free(alone);
    }
}

static void clipping_gives_the_same_bits_on_any_number_of_seats(void)
{
    struct crew_case c = {.ranks = 1, .workers = 8, .forms = CREW_MIXED, .clip = 0};
    float *unclipped = crew_train(&c);
    c.clip = 1.5f;
    float *alone = crew_train(&c);

    CHECK(!crew_same(unclipped, alone));
    for (unsigned ranks = 2; ranks <= 8; ranks += 3) {
        c.ranks = ranks;
        c.route = PSD_ROUTE_ROW_SHARDED;
        check_equal(&c, alone);
        c.route = PSD_ROUTE_BROADCAST;
        check_equal(&c, alone);
    }
    free(unclipped);
    free(alone);
}

/* Those that share a piece, one that is cut, and one that is neither, beside every rule. */
static void what_is_averaged_equals_one_loop_on_any_number_of_seats(void)
{
    static const unsigned ranks[] = {1, 2, 3, 5, 8};
    static const struct {
        const char *rule;
        unsigned workers, averaged;
    } cases[] = {{"Adam", 8, 0x43}, {"SGD", 8, 0xc7}, {"AdaDelta", 8, 0x84}, {"Nesterov", 7, 0x46}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct crew_case c = {.workers = cases[i].workers,
                              .rule = cases[i].rule,
                              .averaged = cases[i].averaged,
                              .forms = CREW_MIXED};
        float *alone = crew_train_alone(&c);
        for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
            c.ranks = ranks[k] < c.workers ? ranks[k] : c.workers;
            check_equal(&c, alone);
        }
        free(alone);
    }
}

static void what_is_averaged_beside_clipping_has_the_same_bits(void)
{
    struct crew_case c = {
        .ranks = 1, .workers = 8, .forms = CREW_MIXED, .clip = 1.5f, .averaged = 0xc5};
    float *alone = crew_train(&c);
    c.clip = 0;
    float *unclipped = crew_train(&c);

    CHECK(!crew_same(unclipped, alone));
    for (size_t i = 0; i < CREW_PARAMS; i++) /* no norm changes a mean, */
        CHECK(crew_is_averaged(&c, i) ==
              crew_equal(alone + crew_first(i), unclipped + crew_first(i), crew_count(i)));
    c.clip = 1.5f;
    for (c.ranks = 2; c.ranks <= 8; c.ranks += 3) /* and nobody's place does */
        check_equal(&c, alone);
    free(unclipped);
    free(alone);
}

static void workers_of_one_seat_may_sync_from_threads_of_their_own(void)
{
    struct crew_case c = {.ranks = 2, .workers = 8, .rule = "Nesterov", .forms = CREW_MIXED};
    float *alone = crew_train_alone(&c);

    c.threads = true;
    c.helpers = 3;
    c.iterations = 0;
    for (unsigned ranks = 1; ranks <= 4; ranks *= 2) {
        c.ranks = ranks;
        check_equal(&c, alone);
    }
    free(alone);
}

/* --- over sockets ----------------------------------------------------------------------------- */

/* S = 8 on a few processes, all forms and routes. */
static void check_ground(enum crew_ground ground)
{
    static const enum psd_route routes[] = {PSD_ROUTE_BROADCAST, PSD_ROUTE_ROW_SHARDED,
                                            PSD_ROUTE_SINGLE_OWNER};
    struct crew_case c = {.workers = 8, .rule = "Adam", .forms = CREW_MIXED};
    float *alone = crew_train_alone(&c);

    crew_ground = ground;
    for (size_t i = 0; i < 3; i++) {
        c.route = routes[i];
        for (c.ranks = 2; c.ranks <= 8; c.ranks += 3)
            check_equal(&c, alone);
    }
    free(alone);
    c = (struct crew_case){.workers = 8, .ranks = 3, .averaged = 0xc7};
    alone = crew_train_alone(&c);
    check_equal(&c, alone);
    free(alone);
    c = (struct crew_case){.workers = 8, .ranks = 3, .mode = PSD_COMM_SUM, .in_place = true};
    alone = crew_train_alone(&c);
    check_equal(&c, alone);
    free(alone);
}

static void sockets_give_the_same_bits_encrypted(void)
{
    check_ground(CREW_TLS);
}

static void sockets_give_the_same_bits_in_clear(void)
{
    check_ground(CREW_CLEAR);
}

static void sockets_give_the_same_bits_on_several_streams_and_lanes(void)
{
    check_ground(CREW_LANES);
}

int main(int argc, char **argv)
{
    RUN(update_mode_equals_one_loop_with_the_same_rule)
    RUN(sum_mode_and_then_the_rule_equals_update_mode)
    RUN(any_number_of_seats_gives_the_bits_of_one)
    RUN(clipping_gives_the_same_bits_on_any_number_of_seats)
    RUN(what_is_averaged_equals_one_loop_on_any_number_of_seats)
    RUN(what_is_averaged_beside_clipping_has_the_same_bits)
    RUN(workers_of_one_seat_may_sync_from_threads_of_their_own)
    RUN(sockets_give_the_same_bits_encrypted)
    RUN(sockets_give_the_same_bits_in_clear)
    RUN(sockets_give_the_same_bits_on_several_streams_and_lanes)
}
