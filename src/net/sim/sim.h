/* sim.h - a network and its clock in memory, the same from the same seed.
 *
 *     member 0 ==up==>[ latency + delay ]==down==> member 1
 *
 *     now 0 ns --- events in order of time, equal ones in the order they were set ---> ...
 *
 * Each member has a link with a bandwidth up and one down. A frame leaves when those before it have
 * left the sender's link, and has arrived when its bytes have gone through both links and the
 * latency between; a frame on the wire uses both at once. A link down serves frames in the order in
 * which their first bytes come. `sent` is heard at the moment of `arrived`. Delays drawn from the
 * seed are added per frame; frames are dealt to a connection's streams in turn, those of one stream
 * keep their order, those of different streams do not. A payload may stay half there for a while, and
 * others come meanwhile. Members may be slow, connections be cut, members die.
 *
 * Nothing runs in the background: psd_sim_step takes the next event and calls its handler. Frames
 * carry real payloads, or sizes only (spans without data). One thread. */
#ifndef PSD_NET_SIM_H
#define PSD_NET_SIM_H

#include "base/timers.h"
#include "net/transport.h"

struct psd_sim;

struct psd_sim_options {
    uint64_t seed;
    double bandwidth;     /* bytes a second, each way, of a member without its own; 0: no limit */
    uint64_t latency_ns;  /* one way, between any two; a connection is there after one, too */
    uint64_t delay_ns[2]; /* least and most that is added to a frame, drawn from the seed */
    uint64_t half_ns;     /* the most that passes from `place` to `arrived`, drawn; 0: no time */
    unsigned streams;     /* of a connection; 0: 1 */
    size_t overhead;      /* bytes that the wire adds to each frame, its header included */
};

psd_status psd_sim_create(const struct psd_sim_options *options, struct psd_sim **out);
void psd_sim_destroy(struct psd_sim *sim); /* endpoints are closed before */

/* The virtual time; it begins at 0. */
uint64_t psd_sim_now(const struct psd_sim *sim);

/* Lets fn(arg) run at `when_ns`; as psd_loop_at. */
psd_status psd_sim_at(struct psd_sim *sim, uint64_t when_ns, void (*fn)(void *arg), void *arg,
                      struct psd_timer *timer);
void psd_sim_cancel(struct psd_sim *sim, struct psd_timer *timer);

/* Lets the next event happen. False: there is none, or the simulation has run out of memory and
 * ends here; status tells. */
bool psd_sim_step(struct psd_sim *sim);
psd_status psd_sim_status(const struct psd_sim *sim);

/* The member that listens at `address` gets another link: a share of the options' bandwidth (more
 * than 0), and drawn delays that are `times` as long; of a frame between two such members the larger
 * counts. For frames sent from now on. Here and below, an address that nobody ever had is nobody's:
 * nothing happens. */
void psd_sim_slow(struct psd_sim *sim, const char *address, double bandwidth, double times);

/* Cuts all connections between two members: both hear it after the latency, and what was on the way
 * is lost (it has used the sender's link all the same). They may connect again. */
void psd_sim_cut(struct psd_sim *sim, const char *a, const char *b);

/* The member is gone: its endpoint hears nothing more; its peers hear that after the latency, and
 * what was on the way is lost. Its endpoint is still closed by its owner, and until then the address
 * stays taken. */
void psd_sim_kill(struct psd_sim *sim, const char *address);

/* Bytes and frames that a member has sent, and that have come to it, the wire's overhead included. */
struct psd_sim_traffic {
    uint64_t sent_bytes, received_bytes, sent_frames, received_frames;
};
struct psd_sim_traffic psd_sim_traffic_of(const struct psd_sim *sim, const char *address);

#endif
