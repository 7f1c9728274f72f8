/* options.h - the options of a command, one row each.
 *
 *     struct print_options { bool summary; char *output; };
 *     static const struct psd_option print_options[] = {
 *         {"short", NULL, NULL, "leaves out weights", PSD_BOOL(struct print_options, summary)},
 *         {"output", "FILE", NULL, "writes there", PSD_TEXT(struct print_options, output)},
 *         {0},
 *     };
 *
 * As with gflags an option has one dash or two, and its value follows "=" or is the next argument:
 *
 *     --output f    --output=f    -output f    -output=f
 *     --short       --noshort     --no-short   --short=false
 *
 * In names - and _ are the same. "--" ends the options, "-" is an argument, and options may stand
 * after arguments. Every setting (base/settings.h) is an option too. */
#ifndef PSD_CLI_OPTIONS_H
#define PSD_CLI_OPTIONS_H

#include "base/settings.h"
#include "base/status.h"
#include "base/value.h"

#include <stdbool.h>

/* A row of a table; the table is static and ends with {0}. */
struct psd_option {
    const char *name;    /* as it stands after the dashes */
    const char *needs;   /* what stands for the value in the help, such as "FILE"; NULL: by kind */
    const char *initial; /* the value without the option, as text; NULL leaves zero */
    const char *help;    /* half a sentence: lower case, no full stop */
    struct psd_value value;
};

/* A table and the structure it fills. */
struct psd_options {
    const struct psd_option *table; /* NULL: no rows */
    void *base;                     /* zeroed before init */
};

/* Stores the initial values. */
psd_status psd_options_init(const struct psd_options *options);

/* Frees the texts. */
void psd_options_fini(const struct psd_options *options);

/* Stores what argv[0] to argv[*argc - 1] say, options of either set and settings, and leaves the
 * arguments that are no options in argv and *argc, in their order. With `leading` it stops at the
 * first of these and leaves the rest untouched. PSD_EINVAL: the sentence says which option is
 * wrong; it has no full stop. */
psd_status psd_options_parse(const struct psd_options sets[2], struct psd_settings *settings,
                             bool leading, int *argc, char **argv);

/* Whether the `length` letters at `name` mean the name `known`; - and _ are the same. */
bool psd_options_same_name(const char *known, const char *name, size_t length);

/* What people write before a name: "-" before one letter, else "--". */
const char *psd_options_dashes(const char *name);

/* Writes what stands for a value in the help: `needs`, or a word for the kind; "" for a switch.
 * Returns `out`. */
const char *psd_options_needs(const struct psd_value *value, const char *needs, char *out,
                              size_t size);

#endif
