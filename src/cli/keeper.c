/* keeper.c - forks, waits, reports, and kills what is left. */
#include "cli/keeper.h"
#include "base/clock.h"
#include "cli/offspring.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* From asking to end to killing; between two attempts at that. */
static const uint64_t patience_ns = 2 * PSD_CLOCK_S, look_ns = 10 * PSD_CLOCK_MS;

/* The keeper itself. */
struct self {
    const struct psd_keeper_options *options; /* borrowed */
    int link;                                 /* -1: the launcher is gone */
    int ends;                                 /* says that children have ended */
    unsigned running;
    bool is_last_asked;             /* what members have left behind */
    uint64_t kill_at;               /* PSD_CLOCK_NEVER: nobody is to be killed */
    pid_t members[PSD_KEEPER_MOST]; /* by rank; 0: it has ended */
};

/* --- members ------------------------------------------------------------------------------------ */

static void report(const struct self *self, unsigned rank, int state, int error)
{
    struct psd_keeper_news news = {rank, state, error};

    if (self->link >= 0)
        (void)send(self->link, &news, sizeof news, MSG_NOSIGNAL);
}

/* In the member. */
__attribute__((noreturn)) static void live(const struct self *self, unsigned rank, pid_t keeper)
{
    setpgid(0, 0);
    prctl(PR_SET_NAME, program_invocation_short_name); /* not the keeper's */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(1); /* it was killed before we said so */
    close(self->link);
    close(self->ends);
    self->options->live(self->options->arg, rank);
    _exit(1);
}

static void start(struct self *self, unsigned rank)
{
    pid_t keeper = getpid(), id = fork();

    if (id == 0)
        live(self, rank, keeper);
    if (id < 0) {
        report(self, rank, 0, errno);
        return;
    }
    setpgid(id, id); /* whoever comes first */
    self->members[rank] = id;
    self->running++;
}

/* To the groups of members that live. */
static void signal_members(const struct self *self, int number)
{
    for (unsigned i = 0; i < self->options->count; i++) {
        if (self->members[i])
            kill(-self->members[i], number);
    }
}

/* What has ended may be a child that we have adopted: that is no news. */
static void note_end(struct self *self, pid_t id, int state)
{
    for (unsigned i = 0; i < self->options->count; i++) {
        if (self->members[i] == id) {
            self->members[i] = 0;
            self->running--;
            report(self, i, state, 0);
        }
    }
}

/* Of several ends that are one signal the kernel names the first, which matters most. */
static void hear_ends(struct self *self)
{
    struct signalfd_siginfo first;
    int state = 0;
    pid_t id;

    if (read(self->ends, &first, sizeof first) != (ssize_t)sizeof first)
        return;
    if (waitpid((pid_t)first.ssi_pid, &state, WNOHANG) > 0)
        note_end(self, (pid_t)first.ssi_pid, state);
    while ((id = waitpid(-1, &state, WNOHANG)) > 0)
        note_end(self, id, state);
}

/* --- the end ------------------------------------------------------------------------------------ */

static void kill_soon(struct self *self, uint64_t delay_ns)
{
    uint64_t at = psd_clock_now() + delay_ns;

    self->kill_at = at < self->kill_at ? at : self->kill_at;
}

static void hear_order(struct self *self)
{
    int number = 0;
    ssize_t n = recv(self->link, &number, sizeof number, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n != (ssize_t)sizeof number) { /* the launcher is gone */
        close(self->link);
        self->link = -1;
        signal_members(self, SIGTERM);
        signal_members(self, SIGCONT);
        kill_soon(self, patience_ns);
    } else if (number == SIGKILL) {
        kill_soon(self, 0);
    } else {
        signal_members(self, number);
    }
}

static void end_what_is_left(struct self *self)
{
    if (self->running == 0 && !self->is_last_asked) {
        self->is_last_asked = true;
        psd_offspring_signal(SIGTERM, NULL);
        kill_soon(self, patience_ns);
    }
    if (psd_clock_now() < self->kill_at)
        return;
    signal_members(self, SIGKILL);
    psd_offspring_signal(SIGKILL, NULL);
}

static bool has_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Until something happens, or it is time to kill, or to kill again. */
static void wait_for_something(const struct self *self)
{
    struct pollfd polls[] = {{.fd = self->link, .events = POLLIN},
                             {.fd = self->ends, .events = POLLIN}};
    uint64_t now = psd_clock_now(), wait_ns = look_ns;

    if (self->kill_at > now && self->kill_at != PSD_CLOCK_NEVER)
        wait_ns = self->kill_at - now + PSD_CLOCK_MS;
    poll(polls, 2, self->kill_at == PSD_CLOCK_NEVER ? -1 : (int)(wait_ns / PSD_CLOCK_MS));
}

/* --- the process -------------------------------------------------------------------------------- */

/* No signal but SIGKILL ends it, and none is for it but those of children that have ended. */
static int block_signals(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
    sigset_t all, ends;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&usual.sa_mask);
    sigaction(SIGCHLD, &usual, NULL); /* were it ignored, nobody could be waited for */
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

__attribute__((noreturn)) static void keep(const struct psd_keeper_options *options, int link)
{
    struct self self = {.options = options, .link = link, .kill_at = PSD_CLOCK_NEVER};

    setpgid(0, 0);
    prctl(PR_SET_NAME, "poseidon-keeper");
    psd_offspring_adopt(true);
    self.ends = block_signals();
    for (unsigned i = 0; i < options->count; i++)
        start(&self, i);
    options->settle(options->arg);
    while (has_children()) {
        wait_for_something(&self);
        if (self.link >= 0)
            hear_order(&self);
        hear_ends(&self);
        end_what_is_left(&self);
    }
    _exit(0);
}

/* --- with the launcher -------------------------------------------------------------------------- */

psd_status psd_keeper_start(const struct psd_keeper_options *options, struct psd_keeper *out)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return psd_fail(PSD_ENOMEM, "make a pair of sockets: %s", strerrordesc_np(errno));
    fflush(NULL); /* what is buffered is written once, by us */
    pid_t id = fork();
    if (id == 0) {
        close(ends[0]);
        keep(options, ends[1]);
    }
    int error = errno;
    close(ends[1]);
    if (id < 0) {
        close(ends[0]);
        return psd_fail(PSD_ENOMEM, "start a process: %s", strerrordesc_np(error));
    }
    *out = (struct psd_keeper){id, ends[0]};
    return PSD_OK;
}

enum psd_keeper_hearing psd_keeper_hear(struct psd_keeper *keeper, struct psd_keeper_news *out)
{
    struct psd_keeper_news news;
    ssize_t n = recv(keeper->link, &news, sizeof news, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return PSD_KEEPER_SILENT;
    if (n != (ssize_t)sizeof news)
        return PSD_KEEPER_GONE;
    *out = news;
    return PSD_KEEPER_NEWS;
}

void psd_keeper_order(struct psd_keeper *keeper, int number)
{
    (void)send(keeper->link, &number, sizeof number, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int psd_keeper_finish(struct psd_keeper *keeper)
{
    int state = 0;

    close(keeper->link);
    keeper->link = -1;
    while (waitpid(keeper->id, &state, 0) < 0 && errno == EINTR)
        ;
    return state;
}
