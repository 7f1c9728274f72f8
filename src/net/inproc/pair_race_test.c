/* pair_race_test.c - both sides of connections do everything at once: no frame is lost, doubled or
 * overtaken, none takes a lock, and whoever leaves may take his loop with him.
 *
 *     side 0   lane 0  31 30 29 ... --->  <--- ... 29 30 31  lane 0   side 1
 *              lane 1  31 30 29 ... --->  <--- ... 29 30 31  lane 1
 *
 * A lane is one side of a connection; a frame that has been sent goes again, with the next number. */
#include "net_seats.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <stdatomic.h>

static atomic_bool counts;
static atomic_long locks;

#if !TEST_IS_SANITIZED
/* Before the C library's, which it calls. A sanitizer has one of its own, which must not be taken from it. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static _Atomic(void *) next;
    int (*lock)(pthread_mutex_t *) = NULL;

    if (atomic_load(&counts))
        atomic_fetch_add(&locks, 1);
    if (!atomic_load(&next))
        atomic_store(&next, dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    void *found = atomic_load(&next);
    memcpy(&lock, &found, sizeof lock);
    return lock(mutex);
}
#endif

enum { LANES = 2, WINDOW = 32, EACH_LANE = 20000 };

struct lane {
    struct side *side; /* borrowed */
    struct psd_conn *conn;
    struct psd_frame frames[WINDOW];
    uint64_t payloads[WINDOW];
    uint64_t sent, came; /* how many */
    uint64_t memory;     /* where payloads go */
    bool is_put_off;
};

struct side {
    struct psd_loop *loop;
    struct psd_endpoint *endpoint;
    struct lane lanes[LANES];
    unsigned connected;
    struct psd_note start; /* a post would take a lock */
    sem_t is_ready, is_done;
};

static uint64_t number_of(const unsigned char *header)
{
    uint64_t number = 0;

    memcpy(&number, header, sizeof number);
    return number;
}

static void send_next(struct lane *lane, struct psd_frame *frame)
{
    uint64_t *payload = &lane->payloads[frame - lane->frames];

    memcpy(frame->header, &lane->sent, sizeof lane->sent);
    *payload = 3 * lane->sent++;
    frame->payload[0] = (struct psd_span){payload, sizeof *payload};
    psd_transport_inproc.send(lane->conn, frame);
}

static void start(void *arg)
{
    struct side *side = arg;

    for (size_t i = 0; i < LANES; i++) {
        for (size_t k = 0; k < WINDOW; k++)
            send_next(&side->lanes[i], &side->lanes[i].frames[k]);
    }
}

static void note_connection(struct side *side, struct psd_conn *conn)
{
    struct lane *lane = &side->lanes[side->connected++];

    psd_conn_set_tag(conn, lane);
    *lane = (struct lane){.side = side, .conn = conn};
    if (side->connected == LANES)
        sem_post(&side->is_ready);
}

static void accepted(void *user, struct psd_conn *conn)
{
    note_connection(user, conn);
}

static void connected(void *user, struct psd_conn *conn)
{
    note_connection(user, conn);
}

/* Every fifth is put off once, if something else is sure to arrive. */
static psd_status place(void *user, struct psd_conn *conn, const unsigned char *header,
                        size_t bytes, struct psd_place *out)
{
    struct side *side = user;
    struct lane *lane = psd_conn_tag(conn);
    const struct lane *other = &side->lanes[lane == side->lanes];

    CHECK(number_of(header) == lane->came && bytes == sizeof lane->memory);
    out->later = number_of(header) % 5 == 0 && !lane->is_put_off && !other->is_put_off &&
                 other->came < EACH_LANE;
    lane->is_put_off = out->later;
    out->spans[0].data = &lane->memory;
    out->spans[0].bytes = bytes;
    return PSD_OK;
}

static psd_status arrived(void *user, struct psd_conn *conn, const unsigned char *header)
{
    struct side *side = user;
    struct lane *lane = psd_conn_tag(conn);

    CHECK(number_of(header) == lane->came && lane->memory == 3 * lane->came);
    lane->came++;
    if (side->lanes[0].came == EACH_LANE && side->lanes[1].came == EACH_LANE)
        sem_post(&side->is_done);
    return PSD_OK;
}

static void sent(void *user, struct psd_conn *conn, struct psd_frame *frame)
{
    struct lane *lane = psd_conn_tag(conn);

    (void)user;
    if (lane->sent < EACH_LANE)
        send_next(lane, frame);
}

/* Nobody closes anything before all is there. */
static void closed(void *user, struct psd_conn *conn, const char *why)
{
    const struct lane *lane = psd_conn_tag(conn);

    (void)user;
    CHECK(why && lane->came == EACH_LANE);
}

static const struct psd_net_handler handler = {
    .accepted = accepted,
    .connected = connected,
    .place = place,
    .arrived = arrived,
    .sent = sent,
    .closed = closed,
};

static void open_side(void *arg)
{
    struct side *side = arg;
    struct psd_endpoint_options options = {
        .address = "b", .handler = &handler, .user = side, .loop = side->loop};

    CHECK_OK(psd_transport_inproc.open(&options, &side->endpoint));
}

static void open_side_and_connect(void *arg)
{
    struct side *side = arg;
    struct psd_endpoint_options options = {
        .address = "a", .handler = &handler, .user = side, .loop = side->loop};
    struct psd_conn *conn = NULL;

    CHECK_OK(psd_transport_inproc.open(&options, &side->endpoint));
    for (size_t i = 0; i < LANES; i++)
        CHECK_OK(psd_transport_inproc.connect(side->endpoint, "b", &conn));
}

static void close_side(void *arg)
{
    struct side *side = arg;

    psd_transport_inproc.close(side->endpoint);
}

static void init_side(struct side *side, void (*open)(void *arg))
{
    *side = (struct side){.start = {.fn = start, .arg = side}};
    sem_init(&side->is_ready, 0, 0);
    sem_init(&side->is_done, 0, 0);
    CHECK_OK(psd_loop_create(&side->loop));
    CHECK_OK(psd_loop_start(side->loop));
    CHECK_OK(psd_loop_call(side->loop, open, side));
}

/* All frames go in both directions; the handlers look at each of them. */
static void send_all(void)
{
    static struct side sides[2];

    init_side(&sides[1], open_side);
    init_side(&sides[0], open_side_and_connect);
    for (size_t i = 0; i < 2; i++)
        sem_wait(&sides[i].is_ready);
    atomic_store(&counts, true);
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(psd_loop_put(sides[i].loop, &sides[i].start));
    for (size_t i = 0; i < 2; i++)
        sem_wait(&sides[i].is_done);
    atomic_store(&counts, false);
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(psd_loop_call(sides[i].loop, close_side, &sides[i]));
        psd_loop_destroy(sides[i].loop);
    }
}

static void frames_keep_their_order_whatever_is_put_off(void)
{
    send_all();
}

static void frames_change_hands_without_a_lock(void)
{
    struct psd_loop *loop = NULL;

    if (TEST_IS_SANITIZED)
        SKIP("a sanitizer has its own pthread_mutex_lock");
    atomic_store(&counts, true);
    CHECK_OK(psd_loop_create(&loop));
    CHECK_OK(psd_loop_post(loop, start, NULL));
    CHECK(atomic_load(&locks) > 0); /* those that there are, are seen */
    atomic_store(&counts, false);
    psd_loop_destroy(loop);
    atomic_store(&locks, 0);
    send_all();
    CHECK(atomic_load(&locks) == 0);
}

/* --- endings ------------------------------------------------------------------------------------ */

static void send_again(void *user, struct psd_conn *conn, struct psd_frame *frame)
{
    (void)user;
    psd_transport_inproc.send(conn, frame);
}

static void connect_and_send(void *arg)
{
    connect_now(arg);
    send_now(arg);
}

static unsigned rounds; /* so far */

static bool has_closed_again(const struct seat *seat)
{
    return seat->closed == rounds;
}

/* The sender never stops; where the receiver is asked, connected or in the middle of a payload is up to
 * chance. */
static void a_receiver_may_close_and_take_its_loop_with_it(void)
{
    struct psd_net_handler tireless = seat_handler;
    struct seat sender = {.handler = &tireless};
    struct psd_frame frames[WINDOW];
    struct errand errand = {.seat = &sender, .address = "b", .frames = frames, .count = WINDOW};

    tireless.sent = send_again;
    for (size_t i = 0; i < WINDOW; i++)
        frames[i] = frame_of("x", ones, sizeof ones);
    sit(&sender, "a");
    for (rounds = 1; rounds <= 300; rounds++) {
        struct seat receiver = {.closed = 0};
        sit(&receiver, "b");
        CHECK_OK(psd_loop_post(sender.loop, connect_and_send, &errand));
        psd_clock_sleep_until(psd_clock_now() + 8 * PSD_CLOCK_US * (rounds % 16));
        stand_up(&receiver);
        wait_until(&sender, has_closed_again);
        CHECK_OK(errand.status);
    }
    stand_up(&sender);
}

/* The same from the other side: the frames are gone with the loop, too. */
static void a_sender_may_close_and_take_its_loop_with_it(void)
{
    struct psd_net_handler tireless = seat_handler;
    struct seat receiver = {.closed = 0};

    tireless.sent = send_again;
    sit(&receiver, "b");
    for (rounds = 1; rounds <= 300; rounds++) {
        struct seat sender = {.handler = &tireless};
        struct psd_frame *frames = calloc(WINDOW, sizeof *frames);
        struct errand errand = {.seat = &sender, .address = "b", .frames = frames, .count = WINDOW};
        CHECK(frames);
        for (size_t i = 0; i < WINDOW; i++)
            frames[i] = frame_of("x", ones, sizeof ones);
        sit(&sender, "a");
        on_loop(sender.loop, connect_and_send, &errand);
        psd_clock_sleep_until(psd_clock_now() + 8 * PSD_CLOCK_US * (rounds % 16));
        stand_up(&sender);
        free(frames);
    }
    stand_up(&receiver);
    CHECK(receiver.closed <= receiver.connected && receiver.connected < rounds);
}

int main(int argc, char **argv)
{
    RUN(frames_keep_their_order_whatever_is_put_off)
    RUN(frames_change_hands_without_a_lock)
    RUN(a_receiver_may_close_and_take_its_loop_with_it)
    RUN(a_sender_may_close_and_take_its_loop_with_it)
}
