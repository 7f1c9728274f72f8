/* forms.h - how the lines of a text file are written, and what reads each of them.
 *
 *     static const struct psd_forms_line forms[] = {
 *         {"layer", "NAME forward N ms", read_layer},      a line: layer conv1 forward 1.5 ms
 *         {0},
 *     };
 *
 * In a form a word of capital letters stands for any word, every other for itself. A line that fits no
 * form is refused with the one it should have. For use with base/lines.h. */
#ifndef PSD_BASE_FORMS_H
#define PSD_BASE_FORMS_H

#include "base/lines.h"

struct psd_forms_line {
    const char *word; /* the line's first; NULL ends a table */
    const char *rest; /* what follows it, with one blank between words */
    psd_line_function *read;
};

/* Has the first form that fits the line read it. Forms of the same word stand together. PSD_ECONFIG:
 * none fits; the sentence shows how the line is written. */
psd_status psd_forms_read(const struct psd_forms_line *forms, const struct psd_line *line,
                          void *context);

#endif
