/* rules.h - how a gradient changes a parameter, value by value.
 *
 *     g = gradient * scale  +  decay * value (L2), or decay * sign(value) (L1)
 *     value, state = rule(value, g, state)
 *
 * A rule looks at one value at a time, so a parameter may be updated in one call or in any pieces, by
 * any thread or machine: the bits are the same. The single-process solver and the servers of a
 * distributed one call the same function. To add one, write rules/<name>.c, declare it below and add
 * its line to rules.c. */
#ifndef PSD_MATH_RULES_H
#define PSD_MATH_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an update is made with; the same for all values of a parameter. */
struct psd_rule_step {
    float rate;  /* learning rate times the parameter's multiplier */
    float decay; /* weight decay times the parameter's multiplier */
    bool l1;     /* decay by sign instead of by value */
    float scale; /* of the gradient: 1 / iter_size, and what clipping leaves of it */
    float momentum, momentum2, delta, rms_decay;
    uint64_t iteration; /* counts from 0 */
};

struct psd_rule {
    const char *name; /* "SGD", as solvers write it */
    unsigned states;  /* values it keeps for each value of the parameter */

    /* Updates n values in place; state[i] points to n values of state i, all zero at first, in the
     * order of Caffe's history. */
    void (*apply)(const struct psd_rule_step *step, size_t n, float *value, const float *gradient,
                  float *const *state);

    /* The same rule, "SGD keeping", with one state more behind the others: what it last subtracted from
     * each value. NULL: it is such a one. */
    const struct psd_rule *keeping;
};

/* The rule of that name, which may be one that keeps; NULL when there is none. */
const struct psd_rule *psd_rules_find(const char *name);

/* All of them, without those that keep; ends with NULL. */
extern const struct psd_rule *const psd_rules[];

extern const struct psd_rule psd_rule_sgd, psd_rule_nesterov, psd_rule_adagrad, psd_rule_rmsprop,
    psd_rule_adadelta, psd_rule_adam;

#endif
