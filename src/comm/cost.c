/* cost.c - the formulas of docs/comm.md, with shares rounded up to what is not cut. */
#include "comm/cost.h"
#include "comm/layout.h"
#include "math/product.h"

#include <math.h>

enum { FLOAT = sizeof(float) };

psd_status psd_cost_init(const struct psd_job *job, const struct psd_workload *workload,
                         const struct psd_plan_network *network, struct psd_cost_basis *out)
{
    struct psd_cost_basis basis = {.job = job, .network = *network};

    PSD_TRY(psd_hosting_measure(job, job->host, &basis.hosting));
    if (workload && workload->rebuild_flops > 0)
        basis.flops_s = 1 / workload->rebuild_flops;
    if (workload && workload->sum_bytes_per_s > 0)
        basis.sum_s = PSD_WORKLOAD_SUM_BYTES / workload->sum_bytes_per_s;
    if (job->mode == PSD_COMM_UPDATE) {
        basis.states = job->rule->states;
        basis.clips = job->update.clip > 0;
    }
    *out = basis;
    return PSD_OK;
}

/* A parameter as it is rebuilt: a bias is a column beside its weight, made from the weight's u, so
 * it has no factors of its own to send. */
struct matrix {
    double rows, cols; /* of the values */
    double u, v;       /* floats of the factors of one sample */
    double states;     /* floats that the rule keeps for each value */
};

static struct matrix matrix_of(const struct psd_cost_basis *basis,
                               const struct psd_job_param *param)
{
    double rows = (double)param->rows, cols = (double)param->cols;
    double states = param->averaged ? 0 : basis->states;

    if (param->bias_of >= 0)
        return (struct matrix){.rows = rows * cols, .cols = 1, .states = states};
    return (struct matrix){rows, cols, rows, cols, states};
}

/* Operations of a product over all samples that exceed the one over a rank's own, for `rows` of the
 * matrix on one rank; and those of the Gram matrices, which give the norm of a factored gradient. */
static double excess_flops(const struct psd_cost_basis *basis, const struct matrix *matrix,
                           double rows)
{
    double all = (double)basis->hosting.samples, own = (double)basis->hosting.most_samples;
    double flops = fmax(0, 2 * matrix->cols * (rows * all - matrix->rows * own));

    if (basis->clips && matrix->v > 0)
        flops += all * all * (rows + matrix->v);
    return flops;
}

/* The floats that a rank holds for `rows` of the matrix: factors of all samples, and state. */
static double held_floats(const struct psd_cost_basis *basis, const struct matrix *matrix,
                          double rows)
{
    double u = matrix->u > 0 ? rows : 0;

    return (double)basis->hosting.samples * (u + matrix->v) + matrix->states * rows * matrix->cols;
}

static void servers(const struct psd_cost_basis *basis, const struct matrix *matrix,
                    struct psd_route_cost *cost)
{
    const struct psd_hosting *hosting = &basis->hosting;
    double ranks = basis->job->ranks, count = matrix->rows * matrix->cols, share = count / ranks;
    double uncut = fmax(share, fmin(count, 1.0 * PSD_LAYOUT_LEAST / FLOAT));
    double local = count * (hosting->most_workers - hosting->most_inputs);

    cost->push_up = FLOAT * hosting->most_inputs * (count - share);
    cost->push_down = FLOAT * (hosting->inputs - hosting->most_inputs) * share;
    cost->up = cost->push_up + FLOAT * (count - share);
    cost->down = cost->push_down + FLOAT * (count - share);
    cost->hop_s = FLOAT * (ranks - 1) * (uncut - share) / basis->network.bandwidth;
    cost->host_s = basis->sum_s * (local + (hosting->inputs - 1) * share);
    cost->memory = (size_t)(FLOAT * share * (hosting->slots + matrix->states));
}

static void broadcast(const struct psd_cost_basis *basis, const struct matrix *matrix,
                      struct psd_route_cost *cost)
{
    const struct psd_hosting *hosting = &basis->hosting;
    double own = (double)hosting->most_samples, others = (double)hosting->samples - own;
    double factors = FLOAT * (matrix->u + matrix->v);

    cost->push_up = cost->up = factors * own * (basis->job->ranks - 1);
    cost->push_down = cost->down = factors * others;
    cost->device_s = basis->flops_s * excess_flops(basis, matrix, matrix->rows);

    /* A peer may be one iteration ahead of a slow device, so its next factors need a place too. */
    double held = FLOAT * held_floats(basis, matrix, matrix->rows);
    cost->memory = (size_t)(held + factors * (double)hosting->samples);
}

static void row_sharded(const struct psd_cost_basis *basis, const struct matrix *matrix,
                        struct psd_route_cost *cost)
{
    const struct psd_hosting *hosting = &basis->hosting;
    double own = (double)hosting->most_samples, others = (double)hosting->samples - own;
    double ranks = basis->job->ranks, tiles = ceil(matrix->rows / PSD_PRODUCT_ROWS);
    double rows = fmin(matrix->rows, ceil(tiles / ranks) * PSD_PRODUCT_ROWS); /* largest share */
    double u = matrix->u > 0 ? rows : 0, owners = fmin(ranks, tiles);

    cost->push_up = FLOAT * own * (matrix->u - u + matrix->v * (owners - 1));
    cost->push_down = FLOAT * others * (u + matrix->v);
    cost->up = cost->push_up + FLOAT * matrix->cols * rows * (ranks - 1);
    cost->down = cost->push_down + FLOAT * matrix->cols * (matrix->rows - rows);
    cost->device_s = basis->flops_s * excess_flops(basis, matrix, rows);
    cost->memory = (size_t)(FLOAT * held_floats(basis, matrix, rows));
}

static void single_owner(const struct psd_cost_basis *basis, const struct matrix *matrix,
                         struct psd_route_cost *cost)
{
    double others = (double)(basis->hosting.samples - basis->hosting.most_samples);

    cost->push_down = cost->down = FLOAT * others * (matrix->u + matrix->v);
    cost->up = FLOAT * matrix->rows * matrix->cols * (basis->job->ranks - 1);
    cost->device_s = basis->flops_s * excess_flops(basis, matrix, matrix->rows);
    cost->memory = (size_t)(FLOAT * held_floats(basis, matrix, matrix->rows));
}

static void local(const struct psd_cost_basis *basis, const struct matrix *matrix,
                  struct psd_route_cost *cost)
{
    cost->device_s = basis->flops_s * excess_flops(basis, matrix, matrix->rows);
    cost->memory = (size_t)(FLOAT * held_floats(basis, matrix, matrix->rows));
}

typedef void formula(const struct psd_cost_basis *basis, const struct matrix *matrix,
                     struct psd_route_cost *cost);

static formula *const formulas[PSD_PLAN_ROUTES] = {
    [PSD_ROUTE_SERVERS] = servers,           [PSD_ROUTE_BROADCAST] = broadcast,
    [PSD_ROUTE_ROW_SHARDED] = row_sharded,   [PSD_ROUTE_LOCAL] = local,
    [PSD_ROUTE_SINGLE_OWNER] = single_owner,
};

static bool possible(const struct psd_job *job, size_t param, enum psd_route route)
{
    if (route == PSD_ROUTE_SERVERS)
        return !psd_job_is_factored(job, param);
    return psd_job_is_factored(job, param) && (route == PSD_ROUTE_LOCAL) == (job->ranks == 1);
}

static int hops(const struct psd_route_cost *cost)
{
    return (cost->push_up + cost->push_down > 0) +
           (cost->up + cost->down > cost->push_up + cost->push_down);
}

struct psd_route_cost psd_cost_of(const struct psd_cost_basis *basis, size_t param,
                                  enum psd_route route)
{
    const struct psd_job_param *one = &basis->job->params[param];
    struct psd_route_cost cost = {.possible = possible(basis->job, param, route)};
    struct matrix matrix = matrix_of(basis, one);

    if (route != PSD_ROUTE_SERVERS && !one->factors && one->bias_of < 0)
        return cost;
    formulas[route](basis, &matrix, &cost);
    double link = fmax(cost.up, cost.down) / basis->network.bandwidth;
    cost.hop_s += basis->network.latency;
    cost.floats = (cost.up + cost.down) / FLOAT;
    cost.seconds = fmax(link, fmax(cost.device_s, cost.host_s)) + hops(&cost) * cost.hop_s;
    return cost;
}
