/* inproc_seats.h - members with a loop each, inside the process, that write down what they hear.
 *
 *     struct seat seats[2] = {{.closed = 0}};
 *     sit_together(seats);                         "a" and "b", the first connected to the second
 *     send_frames(&seats[0], &frame, 1);
 *     wait_for(&seats[1], "accepted\ngot x\n");
 *     stand_up(&seats[0]);
 *     stand_up(&seats[1]);
 *
 * A frame has a name, which is its header; its payload lands in its receiver's memory. A seat with
 * `react` calls that at the end of each handler. */
#ifndef PSD_TESTS_INPROC_SEATS_H
#define PSD_TESTS_INPROC_SEATS_H

#include "base/loop.h"
#include "base/status.h"
#include "net/transport.h"
#include "test.h"

enum { FLOATS = 16 };

static const float ones[FLOATS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* A member with a loop. All but the loop belongs to the loop's thread. */
struct seat {
    struct psd_loop *loop;
    const char *name;
    const char *key; /* or NULL */
    struct psd_endpoint *endpoint;
    struct psd_conn *conn; /* the latest that it has, or NULL */
    char diary[1024];      /* what it has heard */
    size_t length;
    unsigned connected, got, sent, closed; /* how often */
    float memory[FLOATS];
    bool add;
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

    (void)conn, (void)header;
    CHECK(!seat->is_done && bytes <= sizeof seat->memory);
    place->spans[0].data = seat->memory;
    place->spans[0].bytes = bytes;
    place->add = seat->add;
    place->later = seat->later > 0;
    seat->later -= place->later;
    if (seat->react)
        seat->react(seat, "place");
    return seat->place_status ? psd_fail(seat->place_status, "no place") : PSD_OK;
}

static inline psd_status seat_arrived(void *user, struct psd_conn *conn,
                                      const unsigned char *header)
{
    struct seat *seat = user;

    (void)conn;
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

    seat->closed++;
    hear(seat, "closed: ", why);
    psd_transport_inproc.drop(conn); /* which changes nothing any more */
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
    const char *address;
    struct psd_frame *frames;
    size_t count;
    psd_status status;
    char diary[1024];
    bool (*is_true)(const struct seat *seat);
    bool answer;
};

static inline void open_now(void *arg)
{
    struct errand *errand = arg;

    errand->status = psd_transport_inproc.open(
        &(struct psd_endpoint_options){
            .address = errand->address,
            .handler = &seat_handler,
            .user = errand->seat,
            .loop = errand->seat->loop,
            .key = errand->seat->key,
            .key_size = errand->seat->key ? strlen(errand->seat->key) : 0,
        },
        &errand->seat->endpoint);
}

static inline void connect_now(void *arg)
{
    struct errand *errand = arg;

    errand->status =
        psd_transport_inproc.connect(errand->seat->endpoint, errand->address, &errand->seat->conn);
}

static inline void send_now(void *arg)
{
    struct errand *errand = arg;

    for (size_t i = 0; i < errand->count; i++)
        psd_transport_inproc.send(errand->seat->conn, &errand->frames[i]);
}

static inline void drop_now(void *arg)
{
    struct seat *seat = arg;

    if (seat->conn)
        psd_transport_inproc.drop(seat->conn);
    seat->conn = NULL;
}

static inline void close_now(void *arg)
{
    struct seat *seat = arg;

    psd_transport_inproc.close(seat->endpoint);
    seat->endpoint = NULL;
    seat->conn = NULL;
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

static inline void wait_until(struct seat *seat, bool (*is_true)(const struct seat *seat))
{
    struct errand errand = {.seat = seat, .is_true = is_true};

    while (!errand.answer)
        on_loop(seat->loop, look_now, &errand);
}

/* What the seat has heard, once it is this; until then nothing but its beginning. */
static inline void wait_for(struct seat *seat, const char *diary)
{
    struct errand errand = {.seat = seat};

    do {
        on_loop(seat->loop, look_now, &errand);
        if (strncmp(diary, errand.diary, strlen(errand.diary)) != 0)
            CHECK_TEXT(diary, errand.diary);
    } while (strcmp(diary, errand.diary) != 0);
}

static inline bool is_connected(const struct seat *seat)
{
    return seat->connected > 0;
}

static inline bool has_closed(const struct seat *seat)
{
    return seat->closed > 0;
}

/* Two seats "a" and "b", the first connected to the second. */
static inline void sit_together(struct seat seats[2])
{
    sit(&seats[0], "a");
    sit(&seats[1], "b");
    connect_to(&seats[0], "b");
    wait_until(&seats[0], is_connected);
}

#endif
