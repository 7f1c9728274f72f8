/* hdf5_output.c - HDF5Output: what two bottoms are in each pass becomes rows of an HDF5 file.
 *
 *     pass 0, 1, 2 ...  bottoms --> file_name: "data" [samples][c][h][w], "label" [samples][c][h][w]
 *
 * Rows are added in the forward, and the file gets its name when the net ends; until then it is
 * file_name.tmp-N. Shapes get four axes at least, as in Caffe, where the second pass aborts.
 *
 * Of several workers each has a file of its own, file_name_0, file_name_1 and so on, wherever it is
 * computed. Nets that share out the batches of a test, one of each process or more, have theirs, too,
 * numbered by the place of the first batch that they get among those of a round. */
#include "base/alloc.h"
#include "data/hdf5_stream.h"
#include "engine/net.h"

#include <string.h>

enum { FILE_NAME = 1, CAFFES_AXES = 4 }; /* a field of HDF5OutputParameter */

struct output {
    unsigned worker;
    struct psd_hdf5_stream *stream; /* owned */
};

struct state {
    struct output *outputs; /* owned; those that have rows */
    size_t count;
    struct psd_hdf5_column columns[2]; /* as the files have them */
};

static const Caffe__HDF5OutputParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__HDF5OutputParameter none = CAFFE__HDF5_OUTPUT_PARAMETER__INIT;
    return layer->param->hdf5_output_param ? layer->param->hdf5_output_param : &none;
}

static psd_status setup(struct psd_layer *layer)
{
    const char *name = param_of(layer)->file_name;

    if (name && *name)
        return PSD_OK;
    return psd_layer_fail(layer, &param_of(layer)->base, FILE_NAME, "has no file_name");
}

/* --- shapes ------------------------------------------------------------------------------------- */

static struct psd_hdf5_column column_of(const struct psd_blob *blob, const char *name)
{
    struct psd_hdf5_column column = {.name = name, .axes = blob->shape.axes};

    for (size_t i = 0; i < column.axes; i++)
        column.dim[i] = blob->shape.dim[i];
    for (; column.axes < CAFFES_AXES; column.axes++)
        column.dim[column.axes] = 1;
    return column;
}

static bool same_rows(const struct psd_hdf5_column *a, const struct psd_hdf5_column *b)
{
    return a->axes == b->axes &&
           memcmp(a->dim + 1, b->dim + 1, (a->axes - 1) * sizeof *a->dim) == 0;
}

static psd_status reshape(struct psd_layer *layer)
{
    struct state *state = layer->state;
    struct psd_hdf5_column data = column_of(layer->bottom[0], "data");
    struct psd_hdf5_column label = column_of(layer->bottom[1], "label");
    char a[300], b[300];

    if (data.dim[0] != label.dim[0])
        return psd_layer_fail(layer, NULL, 0, "needs as many rows of both, but has %s and %s",
                              psd_layer_bottom_text(layer, 0, a, sizeof a),
                              psd_layer_bottom_text(layer, 1, b, sizeof b));
    if (state->count &&
        !(same_rows(&data, &state->columns[0]) && same_rows(&label, &state->columns[1])))
        return psd_layer_fail(layer, NULL, 0,
                              "cannot write rows of another shape to a file: %s, %s",
                              psd_layer_bottom_text(layer, 0, a, sizeof a),
                              psd_layer_bottom_text(layer, 1, b, sizeof b));
    state->columns[0] = data;
    state->columns[1] = label;
    return PSD_OK;
}

/* --- files -------------------------------------------------------------------------------------- */

/* The file of the pass; the caller owns it. */
static char *name_of(const struct psd_layer *layer)
{
    const struct psd_net_position *pass = &layer->net->pass;
    const char *name = param_of(layer)->file_name;

    if (pass->of > 1)
        return psd_alloc_text("%s_%u", name, psd_net_worker(pass));
    if (pass->stride > 1)
        return psd_alloc_text("%s_%llu", name,
                              (unsigned long long)(pass->iteration % pass->stride));
    return psd_alloc_text("%s", name);
}

static psd_status open_output(struct psd_layer *layer, struct psd_hdf5_stream **out)
{
    struct state *state = layer->state;
    struct output *outputs = psd_alloc_grow(state->outputs, state->count, sizeof *outputs);

    if (!outputs)
        return PSD_ENOMEM;
    state->outputs = outputs;
    char *name = name_of(layer);
    psd_status status = name ? psd_hdf5_stream_open(name, state->columns, 2, out) : PSD_ENOMEM;
    psd_alloc_free(name);
    if (status == PSD_ECONFIG)
        return psd_layer_fail(layer, &param_of(layer)->base, FILE_NAME, "%s", psd_error());
    if (status == PSD_OK)
        outputs[state->count++] = (struct output){psd_net_worker(&layer->net->pass), *out};
    return status;
}

/* The file of the worker whose pass it is; a new one for its first. */
static psd_status find_output(struct psd_layer *layer, struct psd_hdf5_stream **out)
{
    const struct state *state = layer->state;

    for (size_t i = 0; i < state->count; i++) {
        if (state->outputs[i].worker == psd_net_worker(&layer->net->pass)) {
            *out = state->outputs[i].stream;
            return PSD_OK;
        }
    }
    return open_output(layer, out);
}

static psd_status forward(struct psd_layer *layer)
{
    const float *const values[] = {psd_blob_values(layer->bottom[0]),
                                   psd_blob_values(layer->bottom[1])};
    const struct state *state = layer->state;
    struct psd_hdf5_stream *stream = NULL;

    PSD_TRY(find_output(layer, &stream));
    psd_status status = psd_hdf5_stream_add(stream, state->columns[0].dim[0], values);
    if (status != PSD_ECONFIG)
        return status;
    return psd_layer_fail(layer, &param_of(layer)->base, FILE_NAME, "%s", psd_error());
}

/* What is written does not learn. */
static psd_status backward(struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_bottom; i++) {
        if (layer->propagates[i])
            memset(psd_blob_gradient(layer->bottom[i]), 0, layer->bottom[i]->count * sizeof(float));
    }
    return PSD_OK;
}

static void drop(struct psd_layer *layer)
{
    struct state *state = layer->state;

    for (size_t i = 0; i < state->count; i++) {
        if (psd_hdf5_stream_commit(state->outputs[i].stream) != PSD_OK)
            psd_log_warning(layer->net->log, "layer %s: %s", layer->name, psd_error());
    }
    psd_alloc_free(state->outputs);
}

const struct psd_layer_kind psd_layer_hdf5_output = {
    .type = "HDF5Output",
    .about = "writes its bottoms to an HDF5 file",
    .reads = "hdf5_output_param",
    .bottoms = 2,
    .most_bottoms = 2,
    .tops = 0,
    .most_tops = 0,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
    .drop = drop,
};
