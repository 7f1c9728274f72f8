/* options.c - one argument at a time: found in a table or among the settings, then stored. */
#include "cli/options.h"
#include "base/alloc.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

psd_status psd_options_init(const struct psd_options *options)
{
    for (const struct psd_option *row = options->table; row && row->name; row++) {
        if (row->initial)
            PSD_TRY(psd_value_parse(&row->value, row->initial, options->base));
    }
    return PSD_OK;
}

void psd_options_fini(const struct psd_options *options)
{
    for (const struct psd_option *row = options->table; row && row->name; row++)
        psd_value_clear(&row->value, options->base);
}

/* An argument that begins with a dash, taken apart. */
struct word {
    const char *argument; /* "--output=f" */
    const char *name;     /* "output", and what follows */
    size_t length;        /* of the name */
    const char *text;     /* "f"; NULL without "=" */
};

/* What the name was found to mean. */
struct match {
    const struct psd_value *value;     /* NULL: nothing */
    const struct psd_setting *setting; /* stored there, or in base */
    void *base;
    const char *needs;
};

struct parser {
    const struct psd_options *sets;
    struct psd_settings *settings;
    char **argv;
    int argc, at; /* the next argument */
};

static struct word split(const char *argument)
{
    struct word word = {.argument = argument};

    word.name = argument + (argument[1] == '-' ? 2 : 1);
    word.length = strcspn(word.name, "=");
    if (word.name[word.length])
        word.text = word.name + word.length + 1;
    return word;
}

bool psd_options_same_name(const char *known, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool dashes = (known[i] == '-' || known[i] == '_') && (name[i] == '-' || name[i] == '_');
        if (known[i] != name[i] && !dashes)
            return false;
    }
    return known[length] == 0;
}

static struct match find(const struct parser *parser, const char *name, size_t length)
{
    for (int i = 0; i < 2; i++) {
        const struct psd_option *row = parser->sets[i].table;
        for (; row && row->name; row++) {
            if (psd_options_same_name(row->name, name, length))
                return (struct match){&row->value, NULL, parser->sets[i].base, row->needs};
        }
    }
    const struct psd_settings_entry *entry = psd_settings_find(parser->settings, name, length);
    if (entry)
        return (struct match){&entry->setting->value, entry->setting, NULL, NULL};
    return (struct match){0};
}

/* --noshort and --no-short are the off of the switch --short. */
static struct match find_switch_off(const struct parser *parser, const struct word *word)
{
    const char *name = word->name;
    size_t skip = word->length > 3 && (name[2] == '-' || name[2] == '_') ? 3 : 2;
    struct match match = {0};

    if (word->length > 2 && strncmp(name, "no", 2) == 0)
        match = find(parser, name + skip, word->length - skip);
    if (match.value && match.value->kind != PSD_VALUE_BOOL)
        match.value = NULL;
    return match;
}

static psd_status unknown(const struct parser *parser, const struct word *word)
{
    const struct psd_settings_entry *entry;
    struct psd_suggest suggest;
    int shown = (int)(word->name + word->length - word->argument);

    psd_suggest_init(&suggest, word->name, word->length);
    for (int i = 0; i < 2; i++) {
        for (const struct psd_option *row = parser->sets[i].table; row && row->name; row++)
            psd_suggest_offer(&suggest, row->name);
    }
    for (size_t i = 0; (entry = psd_settings_entry(parser->settings, i)); i++)
        psd_suggest_offer(&suggest, entry->flag);
    if (!psd_suggest_best(&suggest))
        return psd_fail(PSD_EINVAL, "unknown option \"%.*s\"", shown, word->argument);
    return psd_fail(PSD_EINVAL, "unknown option \"%.*s\"; did you mean \"--%s\"?", shown,
                    word->argument, psd_suggest_best(&suggest));
}

/* As people write it: -n, --solver. */
static const char *dashes(const struct word *word)
{
    return word->length == 1 ? "-" : "--";
}

static psd_status store(const struct parser *parser, const struct match *match,
                        const struct word *word, const char *text)
{
    char *flag = psd_alloc_text("%s%.*s", dashes(word), (int)word->length, word->name);
    psd_status status;

    if (!flag)
        return PSD_ENOMEM;
    if (match->setting)
        status = psd_settings_set(parser->settings, match->setting, text, PSD_ORIGIN_FLAG, flag);
    else
        status = psd_value_parse(match->value, text, match->base);
    if (status == PSD_ECONFIG)
        status = psd_fail(PSD_EINVAL, "%s: %s", flag, psd_error());
    psd_alloc_free(flag);
    return status;
}

static psd_status switch_off(const struct parser *parser, const struct word *word)
{
    struct match match = find_switch_off(parser, word);

    if (!match.value)
        return unknown(parser, word);
    if (word->text)
        return psd_fail(PSD_EINVAL, "option \"--%.*s\" takes no value", (int)word->length,
                        word->name);
    return store(parser, &match, word, "off");
}

/* Takes the option at parser->at, and its value where that is an argument of its own. */
static psd_status take_option(struct parser *parser)
{
    struct word word = split(parser->argv[parser->at++]);
    struct match match = find(parser, word.name, word.length);
    char needs[200];

    if (!match.value)
        return switch_off(parser, &word);
    if (word.text)
        return store(parser, &match, &word, word.text);
    if (match.value->kind == PSD_VALUE_BOOL)
        return store(parser, &match, &word, "on");
    if (parser->at == parser->argc)
        return psd_fail(PSD_EINVAL, "option \"%s%s\" needs a value: %s", dashes(&word), word.name,
                        psd_options_needs(match.value, match.needs, needs, sizeof needs));
    return store(parser, &match, &word, parser->argv[parser->at++]);
}

psd_status psd_options_parse(const struct psd_options sets[2], struct psd_settings *settings,
                             bool leading, int *argc, char **argv)
{
    struct parser parser = {.sets = sets, .settings = settings, .argv = argv, .argc = *argc};
    bool ended = false; /* by "--", or by the first argument where these lead */
    int kept = 0;

    while (parser.at < parser.argc) {
        char *argument = argv[parser.at];
        if (ended || argument[0] != '-' || argument[1] == 0) {
            argv[kept++] = argument;
            parser.at++;
            ended |= leading;
        } else if (strcmp(argument, "--") == 0) {
            ended = true;
            parser.at++;
        } else {
            PSD_TRY(take_option(&parser));
        }
    }
    *argc = kept;
    return PSD_OK;
}

static void join_words(const char *const *words, char *out, size_t size)
{
    int used = 0;

    for (size_t i = 0; words[i] && used >= 0 && (size_t)used < size; i++)
        used += snprintf(out + used, size - (size_t)used, "%s%s", i ? "|" : "", words[i]);
}

const char *psd_options_dashes(const char *name)
{
    return name[1] ? "--" : "-";
}

const char *psd_options_needs(const struct psd_value *value, const char *needs, char *out,
                              size_t size)
{
    static const char *const words[] = {
        [PSD_VALUE_BOOL] = "",      [PSD_VALUE_INT] = "N",     [PSD_VALUE_DOUBLE] = "NUMBER",
        [PSD_VALUE_SIZE] = "SIZE",  [PSD_VALUE_TIME] = "TIME", [PSD_VALUE_SPEED] = "SPEED",
        [PSD_VALUE_TEXT] = "TEXT",  [PSD_VALUE_CHOICE] = "",   [PSD_VALUE_LIST] = "TEXT,...",
        [PSD_VALUE_PORTS] = "PORT",
    };

    if (needs || value->kind != PSD_VALUE_CHOICE)
        snprintf(out, size, "%s", needs ? needs : words[value->kind]);
    else
        join_words(value->words, out, size);
    return out;
}
