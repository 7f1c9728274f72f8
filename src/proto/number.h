/* number.h - numbers as the text format writes them.
 *
 *     17  0x11  021                 whole numbers
 *     0.01  1e-3  5f  inf  nan      floating point; rounded once, to the width of the field
 *
 * Signs are tokens of their own and none of these functions' business. */
#ifndef PSD_PROTO_NUMBER_H
#define PSD_PROTO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal, hexadecimal or octal. False: no whole number, or one above 64 bits. */
bool psd_number_whole(const char *text, size_t length, uint64_t *out);

/* Decimal with fraction and exponent, or inf, infinity, nan. False: no such number, or one too
 * large for the type. */
bool psd_number_float(const char *text, size_t length, float *out);
bool psd_number_double(const char *text, size_t length, double *out);

/* The shortest decimal text that reads back as the same value; `out` has PSD_NUMBER_ROOM bytes. */
enum { PSD_NUMBER_ROOM = 32 };
void psd_number_print_float(float value, char *out);
void psd_number_print_double(double value, char *out);

#endif
