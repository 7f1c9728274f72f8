/* markdown.c - the tables as Markdown. The build puts them into the manual pages, where a page says
 * @OPTIONS@. */
#include "cli/help.h"
#include "cli/options.h"

static void show_definition(FILE *out, const char *dashes, const char *name, const char *needs,
                            const char *help)
{
    fprintf(out, "**`%s%s`**%s%s%s\n: %s.\n\n", dashes, name, *needs ? " *" : "", needs,
            *needs ? "*" : "", help);
}

static void show_options(FILE *out, const struct psd_option *row)
{
    char needs[200], help[500];

    for (; row && row->name; row++) {
        if (!row->help)
            continue;
        snprintf(help, sizeof help, "%s%s%s", row->help, row->initial ? "; default: " : "",
                 row->initial ? row->initial : "");
        show_definition(out, psd_options_dashes(row->name), row->name,
                        psd_options_needs(&row->value, row->needs, needs, sizeof needs), help);
    }
}

static void show_settings_note(FILE *out)
{
    fputs("Every setting of **poseidon.conf**(5) is an option, too: **`--log-level`** *debug* for "
          "**log.level**.\n",
          out);
}

void psd_help_markdown_program(const struct psd_cli *cli, FILE *out)
{
    show_options(out, psd_cli_common_options);
    show_options(out, psd_cli_program_options);
    show_settings_note(out);
    fputs("\n# COMMANDS\n\n", out);
    for (size_t i = 0; cli->commands[i]; i++)
        show_definition(out, "", cli->commands[i]->name, "", cli->commands[i]->summary);
}

void psd_help_markdown_command(const struct psd_command *command, FILE *out)
{
    show_options(out, command->options);
    show_options(out, psd_cli_common_options);
    show_settings_note(out);
}

void psd_help_markdown_settings(const struct psd_cli *cli, FILE *out)
{
    const struct psd_settings_entry *entry;
    char accepts[500];

    for (size_t i = 0; (entry = psd_settings_entry(cli->settings, i)); i++) {
        const struct psd_setting *setting = entry->setting;
        fprintf(out, "**`%s`**\n: %s: %s; default: %s.\n\n", setting->name, setting->help,
                psd_value_accepts(&setting->value, accepts, sizeof accepts),
                *setting->initial ? setting->initial : "empty");
    }
}
