/* sketch.c - from options to a net of shapes. */
#include "cli/sketch.h"
#include "proto/upgrade.h"

#include <stdlib.h>
#include <string.h>

bool psd_sketch_read_shape(const char *text, struct psd_shape *out)
{
    struct psd_shape shape = {0};

    while (shape.axes < PSD_BLOB_AXES - 1) {
        char *end = NULL;
        unsigned long dim = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
        if (!dim || dim > INT32_MAX)
            return false;
        shape.dim[shape.axes++] = dim;
        if (!*end) {
            *out = shape;
            return true;
        }
        if (*end != 'x' && *end != ',')
            return false;
        text = end + 1;
    }
    return false;
}

const char *psd_sketch_shape(const struct psd_shape *shape, char *out, size_t room)
{
    size_t used = 0;

    snprintf(out, room, "1");
    for (size_t i = 0; i < shape->axes && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%zu", i ? "x" : "", shape->dim[i]);
    return out;
}

static psd_status read_stand_in(struct psd_cli *cli, const struct psd_sketch_options *options,
                                struct psd_stand_in *out)
{
    out->batch = (size_t)options->batch;
    if (options->input_shape && !psd_sketch_read_shape(options->input_shape, &out->sample))
        return psd_cli_misuse(cli, "--input-shape: \"%s\" is no shape such as 3x227x227",
                              options->input_shape);
    return PSD_OK;
}

static psd_status build(struct psd_cli *cli, const struct psd_sketch_options *options,
                        const struct psd_stand_in *stand_in, struct psd_sketch *sketch)
{
    PSD_TRY(psd_upgrade_read(options->model, &caffe__net_parameter__descriptor, cli->log,
                             &sketch->document));
    struct psd_net_options net = {
        .document = sketch->document,
        .phase = options->phase,
        .level = sketch->compute.level,
        .stages = sketch->compute.stages,
        .ops = sketch->compute.ops,
        .device = sketch->compute.device,
        .log = cli->log,
        .plugins = sketch->compute.plugins,
        .stand_in = stand_in,
        .sketch = true,
    };
    return psd_net_create(&net, &sketch->net);
}

psd_status psd_sketch_open(struct psd_cli *cli, const struct psd_sketch_options *options,
                           struct psd_sketch *out)
{
    struct psd_compute_options compute = {.threads = 1,
                                          .level = options->level,
                                          .stages = options->stages,
                                          .plugins = options->plugins};
    struct psd_sketch sketch = {.document = NULL};
    struct psd_stand_in stand_in = {0};

    if (!options->model)
        return psd_cli_misuse(cli, "a net is needed: --model FILE");
    PSD_TRY(read_stand_in(cli, options, &stand_in));
    PSD_TRY(psd_compute_open(cli, &compute, &sketch.compute));
    psd_status status = build(cli, options, &stand_in, &sketch);
    if (status == PSD_OK)
        *out = sketch;
    else
        psd_sketch_close(&sketch);
    return status;
}

void psd_sketch_close(struct psd_sketch *sketch)
{
    psd_net_destroy(sketch->net);
    psd_document_destroy(sketch->document);
    psd_compute_close(&sketch->compute);
}

/* --- a look at layers --------------------------------------------------------------------------- */

static bool is_measured(const struct psd_layer *layer, const struct psd_param *param)
{
    for (size_t i = 0; i < layer->n_carried; i++) {
        if (layer->carried[i].blob == &param->blob)
            return true;
    }
    return false;
}

size_t psd_sketch_params(const struct psd_layer *layer)
{
    size_t count = 0;

    for (size_t i = 0; i < layer->n_params; i++) {
        const struct psd_param *param = layer->params[i];
        bool first = param->layer == layer->index && param->index == i;
        if (first && !is_measured(layer, param))
            count += param->blob.count;
    }
    return count;
}

bool psd_sketch_is_split(const struct psd_layer *layer)
{
    const struct psd_position at = psd_document_where(layer->net->document, &layer->param->base, 0);

    return layer->kind == &psd_layer_split && !at.line;
}
