/* snapshot_outcome.c - everybody hears whether a snapshot could be written, and why not.
 *
 *     the process that writes    it went well, or a sentence  -->  all: the same, and the same way on
 *     another                    it has no memory             -->  the same, in the writer's words
 */
#include "engine/show.h"
#include "engine/snapshot.h"

#include <stdio.h>

/* What is told to all; the same program runs everywhere. */
struct news {
    psd_status status;
    char why[600];
};

/* What this process would say. Where it is another that failed, all it can have failed for is memory. */
static struct news explain(int64_t iteration, psd_status outcome)
{
    bool ours = outcome != PSD_OK;
    struct news news = {.status = ours ? outcome : PSD_ENOMEM};

    snprintf(news.why, sizeof news.why, "no snapshot at iteration %lld: %s", (long long)iteration,
             ours ? psd_error() : "out of memory: in another process than rank 0");
    return news;
}

psd_status psd_snapshot_share(struct psd_solver *solver, int64_t iteration, psd_status *outcome)
{
    const struct psd_team *team = &solver->team;
    struct news news = explain(iteration, *outcome);

    for (size_t i = 0; i < team->hosted; i++)
        solver->shown[i] = *outcome == PSD_OK ? 0 : 1;
    PSD_TRY(psd_solver_mean(solver, 1));
    if (solver->shown[0] == 0)
        return PSD_OK;
    if (team->share)
        PSD_TRY(team->share(team->context, &news, sizeof news));
    *outcome = psd_fail(news.status, "%s", news.why);
    return PSD_OK;
}
