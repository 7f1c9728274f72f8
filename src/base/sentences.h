/* sentences.h - several sentences that become one failure.
 *
 *     struct psd_sentences sentences = {0};
 *     for (each line)
 *         if (parse(line) != PSD_OK)
 *             psd_sentences_add(&sentences, "%s:%u: %s", path, number, psd_error());
 *     return psd_sentences_status(&sentences);      PSD_OK, or PSD_ECONFIG with a line for each
 *
 * A reader that goes on after a mistake shows a person all of them at once; the list is as long as
 * a screen, and what does not fit is left out. Needs no memory beyond its own. */
#ifndef PSD_BASE_SENTENCES_H
#define PSD_BASE_SENTENCES_H

#include "base/status.h"

#include <stddef.h>

struct psd_sentences {
    unsigned count; /* of those added */
    unsigned left;  /* of those, without a place in text */
    size_t length;
    char text[8192]; /* one sentence a line, no newline at the end */
};

__attribute__((format(printf, 2, 3))) void psd_sentences_add(struct psd_sentences *sentences,
                                                             const char *format, ...);

/* PSD_OK without mistakes; else PSD_ECONFIG with all of them as its sentence. */
psd_status psd_sentences_status(const struct psd_sentences *sentences);

#endif
