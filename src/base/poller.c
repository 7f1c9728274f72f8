/* poller.c - epoll, level-triggered for watches and edge-triggered for the bell.
 *
 * A watch that wants nothing just now is not in the kernel's list, because the kernel reports a
 * descriptor that is hung up whether that is wanted or not. */
#include "base/poller.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READY_AT_ONCE = 64 };
#define GLANCE_NS (10 * PSD_CLOCK_US) /* between two looks of a busy loop: one look costs 0.2 us */

struct psd_poller {
    int epoll, bell;                         /* owned */
    size_t watched;                          /* watches in the kernel's list */
    uint64_t looked;                         /* when the kernel was last asked */
    bool is_old;                             /* the kernel knows no epoll_pwait2 */
    size_t found;                            /* events in `ready`, */
    size_t run;                              /* of which so many have been run */
    struct epoll_event ready[READY_AT_ONCE]; /* data.ptr: the watch, borrowed; NULL: nobody's */
};

psd_status psd_poller_create(struct psd_poller **out)
{
    struct epoll_event edge = {.events = EPOLLIN | EPOLLET};
    struct psd_poller *poller = psd_alloc_zero(1, sizeof *poller);

    if (!poller)
        return PSD_ENOMEM;
    poller->epoll = epoll_create1(EPOLL_CLOEXEC);
    poller->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (poller->epoll < 0 || poller->bell < 0 ||
        epoll_ctl(poller->epoll, EPOLL_CTL_ADD, poller->bell, &edge)) {
        psd_fail(PSD_ENOMEM, "a loop needs two descriptors: %s", strerrordesc_np(errno));
        psd_poller_destroy(poller);
        return PSD_ENOMEM;
    }
    *out = poller;
    return PSD_OK;
}

void psd_poller_destroy(struct psd_poller *poller)
{
    if (!poller)
        return;
    if (poller->bell >= 0)
        close(poller->bell);
    if (poller->epoll >= 0)
        close(poller->epoll);
    psd_alloc_free(poller);
}

/* Tells the kernel what `watch` wants of `fd`: before, and from now on. */
static psd_status tell_kernel(struct psd_poller *poller, int fd, unsigned before, unsigned wanted,
                              struct psd_watch *watch)
{
    int what = !before ? EPOLL_CTL_ADD : wanted ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    struct epoll_event event = {.data.ptr = watch};

    if (before == wanted)
        return PSD_OK;
    event.events |= wanted & PSD_LOOP_READ ? EPOLLIN : 0;
    event.events |= wanted & PSD_LOOP_WRITE ? EPOLLOUT : 0;
    if (epoll_ctl(poller->epoll, what, fd, &event))
        return psd_fail(errno == ENOMEM || errno == ENOSPC ? PSD_ENOMEM : PSD_EINVAL,
                        "watch descriptor %d: %s", fd, strerrordesc_np(errno));
    poller->watched -= before != 0;
    poller->watched += wanted != 0;
    return PSD_OK;
}

/* Strikes out what was found ready and has not yet been run. */
static void strike_out(struct psd_poller *poller, const struct psd_watch *watch)
{
    for (size_t i = poller->run; i < poller->found; i++) {
        if (poller->ready[i].data.ptr == watch)
            poller->ready[i].data.ptr = NULL;
    }
}

psd_status psd_poller_watch(struct psd_poller *poller, const struct psd_watch *wanted,
                            struct psd_watch *watch)
{
    bool same = watch->is_set && watch->fd == wanted->fd;

    PSD_TRY(tell_kernel(poller, wanted->fd, same ? watch->events : 0, wanted->events, watch));
    if (!same)
        psd_poller_unwatch(poller, watch);
    *watch = *wanted;
    watch->is_set = true;
    return PSD_OK;
}

void psd_poller_unwatch(struct psd_poller *poller, struct psd_watch *watch)
{
    if (!watch->is_set)
        return;
    psd_status status = tell_kernel(poller, watch->fd, watch->events, 0, watch);
    assert(status == PSD_OK); /* the descriptor is still open */
    (void)status;
    strike_out(poller, watch);
    watch->is_set = false;
}

void psd_poller_ring(struct psd_poller *poller)
{
    int kept = errno;

    (void)!eventfd_write(poller->bell, 1); /* 2^64 - 2 rings fit */
    errno = kept;
}

/* Sleeps to the nanosecond on a kernel without epoll_pwait2: the list is itself a descriptor. */
static int ask_old_kernel(struct psd_poller *poller, uint64_t ns)
{
    struct pollfd list = {.fd = poller->epoll, .events = POLLIN};
    struct timespec span = psd_clock_timespec(ns);

    if (ns > 0)
        ppoll(&list, 1, ns == PSD_CLOCK_NEVER ? NULL : &span, NULL);
    return epoll_wait(poller->epoll, poller->ready, READY_AT_ONCE, 0);
}

/* The number of events in `ready`, after `ns` at most (PSD_CLOCK_NEVER: whenever there are some);
 * negative: the kernel has none to tell. */
static int ask_kernel(struct psd_poller *poller, uint64_t ns)
{
#ifdef SYS_epoll_pwait2
    struct {
        int64_t s, ns; /* as the kernel wants it on every machine */
    } span = {(int64_t)(ns / PSD_CLOCK_S), (int64_t)(ns % PSD_CLOCK_S)};

    if (!poller->is_old) {
        long found = syscall(SYS_epoll_pwait2, poller->epoll, poller->ready, READY_AT_ONCE,
                             ns == PSD_CLOCK_NEVER ? NULL : &span, NULL, 0);
        if (found >= 0 || (errno != ENOSYS && errno != EPERM)) /* EPERM: a sandbox older than it */
            return (int)found;
        poller->is_old = true;
    }
#endif
    return ask_old_kernel(poller, ns);
}

void psd_poller_wait(struct psd_poller *poller, uint64_t until_ns)
{
    uint64_t now = until_ns == PSD_CLOCK_NEVER ? 0 : psd_clock_now();
    uint64_t left = until_ns == PSD_CLOCK_NEVER ? until_ns : until_ns > now ? until_ns - now : 0;

    assert(poller->run == poller->found);
    int found = ask_kernel(poller, left);
    poller->run = 0;
    poller->found = found > 0 ? (size_t)found : 0;
    poller->looked = poller->watched ? psd_clock_now() : 0;
}

void psd_poller_glance(struct psd_poller *poller)
{
    if (poller->watched > 0 && poller->run == poller->found &&
        psd_clock_now() - poller->looked >= GLANCE_NS)
        psd_poller_wait(poller, 0);
}

/* What the watch wants of what the kernel has seen; a broken descriptor is ready for both. */
static unsigned wanted_of(const struct psd_watch *watch, uint32_t seen)
{
    uint32_t broken = EPOLLHUP | EPOLLERR;
    unsigned events = seen & (EPOLLIN | broken) ? PSD_LOOP_READ : 0;

    events |= seen & (EPOLLOUT | broken) ? PSD_LOOP_WRITE : 0;
    return events & watch->events;
}

void psd_poller_run(struct psd_poller *poller)
{
    while (poller->run < poller->found) {
        const struct epoll_event *event = &poller->ready[poller->run++];
        const struct psd_watch *watch = event->data.ptr;
        unsigned events = watch ? wanted_of(watch, event->events) : 0;
        if (events)
            watch->fn(watch->arg, events);
    }
}

void psd_poller_be_old(struct psd_poller *poller, bool is_old)
{
    poller->is_old = is_old;
}
