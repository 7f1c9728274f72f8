/* wire.h - jobs of real processes over sockets, for tests/wire*_test.c.
 *
 *     the test ---- fork ----> rank 0, rank 1, ...      each opens, starts, iterates, closes
 *         |                        |
 *         '---- shared memory <----'  what it had in the end, or why it could not go on, and when
 *
 * With wire_apart each process has a network of its own, joined to the others by a bridge in the test's,
 * which is not the machine's either. They go when the processes do.
 *
 *     rank 0 [e0: 10.77.0.1] ------ [h4711     ]
 *     rank 1 [e0: 10.77.0.2] ------ [h4712  br0]        named after their processes */
#ifndef PSD_TESTS_WIRE_H
#define PSD_TESTS_WIRE_H

#include "base/clock.h"
#include "base/status.h"
#include "crew.h"

#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum { WIRE_MOST = 8, WIRE_TIMES = 8 };

/* What happens to one member, and where. */
enum wire_fate {
    WIRE_NONE,
    WIRE_KILLED,          /* in an iteration */
    WIRE_KILLED_AT_START, /* while the network is measured */
    WIRE_STOPPED,         /* in an iteration */
    WIRE_LEAVES,          /* in an iteration, with exit and without close */
    WIRE_CUT,             /* off the others, in an iteration */
    WIRE_DEAF             /* in an iteration: what it sends arrives, and nothing reaches it */
};

/* How one process has ended. */
struct wire_report {
    psd_status status;
    char sentence[512];
    uint64_t when_ns;
    char network[160]; /* the plan's line */
    size_t window;     /* the smallest of its sockets to others */
    uint64_t garbled;  /* frames that it has refused because they were */
};

/* In memory that all processes of a job share. */
struct wire {
    struct crew crew;
    struct crew_case c;
    enum wire_fate fate;
    unsigned victim;
    char detour[32];     /* where rank 1 finds rank 0; "": where that is */
    bool is_rude;        /* nobody closes */
    uint64_t timeout_ms; /* 0: long */
    double bandwidth, latency;
    size_t window;             /* of the options */
    _Atomic(uint64_t) fate_ns; /* when it came */
    struct wire_report reports[WIRE_MOST];
    pid_t pids[WIRE_MOST];
    unsigned number; /* of the job: networks of the one before may take a while to go */
    atomic_bool is_there[WIRE_MOST], is_plugged[WIRE_MOST]; /* apart: steps of the start */
    atomic_bool has_lost;                                   /* a packet of somebody's */
};

/* Those that a factored layer may take. */
static const enum psd_route wire_routes[] = {PSD_ROUTE_AUTO, PSD_ROUTE_BROADCAST,
                                             PSD_ROUTE_ROW_SHARDED, PSD_ROUTE_SINGLE_OWNER};
enum { WIRE_ROUTES = sizeof wire_routes / sizeof *wire_routes };

static bool wire_apart;     /* each process has a network of its own; set by wire_part */
static unsigned wire_loses; /* so many of 100 packets that come */
static void (*wire_midway)(unsigned rank); /* of crews; packets are dropped then */

static inline void *wire_share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    return memory;
}

static inline struct wire *wire_create(const struct crew_case *c)
{
    static unsigned number;
    struct wire *wire = wire_share(sizeof *wire);

    wire->c = *c;
    wire->crew.c = &wire->c;
    wire->crew.midway = wire_midway;
    wire->crew.result = wire_share(crew_first(CREW_PARAMS) * sizeof(float));
    wire->number = number++;
    crew_name(wire->crew.name);
    if (wire_apart)
        snprintf(wire->crew.name, sizeof wire->crew.name, "tcp://10.77.%u.1:7070", wire->number);
    fprintf(stderr, "    %u processes, %u workers, route %d, ground %d\n", crew_ranks(c),
            crew_workers(c), (int)c->route, (int)crew_ground);
    return wire;
}

static inline void wire_destroy(struct wire *wire)
{
    munmap(wire->crew.result, crew_first(CREW_PARAMS) * sizeof(float));
    munmap(wire, sizeof *wire);
}

/* Runs a command of the shell, without its complaints. */
__attribute__((format(printf, 1, 2))) static inline bool wire_run(const char *format, ...)
{
    char command[256], quiet[300];
    va_list args;

    va_start(args, format);
    int length = vsnprintf(command, sizeof command, format, args);
    va_end(args);
    CHECK(length > 0 && (size_t)length < sizeof command);
    snprintf(quiet, sizeof quiet, "%s 2>/dev/null", command);
    return system(quiet) == 0; /* NOLINT: the commands are ours */
}

/* Gives the test a network of its own with a bridge; where that cannot be, it is skipped. */
static inline void wire_part(void)
{
    if (unshare(CLONE_NEWNET))
        SKIP("only root makes network namespaces");
    if (!wire_run("ip link add br0 type bridge") || !wire_run("ip link set br0 up"))
        SKIP("ip makes no bridge here");
    wire_apart = true;
}

static inline void wire_wait_for(const atomic_bool *flag)
{
    while (!atomic_load(flag))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
}

/* By the test: a cable from the bridge into the process's network. */
static inline void wire_plug(struct wire *wire, unsigned rank)
{
    pid_t pid = wire->pids[rank];

    wire_wait_for(&wire->is_there[rank]);
    CHECK(wire_run("ip link add h%d type veth peer name e0 netns %d", pid, pid));
    CHECK(wire_run("ip link set h%d master br0 up", pid));
    atomic_store(&wire->is_plugged[rank], true);
}

/* By the process, in its network: drops packets that come in, or go out, if they fit, as a rule of nft has
 * it. */
__attribute__((format(printf, 2, 3))) static inline void wire_drop(const char *way,
                                                                   const char *format, ...)
{
    char match[100];
    va_list args;

    va_start(args, format);
    vsnprintf(match, sizeof match, format, args);
    va_end(args);
    CHECK(wire_run("nft add table inet t"));
    CHECK(wire_run("nft 'add chain inet t %s { type filter hook %s priority 0; }'", way, way));
    CHECK(wire_run("nft 'add rule inet t %s %s counter drop'", way, match));
}

/* Whether there were any. */
static inline bool wire_has_dropped(void)
{
    return wire_run("nft list ruleset | grep -q 'packets [1-9]'");
}

/* By the process: its end of it. */
static inline void wire_settle(struct wire *wire, unsigned rank)
{
    CHECK(unshare(CLONE_NEWNET) == 0);
    atomic_store(&wire->is_there[rank], true);
    wire_wait_for(&wire->is_plugged[rank]);
    CHECK(wire_run("ip addr add 10.77.%u.%u/24 dev e0", wire->number, rank + 1));
    CHECK(wire_run("ip link set lo up") && wire_run("ip link set e0 up"));
    if (wire_loses)
        wire_drop("input", "numgen random mod 100 < %u", wire_loses);
}

/* A process for each rank that runs body(arg, rank). */
static inline void wire_fork(struct wire *wire, void (*body)(void *arg, unsigned rank), void *arg)
{
    fflush(NULL);
    for (unsigned rank = 0; rank < crew_ranks(&wire->c); rank++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid > 0) {
            wire->pids[rank] = pid;
            continue;
        }
        alarm(TEST_SECONDS);
        if (wire_apart)
            wire_settle(wire, rank);
        body(arg, rank);
        exit(0); /* NOLINT(concurrency-mt-unsafe): its threads have ended, or are to end with it */
    }
    for (unsigned rank = 0; wire_apart && rank < crew_ranks(&wire->c); rank++)
        wire_plug(wire, rank);
}

/* All but the victim end well, and it does not. */
static inline void wire_wait(struct wire *wire)
{
    for (unsigned rank = 0; rank < crew_ranks(&wire->c); rank++) {
        bool is_lost = wire->fate && wire->fate < WIRE_LEAVES && rank == wire->victim;
        int status = 0;
        if (is_lost && wire->fate == WIRE_STOPPED)
            continue;
        CHECK(waitpid(wire->pids[rank], &status, 0) == wire->pids[rank]);
        CHECK(is_lost ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : status == 0);
    }
    if (wire->fate == WIRE_STOPPED) {
        kill(wire->pids[wire->victim], SIGKILL);
        CHECK(waitpid(wire->pids[wire->victim], NULL, 0) == wire->pids[wire->victim]);
    }
}

static inline void wire_meet_fate(struct wire *wire)
{
    if (wire->fate == WIRE_CUT)
        CHECK(wire_run("ip link set e0 down"));
    if (wire->fate == WIRE_DEAF)
        wire_drop("input", "iif e0");
    atomic_store(&wire->fate_ns, psd_clock_now());
    if (wire->fate == WIRE_CUT || wire->fate == WIRE_DEAF)
        return;
    if (wire->fate == WIRE_LEAVES)
        _exit(0);
    kill(getpid(), wire->fate == WIRE_STOPPED ? SIGSTOP : SIGKILL);
}

static inline void *wire_meet_fate_soon(void *arg)
{
    psd_clock_sleep_until(psd_clock_now() + 150 * PSD_CLOCK_MS); /* in the midst of measuring */
    wire_meet_fate(arg);
    return NULL;
}

static inline psd_status wire_iterate(struct crew_seat *seat)
{
    PSD_TRY(psd_comm_begin(seat->comm, seat->iteration++, 0.1f));
    for (unsigned w = 0; w < seat->n_hosted; w++) {
        for (size_t i = CREW_PARAMS; i-- > 0;)
            PSD_TRY(
                psd_comm_sync(seat->comm, (int)i, seat->hosted[w], seat->grads[w] + crew_first(i)));
    }
    for (size_t i = 0; i < CREW_PARAMS; i++)
        PSD_TRY(psd_comm_wait(seat->comm, (int)i));
    return PSD_OK;
}

/* Of the sockets of this process that are connected. */
static inline size_t wire_least_window(void)
{
    size_t least = SIZE_MAX;

    for (int fd = 0; fd < 256; fd++) {
        struct sockaddr_storage peer;
        int bytes = 0;
        socklen_t peer_size = sizeof peer, size = sizeof bytes;
        if (getpeername(fd, (struct sockaddr *)&peer, &peer_size) == 0 &&
            peer.ss_family == AF_INET &&
            getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0 && (size_t)bytes < least)
            least = (size_t)bytes;
    }
    return least;
}

static inline psd_status wire_go_on(struct wire *wire, struct crew_seat *seat, unsigned rank)
{
    struct psd_comm_options options = crew_options(&wire->c, wire->crew.name, rank);
    bool is_victim = wire->fate && rank == wire->victim;
    pthread_t thread;

    if (wire->timeout_ms)
        options.timeout_ms = wire->timeout_ms;
    if (rank == 1 && *wire->detour)
        options.coordinator = wire->detour;
    options.bandwidth = wire->bandwidth;
    options.latency = wire->latency;
    options.window = wire->window;
    PSD_TRY(psd_comm_open(&options, &seat->comm));
    crew_add_params(seat);
    if (is_victim && wire->fate == WIRE_KILLED_AT_START)
        CHECK(pthread_create(&thread, NULL, wire_meet_fate_soon, wire) == 0);
    PSD_TRY(psd_comm_start(seat->comm));
    const char *network = strstr(psd_comm_plan(seat->comm), "network ");
    snprintf(wire->reports[rank].network, sizeof wire->reports[rank].network, "%s", network);
    wire->reports[rank].window = wire_least_window();
    seat->hosted = psd_comm_hosted(seat->comm, &seat->n_hosted);
    for (unsigned i = 0; i < crew_iterations(&wire->c); i++) {
        if (is_victim && i == 5)
            wire_meet_fate(wire);
        PSD_TRY(wire_iterate(seat));
    }
    return PSD_OK;
}

static inline void wire_live(void *arg, unsigned rank)
{
    struct wire *wire = arg;
    struct crew_seat seat = {.c = &wire->c};
    struct wire_report *report = &wire->reports[rank];
    struct psd_comm_counters counters = {0};

    crew_seat_init(&seat);
    report->status = wire_go_on(wire, &seat, rank);
    report->when_ns = psd_clock_now();
    if (report->status != PSD_OK)
        snprintf(report->sentence, sizeof report->sentence, "%s", psd_error());
    if (seat.comm)
        psd_comm_count(seat.comm, &counters);
    report->garbled = counters.refused_garbled;
    if (wire->is_rude)
        _exit(0);
    psd_comm_close(seat.comm);
    crew_seat_fini(&seat);
}

/* How long survivors may take to name the lost member: what is promised, with some grace. */
static inline uint64_t wire_limit_ms(const struct wire *wire)
{
    switch (wire->fate) {
    case WIRE_STOPPED:
        return wire->timeout_ms + 1000;
    case WIRE_CUT:
    case WIRE_DEAF:
        return 3000 + 500;
    default:
        return 1000; /* at once */
    }
}

/* All survivors say the same, and the words are in it. None has waited until the time was over, where that is
 * long. True: all have said it in time. */
static inline bool wire_check_survivors(const struct wire *wire, const char *words)
{
    uint64_t fate_ns = atomic_load(&wire->fate_ns);
    bool in_time = true;

    for (unsigned rank = 0; rank < crew_ranks(&wire->c); rank++) {
        const struct wire_report *report = &wire->reports[rank];
        if (rank == wire->victim)
            continue;
        uint64_t took_ms = (report->when_ns - fate_ns) / PSD_CLOCK_MS;
        fprintf(stderr, "    rank %u after %llu ms: %s\n", rank, (unsigned long long)took_ms,
                report->sentence);
        CHECK(report->status == PSD_EPEER && strstr(report->sentence, words));
        CHECK(took_ms < CREW_PATIENCE_MS);
        in_time &= took_ms < wire_limit_ms(wire);
    }
    return in_time;
}

static inline void wire_take_part(void *arg, unsigned rank)
{
    struct wire *wire = arg;

    crew_take_part(&wire->crew, rank);
    if ((wire_loses || wire_midway) && wire_has_dropped())
        atomic_store(&wire->has_lost, true);
}

static inline void wire_check_bits(const struct crew_case *c, const float *expected)
{
    struct wire *wire = wire_create(c);

    wire_fork(wire, wire_take_part, wire);
    wire_wait(wire);
    CHECK(crew_same(expected, wire->crew.result));
    CHECK(atomic_load(&wire->has_lost) == (wire_loses || wire_midway));
    wire_destroy(wire);
}

/* Four processes, of which one has a fate. Only one that is stopped is told by its silence: for it the time
 * is short, yet long enough for the others to live in, however busy the machine. True: it was named in
 * time. */
static inline bool wire_lose_once(enum wire_fate fate, unsigned victim, bool is_rude)
{
    struct wire *wire =
        wire_create(&(struct crew_case){.ranks = 4, .workers = 4, .iterations = 1000000});
    char words[32];

    wire->fate = fate;
    wire->victim = victim;
    wire->is_rude = is_rude;
    wire->timeout_ms = fate == WIRE_STOPPED ? 5000 : 10 * CREW_PATIENCE_MS;
    wire->bandwidth = fate == WIRE_KILLED_AT_START ? 0 : 1e9;
    snprintf(words, sizeof words, "rank %u is lost: ", victim);
    wire_fork(wire, wire_live, wire);
    wire_wait(wire);
    bool in_time = wire_check_survivors(wire, words);
    wire_destroy(wire);
    return in_time;
}

/* What is promised about the time holds on a machine that is not too busy, and without a sanitizer: so once
 * in many times is enough. */
static inline void wire_lose(enum wire_fate fate, unsigned victim, bool is_rude)
{
    unsigned times = 1;

    while (!wire_lose_once(fate, victim, is_rude) && !TEST_IS_SANITIZED)
        CHECK(times++ < WIRE_TIMES);
}

#endif
