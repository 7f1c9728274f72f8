/* sim_world.h - members of a simulated network that write down what they hear.
 *
 *     struct world world = world_of(&(struct psd_sim_options){.latency_ns = 10});
 *     struct member *a = world_join(&world, "a"), *b = world_join(&world, "b");
 *     world_connect(a, "b");
 *     world_run(&world);
 *     CHECK_TEXT("10 b accepted\n10 a connected\n", world.diary);
 *     world_end(&world);
 *
 * A frame has a name, which is its header; its payload lands in its receiver's memory. A member with
 * `react` calls that at the end of each handler. */
#ifndef PSD_TESTS_SIM_WORLD_H
#define PSD_TESTS_SIM_WORLD_H

#include "base/status.h"
#include "net/sim/sim.h"
#include "test.h"

enum { WORLD_MEMBERS = 8, MEMBER_FLOATS = 64 };

struct member {
    struct world *world;
    char name[16];
    struct psd_endpoint *endpoint; /* NULL: closed */
    struct psd_conn *conn;         /* the latest that it has, or NULL */
    float memory[MEMBER_FLOATS];
    bool add, sizes_only;
    unsigned later;                          /* times that it puts the next frame off */
    size_t short_by;                         /* bytes that its places lack */
    psd_status place_status, arrived_status; /* what its handlers answer */
    void (*react)(struct member *member, const char *event);
    bool is_done; /* it has ended what it had, and hears nothing more */
};

struct world {
    struct psd_sim *sim;
    struct member members[WORLD_MEMBERS];
    size_t count;
    char diary[1 << 16];
    size_t length;
};

static inline void member_writes(struct member *member, const char *event, const char *what)
{
    struct world *world = member->world;
    int length = snprintf(world->diary + world->length, sizeof world->diary - world->length,
                          "%llu %s %s%s\n", (unsigned long long)psd_sim_now(world->sim),
                          member->name, event, what);

    world->length += (size_t)length;
    CHECK(!member->is_done && world->length < sizeof world->diary);
    if (member->react)
        member->react(member, event);
}

static inline void member_accepted(void *user, struct psd_conn *conn)
{
    struct member *member = user;

    member->conn = conn;
    member_writes(member, "accepted", "");
}

static inline void member_connected(void *user, struct psd_conn *conn)
{
    (void)conn;
    member_writes(user, "connected", "");
}

static inline psd_status member_place(void *user, struct psd_conn *conn,
                                      const unsigned char *header, size_t bytes,
                                      struct psd_place *place)
{
    struct member *member = user;

    (void)conn, (void)header;
    CHECK(!member->is_done);
    place->later = member->later > 0;
    member->later -= place->later;
    place->add = member->add;
    place->spans[0].bytes = bytes / 2 / sizeof(float) * sizeof(float);
    place->spans[1].bytes = bytes - place->spans[0].bytes - member->short_by;
    if (!member->sizes_only) {
        CHECK(bytes <= sizeof member->memory);
        place->spans[0].data = member->memory;
        place->spans[1].data = (char *)member->memory + place->spans[0].bytes;
    }
    if (member->react)
        member->react(member, "place");
    return member->place_status ? psd_fail(member->place_status, "no place") : PSD_OK;
}

static inline psd_status member_arrived(void *user, struct psd_conn *conn,
                                        const unsigned char *header)
{
    struct member *member = user;

    (void)conn;
    member_writes(member, "got ", (const char *)header);
    return member->arrived_status ? psd_fail(member->arrived_status, "not wanted") : PSD_OK;
}

static inline void member_sent(void *user, struct psd_conn *conn, struct psd_frame *frame)
{
    (void)conn;
    member_writes(user, "sent ", (const char *)frame->header);
}

static inline void member_closed(void *user, struct psd_conn *conn, const char *why)
{
    struct member *member = user;

    member_writes(member, "closed: ", why);
    if (member->conn == conn)
        member->conn = NULL;
}

static const struct psd_net_handler member_handler = {
    .accepted = member_accepted,
    .connected = member_connected,
    .place = member_place,
    .arrived = member_arrived,
    .sent = member_sent,
    .closed = member_closed,
};

static inline struct world world_of(const struct psd_sim_options *options)
{
    struct world world = {.count = 0};

    CHECK_OK(psd_sim_create(options, &world.sim));
    return world;
}

static inline psd_status member_open(struct member *member)
{
    return psd_transport_sim.open(
        &(struct psd_endpoint_options){
            .address = member->name,
            .handler = &member_handler,
            .user = member,
            .world = member->world->sim,
        },
        &member->endpoint);
}

/* A member of that name; the world stays where it is from now on. */
static inline struct member *world_join(struct world *world, const char *name)
{
    struct member *member = &world->members[world->count++];

    member->world = world;
    snprintf(member->name, sizeof member->name, "%s", name);
    CHECK_OK(member_open(member));
    return member;
}

static inline struct psd_conn *world_connect(struct member *member, const char *address)
{
    CHECK_OK(psd_transport_sim.connect(member->endpoint, address, &member->conn));
    return member->conn;
}

static inline void member_close(struct member *member)
{
    psd_transport_sim.close(member->endpoint);
    member->endpoint = NULL;
    member->conn = NULL;
}

/* A frame of that name with `bytes` from `data`, which may be NULL. */
static inline struct psd_frame frame_of(const char *name, const void *data, size_t bytes)
{
    struct psd_frame frame = {.payload = {{data, bytes}}};

    snprintf((char *)frame.header, sizeof frame.header, "%s", name);
    return frame;
}

static inline void send_frame(struct psd_conn *conn, struct psd_frame *frame)
{
    conn->transport->send(conn, frame);
}

static inline void world_run(struct world *world)
{
    while (psd_sim_step(world->sim))
        ;
    CHECK_OK(psd_sim_status(world->sim));
}

static inline void world_forget(struct world *world)
{
    world->length = 0;
    world->diary[0] = 0;
}

static inline void world_end(struct world *world)
{
    for (size_t i = 0; i < world->count; i++)
        member_close(&world->members[i]);
    psd_sim_destroy(world->sim);
}

#endif
