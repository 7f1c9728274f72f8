/* command.h - what a command of the program is.
 *
 *     $ poseidon print --short lenet.prototxt
 *                |     |       |
 *                name  option  argument
 *
 * A command is one constant of this type in a file of its own; all of them stand in one list in
 * main.c. The help, the completion and the manual read what is written here. */
#ifndef PSD_CLI_COMMAND_H
#define PSD_CLI_COMMAND_H

#include "base/status.h"
#include "cli/options.h"

#include <stdbool.h>
#include <stddef.h>

struct psd_cli;

struct psd_command {
    const char *name;
    const char *summary; /* one line of the list of commands: lower case, no full stop */

    /* The arguments, each a word that says what it is; the completion knows FILE, DIR, IN, OUT,
     * PROGRAM, COMMAND, SETTING and lists such as bash|zsh|fish. "" when there are none. */
    const char *synopsis;
    int least, most; /* how many arguments there are; most -1: any number */

    const char *description; /* whole sentences, paragraphs separated by "\n\n", wrapped for us */

    const struct psd_option *options; /* NULL: none but those of every command */
    size_t options_size;              /* bytes of the structure that the options fill in */

    bool options_lead;     /* they stand before the arguments, which are not looked at */
    bool without_settings; /* a wrong settings file is no obstacle */
    bool logs_as_caffe;    /* programs read its lines: log.prefix auto is glog */

    /* Does the work. `options` is the structure, filled in and borrowed for the call; argv[0] to
     * argv[argc - 1] are the arguments, between least and most of them. What is for the user goes
     * to cli->out. A failure is returned, not printed: the program ends with its sentence and exit
     * code 1, or 2 when it was made with psd_cli_misuse. */
    psd_status (*run)(struct psd_cli *cli, const void *options, int argc, char **argv);
};

/* Another name the program may be called by, such as a link `caffe` to `poseidon`. */
struct psd_alias {
    const char *name;
    const struct psd_command *command; /* what it does; NULL: its first argument is a command */
};

extern const struct psd_command psd_command_bench;
extern const struct psd_command psd_command_completion;
extern const struct psd_command psd_command_config;
extern const struct psd_command psd_command_convert_cifar;
extern const struct psd_command psd_command_convert_mnist;
extern const struct psd_command psd_command_device_query;
extern const struct psd_command psd_command_draw;
extern const struct psd_command psd_command_eval;
extern const struct psd_command psd_command_help;
extern const struct psd_command psd_command_layers;
extern const struct psd_command psd_command_plan;
extern const struct psd_command psd_command_print;
extern const struct psd_command psd_command_run;
extern const struct psd_command psd_command_simulate;
extern const struct psd_command psd_command_summary;
extern const struct psd_command psd_command_test;
extern const struct psd_command psd_command_time;
extern const struct psd_command psd_command_train;
extern const struct psd_command psd_command_upgrade_net;
extern const struct psd_command psd_command_upgrade_solver;
extern const struct psd_command psd_command_version;

extern const struct psd_command psd_command_convert_cifar_data;
extern const struct psd_command psd_command_convert_mnist_data;
extern const struct psd_command psd_command_upgrade_net_proto_binary;
extern const struct psd_command psd_command_upgrade_net_proto_text;
extern const struct psd_command psd_command_upgrade_solver_proto_text;

#endif
