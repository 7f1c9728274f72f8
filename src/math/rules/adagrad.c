/* adagrad.c - each value has a rate of its own, which falls with all its gradients so far.
 *
 *     h = h + g * g                       value = value - rate * g / (sqrt(h) + delta)
 */
#include "math/rules/each.h"

#include <math.h>

PSD_RULE_INLINE float change(const struct psd_rule_step *step, float g, float *h)
{
    h[0] += g * g;
    return step->rate * (g / (sqrtf(h[0]) + step->delta));
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
    .name = "AdaGrad keeping", .states = 2, .apply = apply_and_keep};

const struct psd_rule psd_rule_adagrad = {
    .name = "AdaGrad", .states = 1, .apply = apply, .keeping = &keeping};
