/* tcp.h - what an endpoint of TCP is made of; for the files of this folder.
 *
 *     psd_endpoint ---- listener; watched while fewer than 16 are on their way in
 *        |      |
 *        |      '-- callers: accepted sockets that have not yet said whose they are     (listen.c)
 *        |              |   handshake, open
 *        |              v
 *        '---- conns: legs[0..count), each a socket with a stream                       (conn.c)
 *                       ^
 *                       |   connect, handshake, open, the peer's open                   (dial.c)
 *
 * All of it belongs to the endpoint's loop; the lanes know streams only. A handler of the user's may
 * close what it likes: whoever calls one does nothing afterwards, or holds the connection and looks at
 * its state. Timers are set once and then only moved, which needs no memory. */
#ifndef PSD_NET_TCP_TCP_H
#define PSD_NET_TCP_TCP_H

#include "base/list.h"
#include "base/loop.h"
#include "net/reason.h"
#include "net/tcp/address.h"
#include "net/tcp/congestion.h"
#include "net/tcp/frames.h"
#include "net/tcp/opening.h"
#include "net/tcp/stream.h"

enum { PSD_TCP_CALLERS = 16 }; /* at a time that are not known to be members */

struct psd_endpoint {
    struct psd_loop *loop; /* borrowed, as the next two */
    const struct psd_net_handler *handler;
    void *user;
    struct psd_net_config config; /* without zeros where they mean a default */
    char congestion[PSD_CONGESTION_NAME];
    struct psd_trust *trust;    /* owned */
    struct psd_loop **lanes;    /* owned; [config.lanes] */
    unsigned next_lane;         /* for the next stream */
    int listener;               /* owned; -1: not yet */
    struct psd_watch watch;     /* of the listener */
    uint16_t port;              /* of the listener */
    char address[PSD_TCP_TEXT]; /* where it listens */
    struct psd_list callers;    /* legs without a connection; owned */
    unsigned calling;           /* how many */
    struct psd_list conns;      /* owned */
    size_t put_off;             /* legs that wait for an arrival */
    struct psd_timer beat;      /* always set */
    uint64_t beat_ns;           /* between two beats */
    uint64_t awake_ns;          /* since when; 0: we have not slept */
    struct psd_net_refusals refusals;
};

/* One socket of a connection, from its first moment on. */
struct psd_tcp_leg {
    struct psd_endpoint *endpoint; /* borrowed */
    struct psd_tcp_conn *conn;     /* that we are of; NULL: a caller */
    struct psd_list link;          /* in the endpoint's callers */
    int fd;                        /* owned while it connects; else -1 */
    struct psd_channel *channel;   /* owned during the handshake; else NULL */
    struct psd_stream *stream;     /* owned after it; else NULL */
    struct psd_watch watch;        /* of the socket, until there is a stream */
    struct psd_timer timer;        /* until a caller is late */
    union psd_tcp_name peer;       /* of a caller */
    uint16_t number;               /* among its connection's; PSD_WIRE_ANY for a caller */
    bool is_open;                  /* the peer's open has come */
    bool is_put_off;
};

enum psd_tcp_state {
    PSD_TCP_MEETING, /* not all streams are there */
    PSD_TCP_OPEN,
    PSD_TCP_GONE /* nobody's; only who calls a handler still holds it */
};

struct psd_tcp_conn {
    struct psd_conn conn;
    enum psd_tcp_state state;
    bool is_dialed;                /* by us */
    bool is_refused;               /* by its user, who has said why */
    struct psd_endpoint *endpoint; /* borrowed; stale when gone */
    struct psd_list link;          /* in the endpoint's conns */
    size_t refs;                   /* the endpoint's, and whoever calls a handler */
    uint64_t open_ns;              /* since when it is open; 0: it is not */
    struct psd_frames kept;        /* sent before it was open */
    struct psd_timer timer;        /* always set: its end, if one is near */
    char why[4 * PSD_REASON_SIZE]; /* of that end */
    char peer[PSD_TCP_TEXT];       /* its address, for sentences */
    unsigned char id[PSD_OPENING_ID];
    uint16_t count;             /* of streams */
    struct psd_tcp_leg *legs[]; /* owned; NULL: not there */
};

/* --- listen.c: who comes ------------------------------------------------------------------------ */

/* Binds, listens and says where. PSD_ECONFIG: the address is taken or not ours. */
psd_status psd_tcp_listen_open(struct psd_endpoint *endpoint, const char *address,
                               const char *towards);
void psd_tcp_listen_close(struct psd_endpoint *endpoint);

/* Takes callers again, after there were too many or the process was out of descriptors. */
void psd_tcp_listen_again(struct psd_endpoint *endpoint);

/* A caller has said whose it is: it becomes a leg of a connection. */
psd_status psd_tcp_listen_opened(struct psd_tcp_leg *leg, const struct psd_opening *opening);

/* A caller goes away, not let in. */
void psd_tcp_listen_refuse(struct psd_tcp_leg *leg);

/* --- dial.c: whom we call ----------------------------------------------------------------------- */

/* psd_transport's connect. */
psd_status psd_tcp_dial(struct psd_endpoint *endpoint, const char *address, struct psd_conn **out);

/* --- leg.c: one socket --------------------------------------------------------------------------
 */

/* A leg without a socket: of `conn`, or with NULL a caller. */
psd_status psd_tcp_leg_create(struct psd_endpoint *endpoint, struct psd_tcp_conn *conn,
                              struct psd_tcp_leg **out);

/* Closes the socket, with a bye if there is a stream, and frees the leg. NULL is fine. */
void psd_tcp_leg_destroy(struct psd_tcp_leg *leg);

/* Sets a socket's options. */
void psd_tcp_leg_tune(const struct psd_endpoint *endpoint, int fd);

/* Bounds the bytes of its socket that are in the kernel and on their way, if the system allows so many; 0:
 * they are as many as the kernel likes. */
void psd_tcp_leg_set_window(const struct psd_tcp_leg *leg, size_t bytes);

/* Lets fn(leg, events) run when the leg's socket is ready; there is no stream yet. */
psd_status psd_tcp_leg_watch(struct psd_tcp_leg *leg, int fd, unsigned events,
                             void (*fn)(void *arg, unsigned events));

/* Begins the handshake on `fd`, which is the leg's from now on, also when it fails. */
psd_status psd_tcp_leg_shake(struct psd_tcp_leg *leg, int fd);

/* Gives a caller the time of one (config.caller_ns) for what comes next. */
psd_status psd_tcp_leg_hurry(struct psd_tcp_leg *leg);

/* Makes it the connection's. */
void psd_tcp_leg_join(struct psd_tcp_leg *leg, struct psd_tcp_conn *conn, uint16_t number);

/* Sends our open. */
void psd_tcp_leg_open(struct psd_tcp_leg *leg);

/* Its frame has to wait; and is offered again, soon. */
void psd_tcp_leg_put_off(struct psd_tcp_leg *leg);
void psd_tcp_leg_ask_again(struct psd_tcp_leg *leg);

/* --- conn.c: a connection ------------------------------------------------------------------------ */

/* One without legs, that ends as late unless it is open in time. */
psd_status psd_tcp_conn_create(struct psd_endpoint *endpoint, const struct psd_opening *opening,
                               const char *peer, struct psd_tcp_conn **out);

/* Looks whether all legs are there; if so, the user hears of it. */
void psd_tcp_conn_meet(struct psd_tcp_conn *conn);

/* The user hears why it is gone, if they know of it: at once, or soon. */
void psd_tcp_conn_end(struct psd_tcp_conn *conn, const char *why);
void psd_tcp_conn_end_soon(struct psd_tcp_conn *conn, const char *why);

/* psd_transport's send and drop. */
void psd_tcp_conn_send(struct psd_conn *conn, struct psd_frame *frame);
void psd_tcp_conn_drop(struct psd_conn *conn);

/* Keeps the memory of a connection while a handler is called. */
void psd_tcp_conn_hold(struct psd_tcp_conn *conn);
void psd_tcp_conn_release(struct psd_tcp_conn *conn);

/* Writes its peer's address and what is said of it; or the sentence for a failure, as psd_error() has
 * it. */
void psd_tcp_conn_say(const struct psd_tcp_conn *conn, const char *what, char *out, size_t size);
void psd_tcp_conn_say_error(const struct psd_tcp_conn *conn, psd_status status, char *out,
                            size_t size);

/* --- hear.c: what its streams tell ---------------------------------------------------------------
 */

extern const struct psd_stream_handler psd_tcp_hear; /* whose user is a leg */

/* --- beats.c: who is silent ---------------------------------------------------------------------- */

psd_status psd_tcp_beats_start(struct psd_endpoint *endpoint);

#endif
