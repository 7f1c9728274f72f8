/* launch_member.c - a copy of the launcher becomes a member, and lives. */
#include "cli/launch_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* A group in the background that uses the terminal would be stopped, and nobody knew why; so it gets
 * errors, and an input that is empty. */
static void leave_terminal(unsigned rank)
{
    signal(SIGTTIN, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
    if (rank == 0 && !isatty(STDIN_FILENO))
        return;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
}

static psd_status enter(struct psd_launch *launch, unsigned rank)
{
    if (launch->signals >= 0)
        close(launch->signals);
    pthread_sigmask(SIG_SETMASK, &launch->mask, NULL);
    if (!launch->relay)
        return PSD_OK;
    leave_terminal(rank);
    return psd_relay_enter(launch->relay, rank);
}

void psd_launch_live(void *launch, unsigned rank)
{
    struct psd_launch *self = launch;
    struct psd_launch_will *will = &self->wills[rank];
    int exit_code = 0;

    psd_status status = enter(self, rank);
    if (status == PSD_OK)
        status = self->options->live(self->options->arg, rank, &exit_code);
    if (status != PSD_OK) {
        snprintf(will->sentence, sizeof will->sentence, "%s", psd_error());
        will->status = status;
        exit_code = exit_code ? exit_code : 1;
    }
    fflush(NULL);
    _exit(exit_code);
}

void psd_launch_settle(void *launch)
{
    struct psd_launch *self = launch;

    psd_relay_close(self->relay); /* in the keeper: it would be there to read when nobody is */
}
