/* mistakes.h - what is wrong with a file, several mistakes at once.
 *
 *     psd_mistakes_add(&mistakes, line, column, "unknown field \"%s\"", name);     as they are seen
 *     return psd_mistakes_status(&mistakes);                                       in the end
 *
 * A person who has to correct a file wants to see all that is wrong with it, in the order of its
 * lines; nobody wants to see a thousand. */
#ifndef PSD_PROTO_MISTAKES_H
#define PSD_PROTO_MISTAKES_H

#include "base/sentences.h"

#include <stdbool.h>

struct psd_mistakes {
    const char *path; /* borrowed; stands before each position */
    struct psd_sentences sentences;
};

void psd_mistakes_init(struct psd_mistakes *mistakes, const char *path);

/* Adds `path:line:column: sentence`; with line 0 there is no position. */
__attribute__((format(printf, 4, 5))) void psd_mistakes_add(struct psd_mistakes *mistakes,
                                                            size_t line, size_t column,
                                                            const char *format, ...);

/* More mistakes than anyone wants to see: reading on is of no use. */
bool psd_mistakes_full(const struct psd_mistakes *mistakes);

/* PSD_OK without mistakes; else PSD_ECONFIG, with all of them in psd_error(). */
psd_status psd_mistakes_status(const struct psd_mistakes *mistakes);

/* Room for a piece of text between quotation marks in a sentence. */
struct psd_quote {
    char text[64];
};

/* Makes a piece of a file fit to be shown: what cannot be printed becomes \xNN, what is long is cut
 * and ends in "...". */
const char *psd_quote(struct psd_quote *quote, const char *text, size_t length);

#endif
