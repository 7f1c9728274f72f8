/* key.h - the secret of a job: 32 random bytes, and how they reach its processes.
 *
 *     launcher            psd_key_make(&fd)              a file in memory that nobody can change
 *     a copy of us        psd_key_read(fd, ...)          it has inherited the descriptor
 *     a program           POSEIDON_KEY=fd:5              so has this one, and
 *                         POSEIDON_KEY=file:/run/key     a file of mode 0600 does as well
 *
 * The bytes themselves never stand in a variable or an argument, which others can look at; in a process
 * they stand in memory of their own (base/secret.h), which a fork wipes. Any thread. */
#ifndef PSD_CLI_KEY_H
#define PSD_CLI_KEY_H

#include "base/secret.h"
#include "base/status.h"

enum { PSD_KEY_SIZE = 32 };

/* Makes a key. The caller closes *fd, which a program that is executed does not inherit. */
psd_status psd_key_make(int *fd);

/* The key behind a descriptor, which stays open; `name` is for sentences. From a file in memory it can be
 * read as often as one likes, from a pipe once. PSD_ECONFIG: these are not 32 bytes. */
psd_status psd_key_read(int fd, const char *name, struct psd_secret **out);

/* The key that "fd:5" or "file:PATH" names. PSD_ECONFIG: it names none, there is none, or others can read
 * the file. */
psd_status psd_key_find(const char *text, struct psd_secret **out);

/* Another descriptor for a program that is executed; nobody else moves its position. */
psd_status psd_key_lend(int fd, int *out);

#endif
