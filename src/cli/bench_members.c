/* bench_members.c - a board that all processes see, with a gate on it. */
#include "cli/bench_members.h"
#include "base/clock.h"
#include "cli/common.h"
#include "cli/key.h"
#include "cli/members.h"

#include <stdalign.h>
#include <stdatomic.h>

struct psd_bench_board {
    _Atomic(unsigned) ready; /* members that wait at the gate */
    _Atomic(bool) is_open;
    alignas(max_align_t) unsigned char results[]; /* [nodes x result_size] */
};

static void warn(void *context, const char *sentence)
{
    const struct psd_bench *bench = context;

    psd_log_warning(bench->cli->log, "%s", sentence);
}

psd_status psd_bench_members_seat(struct psd_bench_members *members, unsigned rank,
                                  struct psd_comm_options *out)
{
    struct psd_bench *bench = members->bench;
    const struct psd_bench_options *options = bench->options;

    PSD_TRY(psd_key_read(bench->key_fd, "the benchmark", &bench->key));
    *out = (struct psd_comm_options){
        .coordinator = members->coordinator,
        .key = psd_secret_data(bench->key),
        .key_size = psd_secret_size(bench->key),
        .in_clear = options->encrypt == PSD_BENCH_CLEAR,
        .no_ktls = options->ktls == PSD_NETWORK_KTLS_OFF,
        .streams = (unsigned)options->streams,
        .lanes = (unsigned)options->lanes,
        .window = options->window,
        .rank = rank,
        .ranks = members->nodes,
        .timeout_ms = 60000,
        .warn = warn,
        .context = bench,
    };
    return PSD_OK;
}

psd_status psd_bench_members_ready(void *members)
{
    struct psd_bench_board *board = ((struct psd_bench_members *)members)->board;

    atomic_fetch_add(&board->ready, 1);
    while (!atomic_load(&board->is_open))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    return PSD_OK;
}

void *psd_bench_members_result(const struct psd_bench_members *members, unsigned rank)
{
    return members->board->results + rank * members->result_size;
}

static psd_status run(void *arg, unsigned rank)
{
    struct psd_bench_members *members = arg;

    return members->run(members->arg, rank);
}

/* Again and again while they run: opens the gate when all wait. */
static psd_status watch(void *arg)
{
    struct psd_bench_members *members = arg;
    struct psd_bench_board *board = members->board;

    if (atomic_load(&board->is_open) || atomic_load(&board->ready) < members->nodes)
        return PSD_OK;
    PSD_TRY(psd_links_shape(&members->bench->links, members->rate));
    atomic_store(&board->is_open, true);
    return PSD_OK;
}

static size_t board_size(const struct psd_bench_members *members)
{
    return sizeof *members->board + members->nodes * members->result_size;
}

psd_status psd_bench_members_run(struct psd_bench_members *members)
{
    struct psd_links *links = &members->bench->links;

    PSD_TRY(psd_links_coordinator(links, psd_network_ports(&members->bench->cli->network),
                                  members->coordinator, sizeof members->coordinator));
    members->board = psd_common_map(board_size(members));
    if (!members->board)
        return PSD_ENOMEM;
    return psd_members_run(&(struct psd_members_options){.count = members->nodes,
                                                         .enter = psd_links_enter,
                                                         .place = links,
                                                         .run = run,
                                                         .watch = watch,
                                                         .arg = members});
}

void psd_bench_members_fini(struct psd_bench_members *members)
{
    psd_common_unmap(members->board, board_size(members));
    members->board = NULL;
}
