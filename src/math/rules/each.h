/* each.h - what all rules have in common: the gradient with its decay, and the way over the values.
 *
 *     each value:   g = gradient with scale and decay
 *                   value -= change(g, its states)          the rule's own formula
 *
 * Values go by eights, in a loop of fixed length that compilers turn into vector instructions; each
 * is computed by itself, so the bits do not depend on where an eight begins. */
#ifndef PSD_MATH_RULES_EACH_H
#define PSD_MATH_RULES_EACH_H

#include "math/rules.h"

/* Makes a rule's formula part of the loops, which then differ from rule to rule. */
#define PSD_RULE_INLINE static inline __attribute__((always_inline))

enum { PSD_RULE_EIGHT = 8, PSD_RULE_STATES = 2 };

/* A rule's formula: what is subtracted from a value whose gradient is g, with the new states in h. */
typedef float psd_rule_change(const struct psd_rule_step *step, float g, float h[PSD_RULE_STATES]);

PSD_RULE_INLINE float psd_rule_gradient(const struct psd_rule_step *step, float value,
                                        float gradient)
{
    float scaled = gradient * step->scale;

    if (step->l1)
        return scaled + step->decay * (float)((value > 0) - (value < 0));
    return scaled + step->decay * value;
}

/* A rule with one state looks at the first only; one that does not keep what it subtracts never looks at
 * `kept`. */
PSD_RULE_INLINE void psd_rule_some(psd_rule_change *change, unsigned states, bool keeps,
                                   const struct psd_rule_step *step, size_t n,
                                   float *restrict value, const float *restrict gradient,
                                   float *restrict first, float *restrict second,
                                   float *restrict kept)
{
    for (size_t i = 0; i < n; i++) {
        float h[PSD_RULE_STATES] = {first[i], states > 1 ? second[i] : 0};
        float less = change(step, psd_rule_gradient(step, value[i], gradient[i]), h);
        value[i] -= less;
        first[i] = h[0];
        if (states > 1)
            second[i] = h[1];
        if (keeps)
            kept[i] = less;
    }
}

PSD_RULE_INLINE void psd_rule_all(psd_rule_change *change, unsigned states, bool keeps,
                                  const struct psd_rule_step *step, size_t n, float *value,
                                  const float *gradient, float *const *state)
{
    float *first = state[0], *second = state[states - 1], *kept = state[keeps ? states : 0];
    size_t i = 0;

    for (; i + PSD_RULE_EIGHT <= n; i += PSD_RULE_EIGHT)
        psd_rule_some(change, states, keeps, step, PSD_RULE_EIGHT, value + i, gradient + i,
                      first + i, second + i, kept + i);
    psd_rule_some(change, states, keeps, step, n - i, value + i, gradient + i, first + i,
                  second + i, kept + i);
}

/* A whole psd_rule.apply; `states` are those of the formula. The kind of decay is the same for all values:
 * it is a constant in either call, as are the formula, its number of states and whether what it subtracts
 * is kept behind them. */
PSD_RULE_INLINE void psd_rule_each(psd_rule_change *change, unsigned states, bool keeps,
                                   const struct psd_rule_step *step, size_t n, float *value,
                                   const float *gradient, float *const *state)
{
    struct psd_rule_step by_sign = *step, by_value = *step;

    by_sign.l1 = true;
    by_value.l1 = false;
    if (step->l1)
        psd_rule_all(change, states, keeps, &by_sign, n, value, gradient, state);
    else
        psd_rule_all(change, states, keeps, &by_value, n, value, gradient, state);
}

#endif
