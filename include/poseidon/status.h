/* poseidon/status.h - how every call answers.
 *
 *     psd_status status = psd_...(...);
 *     if (status != PSD_OK)
 *         fprintf(stderr, "%s\n", psd_error());
 *
 * The library never prints and never exits: it answers with a word from a small vocabulary, which
 * says what the caller can do, and keeps the sentence that says what went wrong.
 * Every call is safe from any thread. SPDX-License-Identifier: Apache-2.0 */
#ifndef POSEIDON_STATUS_H
#define POSEIDON_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared libraries export. */
#define PSD_API __attribute__((visibility("default")))

/* The version of these headers; psd_version() has that of the library in use. */
#define PSD_VERSION_MAJOR 0
#define PSD_VERSION_MINOR 1
#define PSD_VERSION_PATCH 0
#define PSD_VERSION       "0.1.0"

typedef enum psd_status {
    PSD_OK = 0,
    PSD_EINVAL = -1,   /* the arguments make no sense: fix the call */
    PSD_ENOMEM = -2,   /* host memory ran out: free some and retry */
    PSD_ECONFIG = -3,  /* a file or setting is wrong: the message names it */
    PSD_EPEER = -4,    /* another process left or answered nonsense: rejoin */
    PSD_ETIMEOUT = -5, /* nobody answered in time: retry or rejoin */
    PSD_EDEVICE = -6,  /* a GPU or its driver failed: restart this worker */
    PSD_ENOSUP = -7    /* this build or device cannot do that: choose another way */
} psd_status;

/* The sentence behind the latest failure on this thread; never NULL, "" before the first failure.
 * Where a file has several mistakes it is several lines, one sentence each. Borrowed until the next
 * failure on this thread. */
PSD_API const char *psd_error(void);

/* The name of a status, such as "PSD_ENOMEM"; never NULL. */
PSD_API const char *psd_status_name(psd_status status);

/* The version of the library in use, such as "0.1.0"; never NULL. */
PSD_API const char *psd_version(void);

#ifdef __cplusplus
}
#endif

#endif
