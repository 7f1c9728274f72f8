/* svg.c - text that is safe in a picture. */
#include "cli/svg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at `text` that XML allows; 0: it is none. */
static size_t character(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0x20, 0x80, 0x800, 0x10000};
    unsigned char lead = text[0];
    size_t size = lead < 0x80       ? 1
                  : lead >> 5 == 6  ? 2
                  : lead >> 4 == 14 ? 3
                  : lead >> 3 == 30 ? 4
                                    : 0;
    uint32_t code = size == 1 ? lead : lead & (0xffU >> (size + 1));

    for (size_t i = 1; i < size; i++) {
        if (text[i] >> 6 != 2)
            return 0;
        code = code << 6 | (text[i] & 0x3fU);
    }
    bool allowed = size && code >= least[size] && code != 0x7f && code <= 0x10ffff &&
                   (code < 0xd800 || code > 0xdfff) && code != 0xfffe && code != 0xffff;
    return allowed ? size : 0;
}

static const char *escape_of(char letter)
{
    switch (letter) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    default:
        return NULL;
    }
}

void psd_svg_text(FILE *out, const char *text)
{
    while (*text) {
        size_t size = character((const unsigned char *)text);
        const char *escape = escape_of(*text);
        if (!size)
            fputc('?', out);
        else if (escape)
            fputs(escape, out);
        else
            fwrite(text, 1, size, out);
        text += size ? size : 1;
    }
}
