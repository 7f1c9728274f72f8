/* handover.c [SECONDS] - what does it cost that one processor writes what another has read?
 *
 * Two threads, each on a processor of its own. One fills 64 KB, the other copies them out, and so on: so
 * the kernel hands packets from process to process on one machine, in memory that it uses again. Once a
 * second it prints how fast each was.
 *
 * A virtual machine's processors may share a core, or a cache, or neither, and the host may change that at
 * any time. Figures of processes that share a machine differ with it (docs/performance.md), so compare
 * only what has been measured in turn. */
#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 64 << 10, TIMES = 1000, SECONDS = 5 };
enum { WRITE, READ, END };

alignas(4096) static unsigned char shared[BYTES], from[BYTES], to[BYTES];
static atomic_int turn;
static uint64_t taken[2]; /* nanoseconds, by whose turn it is */

static bool run_on(unsigned processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

static void copy(int whose, void *out, const void *in)
{
    uint64_t start = psd_clock_now();

    memcpy(out, in, BYTES);
    taken[whose] += psd_clock_now() - start;
}

static void *read_on(void *unused)
{
    (void)unused;
    (void)run_on(1); /* where main could run, too */
    for (int now = WRITE; now != END; now = atomic_load(&turn)) {
        if (now != READ)
            continue;
        copy(READ, to, shared);
        atomic_store(&turn, WRITE);
    }
    return NULL;
}

static double speed(int whose)
{
    return (double)BYTES * TIMES / (double)taken[whose];
}

static void measure(void)
{
    memset(taken, 0, sizeof taken);
    for (int i = 0; i < TIMES; i++) {
        copy(WRITE, shared, from);
        atomic_store(&turn, READ);
        while (atomic_load(&turn) == READ)
            continue;
    }
    printf("%8.1f %8.1f\n", speed(WRITE), speed(READ));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : SECONDS;
    pthread_t reader;

    if (!run_on(1) || !run_on(0) || pthread_create(&reader, NULL, read_on, NULL) != 0) {
        printf("not measured: there are no two processors, or no thread for the second\n");
        return 0;
    }
    memset(from, 1, sizeof from);
    printf("64 KB from one processor to another and back; GB/s\n   write     read\n");
    for (long i = 0; i < seconds; i++) {
        measure();
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
    atomic_store(&turn, END);
    pthread_join(reader, NULL);
}
