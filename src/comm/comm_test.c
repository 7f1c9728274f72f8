/* comm_test.c - the life of a seat: open, add, start, iterate, close; and what is refused. */
#include "base/alloc.h"
#include "base/status.h"
#include "comm_seats.h"

static const float ones[] = {1, 1, 1, 1};

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
    RUN(a_seat_survives_every_failed_allocation)
    RUN(an_add_that_failed_may_be_made_again)
    RUN(strangers_are_counted_and_told_of_at_the_end)
}
