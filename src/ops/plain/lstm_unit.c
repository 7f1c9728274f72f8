/* lstm_unit.c - one step of a long short-term memory: from gates and old cells to new cells.
 *
 *     i = sigmoid(gates 0)   f = cont * sigmoid(gates 1)   o = sigmoid(gates 2)   g = tanh(gates 3)
 *     c = f * old + i * g    h = o * tanh(c)
 *
 * A row's gates are [4][outputs]. cont is 0 where a sequence starts, and 1 else. Nothing is kept for
 * backward, which makes gates and cells again. */
#include "ops/plain/plain.h"

#include <math.h>

/* All that an output of a row is made of. */
struct unit {
    double old, cont, i, forget, o, g; /* forget is sigmoid(gates 1), without cont */
};

static double sigmoid(float x)
{
    return 1 / (1 + exp(-(double)x));
}

/* The d-th output of row n. */
static struct unit unit_at(const struct psd_lstm_unit_spec *s, const struct psd_op_values *values,
                           size_t n, size_t d)
{
    const float *gates = psd_tensor_host(values->in[1]) + n * 4 * s->outputs + d;

    return (struct unit){
        .old = (double)psd_tensor_host(values->in[0])[n * s->outputs + d],
        .cont = (double)psd_tensor_host(values->in[2])[n],
        .i = sigmoid(gates[0]),
        .forget = sigmoid(gates[s->outputs]),
        .o = sigmoid(gates[2 * s->outputs]),
        .g = tanh((double)gates[3 * s->outputs]),
    };
}

/* What is left of the old cell; one that is no number does not outlive the sequence it is of. */
static double kept(const struct unit *u)
{
    return u->cont == 0 ? 0 : u->cont * u->forget * u->old;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_lstm_unit_spec *s = &op->spec.lstm_unit;
    float *c = psd_tensor_host(values->out[0]), *h = c + s->rows * s->outputs;

    for (size_t n = 0; n < s->rows; n++) {
        for (size_t d = 0; d < s->outputs; d++) {
            struct unit u = unit_at(s, values, n, d);
            double cell = kept(&u) + u.i * u.g;
            c[n * s->outputs + d] = (float)cell;
            h[n * s->outputs + d] = (float)(u.o * tanh(cell));
        }
    }
    return PSD_OK;
}

/* dh and dc are those of the results; what both mean for the cell is `cell`. */
static void put_gradients(const struct psd_lstm_unit_spec *s, const struct unit *u, double dc,
                          double dh, struct psd_plain_diff old, struct psd_plain_diff gates)
{
    double squashed = tanh(kept(u) + u->i * u->g);
    double cell = dc + dh * u->o * (1 - squashed * squashed);
    double forgets = u->cont == 0 ? 0 : cell * u->old * u->cont;

    if (old.to)
        psd_plain_put(old, 0, cell * u->cont * u->forget);
    if (!gates.to)
        return;
    psd_plain_put(gates, 0, cell * u->g * u->i * (1 - u->i));
    psd_plain_put(gates, s->outputs, forgets * u->forget * (1 - u->forget));
    psd_plain_put(gates, 2 * s->outputs, dh * squashed * u->o * (1 - u->o));
    psd_plain_put(gates, 3 * s->outputs, cell * u->i * (1 - u->g * u->g));
}

static struct psd_plain_diff part(struct psd_plain_diff diff, size_t first)
{
    return (struct psd_plain_diff){diff.to ? diff.to + first : NULL, diff.adds};
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_lstm_unit_spec *s = &op->spec.lstm_unit;
    const float *dc = psd_tensor_host(values->out_diff[0]), *dh = dc + s->rows * s->outputs;
    struct psd_plain_diff old = psd_plain_diff(values, 0), gates = psd_plain_diff(values, 1);

    for (size_t n = 0; n < s->rows; n++) {
        for (size_t d = 0; d < s->outputs; d++) {
            struct unit u = unit_at(s, values, n, d);
            size_t at = n * s->outputs + d;
            put_gradients(s, &u, (double)dc[at], (double)dh[at], part(old, at),
                          part(gates, n * 4 * s->outputs + d));
        }
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_lstm_unit = {.forward = forward, .backward = backward};
