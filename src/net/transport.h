/* transport.h - how frames travel between members: the contract of every transport.
 *
 *     sender                                            receiver
 *     send(conn, frame) ------ header, payload ------>  place(header)    where does it go?
 *                                                       ... bytes go there, stored or added ...
 *     sent(frame) <-----------------------------------  arrived(header)
 *
 * A frame has a short header, which the receiver reads before it says where the payload goes, so that
 * payloads travel from the memory where they are to the memory where they are wanted. Frames arrive
 * whole and once, or the connection closes. Those of one stream keep their order; a connection may
 * have several streams, and nothing is promised between them.
 *
 * An endpoint has one thread (its loop, or whoever turns the simulation's clock): all its calls are
 * made there and all its handlers run there. A handler may make any of these calls; none of them
 * calls a handler before it returns. To add a transport, write <scheme>/ and add its line to
 * transports.c. */
#ifndef PSD_NET_TRANSPORT_H
#define PSD_NET_TRANSPORT_H

#include "base/box.h"
#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSD_FRAME_HEADER = 40, PSD_TRANSPORT_KEY = 64 }; /* bytes; of the longest key */

struct psd_loop;
struct psd_conn;     /* one way to one peer; belongs to its endpoint */
struct psd_endpoint; /* one member's place in a network */

/* Memory that a payload comes from. */
struct psd_span {
    const void *data; /* borrowed; NULL where only sizes are simulated */
    size_t bytes;
};

/* What is sent, in memory of the sender, who leaves it alone until `sent`. */
struct psd_frame {
    struct psd_boxed boxed; /* for the transport */
    unsigned char header[PSD_FRAME_HEADER];
    struct psd_span payload[2]; /* one after the other; both may be empty */
};

/* Where an arriving payload goes. */
struct psd_place {
    struct {
        void *data; /* borrowed until `arrived`; NULL in both: the payload goes nowhere */
        size_t bytes;
    } spans[2]; /* together as long as the payload */
    bool add;   /* floats are added to what is there, not stored; no span's border cuts one */
    bool later; /* not now, while something else is half there: ask again after the next arrival */
};

/* What a member hears. */
struct psd_net_handler {
    /* Somebody has connected to us; `conn` is ours until `closed`. */
    void (*accepted)(void *user, struct psd_conn *conn);

    /* A connection that we asked for is there. */
    void (*connected)(void *user, struct psd_conn *conn);

    /* A header has come whose payload has `bytes`; it is borrowed for the call, and *place is all
     * zero. A failure here or in `arrived`, or a place of another length, closes the connection: we
     * hear `closed` with the failure's sentence, the peer that we have closed it. */
    psd_status (*place)(void *user, struct psd_conn *conn, const unsigned char *header,
                        size_t bytes, struct psd_place *place);

    /* The payload is where it was wanted. */
    psd_status (*arrived)(void *user, struct psd_conn *conn, const unsigned char *header);

    /* The frame's memory is the sender's again. */
    void (*sent)(void *user, struct psd_conn *conn, struct psd_frame *frame);

    /* The connection is gone, for the reason in the sentence, and `conn` with it when this returns;
     * frames not yet reported sent are the sender's again. Not called for those that we close. */
    void (*closed)(void *user, struct psd_conn *conn, const char *why);
};

/* How a transport between machines behaves; all zero is the default. The others look at nothing of it. */
struct psd_net_config {
    uint64_t job;           /* the number of the job: frames of another are refused */
    uint32_t epoch;         /* of its membership: frames of another are refused, too */
    bool in_clear;          /* net.encrypt=off: authenticated, but readable by whoever listens */
    bool no_ktls;           /* tcp: the kernel does not encrypt, even where it can */
    unsigned streams;       /* of a connection; 0: as many as lanes, or 1 */
    unsigned lanes;         /* threads that read and write beside the loop; 0: the loop does it,
                               or, where `streams` is 0 too, what the link needs (tcp/link.h) */
    const char *congestion; /* tcp: the congestion control of sockets; copied; NULL: the best of the
                               system's (congestion.h) */
    size_t window;       /* tcp: bytes of a stream that are in the kernel and on their way at most;
                               0, or more than the system allows: as many as the kernel likes */
    uint64_t timeout_ns; /* a peer silent for this long has left; 0: 10 s */
    uint64_t caller_ns;  /* for who calls to show that it has the key, and again to say what it
                            opens; 0: 2 s, or the timeout if that is shorter */
};

/* What an endpoint has refused, by reason, since it was opened. */
struct psd_net_refusals {
    uint64_t handshakes; /* another key, or no handshake at all */
    uint64_t late;       /* handshakes, opens and further streams that took too long */
    uint64_t garbled;    /* frames whose bytes are not as they were sent, or are none of ours */
    uint64_t foreign;    /* frames of another job */
    uint64_t replayed;   /* frames out of sequence */
    uint64_t old;        /* frames of another epoch */
    uint64_t starved;    /* times that nobody could be let in: too few descriptors, or no memory */
};

struct psd_endpoint_options {
    /* To listen at, without the scheme; borrowed. tcp: "host:port", "host:first-last", or "host": from
     * 7070 on. "" or NULL: see `towards`. */
    const char *address;

    /* A peer's address, or NULL; borrowed. Without an address of our own tcp listens where that peer would
     * reach us, from port 7070 on, and inproc at the first free name below it. */
    const char *towards;

    const struct psd_net_handler *handler; /* borrowed until close, as is all below */
    void *user;                            /* the handlers' first argument */
    struct psd_loop *loop;                 /* whose thread this is; NULL for the simulation */
    void *world;                           /* the simulation: a struct psd_sim; else NULL */

    /* A secret of up to PSD_TRANSPORT_KEY bytes; copied. Endpoints with different keys do not connect.
     * The simulation looks at none. */
    const void *key;
    size_t key_size; /* 0: the empty key */
    struct psd_net_config config;
};

struct psd_transport {
    const char *scheme; /* "tcp" in tcp://host:port */

    /* Takes the place at the address. PSD_ECONFIG: it is taken or no address. */
    psd_status (*open)(const struct psd_endpoint_options *options, struct psd_endpoint **out);

    /* Where it listens, as others connect to it; borrowed until close. */
    const char *(*address)(const struct psd_endpoint *endpoint);

    /* What it has refused; optional. */
    void (*refusals)(const struct psd_endpoint *endpoint, struct psd_net_refusals *out);

    /* Sets config.window of all its connections, those that are there and those to come; optional. */
    void (*set_window)(struct psd_endpoint *endpoint, size_t bytes);

    /* Drops all connections and frees the endpoint; no handler runs afterwards. NULL is fine. */
    void (*close)(struct psd_endpoint *endpoint);

    /* Starts connecting to the endpoint at `address`; connected or closed tells the outcome, later. */
    psd_status (*connect)(struct psd_endpoint *endpoint, const char *address,
                          struct psd_conn **out);

    /* Takes `frame`, which is given back by `sent`, later; also before `connected`. Never blocks,
     * never fails: a connection that breaks is heard of by `closed`. */
    void (*send)(struct psd_conn *conn, struct psd_frame *frame);

    /* Closes one connection; the peer hears it, we do not. Frames not yet sent are the sender's
     * again, and what the peer has sent and we have not heard of is lost. */
    void (*drop)(struct psd_conn *conn);
};

/* What the user of a connection keeps with it; NULL at first. */
void psd_conn_set_tag(struct psd_conn *conn, void *tag);
void *psd_conn_tag(const struct psd_conn *conn);

/* The first member of every transport's struct psd_conn. */
struct psd_conn {
    const struct psd_transport *transport;
    void *tag;
};

/* The transport of `address` ("inproc://demo") and in *rest what is behind the scheme; NULL, with a
 * sentence in psd_error(), when this build has none. */
const struct psd_transport *psd_transport_find(const char *address, const char **rest);

extern const struct psd_transport psd_transport_inproc;
extern const struct psd_transport psd_transport_sim;
extern const struct psd_transport psd_transport_tcp;

#endif
