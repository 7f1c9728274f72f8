/* rules.c - the visible list. */
#include "math/rules.h"

#include <string.h>

const struct psd_rule *const psd_rules[] = {
    &psd_rule_sgd,
    &psd_rule_nesterov,
    &psd_rule_adagrad,
    &psd_rule_rmsprop,
    &psd_rule_adadelta,
    &psd_rule_adam,
    NULL,
};

const struct psd_rule *psd_rules_find(const char *name)
{
    for (size_t i = 0; psd_rules[i]; i++) {
        if (strcmp(psd_rules[i]->name, name) == 0)
            return psd_rules[i];
        if (strcmp(psd_rules[i]->keeping->name, name) == 0)
            return psd_rules[i]->keeping;
    }
    return NULL;
}
