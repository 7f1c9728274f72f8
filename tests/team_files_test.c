/* team_files_test.c - what several processes that train together write: snapshots by the clock, tables, and
 * what becomes of them on a disk that is full. */
#include "run.h"

static const char net[] =
    "name: 'tiny'\n"
    "layer { name: 'data' type: 'DummyData' top: 'data' top: 'label'\n"
    "  dummy_data_param { shape { dim: 4 dim: 20 } shape { dim: 4 }\n"
    "    data_filler { type: 'gaussian' } data_filler { type: 'constant' value: 3 } } }\n"
    "layer { name: 'ip1' type: 'InnerProduct' bottom: 'data' top: 'ip1'\n"
    "  inner_product_param { num_output: 60 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'drop' type: 'Dropout' bottom: 'ip1' top: 'ip1' }\n"
    "layer { name: 'ip2' type: 'InnerProduct' bottom: 'ip1' top: 'ip2'\n"
    "  inner_product_param { num_output: 10 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'accuracy' type: 'Accuracy' bottom: 'ip2' bottom: 'label' top: 'accuracy'\n"
    "  include { phase: TEST } }\n"
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip2' bottom: 'label' top: 'loss' }\n";

/* A folder with the net, and a solver that has `more` in it. */
static void start(const char *more)
{
    char text[2000];

    run_start();
    run_write("net.prototxt", net);
    snprintf(text, sizeof text,
             "net: \"net.prototxt\"\nbase_lr: 0.01\nlr_policy: \"fixed\"\nmomentum: 0.9\n"
             "display: 5\nsnapshot_prefix: \"s\"\nrandom_seed: 3\n%s",
             more);
    run_write("solver.prototxt", text);
}

/* Trains to the end. */
static void train(const char *arguments)
{
    if (run("$POSEIDON train --solver solver.prototxt --log-prefix none %s", arguments) != 0)
        TEST_FAIL("%s: %s", arguments, run_err);
}

/* Keeps a table without its times, which are not the same twice. */
static void keep(const char *table, const char *as)
{
    CHECK(run("cut -d, -f1,3- %s >%s", table, as) == 0);
}

/* --- by the clock --------------------------------------------------------------------------------- */

static void snapshots_are_made_by_the_clock_and_are_whole(void)
{
    start("max_iter: 1000000000\nsnapshot_after_train: false\n");
    CHECK(run("$POSEIDON train --solver solver.prototxt --log-prefix none -n 2 "
              "--snapshot-every 200ms --net-outputs out 2>log & pid=$!; "
              "until [ $(ls s_iter_*.solverstate | wc -l) -ge 2 ]; do sleep 0.05; done; "
              "kill -INT $pid; wait $pid") == 0);
    CHECK(run("ls s_iter_*.solverstate | wc -l") == 0);
    CHECK(strtol(run_out, NULL, 10) >= 3); /* with that of Ctrl-C */
    CHECK(run("for i in s_iter_*.solverstate; do i=${i%%.solverstate}; "
              "for end in solverstate caffemodel poseidonstate; do "
              "$POSEIDON print $i.$end >text.$end || exit; done; "
              "grep -q \"^iter: ${i#s_iter_}$\" text.solverstate || exit; done") == 0);
}

/* --- tables --------------------------------------------------------------------------------------- */

static void a_table_has_names_and_a_row_for_each_display(void)
{
    start("max_iter: 33\ntest_iter: 2\ntest_interval: 10\n");
    train("-n 2 --net-outputs out 2>log");
    keep("out.netoutputs", "train");
    CHECK(run("head -n 1 out.netoutputs out.test0.netoutputs; "
              "cut -d, -f1 out.netoutputs out.test0.netoutputs | tr '\\n' ' '") == 0);
    CHECK_TEXT("==> out.netoutputs <==\nIteration,time,loss,loss\n\n"
               "==> out.test0.netoutputs <==\nIteration,time,loss,accuracy,loss\n"
               "Iteration 0 5 10 15 20 25 30 Iteration 0 10 20 30 ",
               run_out);
    /* The numbers are those of the log, which shows fewer digits. */
    CHECK(run("sed -n 's/^Iteration .* iters), loss = //p' log >shown; "
              "sed 1d out.netoutputs | cut -d, -f3 | xargs printf '%%g\\n' | cmp - shown && "
              "wc -l <shown") == 0);
    CHECK_TEXT("7\n", run_out);
}

static void tables_are_the_same_for_any_number_of_processes(void)
{
    start("max_iter: 33\naverage_loss: 3\ntest_iter: 5\ntest_interval: 10\n");
    train("--logical-workers 6 --net-outputs one");
    train("--logical-workers 6 -n 3 --net-outputs many");
    keep("one.netoutputs", "one");
    keep("many.netoutputs", "many");
    CHECK(run("cmp one many && wc -l <one") == 0);
    CHECK_TEXT("8\n", run_out);
    keep("one.test0.netoutputs", "one");
    keep("many.test0.netoutputs", "many");
    CHECK(run("cmp one many && wc -l <one") == 0);
    CHECK_TEXT("5\n", run_out);
}

/* As if it had never stopped; what came after the snapshot does not stand there twice. */
static void a_training_that_goes_on_goes_on_with_its_tables(void)
{
    start("max_iter: 33\nsnapshot: 20\ntest_iter: 2\ntest_interval: 10\n");
    train("-n 2 --net-outputs out");
    keep("out.netoutputs", "whole");
    keep("out.test0.netoutputs", "whole.test");
    train("-n 2 --net-outputs out --snapshot s_iter_20.solverstate");
    keep("out.netoutputs", "resumed");
    keep("out.test0.netoutputs", "resumed.test");
    CHECK(run("cmp whole resumed && cmp whole.test resumed.test") == 0);
}

/* There is no layer ip9, which processes tell each other when they start. */
static void a_training_that_does_not_start_leaves_its_tables_alone(void)
{
    start("max_iter: 33\nsnapshot: 20\n");
    train("-n 2 --net-outputs out");
    CHECK(run("cp out.netoutputs whole; $POSEIDON train --solver solver.prototxt -n 2 "
              "--net-outputs out --snapshot s_iter_20.solverstate --form ip9=dense") == 1);
    CHECK(strstr(run_err, "ip9"));
    CHECK(run("cmp whole out.netoutputs") == 0);
}

/* --- a disk that is full -------------------------------------------------------------------------- */

static void a_full_disk_costs_a_snapshot_and_not_the_training(void)
{
    start("max_iter: 35\nsnapshot: 10\nsnapshot_after_train: false\n");
    run_save_to_small();
    CHECK(run("unshare -m sh -c 'mount -t tmpfs -o size=32k none small && "
              "$POSEIDON train --solver solver.prototxt -n 2 && ls small && "
              "$POSEIDON print small/s_iter_10.caffemodel >model'") == 0);
    CHECK_TEXT("s_iter_10.caffemodel\ns_iter_10.poseidonstate\ns_iter_10.solverstate\n", run_out);
    CHECK(strstr(run_err, "no snapshot at iteration 30: ") &&
          strstr(run_err, "No space left on device") && strstr(run_err, "Optimization Done"));
    CHECK(run("sed -i '$d' solver.prototxt; unshare -m sh -c 'mount -t tmpfs -o size=32k none "
              "small && $POSEIDON train --solver solver.prototxt -n 2'") == 1);
    CHECK(strstr(run_err, "\nposeidon: no snapshot at iteration 35: "));
}

int main(int argc, char **argv)
{
    RUN(snapshots_are_made_by_the_clock_and_are_whole)
    RUN(a_table_has_names_and_a_row_for_each_display)
    RUN(tables_are_the_same_for_any_number_of_processes)
    RUN(a_training_that_goes_on_goes_on_with_its_tables)
    RUN(a_training_that_does_not_start_leaves_its_tables_alone)
    RUN(a_full_disk_costs_a_snapshot_and_not_the_training)
}
