/* eval.c - "poseidon eval": runs a net once, on NumPy files.
 *
 *     --set data=x.npy        --> forward -->    --get prob=p.npy
 *     --get-diff data=g.npy   <-- backward <--   --set-diff prob=d.npy
 *
 * For inference, for looking inside a net, and for comparing it with another program's. */
#include "base/alloc.h"
#include "base/npy.h"
#include "cli/compute.h"
#include "proto/caffe.pb-c.h"
#include "proto/field.h"
#include "proto/upgrade.h"

#include <string.h>

struct eval_options {
    struct psd_compute_options compute;
    char *model;
    char **weights, **set, **get, **set_diff, **get_diff;
    Caffe__Phase phase;
    int64_t times;
};

static const struct psd_option eval_options[] = {
    {"model", "FILE", NULL, "the net", PSD_TEXT(struct eval_options, model)},
    {"weights", "FILE,...", NULL,
     "its weights, .caffemodel or .caffemodel.h5 files; default: as the fillers say",
     PSD_LIST(struct eval_options, weights)},
    {"phase", NULL, "TEST", "builds the net for this phase",
     PSD_CHOICE(struct eval_options, phase, psd_compute_phases)},
    {"times", "N", "1", "runs forward N times; what is written is of the last",
     PSD_INT(struct eval_options, times, 1, INT32_MAX)},
    {"set", "NAME=FILE,...", NULL, "gives an input blob or a parameter these values",
     PSD_LIST(struct eval_options, set)},
    {"get", "NAME=FILE,...", NULL, "writes the values of a blob or a parameter",
     PSD_LIST(struct eval_options, get)},
    {"set-diff", "NAME=FILE,...", NULL, "gives an output blob this gradient",
     PSD_LIST(struct eval_options, set_diff)},
    {"get-diff", "NAME=FILE,...", NULL, "writes the gradient of a blob or a parameter",
     PSD_LIST(struct eval_options, get_diff)},
    PSD_COMPUTE_OPTIONS(struct eval_options),
    {0},
};

/* --- what is set ------------------------------------------------------------------------------ */

/* "prob=p.npy", taken apart; for what is set, with the numbers of the file. */
struct item {
    char *name;       /* owned */
    const char *file; /* borrowed from the options */
    struct psd_npy npy;
};

struct items {
    struct item *items; /* owned */
    size_t count;
};

static void drop_items(struct items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        psd_alloc_free(items->items[i].name);
        psd_npy_fini(&items->items[i].npy);
    }
    psd_alloc_free(items->items);
}

static psd_status split_item(struct psd_cli *cli, const char *text, struct item *item)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text || !equals[1])
        return psd_cli_misuse(cli, "\"%s\" is not NAME=FILE, such as data=x.npy", text);
    item->name = psd_alloc_text("%.*s", (int)(equals - text), text);
    item->file = equals + 1;
    return item->name ? PSD_OK : PSD_ENOMEM;
}

/* Takes a list apart and, with `read`, reads its files. What was made is dropped by the caller, also
 * after a failure. */
static psd_status make_items(struct psd_cli *cli, char **texts, bool read, struct items *out)
{
    size_t count = 0;

    while (texts && texts[count])
        count++;
    out->items = psd_alloc_zero(count, sizeof *out->items);
    if (!out->items)
        return PSD_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        out->count = i + 1;
        PSD_TRY(split_item(cli, texts[i], &out->items[i]));
        if (read)
            PSD_TRY(psd_npy_read(out->items[i].file, &out->items[i].npy));
    }
    return PSD_OK;
}

static bool is_output(const struct psd_net *net, const struct psd_blob *blob)
{
    for (size_t i = 0; i < net->n_outputs; i++) {
        if (&net->blobs[net->outputs[i]] == blob)
            return true;
    }
    return false;
}

/* --- before the net is built ------------------------------------------------------------------ */

/* An input takes the shape of its file: each top of the layer then has a shape of its own. */
static psd_status shape_input(struct psd_document *document, Caffe__LayerParameter *layer,
                              size_t top, const struct psd_npy *npy)
{
    Caffe__InputParameter *p = layer->input_param;
    Caffe__BlobShape **shapes = psd_arena_zero(document->arena, layer->n_top * sizeof *shapes);
    ProtobufCMessage *made = NULL;

    if (!shapes)
        return PSD_ENOMEM;
    for (size_t i = 0; i < layer->n_top; i++)
        shapes[i] = p->shape[p->n_shape == 1 ? 0 : i];
    PSD_TRY(psd_field_new_message(document->arena, &caffe__blob_shape__descriptor, &made));
    shapes[top] = (Caffe__BlobShape *)made;
    for (size_t i = 0; i < npy->axes; i++) {
        int64_t dim = (int64_t)npy->dim[i];
        PSD_TRY(
            psd_field_put(document->arena, made, psd_field_named(made->descriptor, "dim"), &dim));
    }
    p->shape = shapes;
    p->n_shape = layer->n_top;
    return PSD_OK;
}

static psd_status shape_inputs(struct psd_document *document, const struct item *item)
{
    Caffe__NetParameter *net = (Caffe__NetParameter *)document->root;

    for (size_t i = 0; i < net->n_layer; i++) {
        Caffe__LayerParameter *layer = net->layer[i];
        const Caffe__InputParameter *p = layer->input_param;
        bool fits = p && (p->n_shape == 1 || p->n_shape == layer->n_top);
        for (size_t k = 0; fits && k < layer->n_top; k++) {
            if (strcmp(layer->top[k], item->name) == 0)
                PSD_TRY(shape_input(document, layer, k, &item->npy));
        }
    }
    return PSD_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

/* What one run is made of. */
struct job {
    const struct eval_options *options;
    struct items set, get, set_diff, get_diff;
    struct psd_document *document; /* owned */
    struct psd_net *net;           /* owned */
};

static psd_status copy_in(const struct item *item, const struct psd_blob *blob, float *to)
{
    char ours[300], theirs[300];
    struct psd_shape shape = {.axes = item->npy.axes};

    memcpy(shape.dim, item->npy.dim, item->npy.axes * sizeof *shape.dim);
    if (!psd_shape_same(&shape, &blob->shape) && item->npy.count != blob->count)
        return psd_fail(PSD_ECONFIG, "%s has the shape %s, but %s has %s", item->file,
                        psd_shape_text(&shape, theirs, sizeof theirs), item->name,
                        psd_shape_text(&blob->shape, ours, sizeof ours));
    memcpy(to, item->npy.values, item->npy.count * sizeof *to);
    return PSD_OK;
}

static psd_status set_values(const struct job *job)
{
    for (size_t i = 0; i < job->set.count; i++) {
        const struct item *item = &job->set.items[i];
        struct psd_blob *blob = NULL;
        PSD_TRY(psd_net_find(job->net, item->name, PSD_NET_FIRST, &blob));
        const struct psd_layer *maker = psd_net_maker(job->net, blob);
        if (maker && maker->kind != &psd_layer_input)
            return psd_fail(PSD_ECONFIG,
                            "\"%s\" cannot be set, since layer %s computes it; tops of Input "
                            "layers and parameters can",
                            item->name, maker->name);
        PSD_TRY(copy_in(item, blob, psd_blob_values(blob)));
    }
    return PSD_OK;
}

static psd_status set_diffs(const struct job *job)
{
    for (size_t i = 0; i < job->set_diff.count; i++) {
        const struct item *item = &job->set_diff.items[i];
        struct psd_blob *blob = NULL;
        PSD_TRY(psd_net_find(job->net, item->name, PSD_NET_LAST, &blob));
        if (!is_output(job->net, blob) || !psd_blob_gradient(blob))
            return psd_fail(PSD_ECONFIG,
                            "the gradient of \"%s\" cannot be set; that of an output can, where "
                            "something before it learns",
                            item->name);
        PSD_TRY(copy_in(item, blob, psd_blob_gradient(blob)));
        psd_net_give_diff(job->net, blob);
    }
    return PSD_OK;
}

static psd_status write_all(const struct job *job, const struct items *items, bool diffs)
{
    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->items[i];
        struct psd_blob *blob = NULL;
        PSD_TRY(psd_net_find(job->net, item->name, diffs ? PSD_NET_FIRST : PSD_NET_LAST, &blob));
        const float *values = diffs ? psd_blob_gradient(blob) : psd_blob_values(blob);
        if (!values)
            return psd_fail(PSD_ECONFIG, "\"%s\" has no gradient: no loss depends on it",
                            item->name);
        PSD_TRY(psd_npy_write(item->file, blob->shape.dim, blob->shape.axes, values));
    }
    return PSD_OK;
}

static psd_status compute(const struct job *job)
{
    float loss = 0;

    for (int64_t i = 0; i < job->options->times; i++) {
        PSD_TRY(set_values(job));
        PSD_TRY(psd_net_forward(job->net, &loss));
    }
    PSD_TRY(write_all(job, &job->get, false));
    if (!job->set_diff.count && !job->get_diff.count)
        return PSD_OK;
    PSD_TRY(set_diffs(job));
    PSD_TRY(psd_net_backward(job->net, true));
    return write_all(job, &job->get_diff, true);
}

static psd_status prepare(struct psd_cli *cli, struct job *job)
{
    const struct eval_options *options = job->options;

    PSD_TRY(make_items(cli, options->set, true, &job->set));
    PSD_TRY(make_items(cli, options->get, false, &job->get));
    PSD_TRY(make_items(cli, options->set_diff, true, &job->set_diff));
    PSD_TRY(make_items(cli, options->get_diff, false, &job->get_diff));
    PSD_TRY(psd_upgrade_read(options->model, &caffe__net_parameter__descriptor, cli->log,
                             &job->document));
    for (size_t i = 0; i < job->set.count; i++)
        PSD_TRY(shape_inputs(job->document, &job->set.items[i]));
    return PSD_OK;
}

static psd_status evaluate(struct psd_cli *cli, const struct psd_compute *on, struct job *job)
{
    PSD_TRY(prepare(cli, job));
    PSD_TRY(psd_compute_net(cli, on, job->document, job->options->phase, &job->net));
    PSD_TRY(psd_compute_load(job->net, job->options->weights));
    return compute(job);
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    struct job job = {.options = opaque};
    struct psd_compute on;

    (void)argc, (void)argv;
    if (!job.options->model)
        return psd_cli_misuse(cli, "a net is needed: --model FILE");
    PSD_TRY(psd_compute_open(cli, &job.options->compute, &on));
    on.all_gradients = job.options->set_diff || job.options->get_diff;
    psd_status status = evaluate(cli, &on, &job);
    psd_net_destroy(job.net);
    psd_document_destroy(job.document);
    drop_items(&job.set);
    drop_items(&job.get);
    drop_items(&job.set_diff);
    drop_items(&job.get_diff);
    psd_compute_close(&on);
    return status;
}

const struct psd_command psd_command_eval = {
    .name = "eval",
    .summary = "runs a net once on NumPy files, forward and backward",
    .synopsis = "",
    .description =
        "Builds the net, gives its inputs the arrays of NumPy files (.npy), runs it and writes "
        "any blob or parameter, or the gradient of one, as NumPy files. A parameter is called "
        "layer[index], such as conv1[0]. Inputs take the shape of their files.\n\n"
        "With --set-diff or --get-diff it runs backward, too. The gradient of an output is what "
        "--set-diff says, or else its loss weight, which is zero for what is no loss. Gradients "
        "reach "
        "all inputs; above a propagate_down: false they are zero, unless the net has "
        "force_backward: true.",
    .options = eval_options,
    .options_size = sizeof(struct eval_options),
    .run = run,
};
