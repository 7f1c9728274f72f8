/* mesh_test.c - members know each other by rank, on a simulated network and inside the process. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/status.h"
#include "comm/mesh.h"
#include "net/sim/sim.h"
#include "test.h"

#include <stdatomic.h>

enum { MOST = 4 };

/* One of them, with what it has heard. On its loop, where there is one. */
struct member {
    struct ground *ground;
    unsigned rank;
    struct psd_mesh *mesh;
    struct psd_loop *loop;     /* inproc: its own */
    struct psd_frame frame;    /* the one it sends */
    char payload[16], got[16]; /* what it sends, and what came last */
    psd_status refuse;         /* what it answers to a header */
    atomic_int joined, arrived, sent, lost, strangers;
    unsigned from; /* who was heard of last */
    char why[256];
};

/* A network of either kind. */
struct ground {
    const struct psd_transport *transport;
    struct psd_sim *sim; /* NULL: inproc */
    unsigned ranks;
    struct member members[MOST];
};

static void heard_joined(void *user, unsigned from)
{
    struct member *member = user;

    CHECK(psd_mesh_has(member->mesh, from));
    atomic_fetch_add(&member->joined, 1);
}

static psd_status heard_place(void *user, unsigned from, const struct psd_message *message,
                              struct psd_place *place)
{
    struct member *member = user;

    CHECK(message->length <= sizeof member->got);
    place->spans[0].data = member->got;
    place->spans[0].bytes = message->length;
    member->from = from;
    return member->refuse;
}

static psd_status heard_arrived(void *user, unsigned from, const struct psd_message *message)
{
    struct member *member = user;

    CHECK(member->from == from && message->kind == PSD_MESSAGE_PUSH);
    atomic_fetch_add(&member->arrived, 1);
    return PSD_OK;
}

static void heard_sent(void *user, struct psd_frame *frame)
{
    struct member *member = user;

    CHECK(frame == &member->frame);
    atomic_fetch_add(&member->sent, 1);
}

static void heard_lost(void *user, unsigned from, const char *why)
{
    struct member *member = user;

    CHECK(!psd_mesh_has(member->mesh, from));
    member->from = from;
    snprintf(member->why, sizeof member->why, "%s", why);
    atomic_fetch_add(&member->lost, 1);
}

static void heard_stranger(void *user, unsigned rank)
{
    struct member *member = user;

    member->from = rank;
    atomic_fetch_add(&member->strangers, 1);
}

static const struct psd_mesh_handler handler = {.joined = heard_joined,
                                                .place = heard_place,
                                                .arrived = heard_arrived,
                                                .sent = heard_sent,
                                                .lost = heard_lost,
                                                .stranger = heard_stranger};

/* --- either ground ---------------------------------------------------------------------------- */

static const char *address_of(unsigned rank)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    return names[rank];
}

/* Runs fn(member) where the member lives. */
static void on(struct member *member, void (*fn)(void *member))
{
    if (member->loop)
        CHECK_OK(psd_loop_call(member->loop, fn, member));
    else
        fn(member);
}

/* Lets the network go on until the counter is there. */
static void wait_for(struct ground *ground, const atomic_int *counter, int count)
{
    while (atomic_load(counter) < count) {
        if (ground->sim)
            CHECK(psd_sim_step(ground->sim));
        else
            psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS / 10);
    }
    CHECK(atomic_load(counter) == count);
}

static psd_status open_as(struct member *member, unsigned rank, unsigned ranks, const char *address)
{
    struct psd_mesh_options options = {.transport = member->ground->transport,
                                       .address = address,
                                       .loop = member->loop,
                                       .world = member->ground->sim,
                                       .rank = rank,
                                       .ranks = ranks,
                                       .handler = &handler,
                                       .user = member};

    PSD_TRY(psd_mesh_open(&options, &member->mesh));
    CHECK_TEXT(address, psd_mesh_address(member->mesh));
    CHECK(psd_mesh_refusals(member->mesh).handshakes == 0);
    return PSD_OK;
}

static void open_mesh(void *arg)
{
    struct member *member = arg;

    CHECK_OK(open_as(member, member->rank, member->ground->ranks, address_of(member->rank)));
}

static void connect_down(void *arg)
{
    struct member *member = arg;

    for (unsigned i = 0; i < member->rank; i++)
        CHECK_OK(psd_mesh_connect(member->mesh, i, address_of(i)));
}

static void close_mesh(void *arg)
{
    struct member *member = arg;

    psd_mesh_close(member->mesh);
    member->mesh = NULL;
}

static struct ground *new_ground(bool simulated, unsigned ranks)
{
    struct ground *ground = calloc(1, sizeof *ground);
    struct psd_sim_options options = {
        .seed = 3, .latency_ns = 1000, .streams = 3, .delay_ns = {0, 5000}};

    CHECK(ground);
    ground->transport = simulated ? &psd_transport_sim : &psd_transport_inproc;
    ground->ranks = ranks;
    if (simulated)
        CHECK_OK(psd_sim_create(&options, &ground->sim));
    for (unsigned i = 0; i < MOST; i++) {
        struct member *member = &ground->members[i];
        member->ground = ground;
        member->rank = i;
        if (!simulated) {
            CHECK_OK(psd_loop_create(&member->loop));
            CHECK_OK(psd_loop_start(member->loop));
        }
    }
    return ground;
}

/* All members are there and know each other. */
static struct ground *new_mesh(bool simulated, unsigned ranks)
{
    struct ground *ground = new_ground(simulated, ranks);

    for (unsigned i = 0; i < ranks; i++)
        on(&ground->members[i], open_mesh);
    for (unsigned i = 0; i < ranks; i++)
        on(&ground->members[i], connect_down);
    for (unsigned i = 0; i < ranks; i++)
        wait_for(ground, &ground->members[i].joined, (int)ranks - 1);
    return ground;
}

static void free_ground(struct ground *ground)
{
    for (unsigned i = 0; i < MOST; i++) {
        on(&ground->members[i], close_mesh);
        psd_loop_destroy(ground->members[i].loop);
    }
    psd_sim_destroy(ground->sim);
    free(ground);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void send_to_last(void *arg)
{
    struct member *member = arg;
    struct psd_message message = {.kind = PSD_MESSAGE_PUSH, .from = member->rank, .length = 6};

    snprintf(member->payload, sizeof member->payload, "hello%u", member->rank);
    psd_message_encode(&message, member->frame.header);
    member->frame.payload[0] = (struct psd_span){member->payload, 6};
    psd_mesh_send(member->mesh, member->ground->ranks - 1, &member->frame);
}

static void messages_come_with_the_rank_of_their_sender(void)
{
    for (int simulated = 0; simulated < 2; simulated++) {
        struct ground *ground = new_mesh(simulated, 3);
        struct member *last = &ground->members[2];
        for (unsigned i = 0; i < 2; i++) {
            on(&ground->members[i], send_to_last);
            wait_for(ground, &last->arrived, (int)i + 1);
            wait_for(ground, &ground->members[i].sent, 1);
            CHECK(last->from == i && memcmp(last->got, i ? "hello1" : "hello0", 6) == 0);
        }
        free_ground(ground);
    }
}

static void fail_here(void *arg)
{
    struct member *member = arg;

    member->refuse = PSD_EPEER;
}

static void who_sends_what_is_refused_is_lost_on_both_sides(void)
{
    for (int simulated = 0; simulated < 2; simulated++) {
        struct ground *ground = new_mesh(simulated, 2);
        struct member *first = &ground->members[0], *last = &ground->members[1];
        on(last, fail_here);
        on(first, send_to_last);
        wait_for(ground, &last->lost, 1);
        wait_for(ground, &first->lost, 1);
        CHECK(last->from == 0 && first->from == 1 && atomic_load(&first->sent) == 0);
        on(first, send_to_last); /* to nobody */
        on(first, close_mesh);
        CHECK(atomic_load(&first->sent) == 0);
        free_ground(ground);
    }
}

static void a_member_that_closes_is_lost_to_the_others(void)
{
    for (int simulated = 0; simulated < 2; simulated++) {
        struct ground *ground = new_mesh(simulated, 3);
        on(&ground->members[1], close_mesh);
        wait_for(ground, &ground->members[0].lost, 1);
        wait_for(ground, &ground->members[2].lost, 1);
        CHECK(ground->members[0].from == 1 && ground->members[2].from == 1);
        CHECK(atomic_load(&ground->members[1].lost) == 0);
        free_ground(ground);
    }
}

static void a_member_that_is_not_there_is_lost(void)
{
    for (int simulated = 0; simulated < 2; simulated++) {
        struct ground *ground = new_ground(simulated, 2);
        struct member *member = &ground->members[1];
        on(member, open_mesh);
        on(member, connect_down);
        wait_for(ground, &member->lost, 1);
        CHECK(strstr(member->why, "://a"));
        on(&ground->members[0], open_mesh);
        on(member, connect_down); /* it may try again */
        wait_for(ground, &member->joined, 1);
        wait_for(ground, &ground->members[0].joined, 1);
        free_ground(ground);
    }
}

static void join_as_fourth(void *arg)
{
    struct member *member = arg;

    CHECK_OK(open_as(member, 3, 4, "d"));
    CHECK_OK(psd_mesh_connect(member->mesh, 0, "a"));
}

static void join_as_second_again(void *arg)
{
    struct member *member = arg;

    CHECK_OK(open_as(member, 1, 3, "d"));
    CHECK_OK(psd_mesh_connect(member->mesh, 0, "a"));
}

static void a_rank_that_nobody_expects_is_not_let_in(void)
{
    static void (*const ways[])(void *) = {join_as_fourth, join_as_second_again};

    for (size_t i = 0; i < 2; i++) {
        for (int simulated = 0; simulated < 2; simulated++) {
            struct ground *ground = new_mesh(simulated, 3);
            struct member *first = &ground->members[0], *stranger = &ground->members[3];
            on(stranger, ways[i]);
            wait_for(ground, &first->strangers, 1);
            wait_for(ground, &stranger->lost, 1);
            CHECK(first->from == (i ? 1 : 3) && atomic_load(&first->joined) == 2);
            CHECK(atomic_load(&first->lost) == 0);
            free_ground(ground);
        }
    }
}

/* Words to the first member, behind the mesh's back. */
static void babble(void *user, struct psd_conn *conn)
{
    struct member *member = user;

    conn->transport->send(conn, &member->frame);
}

static void note_closed(void *user, struct psd_conn *conn, const char *why)
{
    struct member *member = user;

    (void)conn, (void)why;
    atomic_fetch_add(&member->lost, 1);
}

static void ignore_sent(void *user, struct psd_conn *conn, struct psd_frame *frame)
{
    (void)user, (void)conn, (void)frame;
}

static void headers_that_are_none_close_the_connection(void)
{
    static const struct psd_net_handler rude = {
        .connected = babble, .sent = ignore_sent, .closed = note_closed};
    static const struct {
        const char *why;
        struct psd_message message;
        size_t bytes;
    } cases[] = {
        {"no such kind", {.kind = (enum psd_message_kind)200}, 0},
        {"another length", {.kind = PSD_MESSAGE_PUSH, .length = 9}, 8},
        {"a hello with a payload", {.kind = PSD_MESSAGE_HELLO, .from = 1, .length = 8}, 8},
        {"a lower rank", {.kind = PSD_MESSAGE_HELLO, .from = 0}, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ground *ground = new_ground(true, 2);
        struct member *member = &ground->members[1];
        struct psd_endpoint_options options = {
            .address = "b", .handler = &rude, .user = member, .world = ground->sim};
        struct psd_endpoint *endpoint = NULL;
        struct psd_conn *conn = NULL;
        fprintf(stderr, "    %s\n", cases[i].why);
        on(&ground->members[0], open_mesh);
        psd_message_encode(&cases[i].message, member->frame.header);
        member->frame.payload[0] = (struct psd_span){member->payload, cases[i].bytes};
        CHECK_OK(ground->transport->open(&options, &endpoint));
        CHECK_OK(ground->transport->connect(endpoint, "a", &conn));
        wait_for(ground, &member->lost, 1);
        CHECK(atomic_load(&ground->members[0].joined) == 0);
        ground->transport->close(endpoint);
        free_ground(ground);
    }
}

static void what_overtakes_the_hello_waits_for_it(void)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct psd_sim_options options = {.seed = seed, .streams = 2, .delay_ns = {0, 5000}};
        struct ground *ground = new_ground(true, 2);
        psd_sim_destroy(ground->sim);
        CHECK_OK(psd_sim_create(&options, &ground->sim));
        struct member *first = &ground->members[0], *last = &ground->members[1];
        on(first, open_mesh);
        on(last, open_mesh);
        on(last, connect_down);
        ground->ranks = 1; /* for send_to_last: the first is the last now */
        wait_for(ground, &last->joined, 1);
        on(last, send_to_last);
        wait_for(ground, &first->arrived, 1);
        CHECK(first->from == 1);
        free_ground(ground);
    }
}

/* A transport of which the test itself says what comes when. */
static struct psd_endpoint_options heard_open;

static psd_status fake_open(const struct psd_endpoint_options *options, struct psd_endpoint **out)
{
    heard_open = *options;
    *out = (struct psd_endpoint *)(void *)&heard_open;
    return PSD_OK;
}

static void fake_close(struct psd_endpoint *endpoint)
{
    CHECK(endpoint == (struct psd_endpoint *)(void *)&heard_open);
}

static const char *fake_address(const struct psd_endpoint *endpoint)
{
    (void)endpoint;
    return "a";
}

/* Whether a header of that kind is put off. */
static bool is_later(struct psd_conn *conn, enum psd_message_kind kind)
{
    struct psd_message message = {.kind = kind, .from = 1};
    unsigned char header[PSD_MESSAGE_SIZE];
    struct psd_place place = {.later = false};

    psd_message_encode(&message, header);
    CHECK_OK(heard_open.handler->place(heard_open.user, conn, header, 0, &place));
    return place.later;
}

static void what_comes_while_the_hello_is_half_there_waits_for_it(void)
{
    static const struct psd_transport fake = {
        .open = fake_open, .close = fake_close, .address = fake_address};
    struct psd_message hello = {.kind = PSD_MESSAGE_HELLO, .from = 1};
    struct psd_conn conn = {.transport = &fake};
    unsigned char header[PSD_MESSAGE_SIZE];
    struct ground ground = {.transport = &fake, .ranks = 2};
    struct member *member = &ground.members[0];

    member->ground = &ground;
    open_mesh(member);
    heard_open.handler->accepted(heard_open.user, &conn);
    CHECK(is_later(&conn, PSD_MESSAGE_PUSH)); /* the hello has not come at all */
    CHECK(!is_later(&conn, PSD_MESSAGE_HELLO));
    CHECK(is_later(&conn, PSD_MESSAGE_PUSH));
    psd_message_encode(&hello, header);
    CHECK_OK(heard_open.handler->arrived(heard_open.user, &conn, header));
    CHECK(atomic_load(&member->joined) == 1 && !is_later(&conn, PSD_MESSAGE_PUSH));
    close_mesh(member);
}

static void open_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct ground *ground = new_ground(true, 2);
        struct member *member = &ground->members[0];
        psd_alloc_fail_at(n);
        psd_status status = open_as(member, 0, 2, "a");
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (member->mesh == NULL));
        free_ground(ground);
    }
}

int main(int argc, char **argv)
{
    RUN(messages_come_with_the_rank_of_their_sender)
    RUN(who_sends_what_is_refused_is_lost_on_both_sides)
    RUN(a_member_that_closes_is_lost_to_the_others)
    RUN(a_member_that_is_not_there_is_lost)
    RUN(a_rank_that_nobody_expects_is_not_let_in)
    RUN(headers_that_are_none_close_the_connection)
    RUN(what_overtakes_the_hello_waits_for_it)
    RUN(what_comes_while_the_hello_is_half_there_waits_for_it)
    RUN(open_survives_every_failed_allocation)
}
