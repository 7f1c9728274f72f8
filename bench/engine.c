/* engine.c - does one machine train faster with us than with PyTorch, and than with Caffe?
 *
 *     engine                                     the table
 *     engine NET ...                             its rows of these nets
 *     engine -run NET THREADS SECONDS            one run of ours
 *     peers/torch_single.py NET LAYOUT ...       one run of PyTorch's
 *     peers/caffe_single ENGINE NET ...          one run of Caffe's, with the files that
 *     engine -solver NET FILE                    writes
 *
 * Nets and solvers are those of models/, but for their data, which is one batch of noise in memory, and
 * for the batch, where the nets are large.
 * An iteration is forward, backward and update. Every run is a process of its own on all processors
 * that this one may use (taskset gives it fewer), and the programs take turns, so that what happens
 * to the machine happens to all. A run says on a pipe when its first iteration is done and how fast
 * the others were; memory is the most that the process ever had. PYTHON names the Python to ask for
 * PyTorch; where it has none, there are only our rows. CAFFE names Caffe's program. */
#include "base/clock.h"
#include "base/random.h"
#include "engine/solver.h"
#include "proto/upgrade.h"

#include "command.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 5, TRIES = 2, NO_PEER = 77, NO_COMMAND = 127 };

#define BUSY 0.1 /* processors used by others, from which on numbers are doubtful */
#define PEER "bench/peers/torch_single.py"

/* Where there is no Caffe, we stand beside constants: of Caffe 1.0 with OpenBLAS on another machine with two
 * such processors, the better of its runs with one thread and with two. */
static const struct net {
    const char *name, *title; /* its files are in models/<name> */
    int batch;
    int64_t shape[3];
    uint32_t classes;
    int seconds;  /* that a run is measured for */
    int runs;     /* RUNS at most */
    double caffe; /* images/s elsewhere; 0: nobody knows */
} nets[] = {
    {"lenet", "LeNet", 64, {1, 28, 28}, 10, 2, 5, 2719},
    {"cifar10-quick", "CIFAR-10 quick", 100, {3, 32, 32}, 10, 2, 5, 527},
    {"alexnet", "AlexNet", 64, {3, 227, 227}, 1000, 12, 3, 16.1},
    {"googlenet", "GoogLeNet", 32, {3, 224, 224}, 1000, 12, 3, 5.7},
    {"vgg19", "VGG19", 8, {3, 224, 224}, 1000, 16, 3, 0.57},
    {"resnet50", "ResNet-50", 8, {3, 224, 224}, 1000, 10, 3, 2.8},
    {"inception-v3", "Inception-V3", 8, {3, 299, 299}, 1000, 10, 3, 0},
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench/engine: %s: %s\n", what, why);
    _exit(1);
}

static void check(psd_status status, const char *what)
{
    if (status != PSD_OK)
        die(what, psd_error());
}

/* --- a run of ours ---------------------------------------------------------------------------- */

static struct psd_document *read_document(const struct net *net, const char *file,
                                          const ProtobufCMessageDescriptor *type)
{
    struct psd_document *document = NULL;
    char path[200];

    snprintf(path, sizeof path, "models/%s/%s", net->name, file);
    check(psd_document_read(path, PSD_DOCUMENT_TEXT, type, &document), path);
    return document;
}

/* Makes an Input layer of the Data layer that trains. */
static void put_into_memory(Caffe__NetParameter *model, const struct net *net)
{
    static int64_t images[4], labels[1];
    static Caffe__BlobShape shapes[2] = {CAFFE__BLOB_SHAPE__INIT, CAFFE__BLOB_SHAPE__INIT};
    static Caffe__BlobShape *both[] = {&shapes[0], &shapes[1]};
    static Caffe__InputParameter input = CAFFE__INPUT_PARAMETER__INIT;
    static char type[] = "Input";
    Caffe__LayerParameter *layer = model->layer[0];

    images[0] = labels[0] = net->batch;
    memcpy(images + 1, net->shape, sizeof net->shape);
    shapes[0].n_dim = 4, shapes[0].dim = images;
    shapes[1].n_dim = 1, shapes[1].dim = labels;
    input.n_shape = 2, input.shape = both;
    layer->type = type;
    layer->input_param = &input;
    layer->data_param = NULL;
    layer->transform_param = NULL;
}

/* Neither tests nor snapshots nor lines, and every batch is followed by an update. */
static void only_train(Caffe__SolverParameter *solver, Caffe__NetParameter *model)
{
    solver->net = NULL;
    solver->net_param = model;
    solver->n_test_iter = 0;
    solver->test_interval = 0;
    solver->snapshot = 0;
    solver->display = 0;
    solver->iter_size = 1;
}

static void fill(const struct psd_net *net, uint32_t classes)
{
    const struct psd_blob *images = psd_net_blob(net, "data"), *labels = psd_net_blob(net, "label");

    psd_random_fill_normal(1, 1, 0, images->count, psd_blob_values(images));
    for (size_t i = 0; i < labels->count; i++)
        psd_blob_values(labels)[i] = (float)psd_random_below(1, 2, i, classes);
}

/* How many iterations are done in that time. */
static double iterate(struct psd_solver *solver, double seconds)
{
    int64_t first = solver->iteration;
    uint64_t start = psd_clock_now();

    while ((double)(psd_clock_now() - start) < seconds * 1e9)
        check(psd_solver_step(solver, 1), "training");
    return (double)(solver->iteration - first) / ((double)(psd_clock_now() - start) / 1e9);
}

static void run_ours(const struct net *net, unsigned threads, double seconds)
{
    struct psd_document *model =
        read_document(net, "train_val.prototxt", &caffe__net_parameter__descriptor);
    struct psd_document *file =
        read_document(net, "solver.prototxt", &caffe__solver_parameter__descriptor);
    struct psd_ops_options ops = {.threads = threads};
    struct psd_solver_options options = {.document = file};
    struct psd_solver *solver = NULL;

    put_into_memory((Caffe__NetParameter *)model->root, net);
    only_train((Caffe__SolverParameter *)file->root, (Caffe__NetParameter *)model->root);
    check(psd_device_open("host", 0, &ops.device), "host");
    check(psd_ops_open(&ops, &options.ops), "ops");
    options.device = ops.device;
    check(psd_solver_create(&options, &solver), net->name);
    fill(solver->net, net->classes);
    check(psd_solver_step(solver, 1), "training");
    puts("program Poseidon " PSD_VERSION "\nfirst");
    fflush(stdout);
    iterate(solver, seconds / 4); /* warms up */
    printf("speed %g\n", iterate(solver, seconds) * net->batch);
    printf("loss %g\n", (double)solver->losses[0]);
    psd_solver_destroy(solver);
    psd_ops_close(options.ops);
    psd_device_close(ops.device);
    psd_document_destroy(file);
    psd_document_destroy(model);
}

/* The same net and solver for Caffe, which is to train until it is told to stop. */
static void write_solver(const struct net *net, const char *path)
{
    struct psd_document *model =
        read_document(net, "train_val.prototxt", &caffe__net_parameter__descriptor);
    struct psd_document *file =
        read_document(net, "solver.prototxt", &caffe__solver_parameter__descriptor);
    Caffe__SolverParameter *solver = (Caffe__SolverParameter *)file->root;

    put_into_memory((Caffe__NetParameter *)model->root, net);
    only_train(solver, (Caffe__NetParameter *)model->root);
    solver->has_solver_mode = solver->has_display = solver->has_max_iter = 1;
    solver->has_snapshot_after_train = 1;
    solver->solver_mode = CAFFE__SOLVER_PARAMETER__SOLVER_MODE__CPU;
    solver->display = 1;
    solver->max_iter = INT32_MAX;
    solver->snapshot_after_train = 0;
    solver->snapshot_prefix = NULL; /* beside the file */
    check(psd_document_write(file, PSD_DOCUMENT_TEXT, NULL, path), path);
    psd_document_destroy(file);
    psd_document_destroy(model);
}

/* --- the programs ----------------------------------------------------------------------------- */

enum measure { SPEED, MEMORY, START, MEASURES };

/* What the runs of one program with one net gave. */
struct results {
    char program[80];
    int runs;
    double values[MEASURES][RUNS];
    double loss;
    bool missing; /* the program is not installed */
};

static double others; /* the most processors that anybody else used during a run that counts */

/* Seconds that all processors together have worked since the machine started. */
static double busy_seconds(void)
{
    unsigned long long user = 0, nice = 0, system = 0;
    FILE *file = fopen("/proc/stat", "r");

    if (file && fscanf(file, "cpu %llu %llu %llu", &user, &nice, &system) != 3)
        user = nice = system = 0;
    if (file)
        fclose(file);
    return (double)(user + nice + system) / (double)sysconf(_SC_CLK_TCK);
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void read_run(FILE *from, uint64_t began, struct results *results, int run)
{
    char line[120];

    while (fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "program ", 8) == 0)
            snprintf(results->program, sizeof results->program, "%.79s", line + 8);
        else if (strcmp(line, "first") == 0)
            results->values[START][run] = (double)(psd_clock_now() - began) / 1e9;
        else if (strncmp(line, "speed ", 6) == 0)
            results->values[SPEED][run] = strtod(line + 6, NULL);
        else if (strncmp(line, "loss ", 5) == 0)
            results->loss = strtod(line + 5, NULL);
    }
}

static bool is_missing(int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

    return code == NO_PEER || code == NO_COMMAND;
}

/* Runs the command once. Returns how many processors others used meanwhile. */
static double measure_once(char *command, struct results *results, int run)
{
    double busy = busy_seconds();
    uint64_t began = psd_clock_now();
    struct rusage use;
    pid_t pid = 0;
    int status = 0;

    FILE *from = command_start(command, STDOUT_FILENO, &pid);
    if (!from)
        die(command, "does not start");
    read_run(from, began, results, run);
    fclose(from);
    if (wait4(pid, &status, 0, &use) != pid)
        die(command, "was lost");
    results->missing = is_missing(status);
    if (results->missing)
        return 0;
    if (status != 0 || !isfinite(results->loss))
        die(command, "did not end well");
    results->values[MEMORY][run] = (double)use.ru_maxrss / 1024;
    double own = seconds_of(use.ru_utime) + seconds_of(use.ru_stime);
    double elapsed = (double)(psd_clock_now() - began) / 1e9;
    return (busy_seconds() - busy - own) / elapsed;
}

/* What is measured while others work says little, so it is tried once more. */
static void measure(char *command, struct results *results, int run)
{
    double now = HUGE_VAL;

    for (int i = 0; i < TRIES && now > BUSY && !results->missing; i++)
        now = measure_once(command, results, run);
    others = results->missing ? others : fmax(others, now);
}

/* --- the table -------------------------------------------------------------------------------- */

enum { OURS, CONTIGUOUS, CHANNELS_LAST, PROGRAMS };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(struct results *results, enum measure what)
{
    return results->values[what][results->runs / 2]; /* sorted */
}

static void print_cell(struct results *results, enum measure what, int digits)
{
    const double *sorted = results->values[what];
    char spread[40];

    snprintf(spread, sizeof spread, "(%.*f-%.*f)", digits, sorted[0], digits,
             sorted[results->runs - 1]);
    printf("  %8.*f %-15s", digits, median(results, what), spread);
}

/* `ratio` says how much better we are; more is better for speed only. */
static void print_row(struct results *all, int peer, enum measure what, const char *name,
                      int digits)
{
    double ratio = median(&all[OURS], what) / median(&all[peer], what);

    printf("  %-12s", name);
    for (int i = 0; i < PROGRAMS && !all[i].missing; i++)
        print_cell(&all[i], what, digits);
    if (!all[peer].missing)
        printf("  %7.2f", what == SPEED ? ratio : 1 / ratio);
    putchar('\n');
}

static void print_net(const struct net *net, struct results *all)
{
    bool alone = all[CONTIGUOUS].missing;

    for (int i = 0; i < PROGRAMS; i++) {
        for (int what = 0; what < MEASURES; what++)
            qsort(all[i].values[what], (size_t)all[i].runs, sizeof(double), compare);
    }
    int peer = median(&all[CHANNELS_LAST], SPEED) > median(&all[CONTIGUOUS], SPEED) ? CHANNELS_LAST
                                                                                    : CONTIGUOUS;
    printf("\n%-14s  %-24s", net->title, all[OURS].program);
    if (!alone)
        printf("  %-24s  %-24s   ratio", all[CONTIGUOUS].program, "the same, channels_last");
    putchar('\n');
    print_row(all, peer, SPEED, "images/s", median(&all[OURS], SPEED) < 100 ? 2 : 0);
    print_row(all, peer, MEMORY, "peak MB", 0);
    print_row(all, peer, START, "start s", 3);
}

/* Caffe's own speed where it is installed, else the constant, which is said to be one. */
static void print_caffe(const struct net *net, struct results *ours, struct results *caffe)
{
    if (caffe->missing && net->caffe > 0)
        printf("  no Caffe here (CAFFE names one); a constant, measured on another machine, is %g "
               "images/s: ours is %.2f times that\n",
               net->caffe, median(ours, SPEED) / net->caffe);
    if (caffe->missing)
        return;
    for (int what = 0; what < MEASURES; what++)
        qsort(caffe->values[what], (size_t)caffe->runs, sizeof(double), compare);
    printf("  Caffe, here: %g images/s (%g-%g), %.0f MB; ours is %.2f times that\n",
           median(caffe, SPEED), caffe->values[SPEED][0], caffe->values[SPEED][caffe->runs - 1],
           median(caffe, MEMORY), median(ours, SPEED) / median(caffe, SPEED));
}

static void compare_net(const char *self, const struct net *net, int threads)
{
    const char *python = getenv("PYTHON"); /* NOLINT(concurrency-mt-unsafe): one thread */
    char commands[PROGRAMS][1000], of_caffe[1000];
    struct results all[PROGRAMS] = {0}, caffe = {.runs = net->runs};

    if (!python)
        python = "python3";
    snprintf(commands[OURS], sizeof *commands, "exec %s -run %s %d %d", self, net->name, threads,
             net->seconds);
    for (int i = CONTIGUOUS; i < PROGRAMS; i++)
        snprintf(commands[i], sizeof *commands, "exec %s " PEER " %s %s %d %d %d", python,
                 net->name, i == CONTIGUOUS ? "contiguous" : "channels_last", net->batch, threads,
                 net->seconds);
    snprintf(of_caffe, sizeof of_caffe, "exec bench/peers/caffe_single %s %s %d %d %d", self,
             net->name, net->batch, threads, net->seconds);
    for (int i = 0; i < PROGRAMS; i++)
        all[i].runs = net->runs;
    for (int run = 0; run < net->runs; run++) {
        for (int i = 0; i < PROGRAMS; i++)
            measure(commands[i], &all[i], run);
        if (!caffe.missing)
            measure(of_caffe, &caffe, run);
    }
    print_net(net, all);
    print_caffe(net, &all[OURS], &caffe);
    if (all[CONTIGUOUS].missing)
        printf("  %s has no PyTorch: nothing to compare with (PYTHON names another)\n", python);
    fflush(stdout);
}

static const struct net *find(const char *name)
{
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        if (strcmp(name, nets[i].name) == 0)
            return &nets[i];
    }
    die(name, "there is no such net here");
    return NULL;
}

/* Of the nets that are named, or of all. */
static void print_table(const char *self, int count, char *const *names)
{
    cpu_set_t set;
    int threads = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    printf("training on %d processors; median of the runs (least-most), the programs in turns\n"
           "start: from the start of the process to the end of the first iteration\n"
           "ratio: how many times better we are than the faster of PyTorch's layouts\n",
           threads);
    fflush(stdout);
    for (size_t i = 0; !count && i < sizeof nets / sizeof *nets; i++)
        compare_net(self, &nets[i], threads);
    for (int i = 0; i < count; i++)
        compare_net(self, find(names[i]), threads);
    printf("\nothers used at most %.2f processors during a run%s\n", fmax(others, 0),
           others > BUSY ? ": measure again when the machine is quiet" : "");
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "-run") == 0)
        run_ours(find(argv[2]), (unsigned)strtoul(argv[3], NULL, 10), strtod(argv[4], NULL));
    else if (argc == 4 && strcmp(argv[1], "-solver") == 0)
        write_solver(find(argv[2]), argv[3]);
    else
        print_table(argv[0], argc - 1, argv + 1);
}
