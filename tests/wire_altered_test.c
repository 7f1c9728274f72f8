/* wire_altered_test.c - a bit that changes on its way ends the job, and is counted where it arrives.
 *
 *     rank 1 ----> the test ----> rank 0        rank 2 reaches both as ever
 *          <----          <----
 */
#include "wire.h"

enum { ALTERED = 1 << 20, RANKS = 3 }; /* the byte from rank 1 to rank 0 of which one bit is */

/* From one socket to another. */
struct way {
    int from, to;
    uint64_t altered; /* which byte is; UINT64_MAX: none */
    uint64_t passed;  /* bytes */
};

static bool send_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

/* Until either side ends: then both do. */
static void *pass_on(void *arg)
{
    struct way *way = arg;
    char bytes[10000];
    ssize_t count;
    bool goes_on = true;

    while (goes_on && (count = recv(way->from, bytes, sizeof bytes, 0)) > 0) {
        if (way->altered >= way->passed && way->altered < way->passed + (size_t)count)
            bytes[way->altered - way->passed] ^= 4;
        way->passed += (size_t)count;
        goes_on = send_all(way->to, bytes, (size_t)count);
    }
    shutdown(way->from, SHUT_RDWR);
    shutdown(way->to, SHUT_RDWR);
    return NULL;
}

static struct sockaddr_in address_of(const char *name)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    at.sin_port = htons((uint16_t)atoi(strrchr(name, ':') + 1));
    return at;
}

static int new_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    return fd;
}

/* Where rank 1 is told that rank 0 is. */
static int listen_in_between(struct wire *wire)
{
    int fd = new_socket();

    crew_name(wire->detour);
    struct sockaddr_in at = address_of(wire->detour);
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 8) == 0);
    return fd;
}

/* Rank 1 comes again as long as rank 0 is not there. */
static void connect_both(const struct wire *wire, int listener, int *first, int *second)
{
    struct sockaddr_in at = address_of(wire->crew.name);

    for (;;) {
        *second = accept(listener, NULL, NULL);
        *first = new_socket();
        CHECK(*second >= 0);
        if (connect(*first, (struct sockaddr *)&at, sizeof at) == 0)
            return;
        close(*first);
        close(*second);
    }
}

static void stand_between(const struct wire *wire, int listener)
{
    int first, second;
    pthread_t thread;

    connect_both(wire, listener, &first, &second);
    struct way there = {.from = second, .to = first, .altered = ALTERED};
    struct way back = {.from = first, .to = second, .altered = UINT64_MAX};
    CHECK(pthread_create(&thread, NULL, pass_on, &back) == 0);
    pass_on(&there);
    pthread_join(thread, NULL);
    close(first);
    close(second);
    CHECK(there.passed > ALTERED);
}

static void alter_a_bit(const char *sentence)
{
    struct wire *wire =
        wire_create(&(struct crew_case){.ranks = RANKS, .workers = RANKS, .iterations = 200});
    int listener = listen_in_between(wire);

    wire->timeout_ms = (uint64_t)10 * CREW_PATIENCE_MS; /* nothing is told by silence */
    wire->bandwidth = 1e9;
    wire_fork(wire, wire_live, wire);
    stand_between(wire, listener);
    wire_wait(wire);
    close(listener);
    for (unsigned i = 0; i < RANKS; i++) {
        const struct wire_report *report = &wire->reports[i];
        fprintf(stderr, "    rank %u: %s\n", i, report->sentence);
        CHECK(report->status == PSD_EPEER && strstr(report->sentence, " is lost: "));
    }
    CHECK(strstr(wire->reports[0].sentence, sentence) && wire->reports[0].garbled == 1);
    CHECK(wire->reports[1].garbled == 0 && wire->reports[2].garbled == 0);
    wire_destroy(wire);
}

static void a_bit_that_changes_on_its_way_ends_the_job(void)
{
    crew_ground = CREW_TLS;
    alter_a_bit(" sends what cannot be decrypted");
    crew_ground = CREW_CLEAR;
    alter_a_bit(" has sent a frame that was altered on its way");
}

int main(int argc, char **argv)
{
    RUN(a_bit_that_changes_on_its_way_ends_the_job)
}
