/* quoted.c - what stands between the quotation marks. */
#include "proto/quoted.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Reads up to `most` digits of a base of 8 or 16 and returns how many there were. */
static size_t take_digits(const char *text, size_t length, size_t most, unsigned base,
                          uint32_t *out)
{
    size_t n = 0;

    *out = 0;
    for (; n < most && n < length; n++) {
        char c = text[n];
        unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
                         : (c | 0x20) >= 'a' && (c | 0x20) <= 'f'
                             ? (unsigned)((c | 0x20) - 'a') + 10
                             : 99;
        if (digit >= base)
            break;
        *out = *out * base + digit;
    }
    return n;
}

static size_t put_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    out[0] = (char)(marks[n] | (c & 0xff));
    return n;
}

/* One escape behind its backslash: how many characters it takes, and the bytes it stands for. */
static const char *take_escape(const char *text, size_t length, size_t *taken, char *out,
                               size_t *put)
{
    static const char letters[] = "abfnrtv?'\"\\", meanings[] = "\a\b\f\n\r\t\v?'\"\\";
    const char *letter = length && *text ? strchr(letters, *text) : NULL;
    uint32_t value;

    *put = 1;
    *taken = 1;
    if (letter) {
        *out = meanings[letter - letters];
        return NULL;
    }
    size_t octal = take_digits(text, length, 3, 8, &value);
    if (octal) {
        *taken = octal;
        *out = (char)value;
        return value > 255 ? "an octal escape above \\377" : NULL;
    }
    char kind = '\0';
    if (length)
        kind = *text;
    size_t most = kind == 'x' || kind == 'X' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (!most)
        return "an unknown escape after the backslash";
    size_t hex = take_digits(text + 1, length - 1, most, 16, &value);
    if (hex == 0 || (most > 2 && hex < most))
        return "an escape with too few hexadecimal digits";
    *taken = 1 + hex;
    if (most == 2) {
        *out = (char)value;
        return NULL;
    }
    if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return "an escape that is no Unicode character";
    *put = put_utf8(value, out);
    return NULL;
}

const char *psd_quoted_bytes(const char *text, size_t length, char *out, size_t *out_length)
{
    size_t i = 1, used = 0;

    while (i + 1 < length) {
        if (text[i] != '\\') {
            out[used++] = text[i++];
            continue;
        }
        size_t taken, put;
        const char *problem = take_escape(text + i + 1, length - i - 2, &taken, out + used, &put);
        if (problem)
            return problem;
        i += 1 + taken;
        used += put;
    }
    *out_length = used;
    return NULL;
}

size_t psd_quoted_print(char byte, char *out)
{
    static const char letters[] = "nrt'\"\\", meanings[] = "\n\r\t'\"\\";
    const char *meaning = byte ? strchr(meanings, byte) : NULL;

    out[0] = '\\';
    if (meaning) {
        out[1] = letters[meaning - meanings];
        return 2;
    }
    if (byte >= ' ' && byte < 0x7f) {
        out[0] = byte;
        return 1;
    }
    unsigned value = (unsigned char)byte;
    for (size_t i = 3; i > 0; i--, value /= 8)
        out[i] = (char)('0' + value % 8);
    return 4;
}
