/* sgd.c - stochastic gradient descent with momentum.
 *
 *     h = momentum * h + rate * g         value = value - h
 */
#include "math/rules/each.h"

PSD_RULE_INLINE float change(const struct psd_rule_step *step, float g, float *h)
{
    h[0] = step->momentum * h[0] + step->rate * g;
    return h[0];
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
    .name = "SGD keeping", .states = 2, .apply = apply_and_keep};

const struct psd_rule psd_rule_sgd = {
    .name = "SGD", .states = 1, .apply = apply, .keeping = &keeping};
