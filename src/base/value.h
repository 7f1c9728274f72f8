/* value.h - a field of a structure that a person fills in by writing text.
 *
 *     struct net_config { uint64_t timeout_ns; ... } config;
 *     static const struct psd_value timeout = PSD_TIME(struct net_config, timeout_ns);
 *
 *     psd_value_parse(&timeout, "10s", &config)      config.timeout_ns is 10000000000
 *     psd_value_parse(&timeout, "soon", &config)     fails: "soon" is not a time such as 10s
 *
 * Settings (base/settings.h) and the options of commands (cli/options.h) are rows that end in such
 * a value, so both understand the same words. */
#ifndef PSD_BASE_VALUE_H
#define PSD_BASE_VALUE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum psd_value_kind {
    PSD_VALUE_BOOL,   /* bool: on or off, true or false, yes or no, 1 or 0 */
    PSD_VALUE_INT,    /* int64_t: a whole number between least and most */
    PSD_VALUE_DOUBLE, /* double: a finite number */
    PSD_VALUE_SIZE,   /* size_t, in bytes: 512, 64K or 64KiB, 2M, 1G, 1T (powers of 1024) */
    PSD_VALUE_TIME,   /* uint64_t, in nanoseconds: 0, 20us, 500ms, 10s, 2m, 1h */
    PSD_VALUE_SPEED,  /* double, in bytes a second, above 0: 10Gbit, 2.5Gbit/s, 800Mbit, 1.2GB/s */
    PSD_VALUE_TEXT,   /* char *, owned by the structure: any text */
    PSD_VALUE_CHOICE, /* an enumeration: one of words, stored as its place among them */
    PSD_VALUE_PORTS,  /* struct psd_value_ports: 7070, or 7070-7099 */
    PSD_VALUE_LIST /* char **, owned by the structure, NULL or ending with NULL: the texts between
                         commas, added to those that are there; for options, not for settings */
};

/* Ports of a machine, 1 to 65535. */
struct psd_value_ports {
    uint16_t first, last; /* last is 0 where one is written: what follows it is up to the reader */
};

struct psd_value {
    enum psd_value_kind kind;
    size_t offset;            /* of the field in its structure */
    int64_t least, most;      /* PSD_VALUE_INT only */
    const char *const *words; /* PSD_VALUE_CHOICE only; ends with NULL; static */
};

/* One macro for each kind; a field of another C type than the kind's does not compile. */
#define PSD_BOOL(type, field)   PSD_VALUE(BOOL, PSD_VALUE_AT(type, field, bool), 0, 0, NULL)
#define PSD_DOUBLE(type, field) PSD_VALUE(DOUBLE, PSD_VALUE_AT(type, field, double), 0, 0, NULL)
#define PSD_SIZE(type, field)   PSD_VALUE(SIZE, PSD_VALUE_AT(type, field, size_t), 0, 0, NULL)
#define PSD_TIME(type, field)   PSD_VALUE(TIME, PSD_VALUE_AT(type, field, uint64_t), 0, 0, NULL)
#define PSD_SPEED(type, field)  PSD_VALUE(SPEED, PSD_VALUE_AT(type, field, double), 0, 0, NULL)
#define PSD_TEXT(type, field)   PSD_VALUE(TEXT, PSD_VALUE_AT(type, field, char *), 0, 0, NULL)
#define PSD_LIST(type, field)   PSD_VALUE(LIST, PSD_VALUE_AT(type, field, char **), 0, 0, NULL)
#define PSD_PORTS(type, field) \
    PSD_VALUE(PORTS, PSD_VALUE_AT(type, field, struct psd_value_ports), 0, 0, NULL)
#define PSD_INT(type, field, least, most) \
    PSD_VALUE(INT, PSD_VALUE_AT(type, field, int64_t), least, most, NULL)
#define PSD_CHOICE(type, field, words) \
    PSD_VALUE(CHOICE, PSD_VALUE_AT_ENUM(type, field), 0, 0, words)

#define PSD_VALUE(kind, at, least, most, words)  \
    {                                            \
        PSD_VALUE_##kind, at, least, most, words \
    }
#define PSD_VALUE_AT(type, field, c_type) \
    (offsetof(type, field) + 0 * sizeof(&((type *)0)->field == (c_type *)0))
#define PSD_VALUE_AT_ENUM(type, field) \
    (offsetof(type, field) + 0 * sizeof(char[sizeof((type *)0)->field == sizeof(int) ? 1 : -1]))

/* Stores what `text` says in the field of the structure at `base`; a text that was there is freed.
 * PSD_ECONFIG: the value is not of its kind; the sentence says what would be. */
psd_status psd_value_parse(const struct psd_value *value, const char *text, void *base);

/* The same judgement of `text`, storing nothing. */
psd_status psd_value_check(const struct psd_value *value, const char *text);

/* Writes what the value takes, such as "a whole number from 1 to 64", and returns `out`. */
const char *psd_value_accepts(const struct psd_value *value, char *out, size_t size);

/* Frees a text or a list; leaves every other kind alone. */
void psd_value_clear(const struct psd_value *value, void *base);

#endif
