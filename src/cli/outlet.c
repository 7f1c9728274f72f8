/* outlet.c - an output that is asked before it is written to. */
#include "cli/outlet.h"
#include "cli/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pipes and terminals are opened anew, so that not waiting for them is our affair alone; of anything
 * else the position is shared. */
static int open_again(int fd)
{
    struct stat info;
    char path[64];
    int again = -1;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || isatty(fd)))
        again = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return again >= 0 ? again : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

void psd_outlet_open(int fd, bool over_status, struct psd_outlet *out)
{
    out->fd = open_again(fd);
    out->clears = over_status && isatty(out->fd);
    out->is_full = false;
    out->length = out->written = 0;
}

void psd_outlet_close(struct psd_outlet *outlet)
{
    if (outlet->fd >= 0)
        close(outlet->fd);
    outlet->fd = -1;
}

void psd_outlet_flush(struct psd_outlet *outlet)
{
    struct pollfd ready = {.fd = outlet->fd, .events = POLLOUT};

    outlet->is_full = false;
    while (outlet->fd >= 0 && outlet->written < outlet->length) {
        ssize_t n = -1;
        errno = EAGAIN;
        if (poll(&ready, 1, 0) > 0)
            n = write(outlet->fd, outlet->line + outlet->written, outlet->length - outlet->written);
        if (n >= 0)
            outlet->written += (size_t)n;
        else if (errno == EAGAIN)
            outlet->is_full = true;
        else if (errno != EINTR)
            psd_outlet_close(outlet);
        if (outlet->is_full)
            return;
    }
}

void psd_outlet_say(struct psd_outlet *outlet, unsigned rank, const char *text, size_t length)
{
    int before = snprintf(outlet->line, sizeof outlet->line,
                          "%s%u: ", outlet->clears ? psd_screen_erase : "", rank);

    memcpy(outlet->line + before, text, length);
    outlet->length = (size_t)before + length;
    outlet->line[outlet->length++] = '\n';
    outlet->written = 0;
    psd_outlet_flush(outlet);
}
