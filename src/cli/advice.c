#include "cli/advice.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "proto/upgrade.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct timespec psd_advice_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now;
}

/* --- the command -------------------------------------------------------------------------------- */

/* A command for a shell as far as it is written; what is too long is cut. */
struct command {
    char text[4000];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct command *command, const char *format,
                                                      ...)
{
    size_t room = sizeof command->text - command->length;
    va_list args;

    va_start(args, format);
    int length = vsnprintf(command->text + command->length, room, format, args);
    va_end(args);
    command->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* A word as it is written between other words: in quotes where a shell would find a meaning in it. */
static void add_word(struct command *command, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./,:=+@%";

    if (word[strspn(word, plain)] == '\0') {
        add(command, "%s", word);
        return;
    }
    add(command, "'");
    for (; *word; word++)
        add(command, *word == '\'' ? "'\\%c'" : "%c", *word);
    add(command, "'");
}

static void add_text(struct command *command, const char *option, const char *text)
{
    if (!text || !*text)
        return;
    add(command, " --%s=", option);
    add_word(command, text);
}

static void add_list(struct command *command, const char *option, char *const *texts)
{
    for (; texts && *texts; texts++)
        add_text(command, option, *texts);
}

static void add_number(struct command *command, const char *option, int64_t number)
{
    if (number)
        add(command, " --%s=%lld", option, (long long)number);
}

static void add_time(struct command *command, const char *option, uint64_t ns)
{
    if (ns)
        add(command, " --%s=%llu%s", option,
            (unsigned long long)(ns % PSD_CLOCK_S == 0 ? ns / PSD_CLOCK_S : ns / PSD_CLOCK_MS),
            ns % PSD_CLOCK_S == 0 ? "s" : "ms");
}

/* What decides the result, as the workers' number and threads, is said also where it was not given. */
static void add_team(struct command *command, const struct psd_advice *advice)
{
    const struct psd_teamwork_options *team = advice->team;

    add(command, " -n %lld", (long long)advice->processes);
    add_number(command, "logical-workers", team->workers ? team->workers : advice->processes);
    add_number(command, "global-batch", team->global_batch);
    add_number(command, "worker-threads", team->threads ? team->threads : advice->compute->threads);
    add_text(command, "reduce", team->reduce == PSD_TEAMWORK_SUM ? "sum" : NULL);
    add_list(command, "form", team->forms);
    add_list(command, "route", team->routes);
    add_number(command, "verify", team->verify);
}

static void add_compute(struct command *command, const struct psd_compute_options *compute)
{
    add_text(command, "backend", compute->backend);
    add_number(command, "level", compute->level);
    add_list(command, "stage", compute->stages);
    add_text(command, "max-bad", compute->max_bad);
    add_list(command, "plugin", compute->plugins);
}

static void say(struct psd_log *log, const struct psd_advice *advice, const char *from,
                const char *what)
{
    struct command command = {.length = 0};

    add(&command, "poseidon train");
    add_text(&command, "solver", advice->solver);
    add_team(&command, advice);
    add_compute(&command, advice->compute);
    add_text(&command, "net-outputs", advice->net_outputs);
    add_time(&command, "snapshot-every", advice->snapshot_every_ns);
    add_text(&command, "snapshot", from);
    psd_log_warning(log, "to go on from %s: %s", what, command.text);
}

/* --- from where --------------------------------------------------------------------------------- */

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
