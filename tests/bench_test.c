/* bench_test.c - "poseidon bench": real processes, on loopback and, as root, in namespaces. */
#include "run.h"

#include <dirent.h>
#include <signal.h>

static const char description[] = "model tiny batch 8\n"
                                  "conv conv1 64 3 3x3 32x32 bias\n"
                                  "fc fc6 256 4096 bias\n"
                                  "fc fc7 10 256 bias\n";
static const char profile[] = "device test\nrebuild 1000 GFLOP/s\nupdate 100 GB/s\nsum 10 GB/s\n"
                              "model tiny batch 8 rate 800 images/s\n";

static void start(void)
{
    run_start();
    run_write("tiny.txt", description);
    run_write("fast.txt", profile);
}

/* The number in column `column` of the table's row `row`, counted from 0 below its head. */
static double number_at(int row, int column)
{
    char *line = strstr(run_out, "\nGbit/s");

    CHECK(line);
    for (int i = 0; i <= row; i++) {
        line = strchr(line + 1, '\n');
        CHECK(line && line[1]);
    }
    for (line++; column > 0; column--) {
        line += strspn(line, " ");
        line += strcspn(line, " \n");
    }
    return strtod(line, NULL);
}

/* --- sync --------------------------------------------------------------------------------------- */

static void sums_of_all_sizes_are_right_on_loopback(void)
{
    start();
    CHECK(run("$POSEIDON bench sync --bytes 4,64K,1M --nodes 3,1 --loopback --encrypt off "
              "--iterations 2 --csv a.csv") == 0);
    CHECK(strstr(run_out,
                 "all processes on loopback, whose speed is not limited; payloads in clear"));
    CHECK(number_at(0, 1) == 1 && number_at(3, 1) == 3); /* nodes rise */
    CHECK_NEAR(number_at(5, 2), 1.049, 1e-9);
    CHECK(number_at(5, 4) > 0 && number_at(5, 3) > 1);
    CHECK(run("grep -q '^\"\",1048576,0,3,' a.csv") == 0);
}

static void gradients_of_a_net_are_added_up_encrypted(void)
{
    start();
    CHECK(run("$POSEIDON bench sync --model ./tiny.txt --nodes 2 --loopback --iterations 2") == 0);
    CHECK(strstr(run_out, "; payloads encrypted"));
    CHECK_NEAR(number_at(0, 2), 4e-6 * (64 * 27 + 64 + 256 * 4096 + 256 + 10 * 256 + 10), 1e-3);
}

/* From processor seconds and the processors busy follows how long it took: no longer than all iterations
 * would as the longest of them. Ticks of the clock are rounded, and a row without any says nothing. */
static void each_row_counts_its_own_time(void)
{
    start();
    run_write("wide.txt", "model wide batch 8\nfc fc6 1024 4096\n");
    CHECK(run("$POSEIDON bench sync --model ./wide.txt --nodes 2,3,4 --loopback --iterations 6 "
              "--csv a.csv") == 0);
    CHECK(run("awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }"
              " { worked = $at[\"cpu_s_per_gb\"] * $at[\"bytes\"] * $at[\"nodes\"] / 1e9 }"
              " worked * 1e3 > 1.2 * $at[\"cores\"] * $at[\"most_ms\"] + 1e-3 { bad = 1 }"
              " END { exit bad || NR != 4 }' a.csv") == 0);
}

/* --- cluster ------------------------------------------------------------------------------------ */

static void a_cluster_on_loopback_is_measured_and_simulated(void)
{
    start();
    CHECK(
        run("$POSEIDON bench cluster --model ./tiny.txt --profile ./fast.txt --nodes 2 --loopback "
            "--encrypt off --iterations 3 --csv a.csv") == 0);
    CHECK(strstr(run_out, "a node alone computes 10.0 ms; rebuilding and updating are slept"));
    CHECK(number_at(0, 5) >= 9.9); /* an iteration */
    CHECK(strstr(run_out, "  hybrid "));
    CHECK(run("grep -q ^model,batch,gbit_per_s, a.csv && grep -q '^\"tiny\",8,0,2,hybrid,1,' "
              "a.csv") == 0);
}

static void arithmetic_can_be_real_and_time_dilated(void)
{
    start();
    CHECK(run("$POSEIDON bench cluster --model ./tiny.txt --compute 4ms --nodes 1,2 --loopback "
              "--arithmetic real --dilate 3 --iterations 2 --scheme servers,hybrid-bytes") == 0);
    CHECK(strstr(run_out, "computes 4.0 ms; rebuilding and updating are done"));
    CHECK(number_at(0, 3) == 3 && number_at(0, 5) >= 3.9);
    CHECK(number_at(3, 1) == 2);
}

/* Two members that send about 1.1 MB each at 100 Mbit/s, which takes 90 ms; compute hides little. */
static void namespaces_shape_links(void)
{
    start();
    CHECK(run("$POSEIDON bench cluster --model ./tiny.txt --profile ./fast.txt --nodes 2 "
              "--bandwidth 100Mbit --scheme servers --encrypt off --iterations 2") == 0);
    if (!strstr(run_out, "namespace,"))
        SKIP("no namespaces are to be had here");
    CHECK(number_at(0, 4) > 0 && number_at(0, 4) < 40); /* goodput; a busy reader catches up */
    CHECK(number_at(0, 5) > 300);
}

/* Processes of a session that have not ended; a namespace without a name ends with the last in it. */
static unsigned count_session(pid_t session)
{
    DIR *all = opendir("/proc");
    unsigned count = 0;

    CHECK(all);
    for (struct dirent *entry = readdir(all); entry; entry = readdir(all)) {
        char path[300], text[500], state = 0;
        int found = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (!file)
            continue;
        const char *behind = fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
        if (behind && sscanf(behind, ") %c %*d %*d %d", &state, &found) == 2)
            count += found == (int)session && state != 'Z';
        fclose(file);
    }
    closedir(all);
    return count;
}

/* Ends a bench in a session of its own with a signal, when it has members or while it has none yet. */
static void interrupt(const char *arguments, unsigned members, int number)
{
    char line[300];
    int status = 0;

    snprintf(line, sizeof line, "exec $POSEIDON bench %s >out 2>err", arguments);
    pid_t session = fork();
    if (session == 0) {
        setsid();
        execle("/bin/sh", "sh", "-c", line, (char *)NULL, run_environment);
        _exit(127);
    }
    while (count_session(session) < members) {
        CHECK(waitpid(session, &status, WNOHANG) == 0);
        usleep(10000);
    }
    CHECK(kill(session, number) == 0 && waitpid(session, &status, 0) == session);
    fprintf(stderr, "    %s: status %d\n", arguments, status);
    CHECK(status != 0);
    while (count_session(session) > 0)
        usleep(10000);
}

/* Whatever it is doing, and also where it has no time to tidy up. */
static void whatever_ends_it_all_processes_end(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};

    start();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        interrupt("sync --bytes 64M --nodes 3 --bandwidth 10Mbit --encrypt off", 4, signals[i]);
        interrupt("sync --bytes 64M --nodes 3 --loopback --iterations 1000", 4, signals[i]);
        interrupt("cluster --model ./tiny.txt --compute 10s --nodes 2 --bandwidth 10Mbit", 2,
                  signals[i]);
    }
}

/* --- simulated times ---------------------------------------------------------------------------- */

enum { DILATE = 3, CORES = 13, SIMULATED = 15, DIFFERS = 16 }; /* columns */
enum { ROWS = 2, TIMES = 8 };

/* What is printed is rounded. */
static bool is_calm(int row)
{
    return number_at(row, CORES) <= 0.7 * (double)sysconf(_SC_NPROCESSORS_ONLN) + 0.01;
}

/* Two and three nodes. True: each number of them has agreed by now. */
static bool compare_with_simulation(const char *arguments, bool agreed[ROWS], bool was_calm[ROWS])
{
    bool all = true;

    CHECK(run("$POSEIDON bench cluster --model ./tiny.txt --nodes 2,3 --bandwidth 100Mbit "
              "--encrypt off --iterations 4 %s",
              arguments) == 0);
    if (!strstr(run_out, "namespace,"))
        SKIP("no namespaces are to be had here");
    fputs(run_out, stderr);
    for (int row = 0; row < ROWS; row++) {
        CHECK(number_at(row, SIMULATED) > 0);
        agreed[row] |= fabs(number_at(row, DIFFERS)) <= 10;
        was_calm[row] |= is_calm(row);
        all &= agreed[row];
    }
    return all;
}

/* A machine that is too busy slows what is measured, and not what is simulated: it is tried again. */
static void must_agree(const char *arguments)
{
    bool agreed[ROWS] = {false}, was_calm[ROWS] = {false};

    start();
    for (int i = 0; i < TIMES; i++) {
        if (compare_with_simulation(arguments, agreed, was_calm))
            return;
    }
    for (int row = 0; row < ROWS; row++)
        CHECK(agreed[row] || !was_calm[row]);
    SKIP("the processors are busy all the time");
}

static void simulated_and_measured_times_agree_where_the_network_is_the_limit(void)
{
    must_agree("--profile ./fast.txt --scheme servers");
}

static void simulated_and_measured_times_agree_where_compute_is_the_limit(void)
{
    must_agree("--compute 120ms --scheme hybrid");
}

/* Were the links, or compute, not as many times slower, it would not agree. */
static void simulated_and_measured_times_agree_when_both_are_dilated(void)
{
    must_agree("--profile ./fast.txt --scheme servers --dilate 2");
}

/* --- dilation ------------------------------------------------------------------------------------ */

#define DILATED                                                                      \
    "$POSEIDON bench cluster --model ./tiny.txt --compute 4ms --nodes 2 --loopback " \
    "--dilate auto --iterations 20 --csv a.csv"

/* The least of 1, 2, 4, 8 and 16 that leaves the processors some time; what else runs here is not known. */
static void dilation_is_found_where_it_is_left_open(void)
{
    start();
    CHECK(run(DILATED) == 0);
    double times = number_at(0, DILATE);
    CHECK(times == 1 || times == 2 || times == 4 || times == 8 || times == 16);
    if (strstr(run_out, "too busy"))
        CHECK(times == 16);
    else
        CHECK(is_calm(0));
}

/* All processors are kept busy by others, so that no dilation is enough; and by such that are nice to
 * other tests. A machine that allows us only some of its time does not get busy. */
static void a_cell_that_stays_too_busy_is_marked_and_simulated(void)
{
    start();
    CHECK(run("for i in $(seq $(nproc --all)); do "
              "nice -n 19 timeout 300 sh -c 'while :; do :; done' & loops=\"$loops $!\"; "
              "done; " DILATED "; status=$?; kill $loops; exit $status") == 0);
    if (!strstr(run_out, " too busy ") && is_calm(0))
        SKIP("the processors do not get busy here");
    CHECK(number_at(0, DILATE) == 16);
    CHECK(strstr(run_out, " too busy "));
    CHECK(run("grep -q 'cores,1,[0-9.]*[1-9]' a.csv") == 0); /* limit, too_busy, simulated_ms */
}

/* --- mistakes ----------------------------------------------------------------------------------- */

static void a_window_is_the_members(void)
{
    start();
    CHECK(run("$POSEIDON bench sync --bytes 1M --nodes 2 --loopback --window 1K") == 1);
    CHECK(strstr(run_err, "a window has 16384 bytes at least, not 1024"));
    CHECK(run("$POSEIDON bench sync --bytes 1M --nodes 2 --loopback --window 64K") == 0);
}

static void mistakes_are_told_before_anything_starts(void)
{
    static const struct {
        const char *arguments, *sentence;
    } cases[] = {
        {"", "expected sync|cluster"},
        {"speed", "\"speed\" is neither sync nor cluster"},
        {"sync", "say what is added up: --bytes 1M,64M or --model NAME"},
        {"sync --bytes 1M --model lenet", "each say what is added up"},
        {"sync --bytes 6", "6 is not a number of whole floats"},
        {"sync --bytes 0", "0 is not a number of whole floats"},
        {"sync --bytes many", "--bytes: \"many\" is not a size"},
        {"sync --bytes 1M --nodes 65", "65 processes are more than 64"},
        {"sync --bytes 1M --bandwidth fast", "--bandwidth: \"fast\" is not a speed"},
        {"sync --bytes 1M --dilate slow", "--dilate is for cluster"},
        {"sync --bytes 1M --compute 1ms", "--compute is for cluster"},
        {"sync --model lenet --profile titan-x", "--profile is for cluster"},
        {"sync --model lenet --batch 3", "--batch is for cluster"},
        {"sync --bytes 1M --scheme servers", "--scheme is for cluster"},
        {"sync --bytes 1M --arithmetic real", "--arithmetic is for cluster"},
        {"cluster --model lenet --compute 1ms --bytes 1M", "--bytes is for sync"},
        {"cluster", "a net is needed: --model FILE or NAME"},
        {"cluster --model lenet", "say how long a node computes: --compute 600ms"},
        {"cluster --model lenet --compute 1ms --dilate 0", "\"0\" is not a whole number from 1 to"},
        {"cluster --model lenet --compute 1ms --dilate slow", "and it is not \"auto\""},
        {"cluster --model lenet --compute 1ms --encrypt maybe", "--encrypt"},
    };

    start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].arguments);
        CHECK(run("$POSEIDON bench %s", cases[i].arguments) == 2);
        CHECK_TEXT("", run_out);
        CHECK(strstr(run_err, cases[i].sentence));
    }
}

static void a_net_that_is_not_there_is_told(void)
{
    start();
    CHECK(run("$POSEIDON bench cluster --model ./none.txt --compute 1ms --loopback") == 1);
    CHECK(strstr(run_err, "none.txt"));
}

int main(int argc, char **argv)
{
    RUN(sums_of_all_sizes_are_right_on_loopback)
    RUN(gradients_of_a_net_are_added_up_encrypted)
    RUN(each_row_counts_its_own_time)
    RUN(a_cluster_on_loopback_is_measured_and_simulated)
    RUN(arithmetic_can_be_real_and_time_dilated)
    RUN(namespaces_shape_links)
    RUN(whatever_ends_it_all_processes_end)
    RUN(simulated_and_measured_times_agree_where_the_network_is_the_limit)
    RUN(simulated_and_measured_times_agree_where_compute_is_the_limit)
    RUN(simulated_and_measured_times_agree_when_both_are_dilated)
    RUN(dilation_is_found_where_it_is_left_open)
    RUN(a_cell_that_stays_too_busy_is_marked_and_simulated)
    RUN(a_window_is_the_members)
    RUN(mistakes_are_told_before_anything_starts)
    RUN(a_net_that_is_not_there_is_told)
}
