/* wire_test.c - processes over sockets on one machine: the same bits, and a fate that all survivors know. */
#include "wire.h"

/* --- the same bits ---------------------------------------------------------------------------- */

static void eight_workers_have_the_same_bits_on_one_to_eight_processes(void)
{
    static const enum psd_route routes[] = {PSD_ROUTE_BROADCAST, PSD_ROUTE_ROW_SHARDED,
                                            PSD_ROUTE_SINGLE_OWNER};
    struct crew_case c = {.workers = 8, .rule = "Adam", .forms = CREW_MIXED, .iterations = 3};
    float *alone = crew_train_alone(&c);

    for (c.ranks = 1; c.ranks <= 8; c.ranks++) {
        c.route = c.ranks == 1 ? PSD_ROUTE_LOCAL : routes[c.ranks % 3];
        crew_ground = c.ranks % 2 ? CREW_TLS : CREW_CLEAR;
        wire_check_bits(&c, alone);
    }
    free(alone);
}

static void every_route_has_the_same_bits_on_several_streams(void)
{
    static const enum psd_route routes[] = {PSD_ROUTE_AUTO, PSD_ROUTE_BROADCAST,
                                            PSD_ROUTE_ROW_SHARDED, PSD_ROUTE_SINGLE_OWNER};
    struct crew_case c = {.ranks = 4, .workers = 8, .forms = CREW_FACTORED, .iterations = 3};
    float *alone = crew_train_alone(&c);

    crew_ground = CREW_LANES;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        c.route = routes[i];
        wire_check_bits(&c, alone);
    }
    free(alone);
}

/* --- losses ----------------------------------------------------------------------------------- */

static void a_killed_member_is_named_at_once(void)
{
    for (unsigned victim = 0; victim < 4; victim += 2) {
        crew_ground = victim ? CREW_TLS : CREW_CLEAR;
        wire_lose(WIRE_KILLED, victim, false, 10000, 4000);
    }
    crew_ground = CREW_LANES;
    wire_lose(WIRE_KILLED, 1, false, 10000, 4000);
}

static void one_that_is_killed_while_all_measure_is_named_at_once(void)
{
    crew_ground = CREW_CLEAR;
    wire_lose(WIRE_KILLED_AT_START, 2, false, 10000, 4000);
}

static void a_member_that_exits_without_a_word_is_named(void)
{
    crew_ground = CREW_TLS;
    wire_lose(WIRE_LEAVES, 1, false, 10000, 4000);
}

/* Who hears of a loss and exits on the spot must not be taken for it. */
static void survivors_that_do_not_close_are_not_blamed(void)
{
    crew_ground = CREW_TLS;
    for (unsigned victim = 0; victim < 4; victim += 3)
        wire_lose(WIRE_KILLED, victim, true, 10000, 4000);
}

static void a_stopped_member_is_named_within_the_timeout(void)
{
    crew_ground = CREW_TLS;
    wire_lose(WIRE_STOPPED, 2, false, 1500, 1500 + 1500);
    crew_ground = CREW_CLEAR;
    wire_lose(WIRE_STOPPED, 0, true, 1500, 1500 + 1500);
}

/* --- the start -------------------------------------------------------------------------------- */

static void the_network_is_measured_in_less_than_a_second(void)
{
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++) {
        struct wire *wire = wire_create(&(struct crew_case){.ranks = 3, .iterations = 1});
        uint64_t begin_ns = psd_clock_now();
        wire->victim = WIRE_MOST;
        wire_fork(wire, wire_live, wire);
        wire_wait(wire);
        fprintf(stderr, "    %s", wire->reports[0].network);
        for (unsigned i = 0; i < 3; i++) {
            CHECK_OK(wire->reports[i].status);
            CHECK(strstr(wire->reports[i].network, "each way, measured (least: rank "));
            CHECK(wire->reports[i].when_ns - begin_ns < 4 * PSD_CLOCK_S);
        }
        wire_destroy(wire);
    }
}

static void open_with_another_key(void *arg, unsigned rank)
{
    struct wire *wire = arg;
    struct psd_comm_options options = crew_options(&wire->c, wire->crew.name, rank);
    struct psd_comm *comm = NULL;

    options.timeout_ms = 700;
    if (rank == 1) {
        options.key = "what nobody else knows";
        options.key_size = strlen(options.key);
    }
    wire->reports[rank].status = psd_comm_open(&options, &comm);
    snprintf(wire->reports[rank].sentence, sizeof wire->reports[rank].sentence, "%s", psd_error());
}

static void who_has_another_key_is_missed_and_told_so(void)
{
    for (crew_ground = CREW_TLS; crew_ground <= CREW_CLEAR; crew_ground++) {
        struct wire *wire = wire_create(&(struct crew_case){.ranks = 3});
        wire_fork(wire, open_with_another_key, wire);
        wire_wait(wire);
        for (unsigned i = 0; i < 3; i++) {
            fprintf(stderr, "    rank %u: %s\n", i, wire->reports[i].sentence);
            CHECK(wire->reports[i].status == PSD_ETIMEOUT);
        }
        CHECK(strstr(wire->reports[0].sentence, "rank 1 has not come"));
        CHECK(strstr(wire->reports[0].sentence, "handshakes were refused, as with another key"));
        CHECK(strstr(wire->reports[1].sentence, "another key"));
        CHECK(strstr(wire->reports[2].sentence, "rank 1 has not come"));
        wire_destroy(wire);
    }
}

static void open_in_vain(void *arg, unsigned rank)
{
    struct wire *wire = arg;
    struct psd_comm_options options = crew_options(&wire->c, wire->crew.name, rank);
    struct psd_comm *comm = NULL;

    options.timeout_ms = 700;
    wire->reports[rank].status = psd_comm_open(&options, &comm);
    wire->reports[rank].when_ns = psd_clock_now();
    snprintf(wire->reports[rank].sentence, sizeof wire->reports[rank].sentence, "%s", psd_error());
}

static void a_port_that_is_taken_is_named(void)
{
    crew_ground = CREW_TLS;
    struct wire *wire = wire_create(&(struct crew_case){.ranks = 2});
    uint64_t begin_ns = psd_clock_now();
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_port = htons((uint16_t)atoi(strrchr(wire->crew.name, ':') + 1));
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 8) == 0);
    wire_fork(wire, open_in_vain, wire);
    wire_wait(wire);
    for (unsigned i = 0; i < 2; i++)
        fprintf(stderr, "    rank %u: %s\n", i, wire->reports[i].sentence);
    CHECK(wire->reports[0].status == PSD_ECONFIG);
    CHECK(strstr(wire->reports[0].sentence, "taken"));
    CHECK(wire->reports[1].status == PSD_ETIMEOUT);
    CHECK(strstr(wire->reports[1].sentence, "rank 0 has not come"));
    CHECK(wire->reports[1].when_ns - begin_ns < 4 * PSD_CLOCK_S);
    close(fd);
    wire_destroy(wire);
}

int main(int argc, char **argv)
{
    RUN(eight_workers_have_the_same_bits_on_one_to_eight_processes)
    RUN(every_route_has_the_same_bits_on_several_streams)
    RUN(a_killed_member_is_named_at_once)
    RUN(one_that_is_killed_while_all_measure_is_named_at_once)
    RUN(a_member_that_exits_without_a_word_is_named)
    RUN(survivors_that_do_not_close_are_not_blamed)
    RUN(a_stopped_member_is_named_within_the_timeout)
    RUN(the_network_is_measured_in_less_than_a_second)
    RUN(who_has_another_key_is_missed_and_told_so)
    RUN(a_port_that_is_taken_is_named)
}
