/* local.c - all that members share is made before they start. */
#include "cli/local.h"
#include "cli/cores.h"
#include "cli/key.h"
#include "cli/port.h"
#include "cli/streams.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

const char *const psd_local_binds[] = {
    [PSD_LOCAL_AUTO] = "auto", [PSD_LOCAL_ON] = "on", [PSD_LOCAL_OFF] = "off", NULL};

struct local {
    struct psd_cli *cli; /* borrowed, as is job */
    const struct psd_local_job *job;
    unsigned count;
    bool is_bound;
    struct psd_cores cores;
    struct psd_port port; /* owned, as is key_fd */
    int key_fd;
    uint64_t number;
    char coordinator[64], address[64]; /* of rank 0, and where the others may listen */
};

/* In a member. */
static psd_status live(void *arg, unsigned rank, int *exit_code)
{
    struct local *local = arg;
    struct psd_invitation *invitation = NULL, from = {.coordinator = local->coordinator,
                                                      .address = rank ? local->address : NULL,
                                                      .rank = rank,
                                                      .ranks = local->count,
                                                      .job = local->number};
    struct psd_cores share;

    if (local->is_bound) {
        psd_cores_divide(&local->cores, rank, local->count, &share);
        PSD_TRY(psd_cores_bind(&share));
    }
    psd_port_release(&local->port);
    PSD_TRY(psd_invitation_create(&from, local->key_fd, &invitation));
    psd_status status = local->job->live(local->job->arg, invitation, local->key_fd, exit_code);
    psd_invitation_destroy(invitation);
    return status;
}

static void tell(void *arg, const char *sentence)
{
    const struct local *local = arg;
    struct psd_cli *cli = local->cli;

    if (local->job->over_status && cli->screen->live)
        fputs(psd_screen_erase, cli->err);
    psd_streams_show(cli->err, cli->program, sentence);
}

static psd_status choose_cores(struct local *local)
{
    enum psd_local_bind bind = local->job->options->bind;

    psd_cores_read(&local->cores);
    bool are_enough = local->cores.count >= local->count;
    if (bind == PSD_LOCAL_ON && !are_enough)
        return psd_cli_misuse(local->cli, "--bind on: %u processes have only %u processors",
                              local->count, local->cores.count);
    local->is_bound =
        bind == PSD_LOCAL_ON || (bind == PSD_LOCAL_AUTO && local->count > 1 && are_enough);
    return PSD_OK;
}

static psd_status choose_ports(struct local *local)
{
    struct psd_value_ports ports = psd_network_ports(&local->cli->network);

    PSD_TRY(psd_port_hold(ports, &local->port));
    snprintf(local->coordinator, sizeof local->coordinator, "tcp://127.0.0.1:%u",
             local->port.number);
    snprintf(local->address, sizeof local->address, "tcp://127.0.0.1:%u-%u", ports.first,
             ports.last);
    return PSD_OK;
}

static psd_status prepare(struct local *local)
{
    PSD_TRY(choose_cores(local));
    if (getrandom(&local->number, sizeof local->number, 0) != (ssize_t)sizeof local->number)
        return psd_fail(PSD_ENOSUP, "the system has no random numbers");
    PSD_TRY(psd_key_make(&local->key_fd));
    return choose_ports(local);
}

static psd_status launch(struct local *local)
{
    const struct psd_local_job *job = local->job;
    struct psd_launch_end end;

    PSD_TRY(psd_launch_run(&(struct psd_launch_options){.count = local->count,
                                                        .live = live,
                                                        .arg = local,
                                                        .grace_ns = job->options->grace_ns,
                                                        .relays = true,
                                                        .over_status = job->over_status,
                                                        .passes_signals = true,
                                                        .passes_every_int = job->passes_every_int,
                                                        .tell = tell},
                           &end));
    local->cli->exit_code = end.exit_code;
    if (job->cause)
        *job->cause = end.status;
    return PSD_OK;
}

psd_status psd_local_run(struct psd_cli *cli, const struct psd_local_job *job)
{
    struct local local = {.cli = cli,
                          .job = job,
                          .count = job->options->count ? (unsigned)job->options->count : 1,
                          .port.fd = -1,
                          .key_fd = -1};

    psd_status status = prepare(&local);
    if (status == PSD_OK)
        status = launch(&local);
    psd_port_release(&local.port);
    if (local.key_fd >= 0)
        close(local.key_fd);
    return status;
}
