/* launch_signals.c - each signal goes to each member once; a second Ctrl-C is the end of all. */
#include "cli/launch_state.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

psd_status psd_launch_take_signals(struct psd_launch *launch)
{
    sigset_t set;

    sigemptyset(&launch->sent);
    sigemptyset(&set);
    for (unsigned i = 0; i < PASSED_ON && launch->options->passes_signals; i++)
        sigaddset(&set, passed_on[i]);
    pthread_sigmask(SIG_BLOCK, &set, &launch->mask);
    if (!launch->options->passes_signals)
        return PSD_OK;
    launch->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return launch->signals >= 0
               ? PSD_OK
               : psd_fail(PSD_ENOMEM, "wait for signals: %s", strerrordesc_np(errno));
}

/* Stops us as the terminal's Ctrl-Z does, until somebody lets us go on; or not, where nobody could. */
static void stop(struct psd_launch *launch)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    psd_keeper_order(&launch->keeper, SIGTSTP);
    raise(SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    psd_keeper_order(&launch->keeper, SIGCONT);
}

static void interrupt(struct psd_launch *launch)
{
    launch->is_interrupted = launch->is_ending = true;
    psd_keeper_order(&launch->keeper, SIGKILL);
}

static void pass_on(struct psd_launch *launch, int number)
{
    bool every = launch->options->passes_every_int;
    bool ends = number == SIGTERM || (number == SIGINT && !every);

    if (number == SIGTSTP) {
        stop(launch);
    } else if (launch->is_gone) {
        launch->is_over = launch->is_over || ends; /* though not all that was said is written */
    } else if (number == SIGINT && ends && sigismember(&launch->sent, SIGINT)) {
        interrupt(launch);
    } else {
        launch->is_asked = launch->is_asked || ends;
        sigaddset(&launch->sent, number);
        psd_keeper_order(&launch->keeper, number);
    }
}

void psd_launch_pass_signals(struct psd_launch *launch)
{
    struct signalfd_siginfo info;

    while (launch->signals >= 0 &&
           read(launch->signals, &info, sizeof info) == (ssize_t)sizeof info)
        pass_on(launch, (int)info.ssi_signo);
}

void psd_launch_leave_signals(struct psd_launch *launch)
{
    psd_launch_pass_signals(launch); /* what came too late has no effect any more */
    if (launch->signals >= 0)
        close(launch->signals);
    launch->signals = -1;
    pthread_sigmask(SIG_SETMASK, &launch->mask, NULL);
}
