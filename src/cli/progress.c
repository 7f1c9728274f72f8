#include "cli/progress.h"
#include "base/clock.h"

#include <stdio.h>

enum { WINDOW_S = 5 }; /* how far back the speed looks, at most twice that */

void psd_progress_start(struct psd_progress *progress, const struct psd_solver *solver)
{
    progress->last_iteration = solver->param->max_iter;
    progress->latest = (struct psd_progress_mark){psd_clock_now(), 0, solver->iteration};
    progress->before = progress->latest;
}

void psd_progress_show(void *context, int64_t iteration, float loss, size_t samples)
{
    struct psd_progress *progress = context;

    progress->samples += samples;
    if (!psd_screen_wants_status(progress->screen))
        return;
    struct psd_progress_mark now = {psd_clock_now(), progress->samples, iteration},
                             from = progress->before;
    double seconds = (double)(now.time - from.time) / 1e9;
    double speed = seconds > 0 ? (double)(now.samples - from.samples) / seconds : 0;
    double pace = seconds / (double)(iteration - from.iteration);
    uint64_t left = (uint64_t)(pace * (double)(progress->last_iteration - iteration));
    snprintf(progress->line, sizeof progress->line,
             "iteration %lld of %lld   loss %.4g   %.0f images/s   %llu:%02llu:%02llu left",
             (long long)iteration, (long long)progress->last_iteration, (double)loss, speed,
             (unsigned long long)left / 3600, (unsigned long long)left / 60 % 60,
             (unsigned long long)left % 60);
    psd_screen_status(progress->screen, progress->line);
    if (now.time - progress->latest.time > WINDOW_S * PSD_CLOCK_S) {
        progress->before = progress->latest;
        progress->latest = now;
    }
}
