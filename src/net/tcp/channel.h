/* channel.h - bytes to and from one peer that has proven to have our key.
 *
 *     socket --> shake ... shake (TLS handshake) --> read, write     encrypted by OpenSSL; or by plain
 *                                                                    system calls from then on: in clear,
 *                                                                    or encrypted by the kernel
 *
 * In clear the handshake is the same; afterwards TLS is left and its exporter gives a key for each
 * direction, which seals heads (seal.h). Never blocks, and never raises SIGPIPE. One thread at a time; it
 * may change when the handshake is done. Sentences of PSD_EPEER lack their subject, which the caller puts
 * before them: "has another key", behind "tcp://10.0.0.1:7070 ". */
#ifndef PSD_NET_TCP_CHANNEL_H
#define PSD_NET_TCP_CHANNEL_H

#include "net/tcp/trust.h"

#include <sys/uio.h>

enum { PSD_CHANNEL_KEY = 32 }; /* bytes */

struct psd_channel;

/* Takes a connected, non-blocking socket, which it owns from now on, also when it fails. The trust is
 * borrowed until destroy. */
psd_status psd_channel_create(const struct psd_trust *trust, int fd, bool is_server,
                              struct psd_channel **out);

/* Closes the socket. NULL is fine. */
void psd_channel_destroy(struct psd_channel *channel);

int psd_channel_fd(const struct psd_channel *channel);
bool psd_channel_is_clear(const struct psd_channel *channel);

/* Goes on with the handshake. *wants: what the socket must be ready for before the next call
 * (PSD_LOOP_READ or PSD_LOOP_WRITE); 0: it is done. PSD_EPEER: it failed, for good, with the reason as far
 * as we can know it. A stranger is refused whose first record is longer than 1 KB or who sends much behind
 * it. How long it may take is up to the caller. */
psd_status psd_channel_shake(struct psd_channel *channel, unsigned *wants);

/* In clear, after the handshake, once: the keys that seal what we send and what we receive. The channel
 * keeps none. */
psd_status psd_channel_keys(struct psd_channel *channel, unsigned char sending[PSD_CHANNEL_KEY],
                            unsigned char receiving[PSD_CHANNEL_KEY]);

/* Reads into, or writes from, the vector as far as can be done now. *count 0: nothing; wait for the
 * socket. PSD_EPEER: the connection is over; the sentence says how. A write that stopped half-way is
 * repeated with the same bytes from there on. */
psd_status psd_channel_read(struct psd_channel *channel, const struct iovec *to, int spans,
                            size_t *count);
psd_status psd_channel_write(struct psd_channel *channel, const struct iovec *from, int spans,
                             size_t *count);

/* Nothing is to be done before so many more bytes have come, of those that read gives: the socket is not
 * ready for reading before most of them are there, or the connection is over. Large numbers spare
 * wake-ups; more than will come is never said. */
void psd_channel_expect(struct psd_channel *channel, size_t bytes);

/* Whether reading has ended with something that cannot be decrypted: it was altered on its way, or put
 * there. The next read says so, and the socket's readiness does not tell of it. Whose words were altered
 * hears that the peer has refused them, and nothing garbled. */
bool psd_channel_is_garbled(const struct psd_channel *channel);

/* Whether a read that did not fill its vector may leave behind what the socket's readiness does not tell of:
 * that reading has ended, or, in the kernel, a change of keys. So it is read again until nothing comes. */
bool psd_channel_hides(const struct psd_channel *channel);

#endif
