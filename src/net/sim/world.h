/* world.h - what the simulation is made of; for the files of this folder.
 *
 *     psd_sim ---- members, found by address: links, frames that leave and come, traffic
 *        |            |
 *        |         endpoint ---- the member's ends of connections
 *        |                                   |
 *        '--------- pairs: a connection is  [end 0][end 1], made by connect in one piece
 *                                            ^
 *                   flights: frames on the way, each to an end
 *
 * A pair lives while one of its ends is somebody's or a flight is on the way. What was on the way
 * when a pair broke is not looked for: each flight finds that out at its next moment, and until
 * then touches no frame. */
#ifndef PSD_NET_SIM_WORLD_H
#define PSD_NET_SIM_WORLD_H

#include "base/list.h"
#include "base/map.h"
#include "net/reason.h"
#include "net/sim/link.h"
#include "net/sim/sim.h"

/* Flights in the order of their next moment; the timer is set to that of the first. */
struct psd_sim_queue {
    struct psd_list flights; /* borrowed from the store */
    struct psd_timer timer;
};

/* One address and the link behind it; it stays when its endpoint closes. */
struct psd_sim_member {
    struct psd_sim *sim;           /* borrowed; owns us */
    struct psd_endpoint *endpoint; /* borrowed; NULL: nobody listens */
    struct psd_sim_link up, down;
    double times;                 /* how much longer its delays are */
    struct psd_sim_queue leaving; /* by the moment when the first byte is with the receiver */
    struct psd_sim_queue coming;  /* by the moment when the last byte is here */
    struct psd_sim_traffic traffic;
    char address[];
};

struct psd_endpoint {
    struct psd_sim_member *member;         /* borrowed from the simulation */
    const struct psd_net_handler *handler; /* borrowed */
    void *user;                            /* borrowed */
    struct psd_list ends;                  /* of connections that are ours */
    struct psd_list put_off; /* flights that are here, and are asked for again; owned, */
    struct psd_list halves;  /* as are those that have a place, and are on their way into it */
    bool is_dead;
};

/* One side of a connection. */
struct psd_sim_end {
    struct psd_conn conn;
    struct psd_sim_pair *pair;     /* that we are part of */
    struct psd_sim_member *member; /* borrowed from the simulation, as the next */
    struct psd_sim_member *peer;   /* the other end's */
    struct psd_endpoint *endpoint; /* whose it is, borrowed; NULL: nobody's, not yet or no more */
    unsigned next_stream;          /* of the frames that it sends */
    struct psd_list link;          /* in its endpoint's ends */
    struct psd_timer timer;        /* news for this side: somebody asks, or it is closed */
    void *unused;                  /* so that both ends of a pair begin a line of the cache */
};

/* A connection. There may be a million, so the next frame's is rarely in the cache: what a frame needs
 * stands in two lines of it, the first and the one where the second end begins. */
struct psd_sim_pair {
    uint32_t refs;              /* ends that are somebody's, flights, and whoever calls a handler */
    bool is_broken;             /* nothing more arrives */
    struct psd_sim_end ends[2]; /* who asked, who was asked */
    enum psd_reason reason;     /* why it is broken */
    struct psd_list link;       /* in the simulation's pairs */
    uint64_t last_ns[];         /* [end][stream]: when all sent to that end is there, at best */
};

enum { PSD_SIM_CACHE_LINE = 64 };
_Static_assert(offsetof(struct psd_sim_pair, ends[1]) % PSD_SIM_CACHE_LINE == 0 &&
                   offsetof(struct psd_sim_pair, ends[0].link) <= PSD_SIM_CACHE_LINE,
               "what a frame needs stands in two lines");

/* What a flight needs beside, where frames overtake each other or stay half there. */
struct psd_sim_detour {
    struct psd_timer timer;
    struct psd_place place; /* that it was given */
};

/* A frame on the way. */
struct psd_sim_flight {
    struct psd_list link;          /* in a queue, or in the store */
    struct psd_sim_pair *pair;     /* kept */
    struct psd_sim_member *member; /* that it goes to; borrowed */
    struct psd_frame *frame;       /* borrowed, and not to be touched when the pair is broken */
    size_t bytes;                  /* on the wire */
    uint64_t when_ns;              /* its next moment: first byte there, later last byte there */
    uint64_t least_ns;             /* when the last byte is there if the receiver's link is free */
    unsigned side;                 /* the end of the pair that it goes to */
    unsigned stream;
    struct psd_sim_detour detour[]; /* one, where such things happen; else it is in a queue */
};

struct psd_sim {
    struct psd_sim_options options;
    struct psd_timers timers;
    uint64_t now_ns;
    uint64_t drawn;    /* delays so far */
    psd_status status; /* the first failure */

    struct psd_map names;            /* of members, to their places */
    struct psd_sim_member **members; /* owned, each, too */
    size_t count, room;

    struct psd_list pairs;           /* owned */
    struct psd_list free;            /* flights that are on no way */
    struct psd_sim_flights *flights; /* owned: the store in pieces */
};

/* The other side. */
static inline struct psd_sim_end *psd_sim_peer(struct psd_sim_end *end)
{
    return &end->pair->ends[end == &end->pair->ends[0]];
}

/* Sets a timer of the simulation's own; a failure is kept. */
void psd_sim_set(struct psd_sim *sim, uint64_t when_ns, void (*fn)(void *arg), void *arg,
                 struct psd_timer *timer);

/* Keeps the first failure; psd_sim_step does no more after it. */
void psd_sim_fail(struct psd_sim *sim, psd_status status);

/* The member at `address`; NULL when nobody ever had it. */
struct psd_sim_member *psd_sim_member_find(const struct psd_sim *sim, const char *address);

/* The same, or a new one. */
psd_status psd_sim_member_get(struct psd_sim *sim, const char *address,
                              struct psd_sim_member **out);

/* Lets nothing more arrive; those whose ends they still are hear why at `when_ns`. */
void psd_sim_pair_break(struct psd_sim_pair *pair, enum psd_reason reason, uint64_t when_ns);

/* Gives one reference back; the last one frees the pair. */
void psd_sim_pair_release(struct psd_sim_pair *pair);

/* Closes a connection whose user has refused a frame, with the sentence in psd_error(). */
void psd_sim_end_refuse(struct psd_sim_end *end);

/* psd_transport's send. */
void psd_sim_flight_send(struct psd_conn *conn, struct psd_frame *frame);

/* The first flight of a list, taken out of it; NULL when there is none. */
struct psd_sim_flight *psd_sim_flight_first(struct psd_list *flights);

/* A flight that is in no list goes back to the store, and lets its pair go. */
void psd_sim_flight_give(struct psd_sim *sim, struct psd_sim_flight *flight);

/* Takes in a flight to the member that has come, in no list; or puts it off. */
void psd_sim_arrival_take(struct psd_sim_member *member, struct psd_sim_flight *flight);

/* Frees the store. */
void psd_sim_flight_free_all(struct psd_sim *sim);

#endif
