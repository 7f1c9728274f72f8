/* pair_test.c - connections that end: what is so inside one process only. */
#include "net_endings.h"

/* The receiver stays in its handler until the sender is gone. */
static sem_t is_in_place, may_go_on;

static void stay(struct seat *seat, const char *event)
{
    (void)seat;
    if (strcmp(event, "place") != 0)
        return;
    sem_post(&is_in_place);
    sem_wait(&may_go_on);
}

static void a_sender_that_leaves_in_between_has_its_memory_for_itself(void)
{
    struct seat seats[2] = {{.closed = 0}, {.react = stay}};

    sem_init(&is_in_place, 0, 0);
    sem_init(&may_go_on, 0, 0);
    sit_together(seats);
    struct luggage luggage = pack(&seats[0], 2, FLOATS);
    on_loop(seats[0].loop, send_luggage, &luggage);
    sem_wait(&is_in_place);
    on_loop(seats[0].loop, drop_and_throw_away, &luggage);
    sem_post(&may_go_on);
    wait_for(&seats[1], "accepted\nclosed: net://a has closed the connection\n");
    stand_up(&seats[0]);
    stand_up(&seats[1]);
}

static void wait_there(void *arg)
{
    (void)arg;
    sem_post(&is_in_place);
    sem_wait(&may_go_on);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

static void send_without_memory(void *arg)
{
    psd_alloc_fail_at(0);
    send_now(arg);
    CHECK(!psd_alloc_fail_at(-1));
}

static void news_need_no_memory_however_full_a_loop_is(void)
{
    struct seat seats[2] = {{.closed = 0}};
    struct psd_frame frame = frame_of("x", NULL, 0);
    struct errand errand = {.seat = &seats[0], .frames = &frame, .count = 1};

    sem_init(&is_in_place, 0, 0);
    sem_init(&may_go_on, 0, 0);
    sit_together(seats);
    CHECK_OK(psd_loop_call(seats[1].loop, do_nothing, NULL));
    CHECK_OK(psd_loop_post(seats[1].loop, wait_there, NULL));
    sem_wait(&is_in_place);
    for (int i = 0; i < 16; i++) /* the loop's queue is full after these, and would have to grow */
        CHECK_OK(psd_loop_post(seats[1].loop, do_nothing, NULL));
    on_loop(seats[0].loop, send_without_memory, &errand);
    sem_post(&may_go_on);
    wait_for(&seats[1], "accepted\ngot x\n");
    wait_for(&seats[0], "connected\nsent x\n");
    stand_up(&seats[0]);
    stand_up(&seats[1]);
}

int main(int argc, char **argv)
{
    RUN_ENDINGS
    RUN(a_sender_that_leaves_in_between_has_its_memory_for_itself)
    RUN(news_need_no_memory_however_full_a_loop_is)
}
