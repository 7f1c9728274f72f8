/* wire_test.c - processes over sockets on one machine: the same bits, and a fate that all survivors know. */
#include "crew_sim.h"
#include "wire.h"

/* --- the same bits ---------------------------------------------------------------------------- */

/* Factored layers take the route of the case, and all else goes by servers: on the simulated network, and
 * over sockets that are encrypted, in clear, and several for each pair. */
static void check_route(struct crew_case c, enum psd_route route, const float *alone)
{
    c.route = c.ranks == 1 ? PSD_ROUTE_LOCAL : route;
    float *simulated = crew_train_on_sim(&c);
    CHECK(crew_same(alone, simulated));
    free(simulated);
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++)
        wire_check_bits(&c, alone);
}

static void eight_workers_have_the_bits_of_the_simulation_on_one_to_eight_processes(void)
{
    struct crew_case c = {.workers = 8, .rule = "Adam", .forms = CREW_MIXED, .iterations = 3};
    float *alone = crew_train_alone(&c);

    for (c.ranks = 1; c.ranks <= 8; c.ranks++) {
        for (size_t i = 0; i < (c.ranks == 1 ? 1 : WIRE_ROUTES); i++)
            check_route(c, wire_routes[i], alone);
    }
    free(alone);
}

static void all_layers_may_take_any_route(void)
{
    struct crew_case c = {.ranks = 4, .workers = 8, .forms = CREW_FACTORED, .iterations = 3};
    float *alone = crew_train_alone(&c);

    for (size_t i = 0; i < WIRE_ROUTES; i++)
        check_route(c, wire_routes[i], alone);
    free(alone);
}

/* --- losses ----------------------------------------------------------------------------------- */

static void a_killed_member_is_named_at_once(void)
{
    for (unsigned victim = 0; victim < 4; victim += 2) {
        crew_ground = victim ? CREW_TLS : CREW_CLEAR;
        wire_lose(WIRE_KILLED, victim, false);
    }
    crew_ground = CREW_LANES;
    wire_lose(WIRE_KILLED, 1, false);
}

static void one_that_is_killed_while_all_measure_is_named_at_once(void)
{
    crew_ground = CREW_CLEAR;
    wire_lose(WIRE_KILLED_AT_START, 2, false);
}

static void a_member_that_exits_without_a_word_is_named(void)
{
    crew_ground = CREW_TLS;
    wire_lose(WIRE_LEAVES, 1, false);
}

/* Who hears of a loss and exits on the spot must not be taken for it. */
static void survivors_that_do_not_close_are_not_blamed(void)
{
    crew_ground = CREW_TLS;
    for (unsigned victim = 0; victim < 4; victim += 3)
        wire_lose(WIRE_KILLED, victim, true);
}

static void a_stopped_member_is_named_when_its_time_is_over(void)
{
    crew_ground = CREW_TLS;
    wire_lose(WIRE_STOPPED, 2, false);
    crew_ground = CREW_CLEAR;
    wire_lose(WIRE_STOPPED, 0, true);
}

/* --- the start -------------------------------------------------------------------------------- */

static void the_network_is_measured_at_the_start(void)
{
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++) {
        struct wire *wire = wire_create(&(struct crew_case){.ranks = 3, .iterations = 1});
        wire->victim = WIRE_MOST;
        wire_fork(wire, wire_live, wire);
        wire_wait(wire);
        fprintf(stderr, "    %s", wire->reports[0].network);
        for (unsigned i = 0; i < 3; i++) {
            CHECK_OK(wire->reports[i].status);
            CHECK(strstr(wire->reports[i].network, "each way, measured (least: rank "));
        }
        wire_destroy(wire);
    }
}

/* As many bytes as a link carries in two round trips; and what a process says for itself it has. */
static void windows_follow_from_the_network_unless_somebody_says_them(void)
{
    static const struct {
        double bandwidth, latency;
        size_t said, window;
        const char *words;
    } cases[] = {
        {1e9, 25e-6, 0, 256 << 10, "; windows of 256 KB\n"},
        {1e9, 80e-6, 0, 320000, "; windows of 312 KB\n"},
        {1e9, 25e-6, 64 << 10, 64 << 10, "; windows of 256 KB\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crew_ground = i % 2 ? CREW_LANES : CREW_CLEAR;
        struct wire *wire = wire_create(&(struct crew_case){.ranks = 3, .iterations = 1});
        wire->victim = WIRE_MOST;
        wire->bandwidth = cases[i].bandwidth;
        wire->latency = cases[i].latency;
        wire->window = cases[i].said;
        wire_fork(wire, wire_live, wire);
        wire_wait(wire);
        for (unsigned k = 0; k < 3; k++) {
            fprintf(stderr, "    %zu, %s", wire->reports[k].window, wire->reports[k].network);
            CHECK_OK(wire->reports[k].status);
            CHECK(wire->reports[k].window == cases[i].window);
            CHECK(strstr(wire->reports[k].network, cases[i].words));
        }
        wire_destroy(wire);
    }
}

static void open_in_vain(void *arg, unsigned rank)
{
    struct wire *wire = arg;
    struct psd_comm_options options = crew_options(&wire->c, wire->crew.name, rank);
    struct psd_comm *comm = NULL;

    options.timeout_ms = wire->timeout_ms;
    if (wire->victim == rank) {
        options.key = "what nobody else knows";
        options.key_size = strlen(options.key);
    }
    wire->reports[rank].status = psd_comm_open(&options, &comm);
    snprintf(wire->reports[rank].sentence, sizeof wire->reports[rank].sentence, "%s", psd_error());
}

static bool is_said(const struct wire *wire, unsigned rank, const char *words)
{
    fprintf(stderr, "    rank %u: %s\n", rank, wire->reports[rank].sentence);
    return strstr(wire->reports[rank].sentence, words);
}

static bool miss_who_has_another_key(uint64_t timeout_ms)
{
    struct wire *wire = wire_create(&(struct crew_case){.ranks = 3});

    wire->victim = 1;
    wire->timeout_ms = timeout_ms;
    wire_fork(wire, open_in_vain, wire);
    wire_wait(wire);
    for (unsigned i = 0; i < 3; i++)
        CHECK(wire->reports[i].status == PSD_ETIMEOUT);
    bool is_right = is_said(wire, 0, "rank 1 has not come") &&
                    is_said(wire, 0, "handshakes were refused, as with another key") &&
                    is_said(wire, 1, "another key") && is_said(wire, 2, "rank 1 has not come");
    wire_destroy(wire);
    return is_right;
}

static void who_has_another_key_is_missed_and_told_so(void)
{
    for (crew_ground = CREW_TLS; crew_ground <= CREW_CLEAR; crew_ground++)
        crew_be_patient(700, miss_who_has_another_key);
}

static void a_port_that_is_taken_is_named(void)
{
    crew_ground = CREW_TLS;
    struct wire *wire = wire_create(&(struct crew_case){.ranks = 2});
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    wire->victim = WIRE_MOST;
    wire->timeout_ms = 700;
    at.sin_port = htons((uint16_t)atoi(strrchr(wire->crew.name, ':') + 1));
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 8) == 0);
    wire_fork(wire, open_in_vain, wire);
    wire_wait(wire);
    CHECK(is_said(wire, 0, "taken") && wire->reports[0].status == PSD_ECONFIG);
    CHECK(is_said(wire, 1, "rank 0 has not come") && wire->reports[1].status == PSD_ETIMEOUT);
    close(fd);
    wire_destroy(wire);
}

int main(int argc, char **argv)
{
    RUN(eight_workers_have_the_bits_of_the_simulation_on_one_to_eight_processes)
    RUN(all_layers_may_take_any_route)
    RUN(a_killed_member_is_named_at_once)
    RUN(one_that_is_killed_while_all_measure_is_named_at_once)
    RUN(a_member_that_exits_without_a_word_is_named)
    RUN(survivors_that_do_not_close_are_not_blamed)
    RUN(a_stopped_member_is_named_when_its_time_is_over)
    RUN(the_network_is_measured_at_the_start)
    RUN(windows_follow_from_the_network_unless_somebody_says_them)
    RUN(who_has_another_key_is_missed_and_told_so)
    RUN(a_port_that_is_taken_is_named)
}
