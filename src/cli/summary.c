/* summary.c - "poseidon summary": what a net is made of, and what it takes.
 *
 *     layer   type          output          parameters  M multiply-adds     MiB
 *     conv1   Convolution   256x96x55x55         34944          105.415   567.3
 *
 * Nothing is computed, no sample is read and no weight is filled, so that any net is looked at in a
 * moment. */
#include "base/alloc.h"
#include "cli/sketch.h"

#include <string.h>

struct summary_options {
    struct psd_sketch_options sketch;
};

static const struct psd_option summary_options[] = {
    PSD_SKETCH_OPTIONS(struct summary_options),
    {0},
};

/* Bytes by what they are for. */
struct memory {
    size_t values, gradients; /* of parameters */
    size_t blobs, diffs;      /* between layers: values, and their gradients */
};

struct row {
    const struct psd_layer *layer; /* borrowed */
    size_t params;
    double macs; /* of a sample */
    struct memory memory;
    char output[200];
};

struct summary {
    struct row *rows; /* owned */
    size_t n_rows;
    struct row all;
    bool *seen; /* owned; blobs that have been counted */
};

/* --- counting ----------------------------------------------------------------------------------- */

static size_t own_data(const struct psd_blob *blob)
{
    return blob->data && !blob->shares_data ? psd_device_size(blob->data) : 0;
}

static size_t own_diff(const struct psd_blob *blob)
{
    return blob->diff && !blob->shares_diff ? psd_device_size(blob->diff) : 0;
}

static void count_memory(struct summary *summary, const struct psd_layer *layer,
                         struct memory *memory)
{
    for (size_t i = 0; i < layer->n_top; i++) {
        if (summary->seen[layer->top_id[i]])
            continue; /* in place */
        summary->seen[layer->top_id[i]] = true;
        memory->blobs += own_data(layer->top[i]);
        memory->diffs += own_diff(layer->top[i]);
    }
    for (size_t i = 0; i < layer->n_params; i++) {
        const struct psd_param *param = layer->params[i];
        if (param->layer != layer->index || param->index != i)
            continue; /* another layer's */
        memory->values += own_data(&param->blob);
        memory->gradients += own_diff(&param->blob);
    }
}

static void add_memory(struct memory *sum, const struct memory *more)
{
    sum->values += more->values;
    sum->gradients += more->gradients;
    sum->blobs += more->blobs;
    sum->diffs += more->diffs;
}

static size_t bytes_of(const struct memory *memory)
{
    return memory->values + memory->gradients + memory->blobs + memory->diffs;
}

/* How many tops from `first` on have one shape. */
static size_t count_alike(const struct psd_layer *layer, size_t first)
{
    size_t next = first + 1;

    while (next < layer->n_top &&
           psd_shape_same(&layer->top[first]->shape, &layer->top[next]->shape))
        next++;
    return next - first;
}

/* "256x3x227x227 256", of each top; of several that are alike "28 of 64x28". */
static void write_output(const struct psd_layer *layer, char *out, size_t room)
{
    size_t used = 0, alike;

    out[0] = 0;
    for (size_t i = 0; i < layer->n_top && used < room; i += alike) {
        char shape[150], many[32] = "";
        alike = count_alike(layer, i);
        if (alike > 1)
            snprintf(many, sizeof many, "%zu of ", alike);
        psd_sketch_shape(&layer->top[i]->shape, shape, sizeof shape);
        used += (size_t)snprintf(out + used, room - used, "%s%s%s", i ? " " : "", many, shape);
    }
}

static void add_row(struct summary *summary, const struct psd_layer *layer)
{
    struct row *row = &summary->rows[summary->n_rows++];
    double samples = (double)psd_net_samples(layer->net);

    row->layer = layer;
    row->params = psd_sketch_params(layer);
    row->macs = layer->kind->macs ? layer->kind->macs(layer) / samples : 0;
    count_memory(summary, layer, &row->memory);
    write_output(layer, row->output, sizeof row->output);
    summary->all.params += row->params;
    summary->all.macs += row->macs;
}

/* What a split takes belongs to the layer before it, whose top it is. */
static psd_status summarize(const struct psd_net *net, struct summary *summary)
{
    summary->rows = psd_alloc_zero(net->n_layers, sizeof *summary->rows);
    summary->seen = psd_alloc_zero(net->n_blobs, sizeof *summary->seen);
    if (!summary->rows || !summary->seen)
        return PSD_ENOMEM;
    for (size_t i = 0; i < net->n_layers; i++) {
        const struct psd_layer *layer = &net->layers[i];
        if (psd_sketch_is_split(layer) && summary->n_rows)
            count_memory(summary, layer, &summary->rows[summary->n_rows - 1].memory);
        else
            add_row(summary, layer);
    }
    for (size_t i = 0; i < summary->n_rows; i++)
        add_memory(&summary->all.memory, &summary->rows[i].memory);
    return PSD_OK;
}

/* --- showing ------------------------------------------------------------------------------------ */

static double mib(size_t bytes)
{
    return (double)bytes / (1 << 20);
}

static int wider(int width, const char *text)
{
    int length = (int)strlen(text);

    return length > width ? length : width;
}

static void show_rows(const struct summary *summary, FILE *out)
{
    int name = wider(0, "layer"), type = wider(0, "type"), output = wider(0, "output");

    for (size_t i = 0; i < summary->n_rows; i++) {
        const struct row *row = &summary->rows[i];
        name = wider(name, row->layer->name);
        type = wider(type, psd_stand_in_type(row->layer->param));
        output = wider(output, row->output);
    }
    fprintf(out, "%-*s  %-*s  %-*s  %10s  %15s  %9s\n", name, "layer", type, "type", output,
            "output", "parameters", "M multiply-adds", "MiB");
    for (size_t i = 0; i < summary->n_rows; i++) {
        const struct row *row = &summary->rows[i];
        fprintf(out, "%-*s  %-*s  %-*s  %10zu  %15.3f  %9.2f\n", name, row->layer->name, type,
                psd_stand_in_type(row->layer->param), output, row->output, row->params,
                row->macs / 1e6, mib(bytes_of(&row->memory)));
    }
}

static void show_totals(const struct summary *summary, const struct psd_net *net, FILE *out)
{
    const struct memory *memory = &summary->all.memory;
    size_t samples = psd_net_samples(net);

    fprintf(out, "\n%s: %zu layers, phase %s, batch %zu\n",
            net->param->name && *net->param->name ? net->param->name : "net", summary->n_rows,
            psd_compute_phases[net->phase], samples);
    fprintf(out, "multiply-adds: %.0f for a sample, %.0f for a batch, forward\n", summary->all.macs,
            summary->all.macs * (double)samples);
    fprintf(out,
            "memory: %.2f MiB: parameters %.2f and their gradients %.2f, blobs %.2f and their "
            "gradients %.2f\n",
            mib(bytes_of(memory)), mib(memory->values), mib(memory->gradients), mib(memory->blobs),
            mib(memory->diffs));
    fprintf(out, "total parameters: %zu\n", summary->all.params);
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct summary_options *options = opaque;
    struct summary summary = {.rows = NULL};
    struct psd_sketch sketch;

    (void)argc, (void)argv;
    PSD_TRY(psd_sketch_open(cli, &options->sketch, &sketch));
    psd_status status = summarize(sketch.net, &summary);
    if (status == PSD_OK) {
        show_rows(&summary, cli->out);
        show_totals(&summary, sketch.net, cli->out);
    }
    psd_alloc_free(summary.rows);
    psd_alloc_free(summary.seen);
    psd_sketch_close(&sketch);
    return status;
}

const struct psd_command psd_command_summary = {
    .name = "summary",
    .summary = "shows the layers of a net: shapes, parameters, multiply-adds, memory",
    .synopsis = "",
    .description =
        "Builds a net without its samples and weights, and shows for each layer the shapes of its "
        "tops, the learnable parameters that it is the first to use, its multiply-adds for a "
        "sample in the forward pass, and the memory of its tops and parameters with their "
        "gradients.\n\n"
        "The last line counts the learnable parameters: shared ones once, statistics of BatchNorm "
        "layers not. A data layer whose database is not there has the shape that crop_size, "
        "mean_value and batch_size tell, or --input-shape says. What the solver keeps, as much as "
        "the parameters for momentum, comes on top.",
    .options = summary_options,
    .options_size = sizeof(struct summary_options),
    .run = run,
};
