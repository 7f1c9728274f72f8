/* npy.c - a header that is a Python dictionary, and numbers behind it.
 *
 * Every length is checked against what is there before it is believed. */
#include "base/npy.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/little.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they stand");

static const unsigned char mark[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* What is left of the header. */
struct text {
    const char *name; /* of the file */
    const char *at, *end;
};

/* What the header says. */
struct header {
    char kind; /* 'f', 'i', 'u' or 'b' */
    size_t width;
    bool fortran;
    bool has_kind, has_order, has_shape;
};

__attribute__((format(printf, 2, 3))) static psd_status damaged(const char *name,
                                                                const char *format, ...)
{
    char sentence[200];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return psd_fail(PSD_ECONFIG, "%s: %s", name, sentence);
}

/* --- the header ------------------------------------------------------------------------------- */

static void skip_blanks(struct text *text)
{
    while (text->at < text->end && isspace((unsigned char)*text->at))
        text->at++;
}

/* Takes `letter` if it comes next. */
static bool take(struct text *text, char letter)
{
    skip_blanks(text);
    if (text->at == text->end || *text->at != letter)
        return false;
    text->at++;
    return true;
}

/* Takes a word in quotes. */
static bool take_quoted(struct text *text, char *out, size_t room)
{
    size_t length = 0;

    skip_blanks(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
        return false;
    char quote = *text->at++;
    while (text->at < text->end && *text->at != quote && length + 1 < room)
        out[length++] = *text->at++;
    out[length] = 0;
    return take(text, quote);
}

static bool take_word(struct text *text, const char *word)
{
    size_t length = strlen(word);

    skip_blanks(text);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* A number below 10^18, perhaps with the L of Python 2. */
static bool take_number(struct text *text, size_t *out)
{
    size_t number = 0, digits = 0;

    skip_blanks(text);
    while (text->at < text->end && isdigit((unsigned char)*text->at) && digits < 18) {
        number = number * 10 + (size_t)(*text->at++ - '0');
        digits++;
    }
    if (text->at < text->end && *text->at == 'L')
        text->at++;
    *out = number;
    return digits > 0;
}

static psd_status read_kind(struct text *text, struct header *header)
{
    static const char *const known[] = {"<f4", "<f8", "<i2", "<i4", "<i8", "<u2",
                                        "<u4", "<u8", "|i1", "|u1", "|b1"};
    char kind[16];

    if (!take_quoted(text, kind, sizeof kind))
        return damaged(text->name, "its numbers have names; plain arrays are read");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(kind, known[i]) == 0) {
            header->kind = kind[1];
            header->width = (size_t)(kind[2] - '0');
            header->has_kind = true;
            return PSD_OK;
        }
    }
    return damaged(text->name,
                   "its numbers are of the type \"%s\"; little-endian f4, f8, integers and "
                   "booleans are read",
                   kind);
}

static psd_status read_order(struct text *text, struct header *header)
{
    header->fortran = take_word(text, "True");
    header->has_order = header->fortran || take_word(text, "False");
    return header->has_order ? PSD_OK
                             : damaged(text->name, "fortran_order is neither True nor False");
}

static psd_status read_shape(struct text *text, struct header *header, struct psd_npy *npy)
{
    npy->axes = 0;
    npy->count = 1;
    if (!take(text, '('))
        return damaged(text->name, "its shape makes no sense");
    while (!take(text, ')')) {
        size_t dim;
        if (npy->axes == PSD_NPY_AXES)
            return damaged(text->name, "it has more than %d axes", PSD_NPY_AXES);
        if (!take_number(text, &dim) ||
            (!take(text, ',') && (text->at == text->end || *text->at != ')')))
            return damaged(text->name, "its shape makes no sense");
        if (__builtin_mul_overflow(npy->count, dim, &npy->count))
            return damaged(text->name, "its shape is too large");
        npy->dim[npy->axes++] = dim;
    }
    header->has_shape = true;
    return PSD_OK;
}

static psd_status read_entry(struct text *text, struct header *header, struct psd_npy *npy)
{
    char key[32];

    if (!take_quoted(text, key, sizeof key) || !take(text, ':'))
        return damaged(text->name, "its header is no dictionary");
    if (strcmp(key, "descr") == 0)
        return read_kind(text, header);
    if (strcmp(key, "fortran_order") == 0)
        return read_order(text, header);
    if (strcmp(key, "shape") == 0)
        return read_shape(text, header, npy);
    return damaged(text->name, "its header has an unknown key \"%s\"", key);
}

static psd_status read_dictionary(struct text *text, struct header *header, struct psd_npy *npy)
{
    if (!take(text, '{'))
        return damaged(text->name, "its header is no dictionary");
    while (!take(text, '}')) {
        PSD_TRY(read_entry(text, header, npy));
        if (!take(text, ',') && (text->at == text->end || *text->at != '}'))
            return damaged(text->name, "its header is no dictionary");
    }
    if (!header->has_kind || !header->has_order || !header->has_shape)
        return damaged(text->name, "its header lacks descr, fortran_order or shape");
    return PSD_OK;
}

/* --- the numbers ------------------------------------------------------------------------------ */

#define NUMBER(type)                          \
    do {                                      \
        type number;                          \
        memcpy(&number, from, sizeof number); \
        return (float)number;                 \
    } while (0)

static float convert(const struct header *header, const unsigned char *from)
{
    switch (header->kind << 4 | (int)header->width) {
    case 'f' << 4 | 4:
        NUMBER(float);
    case 'f' << 4 | 8:
        NUMBER(double);
    case 'i' << 4 | 1:
        NUMBER(int8_t);
    case 'i' << 4 | 2:
        NUMBER(int16_t);
    case 'i' << 4 | 4:
        NUMBER(int32_t);
    case 'i' << 4 | 8:
        NUMBER(int64_t);
    case 'u' << 4 | 2:
        NUMBER(uint16_t);
    case 'u' << 4 | 4:
        NUMBER(uint32_t);
    case 'u' << 4 | 8:
        NUMBER(uint64_t);
    default:
        return *from; /* u1, b1 */
    }
}

/* Where number `index` in C order stands in Fortran's, whose first axis runs fastest. */
static size_t fortran_place(const struct psd_npy *npy, size_t index)
{
    size_t place = 0;

    for (size_t i = npy->axes; i-- > 0; index /= npy->dim[i]) {
        size_t stride = 1;
        for (size_t k = 0; k < i; k++)
            stride *= npy->dim[k];
        place += index % npy->dim[i] * stride;
    }
    return place;
}

static psd_status read_numbers(const char *name, const struct header *header,
                               const unsigned char *bytes, size_t size, struct psd_npy *npy)
{
    if (size % header->width || npy->count != size / header->width)
        return damaged(name, "it has %zu bytes of numbers where its shape asks for %zu times %zu",
                       size, npy->count, header->width);
    npy->values = psd_alloc_zero(npy->count, sizeof *npy->values);
    if (!npy->values)
        return PSD_ENOMEM;
    for (size_t i = 0; i < npy->count; i++) {
        size_t place = header->fortran ? fortran_place(npy, i) : i;
        npy->values[i] = convert(header, bytes + place * header->width);
    }
    return PSD_OK;
}

/* --- files ------------------------------------------------------------------------------------ */

psd_status psd_npy_parse(const char *name, const void *bytes, size_t size, struct psd_npy *out)
{
    const unsigned char *from = bytes;
    struct psd_npy npy = {.values = NULL};
    struct header header = {.width = 1};

    if (size < 12 || memcmp(from, mark, sizeof mark) != 0)
        return damaged(name, "it is no file of NumPy's (.npy)");
    if (from[6] < 1 || from[6] > 3)
        return damaged(name, "version %d of the format is not known; 1 to 3 are", from[6]);
    size_t begin = from[6] == 1 ? 10 : 12;
    size_t length = (size_t)psd_little_get(from + 8, begin - 8);
    if (length > size - begin)
        return damaged(name, "it ends within its header");
    struct text text = {name, (const char *)from + begin, (const char *)from + begin + length};
    PSD_TRY(read_dictionary(&text, &header, &npy));
    PSD_TRY(read_numbers(name, &header, from + begin + length, size - begin - length, &npy));
    *out = npy;
    return PSD_OK;
}

psd_status psd_npy_read(const char *path, struct psd_npy *out)
{
    struct psd_file file;

    PSD_TRY(psd_file_open(path, &file));
    psd_status status = psd_npy_parse(path, file.data, file.size, out);
    psd_file_close(&file);
    return status;
}

void psd_npy_fini(struct psd_npy *npy)
{
    psd_alloc_free(npy->values);
    npy->values = NULL;
}

enum { ALIGNMENT = 64, LONGEST = 1024 }; /* a number of 20 digits for each of 32 axes fits */

/* Writes mark, version, length and dictionary; returns how long they are. */
static size_t make_header(const size_t *dim, size_t axes, char *out)
{
    char *text = out + 10;
    int used = snprintf(text, LONGEST - 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (");

    for (size_t i = 0; i < axes; i++)
        used += snprintf(text + used, LONGEST - 10 - (size_t)used, "%zu,%s", dim[i],
                         i + 1 < axes ? " " : "");
    used += snprintf(text + used, LONGEST - 10 - (size_t)used, "), }");
    size_t total = ((size_t)used + 11 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t length = total - 10;
    memcpy(out, mark, sizeof mark);
    memcpy(out + 6, (char[]){1, 0, (char)(length & 0xff), (char)(length >> 8)}, 4);
    memset(text + used, ' ', length - (size_t)used);
    text[length - 1] = '\n';
    return total;
}

psd_status psd_npy_write(const char *path, const size_t *dim, size_t axes, const float *values)
{
    struct psd_file_writer *writer = NULL;
    char header[LONGEST];
    size_t count = 1;

    if (axes > PSD_NPY_AXES)
        return psd_fail(PSD_EINVAL, "%s: %zu axes are more than %d", path, axes, PSD_NPY_AXES);
    for (size_t i = 0; i < axes; i++)
        count *= dim[i];
    PSD_TRY(psd_file_create(path, &writer));
    psd_file_write(writer, header, make_header(dim, axes, header));
    psd_file_write(writer, values, count * sizeof *values);
    return psd_file_commit(writer);
}
