/* adadelta.c - steps as large as the latest ones were, in relation to the gradients.
 *
 *     a = momentum * a + (1 - momentum) * g * g           the latest gradients
 *     d = g * sqrt((delta + b) / (delta + a))
 *     b = momentum * b + (1 - momentum) * d * d           the latest steps
 *     value = value - rate * d                            states: a, b
 */
#include "math/rules/each.h"

#include <math.h>

PSD_RULE_INLINE float change(const struct psd_rule_step *step, float g, float *h)
{
    float keep = step->momentum;

    h[0] = keep * h[0] + (1 - keep) * (g * g);
    float d = g * sqrtf((step->delta + h[1]) / (step->delta + h[0]));
    h[1] = keep * h[1] + (1 - keep) * (d * d);
    return step->rate * d;
}

static void apply(const struct psd_rule_step *step, size_t n, float *value, const float *gradient,
                  float *const *state)
{
    psd_rule_each(change, 2, false, step, n, value, gradient, state);
}

static void apply_and_keep(const struct psd_rule_step *step, size_t n, float *value,
                           const float *gradient, float *const *state)
{
    psd_rule_each(change, 2, true, step, n, value, gradient, state);
}

static const struct psd_rule keeping = {
    .name = "AdaDelta keeping", .states = 3, .apply = apply_and_keep};

const struct psd_rule psd_rule_adadelta = {
    .name = "AdaDelta", .states = 2, .apply = apply, .keeping = &keeping};
