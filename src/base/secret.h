/* secret.h - bytes that nobody is to find: a key, in pages of its own.
 *
 *     PSD_TRY(psd_secret_create(key, size, &secret));
 *     explicit_bzero(key, size);                        the caller's copy is the caller's affair
 *     ... psd_secret_data(secret) ...
 *     psd_secret_destroy(secret);
 *
 * The pages are left out of core files, a forked child finds zeros in them, they are kept out of the
 * swap where the process may do so (RLIMIT_MEMLOCK), and they are wiped before they are given back.
 * Whoever may read the memory of the running process reads them too. Constant once created: any
 * thread. */
#ifndef PSD_BASE_SECRET_H
#define PSD_BASE_SECRET_H

#include "poseidon/status.h"

#include <stddef.h>

struct psd_secret;

/* Keeps a copy of `size` bytes; 0 is fine. PSD_ENOSUP: the system cannot leave pages out of core
 * files. */
psd_status psd_secret_create(const void *bytes, size_t size, struct psd_secret **out);

/* Wipes the bytes and frees the secret. NULL is fine. */
void psd_secret_destroy(struct psd_secret *secret);

/* The bytes; borrowed until destroy. */
const void *psd_secret_data(const struct psd_secret *secret);
size_t psd_secret_size(const struct psd_secret *secret);

#endif
