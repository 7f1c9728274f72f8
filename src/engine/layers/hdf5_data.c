/* hdf5_data.c - HDF5Data: rows of datasets in HDF5 files, one dataset for each top, of its name.
 *
 *     source: a list of files --> rows of all of them (data/hdf5_rows.h) --> tops
 *
 * Which rows a forward gets follows from iteration and worker alone, as in a Data layer: in iteration t
 * a worker whose share of the global batch of G starts at `offset` gets rows tG + offset and on, in
 * the order of the files or, with shuffle, in one that the seed decides. Files are read in the forward. */
#include "base/alloc.h"
#include "base/path.h"
#include "data/hdf5_rows.h"
#include "engine/net.h"
#include "engine/share.h"

#include <string.h>

enum { SOURCE = 1, BATCH_SIZE = 2 }; /* fields of HDF5DataParameter */

struct state {
    struct psd_hdf5_rows *rows; /* owned */
    float **out;                /* owned; where the rows of each top go in this pass */
    uint64_t seed;              /* that the rows have */
};

static const Caffe__HDF5DataParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__HDF5DataParameter none = CAFFE__HDF5_DATA_PARAMETER__INIT;
    return layer->param->hdf5_data_param ? layer->param->hdf5_data_param : &none;
}

/* The samples of a pass, and of all workers in an iteration. */
static size_t batch_of(const struct psd_layer *layer)
{
    return layer->net->batch ? layer->net->batch : param_of(layer)->batch_size;
}

static size_t global_of(const struct psd_layer *layer, const struct psd_net_position *position)
{
    unsigned of = position->of ? position->of : 1;

    return position->global_batch ? position->global_batch : batch_of(layer) * of;
}

/* What the data room says gets the layer's place. */
static psd_status with_place(const struct psd_layer *layer, psd_status status)
{
    if (status != PSD_ECONFIG && status != PSD_ENOSUP)
        return status;
    return psd_layer_fail(layer, &param_of(layer)->base, SOURCE, "%s", psd_error());
}

/* --- setup ------------------------------------------------------------------------------------ */

static psd_status open_rows(struct psd_layer *layer, const char *list, const char **names)
{
    struct state *state = layer->state;
    struct psd_hdf5_rows_options options = {
        .list = list,
        .names = names,
        .columns = layer->n_top,
        .shuffle = param_of(layer)->shuffle,
        .seed = layer->net->seed,
        .stream = psd_layer_stream(layer, 0),
    };

    for (size_t i = 0; i < layer->n_top; i++)
        names[i] = layer->param->top[i];
    state->seed = options.seed;
    return with_place(layer, psd_hdf5_rows_open(&options, &state->rows));
}

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__HDF5DataParameter *p = param_of(layer);
    struct state *state = layer->state;
    char *list = NULL;

    if (layer->param->transform_param)
        return psd_layer_fail(layer, &layer->param->transform_param->base, 0,
                              "does not transform what it reads; leave transform_param out");
    if (!p->source)
        return psd_layer_fail(layer, &p->base, SOURCE, "has no source, a list of HDF5 files");
    if (!batch_of(layer))
        return psd_layer_fail(layer, &p->base, BATCH_SIZE, "has no batch_size; 1 is the least");
    state->out = psd_alloc_zero(layer->n_top, sizeof *state->out);
    if (!state->out)
        return PSD_ENOMEM;
    PSD_TRY(with_place(layer, psd_path_find(p->source, layer->net->document->path, &list)));
    const char **names = psd_alloc_zero(layer->n_top, sizeof *names);
    psd_status status = names ? open_rows(layer, list, names) : PSD_ENOMEM;
    psd_alloc_free((void *)names);
    psd_alloc_free(list);
    return status;
}

static psd_status reshape(struct psd_layer *layer)
{
    const struct state *state = layer->state;

    for (size_t i = 0; i < layer->n_top; i++) {
        const struct psd_hdf5_space *space = psd_hdf5_rows_space(state->rows, i);
        struct psd_shape shape = {.axes = space->axes, .dim = {batch_of(layer)}};
        for (size_t k = 1; k < space->axes; k++)
            shape.dim[k] = (size_t)space->dim[k];
        PSD_TRY(psd_layer_shape_top(layer, i, &shape));
    }
    return PSD_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

/* A net computes with one batch. */
static psd_status seek(struct psd_layer *layer)
{
    const struct psd_net_position *position = &layer->net->position;
    size_t batch = batch_of(layer), global = global_of(layer, position);

    for (unsigned i = 0; i < position->n_workers; i++) {
        unsigned worker = position->workers ? position->workers[i] : 0;
        size_t share = psd_share_size(global, position->of, worker);
        if (share != batch)
            return psd_fail(PSD_EINVAL,
                            "layer %s: worker %u of %u has %zu of a global batch of %zu samples, "
                            "but the net's batch is %zu",
                            layer->name, worker, position->of, share, global, batch);
    }
    return PSD_OK;
}

static psd_status forward(struct psd_layer *layer)
{
    const struct psd_net_position *pass = &layer->net->pass;
    struct state *state = layer->state;
    size_t global = global_of(layer, pass);
    uint64_t first = pass->iteration * global +
                     psd_share_offset(global, pass->of ? pass->of : 1, psd_net_worker(pass));

    if (state->seed != layer->net->seed)
        psd_hdf5_rows_reseed(state->rows, layer->net->seed);
    state->seed = layer->net->seed;
    for (size_t i = 0; i < layer->n_top; i++)
        state->out[i] = psd_blob_values(layer->top[i]);
    return with_place(layer, psd_hdf5_rows_read(state->rows, first, batch_of(layer), state->out));
}

static void drop(struct psd_layer *layer)
{
    struct state *state = layer->state;

    psd_hdf5_rows_close(state->rows);
    psd_alloc_free((void *)state->out);
}

const struct psd_layer_kind psd_layer_hdf5_data = {
    .type = "HDF5Data",
    .about = "datasets of HDF5 files, by the names of the tops",
    .reads = "hdf5_data_param",
    .tops = 1,
    .most_tops = PSD_LAYER_ANY,
    .takes_batch = true,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .drop = drop,
    .seek = seek,
};
