/* loop_note_test.c - notes: each runs once for each time it is put, also when the loop sleeps or stops. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "test.h"

#include <pthread.h>
#include <semaphore.h>

/* A loop, and what has happened on it, a letter each. */
struct diary {
    struct psd_loop *loop;
    char text[16];
    size_t length;
    sem_t is_full; /* four letters are there */
};

static void init_diary(struct diary *diary)
{
    *diary = (struct diary){.length = 0};
    sem_init(&diary->is_full, 0, 0);
    CHECK_OK(psd_loop_create(&diary->loop));
}

static void free_diary(struct diary *diary)
{
    psd_loop_destroy(diary->loop);
    sem_destroy(&diary->is_full);
}

static void write_letter(struct diary *diary, char letter)
{
    PSD_ON_LOOP(diary->loop);
    diary->text[diary->length++] = letter;
    if (diary->length == 4)
        sem_post(&diary->is_full);
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

static void notes_run_in_order_and_what_is_posted_runs_too(void)
{
    struct diary diary;

    init_diary(&diary);
    struct psd_note notes[] = {{.fn = write_a, .arg = &diary}, {.fn = write_b, .arg = &diary}};
    CHECK_OK(psd_loop_put(diary.loop, &notes[0]));
    CHECK_OK(psd_loop_put(diary.loop, &notes[1]));
    CHECK_OK(psd_loop_post(diary.loop, write_c, &diary));
    CHECK_OK(psd_loop_start(diary.loop));
    psd_loop_stop(diary.loop);
    CHECK_TEXT("abc", diary.text);
    free_diary(&diary);
}

static void a_stopped_loop_refuses_notes(void)
{
    for (int starts = 0; starts < 2; starts++) {
        struct diary diary;
        struct psd_note note = {.fn = write_a, .arg = &diary};

        init_diary(&diary);
        CHECK_OK(psd_loop_put(diary.loop, &note));
        if (starts)
            CHECK_OK(psd_loop_start(diary.loop));
        psd_loop_stop(diary.loop);
        CHECK_STATUS(PSD_EINVAL, psd_loop_put(diary.loop, &note));
        CHECK_TEXT("the loop is stopped and takes no more work", psd_error());
        CHECK_TEXT(starts ? "a" : "", diary.text); /* one that never started drops what it has */
        free_diary(&diary);
    }
}

/* A note that its own function puts again. */
struct runner {
    struct psd_note note;
    struct diary *diary;
    int left;
};

static void run_on(void *arg)
{
    struct runner *runner = arg;

    if (runner->left-- > 0)
        CHECK_OK(psd_loop_put(runner->diary->loop, &runner->note));
    write_letter(runner->diary, 'n');
}

static void a_note_may_be_put_again_when_it_runs_and_needs_no_memory(void)
{
    struct diary diary;
    struct runner runner = {.note = {.fn = run_on, .arg = &runner}, .diary = &diary, .left = 3};

    init_diary(&diary);
    CHECK_OK(psd_loop_start(diary.loop));
    psd_alloc_fail_at(0);
    CHECK_OK(psd_loop_put(diary.loop, &runner.note));
    sem_wait(&diary.is_full);
    CHECK(!psd_alloc_fail_at(-1));
    psd_loop_stop(diary.loop);
    CHECK_TEXT("nnnn", diary.text);
    free_diary(&diary);
}

enum { PUTTERS = 3 };

/* A thread that puts its note again whenever it has run, until the loop refuses or it has had enough. */
struct putter {
    struct psd_loop *loop;
    struct psd_note note;
    sem_t has_run;
    int most, put, run;
};

static void run_putter(void *arg)
{
    struct putter *putter = arg;

    putter->run++;
    sem_post(&putter->has_run);
}

static void *put_again_and_again(void *arg)
{
    struct putter *putter = arg;

    while (putter->put < putter->most && psd_loop_put(putter->loop, &putter->note) == PSD_OK) {
        putter->put++;
        sem_wait(&putter->has_run);
    }
    return NULL;
}

/* Lets `count` threads put up to `most` notes each; each that is taken runs. */
static void put_at_once(size_t count, int most, uint64_t stop_after_ns)
{
    struct putter putters[PUTTERS];
    struct psd_loop *loop = NULL;
    pthread_t threads[PUTTERS];

    CHECK_OK(psd_loop_create(&loop));
    CHECK_OK(psd_loop_start(loop));
    for (size_t i = 0; i < count; i++) {
        putters[i] = (struct putter){
            .loop = loop, .most = most, .note = {.fn = run_putter, .arg = &putters[i]}};
        sem_init(&putters[i].has_run, 0, 0);
        CHECK(pthread_create(&threads[i], NULL, put_again_and_again, &putters[i]) == 0);
    }
    if (stop_after_ns) {
        psd_clock_sleep_until(psd_clock_now() + stop_after_ns);
        psd_loop_stop(loop);
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    psd_loop_destroy(loop);
    for (size_t i = 0; i < count; i++) {
        sem_destroy(&putters[i].has_run);
        CHECK(putters[i].run == putters[i].put && (stop_after_ns || putters[i].put == most));
    }
}

static void no_note_is_forgotten_by_a_loop_that_falls_asleep(void)
{
    put_at_once(1, 10000, 0); /* with nobody else who would wake it */
    put_at_once(PUTTERS, 10000, 0);
}

static void every_note_that_is_taken_runs_also_when_the_loop_stops(void)
{
    for (uint64_t round = 0; round < 200; round++)
        put_at_once(PUTTERS, 1 << 30, 1 + 10 * PSD_CLOCK_US * (round % 20));
}

int main(int argc, char **argv)
{
    RUN(notes_run_in_order_and_what_is_posted_runs_too)
    RUN(a_stopped_loop_refuses_notes)
    RUN(a_note_may_be_put_again_when_it_runs_and_needs_no_memory)
    RUN(no_note_is_forgotten_by_a_loop_that_falls_asleep)
    RUN(every_note_that_is_taken_runs_also_when_the_loop_stops)
}
