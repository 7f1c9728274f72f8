/* plan.c - "poseidon plan": which way each gradient takes, why, and what that is good for.
 *
 *     workload --> job of N nodes --> forms, hosting, routes --> table of parameters
 *              --> jobs of 1, 2, 4 ... N nodes ---------------> iteration time and speed-up */
#include "comm/plan.h"
#include "base/alloc.h"
#include "cli/model.h"
#include "cli/wishes.h"

enum { FEW = 16 }; /* nodes, of which each number has its row */

struct plan_options {
    struct psd_model_options model;
    char *solver;
    int64_t nodes, workers;
    double bandwidth;
    char **forms, **routes;
};

static const struct psd_option plan_options[] = {
    PSD_MODEL_OPTIONS(struct plan_options),
    {"solver", "FILE", NULL, "a solver file, whose net and rule are taken",
     PSD_TEXT(struct plan_options, solver)},
    {"nodes", "N", NULL, "how many nodes", PSD_INT(struct plan_options, nodes, 1, PSD_MODEL_NODES)},
    {"logical-workers", "S", NULL, "how many workers share the job; default: as many as nodes",
     PSD_INT(struct plan_options, workers, 1, PSD_MODEL_NODES)},
    {"bandwidth", NULL, NULL, "of each node's link, each way, such as 10Gbit",
     PSD_SPEED(struct plan_options, bandwidth)},
    {"form", "NAME=FORM,...", NULL,
     "has the gradients of this layer dense or factored; may be repeated",
     PSD_LIST(struct plan_options, forms)},
    {"route", "NAME=ROUTE,...", NULL,
     "sends them by servers, broadcast, row-sharded, local or single-owner; may be repeated",
     PSD_LIST(struct plan_options, routes)},
    {0},
};

/* What plans of any number of nodes are made from. */
struct subject {
    const struct psd_workload *workload;    /* borrowed, as is the next */
    const struct psd_workload_wish *wishes; /* [params] */
    struct psd_comm_update update;
    struct psd_plan_network network;
    unsigned workers; /* 0: one for each node */
    bool timed;       /* the workload has times */
};

static psd_status plan_job(const struct subject *subject, struct psd_job *job,
                           struct psd_plan **out)
{
    const struct psd_workload *workload = subject->timed ? subject->workload : NULL;

    psd_plan_forms(job);
    PSD_TRY(psd_plan_hosting(job, workload, &subject->network));
    return psd_plan_create(job, workload, &subject->network, out);
}

static psd_status make(const struct subject *subject, unsigned nodes, struct psd_job **job,
                       struct psd_plan **plan)
{
    PSD_TRY(psd_workload_job_create(subject->workload, nodes,
                                    subject->workers ? subject->workers : nodes, &subject->update,
                                    subject->wishes, job));
    for (size_t i = 0; nodes == 1 && i < (*job)->n_params; i++)
        (*job)->params[i].route = PSD_ROUTE_AUTO; /* alone there is only one for each form */
    psd_status status = plan_job(subject, *job, plan);
    if (status != PSD_OK)
        psd_job_destroy(*job);
    return status;
}

static psd_status show_plan(struct psd_cli *cli, const struct subject *subject, unsigned nodes)
{
    struct psd_job *job = NULL;
    struct psd_plan *plan = NULL;

    PSD_TRY(make(subject, nodes, &job, &plan));
    char *text = psd_plan_text(job, plan);
    if (text)
        fputs(text, cli->out);
    psd_alloc_free(text);
    psd_plan_destroy(plan);
    psd_job_destroy(job);
    return text ? PSD_OK : PSD_ENOMEM;
}

static psd_status show_row(struct psd_cli *cli, const struct subject *subject, unsigned nodes)
{
    struct psd_job *job = NULL;
    struct psd_plan *plan = NULL;

    PSD_TRY(make(subject, nodes, &job, &plan));
    double speedup = psd_plan_speedup(job, plan);
    fprintf(cli->out, "%5u  %12.3f  %8.2f  %8.1f\n", nodes, plan->iteration_s * 1e3, speedup,
            100 * speedup / nodes);
    psd_plan_destroy(plan);
    psd_job_destroy(job);
    return PSD_OK;
}

/* Every number while there are few, else powers of two, and at the end what was asked for. */
static psd_status show_rows(struct psd_cli *cli, const struct subject *subject, unsigned nodes)
{
    bool are_few = nodes <= FEW;

    fputs("\nnodes  iteration ms  speed-up  of all %\n", cli->out);
    for (unsigned n = 1; n < nodes; n = are_few ? n + 1 : 2 * n)
        PSD_TRY(show_row(cli, subject, n));
    return show_row(cli, subject, nodes);
}

static psd_status plan(struct psd_cli *cli, const struct plan_options *options,
                       struct subject *subject)
{
    unsigned nodes = (unsigned)options->nodes;
    struct psd_workload_wish *wishes = NULL;

    PSD_TRY(psd_model_check_samples(cli, subject->workload,
                                    subject->workers ? subject->workers : nodes));
    PSD_TRY(psd_wishes_read(cli, subject->workload, options->forms, options->routes, &wishes));
    subject->wishes = wishes;
    psd_status status = show_plan(cli, subject, nodes);
    if (status == PSD_OK && subject->timed)
        status = show_rows(cli, subject, nodes);
    psd_alloc_free(wishes);
    return status;
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct plan_options *options = opaque;
    struct psd_workload *workload = NULL;
    struct subject subject = {
        .network = {options->bandwidth, psd_model_latency(&options->model)},
        .workers = (unsigned)options->workers,
        .timed = options->model.profile != NULL,
    };

    (void)argc, (void)argv;
    if (!options->model.model && !options->solver)
        return psd_cli_misuse(cli, "a net is needed: --model FILE or NAME, or --solver FILE");
    if (options->model.model && options->solver)
        return psd_cli_misuse(cli, "--model and --solver each say which net: give one of them");
    if (!options->nodes)
        return psd_cli_misuse(cli, "say for how many nodes: --nodes N");
    if (options->workers && options->workers < options->nodes)
        return psd_cli_misuse(cli,
                              "each node has a worker: --logical-workers %lld is less than "
                              "--nodes %lld",
                              (long long)options->workers, (long long)options->nodes);
    if (!(options->bandwidth > 0))
        return psd_cli_misuse(cli, "say how fast their links are: --bandwidth 10Gbit");
    PSD_TRY(psd_model_read(cli, &options->model, options->solver, &workload, &subject.update));
    subject.workload = workload;
    psd_status status = plan(cli, options, &subject);
    psd_workload_destroy(workload);
    return status;
}

const struct psd_command psd_command_plan = {
    .name = "plan",
    .summary = "shows which way each gradient would take, and what is gained",
    .synopsis = "",
    .description =
        "Plans the training of a net on N nodes: for each parameter its shape and form, the floats "
        "and the time of each route, and which one is chosen and why; traffic, memory and the "
        "predicted time of an iteration; and, with a profile, time and speed-up for 1 to N "
        "nodes.\n\n"
        "The routes are chosen together, for the least time of an iteration. A p stands where the "
        "rule of the Poseidon paper, which compares bytes, would take another one.",
    .options = plan_options,
    .options_size = sizeof(struct plan_options),
    .run = run,
};
