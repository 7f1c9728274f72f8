/* gradient.h - what every rule does first: scale the gradient and add the decay. */
#ifndef PSD_MATH_RULES_GRADIENT_H
#define PSD_MATH_RULES_GRADIENT_H

#include "math/rules.h"

/* Kept in one place and inlined, so that all rules round in the same order. */
static inline float psd_rule_gradient(const struct psd_rule_step *step, float value, float gradient)
{
    float scaled = gradient * step->scale;

    if (step->l1)
        return scaled + step->decay * (float)((value > 0) - (value < 0));
    return scaled + step->decay * value;
}

#endif
