/* conn_test.c - who connects to whom, and what they hear when it ends. */
#include "base/alloc.h"
#include "sim_world.h"

static const struct psd_sim_options ten = {.latency_ns = 10};

static void a_connection_is_there_after_the_latency(void)
{
    struct world world = world_of(&ten);
    struct member *a = world_join(&world, "a"), *b = world_join(&world, "b");

    world_connect(a, "b");
    CHECK_TEXT("", world.diary);
    CHECK(b->conn == NULL);
    world_run(&world);
    CHECK_TEXT("10 b accepted\n10 a connected\n", world.diary);
    CHECK(b->conn != NULL && b->conn != a->conn);
    world_end(&world);
}

static void nobody_at_the_address_is_heard_as_closed(void)
{
    struct world world = world_of(&ten);
    struct member *a = world_join(&world, "a"), *b = world_join(&world, "b");

    world_connect(a, "nowhere");
    world_run(&world);
    CHECK_TEXT("10 a closed: nobody listens at sim://nowhere\n", world.diary);

    world_forget(&world);
    world_connect(a, "b");
    member_close(b); /* before the news comes there */
    world_run(&world);
    CHECK_TEXT("20 a closed: nobody listens at sim://b\n", world.diary);
    world_end(&world);
}

static void an_address_is_one_members_until_it_closes(void)
{
    struct world world = world_of(&ten);
    struct member *a = world_join(&world, "a"), again = *a;

    CHECK_STATUS(PSD_ECONFIG, member_open(&again));
    CHECK_TEXT("sim://a is taken", psd_error());
    member_close(a);
    CHECK_OK(member_open(a));
    CHECK_TEXT("a", psd_transport_sim.address(a->endpoint));
    world_connect(a, "a"); /* to itself, which is fine */
    world_run(&world);
    CHECK_TEXT("10 a accepted\n10 a connected\n", world.diary);
    world_end(&world);
}

static void an_endpoint_needs_a_world_and_an_address(void)
{
    struct psd_endpoint *endpoint = NULL;
    struct psd_endpoint_options options = {.address = "a", .handler = &member_handler};
    struct world world = world_of(&ten);

    CHECK_STATUS(PSD_EINVAL, psd_transport_sim.open(&options, &endpoint));
    options.world = world.sim;
    options.address = "";
    CHECK_STATUS(PSD_ECONFIG, psd_transport_sim.open(&options, &endpoint));
    options.address = NULL;
    CHECK_STATUS(PSD_ECONFIG, psd_transport_sim.open(&options, &endpoint));
    CHECK(endpoint == NULL);
    psd_transport_sim.close(NULL);
    world_end(&world);
}

static void frames_may_be_sent_before_the_connection_is_there(void)
{
    struct world world = world_of(&ten);
    struct member *a = world_join(&world, "a");
    struct psd_frame early = frame_of("early", NULL, 0), lost = frame_of("lost", NULL, 0);

    world_join(&world, "b");
    send_frame(world_connect(a, "b"), &early);
    send_frame(world_connect(a, "nowhere"), &lost);
    world_run(&world);
    CHECK_TEXT("10 b accepted\n10 a connected\n10 b got early\n10 a sent early\n"
               "10 a closed: nobody listens at sim://nowhere\n",
               world.diary);
    world_end(&world);
}

/* Connects a with b and b with c. */
static void join_three(struct world *world, struct member *members[3])
{
    static const char *const names[] = {"a", "b", "c"};

    for (size_t i = 0; i < 3; i++)
        members[i] = world_join(world, names[i]);
    world_connect(members[0], "b");
    world_connect(members[2], "b");
    world_run(world);
    world_forget(world);
}

static void who_drops_a_connection_hears_nothing_and_the_peer_does(void)
{
    struct world world = world_of(&ten);
    struct member *m[3];

    join_three(&world, m);
    psd_transport_sim.drop(m[0]->conn);
    world_run(&world);
    CHECK_TEXT("20 b closed: sim://a has closed the connection\n", world.diary);
    world_end(&world);
}

static void all_peers_of_a_closed_endpoint_hear_it(void)
{
    struct world world = world_of(&ten);
    struct member *m[3];

    join_three(&world, m);
    member_close(m[1]);
    world_run(&world);
    CHECK_TEXT("20 a closed: sim://b has closed the connection\n"
               "20 c closed: sim://b has closed the connection\n",
               world.diary);
    CHECK(m[0]->conn == NULL);
    world_end(&world);
}

static void what_both_close_at_once_nobody_hears(void)
{
    struct world world = world_of(&ten);
    struct member *m[3];

    join_three(&world, m);
    member_close(m[0]);
    member_close(m[1]);
    world_run(&world);
    CHECK_TEXT("20 c closed: sim://b has closed the connection\n", world.diary);
    world_end(&world);
}

static void what_is_on_the_way_when_a_connection_ends_is_lost(void)
{
    struct world world = world_of(&ten);
    struct member *m[3];
    struct psd_frame *frame = psd_alloc_zero(1, sizeof *frame);
    struct psd_frame from_b = frame_of("late", NULL, 0);

    join_three(&world, m);
    CHECK(frame);
    send_frame(m[0]->conn, frame);
    psd_transport_sim.drop(m[0]->conn);
    psd_alloc_free(frame); /* it is ours again */
    send_frame(m[2]->conn, &from_b);
    world_run(&world);
    CHECK_TEXT("20 b closed: sim://a has closed the connection\n"
               "20 b got late\n20 c sent late\n",
               world.diary);
    world_end(&world);
}

static void a_connection_remembers_its_tag(void)
{
    struct world world = world_of(&ten);
    struct member *a = world_join(&world, "a");
    struct psd_conn *conn = world_connect(a, "b");

    CHECK(psd_conn_tag(conn) == NULL);
    psd_conn_set_tag(conn, a);
    CHECK(psd_conn_tag(conn) == a);
    world_end(&world);
}

/* What a member does inside one of its handlers. */
static const char *moment;
static bool closes_all;

static void end_it(struct member *member, const char *event)
{
    if (strcmp(event, moment) != 0)
        return;
    member->is_done = true;
    if (closes_all)
        member_close(member);
    else
        psd_transport_sim.drop(member->conn);
    member->conn = NULL;
}

/* Both members try to end it at that moment, while two frames go each way and one is put off. */
static void end_everything_at(const char *event, bool all)
{
    struct world world = world_of(&(struct psd_sim_options){.latency_ns = 10, .streams = 2});
    struct member *a = world_join(&world, "a"), *b = world_join(&world, "b");
    struct psd_frame frames[4] = {frame_of("1", NULL, 0), frame_of("2", NULL, 0),
                                  frame_of("3", NULL, 0), frame_of("4", NULL, 0)};

    moment = event;
    closes_all = all;
    a->react = b->react = end_it;
    b->later = 1;
    world_connect(a, "b");
    send_frame(a->conn, &frames[0]);
    send_frame(a->conn, &frames[1]);
    psd_sim_step(world.sim);
    for (size_t i = 2; i < 4 && b->conn; i++)
        send_frame(b->conn, &frames[i]);
    world_run(&world);
    CHECK(a->is_done || b->is_done);
    world_end(&world);
}

static void a_handler_may_drop_its_connection_or_close_its_endpoint(void)
{
    static const char *const events[] = {"accepted", "connected", "place", "got ", "sent "};

    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        fprintf(stderr, "    in %s\n", events[i]);
        end_everything_at(events[i], false);
        end_everything_at(events[i], true);
    }
}

static void drop_again(struct member *member, const char *event)
{
    if (strcmp(event, "closed: ") == 0)
        psd_transport_sim.drop(member->conn);
}

static void dropping_what_is_just_being_closed_changes_nothing(void)
{
    struct world world = world_of(&ten);
    struct member *m[3];

    join_three(&world, m);
    m[0]->react = m[2]->react = drop_again;
    member_close(m[1]);
    world_run(&world);
    CHECK(m[0]->conn == NULL && m[2]->conn == NULL);
    world_end(&world);
}

static psd_status open_and_connect(struct world *world)
{
    struct member *a = &world->members[0], *b = &world->members[1];

    for (size_t i = 0; i < 2; i++) {
        world->members[i].world = world;
        snprintf(world->members[i].name, sizeof world->members[i].name, "%c", (char)('a' + i));
        PSD_TRY(member_open(&world->members[i]));
    }
    for (int i = 0; i < 20; i++)
        PSD_TRY(psd_transport_sim.connect(a->endpoint, "b", &a->conn));
    PSD_TRY(psd_transport_sim.connect(b->endpoint, "c", &b->conn));
    while (psd_sim_step(world->sim))
        ;
    return psd_sim_status(world->sim);
}

static void endpoints_survive_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct world world = world_of(&ten);
        psd_alloc_fail_at(n);
        psd_status status = open_and_connect(&world);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        world.count = 2;
        world_end(&world);
    }
}

int main(int argc, char **argv)
{
    RUN(a_connection_is_there_after_the_latency)
    RUN(nobody_at_the_address_is_heard_as_closed)
    RUN(an_address_is_one_members_until_it_closes)
    RUN(an_endpoint_needs_a_world_and_an_address)
    RUN(frames_may_be_sent_before_the_connection_is_there)
    RUN(who_drops_a_connection_hears_nothing_and_the_peer_does)
    RUN(all_peers_of_a_closed_endpoint_hear_it)
    RUN(what_both_close_at_once_nobody_hears)
    RUN(what_is_on_the_way_when_a_connection_ends_is_lost)
    RUN(a_connection_remembers_its_tag)
    RUN(a_handler_may_drop_its_connection_or_close_its_endpoint)
    RUN(dropping_what_is_just_being_closed_changes_nothing)
    RUN(endpoints_survive_every_failed_allocation)
}
