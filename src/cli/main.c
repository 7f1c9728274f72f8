/* main.c - the program: its commands, and the other names it answers to. */
#include "cli/cli.h"
#include "cli/streams.h"

#include <unistd.h>

/* clang-format off */
/* In the order of "poseidon help", a line each. */
static const struct psd_command *const commands[] = {
    &psd_command_train,
    &psd_command_run,
    &psd_command_test,
    &psd_command_time,
    &psd_command_plan,
    &psd_command_simulate,
    &psd_command_bench,
    &psd_command_eval,
    &psd_command_device_query,
    &psd_command_convert_mnist,
    &psd_command_convert_cifar,
    &psd_command_layers,
    &psd_command_print,
    &psd_command_summary,
    &psd_command_draw,
    &psd_command_upgrade_net,
    &psd_command_upgrade_solver,
    &psd_command_config,
    &psd_command_completion,
    &psd_command_help,
    &psd_command_version,
    NULL,
};
/* clang-format on */

/* "make install" makes links of these. */
static const struct psd_alias aliases[] = {
    {"caffe", NULL}, /* its commands are train, test, time and device_query */
    {"convert_cifar_data", &psd_command_convert_cifar_data},
    {"convert_mnist_data", &psd_command_convert_mnist_data},
    {"upgrade_net_proto_binary", &psd_command_upgrade_net_proto_binary},
    {"upgrade_net_proto_text", &psd_command_upgrade_net_proto_text},
    {"upgrade_solver_proto_text", &psd_command_upgrade_solver_proto_text},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    struct psd_cli cli = {.commands = commands, .aliases = aliases, .environment = environ};

    psd_streams_start();
    cli.out = stdout;
    cli.err = stderr;
    return psd_cli_main(&cli, argc, argv);
}
