/* help.h - what the tables of commands, options and settings say, for people: as text on the
 * terminal, or as Markdown for the manual pages. */
#ifndef PSD_CLI_HELP_H
#define PSD_CLI_HELP_H

#include "cli/cli.h"

/* The commands, a line each. */
void psd_help_program(const struct psd_cli *cli, FILE *out);

/* How to call a command, and its options. */
void psd_help_command(const struct psd_cli *cli, const struct psd_command *command, FILE *out);

/* Every setting with its default and what it takes. */
void psd_help_settings(const struct psd_cli *cli, FILE *out);

/* The same as a list of definitions in Markdown, without a heading. */
void psd_help_markdown_program(const struct psd_cli *cli, FILE *out);
void psd_help_markdown_command(const struct psd_command *command, FILE *out);
void psd_help_markdown_settings(const struct psd_cli *cli, FILE *out);

#endif
