#include "cli/teamwork.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "cli/wishes.h"
#include "net/tcp/address.h"
#include "net/transport.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const psd_teamwork_reduces[] = {"mean", "sum", NULL};

/* Of loopback, for the plan: it is not measured, as nothing travels far there. */
static const double local_bandwidth = 4e9, local_latency = 20e-6;

static const uint64_t least_timeout_ns = 10 * PSD_CLOCK_MS;

void psd_teamwork_count(const struct psd_teamwork_options *options,
                        const struct psd_compute_options *compute, unsigned ranks,
                        struct psd_teamwork *out)
{
    int64_t threads = options->threads ? options->threads : compute->threads;

    *out = (struct psd_teamwork){.ranks = ranks};
    out->workers = options->workers ? (unsigned)options->workers : ranks;
    if (threads)
        out->threads = (unsigned)threads;
    else
        out->threads = out->workers == 1 ? psd_thread_processors() : 1;
}

/* --- what is wished ------------------------------------------------------------------------------ */

static size_t count(char *const *texts)
{
    size_t n = 0;

    while (texts && texts[n])
        n++;
    return n;
}

static psd_status check_wishes(struct psd_cli *cli, char *const *texts, bool are_forms)
{
    for (; texts && *texts; texts++) {
        struct psd_workload_wish wish = {0};
        PSD_TRY(psd_wishes_read_text(cli, are_forms, *texts, &wish));
    }
    return PSD_OK;
}

/* Less would be taken for no word at all, or be over before anybody has answered. */
static psd_status check_timeout(const struct psd_network_config *network)
{
    if (network->timeout_ns < least_timeout_ns)
        return psd_fail(PSD_ECONFIG, "net.timeout is %g ms at least, not %g ms",
                        (double)least_timeout_ns / 1e6, (double)network->timeout_ns / 1e6);
    return PSD_OK;
}

psd_status psd_teamwork_check(struct psd_cli *cli, const struct psd_teamwork_options *options,
                              unsigned ranks)
{
    int64_t workers = options->workers ? options->workers : ranks;

    if (workers < ranks)
        return psd_cli_misuse(cli, "%u processes need at least as many logical workers, not %lld",
                              ranks, (long long)workers);
    if (options->global_batch && options->global_batch < workers)
        return psd_cli_misuse(cli,
                              "a global batch of %lld is less than a sample for each of %lld "
                              "logical workers",
                              (long long)options->global_batch, (long long)workers);
    PSD_TRY(check_wishes(cli, options->forms, true));
    PSD_TRY(check_wishes(cli, options->routes, false));
    return check_timeout(&cli->network);
}

static psd_status read_wishes(struct psd_cli *cli, const struct psd_teamwork_options *options,
                              struct psd_teamwork *out)
{
    size_t forms = count(options->forms), routes = count(options->routes), *n = &out->n_wishes;

    out->wishes = psd_alloc_zero(forms + routes + 1, sizeof *out->wishes);
    if (!out->wishes)
        return PSD_ENOMEM;
    for (*n = 0; *n < forms + routes; ++*n) {
        bool is_form = *n < forms;
        char *text = is_form ? options->forms[*n] : options->routes[*n - forms];
        struct psd_workload_wish wish = {0};
        PSD_TRY(psd_wishes_read_text(cli, is_form, text, &wish));
        text[strcspn(text, "=")] = '\0';
        out->wishes[*n] = (struct psd_ensemble_wish){text, wish.form, wish.route};
    }
    return PSD_OK;
}

/* --- the seat ------------------------------------------------------------------------------------ */

static void warn(void *context, const char *sentence)
{
    psd_log_warning(context, "%s", sentence);
}

/* Where a coordinator is on loopback nothing leaves the machine. */
static bool stays_here(const char *coordinator)
{
    const char *rest = "";
    const struct psd_transport *transport = psd_transport_find(coordinator, &rest);

    return transport == &psd_transport_inproc ||
           (transport == &psd_transport_tcp && psd_tcp_address_is_loopback(rest));
}

bool psd_teamwork_is_in_clear(const struct psd_network_config *network, const char *coordinator)
{
    return network->encrypt == PSD_NETWORK_OFF ||
           (network->encrypt == PSD_NETWORK_AUTO && stays_here(coordinator));
}

/* Rank 0 listens at the coordinator's address; the others at one of the ports that they are given, at the
 * address from which they reach rank 0 unless they are told another. */
static const char *choose_address(struct psd_cli *cli, const struct psd_invitation *invitation,
                                  struct psd_teamwork *teamwork)
{
    struct psd_value_ports ports = psd_network_ports(&cli->network);

    if (!invitation || invitation->rank == 0 || invitation->address)
        return invitation ? invitation->address : NULL;
    if (strncmp(invitation->coordinator, "tcp:", 4) != 0)
        return NULL;
    snprintf(teamwork->address, sizeof teamwork->address, "tcp://:%u-%u", ports.first, ports.last);
    return teamwork->address;
}

static void fill_seat(struct psd_cli *cli, const struct psd_invitation *invitation,
                      struct psd_teamwork *teamwork, struct psd_comm_options *seat)
{
    bool local;

    seat->coordinator = invitation ? invitation->coordinator : teamwork->address;
    local = stays_here(seat->coordinator);
    seat->address = choose_address(cli, invitation, teamwork);
    if (invitation) {
        seat->key = psd_secret_data(invitation->key);
        seat->key_size = psd_secret_size(invitation->key);
        seat->job = invitation->job;
        seat->rank = invitation->rank;
    }
    seat->ranks = teamwork->ranks;
    seat->workers = teamwork->workers;
    seat->in_clear = psd_teamwork_is_in_clear(&cli->network, seat->coordinator);
    seat->no_ktls = cli->network.ktls == PSD_NETWORK_KTLS_OFF;
    seat->streams = (unsigned)cli->network.streams;
    seat->lanes = (unsigned)cli->network.lanes;
    seat->window = cli->network.window;
    seat->congestion = psd_network_congestion(&cli->network);
    seat->bandwidth = local ? local_bandwidth : 0;
    seat->latency = local ? local_latency : 0;
    seat->timeout_ms = cli->network.timeout_ns / PSD_CLOCK_MS;
    seat->warn = warn;
    seat->context = cli->log;
}

psd_status psd_teamwork_open(struct psd_cli *cli, const struct psd_teamwork_options *options,
                             const struct psd_compute_options *compute,
                             const struct psd_invitation *invitation, struct psd_teamwork *out)
{
    struct psd_ensemble_options build = {
        .processors = psd_thread_processors(),
        .backend = compute->backend,
        .global_batch = (size_t)options->global_batch,
        .sums = options->reduce == PSD_TEAMWORK_SUM,
        .verify = (uint64_t)options->verify,
        .log = cli->log,
    };

    psd_teamwork_count(options, compute, invitation ? invitation->ranks : 1, out);
    PSD_TRY(psd_teamwork_check(cli, options, out->ranks));
    PSD_TRY(read_wishes(cli, options, out));
    if (out->workers == 1 && !options->global_batch)
        return PSD_OK;
    snprintf(out->address, sizeof out->address, "inproc://train-%d", (int)getpid());
    fill_seat(cli, invitation, out, &build.seat);
    out->in_clear = build.seat.in_clear;
    build.threads = out->threads;
    build.wishes = out->wishes;
    build.n_wishes = out->n_wishes;
    PSD_TRY(psd_ensemble_create(&build, &out->ensemble));
    out->team = psd_ensemble_team(out->ensemble);
    return PSD_OK;
}

void psd_teamwork_close(struct psd_teamwork *teamwork)
{
    psd_ensemble_destroy(teamwork->ensemble);
    psd_alloc_free(teamwork->wishes);
    teamwork->ensemble = NULL;
    teamwork->wishes = NULL;
}

void psd_teamwork_join(const struct psd_teamwork *teamwork, struct psd_solver_options *solver)
{
    if (!teamwork->ensemble)
        return;
    solver->team = &teamwork->team;
    psd_ensemble_place(teamwork->ensemble, solver);
}
