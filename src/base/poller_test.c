/* poller_test.c - who is called when, who is no longer, and how long a wait is. All on one thread,
 * turn by turn, but for the bell. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/poller.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* Somebody who watches one end of a pair of sockets; the test holds the other end. */
struct ear {
    struct psd_poller *poller;
    struct psd_watch watch;
    int near, far;
    int calls;
    unsigned events;               /* of the last call */
    void (*then)(struct ear *ear); /* what it does when it is called, if anything */
    struct ear *other;             /* for that */
};

static struct psd_poller *new_poller(void)
{
    struct psd_poller *poller = NULL;

    CHECK_OK(psd_poller_create(&poller));
    return poller;
}

static void hear(void *arg, unsigned events)
{
    struct ear *ear = arg;

    ear->calls++;
    ear->events = events;
    if (ear->then)
        ear->then(ear);
}

static psd_status listen_to(struct ear *ear, int fd, unsigned events)
{
    struct psd_watch wanted = {.fn = hear, .arg = ear, .fd = fd, .events = events};

    return psd_poller_watch(ear->poller, &wanted, &ear->watch);
}

static struct ear new_ear(struct psd_poller *poller)
{
    int ends[2] = {-1, -1};

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    return (struct ear){.poller = poller, .near = ends[0], .far = ends[1]};
}

static void end_ear(struct ear *ear)
{
    psd_poller_unwatch(ear->poller, &ear->watch);
    close(ear->near);
    close(ear->far);
}

/* One turn; says how often the ear was called in it. */
static int turn(struct ear *ear)
{
    int before = ear->calls;

    ear->events = 0;
    psd_poller_wait(ear->poller, 0);
    psd_poller_run(ear->poller);
    return ear->calls - before;
}

static void say(int fd)
{
    CHECK(write(fd, "x", 1) == 1);
}

static void listen_in(int fd)
{
    char letter = 0;

    CHECK(read(fd, &letter, 1) == 1 && letter == 'x');
}

static void a_watch_is_called_as_long_as_there_is_something_to_read(void)
{
    struct ear ear = new_ear(new_poller());

    CHECK_OK(listen_to(&ear, ear.near, PSD_LOOP_READ));
    CHECK(turn(&ear) == 0);
    say(ear.far);
    for (int i = 0; i < 3; i++)
        CHECK(turn(&ear) == 1 && ear.events == PSD_LOOP_READ);
    listen_in(ear.near);
    CHECK(turn(&ear) == 0);
    end_ear(&ear);
    psd_poller_destroy(ear.poller);
}

static void a_watch_is_called_as_long_as_there_is_room_to_write(void)
{
    struct ear ear = new_ear(new_poller());
    char block[4096] = {0};

    CHECK_OK(listen_to(&ear, ear.near, PSD_LOOP_WRITE));
    CHECK(turn(&ear) == 1 && ear.events == PSD_LOOP_WRITE);
    while (write(ear.near, block, sizeof block) > 0)
        continue;
    CHECK(turn(&ear) == 0);
    while (read(ear.far, block, sizeof block) > 0)
        continue;
    CHECK(turn(&ear) == 1 && ear.events == PSD_LOOP_WRITE);
    end_ear(&ear);
    psd_poller_destroy(ear.poller);
}

static void what_is_wanted_can_change_at_any_time(void)
{
    static const unsigned both = PSD_LOOP_READ | PSD_LOOP_WRITE;
    static const unsigned wanted[] = {
        PSD_LOOP_READ, both, PSD_LOOP_WRITE, 0, both, both, PSD_LOOP_WRITE, 0, 0, both, 0};
    struct ear ear = new_ear(new_poller());

    say(ear.far);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        CHECK_OK(listen_to(&ear, ear.near, wanted[i]));
        CHECK(ear.watch.is_set && ear.watch.events == wanted[i]);
        CHECK(turn(&ear) == (wanted[i] != 0) && ear.events == wanted[i]);
    }
    end_ear(&ear);
    CHECK(!ear.watch.is_set);
    psd_poller_unwatch(ear.poller, &ear.watch); /* which is fine */
    psd_poller_destroy(ear.poller);
}

static void unwatch_other(struct ear *ear)
{
    psd_poller_unwatch(ear->poller, &ear->other->watch);
}

static void quiet_other(struct ear *ear)
{
    CHECK_OK(listen_to(ear->other, ear->other->near, 0));
}

static void move_other(struct ear *ear)
{
    CHECK_OK(listen_to(ear->other, ear->other->far, PSD_LOOP_READ));
}

/* A new descriptor with the old number, which nothing is to be read from, and the watch on it. */
static void replace_other(struct ear *ear)
{
    int ends[2] = {-1, -1};
    int number = ear->other->near;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    psd_poller_unwatch(ear->poller, &ear->other->watch);
    close(number);
    CHECK(dup2(ends[0], number) == number);
    CHECK_OK(listen_to(ear->other, number, PSD_LOOP_READ));
    close(ends[0]);
    close(ends[1]);
    close(ear->other->far);
    ear->other->far = dup(number);
}

/* Two ears are ready in one turn, and whichever is called first does this to the other. */
static void of_two_that_are_ready(void (*then)(struct ear *ear))
{
    struct psd_poller *poller = new_poller();
    struct ear one = new_ear(poller), two = new_ear(poller);

    one.then = two.then = then;
    one.other = &two;
    two.other = &one;
    say(one.far);
    say(two.far);
    CHECK_OK(listen_to(&one, one.near, PSD_LOOP_READ));
    CHECK_OK(listen_to(&two, two.near, PSD_LOOP_READ));
    psd_poller_wait(poller, 0);
    psd_poller_run(poller);
    CHECK(one.calls + two.calls == 1);
    end_ear(&one);
    end_ear(&two);
    psd_poller_destroy(poller);
}

static void what_one_watch_stops_is_not_called_in_the_same_turn(void)
{
    static const struct {
        const char *how;
        void (*then)(struct ear *ear);
    } cases[] = {{"no longer set", unwatch_other},
                 {"wants nothing", quiet_other},
                 {"looks elsewhere", move_other},
                 {"a new descriptor of the same number", replace_other}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].how);
        of_two_that_are_ready(cases[i].then);
    }
}

static void unwatch_itself(struct ear *ear)
{
    psd_poller_unwatch(ear->poller, &ear->watch);
    close(ear->near);
    ear->watch = (struct psd_watch){.fn = NULL}; /* nobody looks at it any more */
}

static void a_watch_may_end_itself_and_close(void)
{
    struct ear ear = new_ear(new_poller());

    ear.then = unwatch_itself;
    say(ear.far);
    CHECK_OK(listen_to(&ear, ear.near, PSD_LOOP_READ));
    CHECK(turn(&ear) == 1);
    CHECK(turn(&ear) == 0);
    close(ear.far);
    psd_poller_destroy(ear.poller);
}

static void a_watch_moves_to_another_descriptor(void)
{
    struct ear ear = new_ear(new_poller());

    say(ear.far);
    CHECK_OK(listen_to(&ear, ear.near, PSD_LOOP_READ));
    CHECK_OK(listen_to(&ear, ear.far, PSD_LOOP_READ));
    CHECK(ear.watch.fd == ear.far && turn(&ear) == 0);
    say(ear.near);
    CHECK(turn(&ear) == 1);
    end_ear(&ear);
    psd_poller_destroy(ear.poller);
}

static void who_has_hung_up_is_ready_for_all_that_is_wanted(void)
{
    static const unsigned both = PSD_LOOP_READ | PSD_LOOP_WRITE;
    struct ear ear = new_ear(new_poller());

    shutdown(ear.near, SHUT_WR); /* so that nothing but the hanging up makes it ready to write */
    close(ear.far);
    for (unsigned wanted = both; wanted > 0; wanted--) {
        CHECK_OK(listen_to(&ear, ear.near, wanted));
        CHECK(turn(&ear) == 1 && ear.events == wanted);
    }
    psd_poller_unwatch(ear.poller, &ear.watch);
    close(ear.near);
    psd_poller_destroy(ear.poller);
}

static void who_has_hung_up_does_not_wake_those_who_want_nothing(void)
{
    struct ear ear = new_ear(new_poller());
    uint64_t until = psd_clock_now() + 5 * PSD_CLOCK_MS;

    CHECK_OK(listen_to(&ear, ear.near, PSD_LOOP_READ));
    CHECK_OK(listen_to(&ear, ear.near, 0));
    close(ear.far);
    psd_poller_wait(ear.poller, until);
    CHECK(psd_clock_now() >= until);
    psd_poller_run(ear.poller);
    CHECK(ear.calls == 0);
    psd_poller_unwatch(ear.poller, &ear.watch);
    close(ear.near);
    psd_poller_destroy(ear.poller);
}

enum { CROWD = 150 }; /* more than are fetched at once */

static void nobody_of_a_crowd_is_left_out(void)
{
    static struct ear ears[CROWD];
    struct psd_poller *poller = new_poller();

    for (int i = 0; i < CROWD; i++) {
        ears[i] = new_ear(poller);
        say(ears[i].far);
        CHECK_OK(listen_to(&ears[i], ears[i].near, PSD_LOOP_READ));
    }
    for (int i = 0; i < 3; i++)
        turn(&ears[0]);
    for (int i = 0; i < CROWD; i++) {
        CHECK(ears[i].calls >= 1);
        end_ear(&ears[i]);
    }
    psd_poller_destroy(poller);
}

static void what_cannot_be_watched_is_refused(void)
{
    struct ear ear = new_ear(new_poller()), second = {.poller = ear.poller};
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    CHECK_STATUS(PSD_EINVAL, listen_to(&ear, file, PSD_LOOP_READ));
    CHECK(strstr(psd_error(), "watch descriptor") && strstr(psd_error(), "not permitted"));
    CHECK_STATUS(PSD_EINVAL, listen_to(&ear, -1, PSD_LOOP_READ));
    CHECK(!ear.watch.is_set);
    CHECK_OK(listen_to(&ear, ear.near, PSD_LOOP_READ));
    CHECK_STATUS(PSD_EINVAL, listen_to(&second, ear.near, PSD_LOOP_READ));
    CHECK_STATUS(PSD_EINVAL, listen_to(&ear, file, PSD_LOOP_READ));
    CHECK(ear.watch.is_set && ear.watch.fd == ear.near);
    say(ear.far);
    CHECK(turn(&ear) == 1);
    close(file);
    end_ear(&ear);
    psd_poller_destroy(ear.poller);
}

/* Now and then; more often the thread has to wait for a processor. A poller that waits for the next
 * millisecond never comes to an end here. */
static void a_wait_ends_at_its_moment(void)
{
    struct psd_poller *poller = new_poller();

    for (int is_old = 0; is_old < 2; is_old++) {
        uint64_t late = PSD_CLOCK_NEVER;
        psd_poller_be_old(poller, is_old);
        while (late > 600 * PSD_CLOCK_US) {
            uint64_t until = psd_clock_now() + 150 * PSD_CLOCK_US;
            psd_poller_wait(poller, until);
            uint64_t now = psd_clock_now();
            CHECK(now >= until);
            late = now - until;
        }
        psd_poller_wait(poller, 0);
    }
    psd_poller_destroy(poller);
}

static void *ring_later(void *arg)
{
    psd_clock_sleep_until(psd_clock_now() + 2 * PSD_CLOCK_MS);
    psd_poller_ring(arg);
    return NULL;
}

static void the_bell_ends_one_wait(void)
{
    struct psd_poller *poller = new_poller();

    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        psd_poller_be_old(poller, i % 2);
        CHECK(pthread_create(&thread, NULL, ring_later, poller) == 0);
        psd_poller_wait(poller, PSD_CLOCK_NEVER);
        psd_poller_run(poller); /* which calls nobody */
        pthread_join(thread, NULL);
        psd_poller_ring(poller); /* while nobody waits: twice is once */
        psd_poller_ring(poller);
        psd_poller_wait(poller, PSD_CLOCK_NEVER);
        psd_poller_run(poller);
        uint64_t until = psd_clock_now() + PSD_CLOCK_MS;
        psd_poller_wait(poller, until);
        CHECK(psd_clock_now() >= until);
    }
    psd_poller_destroy(poller);
}

static void a_descriptor_ends_a_wait(void)
{
    struct ear ear = new_ear(new_poller());

    CHECK_OK(listen_to(&ear, ear.near, PSD_LOOP_READ));
    say(ear.far);
    for (int i = 0; i < 4; i++) {
        psd_poller_be_old(ear.poller, i % 2);
        psd_poller_wait(ear.poller, PSD_CLOCK_NEVER);
        psd_poller_run(ear.poller);
        CHECK(ear.calls == i + 1);
    }
    end_ear(&ear);
    psd_poller_destroy(ear.poller);
}

static void a_glance_looks_now_and_then(void)
{
    struct ear ear = new_ear(new_poller());
    uint64_t start = psd_clock_now();
    int glances = 0;

    CHECK_OK(listen_to(&ear, ear.near, PSD_LOOP_READ));
    say(ear.far);
    for (; ear.calls < 20; glances++) {
        psd_poller_glance(ear.poller);
        psd_poller_run(ear.poller);
    }
    CHECK(glances > 20); /* most of them cost no system call */
    CHECK(psd_clock_now() - start >= 190 * PSD_CLOCK_US);
    end_ear(&ear);
    psd_poller_destroy(ear.poller);
}

static void without_descriptors_there_is_no_poller(void)
{
    struct rlimit few = {.rlim_cur = 0};
    struct psd_poller *poller = NULL;
    int next = dup(0);

    CHECK(next >= 0 && getrlimit(RLIMIT_NOFILE, &few) == 0);
    close(next);
    for (int room = 0; room < 2; room++) { /* one is not enough */
        few.rlim_cur = (rlim_t)next + (rlim_t)room;
        CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
        CHECK_STATUS(PSD_ENOMEM, psd_poller_create(&poller));
        CHECK_TEXT("a loop needs two descriptors: Too many open files", psd_error());
        CHECK(dup(0) == (room ? next : -1)); /* what it took it has given back */
        close(next);
    }
}

static void create_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_poller *poller = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_poller_create(&poller);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (poller == NULL));
        psd_poller_destroy(poller);
    }
}

int main(int argc, char **argv)
{
    RUN(a_watch_is_called_as_long_as_there_is_something_to_read)
    RUN(a_watch_is_called_as_long_as_there_is_room_to_write)
    RUN(what_is_wanted_can_change_at_any_time)
    RUN(what_one_watch_stops_is_not_called_in_the_same_turn)
    RUN(a_watch_may_end_itself_and_close)
    RUN(a_watch_moves_to_another_descriptor)
    RUN(who_has_hung_up_is_ready_for_all_that_is_wanted)
    RUN(who_has_hung_up_does_not_wake_those_who_want_nothing)
    RUN(nobody_of_a_crowd_is_left_out)
    RUN(what_cannot_be_watched_is_refused)
    RUN(a_wait_ends_at_its_moment)
    RUN(the_bell_ends_one_wait)
    RUN(a_descriptor_ends_a_wait)
    RUN(a_glance_looks_now_and_then)
    RUN(without_descriptors_there_is_no_poller)
    RUN(create_survives_every_failed_allocation)
}
