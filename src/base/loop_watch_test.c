/* loop_watch_test.c - watches on a loop, beside posts and timers. What a watch does turn by turn is
 * in poller_test.c. */
#include "base/clock.h"
#include "base/loop.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

/* One end of a pair of sockets, watched by a loop of its own. */
struct player {
    struct psd_loop *loop;
    int fd;
    struct psd_watch watch;
    struct psd_timer timer;
    int heard, posted, ticked;
};

static void new_players(struct player players[2])
{
    int ends[2] = {-1, -1};

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    for (int i = 0; i < 2; i++) {
        players[i] = (struct player){.fd = ends[i]};
        CHECK_OK(psd_loop_create(&players[i].loop));
        CHECK_OK(psd_loop_start(players[i].loop));
    }
}

static void end_players(struct player players[2])
{
    for (int i = 0; i < 2; i++)
        psd_loop_stop(players[i].loop); /* forgets the watches, so that sockets may be closed */
    for (int i = 0; i < 2; i++) {
        close(players[i].fd);
        psd_loop_destroy(players[i].loop);
    }
}

static void throw_ball(const struct player *player)
{
    CHECK(write(player->fd, "o", 1) == 1);
}

enum { ROUNDS = 2000 };

/* Catches the ball and throws it back, so many times. */
static void play(void *arg, unsigned events)
{
    struct player *player = arg;
    char ball = 0;

    PSD_ON_LOOP(player->loop);
    CHECK(events == PSD_LOOP_READ);
    CHECK(read(player->fd, &ball, 1) == 1 && ball == 'o');
    if (++player->heard < ROUNDS)
        throw_ball(player);
    else
        psd_loop_unwatch(player->loop, &player->watch);
}

static void start_playing(void *arg)
{
    struct player *player = arg;

    CHECK_OK(psd_loop_watch(player->loop, player->fd, PSD_LOOP_READ, play, player, &player->watch));
}

static void count_post(void *arg)
{
    struct player *player = arg;

    player->posted++;
}

static void read_heard(void *arg)
{
    struct player **pair = arg;

    pair[1]->heard = pair[0]->heard;
    pair[1]->posted = pair[0]->posted;
    pair[1]->ticked = pair[0]->ticked;
}

/* How far a player is, asked on its loop. */
static struct player look_at(struct player *player)
{
    struct player copy = {.heard = 0};

    CHECK_OK(psd_loop_call(player->loop, read_heard, (struct player *[]){player, &copy}));
    return copy;
}

static void two_loops_play_ball_while_others_post(void)
{
    struct player players[2];
    int posts = 0;

    new_players(players);
    for (int i = 0; i < 2; i++)
        CHECK_OK(psd_loop_call(players[i].loop, start_playing, &players[i]));
    throw_ball(&players[0]);
    while (look_at(&players[0]).heard < ROUNDS - 1) {
        CHECK_OK(psd_loop_post(players[1].loop, count_post, &players[1]));
        posts++;
    }
    end_players(players);
    CHECK(players[1].heard == ROUNDS && players[1].posted == posts);
}

static void count_call(void *arg, unsigned events)
{
    struct player *player = arg;

    CHECK(events == PSD_LOOP_WRITE);
    player->heard++;
}

static void post_again(void *arg)
{
    struct player *player = arg;

    player->posted++;
    if (psd_loop_post(player->loop, post_again, player) != PSD_OK)
        player->posted = -1;
}

static void tick_again(void *arg)
{
    struct player *player = arg;

    player->ticked++;
    CHECK_OK(psd_loop_at(player->loop, 0, tick_again, player, &player->timer));
}

/* A watch that is always ready, a post that posts itself and a timer that is always due. */
static void start_all(void *arg)
{
    struct player *player = arg;

    CHECK_OK(psd_loop_watch(player->loop, player->fd, PSD_LOOP_WRITE, count_call, player,
                            &player->watch));
    post_again(player);
    tick_again(player);
}

static void neither_watches_nor_posts_nor_timers_keep_the_others_out(void)
{
    struct player players[2], seen;

    new_players(players);
    CHECK_OK(psd_loop_call(players[0].loop, start_all, &players[0]));
    do
        seen = look_at(&players[0]);
    while (seen.heard < 20 || seen.posted < 20 || seen.ticked < 20);
    end_players(players);
    CHECK(players[0].posted == -1); /* the last one was refused, and ended it */
}

static void set_timer_and_watch(void *arg)
{
    struct player *player = arg;

    start_playing(player);
    CHECK_OK(psd_loop_at(player->loop, psd_clock_now() + 2 * PSD_CLOCK_MS, count_post, player,
                         &player->timer));
}

static void a_timer_fires_while_a_watch_hears_nothing(void)
{
    struct player players[2];

    new_players(players);
    uint64_t start = psd_clock_now();
    CHECK_OK(psd_loop_call(players[0].loop, set_timer_and_watch, &players[0]));
    while (look_at(&players[0]).posted == 0)
        continue;
    CHECK(psd_clock_now() >= start + 2 * PSD_CLOCK_MS);
    CHECK(look_at(&players[0]).heard == 0);
    throw_ball(&players[1]);
    while (look_at(&players[0]).heard == 0)
        continue;
    end_players(players);
}

static void watch_and_unwatch(void *arg)
{
    struct player *player = arg;

    for (int i = 0; i < 3; i++) {
        start_playing(player);
        psd_loop_unwatch(player->loop, &player->watch);
        psd_loop_unwatch(player->loop, &player->watch);
    }
    CHECK(!player->watch.is_set);
}

static void what_is_unwatched_is_not_heard(void)
{
    struct player players[2];

    new_players(players);
    throw_ball(&players[1]);
    CHECK_OK(psd_loop_call(players[0].loop, watch_and_unwatch, &players[0]));
    CHECK(look_at(&players[0]).heard == 0);
    end_players(players);
}

/* How often the bells of all loops of this process were rung: nobody reads them. */
static unsigned long long count_rings(void)
{
    unsigned long long rings = 0;
    DIR *folder = opendir("/proc/self/fdinfo");

    CHECK(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char text[512] = "";
        int file = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);
        ssize_t length = read(file, text, sizeof text - 1); /* fails for . and .. */
        const char *count = length > 0 ? strstr(text, "eventfd-count:") : NULL;
        rings += count ? strtoull(count + strlen("eventfd-count:"), NULL, 16) : 0;
        close(file);
    }
    closedir(folder);
    return rings;
}

struct busy {
    struct psd_loop *loop;
    unsigned long long rings; /* before */
    int posts;
    atomic_bool is_running, may_end;
};

static void post_to_itself(void *arg)
{
    struct busy *busy = arg;

    if (++busy->posts < 1000) {
        CHECK_OK(psd_loop_post(busy->loop, post_to_itself, busy));
        return;
    }
    CHECK(count_rings() == busy->rings);
    atomic_store(&busy->may_end, true);
}

static void start_posting(void *arg)
{
    struct busy *busy = arg;

    busy->rings = count_rings();
    post_to_itself(busy);
}

/* Nobody but the loop itself posts from the start on, until it is done. */
static void posts_on_the_loop_make_no_system_call(void)
{
    struct busy busy = {.posts = 0};

    CHECK_OK(psd_loop_create(&busy.loop));
    CHECK_OK(psd_loop_post(busy.loop, start_posting, &busy));
    CHECK_OK(psd_loop_start(busy.loop));
    while (!atomic_load(&busy.may_end))
        continue;
    psd_loop_destroy(busy.loop);
}

static void be_busy(void *arg)
{
    struct busy *busy = arg;

    atomic_store(&busy->is_running, true);
    while (!atomic_load(&busy->may_end))
        continue;
}

static void count_busy_post(void *arg)
{
    struct busy *busy = arg;

    busy->posts++;
}

static void posts_to_a_loop_that_is_awake_make_no_system_call(void)
{
    struct busy busy = {.posts = 0};

    CHECK_OK(psd_loop_create(&busy.loop));
    CHECK_OK(psd_loop_start(busy.loop));
    CHECK_OK(psd_loop_post(busy.loop, be_busy, &busy));
    while (!atomic_load(&busy.is_running))
        continue;
    busy.rings = count_rings();
    for (int i = 0; i < 1000; i++)
        CHECK_OK(psd_loop_post(busy.loop, count_busy_post, &busy));
    CHECK(count_rings() == busy.rings);
    atomic_store(&busy.may_end, true);
    psd_loop_stop(busy.loop);
    CHECK(busy.posts == 1000);
    psd_loop_destroy(busy.loop);
}

/* The thread needs a moment to fall asleep; a post that comes before that rings nothing. */
static void a_post_to_a_loop_that_sleeps_rings_once(void)
{
    struct busy busy = {.posts = 0};
    unsigned long long rung = 0;

    CHECK_OK(psd_loop_create(&busy.loop));
    CHECK_OK(psd_loop_start(busy.loop));
    while (rung == 0) {
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
        busy.rings = count_rings();
        CHECK_OK(psd_loop_post(busy.loop, count_busy_post, &busy));
        rung = count_rings() - busy.rings;
    }
    CHECK(rung == 1);
    psd_loop_destroy(busy.loop);
}

int main(int argc, char **argv)
{
    RUN(two_loops_play_ball_while_others_post)
    RUN(neither_watches_nor_posts_nor_timers_keep_the_others_out)
    RUN(a_timer_fires_while_a_watch_hears_nothing)
    RUN(what_is_unwatched_is_not_heard)
    RUN(posts_on_the_loop_make_no_system_call)
    RUN(posts_to_a_loop_that_is_awake_make_no_system_call)
    RUN(a_post_to_a_loop_that_sleeps_rings_once)
}
