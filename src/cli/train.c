/* train.c - "poseidon train": a solver file becomes a trained net.
 *
 *     solver.prototxt --> nets, state --> restored or given weights --> iterations --> snapshots
 *
 * Its options, its lines and what it does on signals are those of "caffe train". */
#include "base/alloc.h"
#include "base/clock.h"
#include "cli/advice.h"
#include "cli/local.h"
#include "cli/outputs_file.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/teamwork.h"
#include "proto/text_writer.h"
#include "proto/upgrade.h"
#include "train/enrolment.h"

#include <signal.h>
#include <string.h>

struct train_options {
    struct psd_compute_options compute;
    struct psd_local_options local;
    struct psd_teamwork_options team;
    char *solver, *snapshot, *weights, *net_outputs;
    uint64_t snapshot_every; /* in ns; 0: not by the clock */
    enum psd_signals_effect on_int, on_hup;
};

static const struct psd_option train_options[] = {
    {"solver", "FILE", NULL, "the solver: what to train, and how",
     PSD_TEXT(struct train_options, solver)},
    {"snapshot", "FILE", NULL, "goes on from this .solverstate",
     PSD_TEXT(struct train_options, snapshot)},
    {"weights", "FILE,...", NULL,
     "starts from the weights of these .caffemodel or .caffemodel.h5 files",
     PSD_TEXT(struct train_options, weights)},
    PSD_COMPUTE_OPTIONS(struct train_options),
    PSD_LOCAL_OPTIONS(struct train_options),
    PSD_TEAMWORK_OPTIONS(struct train_options),
    {"snapshot-every", "TIME", NULL, "makes a snapshot so often, too: 60s, 10min",
     PSD_TIME(struct train_options, snapshot_every)},
    {"net-outputs", "PREFIX", NULL, "writes what is displayed to PREFIX.netoutputs, as CSV",
     PSD_TEXT(struct train_options, net_outputs)},
    {"sigint_effect", NULL, "stop", "what Ctrl-C does; it stops after a snapshot",
     PSD_CHOICE(struct train_options, on_int, psd_signals_effects)},
    {"sighup_effect", NULL, "snapshot", "what SIGHUP does",
     PSD_CHOICE(struct train_options, on_hup, psd_signals_effects)},
    {0},
};

/* --- the solver ------------------------------------------------------------------------------- */

/* Bytes on their way to the log, a line at a time. */
struct lines {
    struct psd_log *log;
    char text[512];
    size_t length;
};

static bool log_lines(void *context, const void *data, size_t size)
{
    struct lines *lines = context;
    const char *text = data;

    for (size_t i = 0; i < size; i++) {
        bool full = lines->length == sizeof lines->text;
        if (text[i] == '\n' || full) {
            psd_log_info(lines->log, "%.*s", (int)lines->length, lines->text);
            lines->length = 0;
        }
        if (text[i] != '\n')
            lines->text[lines->length++] = text[i];
    }
    return true;
}

static void show_solver(struct psd_cli *cli, const struct psd_document *document)
{
    struct lines lines = {.log = cli->log};
    struct psd_sink sink = {.write = log_lines, .context = &lines};

    psd_log_info(cli->log, "Initializing solver from parameters:");
    psd_text_write(document->root, NULL, &sink);
}

/* Most of Caffe's solvers ask for the GPU, and train as well without. */
static void choose_device(struct psd_cli *cli, const struct psd_document *document)
{
    const Caffe__SolverParameter *p = (const Caffe__SolverParameter *)document->root;

    if (p->has_solver_mode && p->solver_mode == CAFFE__SOLVER_PARAMETER__SOLVER_MODE__GPU)
        psd_log_warning(cli->log,
                        "%s asks for solver_mode GPU, and there is none that this build "
                        "can use: training on the CPU",
                        document->path);
    psd_log_info(cli->log, "Use CPU.");
}

/* Scripts pass an empty name where they have none, and Caffe lets them. */
static bool is_given(const char *name)
{
    return name && *name;
}

/* From where training starts. */
static psd_status start_from(struct psd_cli *cli, const struct train_options *options,
                             struct psd_solver *solver)
{
    if (!is_given(options->snapshot))
        return psd_solver_load(solver, is_given(options->weights) ? options->weights : NULL);
    psd_log_info(cli->log, "Resuming from %s", options->snapshot);
    return psd_solver_restore(solver, options->snapshot);
}

/* How many samples an update is the mean of, since several numbers make it. */
static void show_batch(struct psd_cli *cli, const struct psd_teamwork *teamwork,
                       const struct psd_solver *solver)
{
    size_t samples = psd_solver_samples(solver);

    if (teamwork->workers > 1 && psd_net_is_pinned(solver->net))
        psd_log_info(cli->log,
                     "Each logical worker has a database of its own: their number is fixed "
                     "for this training.");
    if (teamwork->ensemble)
        psd_log_info(cli->log,
                     "logical workers: %u, processes: %u, threads of a worker: %u, samples an "
                     "iteration: %zu",
                     teamwork->workers, teamwork->ranks, teamwork->threads, samples);
}

/* How each parameter travels, where there is somebody to travel to. */
static void show_plan(struct psd_cli *cli, const struct psd_teamwork *teamwork)
{
    struct lines lines = {.log = cli->log};

    if (teamwork->ranks > 1) {
        const char *plan = psd_ensemble_plan(teamwork->ensemble);
        log_lines(&lines, plan, strlen(plan));
    }
}

/* Whether others could read what processes send each other. */
static void show_trust(struct psd_cli *cli, const struct psd_teamwork *teamwork)
{
    if (teamwork->ranks == 1)
        return;
    if (teamwork->in_clear)
        psd_log_info(cli->log,
                     "Processes talk in clear: that keeps out strangers and accidents, not those "
                     "who read or alter packets on the way.");
    else
        psd_log_info(cli->log, "Processes talk %s.", psd_network_encrypted(cli->network.ktls));
}

/* What goes on beside the solver. */
struct beside {
    struct psd_progress progress;
    struct psd_outputs_file *outputs; /* owned; NULL: nobody wants them */
    uint64_t every_ns, next_ns;       /* between snapshots, until the next; 0: never */
};

static psd_status solve(struct psd_cli *cli, const struct train_options *options,
                        const struct psd_teamwork *teamwork, struct psd_solver *solver,
                        struct beside *beside)
{
    if (!teamwork->ensemble) /* which would see to it, with others */
        PSD_TRY(psd_enrolment_check(teamwork->wishes, teamwork->n_wishes, solver->net));
    PSD_TRY(psd_solver_probe(solver));
    PSD_TRY(start_from(cli, options, solver));
    PSD_TRY(psd_solver_start(solver));
    if (beside->outputs) /* a training that does not start leaves its rows alone */
        PSD_TRY(psd_outputs_file_go_on(beside->outputs, solver->iteration));
    show_batch(cli, teamwork, solver);
    show_plan(cli, teamwork);
    show_trust(cli, teamwork);
    psd_log_info(cli->log, "Starting Optimization");
    psd_progress_start(&beside->progress, solver);
    psd_signals_start(options->on_int, options->on_hup);
    PSD_TRY(psd_solver_solve(solver));
    psd_log_info(cli->log, "Optimization Done.");
    if (psd_signals_terminated())
        cli->exit_code = PSD_EXIT_AGAIN;
    return PSD_OK;
}

static psd_status open_beside(struct psd_cli *cli, const struct train_options *options, bool leads,
                              struct beside *beside)
{
    beside->progress.screen = cli->screen;
    beside->every_ns = leads ? options->snapshot_every : 0;
    beside->next_ns = psd_clock_now() + beside->every_ns;
    if (!leads || !is_given(options->net_outputs))
        return PSD_OK;
    return psd_outputs_file_open(options->net_outputs, is_given(options->snapshot), cli->log,
                                 &beside->outputs);
}

static enum psd_solver_action act(void *context)
{
    struct beside *beside = context;
    enum psd_solver_action action = psd_signals_action(NULL);

    if (!beside->every_ns || psd_clock_now() < beside->next_ns)
        return action;
    beside->next_ns = psd_clock_now() + beside->every_ns;
    return action == PSD_SOLVER_GO_ON ? PSD_SOLVER_SNAPSHOT : action;
}

static void progress(void *context, int64_t iteration, float loss, size_t samples)
{
    psd_progress_show(&((struct beside *)context)->progress, iteration, loss, samples);
}

static void shown(void *context, const struct psd_solver_row *row)
{
    struct beside *beside = context;

    if (beside->outputs)
        psd_outputs_file_add(beside->outputs, row);
}

static psd_status train(struct psd_cli *cli, const struct train_options *options,
                        struct psd_document *document, const struct psd_compute *compute,
                        struct psd_teamwork *teamwork, const struct psd_invitation *invitation)
{
    bool leads = !invitation || invitation->rank == 0;
    struct beside beside = {0};
    struct psd_solver *solver = NULL;
    struct psd_solver_options build = psd_compute_solver(cli, compute, document);

    build.action = act;
    build.progress = progress;
    build.shown = shown;
    build.context = &beside;
    build.seed = invitation ? invitation->job : 0;
    psd_teamwork_join(teamwork, &build);
    choose_device(cli, document);
    show_solver(cli, document);
    PSD_TRY(open_beside(cli, options, leads, &beside));
    psd_status status = psd_solver_create(&build, &solver);
    if (status == PSD_OK)
        status = solve(cli, options, teamwork, solver, &beside);
    psd_screen_clear(cli->screen);
    psd_teamwork_close(teamwork);
    psd_solver_destroy(solver); /* waits for a snapshot that is being written */
    psd_signals_end();
    psd_outputs_file_close(beside.outputs);
    return status;
}

/* One process of a job, or the only one; `invitation` NULL: it is. */
static psd_status take_part(struct psd_cli *cli, const struct train_options *options,
                            const struct psd_invitation *invitation)
{
    struct psd_compute_options with = options->compute;
    struct psd_document *document = NULL;
    struct psd_teamwork teamwork;
    struct psd_compute compute;

    if (invitation && invitation->rank > 0 && cli->log->level > PSD_LOG_WARNING)
        cli->log->level = PSD_LOG_WARNING; /* rank 0 tells how it goes */
    psd_status status = psd_teamwork_open(cli, &options->team, &with, invitation, &teamwork);
    with.threads = teamwork.threads;
    if (status == PSD_OK)
        status = psd_compute_open(cli, &with, &compute);
    if (status != PSD_OK) {
        psd_teamwork_close(&teamwork);
        return status;
    }
    status = psd_upgrade_read(options->solver, &caffe__solver_parameter__descriptor, cli->log,
                              &document);
    if (status == PSD_OK)
        status = train(cli, options, document, &compute, &teamwork, invitation);
    psd_teamwork_close(&teamwork);
    psd_document_destroy(document);
    psd_compute_close(&compute);
    return status;
}

/* --- processes ----------------------------------------------------------------------------------- */

/* What a process of the job needs. */
struct part {
    struct psd_cli *cli;
    const struct train_options *options;
};

static psd_status live(void *arg, const struct psd_invitation *invitation, int key_fd,
                       int *exit_code)
{
    const struct part *part = arg;
    psd_status status = take_part(part->cli, part->options, invitation);

    (void)key_fd;
    *exit_code = status == PSD_OK     ? part->cli->exit_code
                 : part->cli->misused ? PSD_EXIT_MISUSED
                                      : PSD_EXIT_FAILED;
    return status;
}

/* Rank 0 alone writes it, and others would wait for that to start. */
static psd_status probe_outputs(const struct train_options *options)
{
    struct psd_outputs_file *file = NULL;

    if (is_given(options->net_outputs))
        PSD_TRY(psd_outputs_file_open(options->net_outputs, true, NULL, &file));
    psd_outputs_file_close(file);
    return PSD_OK;
}

static psd_status run_job(struct psd_cli *cli, const struct train_options *options)
{
    struct part part = {cli, options};
    psd_status cause = PSD_OK;
    struct psd_local_job job = {.options = &options->local,
                                .live = live,
                                .arg = &part,
                                .over_status = true,
                                .cause = &cause};
    struct psd_advice advice = {.solver = options->solver,
                                .snapshot = is_given(options->snapshot) ? options->snapshot : NULL,
                                .processes = options->local.count,
                                .team = &options->team,
                                .compute = &options->compute,
                                .net_outputs = options->net_outputs,
                                .snapshot_every_ns = options->snapshot_every,
                                .began = psd_advice_now()};

    PSD_TRY(psd_teamwork_check(cli, &options->team, (unsigned)options->local.count));
    PSD_TRY(probe_outputs(options));
    psd_status status = psd_local_run(cli, &job);
    psd_signals_end();
    PSD_TRY(status);
    advice.is_lost = cause == PSD_EPEER || cause == PSD_ETIMEOUT;
    if (cli->exit_code == PSD_EXIT_FAILED || cli->exit_code > 128 + SIGINT)
        psd_advice_give(cli->log, &advice);
    return PSD_OK;
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct train_options *options = opaque;
    struct psd_invitation *invitation = NULL;

    (void)argc, (void)argv;
    psd_signals_begin();
    if (!is_given(options->solver))
        return psd_cli_misuse(cli, "a solver is needed: --solver FILE");
    if (is_given(options->snapshot) && is_given(options->weights))
        return psd_cli_misuse(cli,
                              "--snapshot goes on with a training, --weights starts a new one: "
                              "give one of them");
    PSD_TRY(psd_invitation_read(cli->environment, &invitation));
    if (invitation && options->local.count > 1) {
        psd_invitation_destroy(invitation);
        return psd_cli_misuse(cli, "this process is one of a job already: leave out -n");
    }
    if (options->local.count > 1)
        return run_job(cli, options);
    psd_status status = take_part(cli, options, invitation);
    psd_invitation_destroy(invitation);
    return status;
}

const struct psd_command psd_command_train = {
    .name = "train",
    .summary = "trains a net as its solver file says",
    .synopsis = "",
    .description =
        "Trains the net that the solver names, tests it and writes snapshots as the solver asks "
        "for. Options and messages are those of \"caffe train\".\n\n"
        "Ctrl-C stops after a snapshot (a second one at once), SIGHUP makes a snapshot and goes "
        "on, SIGTERM makes a snapshot and ends with exit code 75 (another, a second later or more, "
        "at once): starting again with --snapshot goes on exactly where it was.",
    .options = train_options,
    .options_size = sizeof(struct train_options),
    .logs_as_caffe = true,
    .run = run,
};
