/* timers_test.c - the earliest comes first, and what is cancelled does not come. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/timers.h"
#include "test.h"

static void do_nothing(void *arg)
{
    (void)arg;
}

static void set(struct psd_timers *timers, uint64_t when, struct psd_timer *timer)
{
    CHECK_OK(psd_timers_set(timers, when, do_nothing, NULL, timer));
}

static void nothing_is_due_in_an_empty_heap(void)
{
    struct psd_timers timers;

    psd_timers_init(&timers);
    CHECK(psd_timers_next(&timers) == PSD_CLOCK_NEVER);
    CHECK(psd_timers_take_due(&timers, PSD_CLOCK_NEVER) == NULL);
    psd_timers_fini(&timers);
}

static void a_timer_is_due_at_its_moment_and_not_before(void)
{
    struct psd_timer timer = {.place = 0};
    struct psd_timers timers;
    int arg = 0;

    psd_timers_init(&timers);
    CHECK_OK(psd_timers_set(&timers, 100, do_nothing, &arg, &timer));
    CHECK(psd_timers_next(&timers) == 100);
    CHECK(psd_timers_take_due(&timers, 99) == NULL);
    CHECK(psd_timers_take_due(&timers, 100) == &timer);
    CHECK(timer.fn == do_nothing && timer.arg == &arg);
    CHECK(psd_timers_take_due(&timers, 100) == NULL);
    psd_timers_fini(&timers);
}

static void equal_moments_come_in_the_order_of_setting(void)
{
    enum { COUNT = 50 };
    struct psd_timer timer[COUNT] = {{.place = 0}};
    struct psd_timers timers;

    psd_timers_init(&timers);
    for (size_t i = 0; i < COUNT; i++)
        set(&timers, 7, &timer[i]);
    for (size_t i = 0; i < COUNT; i++)
        CHECK(psd_timers_take_due(&timers, 7) == &timer[i]);
    psd_timers_fini(&timers);
}

static void a_timer_set_again_moves_and_counts_as_new(void)
{
    struct psd_timer a = {.place = 0}, b = {.place = 0}, c = {.place = 0};
    struct psd_timers timers;

    psd_timers_init(&timers);
    set(&timers, 10, &a);
    set(&timers, 20, &b);
    set(&timers, 30, &c);
    set(&timers, 20, &a); /* later */
    set(&timers, 5, &c);  /* sooner */
    CHECK(psd_timers_take_due(&timers, 20) == &c);
    CHECK(psd_timers_take_due(&timers, 20) == &b);
    CHECK(psd_timers_take_due(&timers, 20) == &a);
    CHECK(psd_timers_take_due(&timers, 20) == NULL);
    psd_timers_fini(&timers);
}

static void cancelling_twice_or_without_setting_changes_nothing(void)
{
    struct psd_timer a = {.place = 0}, b = {.place = 0};
    struct psd_timers timers;

    psd_timers_init(&timers);
    psd_timers_cancel(&timers, &a);
    set(&timers, 1, &a);
    set(&timers, 2, &b);
    psd_timers_cancel(&timers, &a);
    psd_timers_cancel(&timers, &a);
    CHECK(psd_timers_take_due(&timers, 9) == &b);
    psd_timers_cancel(&timers, &b);
    CHECK(psd_timers_take_due(&timers, 9) == NULL);
    psd_timers_fini(&timers);
}

/* Takes everything and checks that it comes in order; says how many there were. */
static size_t drain(struct psd_timers *timers)
{
    struct psd_timer *timer, *before = NULL;
    size_t count = 0;

    while ((timer = psd_timers_take_due(timers, PSD_CLOCK_NEVER))) {
        CHECK(!before || before->when_ns < timer->when_ns ||
              (before->when_ns == timer->when_ns && before->order < timer->order));
        before = timer;
        count++;
    }
    return count;
}

static void any_mixture_of_setting_and_cancelling_leaves_the_rest_in_order(void)
{
    enum { COUNT = 100 };

    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct psd_timer timer[COUNT] = {{.place = 0}};
        struct psd_timers timers;
        size_t expected = 0;
        psd_timers_init(&timers);
        for (uint64_t step = 0; step < 400; step++) {
            struct psd_timer *chosen = &timer[psd_random_below(seed, 0, step, COUNT)];
            if (psd_random_below(seed, 1, step, 3) == 0)
                psd_timers_cancel(&timers, chosen);
            else
                set(&timers, psd_random_below(seed, 2, step, 40), chosen);
        }
        for (size_t i = 0; i < COUNT; i++)
            expected += timer[i].place != 0;
        CHECK(drain(&timers) == expected);
        psd_timers_fini(&timers);
    }
}

/* The earliest of those that are set, looked for one by one; NULL: none is. */
static struct psd_timer *earliest(struct psd_timer *timer, size_t count)
{
    struct psd_timer *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if (timer[i].place != 0 &&
            (!first || timer[i].when_ns < first->when_ns ||
             (timer[i].when_ns == first->when_ns && timer[i].order < first->order)))
            first = &timer[i];
    }
    return first;
}

static void whatever_happens_in_between_the_earliest_is_taken(void)
{
    enum { COUNT = 30 };

    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct psd_timer timer[COUNT] = {{.place = 0}};
        struct psd_timers timers;
        psd_timers_init(&timers);
        for (uint64_t step = 0; step < 400; step++) {
            struct psd_timer *chosen = &timer[psd_random_below(seed, 0, step, COUNT)];
            struct psd_timer *first = earliest(timer, COUNT);
            uint64_t what = psd_random_below(seed, 1, step, 5);
            CHECK(psd_timers_next(&timers) == (first ? first->when_ns : PSD_CLOCK_NEVER));
            if (what == 0)
                psd_timers_cancel(&timers, chosen);
            else if (what < 3)
                set(&timers, psd_random_below(seed, 2, step, 40), chosen);
            else
                CHECK(psd_timers_take_due(&timers, 40) == first);
        }
        psd_timers_fini(&timers);
    }
}

/* It leaves the room that another needs. */
static void who_was_taken_can_be_set_again_without_memory(void)
{
    struct psd_timer timer[40] = {{.place = 0}};
    struct psd_timers timers;

    psd_timers_init(&timers);
    for (size_t i = 0; i < 40; i++) {
        set(&timers, i, &timer[i]);
        struct psd_timer *taken = psd_timers_take_due(&timers, i);
        CHECK(taken == &timer[0]);
        psd_alloc_fail_at(0);
        set(&timers, 0, taken);
        CHECK(!psd_alloc_fail_at(-1));
    }
    CHECK(drain(&timers) == 40);
    psd_timers_fini(&timers);
}

static void set_survives_every_failed_allocation(void)
{
    struct psd_timer timer[40] = {{.place = 0}};
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_timers timers;
        size_t done = 0;
        psd_timers_init(&timers);
        psd_alloc_fail_at(n);
        while (done < 40 && !psd_timers_set(&timers, 40 - done, do_nothing, NULL, &timer[done]))
            done++;
        failed = psd_alloc_fail_at(-1);
        CHECK(failed == (done < 40));
        CHECK(drain(&timers) == done);
        psd_timers_fini(&timers);
    }
}

int main(int argc, char **argv)
{
    RUN(nothing_is_due_in_an_empty_heap)
    RUN(a_timer_is_due_at_its_moment_and_not_before)
    RUN(equal_moments_come_in_the_order_of_setting)
    RUN(a_timer_set_again_moves_and_counts_as_new)
    RUN(cancelling_twice_or_without_setting_changes_nothing)
    RUN(any_mixture_of_setting_and_cancelling_leaves_the_rest_in_order)
    RUN(whatever_happens_in_between_the_earliest_is_taken)
    RUN(who_was_taken_can_be_set_again_without_memory)
    RUN(set_survives_every_failed_allocation)
}
