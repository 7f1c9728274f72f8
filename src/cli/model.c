/* model.c - from the options to a workload with its times. */
#include "cli/model.h"
#include "base/alloc.h"
#include "cli/net_workload.h"
#include "cli/share.h"
#include "comm/profile.h"
#include "engine/solver.h"
#include "proto/upgrade.h"

#include <string.h>

static struct psd_comm_update update_of(const struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;

    return (struct psd_comm_update){
        .rule = solver->rule->name,
        .momentum = p->momentum,
        .momentum2 = p->momentum2,
        .delta = p->delta,
        .rms_decay = p->rms_decay,
        .decay = p->weight_decay,
        .l1 = p->regularization_type && strcmp(p->regularization_type, "L1") == 0,
        .clip = p->clip_gradients > 0 ? p->clip_gradients : 0,
        .iter_size = (unsigned)p->iter_size,
    };
}

static psd_status solve(struct psd_cli *cli, const struct psd_compute *compute,
                        struct psd_document *document, struct psd_workload **out,
                        struct psd_comm_update *update)
{
    struct psd_solver *solver = NULL;
    struct psd_solver_options options = psd_compute_solver(cli, compute, document);

    options.stand_in = &(struct psd_stand_in){0};
    options.sketch = true;
    PSD_TRY(psd_solver_create(&options, &solver));
    psd_status status = psd_net_workload_create(solver->net, out);
    if (status == PSD_OK)
        *update = update_of(solver);
    psd_solver_destroy(solver);
    return status;
}

static psd_status read_solver(struct psd_cli *cli, const struct psd_compute_options *options,
                              const char *path, struct psd_workload **out,
                              struct psd_comm_update *update)
{
    struct psd_document *document = NULL;
    struct psd_compute compute;

    PSD_TRY(psd_compute_open(cli, options, &compute));
    psd_status status =
        psd_upgrade_read(path, &caffe__solver_parameter__descriptor, cli->log, &document);
    if (status == PSD_OK)
        status = solve(cli, &compute, document, out, update);
    psd_document_destroy(document);
    psd_compute_close(&compute);
    return status;
}

static psd_status apply_profile(const char *name, size_t batch, struct psd_workload *workload)
{
    struct psd_profile *profile = NULL;
    char *path = NULL;

    PSD_TRY(psd_share_find(NULL, "profiles", name, &path));
    psd_status status = psd_profile_read(path, &profile);
    if (status == PSD_OK)
        status = psd_profile_apply(profile, workload, batch);
    psd_profile_destroy(profile);
    psd_alloc_free(path);
    return status;
}

static psd_status set_times(const struct psd_model_options *options, struct psd_workload *workload)
{
    size_t batch = (size_t)options->batch;

    if (options->profile)
        return apply_profile(options->profile, batch, workload);
    if (batch)
        workload->batch = batch;
    return PSD_OK;
}

psd_status psd_model_read(struct psd_cli *cli, const struct psd_model_options *options,
                          const char *solver, struct psd_workload **out,
                          struct psd_comm_update *update)
{
    struct psd_workload *workload = NULL;

    *update = (struct psd_comm_update){.momentum = 0.9f};
    if (solver)
        PSD_TRY(read_solver(cli, &options->compute, solver, &workload, update));
    else
        PSD_TRY(psd_net_workload_read(cli, &options->compute, options->model, &workload));
    psd_status status = set_times(options, workload);
    if (status == PSD_OK)
        *out = workload;
    else
        psd_workload_destroy(workload);
    return status;
}

/* Gives the workload the speeds of `speeds`, and `seconds` in all. */
static psd_status apply_time(const struct psd_profile *speeds, double seconds,
                             struct psd_workload *workload)
{
    struct psd_profile *profile = NULL;

    PSD_TRY(psd_profile_create(speeds->source, speeds->device, &profile));
    profile->rebuild_flops = speeds->rebuild_flops;
    profile->update_bytes_per_s = speeds->update_bytes_per_s;
    profile->sum_bytes_per_s = speeds->sum_bytes_per_s;
    psd_status status = psd_profile_add_model(profile, workload->name, workload->batch,
                                              (double)workload->batch / seconds);
    if (status == PSD_OK)
        status = psd_profile_apply(profile, workload, 0);
    psd_profile_destroy(profile);
    return status;
}

static psd_status read_speeds(const char *name, struct psd_profile **out)
{
    char *path = NULL;

    PSD_TRY(psd_share_find(NULL, "profiles", name ? name : "titan-x", &path));
    psd_status status = psd_profile_read(path, out);
    psd_alloc_free(path);
    return status;
}

psd_status psd_model_read_timed(struct psd_cli *cli, const struct psd_model_options *options,
                                double seconds, struct psd_workload **out)
{
    struct psd_model_options untimed = *options;
    struct psd_workload *workload = NULL;
    struct psd_profile *speeds = NULL;
    struct psd_comm_update update;

    untimed.profile = NULL;
    PSD_TRY(read_speeds(options->profile, &speeds));
    psd_status status = psd_model_read(cli, &untimed, NULL, &workload, &update);
    if (status == PSD_OK)
        status = apply_time(speeds, seconds, workload);
    psd_profile_destroy(speeds);
    if (status == PSD_OK)
        *out = workload;
    else
        psd_workload_destroy(workload);
    return status;
}

psd_status psd_model_check_samples(struct psd_cli *cli, const struct psd_workload *workload,
                                   unsigned workers)
{
    if (workload->batch <= PSD_MODEL_SAMPLES / workers)
        return PSD_OK;
    return psd_cli_misuse(cli,
                          "%u workers with %zu samples each would compute %.4g samples in an "
                          "iteration: %d are the most",
                          workers, workload->batch, (double)workers * (double)workload->batch,
                          PSD_MODEL_SAMPLES);
}

double psd_model_latency(const struct psd_model_options *options)
{
    return (double)options->latency_ns / 1e9;
}
