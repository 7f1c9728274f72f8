/* goodput.c - two processes and a socket. */
#include "cli/goodput.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "cli/common.h"
#include "cli/members.h"
#include "net/tcp/congestion.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK = 1 << 18, PINGS = 31, MIDDLE = PINGS / 2 };

static const uint64_t patience_ns = 10 * PSD_CLOCK_S;

/* What the two and we see. */
struct board {
    _Atomic(uint32_t) port; /* where member 1 listens; 0: not yet */
    struct psd_goodput result;
};

struct course {
    const struct psd_goodput_options *options; /* borrowed */
    struct board *board;                       /* owned */
};

static psd_status fail(const char *what)
{
    return psd_fail(PSD_EPEER, "measure the goodput of a TCP stream: %s: %s", what,
                    strerrordesc_np(errno));
}

static psd_status address_of(const struct course *course, uint32_t port, struct sockaddr_in *out)
{
    *out = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, course->options->address, &out->sin_addr) != 1)
        return psd_fail(PSD_EINVAL, "%s is no IPv4 address", course->options->address);
    return PSD_OK;
}

/* --- member 0 sends ------------------------------------------------------------------------------ */

static psd_status reach(const struct course *course, int fd)
{
    uint64_t end = psd_clock_now() + patience_ns;
    struct sockaddr_in address;
    uint32_t port = 0;

    while ((port = atomic_load(&course->board->port)) == 0 && psd_clock_now() < end)
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    PSD_TRY(address_of(course, port, &address));
    psd_congestion_choose(fd, ""); /* as members do: the namespace may have BBR */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? PSD_OK
                                                                               : fail("connect");
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static psd_status ping(const struct course *course, int fd)
{
    uint64_t times[PINGS];
    char byte = 0;

    for (size_t i = 0; i < PINGS; i++) {
        times[i] = psd_clock_now();
        if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
            return fail("send a byte");
        times[i] = psd_clock_now() - times[i];
    }
    qsort(times, PINGS, sizeof *times, compare);
    course->board->result.latency = (double)times[MIDDLE] / 2 / (double)PSD_CLOCK_S;
    return PSD_OK;
}

/* Until the other has enough and closes. */
static psd_status pour(int fd)
{
    char *chunk = psd_alloc_zero(1, CHUNK);

    if (!chunk)
        return PSD_ENOMEM;
    while (send(fd, chunk, CHUNK, MSG_NOSIGNAL) > 0)
        ;
    psd_alloc_free(chunk);
    return errno == EPIPE || errno == ECONNRESET ? PSD_OK : fail("send");
}

static psd_status send_all(const struct course *course)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return fail("make a socket");
    psd_status status = reach(course, fd);
    if (status == PSD_OK)
        status = ping(course, fd);
    if (status == PSD_OK)
        status = pour(fd);
    close(fd);
    return status;
}

/* --- member 1 counts ----------------------------------------------------------------------------- */

static psd_status answer(int fd)
{
    char byte = 0;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    for (size_t i = 0; i < PINGS; i++) {
        if (read(fd, &byte, 1) != 1 || write(fd, &byte, 1) != 1)
            return fail("answer a byte");
    }
    return PSD_OK;
}

/* Reads until `end`; *bytes is how many there were, *last when the last ones came. */
static psd_status drain(int fd, char *chunk, uint64_t end, double *bytes, uint64_t *last)
{
    for (*bytes = 0; (*last = psd_clock_now()) < end;) {
        ssize_t got = read(fd, chunk, CHUNK);
        if (got <= 0)
            return fail("receive");
        *bytes += (double)got;
    }
    return PSD_OK;
}

static psd_status count(const struct course *course, int fd)
{
    uint64_t time_ns = course->options->time_ns ? course->options->time_ns : PSD_CLOCK_S, begin = 0,
             end = 0;
    char *chunk = psd_alloc(CHUNK);
    double bytes = 0;

    if (!chunk)
        return PSD_ENOMEM;
    psd_status status = drain(fd, chunk, psd_clock_now() + time_ns / 3, &bytes, &begin);
    if (status == PSD_OK)
        status = drain(fd, chunk, begin + time_ns, &bytes, &end);
    if (status == PSD_OK)
        course->board->result.bytes_per_s = bytes / ((double)(end - begin) / (double)PSD_CLOCK_S);
    psd_alloc_free(chunk);
    return status;
}

static psd_status offer(const struct course *course, int listener)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;

    PSD_TRY(address_of(course, 0, &address));
    if (bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        return fail("listen");
    atomic_store(&course->board->port, (uint32_t)ntohs(address.sin_port));
    return PSD_OK;
}

static psd_status receive_all(const struct course *course)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (listener < 0)
        return fail("make a socket");
    psd_status status = offer(course, listener);
    int fd = status == PSD_OK ? accept(listener, NULL, NULL) : -1;
    if (status == PSD_OK)
        status = fd < 0 ? fail("accept") : answer(fd);
    if (status == PSD_OK)
        status = count(course, fd);
    if (fd >= 0)
        close(fd);
    close(listener);
    return status;
}

/* ------------------------------------------------------------------------------------------------- */

static psd_status run(void *arg, unsigned rank)
{
    return rank == 0 ? send_all(arg) : receive_all(arg);
}

psd_status psd_goodput_measure(const struct psd_goodput_options *options, struct psd_goodput *out)
{
    struct course course = {options, psd_common_map(sizeof *course.board)};

    if (!course.board)
        return PSD_ENOMEM;
    psd_status status = psd_members_run(&(struct psd_members_options){
        .count = 2, .enter = options->enter, .place = options->place, .run = run, .arg = &course});
    if (status == PSD_OK)
        *out = course.board->result;
    psd_common_unmap(course.board, sizeof *course.board);
    return status;
}
