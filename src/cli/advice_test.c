/* advice_test.c - which snapshot, if any, somebody whose training has ended early is told of. */
#include "base/alloc.h"
#include "cli/advice.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

static char said[2000];

static void note(void *context, const char *line, size_t length)
{
    (void)context;
    snprintf(said, sizeof said, "%.*s", (int)length, line);
}

/* A file of the test's folder that was written at a time. */
static void put(const char *name, time_t second)
{
    struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    FILE *file = fopen(test_path(name), "we");

    CHECK(file && fputs("net: \"net.prototxt\"\n", file) >= 0 && fclose(file) == 0);
    CHECK(utimensat(AT_FDCWD, test_path(name), times, 0) == 0);
}

/* What is said of a job that began at second 100. */
static const char *advise(bool is_lost, const char *snapshot)
{
    struct psd_teamwork_options team = {.workers = 8, .global_batch = 64, .threads = 2};
    struct psd_compute_options compute = {.threads = 0};
    struct psd_advice advice = {.solver = test_path("s.prototxt"),
                                .snapshot = snapshot,
                                .processes = 4,
                                .team = &team,
                                .compute = &compute,
                                .began = {.tv_sec = 100},
                                .is_lost = is_lost};
    struct psd_log log;

    team.reduce = PSD_TEAMWORK_SUM;
    said[0] = '\0';
    psd_log_init(&log, PSD_LOG_INFO, PSD_LOG_NO_RANK, note, NULL);
    psd_advice_give(&log, &advice);
    psd_log_fini(&log);
    return said;
}

/* Not the one with the highest number, which is of another run. */
static void the_newest_snapshot_of_this_run_is_advised(void)
{
    put("s.prototxt", 1);
    put("s_iter_900.solverstate", 99);
    put("s_iter_20.solverstate", 101);
    put("s_iter_30.solverstate", 102);
    put("s_iter_x.solverstate", 103);
    CHECK(
        strstr(advise(true, NULL), "to go on from the newest snapshot: poseidon train --solver="));
    CHECK(strstr(said, " -n 4 --logical-workers=8 --global-batch=64 --worker-threads=2 "
                       "--reduce=sum --snapshot="));
    CHECK(strstr(said, "/s_iter_30.solverstate"));
    CHECK(strstr(advise(false, "old.solverstate"), "/s_iter_30.solverstate"));
}

static void every_option_of_the_run_is_in_the_command_for_a_shell(void)
{
    char *stages[] = {(char[]){"a b"}, NULL}, *forms[] = {(char[]){"ip[0]=dense"}, NULL};
    struct psd_teamwork_options team = {.forms = forms, .verify = 5};
    struct psd_compute_options compute = {
        .threads = 3, .backend = (char[]){"plain"}, .stages = stages};
    struct psd_advice advice = {.solver = "it's here/s.prototxt",
                                .snapshot = "$old.solverstate",
                                .processes = 2,
                                .team = &team,
                                .compute = &compute,
                                .net_outputs = "all the/outputs",
                                .snapshot_every_ns = 1500000000,
                                .is_lost = true};
    struct psd_log log;

    psd_log_init(&log, PSD_LOG_INFO, PSD_LOG_NO_RANK, note, NULL);
    psd_advice_give(&log, &advice);
    psd_log_fini(&log);
    CHECK(strstr(said, "poseidon train --solver='it'\\''s here/s.prototxt' -n 2 "
                       "--logical-workers=2 --worker-threads=3 --form='ip[0]=dense' --verify=5 "
                       "--backend=plain --stage='a b' --net-outputs='all the/outputs' "
                       "--snapshot-every=1500ms --snapshot='$old.solverstate'"));
}

static void who_was_resumed_and_lost_starts_once_more(void)
{
    put("s.prototxt", 1);
    put("s_iter_900.solverstate", 99);
    CHECK(strstr(advise(true, "old.solverstate"),
                 "to go on from the snapshot once more: poseidon train"));
    CHECK(strstr(said, "--snapshot=old.solverstate"));
}

static void who_has_none_hears_how_to_have_some(void)
{
    put("s.prototxt", 1);
    CHECK(strstr(advise(true, NULL), "there is no snapshot of this run to go on from; "));
}

static void a_mistake_of_the_start_is_not_gone_on_from(void)
{
    put("s.prototxt", 1);
    put("s_iter_900.solverstate", 99);
    CHECK_TEXT("", advise(false, NULL));
    CHECK_TEXT("", advise(false, "old.solverstate"));
}

static void files_have_the_time_of_now(void)
{
    struct timespec before = psd_advice_now();
    struct stat about;

    CHECK(fclose(fopen(test_path("now"), "we")) == 0 && stat(test_path("now"), &about) == 0);
    CHECK(about.st_mtim.tv_sec > before.tv_sec ||
          (about.st_mtim.tv_sec == before.tv_sec && about.st_mtim.tv_nsec >= before.tv_nsec));
}

static void advice_survives_every_failed_allocation(void)
{
    bool failed = true;
    long n = 0;

    put("s.prototxt", 1);
    put("s_iter_30.solverstate", 102);
    for (; failed; n++) {
        psd_alloc_fail_at(n);
        advise(true, NULL);
        failed = psd_alloc_fail_at(-1);
    }
    CHECK(n > 5 && strstr(said, "/s_iter_30.solverstate"));
}

int main(int argc, char **argv)
{
    RUN(the_newest_snapshot_of_this_run_is_advised)
    RUN(every_option_of_the_run_is_in_the_command_for_a_shell)
    RUN(who_was_resumed_and_lost_starts_once_more)
    RUN(who_has_none_hears_how_to_have_some)
    RUN(a_mistake_of_the_start_is_not_gone_on_from)
    RUN(files_have_the_time_of_now)
    RUN(advice_survives_every_failed_allocation)
}
