#include "cli/advice.h"
#include "base/alloc.h"
#include "proto/upgrade.h"

#include <stdio.h>

struct timespec psd_advice_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now;
}

/* The other options that belong to the job, as they were given. */
static const char *describe_others(const struct psd_teamwork_options *team, char *out, size_t room)
{
    char batch[60] = "", threads[60] = "";

    if (team->global_batch)
        snprintf(batch, sizeof batch, " --global-batch=%lld", (long long)team->global_batch);
    if (team->threads)
        snprintf(threads, sizeof threads, " --worker-threads=%lld", (long long)team->threads);
    snprintf(out, room, "%s%s%s", batch, threads,
             team->reduce == PSD_TEAMWORK_SUM ? " --reduce=sum" : "");
    return out;
}

static void say(struct psd_log *log, const struct psd_advice *advice, const char *from,
                const char *what)
{
    int64_t workers = advice->team->workers ? advice->team->workers : advice->processes;
    char others[200];

    psd_log_warning(log,
                    "to go on from %s: poseidon train --solver=%s -n %lld "
                    "--logical-workers=%lld%s --snapshot=%s",
                    what, advice->solver, (long long)advice->processes, (long long)workers,
                    describe_others(advice->team, others, sizeof others), from);
}

/* The newest snapshot that this run has made. The caller owns it; NULL: there is none. */
static char *find_newest(const struct psd_advice *advice)
{
    struct psd_document *document = NULL;
    char *newest = NULL;

    if (psd_upgrade_read(advice->solver, &caffe__solver_parameter__descriptor, NULL, &document) ==
        PSD_OK)
        psd_solver_newest(document, &advice->began, &newest);
    psd_document_destroy(document);
    return newest;
}

void psd_advice_give(struct psd_log *log, const struct psd_advice *advice)
{
    char *newest = find_newest(advice);

    if (newest)
        say(log, advice, newest, "the newest snapshot");
    else if (advice->is_lost && advice->snapshot)
        say(log, advice, advice->snapshot, "the snapshot once more");
    else if (advice->is_lost)
        psd_log_warning(log, "there is no snapshot of this run to go on from; --snapshot-every 60s "
                             "makes them by the clock");
    psd_alloc_free(newest);
}
