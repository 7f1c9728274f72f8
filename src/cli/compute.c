/* compute.c - the host, its threads, and a net on them. */
#include "cli/compute.h"
#include "base/thread.h"
#include "engine/plugins.h"
#include "proto/caffe.pb-c.h"

#include <string.h>

const char *const psd_compute_phases[] = {
    [CAFFE__PHASE__TRAIN] = "TRAIN", [CAFFE__PHASE__TEST] = "TEST", NULL};

static psd_status open_device(const struct psd_compute_options *options, struct psd_compute *out)
{
    struct psd_ops_options ops = {
        .threads = options->threads ? (unsigned)options->threads : psd_thread_processors(),
        .backend = options->backend,
    };

    PSD_TRY(psd_device_open("host", 0, &out->device));
    ops.device = out->device;
    psd_status status = psd_ops_open(&ops, &out->ops);
    if (status != PSD_OK)
        psd_device_close(out->device);
    return status;
}

psd_status psd_compute_open(struct psd_cli *cli, const struct psd_compute_options *options,
                            struct psd_compute *out)
{
    struct psd_compute compute = {
        .level = (int)options->level,
        .stages = (const char *const *)options->stages,
    };

    if (options->gpu && *options->gpu)
        return psd_fail(PSD_ENOSUP, "there is no GPU that this build can use; without -gpu it "
                                    "computes on the CPU");
    if (options->max_bad && psd_bad_parse(options->max_bad, &compute.max_bad) != PSD_OK)
        return psd_cli_misuse(cli, "--max-bad: %s", psd_error());
    psd_status status =
        psd_plugins_load_all((const char *const *)options->plugins, &compute.plugins);
    if (status == PSD_OK)
        status = open_device(options, &compute);
    if (status != PSD_OK) {
        psd_plugins_destroy(compute.plugins);
        return status;
    }
    *out = compute;
    return PSD_OK;
}

void psd_compute_close(struct psd_compute *compute)
{
    psd_ops_close(compute->ops);
    psd_device_close(compute->device);
    psd_plugins_destroy(compute->plugins);
}

/* --- nets ------------------------------------------------------------------------------------- */

psd_status psd_compute_net(struct psd_cli *cli, const struct psd_compute *compute,
                           struct psd_document *document, Caffe__Phase phase, struct psd_net **out)
{
    struct psd_net_options build = {
        .document = document,
        .phase = phase,
        .level = compute->level,
        .stages = compute->stages,
        .ops = compute->ops,
        .device = compute->device,
        .log = cli->log,
        .max_bad = compute->max_bad,
        .plugins = compute->plugins,
        .all_gradients = compute->all_gradients,
    };

    return psd_net_create(&build, out);
}

struct psd_solver_options psd_compute_solver(struct psd_cli *cli, const struct psd_compute *compute,
                                             struct psd_document *document)
{
    return (struct psd_solver_options){
        .document = document,
        .device = compute->device,
        .ops = compute->ops,
        .log = cli->log,
        .max_bad = compute->max_bad,
        .plugins = compute->plugins,
        .level = compute->level,
        .stages = compute->stages,
    };
}

psd_status psd_compute_load(struct psd_net *net, char *const *files)
{
    for (size_t i = 0; files && files[i]; i++)
        PSD_TRY(psd_net_load_file(net, files[i]));
    return PSD_OK;
}
