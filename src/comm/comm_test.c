/* comm_test.c - the life of a seat: open, add, start, iterate, close; and what is refused. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "crew.h"

/* --- one seat --------------------------------------------------------------------------------- */

static const float ones[] = {1, 1, 1, 1};

/* A seat alone in its job. */
struct single {
    char name[32];
    float value[4], grad[4];
    struct psd_comm *comm;
    int id;
};

static struct psd_comm_options single_options(const struct single *single)
{
    return (struct psd_comm_options){.coordinator = single->name};
}

static struct psd_comm_param single_param(struct single *single)
{
    return (struct psd_comm_param){.name = "p", .rows = 1, .cols = 4, .value = single->value};
}

static struct single *new_single(void)
{
    struct single *single = calloc(1, sizeof *single);

    CHECK(single);
    crew_name(single->name);
    struct psd_comm_options options = single_options(single);
    CHECK_OK(psd_comm_open(&options, &single->comm));
    return single;
}

static struct single *new_started(void)
{
    struct single *single = new_single();
    struct psd_comm_param param = single_param(single);

    CHECK_OK(psd_comm_add(single->comm, &param, &single->id));
    CHECK_OK(psd_comm_start(single->comm));
    return single;
}

static void free_single(struct single *single)
{
    psd_comm_close(single->comm);
    free(single);
}

static void a_job_of_one_seat_updates_its_value(void)
{
    struct single *single = new_started();

    for (uint64_t iteration = 3; iteration < 6; iteration++) {
        CHECK_OK(psd_comm_begin(single->comm, iteration, 0.5f));
        memcpy(single->grad, ones, sizeof ones);
        CHECK_OK(psd_comm_sync(single->comm, single->id, 0, single->grad));
        CHECK_OK(psd_comm_wait(single->comm, single->id));
    }
    CHECK_NEAR(single->value[3], -1.5, 0);
    free_single(single);
}

static void a_seat_may_be_closed_at_any_time(void)
{
    psd_comm_close(NULL);
    free_single(new_single());
    struct single *single = new_single();
    struct psd_comm_param param = single_param(single);
    CHECK_OK(psd_comm_add(single->comm, &param, &single->id));
    free_single(single);
    free_single(new_started());
    single = new_started();
    CHECK_OK(psd_comm_begin(single->comm, 0, 1));
    free_single(single);
    single = new_started();
    CHECK_OK(psd_comm_begin(single->comm, 0, 1));
    CHECK_OK(psd_comm_sync(single->comm, single->id, 0, single->grad));
    free_single(single);
}

static void a_wait_without_a_sync_returns_at_once(void)
{
    struct single *single = new_started();

    CHECK_OK(psd_comm_wait(single->comm, single->id));
    CHECK_OK(psd_comm_begin(single->comm, 0, 1));
    CHECK_OK(psd_comm_wait(single->comm, single->id));
    free_single(single);
}

static void options_that_make_no_sense_are_refused(void)
{
    static const unsigned one[] = {1};
    static const size_t twos[] = {2, 2};
    static const struct {
        const char *words;
        psd_status status;
        struct psd_comm_options options;
    } cases[] = {
        {"there is no coordinator", PSD_EINVAL, {.ranks = 1}},
        {"no transport \"tpc\"", PSD_ECONFIG, {.coordinator = "tpc://here"}},
        {"does not say how to get there", PSD_ECONFIG, {.coordinator = "here"}},
        {"an address", PSD_ECONFIG, {.coordinator = "inproc://"}},
        {"simulat", PSD_EINVAL, {.coordinator = "sim://x"}},
        {"rank 2 is not below the number of ranks, 2",
         PSD_EINVAL,
         {.coordinator = "inproc://x", .rank = 2, .ranks = 2}},
        {"2 workers are too few for 3 ranks",
         PSD_EINVAL,
         {.coordinator = "inproc://x", .ranks = 3, .workers = 2}},
        {"rank 0 names no worker", PSD_EINVAL, {.coordinator = "inproc://x", .hosted = one}},
        {"rank 0 gives batches of no worker",
         PSD_EINVAL,
         {.coordinator = "inproc://x", .batches = twos}},
        {"rank 0 joins with batches of 2 workers, and hosts 1",
         PSD_EPEER,
         {.coordinator = "inproc://x", .batches = twos, .n_hosted = 2}},
        {"rank 0 hosts worker 1; workers are 0 to 0",
         PSD_EPEER,
         {.coordinator = "inproc://x", .hosted = one, .n_hosted = 1}},
        {"a key of 65 bytes", PSD_EINVAL, {.coordinator = "inproc://x", .key = "", .key_size = 65}},
        {"rank 0 would listen at sim://y, but the coordinator is inproc://x",
         PSD_ECONFIG,
         {.coordinator = "inproc://x", .address = "sim://y"}},
        {"no transport \"inprog\"",
         PSD_ECONFIG,
         {.coordinator = "inproc://x", .address = "inprog://x"}},
        {"no rule \"Adma\"", PSD_EINVAL, {.coordinator = "inproc://x", .update.rule = "Adma"}},
        {"a rate of -1 a second",
         PSD_EINVAL,
         {.coordinator = "inproc://x", .rates.rebuild_flops = -1}},
        {"a rate of nan a second",
         PSD_EINVAL,
         {.coordinator = "inproc://x", .rates.update_bytes_per_s = (double)NAN}},
        {"a rate of inf a second",
         PSD_EINVAL,
         {.coordinator = "inproc://x", .rates.sum_bytes_per_s = HUGE_VAL}},
        {"no mode 7", PSD_EINVAL, {.coordinator = "inproc://x", .mode = (enum psd_comm_mode)7}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_comm *comm = NULL;
        CHECK_STATUS(cases[i].status, psd_comm_open(&cases[i].options, &comm));
        fprintf(stderr, "    %s\n", psd_error());
        CHECK(strstr(psd_error(), cases[i].words) && !comm);
    }
}

static void a_place_that_is_taken_is_refused(void)
{
    struct single *single = new_single();
    struct psd_comm_options options = single_options(single);
    struct psd_comm *comm = NULL;

    CHECK_STATUS(PSD_ECONFIG, psd_comm_open(&options, &comm));
    CHECK(strstr(psd_error(), "is taken"));
    free_single(single);
}

static void calls_that_come_too_early_or_too_late_are_refused(void)
{
    struct single *single = new_single();
    struct psd_comm *comm = single->comm;
    struct psd_comm_param param = single_param(single),
                          nothing = {.name = "q", .rows = 1, .cols = 1};
    float *grad = single->grad;

    CHECK_STATUS(PSD_EINVAL, psd_comm_start(comm));
    CHECK(strstr(psd_error(), "no parameters"));
    CHECK_STATUS(PSD_EINVAL, psd_comm_add(comm, &nothing, &single->id));
    CHECK(strstr(psd_error(), "the value of q is NULL"));
    CHECK_OK(psd_comm_add(comm, &param, &single->id));
    CHECK_STATUS(PSD_EINVAL, psd_comm_add(comm, &param, &single->id));
    CHECK_STATUS(PSD_EINVAL, psd_comm_begin(comm, 0, 1));
    CHECK(strstr(psd_error(), "call psd_comm_start first"));
    CHECK_STATUS(PSD_EINVAL, psd_comm_barrier(comm));
    CHECK(psd_comm_form(comm, 0) == PSD_FORM_AUTO && psd_comm_route(comm, 0) == PSD_ROUTE_AUTO);
    CHECK_TEXT("", psd_comm_plan(comm));

    CHECK_OK(psd_comm_start(comm));
    CHECK_STATUS(PSD_EINVAL, psd_comm_start(comm));
    param.name = "late";
    CHECK_STATUS(PSD_EINVAL, psd_comm_add(comm, &param, &single->id));
    CHECK_TEXT("late is added after the start", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_comm_sync(comm, 0, 0, grad));
    CHECK_TEXT("p is synced before an iteration has begun", psd_error());

    CHECK_OK(psd_comm_begin(comm, 7, 1));
    CHECK_STATUS(PSD_EINVAL, psd_comm_sync(comm, 1, 0, grad));
    CHECK_STATUS(PSD_EINVAL, psd_comm_sync(comm, -1, 0, grad));
    CHECK_STATUS(PSD_EINVAL, psd_comm_sync(comm, 0, 1, grad));
    CHECK_TEXT("p is synced for worker 1, which rank 0 does not host", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_comm_sync(comm, 0, 0, NULL));
    CHECK_STATUS(PSD_EINVAL, psd_comm_sync_factors(comm, 0, 0, NULL, grad, 1));
    CHECK_STATUS(PSD_EINVAL, psd_comm_wait(comm, 1));
    CHECK_OK(psd_comm_sync(comm, 0, 0, grad)); /* no harm is done */
    CHECK_OK(psd_comm_wait(comm, 0));
    CHECK_STATUS(PSD_EINVAL, psd_comm_begin(comm, 9, 1));
    CHECK_TEXT("iteration 9 does not follow iteration 7", psd_error());
    CHECK_OK(psd_comm_begin(comm, 8, 1));
    free_single(single);
}

static void after_the_end_every_call_says_why(void)
{
    struct single *single = new_started();
    struct psd_comm *comm = single->comm;
    struct psd_comm_counters counters;
    const char *why = "rank 0: worker 0 syncs p twice in iteration 0; every worker syncs a "
                      "parameter once";

    CHECK_OK(psd_comm_begin(comm, 0, 1));
    CHECK_OK(psd_comm_sync(comm, 0, 0, single->grad));
    CHECK_STATUS(PSD_EINVAL, psd_comm_sync(comm, 0, 0, single->grad));
    CHECK_TEXT(why, psd_error());
    CHECK_STATUS(PSD_EPEER, psd_comm_wait(comm, 0));
    CHECK_TEXT(why, psd_error());
    CHECK_STATUS(PSD_EPEER, psd_comm_begin(comm, 1, 1));
    CHECK_TEXT(why, psd_error());
    CHECK_STATUS(PSD_EPEER, psd_comm_barrier(comm));
    CHECK_TEXT(why, psd_error());
    psd_comm_count(comm, &counters);
    CHECK(counters.iterations == 1);
    free_single(single);
}

/* --- several ---------------------------------------------------------------------------------- */

enum { RANKS = 3 };

struct group {
    char name[32];
    const unsigned *hosted[RANKS];
    unsigned n_hosted[RANKS];
    uint64_t timeout_ms;
    double bandwidth, latency;
    struct psd_comm_rates rates;
    atomic_int warned, met;
    atomic_bool failed;
    struct psd_comm_counters before[RANKS], after[RANKS];
    char warning[RANKS][256]; /* the first of each rank */
    psd_status status[RANKS];
    char sentence[RANKS][512];
    char *plan[RANKS];
    float late[3][80]; /* values and gradients of those who wait for rank 1 */
};

static struct psd_comm_options group_options(const struct group *group, unsigned rank)
{
    return crew_grounded((struct psd_comm_options){.coordinator = group->name,
                                                   .rank = rank,
                                                   .ranks = RANKS,
                                                   .hosted = group->hosted[rank],
                                                   .n_hosted = group->n_hosted[rank],
                                                   .bandwidth = group->bandwidth,
                                                   .latency = group->latency,
                                                   .timeout_ms = group->timeout_ms,
                                                   .rates = group->rates});
}

static struct psd_comm *group_seat(const struct group *group, unsigned rank, float *value)
{
    struct psd_comm_options options = group_options(group, rank);
    struct psd_comm_param params[] = {
        {.name = "fc", .rows = 3, .cols = 2, .value = value, .factors = true},
        {.name = "large", .rows = 1, .cols = 100000, .value = value + 6}};
    struct psd_comm *comm = NULL;
    int id = -1;

    CHECK_OK(psd_comm_open(&options, &comm));
    CHECK_OK(psd_comm_add(comm, &params[0], &id));
    CHECK_OK(psd_comm_add(comm, &params[1], &id));
    return comm;
}

static void compare_first_values(void *arg, unsigned rank)
{
    struct group *group = arg;
    float *value = calloc(100006, sizeof *value);
    unsigned count = 0;

    struct psd_comm *comm = group_seat(group, rank, value);
    for (size_t i = 0; i < 100006; i++)
        value[i] = (float)i + 1e6f * (float)psd_comm_hosted(comm, &count)[0];
    CHECK_OK(psd_comm_start(comm));
    for (size_t i = 0; i < 100006; i++)
        CHECK_NEAR(value[i], i, 0);
    group->plan[rank] = strdup(psd_comm_plan(comm));
    CHECK(psd_comm_form(comm, 0) != PSD_FORM_AUTO && psd_comm_route(comm, 0) != PSD_ROUTE_AUTO);
    CHECK(psd_comm_route(comm, 1) == PSD_ROUTE_SERVERS);
    psd_comm_close(comm);
    free(value);
}

static void values_begin_as_worker_0_has_them_and_all_see_one_plan(void)
{
    static const unsigned hosted[RANKS][1] = {{2}, {1}, {0}};
    struct group group = {.name = ""};

    for (int named = 0; named < 2; named++) {
        crew_name(group.name);
        for (unsigned i = 0; i < RANKS && named; i++) {
            group.hosted[i] = hosted[i];
            group.n_hosted[i] = 1;
        }
        crew_each(RANKS, compare_first_values, &group);
        CHECK(strstr(group.plan[0], "large"));
        for (unsigned i = 0; i < RANKS; i++) {
            CHECK_TEXT(group.plan[0], group.plan[i]);
            if (i > 0)
                free(group.plan[i]);
        }
        free(group.plan[0]);
    }
}

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

static void open_without_the_last(void *arg, unsigned rank)
{
    struct group *group = arg;
    struct psd_comm_options options = group_options(group, rank);
    struct psd_comm *comm = NULL;

    group->status[rank] = psd_comm_open(&options, &comm);
    snprintf(group->sentence[rank], sizeof group->sentence[rank], "%s", psd_error());
    CHECK(!comm);
}

/* A test may be too slow for the time of crew_be_patient: then what should be said is not said. */
static bool is_said(const struct group *group, unsigned rank, const char *words)
{
    fprintf(stderr, "    rank %u: %s\n", rank, group->sentence[rank]);
    CHECK(group->status[rank] == PSD_ETIMEOUT);
    return strstr(group->sentence[rank], words);
}

static bool miss_the_last(uint64_t timeout_ms)
{
    struct group group = {.timeout_ms = timeout_ms};
    char words[100];

    crew_name(group.name);
    crew_each(RANKS - 1, open_without_the_last, &group);
    snprintf(words, sizeof words, "within %llu ms; 2 of 3 ranks are there, says rank 0",
             (unsigned long long)timeout_ms);
    if (!is_said(&group, 0, words) || !is_said(&group, 1, words))
        return false;
    for (unsigned i = 0; i < RANKS - 1; i++)
        CHECK(strstr(group.sentence[i], "rank 2 has not come to ") &&
              strstr(group.sentence[i], group.name));
    return true;
}

static void a_rank_that_never_comes_is_named_on_all_others(void)
{
    crew_be_patient(1000, miss_the_last);
}

static void open_without_the_first(void *arg, unsigned rank)
{
    open_without_the_last(arg, rank + 1);
}

static bool miss_the_first(uint64_t timeout_ms)
{
    struct group group = {.timeout_ms = timeout_ms};

    crew_name(group.name);
    crew_each(RANKS - 1, open_without_the_first, &group);
    for (unsigned i = 1; i < RANKS; i++) {
        if (!is_said(&group, i, ": nobody listens at "))
            return false;
        CHECK(strstr(group.sentence[i], "rank 0 has not come to ") &&
              strstr(group.sentence[i], group.name));
    }
    return true;
}

static void a_first_rank_that_never_comes_is_named(void)
{
    crew_be_patient(1000, miss_the_first);
}

static void open_with_another_key(void *arg, unsigned rank)
{
    struct group *group = arg;
    struct psd_comm_options options = crew_grounded(
        (struct psd_comm_options){.coordinator = group->name,
                                  .rank = rank,
                                  .ranks = 2,
                                  .key = rank ? "open sesame, dear" : "open sesamo, dear",
                                  .key_size = 17,
                                  .timeout_ms = group->timeout_ms});
    struct psd_comm *comm = NULL;

    group->status[rank] = psd_comm_open(&options, &comm);
    snprintf(group->sentence[rank], sizeof group->sentence[rank], "%s", psd_error());
    CHECK(!comm);
}

static bool miss_who_has_another_key(uint64_t timeout_ms)
{
    struct group group = {.timeout_ms = timeout_ms};

    crew_name(group.name);
    crew_each(2, open_with_another_key, &group);
    return is_said(&group, 0, "rank 1 has not come") && is_said(&group, 1, "has another key");
}

static void who_has_another_key_takes_no_seat(void)
{
    crew_be_patient(1000, miss_who_has_another_key);
}

static void warn_0(void *context, const char *sentence)
{
    struct group *group = context;

    if (!*group->warning[0])
        snprintf(group->warning[0], sizeof group->warning[0], "%s", sentence);
    atomic_fetch_add(&group->warned, 1);
}

static void warn_2(void *context, const char *sentence)
{
    struct group *group = context;

    if (!*group->warning[2])
        snprintf(group->warning[2], sizeof group->warning[2], "%s", sentence);
    atomic_fetch_or(&group->warned, 1 << 16);
}

static bool all_warned(const struct group *group)
{
    return (atomic_load(&group->warned) & 0xffff) && atomic_load(&group->warned) >> 16;
}

/* Rank 1 is patient, and lets the others wait until they have warned or failed. */
static void let_others_wait(const struct group *group, unsigned rank)
{
    while (rank == 1 && !all_warned(group) && !atomic_load(&group->failed))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
}

/* The wait is in start, or for the value of an iteration. */
static psd_status be_late(struct group *group, unsigned rank, bool in_start, struct psd_comm **comm)
{
    struct psd_comm_options options = group_options(group, rank);
    float *value = group->late[rank], *grad = value + 40; /* they are the seat's until it closes */
    struct psd_comm_param param = {.name = "scale", .rows = 1, .cols = 40, .value = value};
    struct psd_comm_counters counters;
    int id = -1;

    options.warn = rank == 0 ? warn_0 : rank == 2 ? warn_2 : NULL;
    options.context = group;
    options.timeout_ms = rank == 1 ? (uint64_t)2 * CREW_PATIENCE_MS : group->timeout_ms;
    PSD_TRY(psd_comm_open(&options, comm));
    PSD_TRY(psd_comm_add(*comm, &param, &id));
    if (in_start)
        let_others_wait(group, rank);
    PSD_TRY(psd_comm_start(*comm));
    PSD_TRY(psd_comm_begin(*comm, 4, 1));
    if (!in_start)
        let_others_wait(group, rank);
    PSD_TRY(psd_comm_sync(*comm, id, rank, grad));
    PSD_TRY(psd_comm_wait(*comm, id));
    psd_comm_count(*comm, &counters);
    CHECK((rank == 1) == (counters.warnings == 0));
    return PSD_OK;
}

static void note_and_close(struct group *group, unsigned rank, psd_status status,
                           struct psd_comm *comm)
{
    if (status != PSD_OK) {
        fprintf(stderr, "    rank %u: %s\n", rank, psd_error());
        atomic_store(&group->failed, true);
    }
    psd_comm_close(comm);
}

static void start_late(void *arg, unsigned rank)
{
    struct psd_comm *comm = NULL;

    note_and_close(arg, rank, be_late(arg, rank, true, &comm), comm);
}

static void sync_late(void *arg, unsigned rank)
{
    struct psd_comm *comm = NULL;

    note_and_close(arg, rank, be_late(arg, rank, false, &comm), comm);
}

static bool warn_of_start(uint64_t timeout_ms)
{
    struct group group = {.timeout_ms = timeout_ms};

    crew_name(group.name);
    crew_each(RANKS, start_late, &group);
    if (atomic_load(&group.failed))
        return false;
    CHECK_TEXT("rank 0 waits in psd_comm_start: rank 1 has not called it", group.warning[0]);
    CHECK_TEXT("rank 2 waits in psd_comm_start for rank 0's plan", group.warning[2]);
    return true;
}

static bool warn_of_wait(uint64_t timeout_ms)
{
    struct group group = {.timeout_ms = timeout_ms};

    crew_name(group.name);
    crew_each(RANKS, sync_late, &group);
    if (atomic_load(&group.failed) || strstr(group.warning[0], "psd_comm_start") ||
        strstr(group.warning[2], "psd_comm_start"))
        return false;
    CHECK_TEXT("rank 0 waits for scale of iteration 4: rank 1 has not synced it", group.warning[0]);
    CHECK_TEXT("rank 2 waits for scale of iteration 4: rank 1 has not synced it", group.warning[2]);
    return true;
}

static void a_start_that_takes_long_says_who_is_missing(void)
{
    crew_be_patient(crew_ground == CREW_INPROC ? 500 : 1500, warn_of_start);
}

static void a_wait_that_takes_long_names_rank_and_parameter(void)
{
    crew_be_patient(crew_ground == CREW_INPROC ? 500 : 1500, warn_of_wait);
}

/* Returns when all ranks are here, without a word between them. */
static void meet(struct group *group)
{
    int round = atomic_fetch_add(&group->met, 1) / RANKS + 1;

    while (atomic_load(&group->met) < round * RANKS)
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
}

static void count_iteration(void *arg, unsigned rank)
{
    struct group *group = arg;
    struct psd_comm_options options = group_options(group, rank);
    float value[40] = {0}, grad[40] = {0};
    struct psd_comm_param param = {.name = "scale", .rows = 1, .cols = 40, .value = value};
    struct psd_comm *comm = NULL;
    int id = -1;

    CHECK_OK(psd_comm_open(&options, &comm));
    CHECK_OK(psd_comm_add(comm, &param, &id));
    CHECK_OK(psd_comm_start(comm));
    meet(group);
    psd_comm_count(comm, &group->before[rank]);
    meet(group);
    CHECK_OK(psd_comm_begin(comm, 0, 1));
    CHECK_OK(psd_comm_sync(comm, id, rank, grad));
    CHECK_OK(psd_comm_wait(comm, id));
    meet(group);
    psd_comm_count(comm, &group->after[rank]);
    meet(group);
    psd_comm_close(comm);
}

static void an_iteration_is_counted_message_by_message(void)
{
    struct group group = {.name = ""};
    uint64_t sent = 0, received = 0, sent_bytes = 0, received_bytes = 0;

    crew_name(group.name);
    crew_each(RANKS, count_iteration, &group);
    for (unsigned i = 0; i < RANKS; i++) {
        const struct psd_comm_counters *before = &group.before[i], *after = &group.after[i];
        CHECK(before->iterations == 0 && after->iterations == 1);
        CHECK(before->waits == 0 && after->waits <= 1 && after->warnings == 0);
        CHECK((after->waits == 0) == (after->waited_ns == 0));
        sent += after->sent_messages - before->sent_messages;
        received += after->received_messages - before->received_messages;
        sent_bytes += after->sent_bytes - before->sent_bytes;
        received_bytes += after->received_bytes - before->received_bytes;
    }
    CHECK(sent == received && sent_bytes == received_bytes);
    CHECK(sent == (RANKS - 1) + (RANKS - 1)); /* a gradient to the server, and a value from it */
    CHECK(sent_bytes == sent * (40 + 40 * sizeof(float)));
}

static void train_a_little(void *arg, unsigned job)
{
    struct crew_case c = {.ranks = 2, .workers = 3, .iterations = 2, .forms = CREW_MIXED};

    (void)job;
    float *values = crew_train(&c);
    CHECK(crew_same(arg, values));
    free(values);
}

static void many_jobs_run_at_once_in_one_process(void)
{
    struct crew_case c = {.ranks = 2, .workers = 3, .iterations = 2, .forms = CREW_MIXED};
    float *alone = crew_train_alone(&c);

    crew_each(12, train_a_little, alone);
    free(alone);
}

/* --- memory ----------------------------------------------------------------------------------- */

static psd_status live(struct single *single)
{
    struct psd_comm_options options = single_options(single);
    struct psd_comm_param param = single_param(single);

    single->comm = NULL;
    PSD_TRY(psd_comm_open(&options, &single->comm));
    PSD_TRY(psd_comm_add(single->comm, &param, &single->id));
    PSD_TRY(psd_comm_start(single->comm));
    PSD_TRY(psd_comm_begin(single->comm, 0, 1));
    PSD_TRY(psd_comm_sync(single->comm, single->id, 0, single->grad));
    return psd_comm_wait(single->comm, single->id);
}

static void a_seat_survives_every_failed_allocation(void)
{
    struct single single = {.id = -1};
    bool failed = true;

    crew_name(single.name);
    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = live(&single);
        psd_comm_close(single.comm);
        failed = psd_alloc_fail_at(-1);
        CHECK(status == PSD_OK || status == PSD_ENOMEM);
        CHECK(failed || status == PSD_OK);
    }
}

static void an_add_that_failed_may_be_made_again(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct single *single = new_single();
        struct psd_comm_param param = single_param(single);
        psd_alloc_fail_at(n);
        psd_status status = psd_comm_add(single->comm, &param, &single->id);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        if (failed)
            CHECK_OK(psd_comm_add(single->comm, &param, &single->id));
        CHECK_OK(psd_comm_start(single->comm));
        free_single(single);
    }
}

/* Both ranks of a job; one of them, or both, may run out of memory. */
static void live_together(void *arg, unsigned rank)
{
    struct group *group = arg;
    struct psd_comm_options options = {
        .coordinator = group->name, .rank = rank, .ranks = 2, .timeout_ms = group->timeout_ms};
    float value[40] = {0}, grad[40] = {0};
    struct psd_comm_param param = {.name = "scale", .rows = 1, .cols = 40, .value = value};
    struct psd_comm *comm = NULL;
    int id = -1;

    psd_status status = psd_comm_open(&options, &comm);
    if (status == PSD_OK)
        status = psd_comm_add(comm, &param, &id);
    if (status == PSD_OK)
        status = psd_comm_start(comm);
    if (status == PSD_OK)
        status = psd_comm_begin(comm, 0, 1);
    if (status == PSD_OK)
        status = psd_comm_sync(comm, id, rank, grad);
    if (status == PSD_OK)
        status = psd_comm_wait(comm, id);
    group->status[rank] = status;
    psd_comm_close(comm);
}

/* Whether allocation n was made, and failed. Who waits for one that has failed waits for the time given,
 * which is to be long enough when none fails. */
static bool fail_together(long n, uint64_t timeout_ms)
{
    struct group group = {.timeout_ms = timeout_ms};

    crew_name(group.name);
    psd_alloc_fail_at(n);
    crew_each(2, live_together, &group);
    bool failed = psd_alloc_fail_at(-1);
    for (unsigned i = 0; i < 2 && !failed; i++) {
        if (group.status[i] == PSD_ETIMEOUT && timeout_ms < CREW_PATIENCE_MS)
            return fail_together(n, 10 * timeout_ms);
        CHECK_OK(group.status[i]);
    }
    return failed;
}

/* Most of that is waiting, so several processes share the numbers. */
static void two_seats_survive_every_failed_allocation(void)
{
    enum { SHARES = 8 };
    pid_t shares[SHARES];
    int status = 1;

    for (long first = 0; first < SHARES; first++) {
        shares[first] = fork();
        if (shares[first] != 0)
            continue;
        for (long n = first; fail_together(n, 300); n += SHARES)
            ;
        exit(0); /* NOLINT(concurrency-mt-unsafe): its threads have ended */
    }
    for (int i = 0; i < SHARES; i++)
        CHECK(waitpid(shares[i], &status, 0) == shares[i] && status == 0);
}

/* --- over sockets ----------------------------------------------------------------------------- */

static void seats_meet_over_sockets(void)
{
    crew_ground = CREW_TLS;
    values_begin_as_worker_0_has_them_and_all_see_one_plan();
    an_iteration_is_counted_message_by_message();
    many_jobs_run_at_once_in_one_process();
}

static void seats_miss_each_other_over_sockets(void)
{
    crew_ground = CREW_CLEAR;
    a_rank_that_never_comes_is_named_on_all_others();
    a_first_rank_that_never_comes_is_named();
    who_has_another_key_takes_no_seat();
}

static void seats_warn_over_sockets(void)
{
    crew_ground = CREW_LANES;
    a_start_that_takes_long_says_who_is_missing();
    a_wait_that_takes_long_names_rank_and_parameter();
}

/* --- strangers ---------------------------------------------------------------------------------- */

static void keep_sentence(void *context, const char *sentence)
{
    snprintf(context, 400, "%s", sentence);
}

static void call_without_a_key(const char *coordinator)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                               .sin_port = htons((uint16_t)atoi(strrchr(coordinator, ':') + 1))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && connect(fd, (const struct sockaddr *)&name, sizeof name) == 0);
    CHECK(send(fd, "GET / HTTP/1.1", 14, MSG_NOSIGNAL) == 14);
    CHECK(recv(fd, &name, sizeof name, 0) <= 0);
    close(fd);
}

static void strangers_are_counted_and_told_of_at_the_end(void)
{
    char name[32], sentence[400] = "";
    struct psd_comm_counters counters;
    struct psd_comm *comm = NULL;

    crew_ground = CREW_TLS;
    struct psd_comm_options options = crew_grounded((struct psd_comm_options){
        .coordinator = crew_name(name), .warn = keep_sentence, .context = sentence});
    CHECK_OK(psd_comm_open(&options, &comm));
    psd_comm_count(comm, &counters);
    CHECK(counters.refused_handshakes == 0);
    call_without_a_key(name);
    call_without_a_key(name);
    psd_comm_count(comm, &counters);
    CHECK(counters.refused_handshakes == 2 && counters.refused_late == 0);
    CHECK(counters.refused_garbled + counters.refused_foreign + counters.refused_replayed == 0);
    CHECK_TEXT("", sentence);
    psd_comm_close(comm);
    CHECK_TEXT("rank 0 has refused on the network: 2 handshakes, as with another key", sentence);
}

int main(int argc, char **argv)
{
    RUN(a_job_of_one_seat_updates_its_value)
    RUN(a_seat_may_be_closed_at_any_time)
    RUN(a_wait_without_a_sync_returns_at_once)
    RUN(options_that_make_no_sense_are_refused)
    RUN(a_place_that_is_taken_is_refused)
    RUN(calls_that_come_too_early_or_too_late_are_refused)
    RUN(after_the_end_every_call_says_why)
    RUN(values_begin_as_worker_0_has_them_and_all_see_one_plan)
    RUN(the_plan_says_what_is_known_of_the_network)
    RUN(the_plan_says_what_is_known_of_arithmetic)
    RUN(who_rebuilds_slowly_rebuilds_only_some_rows)
    RUN(bytes_that_computing_hides_cost_nothing)
    RUN(a_rank_that_never_comes_is_named_on_all_others)
    RUN(a_first_rank_that_never_comes_is_named)
    RUN(who_has_another_key_takes_no_seat)
    RUN(a_start_that_takes_long_says_who_is_missing)
    RUN(a_wait_that_takes_long_names_rank_and_parameter)
    RUN(an_iteration_is_counted_message_by_message)
    RUN(many_jobs_run_at_once_in_one_process)
    RUN(a_seat_survives_every_failed_allocation)
    RUN(an_add_that_failed_may_be_made_again)
    RUN(two_seats_survive_every_failed_allocation)
    RUN(seats_meet_over_sockets)
    RUN(seats_miss_each_other_over_sockets)
    RUN(seats_warn_over_sockets)
    RUN(strangers_are_counted_and_told_of_at_the_end)
}
