/* comm_meet_test.c - seats that meet: they begin with the same values, count what they send, and survive. */
#include "base/alloc.h"
#include "base/clock.h"
#include "comm_seats.h"

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

int main(int argc, char **argv)
{
    RUN(values_begin_as_worker_0_has_them_and_all_see_one_plan)
    RUN(an_iteration_is_counted_message_by_message)
    RUN(many_jobs_run_at_once_in_one_process)
    RUN(two_seats_survive_every_failed_allocation)
    RUN(seats_meet_over_sockets)
}
