/* suggest.h - "did you mean": the known word nearest to a mistyped one.
 *
 *     struct psd_suggest suggest;
 *     psd_suggest_init(&suggest, "kernal_size", 11);
 *     for (each known name) psd_suggest_offer(&suggest, name);
 *     psd_suggest_best(&suggest)      "kernel_size", or NULL when nothing is near
 *     psd_suggest_phrase(&suggest)    the same as the end of a sentence
 *
 * Near means few typing mistakes for the word's length: a letter too many, too few, wrong, or two
 * neighbours swapped; upper and lower case count as equal. */
#ifndef PSD_BASE_SUGGEST_H
#define PSD_BASE_SUGGEST_H

#include <stddef.h>

struct psd_suggest {
    const char *word; /* borrowed until the last look */
    size_t length;
    const char *best; /* borrowed from the offers */
    size_t mistakes;  /* an offer must have fewer than these */
    char phrase[100];
};

void psd_suggest_init(struct psd_suggest *suggest, const char *word, size_t length);

/* Considers `known`, which must stay valid while the suggestion is in use. The first of several
 * equally near words wins. */
void psd_suggest_offer(struct psd_suggest *suggest, const char *known);

/* The nearest of the words offered; NULL when none is near. */
const char *psd_suggest_best(const struct psd_suggest *suggest);

/* The end of a sentence: `; did you mean "kernel_size"?`, or "" when none is near. */
const char *psd_suggest_phrase(struct psd_suggest *suggest);

#endif
