/* quote.h - texts in double quotes, as our text files write what has blanks in it.
 *
 *     "eth0 # the fast one\x1b"       \" \\ \n \t and \xNN stand for one byte; no byte is NUL
 *
 * Settings and the files of base/lines.h read and write the same quotes. */
#ifndef PSD_BASE_QUOTE_H
#define PSD_BASE_QUOTE_H

#include "base/status.h"

/* Reads the text whose opening quote is before *at, and moves *at behind the closing one. `out` has
 * room for end - *at + 1 bytes, and may be the place where the text stands. PSD_ECONFIG: the closing
 * quote is missing, or a \ has no meaning. */
psd_status psd_quote_read(const char **at, const char *end, char *out);

/* The text in quotes; the caller frees it. NULL when there is no memory. */
char *psd_quote_write(const char *text);

#endif
