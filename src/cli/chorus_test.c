/* chorus_test.c - members that add up, as threads of this process. */
#include "cli/chorus.h"
#include "test.h"

#include <pthread.h>

enum { RANKS = 3, TIMES = 2 };

static const size_t counts[] = {5, 70001, 300000};

struct member {
    unsigned rank;
    psd_status status;
    char sentence[200];
    struct psd_chorus_result result;
};

static struct psd_comm_options seat_of(const char *coordinator, unsigned rank, unsigned ranks)
{
    return (struct psd_comm_options){
        .coordinator = coordinator, .rank = rank, .ranks = ranks, .timeout_ms = 60000};
}

static psd_status ready(void *context)
{
    bool *called = context;

    CHECK(!*called);
    *called = true;
    return PSD_OK;
}

static void *sing(void *arg)
{
    struct member *member = arg;
    bool called = false;
    struct psd_chorus chorus = {.seat = seat_of("inproc://chorus", member->rank, RANKS),
                                .counts = counts,
                                .n_params = 3,
                                .times = TIMES,
                                .ready = ready,
                                .context = &called};

    member->status = psd_chorus_run(&chorus, &member->result);
    snprintf(member->sentence, sizeof member->sentence, "%s", psd_error());
    CHECK(called);
    return NULL;
}

static void members_add_up_and_say_when(void)
{
    static struct member members[RANKS];
    pthread_t threads[RANKS];

    for (unsigned i = 0; i < RANKS; i++) {
        members[i].rank = i;
        CHECK(pthread_create(&threads[i], NULL, sing, &members[i]) == 0);
    }
    for (unsigned i = 0; i < RANKS; i++) {
        pthread_join(threads[i], NULL);
        if (members[i].status != PSD_OK)
            TEST_FAIL("member %u: %s", i, members[i].sentence);
        for (unsigned k = 0; k < TIMES; k++)
            CHECK(members[i].result.end_ns[k] > members[i].result.begin_ns[k]);
        CHECK(members[i].result.begin_ns[1] > members[0].result.end_ns[0]);
    }
}

/* Sits beside one member, and gives nothing but zeros. */
static void *stay_silent(void *arg)
{
    struct psd_comm_options seat = seat_of("inproc://wrong", 1, 2);
    float values[4] = {0};
    struct psd_comm *comm = NULL;
    int id = 0;

    (void)arg;
    seat.mode = PSD_COMM_SUM;
    CHECK_OK(psd_comm_open(&seat, &comm));
    CHECK_OK(psd_comm_add(
        comm,
        &(struct psd_comm_param){
            .name = "part 0", .rows = 1, .cols = 4, .value = values, .form = PSD_FORM_DENSE},
        &id));
    CHECK_OK(psd_comm_start(comm));
    memset(values, 0, sizeof values);
    CHECK_OK(psd_comm_barrier(comm));
    CHECK_OK(psd_comm_barrier(comm));
    CHECK_OK(psd_comm_begin(comm, 0, 0));
    CHECK_OK(psd_comm_sync(comm, id, 1, values));
    CHECK_OK(psd_comm_wait(comm, id));
    CHECK_OK(psd_comm_barrier(comm));
    psd_comm_close(comm);
    return NULL;
}

static void a_wrong_sum_is_told(void)
{
    static struct psd_chorus_result result;
    static const size_t count = 4;
    struct psd_chorus chorus = {
        .seat = seat_of("inproc://wrong", 0, 2), .counts = &count, .n_params = 1, .times = 1};
    pthread_t other;

    CHECK(pthread_create(&other, NULL, stay_silent, NULL) == 0);
    CHECK_STATUS(PSD_EPEER, psd_chorus_run(&chorus, &result));
    CHECK_TEXT("the sum of number 0 is 1, not 3", psd_error());
    pthread_join(other, NULL);
}

static void the_numbers_add_up(void)
{
    for (unsigned ranks = 1; ranks <= 64; ranks++) {
        for (size_t index = 0; index < 20; index++) {
            float sum = 0;
            for (unsigned rank = 0; rank < ranks; rank++)
                sum += psd_chorus_gives(rank, index);
            CHECK(sum == psd_chorus_sum(ranks, index));
        }
    }
}

int main(int argc, char **argv)
{
    RUN(the_numbers_add_up)
    RUN(members_add_up_and_say_when)
    RUN(a_wrong_sum_is_told)
}
