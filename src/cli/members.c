/* members.c - members that say nothing but whether it went well. */
#include "cli/members.h"
#include "base/clock.h"
#include "cli/launch.h"

static const uint64_t grace_ns = 500 * PSD_CLOCK_MS; /* to end after a failure of another */

static psd_status live(void *arg, unsigned rank, int *exit_code)
{
    const struct psd_members_options *options = arg;

    *exit_code = 0; /* a failure makes it another */
    if (options->enter)
        PSD_TRY(options->enter(options->place, rank));
    return options->run(options->arg, rank);
}

static psd_status watch(void *arg)
{
    const struct psd_members_options *options = arg;

    return options->watch ? options->watch(options->arg) : PSD_OK;
}

psd_status psd_members_run(const struct psd_members_options *options)
{
    struct psd_members_options copy = *options;
    struct psd_launch_end end;

    PSD_TRY(psd_launch_run(
        &(struct psd_launch_options){
            .count = copy.count, .live = live, .arg = &copy, .grace_ns = grace_ns, .watch = watch},
        &end));
    if (end.status == PSD_OK)
        return PSD_OK;
    if (!end.is_own)
        return psd_fail(end.status, "%s", end.sentence);
    return psd_fail(end.status, "member %u: %s", end.rank, end.sentence);
}
