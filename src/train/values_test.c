/* values_test.c - twins that come early and late, on one seat with two workers. */
#include "base/alloc.h"
#include "test.h"
#include "train/values.h"

enum { PARAMS = 6, COLS = 4, THREADS = 4 };

/* A seat of both workers of a job, with values to wait for. */
struct seat {
    struct psd_comm *comm;
    struct psd_values values;
    float value[PARAMS][COLS], grad[2][PARAMS][COLS];
};

static void open_seat(struct seat *seat)
{
    struct psd_comm_options options = {
        .coordinator = "inproc://values", .workers = 2, .bandwidth = 1e9, .timeout_ms = 600000};

    *seat = (struct seat){0};
    CHECK_OK(psd_comm_open(&options, &seat->comm));
    for (int i = 0; i < PARAMS; i++) {
        char name[16];
        int id = -1;
        snprintf(name, sizeof name, "p%d", i);
        struct psd_comm_param param = {
            .name = name, .rows = 1, .cols = COLS, .value = seat->value[i]};
        CHECK_OK(psd_comm_add(seat->comm, &param, &id));
        CHECK(id == i);
    }
    CHECK_OK(psd_comm_start(seat->comm));
    CHECK_OK(psd_values_init(&seat->values, seat->comm, PARAMS));
}

static void close_seat(struct seat *seat)
{
    psd_comm_close(seat->comm);
    psd_values_fini(&seat->values);
}

static void begin(struct seat *seat, uint64_t iteration)
{
    CHECK_OK(psd_comm_begin(seat->comm, iteration, 1));
    psd_values_renew(&seat->values);
}

/* What a twin does in an iteration: waits for each value, then syncs each gradient. */
static void pass(struct seat *seat, unsigned worker, float gradient)
{
    for (int i = 0; i < PARAMS; i++)
        CHECK_OK(psd_values_wait(&seat->values, i));
    for (int i = 0; i < PARAMS; i++) {
        for (int k = 0; k < COLS; k++)
            seat->grad[worker][i][k] = gradient;
        CHECK_OK(psd_comm_sync(seat->comm, i, worker, seat->grad[worker][i]));
    }
}

static void *fast_pass(void *arg)
{
    pass(arg, 0, 1);
    return NULL;
}

/* The seat itself waits for a sync of both workers: the late one asking it would wait for itself. */
static void who_is_late_does_not_wait_for_what_the_fast_one_has_synced(void)
{
    struct seat seat;
    pthread_t fast;

    open_seat(&seat);
    for (uint64_t iteration = 0; iteration < 5; iteration++) {
        begin(&seat, iteration);
        CHECK(pthread_create(&fast, NULL, fast_pass, &seat) == 0);
        CHECK(pthread_join(fast, NULL) == 0);
        CHECK(seat.value[0][0] == -2 * (float)iteration); /* by the iterations before */
        pass(&seat, 1, 3);
    }
    close_seat(&seat);
}

static void *wait_for_all(void *arg)
{
    struct seat *seat = arg;

    for (int i = 0; i < PARAMS; i++) {
        CHECK_OK(psd_values_wait(&seat->values, i));
        CHECK(seat->value[i][0] == -2 && seat->value[i][COLS - 1] == -2);
    }
    return NULL;
}

static void many_wait_at_a_time_and_all_find_the_value_fresh(void)
{
    struct seat seat;
    pthread_t threads[THREADS];

    open_seat(&seat);
    begin(&seat, 0);
    pass(&seat, 0, 1);
    pass(&seat, 1, 3);
    begin(&seat, 1);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, wait_for_all, &seat) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    close_seat(&seat);
}

static void a_wait_that_failed_fails_again(void)
{
    struct seat seat;

    open_seat(&seat);
    begin(&seat, 0);
    psd_comm_end(seat.comm, "the roof is on fire");
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(PSD_EPEER, psd_values_wait(&seat.values, 0));
        CHECK(strstr(psd_error(), "the roof is on fire"));
    }
    close_seat(&seat);
}

static void values_without_memory_are_none(void)
{
    struct psd_values values = {0};

    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_values_init(&values, NULL, PARAMS));
    CHECK(psd_alloc_fail_at(-1));
    psd_values_fini(&values);
}

int main(int argc, char **argv)
{
    RUN(who_is_late_does_not_wait_for_what_the_fast_one_has_synced)
    RUN(many_wait_at_a_time_and_all_find_the_value_fresh)
    RUN(a_wait_that_failed_fails_again)
    RUN(values_without_memory_are_none)
}
