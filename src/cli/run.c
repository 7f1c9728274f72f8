/* run.c - "poseidon run": any program, several times, as one job. */
#include "base/alloc.h"
#include "cli/key.h"
#include "cli/local.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct run_options {
    struct psd_local_options local;
};

static const struct psd_option run_options[] = {
    PSD_LOCAL_OPTIONS(struct run_options),
    {0},
};

/* What a shell says of programs that it cannot run. */
enum { NO_PROGRAM = 126, NOT_FOUND = 127 };

struct program {
    char *const *environment; /* borrowed, as is argv */
    char **argv;              /* ends with NULL */
};

/* What we do with signals is our affair. SIGHUP stays ignored where it was: that is what nohup is for. */
static void restore_signals(void)
{
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static psd_status become(void *arg, const struct psd_invitation *invitation, int key_fd,
                         int *exit_code)
{
    const struct program *program = arg;
    char **environment = NULL;
    int lent = -1;

    PSD_TRY(psd_key_lend(key_fd, &lent));
    PSD_TRY(psd_invitation_export(invitation, lent, program->environment, &environment));
    restore_signals();
    execvpe(program->argv[0], program->argv, environment);
    *exit_code = errno == ENOENT ? NOT_FOUND : NO_PROGRAM;
    psd_status status =
        psd_fail(PSD_ECONFIG, "cannot run %s: %s", program->argv[0], strerrordesc_np(errno));
    psd_alloc_free(environment);
    return status;
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct run_options *options = opaque;
    struct program program = {cli->environment, psd_alloc_zero((size_t)argc + 1, sizeof *argv)};

    if (!program.argv)
        return PSD_ENOMEM;
    memcpy(program.argv, argv, (size_t)argc * sizeof *argv);
    psd_status status = PSD_OK;
    if (options->local.count == 0)
        status = psd_cli_misuse(cli, "say how many processes: -n N");
    else
        status = psd_local_run(
            cli,
            &(struct psd_local_job){.options = &options->local, .live = become, .arg = &program});
    psd_alloc_free(program.argv);
    return status;
}

const struct psd_command psd_command_run = {
    .name = "run",
    .summary = "runs any program several times on this machine, as one job",
    .synopsis = "[--] PROGRAM [ARGUMENT...]",
    .least = 1,
    .most = -1,
    .options_lead = true,
    .description =
        "Starts PROGRAM -n times, as the processes of one job: variables tell each its rank, where "
        "rank 0 is found, and where the job's key is to be had. Lines that ranks above 0 print "
        "have the rank before them.\n\n"
        "Ctrl-C, SIGTERM and SIGHUP reach each process once; a second Ctrl-C kills all. When one "
        "fails the others are ended, too, and the exit code is that of the first to fail.",
    .options = run_options,
    .options_size = sizeof(struct run_options),
    .run = run,
};
