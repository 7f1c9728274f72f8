/* launch_test.c - members that end well, fail, hang, hide and are killed; and so is who keeps them. */
#include "base/clock.h"
#include "cli/common.h"
#include "cli/launch.h"
#include "gone.h"

#include <signal.h>
#include <stdatomic.h>

enum { MEMBERS = 4 };

/* What all write and the test reads. */
struct board {
    atomic_int lives, ready, told, sent;
    atomic_int ints[MEMBERS], terms[MEMBERS], hups[MEMBERS];
    _Atomic(pid_t) keeper, orphan, member[MEMBERS];
    atomic_int step;
    char sentence[2000]; /* that was told last */
};

static struct board *board;

static void new_board(void)
{
    board = psd_common_map(sizeof *board);
    CHECK(board);
}

static void note_sentence(void *arg, const char *sentence)
{
    (void)arg;
    atomic_fetch_add(&board->told, 1);
    snprintf(board->sentence, sizeof board->sentence, "%s", sentence);
}

typedef psd_status life(void *arg, unsigned rank, int *exit_code);

/* Seconds are enough where nothing is expected to last, and never where something is. */
static int launch(life *live, const void *arg, struct psd_launch_options more)
{
    static struct psd_launch_end end;
    const void *not_written = arg;

    more.count = MEMBERS;
    more.live = live;
    memcpy(&more.arg, &not_written, sizeof more.arg);
    more.tell = note_sentence;
    CHECK_OK(psd_launch_run(&more, &end));
    CHECK((end.status == PSD_OK) == (end.exit_code == 0 || end.exit_code == 130));
    CHECK(waitpid(-1, NULL, 0) < 0);
    return end.exit_code;
}

static void wait_until(atomic_int *number, int least)
{
    while (atomic_load(number) < least)
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
}

__attribute__((noreturn)) static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

/* --- ends --------------------------------------------------------------------------------------- */

static psd_status end_well(void *arg, unsigned rank, int *exit_code)
{
    CHECK(!arg && rank < MEMBERS && *exit_code == 0);
    CHECK(getpgid(0) == getpid());
    *exit_code = 0;
    atomic_fetch_add(&board->lives, 1);
    return PSD_OK;
}

static void every_member_lives_once_in_a_group_of_its_own(void)
{
    new_board();
    CHECK(launch(end_well, NULL, (struct psd_launch_options){.relays = true}) == 0);
    CHECK(atomic_load(&board->lives) == MEMBERS && atomic_load(&board->told) == 0);
}

enum way { FAILS, FAILS_WITH_CODE, ENDS_WITH_CODE, IS_KILLED, ABORTS, ALL_FAIL };

/* Rank 2 goes wrong; the others would go on for ever. */
static psd_status go_wrong(void *arg, unsigned rank, int *exit_code)
{
    enum way way = *(const enum way *)arg;

    if (rank != 2 && way != ALL_FAIL)
        sleep_for_ever();
    if (way == IS_KILLED || way == ABORTS)
        kill(getpid(), way == IS_KILLED ? SIGKILL : SIGABRT);
    if (way == FAILS_WITH_CODE)
        *exit_code = 127;
    if (way == ENDS_WITH_CODE)
        *exit_code = 3;
    return way == ENDS_WITH_CODE ? PSD_OK : psd_fail(PSD_ECONFIG, "nothing works here");
}

static void the_first_failure_ends_all_and_is_told(void)
{
    static const struct {
        enum way way;
        int exit_code;
        const char *sentence;
    } cases[] = {
        {FAILS, 1, "nothing works here"},
        {FAILS_WITH_CODE, 127, "nothing works here"},
        {ENDS_WITH_CODE, 3, "rank 2 ended with exit code 3"},
        {IS_KILLED, 137, "rank 2 was killed by signal 9 (Killed); was the machine out of memory?"},
        {ABORTS, 134, "rank 2 was killed by signal 6 (Aborted)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_launch_options options = {
            .count = MEMBERS, .live = go_wrong, .tell = note_sentence, .grace_ns = PSD_CLOCK_MS};
        struct psd_launch_end end;
        enum way way = cases[i].way;
        new_board();
        fprintf(stderr, "    %s\n", cases[i].sentence);
        options.arg = &way;
        CHECK_OK(psd_launch_run(&options, &end));
        CHECK(end.exit_code == cases[i].exit_code && end.rank == 2);
        CHECK(end.is_own == (way == FAILS || way == FAILS_WITH_CODE));
        CHECK_TEXT(cases[i].sentence, end.sentence);
        CHECK_TEXT("other members have not ended by themselves: they are ended now",
                   board->sentence);
        CHECK(atomic_load(&board->told) == 2);
    }
}

static void what_all_complain_of_is_told_once(void)
{
    enum way way = ALL_FAIL;

    new_board();
    CHECK(launch(go_wrong, &way, (struct psd_launch_options){.grace_ns = 100 * PSD_CLOCK_S}) == 1);
    CHECK(atomic_load(&board->told) == 1);
    CHECK_TEXT("nothing works here", board->sentence);
}

/* One fails, one ignores SIGTERM, one is stopped. */
static psd_status be_stubborn(void *arg, unsigned rank, int *exit_code)
{
    (void)arg;
    signal(SIGTERM, rank == 1 ? SIG_IGN : SIG_DFL);
    atomic_fetch_add(&board->ready, 1);
    wait_until(&board->ready, MEMBERS);
    if (rank == 2)
        raise(SIGSTOP);
    if (rank != 0)
        sleep_for_ever();
    *exit_code = 5;
    return PSD_OK;
}

static void members_that_do_not_end_are_killed(void)
{
    new_board();
    CHECK(launch(be_stubborn, NULL, (struct psd_launch_options){.grace_ns = PSD_CLOCK_MS}) == 5);
}

static void count_term(int number)
{
    (void)number;
    atomic_fetch_add(&board->terms[0], 1);
}

/* All miss one, which is stopped; rank 2 has something to write, and ends some time after that one. */
static psd_status miss_another(void *arg, unsigned rank, int *exit_code)
{
    (void)arg;
    signal(SIGTERM, count_term);
    atomic_fetch_add(&board->ready, 1);
    wait_until(&board->ready, MEMBERS);
    if (rank == 1) {
        raise(SIGSTOP);
        atomic_store(&board->step, 1);
    } else if (rank == 2) {
        wait_until(&board->step, 1);
        psd_clock_sleep_until(psd_clock_now() + 100 * PSD_CLOCK_MS);
    }
    atomic_fetch_add(&board->lives, 1);
    *exit_code = 1;
    return psd_fail(PSD_ETIMEOUT, "rank 1 is silent");
}

/* The test would wait for an hour. */
static void who_is_missed_goes_on_soon_and_nobody_is_ended_before_the_grace_is_over(void)
{
    struct psd_launch_options options = {.grace_ns = 3600 * PSD_CLOCK_S};

    new_board();
    CHECK(launch(miss_another, NULL, options) == 1);
    CHECK_TEXT("other members have not ended by themselves: any that is stopped goes on now",
               board->sentence);
    CHECK(atomic_load(&board->lives) == MEMBERS && atomic_load(&board->terms[0]) == 0);
}

/* Its work takes longer than the grace that there would be after a failure. */
static psd_status watch_fails(void *arg)
{
    (void)arg;
    return atomic_load(&board->ready) < MEMBERS ? PSD_OK : psd_fail(PSD_ETIMEOUT, "we give up");
}

static psd_status get_ready(void *arg, unsigned rank, int *exit_code)
{
    (void)arg, (void)rank;
    *exit_code = 0;
    atomic_fetch_add(&board->ready, 1);
    sleep_for_ever();
}

static void whoever_watches_may_give_up(void)
{
    struct psd_launch_options options = {.count = MEMBERS, .live = get_ready, .watch = watch_fails};
    struct psd_launch_end end;

    new_board();
    CHECK_STATUS(PSD_ETIMEOUT, psd_launch_run(&options, &end));
    CHECK_TEXT("we give up", psd_error());
    CHECK(waitpid(-1, NULL, 0) < 0);
}

/* --- signals ------------------------------------------------------------------------------------ */

static atomic_int got[NSIG];

static void count(int number)
{
    atomic_fetch_add(&got[number], 1);
}

/* Counts signals until the test has seen what it wants; ends as `train` does after SIGTERM. */
static psd_status count_signals(void *arg, unsigned rank, int *exit_code)
{
    (void)arg;
    signal(SIGINT, count);
    signal(SIGTERM, count);
    signal(SIGHUP, count);
    atomic_fetch_add(&board->ready, 1);
    while (atomic_load(&board->step) < 100) {
        atomic_store(&board->ints[rank], atomic_load(&got[SIGINT]));
        atomic_store(&board->terms[rank], atomic_load(&got[SIGTERM]));
        atomic_store(&board->hups[rank], atomic_load(&got[SIGHUP]));
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    }
    *exit_code = 75;
    return PSD_OK;
}

static bool all_have(const atomic_int *counts, int number)
{
    for (int i = 0; i < MEMBERS; i++) {
        if (atomic_load(&counts[i]) != number)
            return false;
    }
    return true;
}

/* Sends the next signal when the one before has arrived everywhere. */
static psd_status send_signals(void *arg)
{
    int step = atomic_load(&board->step);
    static const int numbers[] = {SIGINT, SIGHUP, SIGHUP, SIGTERM};
    bool arrived = step == 0   ? atomic_load(&board->ready) == MEMBERS
                   : step == 1 ? all_have(board->ints, 1)
                   : step < 4  ? all_have(board->hups, step - 1)
                               : all_have(board->terms, 1);

    (void)arg;
    if (step >= 100 || !arrived)
        return PSD_OK;
    if (step < 4)
        kill(getpid(), numbers[step]);
    atomic_store(&board->step, step < 4 ? step + 1 : 100);
    return PSD_OK;
}

static void each_signal_reaches_each_member_once(void)
{
    new_board();
    CHECK(launch(count_signals, NULL,
                 (struct psd_launch_options){.passes_signals = true, .watch = send_signals}) == 75);
    CHECK(all_have(board->ints, 1) && all_have(board->hups, 2) && all_have(board->terms, 1));
    CHECK(atomic_load(&board->told) == 0);
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGINT));
}

static psd_status interrupt_twice(void *arg)
{
    int step = atomic_load(&board->step);
    bool arrived = step == 0 ? atomic_load(&board->ready) == MEMBERS : all_have(board->ints, step);

    (void)arg;
    if (step < 2 && arrived) {
        kill(getpid(), SIGINT);
        atomic_store(&board->step, step + 1);
    } else if (step == 2 && arrived) {
        atomic_store(&board->step, 100);
    }
    return PSD_OK;
}

static void a_second_interrupt_kills_all(void)
{
    new_board();
    CHECK(launch(count_signals, NULL,
                 (struct psd_launch_options){.passes_signals = true, .watch = interrupt_twice}) ==
          130);
    CHECK(all_have(board->ints, 1));
}

static void or_is_passed_on_as_the_first(void)
{
    new_board();
    CHECK(launch(count_signals, NULL,
                 (struct psd_launch_options){.passes_signals = true,
                                             .passes_every_int = true,
                                             .grace_ns = 100 * PSD_CLOCK_S,
                                             .watch = interrupt_twice}) == 75);
    CHECK(all_have(board->ints, 2));
}

static psd_status terminate_once(void *arg)
{
    (void)arg;
    if (atomic_load(&board->ready) == MEMBERS && atomic_exchange(&board->sent, 1) == 0)
        kill(getpid(), SIGTERM);
    return PSD_OK;
}

static void members_that_die_of_what_was_passed_on_are_not_told(void)
{
    new_board();
    CHECK(launch(get_ready, NULL,
                 (struct psd_launch_options){.passes_signals = true, .watch = terminate_once}) ==
          128 + SIGTERM);
    CHECK(atomic_load(&board->told) == 0);
}

static void note_term(int number)
{
    (void)number;
    atomic_store(&board->step, 2);
}

/* Rank 0 still writes its snapshot when the others have long ended. */
static psd_status end_slowly(void *arg, unsigned rank, int *exit_code)
{
    (void)arg;
    signal(SIGTERM, note_term);
    atomic_fetch_add(&board->ready, 1);
    wait_until(&board->step, 2);
    if (rank == 0) {
        wait_until(&board->lives, MEMBERS - 1);
        for (unsigned i = 1; i < MEMBERS; i++)
            gone_wait(atomic_load(&board->member[i]));
        psd_clock_sleep_until(psd_clock_now() + 100 * PSD_CLOCK_MS);
    }
    atomic_store(&board->member[rank], getpid());
    atomic_fetch_add(&board->lives, 1);
    *exit_code = 75;
    return PSD_OK;
}

static void who_was_asked_to_end_has_all_the_time_it_needs(void)
{
    new_board();
    CHECK(launch(end_slowly, NULL,
                 (struct psd_launch_options){
                     .passes_signals = true, .watch = terminate_once, .grace_ns = 1}) == 75);
    CHECK(atomic_load(&board->lives) == MEMBERS);
}

/* Rank 1 ends as it was asked to, and is missed by others that have not done so yet. */
static psd_status miss_who_was_asked(void *arg, unsigned rank, int *exit_code)
{
    (void)arg;
    signal(SIGTERM, note_term);
    atomic_store(&board->member[rank], getpid());
    atomic_fetch_add(&board->ready, 1);
    wait_until(&board->step, 2);
    if (rank == 1) {
        *exit_code = 75;
        return PSD_OK;
    }
    gone_wait(atomic_load(&board->member[1]));
    return psd_fail(PSD_EPEER, "rank 1 is lost");
}

static void who_misses_one_that_was_asked_to_end_is_no_failure(void)
{
    new_board();
    CHECK(launch(miss_who_was_asked, NULL,
                 (struct psd_launch_options){.passes_signals = true, .watch = terminate_once}) ==
          75);
    CHECK(atomic_load(&board->told) == 0);
}

/* --- nobody is left ----------------------------------------------------------------------------- */

/* A grandchild that hides: a session of its own, deaf, and its parent ends before it. */
static void hide_a_grandchild(void)
{
    if (fork() == 0) {
        if (fork() == 0) {
            setsid();
            signal(SIGTERM, SIG_IGN);
            atomic_store(&board->orphan, getpid());
            sleep_for_ever();
        }
        _exit(0);
    }
    wait(NULL);
    while (!atomic_load(&board->orphan))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
}

static psd_status leave_one_behind(void *arg, unsigned rank, int *exit_code)
{
    (void)arg;
    *exit_code = 0;
    if (rank == 1)
        hide_a_grandchild();
    return PSD_OK;
}

static void what_members_leave_behind_ends_with_the_last(void)
{
    new_board();
    CHECK(launch(leave_one_behind, NULL, (struct psd_launch_options){.relays = true}) == 0);
    CHECK(gone(atomic_load(&board->orphan)));
}

/* Members of which one hides somebody, and one hears no SIGTERM. */
static psd_status live_on(void *arg, unsigned rank, int *exit_code)
{
    (void)arg;
    *exit_code = 0;
    atomic_store(&board->keeper, getppid());
    atomic_store(&board->member[rank], getpid());
    if (rank == 1)
        hide_a_grandchild();
    if (rank == 2)
        signal(SIGTERM, SIG_IGN);
    atomic_fetch_add(&board->ready, 1);
    sleep_for_ever();
}

static void check_all_gone(void)
{
    for (int i = 0; i < MEMBERS; i++)
        gone_wait(atomic_load(&board->member[i]));
    gone_wait(atomic_load(&board->orphan));
    gone_wait(atomic_load(&board->keeper));
}

static void all_end_when_the_launcher_is_killed(void)
{
    new_board();
    pid_t launcher = fork();
    if (launcher == 0) {
        launch(live_on, NULL, (struct psd_launch_options){.relays = true, .passes_signals = true});
        _exit(0);
    }
    wait_until(&board->ready, MEMBERS);
    CHECK(kill(launcher, SIGKILL) == 0 && waitpid(launcher, NULL, 0) == launcher);
    check_all_gone();
}

static psd_status kill_keeper(void *arg)
{
    (void)arg;
    if (atomic_load(&board->ready) == MEMBERS && atomic_exchange(&board->sent, 1) == 0)
        kill(atomic_load(&board->keeper), SIGKILL);
    return PSD_OK;
}

static void all_end_when_their_keeper_is_killed(void)
{
    new_board();
    pid_t other = fork(); /* a child that we had before, and that is none of its business */
    if (other == 0)
        sleep_for_ever();
    struct psd_launch_options options = {.count = MEMBERS,
                                         .live = live_on,
                                         .relays = true,
                                         .tell = note_sentence,
                                         .watch = kill_keeper};
    struct psd_launch_end end;
    CHECK_OK(psd_launch_run(&options, &end));
    CHECK(end.exit_code == 137);
    CHECK_TEXT("the process that keeps the members was killed, and they with it", end.sentence);
    CHECK(!gone(other));
    check_all_gone();
    CHECK(kill(other, SIGKILL) == 0 && waitpid(-1, NULL, 0) == other && wait(NULL) < 0);
}

int main(int argc, char **argv)
{
    RUN(every_member_lives_once_in_a_group_of_its_own)
    RUN(the_first_failure_ends_all_and_is_told)
    RUN(what_all_complain_of_is_told_once)
    RUN(members_that_do_not_end_are_killed)
    RUN(who_is_missed_goes_on_soon_and_nobody_is_ended_before_the_grace_is_over)
    RUN(whoever_watches_may_give_up)
    RUN(each_signal_reaches_each_member_once)
    RUN(a_second_interrupt_kills_all)
    RUN(or_is_passed_on_as_the_first)
    RUN(members_that_die_of_what_was_passed_on_are_not_told)
    RUN(who_was_asked_to_end_has_all_the_time_it_needs)
    RUN(who_misses_one_that_was_asked_to_end_is_no_failure)
    RUN(what_members_leave_behind_ends_with_the_last)
    RUN(all_end_when_the_launcher_is_killed)
    RUN(all_end_when_their_keeper_is_killed)
}
