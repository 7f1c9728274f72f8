/* engine.c - poseidon/engine.h: an engine's net, its arrays, and its training. */
#include "base/alloc.h"
#include "engine/engine_state.h"
#include "engine/layers/memory_data.h"

#include <string.h>

/* --- what is in it ------------------------------------------------------------------------------- */

size_t psd_engine_layers(const struct psd_engine *engine)
{
    return engine->net->n_layers;
}

const char *psd_engine_layer_name(const struct psd_engine *engine, size_t layer)
{
    return layer < engine->net->n_layers ? engine->net->layers[layer].name : NULL;
}

const char *psd_engine_layer_type(const struct psd_engine *engine, size_t layer)
{
    return layer < engine->net->n_layers ? engine->net->layers[layer].kind->type : NULL;
}

size_t psd_engine_blobs(const struct psd_engine *engine)
{
    return engine->net->n_blobs;
}

size_t psd_engine_params(const struct psd_engine *engine)
{
    return engine->net->n_params;
}

static struct psd_engine_array array_of(const char *name, const struct psd_blob *blob)
{
    return (struct psd_engine_array){.name = name,
                                     .axes = blob->shape.axes,
                                     .dim = blob->shape.dim,
                                     .count = blob->count,
                                     .values = psd_blob_values(blob),
                                     .gradient = psd_blob_gradient(blob)};
}

static psd_status no_such(const char *what, size_t i, size_t count)
{
    return psd_fail(PSD_EINVAL, "there is no %s %zu: the net has %zu of them", what, i, count);
}

psd_status psd_engine_blob_at(const struct psd_engine *engine, size_t i,
                              struct psd_engine_array *out)
{
    const struct psd_net *net = engine->net;

    if (i >= net->n_blobs)
        return no_such("blob", i, net->n_blobs);
    *out = array_of(net->blob_names[i], &net->blobs[i]);
    return PSD_OK;
}

psd_status psd_engine_param_at(const struct psd_engine *engine, size_t i,
                               struct psd_engine_array *out)
{
    const struct psd_net *net = engine->net;

    if (i >= net->n_params)
        return no_such("parameter", i, net->n_params);
    *out = array_of(net->params[i]->name, &net->params[i]->blob);
    return PSD_OK;
}

/* Of several blobs of one name an input's is the one that is filled; of others the last has the values
 * and the first the gradient. */
psd_status psd_engine_find(const struct psd_engine *engine, const char *name,
                           struct psd_engine_array *out)
{
    struct psd_blob *first = NULL, *last = NULL;

    PSD_TRY(psd_net_find(engine->net, name, PSD_NET_FIRST, &first));
    PSD_TRY(psd_net_find(engine->net, name, PSD_NET_LAST, &last));
    const struct psd_layer *maker = psd_net_maker(engine->net, first);
    bool fed = maker && maker->kind == &psd_layer_input;
    *out = array_of(name, fed ? first : last);
    out->gradient = psd_blob_gradient(first);
    return PSD_OK;
}

/* --- feeding it ---------------------------------------------------------------------------------- */

psd_status psd_engine_reshape(struct psd_engine *engine, const char *input, const size_t *dim,
                              size_t axes)
{
    struct psd_shape shape = {.axes = axes};
    struct psd_blob *blob = NULL;

    PSD_TRY(psd_net_find(engine->net, input, PSD_NET_FIRST, &blob));
    const struct psd_layer *maker = psd_net_maker(engine->net, blob);
    if (!maker || maker->kind != &psd_layer_input)
        return psd_fail(PSD_EINVAL,
                        "\"%s\" is not the top of an Input layer, and has the shape that its layer "
                        "gives it",
                        input);
    if (axes > PSD_BLOB_AXES)
        return psd_fail(PSD_EINVAL, "a shape has at most %d axes, not %zu", PSD_BLOB_AXES, axes);
    memcpy(shape.dim, dim, axes * sizeof *dim);
    PSD_TRY(psd_blob_reshape(blob, &shape));
    return psd_net_reshape(engine->net);
}

psd_status psd_engine_feed(struct psd_engine *engine, const char *layer, const float *data,
                           const float *labels, size_t n)
{
    struct psd_layer *found = psd_net_layer(engine->net, layer);

    if (!found)
        return psd_fail(PSD_EINVAL, "there is no layer \"%s\"", layer);
    return psd_memory_data_set(found, data, labels, n);
}

/* --- running it ---------------------------------------------------------------------------------- */

psd_status psd_engine_forward(struct psd_engine *engine, float *loss)
{
    return psd_net_forward(engine->net, loss);
}

psd_status psd_engine_backward(struct psd_engine *engine)
{
    return psd_net_backward(engine->net, true);
}

psd_status psd_engine_load(struct psd_engine *engine, const char *files)
{
    if (engine->solver)
        return psd_solver_load(engine->solver, files);
    while (*files) {
        size_t length = strcspn(files, ",");
        char *file = psd_alloc_text("%.*s", (int)length, files);
        psd_status status = file ? psd_net_load_file(engine->net, file) : PSD_ENOMEM;
        psd_alloc_free(file);
        PSD_TRY(status);
        files += length + (files[length] == ',');
    }
    return PSD_OK;
}

psd_status psd_engine_save(const struct psd_engine *engine, const char *file)
{
    return psd_net_save_file(engine->net, file);
}

/* --- training it --------------------------------------------------------------------------------- */

static psd_status need_solver(const struct psd_engine *engine)
{
    return engine->solver ? PSD_OK
                          : psd_fail(PSD_EINVAL, "this engine was opened with a model; training "
                                                 "needs one that is opened with a solver");
}

psd_status psd_engine_step(struct psd_engine *engine, int64_t iterations, float *loss)
{
    PSD_TRY(need_solver(engine));
    PSD_TRY(psd_solver_step(engine->solver, iterations));
    if (loss)
        *loss = engine->loss;
    return PSD_OK;
}

int64_t psd_engine_iteration(const struct psd_engine *engine)
{
    return engine->solver ? engine->solver->iteration : 0;
}

psd_status psd_engine_test(struct psd_engine *engine)
{
    PSD_TRY(need_solver(engine));
    return psd_solver_test(engine->solver);
}

psd_status psd_engine_snapshot(struct psd_engine *engine)
{
    PSD_TRY(need_solver(engine));
    return psd_solver_snapshot(engine->solver);
}

psd_status psd_engine_restore(struct psd_engine *engine, const char *solverstate)
{
    PSD_TRY(need_solver(engine));
    if (engine->solver->started)
        return psd_fail(PSD_EINVAL, "a snapshot is restored before the first step");
    return psd_solver_restore(engine->solver, solverstate);
}
