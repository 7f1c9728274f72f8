/* flight_test.c - when frames arrive, where their payload goes, and in which order. */
#include "base/alloc.h"
#include "sim_world.h"

/* One byte takes one nanosecond, and a hundred more to get there. */
static const struct psd_sim_options byte_a_ns = {.bandwidth = 1e9, .latency_ns = 100};

/* Members "a", "b" ..., each connected to "a"; the diary is empty and the time in *start. */
static void join(struct world *world, size_t count, struct member **members, uint64_t *start)
{
    for (size_t i = 0; i < count; i++) {
        members[i] = world_join(world, (char[]){(char)('a' + i), 0});
        members[i]->sizes_only = true;
        if (i > 0)
            world_connect(members[i], "a");
    }
    world_run(world);
    world_forget(world);
    *start = psd_sim_now(world->sim);
}

/* The moment, counted from `start`, at which the member heard that; -1: it did not. */
static long long heard_at(const struct world *world, uint64_t start, const char *what)
{
    for (const char *line = world->diary; *line; line = strchr(line, '\n') + 1) {
        const char *text = strchr(line, ' ') + 1;
        if (strncmp(text, what, strlen(what)) == 0 && text[strlen(what)] == '\n')
            return strtoll(line, NULL, 10) - (long long)start;
    }
    return -1;
}

static void a_frame_takes_its_bytes_and_the_latency(void)
{
    struct world world = world_of(&byte_a_ns);
    struct psd_frame frame = frame_of("x", NULL, 1000);
    struct member *m[2];
    uint64_t start;

    join(&world, 2, m, &start);
    send_frame(m[1]->conn, &frame);
    world_run(&world);
    CHECK_TEXT("1200 a got x\n1200 b sent x\n", world.diary); /* the links are used at once */
    world_end(&world);
}

static void frames_leave_one_after_the_other(void)
{
    struct world world = world_of(&byte_a_ns);
    struct psd_frame frames[3] = {frame_of("x", NULL, 1000), frame_of("y", NULL, 10),
                                  frame_of("z", NULL, 500)};
    struct member *m[2];
    uint64_t start;

    join(&world, 2, m, &start);
    for (size_t i = 0; i < 3; i++)
        send_frame(m[1]->conn, &frames[i]);
    world_run(&world);
    CHECK(heard_at(&world, start, "a got x") == 1100);
    CHECK(heard_at(&world, start, "a got y") == 1110);
    CHECK(heard_at(&world, start, "a got z") == 1610);
    world_end(&world);
}

static void the_two_directions_of_a_link_do_not_disturb_each_other(void)
{
    struct world world = world_of(&byte_a_ns);
    struct psd_frame there = frame_of("there", NULL, 1000), back = frame_of("back", NULL, 700);
    struct member *m[2];
    uint64_t start;

    join(&world, 2, m, &start);
    send_frame(m[1]->conn, &there);
    send_frame(m[0]->conn, &back);
    world_run(&world);
    CHECK(heard_at(&world, start, "a got there") == 1100);
    CHECK(heard_at(&world, start, "b got back") == 800);
    world_end(&world);
}

static void frames_of_several_senders_share_the_receivers_link(void)
{
    struct world world = world_of(&byte_a_ns);
    struct psd_frame frames[3] = {frame_of("x", NULL, 1000), frame_of("y", NULL, 1000),
                                  frame_of("z", NULL, 1000)};
    struct member *m[4];
    uint64_t start;

    join(&world, 4, m, &start);
    for (size_t i = 0; i < 3; i++)
        send_frame(m[i + 1]->conn, &frames[i]);
    world_run(&world);
    CHECK(heard_at(&world, start, "a got x") == 1100);
    CHECK(heard_at(&world, start, "a got y") == 2100);
    CHECK(heard_at(&world, start, "a got z") == 3100);
    world_end(&world);
}

/* b sends a large frame and then a small one; c sends one that comes between them. */
static void who_comes_first_to_a_busy_link_is_served_first(void)
{
    struct world world = world_of(&byte_a_ns);
    struct psd_frame large = frame_of("large", NULL, 1000), small = frame_of("small", NULL, 10);
    struct psd_frame other = frame_of("other", NULL, 400);
    struct member *m[3];
    uint64_t start;

    join(&world, 3, m, &start);
    send_frame(m[1]->conn, &large);
    send_frame(m[1]->conn, &small);
    send_frame(m[2]->conn, &other);
    world_run(&world);
    CHECK(heard_at(&world, start, "a got large") == 1100);
    CHECK(heard_at(&world, start, "a got other") == 1500);
    CHECK(heard_at(&world, start, "a got small") == 1510);
    world_end(&world);
}

static void a_slow_sender_does_not_hold_up_those_behind_it(void)
{
    struct world world = world_of(&byte_a_ns);
    struct psd_frame slow = frame_of("slow", NULL, 100), fast = frame_of("fast", NULL, 100);
    struct member *m[3];
    uint64_t start;

    join(&world, 3, m, &start);
    psd_sim_slow(world.sim, "b", 0.1, 1);
    send_frame(m[1]->conn, &slow);
    send_frame(m[2]->conn, &fast);
    world_run(&world);
    CHECK(heard_at(&world, start, "a got slow") == 1100);
    CHECK(heard_at(&world, start, "a got fast") == 300);
    world_end(&world);
}

static void the_wire_adds_its_overhead_and_counts_it(void)
{
    struct psd_sim_options options = byte_a_ns;
    options.overhead = 60;
    struct world world = world_of(&options);
    struct psd_frame frames[2] = {frame_of("x", NULL, 1000), frame_of("y", NULL, 0)};
    struct member *m[2];
    uint64_t start;

    frames[0].payload[1].bytes = 40;
    join(&world, 2, m, &start);
    send_frame(m[1]->conn, &frames[0]);
    send_frame(m[1]->conn, &frames[1]);
    world_run(&world);
    CHECK(heard_at(&world, start, "a got x") == 1200);
    CHECK(heard_at(&world, start, "a got y") == 1260);
    struct psd_sim_traffic a = psd_sim_traffic_of(world.sim, "a");
    struct psd_sim_traffic b = psd_sim_traffic_of(world.sim, "b");
    CHECK(b.sent_bytes == 1160 && b.sent_frames == 2 && b.received_frames == 0);
    CHECK(a.received_bytes == 1160 && a.received_frames == 2 && a.sent_bytes == 0);
    world_end(&world);
}

static void payloads_are_stored_or_added(void)
{
    static const float one[] = {1, 2, 3}, two[] = {10, 20, 30, 40};
    struct world world = world_of(&byte_a_ns);
    struct psd_frame stored = frame_of("stored", one, sizeof one), added = stored;
    struct member *m[2];
    uint64_t start;

    join(&world, 2, m, &start);
    m[0]->sizes_only = false;
    stored.payload[1] = (struct psd_span){two, sizeof two};
    added.payload[1] = stored.payload[1];
    send_frame(m[1]->conn, &stored);
    world_run(&world);
    CHECK(m[0]->memory[0] == 1 && m[0]->memory[2] == 3 && m[0]->memory[6] == 40);
    m[0]->add = true;
    send_frame(m[1]->conn, &added);
    world_run(&world);
    CHECK(m[0]->memory[0] == 2 && m[0]->memory[3] == 20 && m[0]->memory[6] == 80);
    CHECK(m[0]->memory[7] == 0);
    world_end(&world);
}

static void a_refused_frame_closes_the_connection_for_both(void)
{
    static const struct {
        const char *why;
        psd_status place, arrived;
        size_t short_by;
        const char *sentence;
    } cases[] = {
        {"place fails", PSD_EPEER, PSD_OK, 0, "no place"},
        {"arrived fails", PSD_OK, PSD_EPEER, 0, "not wanted"},
        {"place is too short", PSD_OK, PSD_OK, 4,
         "a payload of 16 bytes was given a place of 12 bytes"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world = world_of(&byte_a_ns);
        struct psd_frame frames[2] = {frame_of("x", NULL, 16), frame_of("y", NULL, 16)};
        struct member *m[2];
        char expected[200];
        uint64_t start;

        fprintf(stderr, "    %s\n", cases[i].why);
        join(&world, 2, m, &start);
        m[0]->place_status = cases[i].place;
        m[0]->arrived_status = cases[i].arrived;
        m[0]->short_by = cases[i].short_by;
        send_frame(m[1]->conn, &frames[0]);
        send_frame(m[1]->conn, &frames[1]);
        world_run(&world);
        snprintf(expected, sizeof expected,
                 "%s216 a closed: %s\n316 b closed: sim://a has closed the connection\n",
                 cases[i].arrived ? "216 a got x\n" : "", cases[i].sentence);
        CHECK_TEXT(expected, world.diary);
        world_end(&world);
    }
}

static void what_is_put_off_is_asked_for_after_the_next_arrival(void)
{
    struct psd_sim_options options = byte_a_ns;
    options.streams = 2;
    struct world world = world_of(&options);
    struct psd_frame frames[4] = {frame_of("1", NULL, 1), frame_of("2", NULL, 1),
                                  frame_of("3", NULL, 1), frame_of("4", NULL, 1)};
    struct member *m[2];
    uint64_t start;

    join(&world, 2, m, &start);
    m[0]->later = 1;
    for (size_t i = 0; i < 4; i++) /* 1 and 3 on one stream, 2 and 4 on the other */
        send_frame(m[1]->conn, &frames[i]);
    world_run(&world);
    CHECK_TEXT("202 a got 2\n202 b sent 2\n202 a got 1\n202 b sent 1\n"
               "203 a got 3\n203 b sent 3\n204 a got 4\n204 b sent 4\n",
               world.diary);
    world_end(&world);
}

static void what_comes_behind_a_frame_put_off_stays_behind_it(void)
{
    struct world world = world_of(&byte_a_ns);
    struct psd_frame frames[3] = {frame_of("1", NULL, 1), frame_of("2", NULL, 1),
                                  frame_of("other", NULL, 9)};
    struct member *m[3];
    uint64_t start;

    join(&world, 3, m, &start);
    m[0]->later = 1;
    psd_sim_slow(world.sim, "c", 0.1, 1);
    send_frame(m[1]->conn, &frames[0]);
    send_frame(m[1]->conn, &frames[1]);
    send_frame(m[2]->conn, &frames[2]); /* comes last */
    world_run(&world);
    CHECK_TEXT("290 a got other\n290 c sent other\n290 a got 1\n290 b sent 1\n"
               "290 a got 2\n290 b sent 2\n",
               world.diary);
    world_end(&world);
}

static void what_is_put_off_for_good_is_lost_with_its_connection(void)
{
    struct world world = world_of(&byte_a_ns);
    struct psd_frame frames[2] = {frame_of("1", NULL, 1), frame_of("2", NULL, 1)};
    struct member *m[2];
    uint64_t start;

    join(&world, 2, m, &start);
    m[0]->later = 9;
    send_frame(m[1]->conn, &frames[0]);
    send_frame(m[1]->conn, &frames[1]);
    world_run(&world);
    CHECK_TEXT("", world.diary);
    member_close(m[0]);
    world_run(&world);
    CHECK_TEXT("302 b closed: sim://a has closed the connection\n", world.diary);
    world_end(&world);
}

enum { MANY = 200 };

/* Sends MANY frames "0", "1" ... from b to a over a network with these delays; the caller ends it. */
static void send_many(struct world *world, struct psd_frame frames[MANY])
{
    struct member *m[2];
    uint64_t start;

    join(world, 2, m, &start);
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        frames[i] = frame_of(name, NULL, 10);
        send_frame(m[1]->conn, &frames[i]);
    }
    world_run(world);
}

/* How often a frame came after a later one of the same stream, and of another one. */
static void count_overtakings(const struct world *world, int streams, int *within, int *between)
{
    int last[8] = {0}, latest = 0, arrived = 0;

    *within = *between = 0;
    for (const char *at = world->diary; (at = strstr(at, "a got ")); at++) {
        int number = (int)strtol(at + 6, NULL, 10);
        *within += number < last[number % streams];
        *between += number < latest;
        last[number % streams] = number;
        latest = number > latest ? number : latest;
        arrived++;
    }
    CHECK(arrived == MANY);
}

static void delays_reorder_between_streams_only(void)
{
    static const int streams[] = {1, 2, 5};

    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct world world = world_of(&(struct psd_sim_options){
                .seed = seed,
                .bandwidth = 1e9,
                .latency_ns = 5,
                .delay_ns = {0, 100},
                .streams = (unsigned)streams[i],
            });
            struct psd_frame frames[MANY];
            int within = 0, between = 0;
            send_many(&world, frames);
            count_overtakings(&world, streams[i], &within, &between);
            CHECK(within == 0);
            CHECK((between > 0) == (streams[i] > 1));
            world_end(&world);
        }
    }
}

static void without_delays_streams_keep_their_order_too(void)
{
    struct world world = world_of(&(struct psd_sim_options){.bandwidth = 1e9, .streams = 3});
    struct psd_frame frames[MANY];
    int within, between;

    send_many(&world, frames);
    count_overtakings(&world, 3, &within, &between);
    CHECK(within == 0 && between == 0);
    world_end(&world);
}

static void a_delay_lies_between_its_borders(void)
{
    long long least = 1000, most = 0;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world world =
            world_of(&(struct psd_sim_options){.seed = seed, .delay_ns = {20, 30}});
        struct psd_frame frame = frame_of("x", NULL, 8);
        struct member *m[2];
        uint64_t start;
        join(&world, 2, m, &start);
        send_frame(m[1]->conn, &frame);
        world_run(&world);
        long long took = heard_at(&world, start, "a got x");
        least = took < least ? took : least;
        most = took > most ? took : most;
        world_end(&world);
    }
    CHECK(least == 20 && most == 30);
}

static void the_same_seed_gives_the_same_events(void)
{
    static char diary[3][1 << 16];
    static const uint64_t seeds[] = {7, 7, 8};

    for (size_t i = 0; i < 3; i++) {
        struct world world = world_of(&(struct psd_sim_options){
            .seed = seeds[i], .bandwidth = 1e9, .delay_ns = {0, 50}, .streams = 2});
        struct psd_frame frames[MANY];
        send_many(&world, frames);
        memcpy(diary[i], world.diary, world.length + 1);
        world_end(&world);
    }
    CHECK_TEXT(diary[0], diary[1]);
    CHECK(strcmp(diary[0], diary[2]) != 0);
}

/* Sends the frame that has come back again, a hundred times. */
static struct psd_frame ball;
static int throws;

static void throw_again(struct member *member, const char *event)
{
    if (strcmp(event, "sent ") == 0 && throws-- > 0)
        send_frame(member->conn, &ball);
}

static void in_steady_state_nothing_is_allocated(void)
{
    static const uint64_t delays[] = {0, 50};

    for (size_t i = 0; i < 2; i++) {
        struct world world = world_of(&(struct psd_sim_options){.delay_ns = {0, delays[i]}});
        struct member *m[2];
        uint64_t start;
        join(&world, 2, m, &start);
        ball = frame_of("ball", NULL, 8);
        send_frame(m[1]->conn, &ball);
        world_run(&world);
        m[1]->react = throw_again;
        throws = 100;
        psd_alloc_fail_at(0);
        send_frame(m[1]->conn, &ball);
        world_run(&world);
        CHECK(!psd_alloc_fail_at(-1) && throws < 0);
        world_end(&world);
    }
}

/* Many frames at once, so that store and heap have to grow. */
static psd_status send_at_once(struct world *world, struct member **m, struct psd_frame *frames,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        frames[i] = frame_of("x", NULL, 8);
        send_frame(m[i % 2]->conn, &frames[i]);
    }
    while (psd_sim_step(world->sim))
        ;
    return psd_sim_status(world->sim);
}

static void a_simulation_without_memory_ends_and_says_so(void)
{
    static struct psd_frame frames[600];
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct world world =
            world_of(&(struct psd_sim_options){.delay_ns = {0, 50}, .latency_ns = 1});
        struct member *m[2];
        uint64_t start;
        join(&world, 2, m, &start);
        psd_alloc_fail_at(n);
        psd_status status = send_at_once(&world, m, frames, 600);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        if (failed)
            CHECK(strstr(psd_error(), "out of memory") && !psd_sim_step(world.sim));
        else
            CHECK(psd_sim_traffic_of(world.sim, "a").received_frames == 300);
        world_end(&world);
    }
}

int main(int argc, char **argv)
{
    RUN(a_frame_takes_its_bytes_and_the_latency)
    RUN(frames_leave_one_after_the_other)
    RUN(the_two_directions_of_a_link_do_not_disturb_each_other)
    RUN(frames_of_several_senders_share_the_receivers_link)
    RUN(who_comes_first_to_a_busy_link_is_served_first)
    RUN(a_slow_sender_does_not_hold_up_those_behind_it)
    RUN(the_wire_adds_its_overhead_and_counts_it)
    RUN(payloads_are_stored_or_added)
    RUN(a_refused_frame_closes_the_connection_for_both)
    RUN(what_is_put_off_is_asked_for_after_the_next_arrival)
    RUN(what_comes_behind_a_frame_put_off_stays_behind_it)
    RUN(what_is_put_off_for_good_is_lost_with_its_connection)
    RUN(delays_reorder_between_streams_only)
    RUN(without_delays_streams_keep_their_order_too)
    RUN(a_delay_lies_between_its_borders)
    RUN(the_same_seed_gives_the_same_events)
    RUN(in_steady_state_nothing_is_allocated)
    RUN(a_simulation_without_memory_ends_and_says_so)
}
