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
    struct psd_chorus chorus = {.seat = {.coordinator = "inproc://chorus",
                                         .rank = member->rank,
                                         .ranks = RANKS,
                                         .timeout_ms = 60000},
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
}
