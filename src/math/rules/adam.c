/* adam.c - the mean of the latest gradients, over the root of the mean of their squares.
 *
 *     m = momentum * m + (1 - momentum) * g
 *     v = momentum2 * v + (1 - momentum2) * g * g
 *     value = value - rate * correction * m / (sqrt(v) + delta)             states: m, v
 *
 * Both means start from 0 and are too small at first; in step t, counted from 1, the correction is
 * sqrt(1 - momentum2^t) / (1 - momentum^t), in double, then rounded to a float. */
#include "math/rules/each.h"

#include <math.h>

/* By squaring: pow() has other last bits in other versions of the C library, and on other
 * processors. */
static double power(double base, uint64_t exponent)
{
    double result = 1;

    for (; exponent; exponent >>= 1, base *= base) {
        if (exponent & 1)
            result *= base;
    }
    return result;
}

static float correction(const struct psd_rule_step *step)
{
    uint64_t t = step->iteration + 1;

    return (float)(sqrt(1 - power((double)step->momentum2, t)) /
                   (1 - power((double)step->momentum, t)));
}

PSD_RULE_INLINE float change(const struct psd_rule_step *step, float g, float *h)
{
    h[0] = step->momentum * h[0] + (1 - step->momentum) * g;
    h[1] = step->momentum2 * h[1] + (1 - step->momentum2) * (g * g);
    return step->rate * (h[0] / (sqrtf(h[1]) + step->delta));
}

static struct psd_rule_step corrected(const struct psd_rule_step *step)
{
    struct psd_rule_step now = *step;

    now.rate *= correction(step);
    return now;
}

static void apply(const struct psd_rule_step *step, size_t n, float *value, const float *gradient,
                  float *const *state)
{
    struct psd_rule_step now = corrected(step);

    psd_rule_each(change, 2, false, &now, n, value, gradient, state);
}

static void apply_and_keep(const struct psd_rule_step *step, size_t n, float *value,
                           const float *gradient, float *const *state)
{
    struct psd_rule_step now = corrected(step);

    psd_rule_each(change, 2, true, &now, n, value, gradient, state);
}

static const struct psd_rule keeping = {
    .name = "Adam keeping", .states = 3, .apply = apply_and_keep};

const struct psd_rule psd_rule_adam = {
    .name = "Adam", .states = 2, .apply = apply, .keeping = &keeping};
