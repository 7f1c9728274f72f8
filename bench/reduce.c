/* reduce.c - how long does a small reduce take, and what does it cost an iteration?
 *
 * 2, 4 and 8 seats, on threads of one process (inproc) or in processes of their own (tcp over the
 * loopback, encrypted), reduce 16 numbers again and again; then they sync the parameters of LeNet in
 * sum mode and wait for them, without and with a reduce between the last sync and the first wait, as a
 * trainer that shows its loss does. Medians, as rank 0 sees them; nothing is computed meanwhile. */
#include "base/clock.h"
#include "base/thread.h"
#include "poseidon/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8, NUMBERS = 16, IDLE = 1500, ITERATIONS = 200, PARAMS = 8 };

static const size_t counts[PARAMS] = {500, 20, 25000, 50, 400000, 500, 5000, 10};

struct figures {
    double idle, worst;          /* us of a reduce when nothing else happens: median, 99 of 100 */
    double without, with, among; /* us of an iteration, and of the reduce in it */
};

struct seat {
    char coordinator[32];
    unsigned rank, ranks;
    struct figures figures;
};

static void check(psd_status status)
{
    if (status == PSD_OK)
        return;
    fprintf(stderr, "%s\n", psd_error());
    exit(1); /* NOLINT(concurrency-mt-unsafe): nothing is to be saved */
}

static double now_us(void)
{
    return (double)psd_clock_now() / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The value that `part` of all times are below. */
static double quantile(double *times, size_t count, double part)
{
    qsort(times, count, sizeof *times, by_size);
    return times[(size_t)((double)(count - 1) * part)];
}

static double reduce_once(struct psd_comm *comm)
{
    float numbers[NUMBERS] = {1};
    double begin = now_us();

    check(psd_comm_reduce(comm, numbers, NUMBERS));
    return now_us() - begin;
}

static void reduce_idle(struct psd_comm *comm, struct figures *out)
{
    static _Thread_local double times[IDLE];

    for (size_t i = 0; i < IDLE; i++)
        times[i] = reduce_once(comm);
    out->idle = quantile(times, IDLE, 0.5);
    out->worst = quantile(times, IDLE, 0.99);
}

/* One iteration; *reduced: how long its reduce takes, if it has one. */
static double iterate_once(struct psd_comm *comm, const struct seat *seat, float *const *grads,
                           uint64_t iteration, double *reduced)
{
    double begin = now_us();

    check(psd_comm_begin(comm, iteration, 1));
    for (int p = PARAMS - 1; p >= 0; p--)
        check(psd_comm_sync(comm, p, seat->rank, grads[p]));
    if (reduced)
        *reduced = reduce_once(comm);
    for (int p = 0; p < PARAMS; p++)
        check(psd_comm_wait(comm, p));
    return now_us() - begin;
}

/* Without and with a reduce by turns, as the machine may be busier now than a moment ago. */
static void iterate(struct psd_comm *comm, const struct seat *seat, float *const *grads,
                    struct figures *out)
{
    static _Thread_local double without[ITERATIONS], with[ITERATIONS], among[ITERATIONS];

    for (size_t i = 0; i < ITERATIONS; i++) {
        without[i] = iterate_once(comm, seat, grads, 2 * i, NULL);
        with[i] = iterate_once(comm, seat, grads, 2 * i + 1, &among[i]);
    }
    out->without = quantile(without, ITERATIONS, 0.5);
    out->with = quantile(with, ITERATIONS, 0.5);
    out->among = quantile(among, ITERATIONS, 0.5);
}

static struct psd_comm *sit_down(const struct seat *seat, float **grads, float **sums)
{
    static const char key[] = "a key for a moment";
    struct psd_comm_options options = {.coordinator = seat->coordinator,
                                       .rank = seat->rank,
                                       .ranks = seat->ranks,
                                       .key = key,
                                       .key_size = sizeof key,
                                       .mode = PSD_COMM_SUM,
                                       .bandwidth = 1e9};
    struct psd_comm *comm = NULL;
    char name[] = "a";
    int id = -1;

    check(psd_comm_open(&options, &comm));
    for (size_t i = 0; i < PARAMS; i++, name[0]++) {
        grads[i] = calloc(counts[i], sizeof(float));
        sums[i] = calloc(counts[i], sizeof(float));
        check(psd_comm_add(
            comm,
            &(struct psd_comm_param){.name = name, .rows = 1, .cols = counts[i], .value = sums[i]},
            &id));
    }
    check(psd_comm_start(comm));
    return comm;
}

static void take_part(void *arg)
{
    struct seat *seat = arg;
    float *grads[PARAMS], *sums[PARAMS];
    struct psd_comm *comm = sit_down(seat, grads, sums);
    struct figures *out = &seat->figures;

    reduce_idle(comm, out);
    reduce_idle(comm, out);
    iterate(comm, seat, grads, out);
    psd_comm_close(comm);
    for (size_t i = 0; i < PARAMS; i++) {
        free(grads[i]);
        free(sums[i]);
    }
}

static void on_threads(struct seat *seats)
{
    pthread_t threads[MOST];

    for (unsigned i = 0; i < seats[0].ranks; i++)
        check(psd_thread_start("seat", take_part, &seats[i], &threads[i]));
    for (unsigned i = 0; i < seats[0].ranks; i++)
        pthread_join(threads[i], NULL);
}

static void in_processes(struct seat *seats)
{
    fflush(stdout);
    for (unsigned i = 1; i < seats[0].ranks; i++) {
        if (fork() == 0) {
            take_part(&seats[i]);
            _exit(0);
        }
    }
    take_part(&seats[0]);
    while (wait(NULL) > 0)
        ;
}

static void measure(bool over_tcp, unsigned ranks, unsigned round)
{
    struct seat seats[MOST];

    for (unsigned i = 0; i < ranks; i++) {
        seats[i] = (struct seat){.rank = i, .ranks = ranks};
        if (over_tcp)
            snprintf(seats[i].coordinator, sizeof seats[i].coordinator, "tcp://127.0.0.1:%u",
                     15000 + (unsigned)getpid() % 10000 + round);
        else
            snprintf(seats[i].coordinator, sizeof seats[i].coordinator, "inproc://%u", round);
    }
    if (over_tcp)
        in_processes(seats);
    else
        on_threads(seats);
    printf("%-7s %5u  %8.0f %8.0f  %10.0f %10.0f %10.0f\n", over_tcp ? "tcp" : "inproc", ranks,
           seats[0].figures.idle, seats[0].figures.worst, seats[0].figures.without,
           seats[0].figures.with, seats[0].figures.among);
}

int main(void)
{
    unsigned round = 0;

    printf("                 alone, us          in an iteration, us\n"
           "        seats    median     99 %%     without       with     reduce\n");
    for (int over_tcp = 1; over_tcp >= 0; over_tcp--) { /* threads come after the forks */
        for (unsigned ranks = 2; ranks <= MOST; ranks *= 2)
            measure(over_tcp, ranks, round++);
    }
}
