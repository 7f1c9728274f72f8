/* net_seats.h - members with a loop each, inside the process, that write down what they hear.
 *
 *     struct seat seats[2] = {{.closed = 0}};
 *     sit_together(seats);                         "a" and "b", the first connected to the second
 *     send_frames(&seats[0], &frame, 1);
 *     wait_for(&seats[1], "accepted\ngot x\n");
 *     stand_up(&seats[0]);
 *     stand_up(&seats[1]);
 *
 * A frame has a name, which is its header; its payload lands in its receiver's memory, one after the
 * other. A seat with `react` calls that at the end of each handler. The transport is the test's choice; in
 * what is written down the peer at its address, such as tcp://127.0.0.1:40123, is net://b. */
#ifndef PSD_TESTS_NET_SEATS_H
#define PSD_TESTS_NET_SEATS_H

#include "base/clock.h"
#include "base/loop.h"
#include "base/status.h"
#include "net/transport.h"
#include "test.h"

#include <pthread.h>

enum { FLOATS = 16, NAMES = 16, DIARY = 1024 };

/* What the tests of a program, or some of them, choose. */
static const struct psd_transport *seat_transport = &psd_transport_inproc;
static const char *seat_where;            /* the address that all listen at; NULL: their names */
static const char *seat_key;              /* of those that have none of their own */
static struct psd_net_config seat_config; /* of all */

/* Who is where. */
static pthread_mutex_t seat_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the rest */
static struct {
    const char *name; /* borrowed from the test */
    char address[80];
} seat_names[NAMES];

static inline void seat_register(const char *name, const char *address)
{
    size_t i = 0;

    pthread_mutex_lock(&seat_lock);
    while (seat_names[i].name && strcmp(seat_names[i].name, name) != 0)
        i++;
    CHECK(i < NAMES);
    seat_names[i].name = name;
    snprintf(seat_names[i].address, sizeof seat_names[i].address, "%s", address);
    pthread_mutex_unlock(&seat_lock);
}

/* The address of the seat of that name; or the name, when there is no such seat. */
static inline void seat_find(const char *name, char out[80])
{
    pthread_mutex_lock(&seat_lock);
    snprintf(out, 80, "%s", name);
    for (size_t i = 0; i < NAMES && seat_names[i].name; i++) {
        if (strcmp(seat_names[i].name, name) == 0)
            snprintf(out, 80, "%s", seat_names[i].address);
    }
    pthread_mutex_unlock(&seat_lock);
}

/* The sentence with the seat's name for its address. */
static inline void seat_tell(const char *sentence, char out[DIARY])
{
    char whole[100];

    snprintf(out, DIARY, "%s", sentence);
    pthread_mutex_lock(&seat_lock);
    for (size_t i = 0; i < NAMES && seat_names[i].name; i++) {
        snprintf(whole, sizeof whole, "%s://%s", seat_transport->scheme, seat_names[i].address);
        const char *at = strstr(sentence, whole);
        if (at)
            snprintf(out, DIARY, "%.*snet://%s%s", (int)(at - sentence), sentence,
                     seat_names[i].name, at + strlen(whole));
    }
    pthread_mutex_unlock(&seat_lock);
}

static const float ones[FLOATS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* A member with a loop. All but the loop belongs to the loop's thread. */
struct seat {
    struct psd_loop *loop;
    const char *name;
    const char *key;                       /* or NULL */
    const struct psd_net_config *config;   /* or NULL */
    const struct psd_net_handler *handler; /* or NULL: the one below */
    struct psd_endpoint *endpoint;
    struct psd_conn *conn; /* the latest that it has, or NULL */
    char diary[DIARY];     /* what it has heard */
    size_t length;
    unsigned connected, got, sent, closed; /* how often */
    float memory[FLOATS];
    bool add;
    struct psd_conn *placing;                /* whose payload comes into the memory; others wait */
    unsigned later;                          /* times that it puts a frame off */
    psd_status place_status, arrived_status; /* what its handlers answer */
    void (*react)(struct seat *seat, const char *event);
    bool is_done; /* it has ended what it had, and hears nothing more */
};

static inline void hear(struct seat *seat, const char *event, const char *what)
{
    PSD_ON_LOOP(seat->loop);
    CHECK(!seat->is_done);
    if (seat->length < sizeof seat->diary)
        seat->length += (size_t)snprintf(seat->diary + seat->length,
                                         sizeof seat->diary - seat->length, "%s%s\n", event, what);
    if (seat->react)
        seat->react(seat, event);
}

static inline void seat_accepted(void *user, struct psd_conn *conn)
{
    struct seat *seat = user;

    seat->conn = conn;
    seat->connected++;
    hear(seat, "accepted", "");
}

static inline void seat_connected(void *user, struct psd_conn *conn)
{
    struct seat *seat = user;

    (void)conn;
    seat->connected++;
    hear(seat, "connected", "");
}

static inline psd_status seat_place(void *user, struct psd_conn *conn, const unsigned char *header,
                                    size_t bytes, struct psd_place *place)
{
    struct seat *seat = user;

    (void)header;
    CHECK(!seat->is_done && bytes <= sizeof seat->memory);
    place->spans[0].data = seat->memory;
    place->spans[0].bytes = bytes;
    place->add = seat->add;
    place->later = seat->later > 0 || seat->placing;
    seat->later -= seat->later > 0;
    if (!place->later && !seat->place_status)
        seat->placing = conn;
    if (seat->react)
        seat->react(seat, "place");
    return seat->place_status ? psd_fail(seat->place_status, "no place") : PSD_OK;
}

static inline psd_status seat_arrived(void *user, struct psd_conn *conn,
                                      const unsigned char *header)
{
    struct seat *seat = user;

    CHECK(seat->placing == conn);
    seat->placing = NULL;
    seat->got++;
    hear(seat, "got ", (const char *)header);
    return seat->arrived_status ? psd_fail(seat->arrived_status, "not wanted") : PSD_OK;
}

static inline void seat_sent(void *user, struct psd_conn *conn, struct psd_frame *frame)
{
    struct seat *seat = user;

    (void)conn;
    seat->sent++;
    hear(seat, "sent ", (const char *)frame->header);
}

static inline void seat_closed(void *user, struct psd_conn *conn, const char *why)
{
    struct seat *seat = user;

    char told[DIARY];

    seat->closed++;
    seat->placing = seat->placing == conn ? NULL : seat->placing;
    seat_tell(why, told);
    hear(seat, "closed: ", told);
    seat_transport->drop(conn); /* which changes nothing any more */
    if (seat->conn == conn)
        seat->conn = NULL;
}

static const struct psd_net_handler seat_handler = {
    .accepted = seat_accepted,
    .connected = seat_connected,
    .place = seat_place,
    .arrived = seat_arrived,
    .sent = seat_sent,
    .closed = seat_closed,
};

/* --- things done on a seat's loop ----------------------------------------------------------------
 */

/* Calls fn(arg) on the loop, also when an allocation is made to fail on the way there. */
static inline void on_loop(struct psd_loop *loop, void (*fn)(void *arg), void *arg)
{
    psd_status status = psd_loop_call(loop, fn, arg);

    CHECK_OK(status == PSD_ENOMEM ? psd_loop_call(loop, fn, arg) : status);
}

struct errand {
    struct seat *seat;
    const char *address, *towards;
    struct psd_frame *frames;
    size_t count;
    psd_status status;
    char diary[DIARY];
    bool (*is_true)(const struct seat *seat);
    bool answer;
};

static inline void open_now(void *arg)
{
    struct errand *errand = arg;
    const char *key = errand->seat->key ? errand->seat->key : seat_key;
    struct psd_endpoint_options options = {
        .address = seat_where && errand->address ? seat_where : errand->address,
        .towards = errand->towards,
        .handler = errand->seat->handler ? errand->seat->handler : &seat_handler,
        .user = errand->seat,
        .loop = errand->seat->loop,
        .key = key,
        .key_size = key ? strlen(key) : 0,
        .config = errand->seat->config ? *errand->seat->config : seat_config,
    };

    errand->status = seat_transport->open(&options, &errand->seat->endpoint);
    if (errand->status == PSD_OK)
        seat_register(errand->address, seat_transport->address(errand->seat->endpoint));
}

static inline void connect_now(void *arg)
{
    struct errand *errand = arg;
    char address[80];

    seat_find(errand->address, address);
    errand->status = seat_transport->connect(errand->seat->endpoint, address, &errand->seat->conn);
}

static inline void send_now(void *arg)
{
    struct errand *errand = arg;

    for (size_t i = 0; i < errand->count; i++)
        seat_transport->send(errand->seat->conn, &errand->frames[i]);
}

static inline void drop_now(void *arg)
{
    struct seat *seat = arg;

    if (seat->conn)
        seat_transport->drop(seat->conn);
    seat->conn = seat->placing = NULL;
}

static inline void close_now(void *arg)
{
    struct seat *seat = arg;

    seat_transport->close(seat->endpoint);
    seat->endpoint = NULL;
    seat->conn = seat->placing = NULL;
}

static inline void look_now(void *arg)
{
    struct errand *errand = arg;

    memcpy(errand->diary, errand->seat->diary, sizeof errand->diary);
    errand->answer = errand->is_true && errand->is_true(errand->seat);
}

/* --- the same for tests --------------------------------------------------------------------------
 */

static inline void sit(struct seat *seat, const char *name)
{
    CHECK_OK(psd_loop_create(&seat->loop));
    CHECK_OK(psd_loop_start(seat->loop));
    seat->name = name;
    struct errand errand = {.seat = seat, .address = name};
    on_loop(seat->loop, open_now, &errand);
    CHECK_OK(errand.status);
}

static inline void stand_up(struct seat *seat)
{
    on_loop(seat->loop, close_now, seat);
    psd_loop_destroy(seat->loop);
}

static inline void connect_to(struct seat *seat, const char *address)
{
    struct errand errand = {.seat = seat, .address = address};

    on_loop(seat->loop, connect_now, &errand);
    CHECK_OK(errand.status);
}

static inline void send_frames(struct seat *seat, struct psd_frame *frames, size_t count)
{
    on_loop(seat->loop, send_now, &(struct errand){.seat = seat, .frames = frames, .count = count});
}

static inline struct psd_frame frame_of(const char *name, const void *data, size_t bytes)
{
    struct psd_frame frame = {.payload = {{data, bytes}}};

    snprintf((char *)frame.header, sizeof frame.header, "%s", name);
    return frame;
}

/* What takes longer than a few looks is looked at every half of a millisecond. */
static inline void wait_a_little(unsigned tries)
{
    if (tries > 20)
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS / 2);
}

static inline void wait_until(struct seat *seat, bool (*is_true)(const struct seat *seat))
{
    struct errand errand = {.seat = seat, .is_true = is_true};

    for (unsigned tries = 0; !errand.answer; tries++) {
        wait_a_little(tries);
        on_loop(seat->loop, look_now, &errand);
    }
}

/* What the seat has heard, once it is this; until then nothing but its beginning. */
static inline void wait_for(struct seat *seat, const char *diary)
{
    struct errand errand = {.seat = seat};

    for (unsigned tries = 0; tries == 0 || strcmp(diary, errand.diary) != 0; tries++) {
        wait_a_little(tries);
        on_loop(seat->loop, look_now, &errand);
        if (strncmp(diary, errand.diary, strlen(errand.diary)) != 0)
            CHECK_TEXT(diary, errand.diary);
    }
}

/* The same for the last that it hears, whatever was before it. */
static inline void wait_for_end(struct seat *seat, const char *end)
{
    struct errand errand = {.seat = seat};
    size_t length = 0;

    for (unsigned tries = 0;
         length < strlen(end) || strcmp(errand.diary + length - strlen(end), end) != 0; tries++) {
        wait_a_little(tries);
        on_loop(seat->loop, look_now, &errand);
        length = strlen(errand.diary);
    }
}

/* Whoever waits for something else than an end does not wait in vain. */
static inline void expect_no_end(const struct seat *seat)
{
    if (seat->closed > 0)
        CHECK_TEXT("no end", seat->diary);
}

static inline bool is_connected(const struct seat *seat)
{
    expect_no_end(seat);
    return seat->connected > 0;
}

static inline bool has_closed(const struct seat *seat)
{
    return seat->closed > 0;
}

/* Two seats of these names, the first connected to the second. */
static inline void sit_as(struct seat seats[2], const char *first, const char *second)
{
    sit(&seats[0], first);
    sit(&seats[1], second);
    connect_to(&seats[0], second);
    wait_until(&seats[0], is_connected);
}

/* As "a" and "b". */
static inline void sit_together(struct seat seats[2])
{
    sit_as(seats, "a", "b");
}

#endif
