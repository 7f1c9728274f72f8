/* value.c - reading each kind of value; nothing is stored unless all of the text makes sense. */
#include "base/value.h"
#include "base/alloc.h"
#include "base/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "parse_amount stores both");

enum { SHOWN = 100 }; /* letters of a wrong value that an error repeats */

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit sizes[] = {
    {"", 1},
    {"B", 1},
    {"K", UINT64_C(1) << 10},
    {"KiB", UINT64_C(1) << 10},
    {"M", UINT64_C(1) << 20},
    {"MiB", UINT64_C(1) << 20},
    {"G", UINT64_C(1) << 30},
    {"GiB", UINT64_C(1) << 30},
    {"T", UINT64_C(1) << 40},
    {"TiB", UINT64_C(1) << 40},
    {NULL, 0},
};

static const struct unit times[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", 60 * UINT64_C(1000000000)},
    {"min", 60 * UINT64_C(1000000000)},
    {"h", 3600 * UINT64_C(1000000000)},
    {NULL, 0},
};

/* Networks count by thousands. "/s" may follow each. */
static const struct {
    const char *name;
    double bytes;
} speeds[] = {
    {"bit", 0.125}, {"Kbit", 125}, {"Mbit", 125e3}, {"Gbit", 125e6}, {"Tbit", 125e9},
    {"B", 1},       {"KB", 1e3},   {"MB", 1e6},     {"GB", 1e9},     {NULL, 0},
};

static bool parse_bool(const char *text, bool *out)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out = i % 2;
            return true;
        }
    }
    return false;
}

static bool parse_int(const struct psd_value *value, const char *text, int64_t *out)
{
    char *end;

    errno = 0;
    int64_t number = strtoll(text, &end, 10);
    if (errno || end == text || *end || isspace((unsigned char)*text))
        return false;
    if (number < value->least || number > value->most)
        return false;
    *out = number;
    return true;
}

/* Returns what follows the number; NULL: there is none. A point is a point, whatever the language of
 * the process we are part of. */
static const char *read_double(const char *text, double *out)
{
    char *end;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (!plain)
        return NULL;
    *out = strtod_l(text, &end, plain);
    freelocale(plain);
    return end == text || isspace((unsigned char)*text) || !isfinite(*out) ? NULL : end;
}

static bool parse_double(const char *text, double *out)
{
    double number;
    const char *rest = read_double(text, &number);

    if (!rest || *rest)
        return false;
    *out = number;
    return true;
}

/* Bytes of the unit at `text`; 0: it is none. */
static double read_speed_unit(const char *text)
{
    size_t length = strlen(text), i = 0;

    if (length > 2 && strcasecmp(text + length - 2, "/s") == 0)
        length -= 2;
    while (speeds[i].name &&
           (strlen(speeds[i].name) != length || strncasecmp(speeds[i].name, text, length) != 0))
        i++;
    return speeds[i].bytes;
}

static bool parse_speed(const char *text, double *out)
{
    double number;
    const char *rest = read_double(text, &number);
    double speed = rest ? number * read_speed_unit(rest) : 0;

    if (!(speed > 0) || !isfinite(speed))
        return false;
    *out = speed;
    return true;
}

static bool parse_amount(const struct unit *units, const char *text, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (errno)
        return false;
    while (units->name && strcasecmp(units->name, end) != 0)
        units++;
    if (!units->name || number > UINT64_MAX / units->factor)
        return false;
    *out = number * units->factor;
    return true;
}

static bool parse_time(const char *text, uint64_t *out)
{
    if (strcmp(text, "0") == 0) {
        *out = 0;
        return true;
    }
    return parse_amount(times, text, out);
}

/* Goes behind a number from 1 to 65535. */
static bool read_port(const char **at, uint16_t *out)
{
    unsigned number = 0;

    while (isdigit((unsigned char)**at) && number <= UINT16_MAX)
        number = 10 * number + (unsigned)(*(*at)++ - '0');
    *out = (uint16_t)number;
    return number > 0 && number <= UINT16_MAX;
}

static bool parse_ports(const char *text, struct psd_value_ports *out)
{
    struct psd_value_ports ports = {0, 0};

    if (!read_port(&text, &ports.first))
        return false;
    if (*text == '-') {
        text++;
        if (!read_port(&text, &ports.last) || ports.last < ports.first)
            return false;
    }
    if (*text)
        return false;
    *out = ports;
    return true;
}

static bool parse_choice(const char *const *words, const char *text, int *out)
{
    for (int i = 0; words[i]; i++) {
        if (strcasecmp(words[i], text) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static psd_status refuse(const struct psd_value *value, const char *text)
{
    char accepts[512];
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, text, strlen(text));
    for (size_t i = 0; value->words && value->words[i]; i++)
        psd_suggest_offer(&suggest, value->words[i]);
    psd_value_accepts(value, accepts, sizeof accepts);
    return psd_fail(PSD_ECONFIG, "\"%.*s%s\" is not %s%s", SHOWN, text,
                    strlen(text) > SHOWN ? "..." : "", accepts, psd_suggest_phrase(&suggest));
}

static psd_status store_text(const char *text, char **field)
{
    char *copy = psd_alloc_copy(text, strlen(text) + 1);

    if (!copy)
        return PSD_ENOMEM;
    psd_alloc_free(*field);
    *field = copy;
    return PSD_OK;
}

static void clear_list(char ***field)
{
    for (size_t i = 0; *field && (*field)[i]; i++)
        psd_alloc_free((*field)[i]);
    psd_alloc_free((void *)*field);
    *field = NULL;
}

static psd_status append_text(const char *text, size_t length, char ***field)
{
    size_t count = 0;

    while (*field && (*field)[count])
        count++;
    char **longer = psd_alloc_resize((void *)*field, count + 2, sizeof *longer);
    if (!longer)
        return PSD_ENOMEM;
    longer[count] = longer[count + 1] = NULL;
    *field = longer;
    longer[count] = psd_alloc_text("%.*s", (int)length, text);
    return longer[count] ? PSD_OK : PSD_ENOMEM;
}

/* Nothing between two commas is nothing. */
static psd_status append_list(const char *text, char ***field)
{
    while (*text) {
        size_t length = strcspn(text, ",");
        if (length)
            PSD_TRY(append_text(text, length, field));
        text += length + (text[length] == ',');
    }
    return PSD_OK;
}

psd_status psd_value_parse(const struct psd_value *value, const char *text, void *base)
{
    void *field = (char *)base + value->offset;
    bool good = false;

    switch (value->kind) {
    case PSD_VALUE_BOOL:
        good = parse_bool(text, field);
        break;
    case PSD_VALUE_INT:
        good = parse_int(value, text, field);
        break;
    case PSD_VALUE_DOUBLE:
        good = parse_double(text, field);
        break;
    case PSD_VALUE_SIZE:
        good = parse_amount(sizes, text, field);
        break;
    case PSD_VALUE_TIME:
        good = parse_time(text, field);
        break;
    case PSD_VALUE_SPEED:
        good = parse_speed(text, field);
        break;
    case PSD_VALUE_TEXT:
        return store_text(text, field);
    case PSD_VALUE_CHOICE:
        good = parse_choice(value->words, text, field);
        break;
    case PSD_VALUE_PORTS:
        good = parse_ports(text, field);
        break;
    case PSD_VALUE_LIST:
        return append_list(text, field);
    }
    return good ? PSD_OK : refuse(value, text);
}

psd_status psd_value_check(const struct psd_value *value, const char *text)
{
    struct psd_value elsewhere = *value;
    uint64_t field = 0; /* as wide as the widest kind */

    if (value->kind == PSD_VALUE_TEXT || value->kind == PSD_VALUE_LIST)
        return PSD_OK;
    elsewhere.offset = 0;
    return psd_value_parse(&elsewhere, text, &field);
}

static void list_words(const char *const *words, char *out, size_t size)
{
    int used = snprintf(out, size, "one of");

    for (size_t i = 0; words[i] && used >= 0 && (size_t)used < size; i++)
        used += snprintf(out + used, size - (size_t)used, "%s %s", i ? "," : "", words[i]);
}

static void write_range(const struct psd_value *value, char *out, size_t size)
{
    if (value->least == INT64_MIN && value->most == INT64_MAX)
        snprintf(out, size, "a whole number");
    else if (value->most == INT64_MAX)
        snprintf(out, size, "a whole number of %" PRId64 " or more", value->least);
    else
        snprintf(out, size, "a whole number from %" PRId64 " to %" PRId64, value->least,
                 value->most);
}

const char *psd_value_accepts(const struct psd_value *value, char *out, size_t size)
{
    static const char *const fixed[] = {
        [PSD_VALUE_BOOL] = "on or off",
        [PSD_VALUE_DOUBLE] = "a number such as 0.5 or 1e-3",
        [PSD_VALUE_SIZE] = "a size such as 512, 64K, 2M or 1G",
        [PSD_VALUE_TIME] = "a time such as 500ms, 10s, 2m or 1h",
        [PSD_VALUE_SPEED] = "a speed such as 10Gbit, 800Mbit or 1.2GB/s",
        [PSD_VALUE_TEXT] = "text",
        [PSD_VALUE_CHOICE] = NULL,
        [PSD_VALUE_PORTS] = "a port such as 7070, or a range such as 7070-7099",
        [PSD_VALUE_LIST] = "texts separated by commas",
    };

    if (value->kind == PSD_VALUE_INT)
        write_range(value, out, size);
    else if (value->kind == PSD_VALUE_CHOICE)
        list_words(value->words, out, size);
    else
        snprintf(out, size, "%s", fixed[value->kind]);
    return out;
}

void psd_value_clear(const struct psd_value *value, void *base)
{
    void *field = (char *)base + value->offset;

    if (value->kind == PSD_VALUE_LIST)
        clear_list(field);
    if (value->kind != PSD_VALUE_TEXT)
        return;
    psd_alloc_free(*(char **)field);
    *(char **)field = NULL;
}
