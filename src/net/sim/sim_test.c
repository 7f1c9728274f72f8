/* sim_test.c - the clock, and what may befall a member. */
#include "base/alloc.h"
#include "base/clock.h"
#include "net/sim/sim.h"
#include "sim_world.h"

#include <math.h>

static const struct psd_sim_options ten = {.latency_ns = 10};

/* What has happened, a letter each. */
static char letters[64];

static void write_letter(void *arg)
{
    size_t length = strlen(letters);

    letters[length] = *(const char *)arg;
    letters[length + 1] = 0;
}

static void set(struct psd_sim *sim, uint64_t when, const char *letter, struct psd_timer *timer)
{
    union {
        const char *in;
        void *out;
    } arg = {letter};

    CHECK_OK(psd_sim_at(sim, when, write_letter, arg.out, timer));
}

static void events_come_in_order_and_move_the_clock(void)
{
    struct world world = world_of(&ten);
    struct psd_timer timers[5] = {{.place = 0}};

    CHECK(psd_sim_now(world.sim) == 0 && !psd_sim_step(world.sim));
    set(world.sim, 30, "d", &timers[0]);
    set(world.sim, 20, "a", &timers[1]);
    set(world.sim, 20, "b", &timers[2]);
    set(world.sim, 25, "x", &timers[3]);
    psd_sim_cancel(world.sim, &timers[3]);
    CHECK(psd_sim_step(world.sim) && psd_sim_now(world.sim) == 20);
    CHECK(psd_sim_step(world.sim) && psd_sim_now(world.sim) == 20);
    set(world.sim, 5, "c", &timers[4]); /* which has passed: now */
    CHECK(psd_sim_step(world.sim) && psd_sim_now(world.sim) == 20);
    world_run(&world);
    CHECK_TEXT("abcd", letters);
    CHECK(psd_sim_now(world.sim) == 30);
    world_end(&world);
}

static void what_never_comes_is_no_event(void)
{
    struct world world = world_of(&ten);
    struct psd_timer timer = {.place = 0};

    set(world.sim, PSD_CLOCK_NEVER, "x", &timer);
    CHECK(!psd_sim_step(world.sim));
    CHECK_OK(psd_sim_status(world.sim));
    world_end(&world);
}

static void strange_options_are_refused(void)
{
    static const struct psd_sim_options cases[] = {
        {.bandwidth = -1},
        {.bandwidth = HUGE_VAL},
        {.bandwidth = (double)NAN},
        {.delay_ns = {2, 1}},
    };
    struct psd_sim *sim = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STATUS(PSD_EINVAL, psd_sim_create(&cases[i], &sim));
    CHECK(sim == NULL);
    psd_sim_destroy(NULL);
}

/* "a" and "b" connected with "c", which is connected twice with "a". */
static void join_three(struct world *world, struct member *members[3])
{
    for (size_t i = 0; i < 3; i++) {
        members[i] = world_join(world, (char[]){(char)('a' + i), 0});
        members[i]->sizes_only = true;
    }
    world_connect(members[2], "a");
    world_connect(members[0], "c");
    world_connect(members[1], "c");
    world_run(world);
    world_forget(world);
}

static void a_cut_is_heard_by_both_after_the_latency(void)
{
    struct world world = world_of(&ten);
    struct psd_frame lost = frame_of("lost", NULL, 0), fine = frame_of("fine", NULL, 0);
    struct psd_frame last = frame_of("last", NULL, 0);
    struct member *m[3];

    join_three(&world, m);
    send_frame(m[0]->conn, &lost);
    send_frame(m[1]->conn, &fine);
    psd_sim_cut(world.sim, "a", "c");
    send_frame(m[0]->conn, &last); /* it does not know yet */
    world_run(&world);
    CHECK_TEXT("20 a closed: the connection with sim://c is cut\n"
               "20 c closed: the connection with sim://a is cut\n"
               "20 c closed: the connection with sim://a is cut\n"
               "20 a closed: the connection with sim://c is cut\n"
               "20 c got fine\n20 b sent fine\n",
               world.diary);
    CHECK(psd_sim_traffic_of(world.sim, "a").sent_frames == 1);
    world_end(&world);
}

static void who_was_cut_may_connect_again(void)
{
    struct world world = world_of(&ten);
    struct psd_frame frame = frame_of("x", NULL, 0);
    struct member *m[3];

    join_three(&world, m);
    psd_sim_cut(world.sim, "c", "b");
    world_run(&world);
    world_forget(&world);
    send_frame(world_connect(m[1], "c"), &frame);
    world_run(&world);
    CHECK_TEXT("30 c accepted\n30 b connected\n30 c got x\n30 b sent x\n", world.diary);
    world_end(&world);
}

static void a_connection_that_is_cut_before_it_is_there_is_never_accepted(void)
{
    struct world world = world_of(&ten);
    struct member *a = world_join(&world, "a");

    world_join(&world, "b");
    world_connect(a, "b");
    psd_sim_cut(world.sim, "b", "a");
    world_run(&world);
    CHECK_TEXT("10 a closed: the connection with sim://b is cut\n", world.diary);
    world_end(&world);
}

static void a_dead_member_hears_nothing_and_its_peers_hear_that(void)
{
    struct world world = world_of(&ten);
    struct psd_frame to = frame_of("to", NULL, 0), from = frame_of("from", NULL, 0);
    struct member *m[3];

    join_three(&world, m);
    send_frame(m[0]->conn, &to);
    send_frame(m[2]->conn, &from);
    psd_sim_kill(world.sim, "c");
    psd_sim_kill(world.sim, "c");
    send_frame(m[2]->conn, &from);
    world_connect(m[2], "a"); /* its code runs on, and nobody hears it */
    world_connect(m[1], "c"); /* nobody has told b yet */
    world_run(&world);
    CHECK_TEXT("20 a closed: sim://c is gone\n20 a closed: sim://c is gone\n"
               "20 b closed: sim://c is gone\n20 b closed: nobody listens at sim://c\n",
               world.diary);
    world_end(&world);
}

/* One connection is cut, another closed by its peer, and the news of both is on its way. */
static void nor_does_it_hear_what_set_out_before_its_death(void)
{
    struct world world = world_of(&ten);
    struct member *m[3];

    join_three(&world, m);
    psd_sim_cut(world.sim, "a", "c");
    psd_transport_sim.drop(m[1]->conn);
    psd_sim_kill(world.sim, "c");
    world_run(&world);
    CHECK_TEXT("20 a closed: the connection with sim://c is cut\n"
               "20 a closed: the connection with sim://c is cut\n",
               world.diary);
    world_end(&world);
}

static void the_address_of_a_dead_member_is_free_when_it_is_closed(void)
{
    struct world world = world_of(&ten);
    struct member *m[3];

    join_three(&world, m);
    psd_sim_kill(world.sim, "c");
    CHECK_STATUS(PSD_ECONFIG, member_open(m[2]));
    world_run(&world);
    world_forget(&world);
    member_close(m[2]);
    CHECK_OK(member_open(m[2]));
    world_connect(m[0], "c");
    world_run(&world);
    CHECK_TEXT("30 c accepted\n30 a connected\n", world.diary);
    world_end(&world);
}

static void a_slow_member_has_less_bandwidth_and_longer_delays(void)
{
    struct world world = world_of(
        &(struct psd_sim_options){.bandwidth = 1e9, .latency_ns = 10, .delay_ns = {100, 100}});
    struct psd_frame up = frame_of("up", NULL, 50), down = frame_of("down", NULL, 50);
    struct psd_frame other = frame_of("other", NULL, 50);
    struct member *m[3];

    join_three(&world, m);
    psd_sim_slow(world.sim, "a", 0.1, 3);
    send_frame(m[0]->conn, &up);
    send_frame(m[1]->conn, &other);
    world_run(&world);
    CHECK_TEXT("170 c got other\n170 b sent other\n" /* 50 + 10 + 100 after 10 */
               "820 c got up\n820 a sent up\n",      /* 500 + 10 + 300 */
               world.diary);
    world_connect(m[2], "a");
    world_run(&world);
    world_forget(&world);
    send_frame(m[2]->conn, &down);
    world_run(&world);
    CHECK_TEXT("1640 a got down\n1640 c sent down\n", world.diary); /* the same after 830 */
    world_end(&world);
}

static void addresses_that_nobody_ever_had_are_nobodys(void)
{
    struct world world = world_of(&ten);
    struct member *m[3];

    join_three(&world, m);
    psd_sim_cut(world.sim, "a", "x");
    psd_sim_cut(world.sim, "x", "a");
    psd_sim_kill(world.sim, "x");
    psd_sim_slow(world.sim, "x", 0.5, 2);
    CHECK(psd_sim_traffic_of(world.sim, "x").sent_frames == 0);
    world_run(&world);
    CHECK_TEXT("", world.diary);
    world_end(&world);
}

static void a_thousand_members_find_each_other(void)
{
    struct world world = world_of(&ten);
    enum { COUNT = 1000 };
    struct psd_endpoint *endpoints[COUNT];
    struct psd_conn *conn;
    char name[16];

    world.members[0].world = &world;
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "m%d", i);
        CHECK_OK(psd_transport_sim.open(&(struct psd_endpoint_options){.address = name,
                                                                       .handler = &member_handler,
                                                                       .user = &world.members[0],
                                                                       .world = world.sim},
                                        &endpoints[i]));
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "m%d", (i * 7 + 1) % COUNT);
        CHECK_OK(psd_transport_sim.connect(endpoints[i], name, &conn));
    }
    size_t events = 0;
    while (psd_sim_step(world.sim))
        events++;
    CHECK(events == COUNT && strstr(world.diary, "closed") == NULL);
    for (int i = 0; i < COUNT; i++)
        psd_transport_sim.close(endpoints[i]);
    psd_sim_destroy(world.sim);
}

static void create_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_sim *sim = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_sim_create(&ten, &sim);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (sim == NULL));
        psd_sim_destroy(sim);
    }
}

int main(int argc, char **argv)
{
    RUN(events_come_in_order_and_move_the_clock)
    RUN(what_never_comes_is_no_event)
    RUN(strange_options_are_refused)
    RUN(a_cut_is_heard_by_both_after_the_latency)
    RUN(who_was_cut_may_connect_again)
    RUN(a_connection_that_is_cut_before_it_is_there_is_never_accepted)
    RUN(a_dead_member_hears_nothing_and_its_peers_hear_that)
    RUN(nor_does_it_hear_what_set_out_before_its_death)
    RUN(the_address_of_a_dead_member_is_free_when_it_is_closed)
    RUN(a_slow_member_has_less_bandwidth_and_longer_delays)
    RUN(addresses_that_nobody_ever_had_are_nobodys)
    RUN(a_thousand_members_find_each_other)
    RUN(create_survives_every_failed_allocation)
}
