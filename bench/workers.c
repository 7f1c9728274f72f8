/* workers.c - what do logical workers cost one process, and how long does it take eight to start?
 *
 *     workers                       all nets
 *     workers NET                   one of them
 *
 * A job of S workers in one process computes what one worker with the whole batch does, in S parts; the
 * table of a net says how much slower. Its runs are those of "poseidon train --logical-workers S
 * --global-batch B" with the nets of models/ on made-up pictures, one S after the other in turns. CPU is
 * processor time for an iteration, which says more than speed where others use the processors, too.
 * Below it is the time that "poseidon train -n 8" takes to the line of its first iteration. Medians,
 * with the least and the most. */
#include "base/clock.h"
#include "base/random.h"
#include "data/convert_writer.h"

#include "command.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 5, PROCESSES = 8, PICTURES = 256 };

static const struct net {
    const char *name, *data; /* where its file looks for pictures */
    struct psd_sample_shape shape;
    unsigned classes, batch;   /* of all workers */
    unsigned warm, iterations; /* before those that count, and these */
    bool starts;               /* quickly, as its first iteration is short */
} nets[] = {
    {"lenet", "build/fashion-mnist/train_lmdb", {1, 28, 28}, 10, 64, 50, 200, true},
    {"cifar10-quick", "build/cifar10/cifar10_train_lmdb", {3, 32, 32}, 10, 96, 10, 40, true},
    {"alexnet", "ilsvrc12_train_lmdb", {3, 227, 227}, 1000, 128, 1, 2, false},
};
enum { NETS = sizeof nets / sizeof *nets };

static const unsigned counts[] = {1, 2, 4, 8};
enum { COUNTS = sizeof counts / sizeof *counts };

static char folder[PATH_MAX], models[PATH_MAX], program[PATH_MAX];

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench/workers: %s: %s\n", what, why);
    exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
}

static void check(psd_status status, const char *what)
{
    if (status != PSD_OK)
        die(what, psd_error());
}

/* --- a folder with pictures and solvers ------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static void clean(void)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_pictures(const struct net *net)
{
    size_t size = net->shape.channels * net->shape.height * net->shape.width;
    struct psd_convert_writer writer;
    uint8_t *pixels = malloc(size);

    if (!pixels)
        die("memory", "there is none");
    check(psd_convert_writer_open(net->data, net->shape, 8, &writer), net->data);
    for (size_t i = 0; i < PICTURES; i++) {
        for (size_t k = 0; k < size; k++)
            pixels[k] = (uint8_t)psd_random_u32(1, i, k);
        check(psd_convert_writer_put(&writer, pixels, (int)(i * 7 % net->classes)), net->data);
    }
    check(psd_convert_writer_close(&writer, PSD_OK), net->data);
    free(pixels);
}

/* A rate at which nothing is learned, as pictures without a meaning teach none. */
static void write_solver(const struct net *net, const char *path, unsigned iterations)
{
    FILE *file = fopen(path, "w");

    if (!file)
        die(path, "cannot be written");
    fprintf(file,
            "net: \"%s/%s/train_val.prototxt\"\nbase_lr: 1e-7\nlr_policy: \"fixed\"\n"
            "momentum: 0.9\nweight_decay: 0.0005\nrandom_seed: 1\ndisplay: %u\nmax_iter: %u\n"
            "snapshot_after_train: false\n",
            models, net->name, net->warm, iterations);
    fclose(file);
}

/* Goes to a folder of its own. */
static void prepare(const char *self)
{
    const char *parent = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): one thread */
    char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "%s", self);
    *strrchr(path, '/') = '\0';
    strcat(path, "/../poseidon"); /* NOLINT: there is room */
    if (!realpath(path, program) || !realpath("models", models))
        die(path, "is not there, or this is not the folder of the sources");
    snprintf(folder, sizeof folder, "%s/poseidon-bench.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder) || atexit(clean) || chdir(folder) != 0 || mkdir("build", 0700) != 0 ||
        mkdir("build/fashion-mnist", 0700) != 0 || mkdir("build/cifar10", 0700) != 0)
        die(folder, "cannot be made");
}

/* --- a run ------------------------------------------------------------------------------------ */

struct run {
    double start; /* s until the line of the first iteration */
    double speed; /* iterations/s */
    double cpu;   /* s for an iteration */
};

/* Processor seconds of a process so far. */
static double cpu_of(pid_t pid)
{
    unsigned long user = 0, system = 0;
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                       &system) != 2)
        die(path, "is not understood");
    if (file)
        fclose(file);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void read_lines(FILE *from, const struct net *net, pid_t pid, uint64_t began,
                       struct run *run)
{
    double warm = 0, cpu = 0;
    char line[400];
    unsigned iteration = 0;

    while (fgets(line, sizeof line, from)) {
        double now = (double)(psd_clock_now() - began) / 1e9;
        if (sscanf(line, "Iteration %u (", &iteration) != 1 || !strstr(line, "loss"))
            continue;
        if (iteration == 0) {
            run->start = now;
        } else if (iteration == net->warm) {
            warm = now;
            cpu = cpu_of(pid);
        } else if (iteration == net->warm + net->iterations) {
            run->speed = net->iterations / (now - warm);
            run->cpu = (cpu_of(pid) - cpu) / net->iterations;
        }
    }
}

static struct run measure(const struct net *net, const char *options)
{
    char command[2 * PATH_MAX];
    struct run run = {0};
    pid_t pid = 0;
    int status = 0;

    snprintf(command, sizeof command, "exec %s train --log-prefix none %s", program, options);
    uint64_t began = psd_clock_now();
    FILE *from = command_start(command, STDERR_FILENO, &pid);
    if (!from)
        die(command, "cannot be read");
    read_lines(from, net, pid, began, &run);
    fclose(from);
    if (waitpid(pid, &status, 0) != pid || status != 0 || run.start <= 0)
        die(command, "did not end well");
    return run;
}

/* --- tables ----------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static void print_speeds(const struct net *net)
{
    double speeds[COUNTS][RUNS], cpu[COUNTS][RUNS];
    char options[100];

    for (int run = 0; run < RUNS; run++) {
        for (size_t i = 0; i < COUNTS; i++) {
            snprintf(options, sizeof options,
                     "--solver whole --logical-workers %u --global-batch %u", counts[i],
                     net->batch);
            struct run got = measure(net, options);
            speeds[i][run] = got.speed;
            cpu[i][run] = got.cpu;
        }
    }
    printf("\n%s, %u samples an iteration\n", net->name, net->batch);
    printf("   S  iterations/s                   to S = 1    CPU s   to S = 1\n");
    for (size_t i = 0; i < COUNTS; i++) {
        double speed = median(speeds[i], RUNS), seconds = median(cpu[i], RUNS);
        printf("  %2u  %8.2f (%7.2f-%7.2f)  %8.2f  %10.4f  %8.2f\n", counts[i], speed, speeds[i][0],
               speeds[i][RUNS - 1], speed / median(speeds[0], RUNS), seconds,
               seconds / median(cpu[0], RUNS));
    }
    fflush(stdout);
}

static void print_start(const struct net *net)
{
    double starts[RUNS];
    char options[100];

    snprintf(options, sizeof options, "--solver first -n %d --global-batch %u", PROCESSES,
             net->batch);
    for (int run = 0; run < RUNS; run++)
        starts[run] = measure(net, options).start;
    double middle = median(starts, RUNS);
    printf("  %d processes: %.2f s (%.2f-%.2f) from the start to the end of the first iteration\n",
           PROCESSES, middle, starts[0], starts[RUNS - 1]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    prepare(argv[0]);
    for (size_t i = 0; i < NETS; i++) {
        if (argc > 1 && strcmp(argv[1], nets[i].name) != 0)
            continue;
        write_pictures(&nets[i]);
        write_solver(&nets[i], "whole", nets[i].warm + nets[i].iterations + 1);
        write_solver(&nets[i], "first", 1);
        print_speeds(&nets[i]);
        if (nets[i].starts)
            print_start(&nets[i]);
    }
}
