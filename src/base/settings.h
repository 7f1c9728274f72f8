/* settings.h - what can be adjusted, one row per setting, and who has adjusted it.
 *
 *     static const struct psd_setting net_settings[] = {
 *         {"net.timeout", "10s", "a peer silent for this long has left",
 *          PSD_TIME(struct net_config, timeout_ns)},
 *         {0},
 *     };
 *
 *     psd_settings_create(&settings);
 *     psd_settings_add(settings, net_settings, &net_config);      each room's table: its defaults
 *     psd_settings_load(settings, NULL, environ);                 file and environment
 *
 * One name has four shapes, and of two values the one further up wins, whatever the order in which
 * they arrive:
 *
 *     --net-timeout 5s           flag of any command
 *     PSD_NET_TIMEOUT=5s         environment; an empty variable counts as none
 *     net.timeout = 5s           line of a file (format: settings_file.h)
 *     "10s"                      default, from the row
 *
 * The values live in the configuration structures of the rooms; this handle remembers them as text
 * and where each came from. Belongs to one thread. */
#ifndef PSD_BASE_SETTINGS_H
#define PSD_BASE_SETTINGS_H

#include "base/status.h"
#include "base/value.h"

#include <stddef.h>

/* A row of a room's table; the table is static and ends with {0}. */
struct psd_setting {
    const char *name;    /* "net.timeout": lower case, the room first, words joined by . or _ */
    const char *initial; /* the default, as a person would write it */
    const char *help;    /* half a sentence: lower case, no full stop */
    struct psd_value value;
};

enum psd_origin { PSD_ORIGIN_DEFAULT, PSD_ORIGIN_FILE, PSD_ORIGIN_ENVIRONMENT, PSD_ORIGIN_FLAG };

/* A setting as it stands; all pointers are borrowed and change with the next set or load. */
struct psd_settings_entry {
    const struct psd_setting *setting;
    const char *flag;     /* "net-timeout" */
    const char *variable; /* "PSD_NET_TIMEOUT" */
    const char *text;     /* the value as it was written */
    enum psd_origin origin;
    const char *place; /* "default", "/etc/poseidon.conf:3", "environment PSD_NET_TIMEOUT" ... */
};

struct psd_settings;

psd_status psd_settings_create(struct psd_settings **out);

/* Also frees the texts in the configuration structures. NULL is fine. */
void psd_settings_destroy(struct psd_settings *settings);

/* Adds a table and stores its defaults in `config`, which is zeroed before and stays until destroy.
 * PSD_EINVAL: a name is already there. */
psd_status psd_settings_add(struct psd_settings *settings, const struct psd_setting *table,
                            void *config);

/* Reads the settings file and then the variables of `environment` (ends with NULL). The file is
 * `path` or, where that is NULL, the one psd_settings_file_find finds. PSD_ECONFIG: the sentence
 * has a line for every mistake; what was right is in force. */
psd_status psd_settings_load(struct psd_settings *settings, const char *path,
                             char *const *environment);

/* Gives a setting a value, unless it has one from a stronger origin; `place` says for people where
 * it was written and is copied. PSD_ECONFIG: the setting does not take that value. */
psd_status psd_settings_set(struct psd_settings *settings, const struct psd_setting *setting,
                            const char *text, enum psd_origin origin, const char *place);

/* The setting called by its name in any shape that has no dashes in front or PSD_: . - and _ are
 * the same. NULL when there is none. */
const struct psd_settings_entry *psd_settings_find(const struct psd_settings *settings,
                                                   const char *name, size_t length);

/* The i-th setting, in the order of adding; NULL past the last. */
const struct psd_settings_entry *psd_settings_entry(const struct psd_settings *settings, size_t i);

/* What the last load found strange but went along with, such as PSD_NET_TIMOUT in the environment:
 * one sentence a line, "" when all is well. */
const char *psd_settings_warnings(const struct psd_settings *settings);

#endif
