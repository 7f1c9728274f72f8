#include "train/enrolment.h"
#include "base/alloc.h"
#include "train/estimate.h"

#include <stdio.h>
#include <string.h>

/* --- what a parameter is ------------------------------------------------------------------------ */

static bool is_statistic(const struct psd_net *net, const struct psd_param *param)
{
    const struct psd_layer *layer = &net->layers[param->layer];

    for (size_t i = 0; i < layer->n_carried; i++) {
        if (layer->carried[i].kind == PSD_CARRY_AVERAGED && layer->carried[i].blob == &param->blob)
            return true;
    }
    return false;
}

/* Whether its gradient can be told by factors that have a row for each sample. */
static bool gives_factors(const struct psd_net *net, const struct psd_param *param)
{
    const struct psd_layer *layer = &net->layers[param->layer];
    const struct psd_shape *shape = &param->blob.shape;

    if (!layer->kind->gives_factors || layer->varies || param->index != 0 || param->uses != 1)
        return false;
    size_t outputs = layer->top[0]->shape.dim[layer->top[0]->shape.axes - 1];
    return shape->axes == 2 && layer->top[0]->count == outputs * psd_net_samples(net);
}

/* The bias of an inner product is the sum of the rows of u, where u belongs to the outputs. */
static bool is_bias(const struct psd_net *net, const struct psd_param *param)
{
    const struct psd_layer *layer = &net->layers[param->layer];
    const Caffe__InnerProductParameter *p = layer->param->inner_product_param;

    return param->index == 1 && param->uses == 1 && layer->params[0]->learns &&
           gives_factors(net, layer->params[0]) && !(p && p->transpose);
}

static bool changes(const struct psd_net *net, const struct psd_param *param)
{
    return param->learns || is_statistic(net, param);
}

/* --- how long it is computed with ---------------------------------------------------------------- */

/* The first of its layer that takes a place has the seconds of this layer, and of those up to the next
 * with one. */
static void set_seconds(const struct psd_enrolment *enrolment, const struct psd_net *net, size_t i,
                        struct psd_comm_param *to)
{
    size_t ours = net->params[i]->layer, next = i;

    for (size_t k = i; k-- > 0 && net->params[k]->layer == ours;) {
        if (enrolment->ids[k] >= 0)
            return;
    }
    while (next < net->n_params &&
           (net->params[next]->layer == ours || !changes(net, net->params[next])))
        next++;
    psd_estimate_seconds(net, ours, next < net->n_params ? net->params[next]->layer : net->n_layers,
                         enrolment->flops / enrolment->passes, to);
}

/* --- what is wished for it ---------------------------------------------------------------------- */

static bool means(const struct psd_ensemble_wish *wish, const struct psd_net *net,
                  const struct psd_param *param)
{
    return strcmp(wish->name, param->name) == 0 ||
           (param->index == 0 && strcmp(wish->name, net->layers[param->layer].name) == 0);
}

static void apply_wishes(const struct psd_ensemble_options *options, const struct psd_net *net,
                         const struct psd_param *param, struct psd_comm_param *to)
{
    for (size_t i = 0; i < options->n_wishes; i++) {
        const struct psd_ensemble_wish *wish = &options->wishes[i];
        if (!means(wish, net, param))
            continue;
        to->form = wish->form ? wish->form : to->form;
        to->route = wish->route ? wish->route : to->route;
    }
}

psd_status psd_enrolment_check(const struct psd_ensemble_wish *wishes, size_t n_wishes,
                               const struct psd_net *net)
{
    for (size_t i = 0; i < n_wishes; i++) {
        bool known = false;
        for (size_t p = 0; p < net->n_params && !known; p++)
            known = means(&wishes[i], net, net->params[p]);
        if (!known)
            return psd_fail(PSD_ECONFIG,
                            "a form or route is asked for %s, and the net has no such layer or "
                            "parameter",
                            wishes[i].name);
    }
    return PSD_OK;
}

/* --- taking places ------------------------------------------------------------------------------ */

/* comm.h has 0 for what is left out, and a negative number for zero. */
static float multiplier(float value)
{
    return value == 0 ? -1 : value;
}

/* A statistic is trained on copies; the common one gets a place of its own. */
static psd_status keep_common(struct psd_enrolment *enrolment, const struct psd_net *net, size_t i)
{
    struct psd_blob *common = &enrolment->common[i];
    const struct psd_blob *blob = &net->params[i]->blob;

    psd_blob_init(common, net->device);
    PSD_TRY(psd_blob_reshape(common, &blob->shape));
    memcpy(psd_blob_values(common), psd_blob_values(blob), blob->count * sizeof(float));
    return PSD_OK;
}

static psd_status add(struct psd_enrolment *enrolment, struct psd_comm *comm,
                      const struct psd_solver *solver, const struct psd_ensemble_options *options,
                      size_t i)
{
    const struct psd_net *net = solver->net;
    const struct psd_param *param = net->params[i];
    const struct psd_shape *shape = &param->blob.shape;
    size_t rows = shape->axes > 1 ? shape->dim[0] : 1;
    struct psd_comm_param to = {
        .name = param->name,
        .rows = rows,
        .cols = param->blob.count / rows,
        .value = psd_blob_values(&param->blob),
        .rate = multiplier(param->rate),
        .decay = multiplier(param->decay),
        .averaged = is_statistic(net, param),
        .factors = gives_factors(net, param),
    };

    if (!changes(net, param))
        return PSD_OK;
    if (to.averaged) {
        PSD_TRY(keep_common(enrolment, net, i));
        to.value = psd_blob_values(&enrolment->common[i]);
    }
    if (is_bias(net, param))
        to.bias_of = 1 + enrolment->ids[net->layers[param->layer].params[0]->number];
    else if (solver->forms_known)
        to.form = param->goes_as_factors ? PSD_FORM_FACTORED : PSD_FORM_DENSE;
    apply_wishes(options, net, param, &to);
    set_seconds(enrolment, net, i, &to);
    return psd_comm_add(comm, &to, &enrolment->ids[i]);
}

psd_status psd_enrolment_init(struct psd_enrolment *enrolment, struct psd_comm *comm,
                              const struct psd_solver *solver,
                              const struct psd_ensemble_options *options)
{
    size_t n = solver->net->n_params;
    unsigned hosted = 0;

    psd_comm_hosted(comm, &hosted);
    PSD_TRY(psd_estimate_flops(options, hosted, &enrolment->flops));
    enrolment->passes = (unsigned)solver->param->iter_size;
    enrolment->ids = psd_alloc_zero(n, sizeof *enrolment->ids);
    enrolment->ways = psd_alloc_zero(n, sizeof *enrolment->ways);
    enrolment->common = psd_alloc_zero(n, sizeof *enrolment->common);
    if (!enrolment->ids || !enrolment->ways || !enrolment->common)
        return PSD_ENOMEM;
    enrolment->n_params = n;
    for (size_t i = 0; i < n; i++)
        enrolment->ids[i] = -1;
    PSD_TRY(psd_enrolment_check(options->wishes, options->n_wishes, solver->net));
    for (size_t i = 0; i < n; i++)
        PSD_TRY(add(enrolment, comm, solver, options, i));
    return PSD_OK;
}

void psd_enrolment_fini(struct psd_enrolment *enrolment)
{
    for (size_t i = 0; i < enrolment->n_params; i++) {
        if (enrolment->common[i].count)
            psd_blob_fini(&enrolment->common[i]);
    }
    psd_alloc_free(enrolment->common);
    psd_alloc_free(enrolment->ways);
    psd_alloc_free(enrolment->ids);
}

/* --- how they go -------------------------------------------------------------------------------- */

static enum psd_enrolled way_of(const struct psd_enrolment *enrolment, const struct psd_comm *comm,
                                const struct psd_net *net, size_t i)
{
    if (enrolment->ids[i] < 0)
        return PSD_ENROLLED_NOT;
    if (enrolment->common[i].count)
        return PSD_ENROLLED_AVERAGED;
    if (psd_comm_form(comm, enrolment->ids[i]) != PSD_FORM_FACTORED)
        return PSD_ENROLLED_DENSE;
    return is_bias(net, net->params[i]) ? PSD_ENROLLED_FOLLOWS : PSD_ENROLLED_FACTORED;
}

void psd_enrolment_learn(struct psd_enrolment *enrolment, const struct psd_comm *comm,
                         const struct psd_net *net)
{
    for (size_t i = 0; i < enrolment->n_params; i++) {
        enrolment->ways[i] = way_of(enrolment, comm, net, i);
        net->params[i]->goes_as_factors = enrolment->ways[i] == PSD_ENROLLED_FACTORED;
    }
}

void psd_enrolment_show(const struct psd_enrolment *enrolment, const struct psd_net *net)
{
    for (size_t i = 0; i < enrolment->n_params; i++) {
        if (enrolment->ways[i] == PSD_ENROLLED_AVERAGED)
            psd_blob_share_data(&net->params[i]->blob, &enrolment->common[i]);
    }
}

void psd_enrolment_leave(struct psd_enrolment *enrolment, const struct psd_net *net)
{
    psd_enrolment_show(enrolment, net);
    for (size_t i = 0; i < enrolment->n_params; i++) {
        struct psd_blob *blob = &net->params[i]->blob;
        if (enrolment->ways[i] == PSD_ENROLLED_AVERAGED) {
            blob->shares_data = false;
            enrolment->common[i].shares_data = true;
        }
        if (blob->shares_diff) {
            blob->diff = NULL;
            blob->shares_diff = false;
        }
    }
}
