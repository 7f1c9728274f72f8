/* comm_plan_test.c - the plan of a live job: what it knows of network and arithmetic, and chooses by. */
#include "comm_seats.h"

static void the_plan_says_what_is_known_of_the_network(void)
{
    static const struct {
        double bandwidth, latency;
        const char *words;
    } cases[] = {
        {0, 0, "network    1250.0 MB/s each way, assumed; 50.0 us one way, assumed\n"},
        {2e6, 0, "network    2.0 MB/s each way, given; 50.0 us one way, assumed\n"},
        {2e9, 1e-3, "network    2000.0 MB/s each way, given; 1000.0 us one way, given\n"},
        {-1, 1e-3, "; 1000.0 us one way, given\n"},
        {-1, 0, " us one way, measured\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct group group = {.bandwidth = cases[i].bandwidth, .latency = cases[i].latency};
        crew_name(group.name);
        crew_each(RANKS, compare_first_values, &group);
        const char *network = strstr(group.plan[0], "network ");
        fprintf(stderr, "    %s", network);
        CHECK(strstr(network, cases[i].words));
        CHECK((cases[i].bandwidth < 0) == (strstr(network, "way, measured (least: rank ") != NULL));
        for (unsigned k = 0; k < RANKS; k++)
            free(group.plan[k]);
    }
}

static void the_plan_says_what_is_known_of_arithmetic(void)
{
    static const struct {
        struct psd_comm_rates rates;
        const char *words;
    } cases[] = {
        {{5e9, 2e9, 3e9}, "arithmetic rebuild 5 GFLOP/s, update 2 GB/s, sum 3 GB/s, given\n"},
        {{5e9, 0, 3e9}, " sum 3 GB/s, some of it given, the rest measured\n"},
        {{0, 0, 0}, " GB/s, measured\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct group group = {.rates = cases[i].rates};
        crew_name(group.name);
        crew_each(RANKS, compare_first_values, &group);
        const char *arithmetic = strstr(group.plan[2], "arithmetic ");
        fprintf(stderr, "    %s", arithmetic);
        CHECK(strstr(arithmetic, cases[i].words));
        CHECK(!strstr(arithmetic, " 0 G"));
        for (unsigned k = 0; k < RANKS; k++)
            free(group.plan[k]);
    }
    struct single *single = new_started();
    CHECK(!strstr(psd_comm_plan(single->comm), "arithmetic"));
    free_single(single);
}

/* A layer that computes, if rank 0 says so, and a weight that goes as factors. */
struct choice {
    struct group group;
    double conv_s, fc_s; /* forward, and twice as long backward */
    enum psd_route route;
};

static void let_rank_0_choose(void *arg, unsigned rank)
{
    struct choice *choice = arg;
    struct psd_comm_options options = group_options(&choice->group, rank);
    double conv_s = rank ? 0 : choice->conv_s, fc_s = rank ? 0 : choice->fc_s;
    float *value = calloc(256 * 1024 + 1, sizeof *value);
    struct psd_comm_param conv = {.name = "conv",
                                  .rows = 1,
                                  .cols = 1,
                                  .value = value + (size_t)256 * 1024,
                                  .forward_s = conv_s,
                                  .backward_s = 2 * conv_s};
    struct psd_comm_param fc = {.name = "fc",
                                .rows = 256,
                                .cols = 1024,
                                .value = value,
                                .factors = true,
                                .form = PSD_FORM_FACTORED,
                                .forward_s = fc_s,
                                .backward_s = 2 * fc_s};
    struct psd_comm *comm = NULL;
    int id = -1;

    options.batch = 16;
    CHECK_OK(psd_comm_open(&options, &comm));
    CHECK_OK(psd_comm_add(comm, &conv, &id));
    CHECK_OK(psd_comm_add(comm, &fc, &id));
    CHECK_OK(psd_comm_start(comm));
    CHECK(psd_comm_form(comm, id) == PSD_FORM_FACTORED);
    if (rank == 2)
        choice->route = psd_comm_route(comm, id);
    psd_comm_close(comm);
    free(value);
}

/* The route of fc, when a process rebuilds so fast and a layer takes so long. */
static enum psd_route choice_of(double rebuild_flops, double conv_s, double fc_s)
{
    struct choice choice = {
        .group = {.bandwidth = 1e9, .latency = 1e-6, .rates = {rebuild_flops, 1e12, 1e12}},
        .conv_s = conv_s,
        .fc_s = fc_s};

    crew_name(choice.group.name);
    crew_each(RANKS, let_rank_0_choose, &choice);
    return choice.route;
}

/* To all: 0.2 ms of factors, and a product of 17 M operations more than one process alone would do.
 * By rows: 0.9 ms of factors and values, and 1 M operations more. */
static void who_rebuilds_slowly_rebuilds_only_some_rows(void)
{
    CHECK(choice_of(1e15, 0, 0) == PSD_ROUTE_BROADCAST);
    CHECK(choice_of(1e11, 0, 0) == PSD_ROUTE_BROADCAST);
    CHECK(choice_of(1e10, 0, 0) == PSD_ROUTE_ROW_SHARDED);
}

/* Behind conv's computing both are hidden; what the device does is not. */
static void bytes_that_computing_hides_cost_nothing(void)
{
    CHECK(choice_of(1e11, 1e-6, 1e-6) == PSD_ROUTE_BROADCAST);
    CHECK(choice_of(1e11, 0.5, 0.1) == PSD_ROUTE_ROW_SHARDED);
}

int main(int argc, char **argv)
{
    RUN(the_plan_says_what_is_known_of_the_network)
    RUN(the_plan_says_what_is_known_of_arithmetic)
    RUN(who_rebuilds_slowly_rebuilds_only_some_rows)
    RUN(bytes_that_computing_hides_cost_nothing)
}
