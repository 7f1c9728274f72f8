/* cause.c - the first failure, unless a later one explains it. */
#include "cli/cause.h"
#include "cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { SIGNALLED = 128 };

/* From outside, or by the processor. One that aborts, or writes where nobody reads, may do so because of
 * what another has done. */
static bool is_killed(int state)
{
    static const int signals[] = {SIGKILL, SIGSEGV, SIGBUS, SIGILL, SIGFPE};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (WIFSIGNALED(state) && WTERMSIG(state) == signals[i])
            return true;
    }
    return false;
}

int psd_cause_exit_code(int state)
{
    return WIFSIGNALED(state) ? SIGNALLED + WTERMSIG(state) : WEXITSTATUS(state);
}

bool psd_cause_hear(struct psd_cause *cause, unsigned rank, int state, bool is_asked, bool has_lost)
{
    int exit_code = psd_cause_exit_code(state);
    enum psd_cause_weight weight = PSD_CAUSE_FAILED;

    if (exit_code == 0)
        weight = PSD_CAUSE_NONE;
    else if (is_killed(state))
        weight = PSD_CAUSE_KILLED;
    else if (is_asked && exit_code == PSD_EXIT_AGAIN)
        weight = PSD_CAUSE_ASKED;
    else if (is_asked && has_lost)
        weight = PSD_CAUSE_LOSS;
    if (weight <= cause->weight)
        return false;
    *cause = (struct psd_cause){weight, rank, exit_code};
    return true;
}

const char *psd_cause_say(unsigned rank, int state, char *out, size_t size)
{
    if (!WIFSIGNALED(state)) {
        snprintf(out, size, "rank %u ended with exit code %d", rank, WEXITSTATUS(state));
        return out;
    }
    int number = WTERMSIG(state);
    const char *name = sigdescr_np(number);
    snprintf(out, size, "rank %u was killed by signal %d (%s)%s", rank, number, name ? name : "?",
             number == SIGKILL ? "; was the machine out of memory?" : "");
    return out;
}
