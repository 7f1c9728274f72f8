/* number.c - text to value and back, the same in every locale. */
#include "proto/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 400 }; /* a decimal number with more characters is a mistake */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

bool psd_number_whole(const char *text, size_t length, uint64_t *out)
{
    uint64_t value = 0, base = 10;
    size_t i = 0;

    if (length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        base = 16;
        i = 2;
    } else if (length > 1 && text[0] == '0') {
        base = 8;
        i = 1;
    }
    if (i == length)
        return false;
    for (; i < length; i++) {
        uint64_t digit = (uint64_t)digit_of(text[i]);
        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *out = value;
    return true;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

/* Copies a number that starts with a digit or a point and ends without its f, so that strtod sees
 * nothing it would take in another way (hexadecimal, leading spaces). */
static bool copy_decimal(const char *text, size_t length, char *copy)
{
    if (length && (text[length - 1] | 0x20) == 'f')
        length--;
    if (length == 0 || length >= LONGEST || (length > 1 && (text[1] | 0x20) == 'x'))
        return false;
    if (digit_of(text[0]) > 9 && text[0] != '.')
        return false;
    if (length > 1 && text[0] == '0' && digit_of(text[1]) <= 9)
        return false; /* looks octal, and is not meant to be */
    memcpy(copy, text, length);
    copy[length] = 0;
    return true;
}

static bool is_special(const char *text, size_t length, float *out)
{
    if (is_word(text, length, "inf") || is_word(text, length, "infinity"))
        *out = INFINITY;
    else if (is_word(text, length, "nan"))
        *out = NAN;
    else
        return false;
    return true;
}

static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc keeps it; it needs no memory */
}

bool psd_number_float(const char *text, size_t length, float *out)
{
    char copy[LONGEST], *end = NULL;

    if (is_special(text, length, out))
        return true;
    if (!copy_decimal(text, length, copy))
        return false;
    locale_t locale = c_locale();
    float value = strtof_l(copy, &end, locale);
    freelocale(locale);
    if (*end || isinf(value))
        return false;
    *out = value;
    return true;
}

bool psd_number_double(const char *text, size_t length, double *out)
{
    char copy[LONGEST], *end = NULL;
    float special;

    if (is_special(text, length, &special)) {
        *out = (double)special;
        return true;
    }
    if (!copy_decimal(text, length, copy))
        return false;
    locale_t locale = c_locale();
    double value = strtod_l(copy, &end, locale);
    freelocale(locale);
    if (*end || isinf(value))
        return false;
    *out = value;
    return true;
}

/* printf has no variant for a locale, but the thread has one that can be changed for a moment. */
static void print(double value, int digits, char *out)
{
    locale_t locale = c_locale();
    locale_t before = uselocale(locale);
    snprintf(out, PSD_NUMBER_ROOM, "%.*g", digits, value);
    uselocale(before);
    freelocale(locale);
}

static bool print_special(double value, char *out)
{
    if (isfinite(value))
        return false;
    snprintf(out, PSD_NUMBER_ROOM, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return true;
}

void psd_number_print_float(float value, char *out)
{
    if (print_special((double)value, out))
        return;
    for (int digits = 6; digits <= 9; digits++) {
        float back = 0;
        print((double)value, digits, out);
        bool negative = *out == '-';
        if (psd_number_float(out + negative, strlen(out) - negative, &back) &&
            (negative ? -back : back) == value)
            return;
    }
}

void psd_number_print_double(double value, char *out)
{
    if (print_special(value, out))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        double back = 0;
        print(value, digits, out);
        bool negative = *out == '-';
        if (psd_number_double(out + negative, strlen(out) - negative, &back) &&
            (negative ? -back : back) == value)
            return;
    }
}
