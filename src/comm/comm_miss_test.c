/* comm_miss_test.c - seats that miss each other: who does not come, or comes late, is named. */
#include "base/clock.h"
#include "base/status.h"
#include "comm_seats.h"

#include <sys/resource.h>

/* --- who does not come ------------------------------------------------------------------------ */

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

/* --- who cannot be let in --------------------------------------------------------------------- */

static int callers[2]; /* sockets */

static void call(const struct group *group, int fd)
{
    unsigned long port = strtoul(strrchr(group->name, ':') + 1, NULL, 10);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    while (connect(fd, (const struct sockaddr *)&to, sizeof to) != 0)
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
}

static void leave_no_descriptor(void)
{
    int next = dup(0);
    struct rlimit limit;

    close(next);
    CHECK(next >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = (rlim_t)next;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/* When rank 0 lets the first caller in it has opened all that it needs. */
static void open_or_call(void *arg, unsigned rank)
{
    if (rank == 0) {
        open_without_the_last(arg, 0);
        return;
    }
    call(arg, callers[0]);
    leave_no_descriptor();
    call(arg, callers[1]);
}

static bool let_nobody_in(uint64_t timeout_ms)
{
    struct group group = {.timeout_ms = timeout_ms};
    struct rlimit before;

    crew_name(group.name);
    for (int i = 0; i < 2; i++)
        callers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(callers[0] >= 0 && callers[1] >= 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
    crew_each(2, open_or_call, &group);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    close(callers[0]);
    close(callers[1]);
    return is_said(&group, 0, "says rank 0: it has too few descriptors, or no memory, to let");
}

static void who_has_no_descriptors_for_others_says_so(void)
{
    crew_ground = CREW_CLEAR;
    crew_be_patient(1000, let_nobody_in);
}

/* --- who comes late --------------------------------------------------------------------------- */

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

/* --- over sockets ----------------------------------------------------------------------------- */

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

int main(int argc, char **argv)
{
    RUN(a_rank_that_never_comes_is_named_on_all_others)
    RUN(a_first_rank_that_never_comes_is_named)
    RUN(who_has_another_key_takes_no_seat)
    RUN(a_start_that_takes_long_says_who_is_missing)
    RUN(a_wait_that_takes_long_names_rank_and_parameter)
    RUN(who_has_no_descriptors_for_others_says_so)
    RUN(seats_miss_each_other_over_sockets)
    RUN(seats_warn_over_sockets)
}
