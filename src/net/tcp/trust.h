/* trust.h - what an endpoint knows to tell its job's members from strangers.
 *
 * The key, in memory that no core file shows, and OpenSSL's context made from it: TLS 1.3 with an
 * external PSK and a Diffie-Hellman exchange (psk_dhe_ke) and nothing else: no certificates, no tickets,
 * no older versions, AES-128-GCM. The PSK is derived from the key; its identity, which travels in clear,
 * names the job and whether payloads will be encrypted, so that a difference is refused. Constant once
 * created: any thread. */
#ifndef PSD_NET_TCP_TRUST_H
#define PSD_NET_TCP_TRUST_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psd_trust;

/* The key is copied. PSD_ECONFIG: it has fewer than 16 bytes, and could be guessed, or more than 64
 * (PSD_TRANSPORT_KEY). PSD_ENOSUP: this OpenSSL lacks something. */
psd_status psd_trust_create(const void *key, size_t size, uint64_t job, bool in_clear,
                            struct psd_trust **out);

/* Lets the kernel encrypt, if it can (kernel_tls.h) and there is something to encrypt. Right after
 * create. */
void psd_trust_use_kernel(struct psd_trust *trust);

void psd_trust_destroy(struct psd_trust *trust); /* NULL is fine */

#endif
