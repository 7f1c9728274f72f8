/* mistakes.c - sentences with a position before them. */
#include "proto/mistakes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ENOUGH = 20 }; /* as many as psd_sentences shows */

void psd_mistakes_init(struct psd_mistakes *mistakes, const char *path)
{
    *mistakes = (struct psd_mistakes){.path = path};
}

void psd_mistakes_add(struct psd_mistakes *mistakes, size_t line, size_t column, const char *format,
                      ...)
{
    char sentence[600];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (line)
        psd_sentences_add(&mistakes->sentences, "%s:%zu:%zu: %s", mistakes->path, line, column,
                          sentence);
    else
        psd_sentences_add(&mistakes->sentences, "%s: %s", mistakes->path, sentence);
}

bool psd_mistakes_full(const struct psd_mistakes *mistakes)
{
    return mistakes->sentences.count > ENOUGH;
}

psd_status psd_mistakes_status(const struct psd_mistakes *mistakes)
{
    return psd_sentences_status(&mistakes->sentences);
}

const char *psd_quote(struct psd_quote *quote, const char *text, size_t length)
{
    char *to = quote->text;
    const char *end = quote->text + sizeof quote->text - sizeof "\\xNN...";

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (to > end) {
            memcpy(to, "...", sizeof "...");
            return quote->text;
        }
        if (c >= ' ' && c != 0x7f)
            *to++ = text[i];
        else
            to += sprintf(to, "\\x%02x", c);
    }
    *to = 0;
    return quote->text;
}
