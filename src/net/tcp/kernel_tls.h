/* kernel_tls.h - the kernel's TLS (kTLS): records that the kernel makes and opens.
 *
 *     sendmsg --> [ kernel: encrypt ] --> packets          from the user's memory into packets,
 *     recvmsg <-- [ kernel: decrypt ] <-- packets          and back, without a copy in between
 *
 * The handshake is not its business: it is given a secret for each direction, behind the last byte of the
 * handshake. Data are read and written like plain bytes from then on. What is no data comes and goes by
 * the calls here; until it is taken, a plain read fails with EIO. */
#ifndef PSD_NET_TCP_KERNEL_TLS_H
#define PSD_NET_TCP_KERNEL_TLS_H

#include "net/tcp/traffic.h"

#include <sys/types.h>

enum psd_kernel_tls_way { PSD_KERNEL_TLS_SENDS, PSD_KERNEL_TLS_RECEIVES };

/* Whether this kernel has it, and can change keys under way (Linux 6.14): one that cannot would have to
 * end a connection after 400 GB. Loads the kernel's module if we may. */
bool psd_kernel_tls_is_there(void);

/* Prepares a connected socket, which goes on as before. false: it is none of TCP, or there is no TLS. */
bool psd_kernel_tls_prepare(int fd);

/* From now on, and from its first record on, one direction is under this secret. false: see errno. */
bool psd_kernel_tls_use(int fd, enum psd_kernel_tls_way way,
                        const unsigned char secret[PSD_TRAFFIC_SECRET]);

/* Sends one record of another type than data, and receives one; -1: see errno. */
ssize_t psd_kernel_tls_send(int fd, unsigned char type, const void *from, size_t size);
ssize_t psd_kernel_tls_receive(int fd, unsigned char *type, void *to, size_t size);

/* Before the socket is closed: the kernel goes on to send what TCP has taken, and forgets the end of a record
 * that TCP had no room for. From now on TCP takes all that the send buffer holds, however much is unsent. */
void psd_kernel_tls_leave(int fd);

#endif
