/* comm_collect_test.c - reduce, barrier and broadcast among threads of one process. */
#include "base/clock.h"
#include "base/status.h"
#include "crew.h"

enum { RANKS = 3, WORKERS = 7, ROUNDS = 40 };

struct table {
    char name[32];
    unsigned ranks;
    const unsigned *hosted[RANKS]; /* NULL: dealt out */
    unsigned n_hosted[RANKS];
    float expected[ROUNDS][5];
    uint64_t timeout_ms; /* of rank 0, which warns; 0: long */
    atomic_int here, warned;
    atomic_bool failed;
    char warning[256];
};

static void note_warning(void *context, const char *sentence)
{
    struct table *table = context;

    if (atomic_fetch_add(&table->warned, 1) == 0)
        snprintf(table->warning, sizeof table->warning, "%s", sentence);
}

static psd_status try_to_sit_down(struct table *table, unsigned rank, struct psd_comm **comm)
{
    static float unused[RANKS][4];
    struct psd_comm_options options =
        crew_grounded((struct psd_comm_options){.coordinator = table->name,
                                                .rank = rank,
                                                .ranks = table->ranks,
                                                .workers = WORKERS,
                                                .hosted = table->hosted[rank],
                                                .n_hosted = table->n_hosted[rank],
                                                .timeout_ms = rank ? 0 : table->timeout_ms,
                                                .warn = rank ? NULL : note_warning,
                                                .context = table});
    struct psd_comm_param param = {.name = "p", .rows = 1, .cols = 4, .value = unused[rank]};
    int id = -1;

    PSD_TRY(psd_comm_open(&options, comm));
    PSD_TRY(psd_comm_add(*comm, &param, &id));
    return psd_comm_start(*comm);
}

static struct psd_comm *sit_down(struct table *table, unsigned rank)
{
    struct psd_comm *comm = NULL;

    CHECK_OK(try_to_sit_down(table, rank, &comm));
    return comm;
}

static void numbers_of(unsigned round, unsigned worker, float out[5])
{
    psd_random_fill_normal(7, round * 64 + worker, 0, 5, out);
}

static void reduce_all(void *arg, unsigned rank)
{
    struct table *table = arg;
    struct psd_comm *comm = sit_down(table, rank);
    float data[WORKERS][5];
    unsigned count = 0;
    const unsigned *hosted = psd_comm_hosted(comm, &count);

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < count; i++)
            numbers_of(round, hosted[i], data[i]);
        CHECK_OK(psd_comm_reduce(comm, data[0], 5));
        CHECK(crew_equal(data[0], table->expected[round], 5));
    }
    psd_comm_close(comm);
}

static void a_reduce_adds_along_the_tree_on_any_number_of_seats(void)
{
    struct table table = {.name = ""};
    float leaves[WORKERS * 5];

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned w = 0; w < WORKERS; w++)
            numbers_of(round, w, leaves + (size_t)w * 5);
        crew_add_up(leaves, WORKERS, 5);
        memcpy(table.expected[round], leaves, sizeof table.expected[round]);
    }
    for (table.ranks = 1; table.ranks <= RANKS; table.ranks++) {
        crew_name(table.name);
        crew_each(table.ranks, reduce_all, &table);
    }
}

static void meet(void *arg, unsigned rank)
{
    struct table *table = arg;
    struct psd_comm *comm = sit_down(table, rank);

    for (int round = 1; round <= ROUNDS; round++) {
        atomic_fetch_add(&table->here, 1);
        CHECK_OK(psd_comm_barrier(comm));
        CHECK(atomic_load(&table->here) >= RANKS * round);
    }
    psd_comm_close(comm);
}

static void nobody_leaves_a_barrier_before_all_are_there(void)
{
    struct table table = {.ranks = RANKS};

    crew_name(table.name);
    crew_each(RANKS, meet, &table);
}

/* Copies of all lengths, some while others are still in the barrier before. */
static void copy_all(void *arg, unsigned rank)
{
    struct table *table = arg;
    struct psd_comm *comm = sit_down(table, rank);
    unsigned count = 0;
    bool gives = psd_comm_hosted(comm, &count)[0] == 0;
    unsigned char *data = calloc(ROUNDS, 1000), *expected = calloc(1, 1000);

    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t bytes = (size_t)249 * (round % 5);
        memset(expected, (int)round + 1, bytes);
        if (gives)
            memcpy(data, expected, bytes);
        if (round % 7 == 0)
            CHECK_OK(psd_comm_barrier(comm));
        if (!gives && round % 10 == 0) /* the giver may be several ahead */
            psd_clock_sleep_until(psd_clock_now() + 5 * PSD_CLOCK_MS);
        CHECK_OK(psd_comm_broadcast(comm, bytes ? data : NULL, bytes));
        CHECK(memcmp(data, expected, bytes) == 0);
    }
    psd_comm_close(comm);
    free(data);
    free(expected);
}

static void a_broadcast_gives_all_what_the_host_of_worker_0_has(void)
{
    static const unsigned hosted[RANKS][3] = {{1, 2, 6}, {3, 4, 5}, {0}};
    struct table table = {.ranks = RANKS};

    crew_name(table.name);
    crew_each(RANKS, copy_all, &table);

    crew_name(table.name);
    for (unsigned i = 0; i < RANKS; i++) {
        table.hosted[i] = hosted[i];
        table.n_hosted[i] = i == 2 ? 1 : 3;
    }
    crew_each(RANKS, copy_all, &table);
}

/* Rank 1 comes when rank 0 has warned, or has been too slow for its own time. */
static void come_late(void *arg, unsigned rank)
{
    struct table *table = arg;
    struct psd_comm *comm = NULL;
    psd_status status = try_to_sit_down(table, rank, &comm);

    while (rank == 1 && status == PSD_OK && !atomic_load(&table->warned) &&
           !atomic_load(&table->failed))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    if (status == PSD_OK)
        status = psd_comm_barrier(comm);
    if (status != PSD_OK)
        atomic_store(&table->failed, true);
    psd_comm_close(comm);
}

static bool warn_of_a_barrier(uint64_t timeout_ms)
{
    struct table table = {.ranks = 2, .timeout_ms = timeout_ms};

    crew_name(table.name);
    crew_each(2, come_late, &table);
    if (atomic_load(&table.failed) || strstr(table.warning, "psd_comm_start"))
        return false;
    CHECK_TEXT("rank 0 waits in a reduce or barrier: rank 1 is not there", table.warning);
    return true;
}

static void a_long_barrier_says_who_is_missing(void)
{
    crew_be_patient(500, warn_of_a_barrier);
}

static void strange_calls_are_refused(void)
{
    struct table table = {.ranks = 1};
    crew_name(table.name);
    struct psd_comm *comm = sit_down(&table, 0);
    static float data[WORKERS][PSD_COMM_REDUCE_MOST];

    CHECK_STATUS(PSD_EINVAL, psd_comm_reduce(comm, data[0], 0));
    CHECK_STATUS(PSD_EINVAL, psd_comm_reduce(comm, NULL, 4));
    CHECK_STATUS(PSD_EINVAL, psd_comm_reduce(comm, data[0], PSD_COMM_REDUCE_MOST + 1));
    CHECK_STATUS(PSD_EINVAL, psd_comm_broadcast(comm, NULL, 4));
    CHECK_OK(psd_comm_reduce(comm, data[0], PSD_COMM_REDUCE_MOST));
    CHECK_OK(psd_comm_broadcast(comm, NULL, 0));
    psd_comm_close(comm);
}

static void collectives_over_sockets_are_the_same(void)
{
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++) {
        a_reduce_adds_along_the_tree_on_any_number_of_seats();
        nobody_leaves_a_barrier_before_all_are_there();
        a_broadcast_gives_all_what_the_host_of_worker_0_has();
    }
}

int main(int argc, char **argv)
{
    RUN(a_reduce_adds_along_the_tree_on_any_number_of_seats)
    RUN(nobody_leaves_a_barrier_before_all_are_there)
    RUN(a_broadcast_gives_all_what_the_host_of_worker_0_has)
    RUN(a_long_barrier_says_who_is_missing)
    RUN(strange_calls_are_refused)
    RUN(collectives_over_sockets_are_the_same)
}
