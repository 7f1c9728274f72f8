/* sgd.c - stochastic gradient descent with momentum.
 *
 *     h = momentum * h + rate * g         value = value - h
 *
 * Values go by eights, in a loop of fixed length that compilers turn into vector instructions; each is
 * computed by itself, so the bits do not depend on where an eight begins. */
#include "math/rules/gradient.h"

enum { AT_ONCE = 8 };

static inline void update(const struct psd_rule_step *step, size_t n, float *restrict value,
                          const float *restrict gradient, float *restrict h)
{
    for (size_t i = 0; i < n; i++) {
        float g = psd_rule_gradient(step, value[i], gradient[i]);
        h[i] = step->momentum * h[i] + step->rate * g;
        value[i] -= h[i];
    }
}

static inline void update_all(const struct psd_rule_step *step, size_t n, float *value,
                              const float *gradient, float *h)
{
    size_t i = 0;

    for (; i + AT_ONCE <= n; i += AT_ONCE)
        update(step, AT_ONCE, value + i, gradient + i, h + i);
    update(step, n - i, value + i, gradient + i, h + i);
}

/* The kind of decay is the same for all values: it is a constant in either call. */
static void apply(const struct psd_rule_step *step, size_t n, float *value, const float *gradient,
                  float *const *state)
{
    struct psd_rule_step by_sign = *step, by_value = *step;

    by_sign.l1 = true;
    by_value.l1 = false;
    if (step->l1)
        update_all(&by_sign, n, value, gradient, state[0]);
    else
        update_all(&by_value, n, value, gradient, state[0]);
}

const struct psd_rule psd_rule_sgd = {.name = "SGD", .states = 1, .apply = apply};
