/* loop_test.c - what runs on the loop, in which order, and what no longer does. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "test.h"

#include <pthread.h>

/* State that belongs to a loop: what has happened, a letter each. */
struct diary {
    struct psd_loop *loop;
    char text[64];
    size_t length;
    struct psd_timer timer[4];
    uint64_t start;
};

static struct diary new_diary(bool started)
{
    struct diary diary = {.length = 0};

    CHECK_OK(psd_loop_create(&diary.loop));
    if (started)
        CHECK_OK(psd_loop_start(diary.loop));
    return diary;
}

static void write_letter(struct diary *diary, char letter)
{
    PSD_ON_LOOP(diary->loop);
    diary->text[diary->length++] = letter;
}

static void write_a(void *arg)
{
    write_letter(arg, 'a');
}

static void write_b(void *arg)
{
    write_letter(arg, 'b');
}

static void write_c(void *arg)
{
    write_letter(arg, 'c');
}

static void posts_run_on_the_loop_in_order(void)
{
    struct diary diary = new_diary(true);

    CHECK(!psd_loop_is_current(diary.loop));
    CHECK_OK(psd_loop_post(diary.loop, write_a, &diary));
    CHECK_OK(psd_loop_post(diary.loop, write_b, &diary));
    CHECK_OK(psd_loop_post(diary.loop, write_a, &diary));
    psd_loop_stop(diary.loop);
    CHECK_TEXT("aba", diary.text);
    psd_loop_destroy(diary.loop);
}

static void a_call_returns_when_it_has_run(void)
{
    struct diary diary = new_diary(true);

    CHECK_OK(psd_loop_post(diary.loop, write_a, &diary));
    CHECK_OK(psd_loop_call(diary.loop, write_b, &diary));
    CHECK_TEXT("ab", diary.text);
    CHECK_OK(psd_loop_call(diary.loop, write_c, &diary));
    CHECK_TEXT("abc", diary.text);
    psd_loop_destroy(diary.loop);
}

static void what_is_posted_before_the_start_waits_for_it(void)
{
    struct diary diary = new_diary(false);

    CHECK_OK(psd_loop_post(diary.loop, write_a, &diary));
    CHECK_OK(psd_loop_start(diary.loop));
    CHECK_OK(psd_loop_call(diary.loop, write_b, &diary));
    CHECK_TEXT("ab", diary.text);
    psd_loop_destroy(diary.loop);
}

static void a_stopped_loop_refuses_and_does_not_start_again(void)
{
    struct diary diary = new_diary(true);

    CHECK_STATUS(PSD_EINVAL, psd_loop_start(diary.loop));
    psd_loop_stop(diary.loop);
    psd_loop_stop(diary.loop);
    CHECK_STATUS(PSD_EINVAL, psd_loop_post(diary.loop, write_a, &diary));
    CHECK_TEXT("the loop is stopped and takes no more work", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_loop_call(diary.loop, write_a, &diary));
    CHECK_STATUS(PSD_EINVAL, psd_loop_start(diary.loop));
    CHECK_TEXT("", diary.text);
    psd_loop_destroy(diary.loop);
    psd_loop_destroy(NULL);
}

static void a_loop_that_never_started_drops_its_posts(void)
{
    struct diary diary = new_diary(false);

    CHECK_OK(psd_loop_post(diary.loop, write_a, &diary));
    psd_loop_destroy(diary.loop);
    CHECK_TEXT("", diary.text);
}

/* Writes and posts itself again until the loop refuses. */
static void go_on_for_ever(void *arg)
{
    struct diary *diary = arg;

    if (psd_loop_post(diary->loop, go_on_for_ever, diary) != PSD_OK)
        write_letter(diary, 'x');
}

static void stop_ends_even_those_who_post_themselves(void)
{
    struct diary diary = new_diary(true);

    CHECK_OK(psd_loop_post(diary.loop, go_on_for_ever, &diary));
    CHECK_OK(psd_loop_call(diary.loop, write_a, &diary));
    psd_loop_stop(diary.loop);
    CHECK_TEXT("ax", diary.text);
    psd_loop_destroy(diary.loop);
}

enum { POSTERS = 3, EACH_POSTS = 3000 };

struct poster {
    struct psd_loop *loop;
    int posted, run;
    bool in_order;
    struct letter {
        struct poster *poster;
        int number;
    } letters[EACH_POSTS];
};

static void receive(void *arg)
{
    struct letter *letter = arg;
    struct poster *poster = letter->poster;

    poster->in_order = (poster->run == 0 || poster->in_order) && letter->number == poster->run;
    poster->run++;
}

static void *post_many(void *arg)
{
    struct poster *poster = arg;

    for (int i = 0; i < EACH_POSTS; i++) {
        poster->letters[i] = (struct letter){.poster = poster, .number = i};
        CHECK_OK(psd_loop_post(poster->loop, receive, &poster->letters[i]));
    }
    return NULL;
}

static void each_posters_posts_run_in_its_order(void)
{
    static struct poster posters[POSTERS];
    struct diary diary = new_diary(true);
    pthread_t threads[POSTERS];

    for (int i = 0; i < POSTERS; i++) {
        posters[i].loop = diary.loop;
        CHECK(pthread_create(&threads[i], NULL, post_many, &posters[i]) == 0);
    }
    for (int i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    psd_loop_stop(diary.loop);
    for (int i = 0; i < POSTERS; i++)
        CHECK(posters[i].run == EACH_POSTS && posters[i].in_order);
    psd_loop_destroy(diary.loop);
}

static void *call_many(void *arg)
{
    struct diary *diary = arg;

    for (int i = 0; i < 10; i++)
        CHECK_OK(psd_loop_call(diary->loop, write_a, diary));
    return NULL;
}

static void several_threads_may_call_at_once(void)
{
    struct diary diary = new_diary(true);
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, call_many, &diary) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    psd_loop_destroy(diary.loop);
    CHECK(diary.length == 40);
}

static void set_timers(void *arg)
{
    struct diary *diary = arg;
    uint64_t soon = psd_clock_now() + 10 * PSD_CLOCK_MS;

    diary->start = psd_clock_now();
    CHECK_OK(psd_loop_at(diary->loop, soon + 1, write_c, diary, &diary->timer[0]));
    CHECK_OK(psd_loop_at(diary->loop, soon, write_a, diary, &diary->timer[1]));
    CHECK_OK(psd_loop_at(diary->loop, soon, write_b, diary, &diary->timer[2]));
    CHECK_OK(psd_loop_at(diary->loop, soon, write_a, diary, &diary->timer[3]));
    psd_loop_cancel(diary->loop, &diary->timer[3]);
}

static void copy_diary(void *arg)
{
    struct diary **copies = arg;

    *copies[1] = *copies[0];
}

/* Waits until the diary has `length` letters, and copies it. */
static struct diary wait_for(struct diary *diary, size_t length)
{
    struct diary copy = {.length = 0};

    while (copy.length < length) {
        struct diary *copies[] = {diary, &copy};
        CHECK_OK(psd_loop_call(diary->loop, copy_diary, copies));
    }
    return copy;
}

static void timers_fire_in_time_and_in_order(void)
{
    struct diary diary = new_diary(true);

    CHECK_OK(psd_loop_call(diary.loop, set_timers, &diary));
    struct diary copy = wait_for(&diary, 3);
    CHECK(psd_clock_now() >= copy.start + 10 * PSD_CLOCK_MS);
    CHECK_TEXT("abc", copy.text);
    psd_loop_destroy(diary.loop);
    CHECK_TEXT("abc", diary.text);
}

static void set_far_timer(void *arg)
{
    struct diary *diary = arg;
    uint64_t far = psd_clock_now() + 3600 * PSD_CLOCK_S;

    CHECK_OK(psd_loop_at(diary->loop, far, write_a, diary, &diary->timer[0]));
}

static void stop_forgets_timers_and_does_not_wait_for_them(void)
{
    struct diary diary = new_diary(true);
    uint64_t before = psd_clock_now();

    CHECK_OK(psd_loop_call(diary.loop, set_far_timer, &diary));
    psd_loop_stop(diary.loop);
    CHECK(psd_clock_now() - before < 600 * PSD_CLOCK_S);
    CHECK_TEXT("", diary.text);
    psd_loop_destroy(diary.loop);
}

/* A timer that is always due. */
static void tick(void *arg)
{
    struct diary *diary = arg;

    CHECK_OK(psd_loop_at(diary->loop, 0, tick, diary, &diary->timer[0]));
}

static void a_timer_that_is_always_due_does_not_keep_posts_out(void)
{
    struct diary diary = new_diary(true);

    CHECK_OK(psd_loop_call(diary.loop, tick, &diary));
    CHECK_OK(psd_loop_call(diary.loop, write_a, &diary));
    psd_loop_stop(diary.loop);
    CHECK_TEXT("a", diary.text);
    psd_loop_destroy(diary.loop);
}

static psd_status create_and_use(struct psd_loop **loop, struct diary *diary)
{
    psd_status status = psd_loop_create(loop);

    diary->loop = *loop;
    for (int i = 0; i < 20 && status == PSD_OK; i++)
        status = psd_loop_post(*loop, write_a, diary);
    return status == PSD_OK ? psd_loop_start(*loop) : status;
}

static void a_loop_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_loop *loop = NULL;
        struct diary diary = {.length = 0};
        psd_alloc_fail_at(n);
        psd_status status = create_and_use(&loop, &diary);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_loop_destroy(loop);
        CHECK(diary.length == (failed ? 0 : 20));
    }
}

enum { MANY = 1000 };

static void reserve_many(void *arg)
{
    CHECK_OK(psd_loop_reserve(arg, MANY));
}

static void count_one(void *arg)
{
    int *count = arg;

    ++*count;
}

struct counted {
    struct psd_loop *loop;
    int count;
};

/* Posts as many as there is room for, while the loop is busy with this, without any memory. */
static void post_all(void *arg)
{
    struct counted *busy = arg;

    psd_alloc_fail_at(0);
    for (int i = 0; i < MANY; i++)
        CHECK_OK(psd_loop_post(busy->loop, count_one, &busy->count));
    CHECK(!psd_alloc_fail_at(-1));
}

static void what_there_is_room_for_needs_no_memory(void)
{
    struct counted busy = {.count = 0};

    CHECK_OK(psd_loop_create(&busy.loop));
    CHECK_OK(psd_loop_start(busy.loop));
    CHECK_OK(psd_loop_call(busy.loop, reserve_many, busy.loop));
    for (int i = 0; i < 3; i++) /* the loop's two batches take turns */
        CHECK_OK(psd_loop_call(busy.loop, post_all, &busy));
    psd_loop_stop(busy.loop);
    CHECK(busy.count == 3 * MANY);
    psd_loop_destroy(busy.loop);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

static void *call_and_expect_refusal(void *arg)
{
    CHECK_STATUS(PSD_EINVAL, psd_loop_call(arg, do_nothing, NULL));
    return NULL;
}

static void a_call_to_a_loop_that_never_runs_is_refused_when_it_stops(void)
{
    struct psd_loop *loop = NULL;
    pthread_t thread;

    CHECK_OK(psd_loop_create(&loop));
    CHECK(pthread_create(&thread, NULL, call_and_expect_refusal, loop) == 0);
    psd_clock_sleep_until(psd_clock_now() + 20 * PSD_CLOCK_MS);
    psd_loop_stop(loop);
    pthread_join(thread, NULL);
    psd_loop_destroy(loop);
}

int main(int argc, char **argv)
{
    RUN(posts_run_on_the_loop_in_order)
    RUN(a_call_returns_when_it_has_run)
    RUN(what_is_posted_before_the_start_waits_for_it)
    RUN(a_stopped_loop_refuses_and_does_not_start_again)
    RUN(a_loop_that_never_started_drops_its_posts)
    RUN(stop_ends_even_those_who_post_themselves)
    RUN(each_posters_posts_run_in_its_order)
    RUN(several_threads_may_call_at_once)
    RUN(timers_fire_in_time_and_in_order)
    RUN(stop_forgets_timers_and_does_not_wait_for_them)
    RUN(a_timer_that_is_always_due_does_not_keep_posts_out)
    RUN(a_loop_survives_every_failed_allocation)
    RUN(what_there_is_room_for_needs_no_memory)
    RUN(a_call_to_a_loop_that_never_runs_is_refused_when_it_stops)
}
