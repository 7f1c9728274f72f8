/* lines.h - a text file of ours, line by line and word by word.
 *
 *     # what follows a # at the start of a word is for people
 *     layer conv1 forward 1.5 ms        words are separated by blanks
 *     layer "a long name" ...           quotes keep blanks and # in one (base/quote.h)
 *
 *     static psd_status read_line(void *context, const struct psd_line *line) { ... }
 *     psd_lines_read("net.txt", read_line, &net);
 *
 * The function judges one line at a time; what it refuses is told with file and line, all mistakes of
 * a file together. CR LF and a byte-order mark are fine; any other control character means that this
 * is no text, and reading ends there. A file is 1 MiB long at most. */
#ifndef PSD_BASE_LINES_H
#define PSD_BASE_LINES_H

#include "base/status.h"

#include <stddef.h>

enum { PSD_LINE_WORDS = 12, PSD_LINES_LIMIT = 1 << 20 };

/* A line with at least one word; borrowed for the call. */
struct psd_line {
    size_t words;
    const char *word[PSD_LINE_WORDS];
};

/* Takes in a line. A failure, whose sentence need not say where, is a mistake of this line, and the
 * next one follows; but PSD_ENOMEM ends the reading. */
typedef psd_status psd_line_function(void *context, const struct psd_line *line);

/* Reads the file at `path`, or `size` bytes of a file that sentences call `name`. PSD_ECONFIG: all
 * mistakes, each with its place; lines before and after a wrong one have been taken in. */
psd_status psd_lines_read(const char *path, psd_line_function *read_line, void *context);
psd_status psd_lines_parse(const char *name, const char *bytes, size_t size,
                           psd_line_function *read_line, void *context);

/* What word `i`, which is there, says: a whole number from 1 to `most`, a number from `least` to
 * `most`, two whole numbers as in "3x3". PSD_ECONFIG: something else. */
psd_status psd_line_count(const struct psd_line *line, size_t i, size_t most, size_t *out);
psd_status psd_line_number(const struct psd_line *line, size_t i, double least, double most,
                           double *out);
psd_status psd_line_pair(const struct psd_line *line, size_t i, size_t most, size_t out[2]);

#endif
