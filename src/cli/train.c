/* train.c - "poseidon train": a solver file becomes a trained net.
 *
 *     solver.prototxt --> nets, state --> restored or given weights --> iterations --> snapshots
 *
 * Its options, its lines and what it does on signals are those of "caffe train". */
#include "base/clock.h"
#include "cli/compute.h"
#include "cli/signals.h"
#include "engine/solver.h"
#include "proto/text_writer.h"
#include "proto/upgrade.h"

#include <string.h>

struct train_options {
    struct psd_compute_options compute;
    char *solver, *snapshot, *weights;
    enum psd_signals_effect on_int, on_hup;
};

static const struct psd_option train_options[] = {
    {"solver", "FILE", NULL, "the solver: what to train, and how",
     PSD_TEXT(struct train_options, solver)},
    {"snapshot", "FILE", NULL, "goes on from this .solverstate",
     PSD_TEXT(struct train_options, snapshot)},
    {"weights", "FILE,...", NULL, "starts from the weights of these .caffemodel files",
     PSD_TEXT(struct train_options, weights)},
    PSD_COMPUTE_OPTIONS(struct train_options),
    {"sigint_effect", NULL, "stop", "what Ctrl-C does; it stops after a snapshot",
     PSD_CHOICE(struct train_options, on_int, psd_signals_effects)},
    {"sighup_effect", NULL, "snapshot", "what SIGHUP does",
     PSD_CHOICE(struct train_options, on_hup, psd_signals_effects)},
    {0},
};

/* --- the live line ---------------------------------------------------------------------------- */

/* How far the training was at some time. */
struct mark {
    uint64_t time, samples;
    int64_t iteration;
};

/* What the line is made of. Speed is measured since the mark before the latest, so it follows the
 * training without flickering. */
struct progress {
    struct psd_screen *screen;
    int64_t last_iteration; /* of the whole run */
    uint64_t samples;       /* so far */
    struct mark before, latest;
    char line[200];
};

enum { WINDOW_S = 5 }; /* how far back the speed looks, at most twice that */

static void start_progress(struct progress *progress, const struct psd_solver *solver)
{
    progress->last_iteration = solver->param->max_iter;
    progress->latest = (struct mark){psd_clock_now(), 0, solver->iteration};
    progress->before = progress->latest;
}

static void show_progress(void *context, int64_t iteration, float loss, size_t samples)
{
    struct progress *progress = context;

    progress->samples += samples;
    if (!psd_screen_wants_status(progress->screen))
        return;
    struct mark now = {psd_clock_now(), progress->samples, iteration}, from = progress->before;
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

static psd_status solve(struct psd_cli *cli, const struct train_options *options,
                        struct psd_solver *solver, struct progress *progress)
{
    PSD_TRY(psd_solver_probe(solver));
    PSD_TRY(start_from(cli, options, solver));
    psd_log_info(cli->log, "Starting Optimization");
    start_progress(progress, solver);
    psd_signals_start(options->on_int, options->on_hup);
    psd_status status = psd_solver_solve(solver);
    psd_signals_end();
    if (status != PSD_OK)
        return status;
    psd_log_info(cli->log, "Optimization Done.");
    if (psd_signals_terminated())
        cli->exit_code = PSD_EXIT_AGAIN;
    return PSD_OK;
}

static psd_status train(struct psd_cli *cli, const struct train_options *options,
                        struct psd_document *document, const struct psd_compute *compute)
{
    struct progress progress = {.screen = cli->screen};
    struct psd_solver *solver = NULL;
    struct psd_solver_options build = psd_compute_solver(cli, compute, document);

    build.action = psd_signals_action;
    build.progress = show_progress;
    build.context = &progress;
    choose_device(cli, document);
    show_solver(cli, document);
    PSD_TRY(psd_solver_create(&build, &solver));
    psd_status status = solve(cli, options, solver, &progress);
    psd_screen_clear(cli->screen);
    psd_solver_destroy(solver);
    return status;
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct train_options *options = opaque;
    struct psd_document *document = NULL;
    struct psd_compute compute;

    (void)argc, (void)argv;
    if (!is_given(options->solver))
        return psd_cli_misuse(cli, "a solver is needed: --solver FILE");
    if (is_given(options->snapshot) && is_given(options->weights))
        return psd_cli_misuse(cli,
                              "--snapshot goes on with a training, --weights starts a new one: "
                              "give one of them");
    PSD_TRY(psd_compute_open(cli, &options->compute, &compute));
    psd_status status = psd_upgrade_read(options->solver, &caffe__solver_parameter__descriptor,
                                         cli->log, &document);
    if (status == PSD_OK)
        status = train(cli, options, document, &compute);
    psd_document_destroy(document);
    psd_compute_close(&compute);
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
        "on, SIGTERM makes a snapshot and ends with exit code 75: starting again with --snapshot "
        "goes on exactly where it was.",
    .options = train_options,
    .options_size = sizeof(struct train_options),
    .logs_as_caffe = true,
    .run = run,
};
