/* onednn.c - Intel's library of operations, for convolutions of any stride, dilation and group. */
#include "ops/onednn/onednn.h"
#include "ops/compose/compose.h"

/* Of OpenMP we need two functions of its library and nothing of the compiler: clang has its header
 * only in a package of its own. */
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);

int psd_onednn_compute_alone(void)
{
    int before = omp_get_max_threads();

    omp_set_num_threads(1);
    return before;
}

void psd_onednn_compute_with(int threads)
{
    omp_set_num_threads(threads);
}

static psd_status plan(struct psd_op *op)
{
    return op->spec.kind == PSD_OP_CONV ? psd_onednn_plan_conv(op) : psd_compose_plan(op);
}

const struct psd_backend psd_backend_onednn = {.name = "onednn", .device = "host", .plan = plan};
