/* engine_open.c - from the name of a file to a net or a solver that can run. */
#include "base/alloc.h"
#include "base/thread.h"
#include "engine/engine_state.h"
#include "engine/plugins.h"
#include "proto/upgrade.h"

#include <string.h>

static void tell(void *context, const char *line, size_t length)
{
    const struct psd_engine *engine = context;
    char text[PSD_LOG_LONGEST];

    memcpy(text, line, length - 1);
    text[length - 1] = '\0';
    engine->tell(engine->context, text);
}

static psd_status open_device(const struct psd_engine_options *options, struct psd_engine *engine)
{
    struct psd_ops_options ops = {
        .threads = options->threads ? options->threads : psd_thread_processors(),
        .backend = options->backend,
    };

    PSD_TRY(psd_device_open("host", 0, &engine->device));
    ops.device = engine->device;
    return psd_ops_open(&ops, &engine->ops);
}

static psd_status open_net(const struct psd_engine_options *options, struct psd_log *log,
                           struct psd_engine *engine)
{
    PSD_TRY(psd_upgrade_read(options->model, &caffe__net_parameter__descriptor, log,
                             &engine->document));
    PSD_TRY(psd_net_create(
        &(struct psd_net_options){
            .document = engine->document,
            .phase = options->phase == PSD_ENGINE_TRAIN ? CAFFE__PHASE__TRAIN : CAFFE__PHASE__TEST,
            .level = options->level,
            .stages = options->stages,
            .ops = engine->ops,
            .device = engine->device,
            .seed = options->seed,
            .log = log,
            .all_gradients = options->all_gradients,
            .plugins = engine->plugins,
        },
        &engine->net));
    return options->weights ? psd_engine_load(engine, options->weights) : PSD_OK;
}

static void keep_loss(void *context, int64_t iteration, float loss, size_t samples)
{
    (void)iteration, (void)samples;
    ((struct psd_engine *)context)->loss = loss;
}

static psd_status open_solver(const struct psd_engine_options *options, struct psd_log *log,
                              struct psd_engine *engine)
{
    PSD_TRY(psd_upgrade_read(options->solver, &caffe__solver_parameter__descriptor, log,
                             &engine->document));
    PSD_TRY(psd_solver_create(
        &(struct psd_solver_options){
            .document = engine->document,
            .device = engine->device,
            .ops = engine->ops,
            .log = log,
            .plugins = engine->plugins,
            .level = options->level,
            .stages = options->stages,
            .seed = options->seed,
            .progress = keep_loss,
            .context = engine,
        },
        &engine->solver));
    engine->net = engine->solver->net;
    return psd_solver_load(engine->solver, options->weights);
}

static psd_status open(const struct psd_engine_options *options, struct psd_engine *engine)
{
    struct psd_log *log = engine->tell ? &engine->log : NULL;

    PSD_TRY(psd_plugins_load_all(options->plugins, &engine->plugins));
    PSD_TRY(open_device(options, engine));
    return options->solver ? open_solver(options, log, engine) : open_net(options, log, engine);
}

psd_status psd_engine_open(const struct psd_engine_options *options, struct psd_engine **out)
{
    if (!options->model == !options->solver)
        return psd_fail(PSD_EINVAL, "an engine is opened with a model or a solver, one of the two");
    struct psd_engine *engine = psd_alloc_zero(1, sizeof *engine);
    if (!engine)
        return PSD_ENOMEM;
    engine->tell = options->tell;
    engine->context = options->context;
    psd_log_init(&engine->log, PSD_LOG_INFO, PSD_LOG_NO_RANK, tell, engine);
    psd_status status = open(options, engine);
    if (status != PSD_OK) {
        psd_engine_close(engine);
        return status;
    }
    *out = engine;
    return PSD_OK;
}

void psd_engine_close(struct psd_engine *engine)
{
    if (!engine)
        return;
    if (engine->solver)
        psd_solver_destroy(engine->solver);
    else
        psd_net_destroy(engine->net);
    psd_document_destroy(engine->document);
    psd_ops_close(engine->ops);
    psd_device_close(engine->device);
    psd_plugins_destroy(engine->plugins);
    psd_log_fini(&engine->log);
    psd_alloc_free(engine);
}
