/* key.c - random bytes in a sealed memfd, and bytes of the right number from a descriptor. */
#include "cli/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- making ------------------------------------------------------------------------------------- */

static bool fill(int fd)
{
    unsigned char bytes[PSD_KEY_SIZE];
    bool done =
        getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes &&
        write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes && fchmod(fd, 0400) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0;

    explicit_bzero(bytes, sizeof bytes);
    return done;
}

psd_status psd_key_make(int *fd)
{
    int made = memfd_create("poseidon-key", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (made >= 0 && fill(made)) {
        *fd = made;
        return PSD_OK;
    }
    int error = errno;
    if (made >= 0)
        close(made);
    return psd_fail(PSD_ENOSUP, "make a key for the job: %s", strerrordesc_np(error));
}

psd_status psd_key_lend(int fd, int *out)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int lent = open(path, O_RDONLY); /* NOLINT(android-cloexec-open): it is to be inherited */
    if (lent < 0)
        lent = fcntl(fd, F_DUPFD, 3); /* there is no /proc: they share a position */
    if (lent < 0)
        return psd_fail(PSD_ENOMEM, "pass the job's key on: %s", strerrordesc_np(errno));
    *out = lent;
    return PSD_OK;
}

/* --- reading ------------------------------------------------------------------------------------ */

/* Up to `size` bytes from the beginning, or of what a pipe has. Negative: errno says why not. */
static ssize_t read_all(int fd, unsigned char *bytes, size_t size)
{
    size_t got = 0;

    while (got < size) {
        ssize_t n = pread(fd, bytes + got, size - got, (off_t)got);
        if (n < 0 && errno == ESPIPE)
            n = read(fd, bytes + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

psd_status psd_key_read(int fd, const char *name, struct psd_secret **out)
{
    unsigned char bytes[PSD_KEY_SIZE + 1];
    psd_status status;

    ssize_t got = read_all(fd, bytes, sizeof bytes);
    if (got < 0)
        status =
            psd_fail(PSD_ECONFIG, "read the job's key from %s: %s", name, strerrordesc_np(errno));
    else if (got != PSD_KEY_SIZE)
        status = psd_fail(PSD_ECONFIG, "the job's key at %s has %s%zd bytes; a key has %d", name,
                          got > PSD_KEY_SIZE ? "at least " : "", got, PSD_KEY_SIZE);
    else
        status = psd_secret_create(bytes, PSD_KEY_SIZE, out);
    explicit_bzero(bytes, sizeof bytes);
    return status;
}

static psd_status read_descriptor(const char *text, struct psd_secret **out)
{
    char *end = NULL, name[64];
    long fd = strtol(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || fd > 1 << 20)
        return psd_fail(PSD_ECONFIG, "POSEIDON_KEY begins with fd:, and no descriptor follows");
    snprintf(name, sizeof name, "descriptor %ld", fd);
    if (fcntl((int)fd, F_GETFD) < 0)
        return psd_fail(PSD_ECONFIG,
                        "POSEIDON_KEY names %s, which is not open: who starts this process has to "
                        "let it inherit that",
                        name);
    return psd_key_read((int)fd, name, out);
}

static psd_status check_file(int fd, const char *path)
{
    struct stat info;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return psd_fail(PSD_ECONFIG, "the key file %s is no regular file", path);
    if (info.st_mode & (S_IRWXG | S_IRWXO))
        return psd_fail(PSD_ECONFIG,
                        "the key file %s is open to others (its mode is %03o): make a new key, and "
                        "the file's mode 0600 before the key is in it",
                        path, info.st_mode & 0777U);
    return PSD_OK;
}

static psd_status read_file(const char *path, struct psd_secret **out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return psd_fail(PSD_ECONFIG, "open the key file %s: %s", path, strerrordesc_np(errno));
    psd_status status = check_file(fd, path);
    if (status == PSD_OK)
        status = psd_key_read(fd, path, out);
    close(fd);
    return status;
}

psd_status psd_key_find(const char *text, struct psd_secret **out)
{
    if (strncmp(text, "fd:", 3) == 0)
        return read_descriptor(text + 3, out);
    if (strncmp(text, "file:", 5) == 0)
        return read_file(text + 5, out);
    return psd_fail(PSD_ECONFIG, "POSEIDON_KEY is written fd:NUMBER or file:PATH, and is never the "
                                 "key itself"); /* which might stand there, so it is not shown */
}
