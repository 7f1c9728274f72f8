/* completion.h - what the shells are told: contexts, options and words, read from the tables.
 *
 * A context is a command, or another name of the program that stands for one; it has options, and
 * words that may be its arguments. One file for each shell turns them into that shell's language.
 */
#ifndef PSD_CLI_COMPLETION_H
#define PSD_CLI_COMPLETION_H

#include "cli/cli.h"

/* A command and the name it is called by. */
struct psd_completion_context {
    const char *name;
    bool alias; /* the name is that of the program */
    const struct psd_command *command;
};

/* An option of the program or a command, a setting's included. */
struct psd_completion_option {
    const char *name; /* without dashes */
    const char *help;
    bool own;        /* of this command or of the program; else every command has it */
    char needs[200]; /* "" for a switch, else what stands for the value */
};

/* The i-th context; false past the last. */
bool psd_completion_context(const struct psd_cli *cli, size_t i,
                            struct psd_completion_context *out);

/* The i-th option of a command, or of the program where that is NULL; false past the last. */
bool psd_completion_option(const struct psd_cli *cli, const struct psd_command *command, size_t i,
                           struct psd_completion_option *out);

/* Prints the words that may stand for `needs`, with blanks between them: the parts of
 * bash|zsh|fish, the commands for COMMAND, the settings for SETTING. */
void psd_completion_words(const struct psd_cli *cli, const char *needs, FILE *out);

/* A file may stand for it. */
bool psd_completion_is_file(const char *needs);

/* Prints the names of the program, with blanks between them. */
void psd_completion_programs(const struct psd_cli *cli, FILE *out);

/* Prints text between single quotes; `escape` stands for a quote inside. */
void psd_completion_quote(FILE *out, const char *text, const char *escape);

void psd_completion_bash(const struct psd_cli *cli, FILE *out);
void psd_completion_zsh(const struct psd_cli *cli, FILE *out);
void psd_completion_fish(const struct psd_cli *cli, FILE *out);

#endif
