#include "train/twin.h"
#include "base/alloc.h"
#include "engine/carried_file.h"

#include <string.h>

/* --- hooks: on the twin's thread, in the middle of a pass ---------------------------------------- */

/* A worker's copy of a statistic starts from the common one. */
static void copy_statistic(const struct psd_twin *twin, const struct psd_param *param)
{
    const struct psd_blob *common = &twin->enrolment->common[param->number];

    memcpy(psd_blob_values(&param->blob), psd_blob_values(common), common->count * sizeof(float));
}

static psd_status need_value(void *context, struct psd_param *param)
{
    const struct psd_twin *twin = context;
    int id = twin->enrolment->ids[param->number];

    if (id < 0 || !twin->first)
        return PSD_OK;
    PSD_TRY(psd_values_wait(twin->values, id));
    if (twin->enrolment->ways[param->number] == PSD_ENROLLED_AVERAGED)
        copy_statistic(twin, param);
    return PSD_OK;
}

static psd_status gradient_ready(void *context, struct psd_param *param)
{
    const struct psd_twin *twin = context;

    if (!twin->last || twin->enrolment->ways[param->number] != PSD_ENROLLED_DENSE)
        return PSD_OK;
    return psd_comm_sync(twin->comm, twin->enrolment->ids[param->number], twin->now->number,
                         psd_blob_gradient(&param->blob));
}

static bool wants_factors(void *context, const struct psd_param *param)
{
    const struct psd_twin *twin = context;

    return twin->enrolment->ways[param->number] == PSD_ENROLLED_FACTORED;
}

static void keep_factors(struct psd_worker_factors *kept, const struct psd_param *param,
                         const float *u, const float *v, size_t batch)
{
    const size_t *dim = param->blob.shape.dim;

    memcpy(kept->u + kept->rows * dim[0], u, batch * dim[0] * sizeof *u);
    memcpy(kept->v + kept->rows * dim[1], v, batch * dim[1] * sizeof *v);
    kept->rows += batch;
}

static psd_status factors_ready(void *context, struct psd_param *param, struct psd_tensor u,
                                struct psd_tensor v, size_t batch)
{
    const struct psd_twin *twin = context;
    int id = twin->enrolment->ids[param->number];
    struct psd_worker_factors *kept = &twin->now->factors[param->number];

    if (!kept->u)
        return psd_comm_sync_factors(twin->comm, id, twin->now->number, psd_tensor_host(u),
                                     psd_tensor_host(v), batch);
    if (twin->first)
        kept->rows = 0;
    keep_factors(kept, param, psd_tensor_host(u), psd_tensor_host(v), batch);
    return twin->last ? psd_comm_sync_factors(twin->comm, id, twin->now->number, kept->u, kept->v,
                                              kept->rows)
                      : PSD_OK;
}

/* --- making one --------------------------------------------------------------------------------- */

/* They have the layers that were chosen for the solver's, and look at the values that only those have. */
static psd_status make_tests(struct psd_twin *twin, const struct psd_twin_options *options)
{
    const struct psd_solver *solver = options->solver;

    for (; twin->n_tests < solver->n_tests; twin->n_tests++) {
        const struct psd_net *first = solver->tests[twin->n_tests];
        struct psd_net_options build = {
            .ops = twin->ops,
            .device = first->device,
            .max_bad = first->max_bad,
            .twin_of = first,
        };
        PSD_TRY(psd_net_create(&build, &twin->tests[twin->n_tests]));
    }
    return PSD_OK;
}

static struct psd_net_position position_of(const struct psd_twin *twin,
                                           const struct psd_twin_options *options)
{
    return (struct psd_net_position){
        .iteration = options->solver->passes,
        .workers = twin->numbers,
        .n_workers = twin->n_workers,
        .of = options->of,
        .global_batch = options->global_batch,
    };
}

static psd_status make_nets(struct psd_twin *twin, const struct psd_twin_options *options)
{
    const struct psd_net *first = options->solver->net;
    struct psd_ops_options ops = {
        .device = first->device, .threads = options->threads, .backend = options->backend};
    struct psd_net_options build = {
        .document = first->document,
        .net = first->param,
        .phase = first->phase,
        .device = first->device,
        .seed = first->seed,
        .max_bad = first->max_bad,
        .twin_of = first,
        .borrows_gradients = true,
        .batch = options->global_batch ? options->workers[0].batch : 0,
        .position = position_of(twin, options),
    };

    PSD_TRY(psd_ops_open(&ops, &twin->ops));
    build.ops = twin->ops;
    PSD_TRY(psd_net_create(&build, &twin->net));
    return make_tests(twin, options);
}

static void use_nets(struct psd_twin *twin, const struct psd_solver *solver)
{
    twin->net = solver->net;
    memcpy((void *)twin->tests, (void *)solver->tests, solver->n_tests * sizeof *twin->tests);
    twin->n_tests = solver->n_tests;
}

psd_status psd_twin_init(struct psd_twin *twin, const struct psd_twin_options *options)
{
    struct psd_net_position position;

    twin->comm = options->comm;
    twin->values = options->values;
    twin->enrolment = options->enrolment;
    twin->tests = psd_alloc_zero(options->solver->n_tests, sizeof(*twin->tests));
    twin->numbers = psd_alloc_zero(options->n_workers, sizeof *twin->numbers);
    twin->workers = options->workers;
    if (!twin->tests || !twin->numbers)
        return PSD_ENOMEM;
    twin->n_workers = options->n_workers;
    for (unsigned i = 0; i < twin->n_workers; i++)
        twin->numbers[i] = twin->workers[i].number;
    if (options->first)
        use_nets(twin, options->solver);
    else
        PSD_TRY(make_nets(twin, options));
    twin->net->loss_scale = options->loss_scale;
    twin->net->hooks = (struct psd_net_hooks){
        .context = twin,
        .need_value = need_value,
        .gradient_ready = gradient_ready,
        .wants_factors = wants_factors,
        .factors_ready = factors_ready,
    };
    position = position_of(twin, options);
    return psd_net_seek(twin->net, &position);
}

void psd_twin_fini(struct psd_twin *twin)
{
    if (twin->ops) {
        for (size_t i = 0; i < twin->n_tests; i++)
            psd_net_destroy(twin->tests[i]);
        psd_net_destroy(twin->net);
        psd_ops_close(twin->ops);
    } else if (twin->net) {
        twin->net->hooks = (struct psd_net_hooks){0};
    }
    psd_alloc_free((void *)twin->tests);
    psd_alloc_free(twin->numbers);
}

/* --- passes ------------------------------------------------------------------------------------- */

/* Statistics leave when the worker's last forward is done; its backward does not read them. */
static psd_status sync_statistics(const struct psd_twin *twin)
{
    const struct psd_enrolment *enrolment = twin->enrolment;

    for (size_t i = 0; twin->last && i < enrolment->n_params; i++) {
        if (enrolment->ways[i] == PSD_ENROLLED_AVERAGED)
            PSD_TRY(psd_comm_sync(twin->comm, enrolment->ids[i], twin->now->number,
                                  psd_blob_values(&twin->now->lent[i])));
    }
    return PSD_OK;
}

static psd_status pass(struct psd_twin *twin, struct psd_worker *worker)
{
    float loss = 0;

    twin->now = worker;
    psd_worker_lend(worker, twin->net, twin->enrolment);
    PSD_TRY(psd_net_forward(twin->net, &loss));
    worker->loss = twin->first ? loss : worker->loss + loss;
    if (twin->last && worker->outputs)
        psd_net_get_outputs(twin->net, worker->outputs);
    if (worker->carried)
        psd_carried_take(twin->net, worker->carried);
    if (twin->silent)
        return PSD_OK;
    PSD_TRY(sync_statistics(twin));
    return psd_net_backward(twin->net, twin->first);
}

psd_status psd_twin_iterate(struct psd_twin *twin, bool silent)
{
    unsigned passes = silent ? 1 : twin->enrolment->passes;

    twin->silent = silent;
    for (unsigned i = 0; i < passes; i++) {
        twin->first = i == 0;
        twin->last = i + 1 == passes;
        for (unsigned k = 0; k < twin->n_workers; k++)
            PSD_TRY(pass(twin, &twin->workers[k]));
    }
    return PSD_OK;
}

psd_status psd_twin_test(struct psd_twin *twin, size_t which, uint64_t batch, unsigned stride,
                         float *row)
{
    struct psd_net *net = twin->tests[which];

    PSD_TRY(psd_net_seek(net, &(struct psd_net_position){.iteration = batch, .stride = stride}));
    PSD_TRY(psd_net_forward(net, &row[0]));
    psd_net_get_outputs(net, row + 1);
    return PSD_OK;
}
