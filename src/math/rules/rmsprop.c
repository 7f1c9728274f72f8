/* rmsprop.c - each value has a rate of its own, which follows its latest gradients.
 *
 *     h = rms_decay * h + (1 - rms_decay) * g * g      value = value - rate * g / (sqrt(h) + delta)
 */
#include "math/rules/each.h"

#include <math.h>

PSD_RULE_INLINE float change(const struct psd_rule_step *step, float g, float *h)
{
    h[0] = step->rms_decay * h[0] + (1 - step->rms_decay) * (g * g);
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
    .name = "RMSProp keeping", .states = 2, .apply = apply_and_keep};

const struct psd_rule psd_rule_rmsprop = {
    .name = "RMSProp", .states = 1, .apply = apply, .keeping = &keeping};
