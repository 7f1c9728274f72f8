/* queue_test.c - every item arrives once, in order, and a closed queue lets everybody go. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/queue.h"
#include "test.h"

#include <pthread.h>
#include <stdint.h>

static struct psd_queue *new_queue(size_t capacity)
{
    struct psd_queue *queue = NULL;

    CHECK_OK(psd_queue_create(sizeof(int), capacity, &queue));
    return queue;
}

static pthread_t start(void *(*run)(void *arg), void *arg)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, run, arg) == 0);
    return thread;
}

static void items_leave_in_the_order_they_came(void)
{
    struct psd_queue *queue = new_queue(3);
    int item = 0;

    for (int i = 0; i < 20; i += 2) { /* goes around the ring several times */
        CHECK(psd_queue_put(queue, &i));
        CHECK(psd_queue_put(queue, &(int){i + 1}));
        CHECK(psd_queue_take(queue, &item) && item == i);
        CHECK(psd_queue_take(queue, &item) && item == i + 1);
    }
    psd_queue_destroy(queue);
}

static void trying_neither_waits_nor_forces(void)
{
    struct psd_queue *queue = new_queue(1);
    int item = 7;

    CHECK(!psd_queue_try_take(queue, &item));
    CHECK(item == 7);
    CHECK(psd_queue_try_put(queue, &(int){1}));
    CHECK(!psd_queue_try_put(queue, &(int){2}));
    CHECK(psd_queue_try_take(queue, &item) && item == 1);
    psd_queue_destroy(queue);
}

static void a_closed_queue_is_drained_and_refuses_more(void)
{
    struct psd_queue *queue = new_queue(4);
    int item = 0;

    CHECK(psd_queue_put(queue, &(int){1}));
    CHECK(psd_queue_put(queue, &(int){2}));
    psd_queue_close(queue);
    psd_queue_close(queue);
    CHECK(!psd_queue_put(queue, &(int){3}));
    CHECK(!psd_queue_try_put(queue, &(int){3}));
    CHECK(psd_queue_take(queue, &item) && item == 1);
    CHECK(psd_queue_try_take(queue, &item) && item == 2);
    CHECK(!psd_queue_take(queue, &item));
    CHECK(!psd_queue_try_take(queue, &item));
    psd_queue_destroy(queue);
}

static void *take_one(void *arg)
{
    int item = 0;

    return psd_queue_take(arg, &item) ? arg : NULL;
}

static void *put_one(void *arg)
{
    return psd_queue_put(arg, &(int){1}) ? arg : NULL;
}

static void closing_wakes_all_who_wait(void)
{
    struct psd_queue *empty = new_queue(1), *full = new_queue(1);
    pthread_t waiting[4];
    void *moved = NULL;

    CHECK(psd_queue_put(full, &(int){0}));
    for (int i = 0; i < 4; i++)
        waiting[i] = i < 2 ? start(take_one, empty) : start(put_one, full);
    psd_clock_sleep_until(psd_clock_now() + 5 * PSD_CLOCK_MS); /* so that most are really waiting */
    psd_queue_close(empty);
    psd_queue_close(full);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(waiting[i], &moved) == 0);
        CHECK(moved == NULL);
    }
    psd_queue_destroy(empty);
    psd_queue_destroy(full);
}

enum { MAKERS = 3, USERS = 3, EACH_MAKES = 2000 };

struct traffic {
    struct psd_queue *queue;
    int maker; /* makers: which one */
    int seen[MAKERS][EACH_MAKES];
    bool in_order;
};

static void *make_items(void *arg)
{
    struct traffic *traffic = arg;

    for (int i = 0; i < EACH_MAKES; i++)
        CHECK(psd_queue_put(traffic->queue, &(int){traffic->maker * EACH_MAKES + i}));
    return NULL;
}

static void *use_items(void *arg)
{
    struct traffic *traffic = arg;
    int last[MAKERS] = {-1, -1, -1};
    int item = 0;

    traffic->in_order = true;
    while (psd_queue_take(traffic->queue, &item)) {
        int maker = item / EACH_MAKES, i = item % EACH_MAKES;
        traffic->seen[maker][i]++;
        traffic->in_order = traffic->in_order && i > last[maker];
        last[maker] = i;
    }
    return NULL;
}

static void among_many_threads_every_item_arrives_once(void)
{
    static struct traffic makers[MAKERS], users[USERS];
    pthread_t making[MAKERS], using[USERS];
    struct psd_queue *queue = new_queue(5);

    for (int i = 0; i < MAKERS; i++) {
        makers[i].queue = users[i].queue = queue;
        makers[i].maker = i;
        making[i] = start(make_items, &makers[i]);
        using[i] = start(use_items, &users[i]);
    }
    for (int i = 0; i < MAKERS; i++)
        pthread_join(making[i], NULL);
    psd_queue_close(queue);
    for (int i = 0; i < USERS; i++) {
        pthread_join(using[i], NULL);
        CHECK(users[i].in_order);
    }
    for (int maker = 0; maker < MAKERS; maker++) {
        for (int i = 0; i < EACH_MAKES; i++)
            CHECK(users[0].seen[maker][i] + users[1].seen[maker][i] + users[2].seen[maker][i] == 1);
    }
    psd_queue_destroy(queue);
}

static void queues_that_hold_nothing_or_too_much_are_refused(void)
{
    struct psd_queue *queue = NULL;

    CHECK_STATUS(PSD_EINVAL, psd_queue_create(0, 4, &queue));
    CHECK_STATUS(PSD_EINVAL, psd_queue_create(4, 0, &queue));
    CHECK_STATUS(PSD_ENOMEM, psd_queue_create(SIZE_MAX / 2, 3, &queue));
    CHECK(queue == NULL);
    psd_queue_destroy(NULL);
}

static void create_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_queue *queue = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_queue_create(8, 8, &queue);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (queue == NULL));
        psd_queue_destroy(queue);
    }
}

int main(int argc, char **argv)
{
    RUN(items_leave_in_the_order_they_came)
    RUN(trying_neither_waits_nor_forces)
    RUN(a_closed_queue_is_drained_and_refuses_more)
    RUN(closing_wakes_all_who_wait)
    RUN(among_many_threads_every_item_arrives_once)
    RUN(queues_that_hold_nothing_or_too_much_are_refused)
    RUN(create_survives_every_failed_allocation)
}
