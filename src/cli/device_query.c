/* device_query.c - "poseidon device-query": the devices that nets can be computed on. */
#include "cli/cli.h"
#include "device/devices.h"

struct query_options {
    char *gpu;
};

static const struct psd_option query_options[] = {
    {"gpu", "ID,...|all", NULL, "asks for GPUs, as in Caffe; all devices are shown anyway",
     PSD_TEXT(struct query_options, gpu)},
    {0},
};

static psd_status run(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    struct psd_device_entry entry;

    (void)options, (void)argc, (void)argv;
    for (size_t i = 0; psd_devices_list(i, &entry); i++)
        fprintf(cli->out, "%-8s  %s\n", entry.name, entry.description);
    return PSD_OK;
}

const struct psd_command psd_command_device_query = {
    .name = "device-query",
    .summary = "lists the devices of this machine",
    .synopsis = "",
    .description = "Lists the devices that nets can be computed on, one a line: its name and what "
                   "it is. Caffe's name for this command, device_query, works as well.",
    .options = query_options,
    .options_size = sizeof(struct query_options),
    .run = run,
};
