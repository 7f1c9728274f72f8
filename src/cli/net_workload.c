/* net_workload.c - layers, shapes and costs, read off a net that is built. */
#include "cli/net_workload.h"
#include "base/alloc.h"
#include "cli/share.h"
#include "cli/sketch.h"
#include "comm/workload_file.h"

#include <string.h>

static bool is_transposed(const struct psd_layer *layer)
{
    return layer->param->inner_product_param && layer->param->inner_product_param->transpose;
}

/* Whether the layer gives the gradient of its first parameter as a row of u and of v a sample. */
static bool has_factors(const struct psd_layer *layer, size_t batch)
{
    const struct psd_param *weights = layer->params[0];
    size_t outputs = weights->blob.shape.dim[is_transposed(layer) ? 1 : 0];

    return layer->kind->gives_factors && !layer->varies && weights->uses == 1 &&
           layer->top[0]->count == batch * outputs;
}

static psd_status add_param(struct psd_workload *workload, const struct psd_layer *layer, size_t i)
{
    const struct psd_param *param = layer->params[i];
    const struct psd_shape *shape = &param->blob.shape;
    size_t rows = shape->axes > 1 ? shape->dim[0] : 1;
    bool factors = has_factors(layer, workload->batch);

    PSD_TRY(psd_workload_add_param(workload, param->name, rows, param->blob.count / rows));
    struct psd_workload_param *added = &workload->params[workload->n_params - 1];
    added->factors = factors && i == 0;
    /* Of transposed weights the bias comes from v. */
    if (factors && i == 1 && layer->params[0]->learns && !is_transposed(layer))
        added->bias_of = (int)workload->n_params - 2;
    return PSD_OK;
}

static psd_status add_layer(struct psd_workload *workload, const struct psd_layer *layer)
{
    double macs = layer->kind->macs ? layer->kind->macs(layer) : 0;

    PSD_TRY(psd_workload_add_layer(workload, layer->name, macs / (double)workload->batch));
    for (size_t i = 0; i < layer->n_params; i++) {
        const struct psd_param *param = layer->params[i];
        bool ours = param->layer == layer->index && param->index == i;
        if (ours && param->learns)
            PSD_TRY(add_param(workload, layer, i));
    }
    return PSD_OK;
}

psd_status psd_net_workload_create(const struct psd_net *net, struct psd_workload **out)
{
    struct psd_workload *workload = NULL;
    const char *name = net->param->name ? net->param->name : "";

    PSD_TRY(psd_workload_create(name, psd_net_samples(net), &workload));
    for (size_t i = 0; i < net->n_layers; i++) {
        psd_status status = add_layer(workload, &net->layers[i]);
        if (status != PSD_OK) {
            psd_workload_destroy(workload);
            return status;
        }
    }
    *out = workload;
    return PSD_OK;
}

/* --- what --model means ----------------------------------------------------------------------- */

static psd_status build(struct psd_cli *cli, const struct psd_sketch_options *wanted,
                        struct psd_workload **out)
{
    struct psd_sketch sketch;

    PSD_TRY(psd_sketch_open(cli, wanted, &sketch));
    psd_status status = psd_net_workload_create(sketch.net, out);
    psd_sketch_close(&sketch);
    return status;
}

static bool is_description(const char *path)
{
    const char *ending = strrchr(path, '.');

    return ending && strcmp(ending, ".txt") == 0;
}

psd_status psd_net_workload_read(struct psd_cli *cli, const struct psd_compute_options *options,
                                 const char *model, struct psd_workload **out)
{
    char *path = NULL;

    PSD_TRY(psd_share_find(NULL, "descriptions", model, &path));
    struct psd_sketch_options wanted = {.model = path,
                                        .phase = CAFFE__PHASE__TRAIN,
                                        .level = options->level,
                                        .stages = options->stages,
                                        .plugins = options->plugins};
    psd_status status =
        is_description(path) ? psd_workload_file_read(path, out) : build(cli, &wanted, out);
    psd_alloc_free(path);
    return status;
}
