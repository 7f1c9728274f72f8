/* sim.c - how large a network can be simulated?
 *
 * Prints, for networks of several sizes, the processor's time and the memory for ten million frames:
 * each member is connected with all others and keeps some frames on the way, to its peers in turn; a frame
 * that has arrived is sent to the next. Payloads are sizes only, of 1 to 64 KiB, on links of
 * 10 Gbit/s. Each line is a process of its own, so that its peak of memory is its own. */
#include "net/sim/sim.h"
#include "base/alloc.h"
#include "base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES = 10000000 };

struct member {
    struct bench *bench;
    struct psd_endpoint *endpoint; /* owned */
    struct psd_conn **peers;       /* [members]; borrowed */
    size_t next;                   /* peer */
    size_t accepted;               /* peers that have connected so far */
};

struct bench {
    size_t members, window;
    struct member *member; /* [members] */
    uint64_t left;         /* frames to be sent */
    uint64_t done;
};

static void check(psd_status status)
{
    if (status == PSD_OK)
        return;
    fprintf(stderr, "%s\n", psd_error());
    exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
}

static void send_next(struct member *member, struct psd_frame *frame)
{
    struct bench *bench = member->bench;
    struct psd_conn *conn = NULL;

    if (bench->left == 0)
        return;
    while (!conn) { /* there is none to itself */
        conn = member->peers[member->next];
        member->next = (member->next + 1) % bench->members;
    }
    frame->payload[0].bytes = (size_t)1024 << psd_random_below(1, 0, bench->left--, 7);
    psd_transport_sim.send(conn, frame);
}

/* Peers connect at the same moment and in their order, so the next one is the next. */
static void accepted(void *user, struct psd_conn *conn)
{
    struct member *member = user;

    member->peers[member->accepted++] = conn;
}

static void connected(void *user, struct psd_conn *conn)
{
    (void)user, (void)conn;
}

static psd_status place(void *user, struct psd_conn *conn, const unsigned char *header,
                        size_t bytes, struct psd_place *place)
{
    (void)user, (void)conn, (void)header;
    place->spans[0].bytes = bytes;
    return PSD_OK;
}

static psd_status arrived(void *user, struct psd_conn *conn, const unsigned char *header)
{
    struct member *member = user;

    (void)conn, (void)header;
    member->bench->done++;
    return PSD_OK;
}

static void sent(void *user, struct psd_conn *conn, struct psd_frame *frame)
{
    (void)conn;
    send_next(user, frame);
}

static void closed(void *user, struct psd_conn *conn, const char *why)
{
    (void)user, (void)conn;
    fprintf(stderr, "%s\n", why);
}

static void open_all(struct bench *bench, struct psd_sim *sim)
{
    static const struct psd_net_handler handler = {
        .accepted = accepted,
        .connected = connected,
        .place = place,
        .arrived = arrived,
        .sent = sent,
        .closed = closed,
    };
    char name[32];

    for (size_t i = 0; i < bench->members; i++) {
        struct member *member = &bench->member[i];
        member->bench = bench;
        member->next = i + 1 < bench->members ? i + 1 : 0;
        member->peers = psd_alloc_zero(bench->members, sizeof(void *));
        snprintf(name, sizeof name, "m%zu", i);
        check(psd_transport_sim.open(
            &(struct psd_endpoint_options){
                .address = name, .handler = &handler, .user = member, .world = sim},
            &member->endpoint));
    }
}

static void connect_all(struct bench *bench)
{
    char name[32];

    for (size_t i = 0; i < bench->members; i++) {
        for (size_t j = i + 1; j < bench->members; j++) {
            snprintf(name, sizeof name, "m%zu", j);
            check(psd_transport_sim.connect(bench->member[i].endpoint, name,
                                            &bench->member[i].peers[j]));
        }
    }
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static void run(size_t members, size_t window, uint64_t delay)
{
    struct bench bench = {.members = members, .window = window, .left = FRAMES};
    struct psd_frame *frames = psd_alloc_zero(members * window, sizeof *frames);
    struct psd_sim *sim = NULL;
    struct rusage usage;

    bench.member = psd_alloc_zero(members, sizeof *bench.member);
    check(psd_sim_create(
        &(struct psd_sim_options){
            .bandwidth = 1.25e9, .latency_ns = 5000, .delay_ns = {0, delay}, .overhead = 100},
        &sim));
    open_all(&bench, sim);
    connect_all(&bench);
    while (psd_sim_step(sim))
        ;
    for (size_t i = 0; i < members * window; i++)
        send_next(&bench.member[i % members], &frames[i]);
    while (psd_sim_step(sim))
        ;
    check(psd_sim_status(sim));
    getrusage(RUSAGE_SELF, &usage);
    double seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    printf("%7zu %10zu %9llu %10llu %8.1f %9.2f %8ld\n", members, members * window,
           (unsigned long long)delay, (unsigned long long)bench.done, seconds,
           (double)bench.done / seconds * 1e-6, usage.ru_maxrss / 1024);
}

int main(void)
{
    static const struct {
        size_t members, window;
        uint64_t delay;
    } cases[] = {{8, 4, 0}, {100, 10, 0}, {1000, 10, 0}, {1000, 1000, 0}, {1000, 10, 100000}};

    printf("members on the way  delay/ns     frames  seconds Mframes/s  peak/MB\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            run(cases[i].members, cases[i].window, cases[i].delay);
            exit(0); /* NOLINT(concurrency-mt-unsafe): one thread */
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return 1;
    }
    return 0;
}
