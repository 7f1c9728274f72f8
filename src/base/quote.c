/* quote.c - one byte, or two to four that stand for it. */
#include "base/quote.h"
#include "base/alloc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* *at is behind the \. */
static psd_status read_escape(const char **at, const char *end, char *out)
{
    static const char letters[] = "nt\"\\", meanings[] = "\n\t\"\\";
    char letter = 'x'; /* where the text ends, half an \xNN */

    if (*at < end)
        letter = *(*at)++;
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found) {
        *out = meanings[found - letters];
        return PSD_OK;
    }
    if (letter == 'x' && end - *at >= 2 && isxdigit((unsigned char)(*at)[0]) &&
        isxdigit((unsigned char)(*at)[1])) {
        *out = (char)strtol((char[]){(*at)[0], (*at)[1], 0}, NULL, 16);
        *at += 2;
        if (*out)
            return PSD_OK;
    }
    return psd_fail(PSD_ECONFIG, "in quotes a \\ is followed by one of n t \" \\ or xNN");
}

psd_status psd_quote_read(const char **at, const char *end, char *out)
{
    for (; *at < end && **at != '"'; out++) {
        char letter = *(*at)++;
        if (letter == '\\')
            PSD_TRY(read_escape(at, end, &letter));
        *out = letter;
    }
    if (*at == end)
        return psd_fail(PSD_ECONFIG, "the closing \" is missing");
    (*at)++;
    *out = 0;
    return PSD_OK;
}

char *psd_quote_write(const char *text)
{
    char *quoted = psd_alloc(4 * strlen(text) + 3); /* every byte may become \xNN */
    char *out = quoted;

    if (!quoted)
        return NULL;
    *out++ = '"';
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 127)
            out += sprintf(out, "\\x%02x", (unsigned)(unsigned char)*text);
        else if (*text == '"' || *text == '\\')
            out += sprintf(out, "\\%c", *text);
        else
            *out++ = *text;
    }
    *out++ = '"';
    *out = 0;
    return quoted;
}
