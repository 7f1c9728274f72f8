/* arrival_test.c - payloads that stay half there for a while, and what comes meanwhile. */
#include "sim_world.h"

enum { FRAMES = 40 };

static const struct psd_sim_options slow_to_land = {
    .seed = 5, .latency_ns = 10, .half_ns = 1000, .streams = 2};

/* How many frames have a place and have not arrived: now, and at most. */
static int halves, most_halves;

static void count(struct member *member, const char *event)
{
    (void)member;
    halves += strcmp(event, "place") == 0;
    halves -= strncmp(event, "got", 3) == 0;
    most_halves = halves > most_halves ? halves : most_halves;
}

static void join(struct world *world, struct member *m[2])
{
    m[0] = world_join(world, "a");
    m[1] = world_join(world, "b");
    world_connect(m[1], "a");
    world_run(world);
    world_forget(world);
    m[0]->react = count;
    halves = most_halves = 0;
}

static void send_all(struct member *member, struct psd_frame frames[FRAMES], const float *number)
{
    for (int i = 0; i < FRAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%02d", i);
        frames[i] = frame_of(name, number, sizeof *number);
        send_frame(member->conn, &frames[i]);
    }
}

/* A stream's frames come in their order, and one at a time; those of the other come in between. */
static void payloads_of_two_streams_are_half_there_at_a_time(void)
{
    struct world world = world_of(&slow_to_land);
    struct psd_frame frames[FRAMES];
    struct member *m[2];
    float number = 3;
    int before[2] = {-1, -1}, overtaken = 0;

    join(&world, m);
    send_all(m[1], frames, &number);
    world_run(&world);
    for (const char *at = world.diary; (at = strstr(at, "a got ")); at += 8) {
        int i = atoi(at + 6);
        CHECK(i > before[i % 2]);
        overtaken += i < before[(i + 1) % 2];
        before[i % 2] = i;
    }
    CHECK(before[0] == FRAMES - 2 && before[1] == FRAMES - 1 && overtaken > 0);
    CHECK(halves == 0 && most_halves == 2 && m[0]->memory[0] == 3);
    CHECK(psd_sim_traffic_of(world.sim, "a").received_frames == FRAMES);
    world_end(&world);
}

static void a_payload_that_is_half_there_lets_those_put_off_in(void)
{
    struct world world = world_of(&slow_to_land);
    struct psd_frame frames[2] = {frame_of("1", NULL, 0), frame_of("2", NULL, 0)};
    struct member *m[2];

    join(&world, m);
    m[0]->later = 1; /* the first; it is asked for again when the second is there */
    send_frame(m[1]->conn, &frames[0]);
    send_frame(m[1]->conn, &frames[1]);
    world_run(&world);
    const char *second = strstr(world.diary, "got 2"), *first = strstr(world.diary, "got 1");
    CHECK(second && first && second < first);
    world_end(&world);
}

static void what_is_half_there_is_lost_with_its_connection(void)
{
    struct world world = world_of(&slow_to_land);
    struct psd_frame frames[FRAMES];
    struct member *m[2];
    float number = 3;

    join(&world, m);
    send_all(m[1], frames, &number);
    while (halves == 0)
        CHECK(psd_sim_step(world.sim));
    psd_sim_cut(world.sim, "a", "b");
    world_run(&world);
    CHECK(!strstr(world.diary, "got") && !strstr(world.diary, "sent"));
    CHECK(strstr(world.diary, "a closed") && strstr(world.diary, "b closed"));
    CHECK(m[0]->memory[0] == 0);
    world_end(&world);
}

static void an_endpoint_may_close_while_something_is_half_there(void)
{
    for (int who = 0; who < 2; who++) {
        struct world world = world_of(&slow_to_land);
        struct psd_frame frames[FRAMES];
        struct member *m[2];
        float number = 3;
        join(&world, m);
        send_all(m[1], frames, &number);
        while (halves == 0)
            CHECK(psd_sim_step(world.sim));
        member_close(m[who]);
        world_run(&world);
        CHECK(!strstr(world.diary, "got") && m[0]->memory[0] == 0);
        world_end(&world);
    }
}

static void the_same_seed_gives_the_same_events(void)
{
    static char diary[sizeof((struct world *)0)->diary];

    for (int turn = 0; turn < 2; turn++) {
        struct world world = world_of(&slow_to_land);
        struct psd_frame frames[FRAMES];
        struct member *m[2];
        float number = 3;
        join(&world, m);
        send_all(m[1], frames, &number);
        world_run(&world);
        if (turn == 0)
            memcpy(diary, world.diary, sizeof diary);
        CHECK_TEXT(diary, world.diary);
        world_end(&world);
    }
}

int main(int argc, char **argv)
{
    RUN(payloads_of_two_streams_are_half_there_at_a_time)
    RUN(a_payload_that_is_half_there_lets_those_put_off_in)
    RUN(what_is_half_there_is_lost_with_its_connection)
    RUN(an_endpoint_may_close_while_something_is_half_there)
    RUN(the_same_seed_gives_the_same_events)
}
