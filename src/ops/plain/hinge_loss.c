/* hinge_loss.c - scores should be above 1 for the label's class and below -1 for the others.
 *
 *     v    = max(0, 1 + side * x)            side is -1 for the label's class, 1 for the others
 *     loss = sum of v, or of v^2 / batch
 *     dx   = side * dloss / batch where v > 0, times 2 v for squares */
#include "base/status.h"
#include "ops/plain/plain.h"

static psd_status check_label(const struct psd_hinge_loss_spec *s, float label, size_t n)
{
    if (label >= 0 && label < (float)s->classes)
        return PSD_OK;
    return psd_fail(PSD_ECONFIG,
                    "label %g of sample %zu of the batch: with %zu classes, labels are 0 to %zu",
                    (double)label, n, s->classes, s->classes - 1);
}

static double side(const float *labels, size_t n, size_t c)
{
    return c == (size_t)labels[n] ? -1 : 1;
}

static double violation(const float *x, size_t i, double side)
{
    double off = 1 + side * (double)x[i];
    return off < 0 ? 0 : off; /* NaN stays */
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_hinge_loss_spec *s = &op->spec.hinge_loss;
    const float *x = psd_tensor_host(values->in[0]), *labels = psd_tensor_host(values->in[1]);
    double sum = 0;

    for (size_t n = 0; n < s->batch; n++) {
        PSD_TRY(check_label(s, labels[n], n));
        for (size_t c = 0; c < s->classes; c++) {
            double v = violation(x, n * s->classes + c, side(labels, n, c));
            sum += s->squares ? v * v : v;
        }
    }
    psd_tensor_host(values->out[0])[0] = (float)(sum / (double)s->batch);
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_hinge_loss_spec *s = &op->spec.hinge_loss;
    const float *x = psd_tensor_host(values->in[0]), *labels = psd_tensor_host(values->in[1]);
    double factor = (double)psd_tensor_host(values->out_diff[0])[0] / (double)s->batch;
    struct psd_plain_diff dx = psd_plain_diff(values, 0);

    for (size_t n = 0; dx.to && n < s->batch; n++) {
        PSD_TRY(check_label(s, labels[n], n));
        for (size_t c = 0; c < s->classes; c++) {
            size_t i = n * s->classes + c;
            double v = violation(x, i, side(labels, n, c));
            psd_plain_put(dx, i, factor * side(labels, n, c) * (s->squares ? 2 * v : v > 0));
        }
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_hinge_loss = {.forward = forward, .backward = backward};
