/* settings_text.h - settings as lines of text.
 *
 *     # what follows a # at the start of a line or after a blank is for people
 *     net.timeout = 5s
 *     net.interface = "eth0 # the fast one"      quotes keep blanks and # in a text
 *
 * In quotes \" \\ \n \t and \x1b (two hexadecimal digits) stand for one byte. Blank lines, CR LF
 * and a byte-order mark are fine; of two lines for one setting the later wins. Any other control
 * character means that this is no text, and reading ends there. */
#ifndef PSD_BASE_SETTINGS_TEXT_H
#define PSD_BASE_SETTINGS_TEXT_H

#include "base/sentences.h"
#include "base/settings.h"

/* Sets what the `size` bytes say; `name` is the file's name for people. A wrong line is added to
 * `mistakes`, with its place; the lines after it still count. */
psd_status psd_settings_text_parse(struct psd_settings *settings, const char *name,
                                   const char *bytes, size_t size, struct psd_sentences *mistakes);

/* The text as the right side of a line, in quotes where it needs them; the caller frees it. NULL
 * when there is no memory. */
char *psd_settings_text_quote(const char *text);

#endif
