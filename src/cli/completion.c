/* completion.c - the completion command, and what all shells have in common. */
#include "cli/completion.h"
#include "cli/options.h"

#include <string.h>

bool psd_completion_context(const struct psd_cli *cli, size_t i, struct psd_completion_context *out)
{
    for (size_t j = 0; cli->commands[j]; j++) {
        if (i-- == 0) {
            *out = (struct psd_completion_context){cli->commands[j]->name, false, cli->commands[j]};
            return true;
        }
    }
    for (const struct psd_alias *alias = cli->aliases; alias->name; alias++) {
        if (alias->command && i-- == 0) {
            *out = (struct psd_completion_context){alias->name, true, alias->command};
            return true;
        }
    }
    return false;
}

bool psd_completion_option(const struct psd_cli *cli, const struct psd_command *command, size_t i,
                           struct psd_completion_option *out)
{
    const struct psd_option *tables[] = {command ? command->options : psd_cli_program_options,
                                         psd_cli_common_options};

    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const struct psd_option *row = tables[t]; row && row->name; row++) {
            if (!row->help || i-- > 0)
                continue;
            *out = (struct psd_completion_option){row->name, row->help, t == 0, ""};
            psd_options_needs(&row->value, row->needs, out->needs, sizeof out->needs);
            return true;
        }
    }
    const struct psd_settings_entry *entry = psd_settings_entry(cli->settings, i);
    if (!entry)
        return false;
    *out = (struct psd_completion_option){entry->flag, entry->setting->help, false, ""};
    psd_options_needs(&entry->setting->value, NULL, out->needs, sizeof out->needs);
    return true;
}

static bool is_word(const char *word, size_t length, const char *expected)
{
    return strlen(expected) == length && strncmp(word, expected, length) == 0;
}

static void show_word(FILE *out, const char *word, size_t length, bool *first)
{
    fprintf(out, "%s%.*s", *first ? "" : " ", (int)length, word);
    *first = false;
}

static void show_words(const struct psd_cli *cli, const char *word, size_t length, bool *first,
                       FILE *out)
{
    const struct psd_settings_entry *entry;

    if (is_word(word, length, "COMMAND")) {
        for (size_t i = 0; cli->commands[i]; i++)
            show_word(out, cli->commands[i]->name, strlen(cli->commands[i]->name), first);
    } else if (is_word(word, length, "SETTING")) {
        for (size_t i = 0; (entry = psd_settings_entry(cli->settings, i)); i++)
            show_word(out, entry->setting->name, strlen(entry->setting->name), first);
    } else if (*word >= 'a' && *word <= 'z') {
        show_word(out, word, length, first);
    }
}

/* The next word of what stands for a value or argument; NULL after the last. */
static const char *next_word(const char *needs, size_t *length)
{
    static const char between[] = " |[].,=";

    needs += strspn(needs, between);
    *length = strcspn(needs, between);
    return *length ? needs : NULL;
}

void psd_completion_words(const struct psd_cli *cli, const char *needs, FILE *out)
{
    bool first = true;
    size_t length;

    while ((needs = next_word(needs, &length))) {
        show_words(cli, needs, length, &first, out);
        needs += length;
    }
}

bool psd_completion_is_file(const char *needs)
{
    static const char *const names[] = {"FILE", "DIR", "IN", "OUT", "PROGRAM"};
    size_t length;

    while ((needs = next_word(needs, &length))) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (is_word(needs, length, names[i]))
                return true;
        }
        needs += length;
    }
    return false;
}

void psd_completion_programs(const struct psd_cli *cli, FILE *out)
{
    fputs("poseidon", out);
    for (const struct psd_alias *alias = cli->aliases; alias->name; alias++)
        fprintf(out, " %s", alias->name);
}

void psd_completion_quote(FILE *out, const char *text, const char *escape)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputs(escape, out);
        else
            fputc(*text, out);
    }
    fputc('\'', out);
}

static const struct {
    const char *name;
    void (*show)(const struct psd_cli *cli, FILE *out);
} shells[] = {
    {"bash", psd_completion_bash},
    {"zsh", psd_completion_zsh},
    {"fish", psd_completion_fish},
};

static psd_status run(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    (void)options, (void)argc;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, argv[0]) == 0) {
            shells[i].show(cli, cli->out);
            return PSD_OK;
        }
    }
    return psd_cli_misuse(cli, "\"%s\" is not one of bash, zsh, fish", argv[0]);
}

const struct psd_command psd_command_completion = {
    .name = "completion",
    .summary = "prints the completion of commands and options for a shell",
    .synopsis = "bash|zsh|fish",
    .least = 1,
    .most = 1,
    .description = "Prints a script that lets the shell complete commands, options and their "
                   "values. \"make install\" puts it where the shell looks for it; to try it at "
                   "once: source <(poseidon completion bash)",
    .without_settings = true,
    .run = run,
};
