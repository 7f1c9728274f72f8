/* nesterov.c - momentum whose gradient is taken one step ahead, in Caffe's form.
 *
 *     h' = momentum * h + rate * g        value = value - ((1 + momentum) * h' - momentum * h)
 *
 * The value that is kept is the one ahead: the last step's lead is taken back, the next one given. */
#include "math/rules/each.h"

PSD_RULE_INLINE float change(const struct psd_rule_step *step, float g, float *h)
{
    float before = h[0];

    h[0] = step->momentum * before + step->rate * g;
    return (1 + step->momentum) * h[0] - step->momentum * before;
}

static void apply(const struct psd_rule_step *step, size_t n, float *value, const float *gradient,
                  float *const *state)
{
    psd_rule_each(change, 1, false, step, n, value, gradient, state);
}

static void apply_and_keep(const struct psd_rule_step *step, size_t n, float *value,
                           const float *gradient, float *const *state)
{
    psd_rule_each(change, 1, true, step, n, value, gradient, state);
}

static const struct psd_rule keeping = {
    .name = "Nesterov keeping", .states = 2, .apply = apply_and_keep};

const struct psd_rule psd_rule_nesterov = {
    .name = "Nesterov", .states = 1, .apply = apply, .keeping = &keeping};
