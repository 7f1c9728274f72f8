/* signals.c - a handler only notes; the second Ctrl-C or SIGTERM, and one before the first iteration, act. */
#include "cli/signals.h"
#include "cli/cli.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ENDED_BY_INT = 128 + SIGINT, ENDED_BY_TERM = 128 + SIGTERM };

const char *const psd_signals_effects[] = {"stop", "snapshot", "none", NULL};

static enum psd_signals_effect effect_of_int, effect_of_hup;
static atomic_bool stop, snapshot, terminated, interrupted;
static atomic_llong terminated_ms; /* when SIGTERM came first */

static void note(enum psd_signals_effect effect)
{
    if (effect == PSD_SIGNALS_STOP)
        atomic_store(&stop, true);
    else if (effect == PSD_SIGNALS_SNAPSHOT)
        atomic_store(&snapshot, true);
}

static void on_int(int number)
{
    (void)number;
    if (effect_of_int == PSD_SIGNALS_STOP && atomic_exchange(&interrupted, true))
        _exit(ENDED_BY_INT);
    note(effect_of_int);
}

static void on_hup(int number)
{
    (void)number;
    note(effect_of_hup);
}

static long long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* One that comes twice at a time is one: a scheduler's, and the same passed on by a launcher. */
static void on_term(int number)
{
    (void)number;
    if (!atomic_exchange(&terminated, true))
        atomic_store(&terminated_ms, now_ms());
    else if (now_ms() - atomic_load(&terminated_ms) >= 1000)
        _exit(ENDED_BY_TERM);
    note(PSD_SIGNALS_STOP);
}

static void on_early_term(int number)
{
    (void)number;
    _exit(PSD_EXIT_AGAIN);
}

static void handle(int number, void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void psd_signals_begin(void)
{
    handle(SIGTERM, on_early_term);
}

void psd_signals_start(enum psd_signals_effect at_int, enum psd_signals_effect at_hup)
{
    effect_of_int = at_int;
    effect_of_hup = at_hup;
    stop = snapshot = terminated = interrupted = false;
    handle(SIGINT, on_int);
    handle(SIGHUP, on_hup);
    handle(SIGTERM, on_term);
}

void psd_signals_end(void)
{
    handle(SIGINT, SIG_DFL);
    handle(SIGHUP, SIG_DFL);
    handle(SIGTERM, SIG_DFL);
}

enum psd_solver_action psd_signals_action(void *context)
{
    (void)context;
    if (atomic_load(&stop))
        return PSD_SOLVER_STOP;
    return atomic_exchange(&snapshot, false) ? PSD_SOLVER_SNAPSHOT : PSD_SOLVER_GO_ON;
}

bool psd_signals_terminated(void)
{
    return atomic_load(&terminated);
}
