/* cli.h - one run of the program, from its arguments to its exit code.
 *
 *     argv --> which command --> options, settings --> run --> sentence, exit code
 *
 * Everything a command may need hangs off this structure. Only here and in the commands is
 * anything printed. */
#ifndef PSD_CLI_CLI_H
#define PSD_CLI_CLI_H

#include "base/settings.h"
#include "cli/command.h"
#include "cli/logging.h"
#include "cli/network.h"

#include <stdio.h>

enum psd_exit {
    PSD_EXIT_DONE = 0,
    PSD_EXIT_FAILED = 1,
    PSD_EXIT_MISUSED = 2,
    PSD_EXIT_AGAIN = 75, /* EX_TEMPFAIL: all is saved, and starting again goes on from there */
};

/* What the options of every command, and of the program before its command, fill in. */
struct psd_cli_common {
    bool help, version;
    char *config_file;
};

struct psd_cli {
    const struct psd_command *const *commands; /* static; ends with NULL */
    const struct psd_alias *aliases;           /* static; ends with {0} */
    char *const *environment;                  /* borrowed; ends with NULL */
    FILE *out, *err; /* borrowed; standard output and error, but in tests */

    const char *program;               /* "poseidon", or the other name it was called by */
    const struct psd_command *command; /* the one that runs; NULL before it is known */
    bool by_alias;                     /* the program's name stands for the command */
    struct psd_log *log;               /* borrowed while the command runs; NULL before */
    struct psd_screen *screen;         /* the same; for a live line below the log's */
    struct psd_settings *settings;     /* owned */
    struct psd_logging_config logging;
    struct psd_network_config network;
    struct psd_cli_common common;
    bool misused;  /* the failure on its way is about how we were called */
    int exit_code; /* after a run that succeeds: 0, unless the command says otherwise */
    int out_error; /* errno of a write to out that failed before the end; 0: none */
};

/* The rows of struct psd_cli_common: those of every command, and those of the program alone. */
extern const struct psd_option psd_cli_common_options[], psd_cli_program_options[];

/* Runs the program and returns its exit code. The caller fills in the first group of fields and
 * leaves the rest zero. */
int psd_cli_main(struct psd_cli *cli, int argc, char **argv);

/* Fails because of how the program was called, with exit code 2 and the sentence
 *
 *     poseidon print: unexpected argument "b". See "poseidon help print".
 *
 * of which the format makes the middle, without its full stop. */
__attribute__((format(printf, 2, 3))) psd_status psd_cli_misuse(struct psd_cli *cli,
                                                                const char *format, ...);

/* The command called `name`, with - or _ between its words; NULL when there is none. */
const struct psd_command *psd_cli_find(const struct psd_cli *cli, const char *name);

/* Fails because there is no command called `name`; a misuse, with a suggestion. */
psd_status psd_cli_unknown(struct psd_cli *cli, const char *name);

#endif
