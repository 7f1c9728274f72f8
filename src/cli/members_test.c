/* members_test.c - processes that work together, fail, die and hang. */
#include "base/clock.h"
#include "cli/common.h"
#include "cli/members.h"
#include "gone.h"

#include <signal.h>
#include <stdatomic.h>

enum { MEMBERS = 4 };

/* What members write and we read. */
struct board {
    atomic_int ran[MEMBERS], entered, ready;
    atomic_bool go;
    pid_t us;
};

static psd_status enter(const void *place, unsigned rank)
{
    struct board *board = *(struct board *const *)place;

    CHECK(rank < MEMBERS && getpid() != board->us);
    atomic_fetch_add(&board->entered, 1);
    return PSD_OK;
}

static psd_status run(void *arg, unsigned rank)
{
    struct board *board = arg;

    atomic_fetch_add(&board->ready, 1);
    while (!atomic_load(&board->go))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    atomic_fetch_add(&board->ran[rank], (int)rank + 1);
    return PSD_OK;
}

/* Lets them go when all are ready. */
static psd_status watch(void *arg)
{
    struct board *board = arg;

    if (atomic_load(&board->ready) == MEMBERS)
        atomic_store(&board->go, true);
    return PSD_OK;
}

static struct board *new_board(void)
{
    struct board *board = psd_common_map(sizeof *board);

    CHECK(board);
    board->us = getpid();
    return board;
}

static void every_member_enters_its_place_and_runs_once(void)
{
    struct board *board = new_board();

    CHECK_OK(psd_members_run(&(struct psd_members_options){.count = MEMBERS,
                                                           .enter = enter,
                                                           .place = &board,
                                                           .run = run,
                                                           .watch = watch,
                                                           .arg = board}));
    CHECK(atomic_load(&board->entered) == MEMBERS);
    for (int i = 0; i < MEMBERS; i++)
        CHECK(atomic_load(&board->ran[i]) == i + 1);
    psd_common_unmap(board, sizeof *board);
}

static psd_status run_for_ever(void *arg, unsigned rank)
{
    (void)arg, (void)rank;
    while (pause() < 0)
        ;
    return PSD_OK;
}

static psd_status run_badly(void *arg, unsigned rank)
{
    int way = *(const int *)arg;

    if (rank != 2)
        return run_for_ever(arg, rank);
    if (way == 0)
        return psd_fail(PSD_ECONFIG, "nothing works here");
    kill(getpid(), SIGABRT);
    return PSD_OK;
}

static psd_status give_up(void *arg)
{
    return *(const int *)arg == 2 ? psd_fail(PSD_ETIMEOUT, "we give up") : PSD_OK;
}

static void the_first_failure_ends_all_and_is_told(void)
{
    static const struct {
        int way;
        psd_status status;
        const char *sentence;
    } cases[] = {{0, PSD_ECONFIG, "member 2: nothing works here"},
                 {1, PSD_EPEER, "rank 2 was killed by signal 6 (Aborted)"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int way = cases[i].way;
        struct psd_members_options options = {.count = MEMBERS, .run = run_badly, .arg = &way};
        CHECK_STATUS(cases[i].status, psd_members_run(&options));
        CHECK_TEXT(cases[i].sentence, psd_error());
        CHECK(waitpid(-1, NULL, 0) < 0); /* nobody is left */
    }
}

static void whoever_watches_may_give_up(void)
{
    int way = 2;
    struct psd_members_options options = {
        .count = 2, .run = run_for_ever, .watch = give_up, .arg = &way};

    CHECK_STATUS(PSD_ETIMEOUT, psd_members_run(&options));
    CHECK_TEXT("we give up", psd_error());
    CHECK(waitpid(-1, NULL, 0) < 0);
}

static psd_status tell_id(void *arg, unsigned rank)
{
    (void)rank;
    atomic_store((atomic_int *)arg, (int)getpid());
    return run_for_ever(NULL, 0);
}

static void members_end_with_us(void)
{
    atomic_int *member = psd_common_map(sizeof *member);
    pid_t we = fork();

    if (we == 0) {
        (void)psd_members_run(
            &(struct psd_members_options){.count = 1, .run = tell_id, .arg = member});
        _exit(0);
    }
    while (!atomic_load(member))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    CHECK(kill(we, SIGKILL) == 0 && waitpid(we, NULL, 0) == we);
    gone_wait(atomic_load(member));
}

int main(int argc, char **argv)
{
    RUN(every_member_enters_its_place_and_runs_once)
    RUN(the_first_failure_ends_all_and_is_told)
    RUN(whoever_watches_may_give_up)
    RUN(members_end_with_us)
}
