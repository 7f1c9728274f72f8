/* fc.c - the fully connected layer: y[n][o] = b[o] + sum over i: w[o][i] * x[n][i]. */
#include "ops/plain/plain.h"

static size_t w_at(const struct psd_fc_spec *s, size_t o, size_t i)
{
    return s->transpose ? i * s->outputs + o : o * s->inputs + i;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_fc_spec *s = &op->spec.fc;
    const float *x = psd_tensor_host(values->in[0]), *w = psd_tensor_host(values->in[1]);
    const float *b = psd_tensor_host(values->in[2]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t n = 0; n < s->rows; n++) {
        for (size_t o = 0; o < s->outputs; o++) {
            double sum = s->bias ? (double)b[o] : 0;
            for (size_t i = 0; i < s->inputs; i++)
                sum += (double)w[w_at(s, o, i)] * (double)x[n * s->inputs + i];
            y[n * s->outputs + o] = (float)sum;
        }
    }
    return PSD_OK;
}

static void input_gradient(const struct psd_fc_spec *s, const float *w, const float *dy,
                           struct psd_plain_diff dx)
{
    for (size_t n = 0; n < s->rows; n++) {
        for (size_t i = 0; i < s->inputs; i++) {
            double sum = 0;
            for (size_t o = 0; o < s->outputs; o++)
                sum += (double)w[w_at(s, o, i)] * (double)dy[n * s->outputs + o];
            psd_plain_put(dx, n * s->inputs + i, sum);
        }
    }
}

static void weights_gradient(const struct psd_fc_spec *s, const float *x, const float *dy,
                             struct psd_plain_diff dw)
{
    for (size_t o = 0; o < s->outputs; o++) {
        for (size_t i = 0; i < s->inputs; i++) {
            double sum = 0;
            for (size_t n = 0; n < s->rows; n++)
                sum += (double)dy[n * s->outputs + o] * (double)x[n * s->inputs + i];
            psd_plain_put(dw, w_at(s, o, i), sum);
        }
    }
}

static void bias_gradient(const struct psd_fc_spec *s, const float *dy, struct psd_plain_diff db)
{
    for (size_t o = 0; o < s->outputs; o++) {
        double sum = 0;
        for (size_t n = 0; n < s->rows; n++)
            sum += (double)dy[n * s->outputs + o];
        psd_plain_put(db, o, sum);
    }
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_fc_spec *s = &op->spec.fc;
    const float *x = psd_tensor_host(values->in[0]), *w = psd_tensor_host(values->in[1]);
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0), dw = psd_plain_diff(values, 1);
    struct psd_plain_diff db = psd_plain_diff(values, 2);

    if (dx.to)
        input_gradient(s, w, dy, dx);
    if (dw.to)
        weights_gradient(s, x, dy, dw);
    if (db.to)
        bias_gradient(s, dy, db);
    return PSD_OK;
}

const struct psd_op_code psd_plain_fc = {.forward = forward, .backward = backward};
