/* sgd.c - stochastic gradient descent with momentum.
 *
 *     h = momentum * h + rate * g         value = value - h
 */
#include "math/rules/gradient.h"

static void apply(const struct psd_rule_step *step, size_t n, float *restrict value,
                  const float *restrict gradient, float *const *state)
{
    float *restrict h = state[0];
    const struct psd_rule_step s = *step;

    for (size_t i = 0; i < n; i++) {
        float g = psd_rule_gradient(&s, value[i], gradient[i]);
        h[i] = s.momentum * h[i] + s.rate * g;
        value[i] -= h[i];
    }
}

const struct psd_rule psd_rule_sgd = {.name = "SGD", .states = 1, .apply = apply};
