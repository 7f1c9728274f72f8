/* help.c - the help command, and help as text for the terminal. */
#include "cli/help.h"
#include "cli/options.h"

#include <string.h>

enum { WIDTH = 80, INDENT = 2, GAP = 2, LEFT = 24 }; /* columns; LEFT: where explanations start */

/* Writes words from column `indent` on, in lines of WIDTH; a newline stays one. */
static void wrap(FILE *out, const char *text, int indent)
{
    int at = indent;

    while (*text) {
        int length = (int)strcspn(text, " \n");
        bool full = at > indent && at + 1 + length > WIDTH;
        if (full || *text == '\n') {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        }
        at += fprintf(out, "%s%.*s", at > indent ? " " : "", length, text);
        text += length;
        text += *text == ' ' || length == 0;
    }
    fputc('\n', out);
}

/* "  --name WORD    explanation", the explanation below where the name is long. */
static void show_row(FILE *out, const char *dashes, const char *name, const char *needs,
                     const char *help)
{
    int at = fprintf(out, "%*s%s%s%s%s", INDENT, "", dashes, name, *needs ? " " : "", needs);

    if (at + GAP > LEFT)
        fprintf(out, "\n%*s", LEFT, "");
    else
        fprintf(out, "%*s", LEFT - at, "");
    wrap(out, help, LEFT);
}

static void show_options(FILE *out, const struct psd_option *row)
{
    char needs[200], help[500];

    for (; row && row->name; row++) {
        if (!row->help)
            continue;
        snprintf(help, sizeof help, "%s%s%s%s", row->help, row->initial ? " (default: " : "",
                 row->initial ? row->initial : "", row->initial ? ")" : "");
        show_row(out, psd_options_dashes(row->name), row->name,
                 psd_options_needs(&row->value, row->needs, needs, sizeof needs), help);
    }
}

void psd_help_program(const struct psd_cli *cli, FILE *out)
{
    fprintf(out, "Usage: %s COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n", cli->program);
    for (size_t i = 0; cli->commands[i]; i++)
        show_row(out, "", cli->commands[i]->name, "", cli->commands[i]->summary);
    fputs("\nOptions:\n", out);
    show_options(out, psd_cli_common_options);
    show_options(out, psd_cli_program_options);
    fprintf(out, "\n\"%s help COMMAND\" explains a command, \"%s help settings\" the settings.\n",
            cli->program, cli->program);
}

void psd_help_command(const struct psd_cli *cli, const struct psd_command *command, FILE *out)
{
    bool alone = cli->by_alias && command == cli->command;

    fprintf(out, "Usage: %s%s%s [OPTION]...%s%s\n\n", cli->program, alone ? "" : " ",
            alone ? "" : command->name, *command->synopsis ? " " : "", command->synopsis);
    wrap(out, command->description, 0);
    fputs("\nOptions:\n", out);
    show_options(out, command->options);
    show_options(out, psd_cli_common_options);
    fputs("\nEvery setting is an option, too: see \"poseidon help settings\".\n", out);
}

void psd_help_settings(const struct psd_cli *cli, FILE *out)
{
    const struct psd_settings_entry *entry;
    char accepts[500];

    wrap(out,
         "A setting such as log.level is the option --log-level of every command, the variable "
         "PSD_LOG_LEVEL of the environment, or a line \"log.level = debug\" of the settings file; "
         "of several the first of these wins. \"poseidon config\" prints what is in force.",
         0);
    fputs("\nSettings:\n", out);
    for (size_t i = 0; (entry = psd_settings_entry(cli->settings, i)); i++) {
        const struct psd_setting *setting = entry->setting;
        show_row(out, "", setting->name, "", setting->help);
        fprintf(out, "%*s%s; default: %s\n", LEFT, "",
                psd_value_accepts(&setting->value, accepts, sizeof accepts),
                *setting->initial ? setting->initial : "empty");
    }
}

/* --- the command ----------------------------------------------------------------------------- */

struct help_options {
    bool names, markdown;
};

static const struct psd_option help_options[] = {
    {"names", NULL, NULL, "prints the other names that the program answers to, one a line",
     PSD_BOOL(struct help_options, names)},
    {"markdown", NULL, NULL, "prints the options for the manual page, as Markdown",
     PSD_BOOL(struct help_options, markdown)},
    {0},
};

/* What can be explained and is no command; the manual has a page of the same name. */
static const struct {
    const char *name;
    void (*show)(const struct psd_cli *cli, FILE *out);
    void (*markdown)(const struct psd_cli *cli, FILE *out);
} topics[] = {
    {"poseidon", psd_help_program, psd_help_markdown_program},
    {"poseidon.conf", psd_help_settings, psd_help_markdown_settings},
    {"settings", psd_help_settings, psd_help_markdown_settings},
};

static psd_status explain(struct psd_cli *cli, const char *name, bool markdown)
{
    const struct psd_command *command = psd_cli_find(cli, name);

    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        if (strcmp(topics[i].name, name) == 0) {
            (markdown ? topics[i].markdown : topics[i].show)(cli, cli->out);
            return PSD_OK;
        }
    }
    if (!command)
        return psd_cli_unknown(cli, name);
    if (markdown)
        psd_help_markdown_command(command, cli->out);
    else
        psd_help_command(cli, command, cli->out);
    return PSD_OK;
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct help_options *options = opaque;

    if (!options->names)
        return explain(cli, argc > 0 ? argv[0] : "poseidon", options->markdown);
    for (const struct psd_alias *alias = cli->aliases; alias->name; alias++)
        fprintf(cli->out, "%s\n", alias->name);
    return PSD_OK;
}

const struct psd_command psd_command_help = {
    .name = "help",
    .summary = "explains the program, a command or the settings",
    .synopsis = "[COMMAND|settings]",
    .most = 1,
    .description = "Without an argument it lists the commands; with the name of one it explains "
                   "that command, and with \"settings\" everything that can be adjusted.",
    .options = help_options,
    .options_size = sizeof(struct help_options),
    .without_settings = true,
    .run = run,
};
