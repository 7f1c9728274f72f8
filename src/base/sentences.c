/* sentences.c - a list of sentences in one fixed buffer. */
#include "base/sentences.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

enum { MOST = 20 }; /* lines of text */

void psd_sentences_add(struct psd_sentences *sentences, const char *format, ...)
{
    size_t room = sizeof sentences->text - sentences->length;
    char *end = sentences->text + sentences->length;
    bool first = sentences->length == 0;
    va_list args;

    va_start(args, format);
    int length = vsnprintf(end + !first, room - !first, format, args);
    va_end(args);
    sentences->count++;
    if (sentences->count > MOST || length < 0 || (size_t)length + !first >= room) {
        *end = 0;
        sentences->left++;
        return;
    }
    if (!first)
        *end = '\n';
    sentences->length += (size_t)length + !first;
}

psd_status psd_sentences_status(const struct psd_sentences *sentences)
{
    if (sentences->count == 0)
        return PSD_OK;
    if (sentences->left == 0)
        return psd_fail(PSD_ECONFIG, "%s", sentences->text);
    return psd_fail(PSD_ECONFIG, "%s\nthere is more to correct after these", sentences->text);
}
