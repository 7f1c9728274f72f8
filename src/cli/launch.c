/* launch.c - one loop over news of members, signals, lines and time. */
#include "cli/launch.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "cli/common.h"
#include "cli/launch_state.h"

#include <unistd.h>

static const uint64_t watch_ns = 10 * PSD_CLOCK_MS; /* between two calls of watch */

enum { INTERRUPTED = 128 + SIGINT };

/* --- the loop ----------------------------------------------------------------------------------- */

/* Milliseconds until something is to be done, -1: nothing is. */
static int time_left(const struct psd_launch *launch)
{
    uint64_t now = psd_clock_now();
    uint64_t until = launch->act_at < launch->wake_at ? launch->act_at : launch->wake_at;

    if (launch->options->watch && until > now + watch_ns)
        until = now + watch_ns;
    if (until == PSD_CLOCK_NEVER)
        return -1;
    return until <= now ? 0 : (int)((until - now) / PSD_CLOCK_MS + 1);
}

/* Whether anything has happened. Once the members are gone all they said is there, and is waited for only
 * where our output does not take it. */
static bool wait_for_something(struct psd_launch *launch)
{
    struct pollfd *polls = launch->polls;
    bool is_full = false;

    polls[0] = (struct pollfd){.fd = launch->is_gone ? -1 : launch->keeper.link, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = launch->signals, .events = POLLIN};
    if (launch->relay) {
        psd_relay_watch(launch->relay, polls + 2);
        is_full = polls[2].fd >= 0 || polls[3].fd >= 0;
    }
    int last = is_full && !launch->is_interrupted ? -1 : 0;
    return poll(polls, launch->n_polls, launch->is_gone ? last : time_left(launch)) > 0;
}

static void call_watch(struct psd_launch *launch)
{
    const struct psd_launch_options *options = launch->options;

    if (!options->watch || launch->is_gone || launch->is_ending || launch->cause.weight)
        return;
    psd_status status = options->watch(options->arg);
    if (status != PSD_OK)
        psd_launch_give_up(launch, status);
}

static void look_after(struct psd_launch *launch)
{
    while (!launch->is_over) {
        bool has_happened = wait_for_something(launch);
        psd_launch_pass_signals(launch);
        if (launch->relay && has_happened)
            psd_relay_move(launch->relay, launch->polls + 2);
        if (launch->is_gone)
            launch->is_over = launch->is_over || !has_happened;
        else
            psd_launch_hear(launch);
        call_watch(launch);
        if (psd_clock_now() >= launch->wake_at)
            psd_launch_wake(launch);
        if (psd_clock_now() >= launch->act_at)
            psd_launch_press(launch);
    }
}

/* --- the whole ---------------------------------------------------------------------------------- */

static psd_status open_relay(struct psd_launch *launch)
{
    const struct psd_launch_options *options = launch->options;
    struct psd_relay_options relay = {.count = options->count,
                                      .out = STDOUT_FILENO,
                                      .err = STDERR_FILENO,
                                      .over_status = options->over_status};

    if (options->relays)
        PSD_TRY(psd_relay_open(&relay, &launch->relay));
    launch->n_polls = 2 + (launch->relay ? psd_relay_polls(launch->relay) : 0);
    launch->polls = psd_alloc_zero(launch->n_polls, sizeof *launch->polls);
    return launch->polls ? PSD_OK : PSD_ENOMEM;
}

static psd_status start(struct psd_launch *launch)
{
    PSD_TRY(psd_launch_take_signals(launch));
    PSD_TRY(open_relay(launch));
    PSD_TRY(psd_keeper_start(&(struct psd_keeper_options){.count = launch->options->count,
                                                          .live = psd_launch_live,
                                                          .settle = psd_launch_settle,
                                                          .arg = launch},
                             &launch->keeper));
    if (launch->relay)
        psd_relay_begin(launch->relay);
    return PSD_OK;
}

/* A failure on the way has its sentence in `end`: others may have failed since. */
static psd_status run(struct psd_launch *launch)
{
    bool adopted = psd_offspring_adopt(true);

    psd_offspring_list(&launch->others);
    psd_status status = start(launch);
    if (status == PSD_OK)
        look_after(launch);
    psd_launch_leave_signals(launch);
    psd_offspring_adopt(adopted);
    launch->end->exit_code = launch->is_interrupted ? INTERRUPTED : launch->cause.exit_code;
    if (status == PSD_OK && launch->status != PSD_OK)
        return psd_fail(launch->status, "%s", launch->end->sentence);
    return status;
}

psd_status psd_launch_run(const struct psd_launch_options *options, struct psd_launch_end *end)
{
    struct psd_launch launch = {.options = options,
                                .end = end,
                                .signals = -1,
                                .wake_at = PSD_CLOCK_NEVER,
                                .act_at = PSD_CLOCK_NEVER};
    struct sigaction usual = {.sa_handler = SIG_DFL}, before;
    size_t size = options->count * sizeof *launch.wills;

    *end = (struct psd_launch_end){.exit_code = 0};
    launch.wills = psd_common_map(size);
    if (!launch.wills)
        return PSD_ENOMEM;
    sigaction(SIGCHLD, &usual, &before); /* were it ignored, nobody could be waited for */
    psd_status status = run(&launch);
    sigaction(SIGCHLD, &before, NULL);
    psd_relay_close(launch.relay);
    psd_alloc_free(launch.polls);
    psd_common_unmap(launch.wills, size);
    return status;
}
