/* train_test.c - "poseidon train" as people and programs meet it: lines, files, signals, mistakes.
 *
 * The nets are tiny. Their samples are made up by a DummyData layer, or come from a database that the
 * program makes itself from a few generated pictures. */
#include "run.h"

#include <sys/stat.h>

static const char net[] =
    "name: \"tiny\"\n"
    "layer { name: \"data\" type: \"DummyData\" top: \"data\" top: \"label\"\n"
    "  dummy_data_param { shape { dim: 8 dim: 1 dim: 12 dim: 12 } shape { dim: 8 }\n"
    "    data_filler { type: \"gaussian\" } data_filler { type: \"constant\" value: 3 } } }\n"
    "layer { name: \"conv1\" type: \"Convolution\" bottom: \"data\" top: \"conv1\"\n"
    "  convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: \"xavier\" } } }\n"
    "layer { name: \"drop\" type: \"Dropout\" bottom: \"conv1\" top: \"conv1\" }\n"
    "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"conv1\" top: \"ip\"\n"
    "  inner_product_param { num_output: 10 weight_filler { type: \"xavier\" } } }\n"
    "layer { name: \"accuracy\" type: \"Accuracy\" bottom: \"ip\" bottom: \"label\"\n"
    "  top: \"accuracy\" include { phase: TEST } }\n"
    "layer { name: \"loss\" type: \"SoftmaxWithLoss\" bottom: \"ip\" bottom: \"label\"\n"
    "  top: \"loss\" }\n";

static const char solver[] = "net: \"net.prototxt\"\n"
                             "base_lr: 0.001\nlr_policy: \"inv\"\ngamma: 0.0001\npower: 0.75\n"
                             "momentum: 0.9\nweight_decay: 0.0005\n"
                             "display: 5\nsnapshot_prefix: \"s\"\nrandom_seed: 3\n";

/* A folder with a net, and a solver to which `more` is added. */
static void start(const char *more)
{
    char text[1000];

    run_start();
    run_write("net.prototxt", net);
    snprintf(text, sizeof text, "%s%s", solver, more);
    run_write("solver.prototxt", text);
}

/* How many lines of the latest run match an extended regular expression. */
static int matches(const char *expression)
{
    static char before[sizeof run_err];

    memcpy(before, run_err, sizeof before);
    run_write("errors", before);
    run("grep -cE -e '%s' errors", expression);
    int count = atoi(run_out);
    memcpy(run_err, before, sizeof before);
    return count;
}

static double loss_at(int iteration)
{
    char begin[64];

    snprintf(begin, sizeof begin, "Iteration %d (", iteration);
    const char *line = strstr(run_err, begin);
    CHECK(line && strstr(line, "loss = "));
    return atof(strstr(line, "loss = ") + strlen("loss = "));
}

/* --- training --------------------------------------------------------------------------------- */

static void a_net_learns_and_says_so_in_the_lines_of_caffe(void)
{
    start("max_iter: 20\ntest_iter: 2\ntest_interval: 10\n");
    CHECK(run("$POSEIDON train -solver=solver.prototxt") == 0);
    CHECK(loss_at(15) < loss_at(0));
    CHECK_TEXT("", run_out);

    static const struct {
        int count;
        const char *expression;
    } lines[] = {
        {1, "^I[0-9]{4} [0-9:]{8}\\.[0-9]{6} +[0-9]+ [a-z]+\\.cpp:[0-9]+\\] Solving tiny$"},
        {1, "Initializing solver from parameters:"},
        {1, "Creating training net from net file: net.prototxt$"},
        {1, "Creating test net \\(#0\\) specified by net file: net.prototxt$"},
        {1, "Solver scaffolding done.$"},
        {1, "Starting Optimization$"},
        {1, "Learning Rate Policy: inv$"},
        {3, "Iteration [0-9]+, Testing net \\(#0\\)$"},
        {3, "Test net output #0: accuracy = [.0-9eE+-]+$"},
        {3, "Test net output #1: loss = [.0-9eE+-]+ \\(\\* 1 = [.0-9eE+-]+ loss\\)$"},
        {4, "Iteration [0-9]+ \\([.0-9e+]+ iter/s, [.0-9e+-]+s/5 iters\\), loss = [.0-9eE+-]+$"},
        {4, "Train net output #0: loss = [.0-9eE+-]+ \\(\\* 1 = [.0-9eE+-]+ loss\\)$"},
        {4, "Iteration [0-9]+, lr = [-+]?[0-9]*\\.?[0-9]+([eE]?[-+]?[0-9]+)?$"},
        {1, "Snapshotting to binary proto file s_iter_20.caffemodel$"},
        {1, "Snapshotting solver state to binary proto file s_iter_20.solverstate$"},
        {1, "Iteration 20, loss = [.0-9eE+-]+$"},
        {2, "Optimization Done.$"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (matches(lines[i].expression) != lines[i].count)
            TEST_FAIL("%s: not %d times in:\n%s", lines[i].expression, lines[i].count, run_err);
    }
}

static void for_people_lines_have_no_prefix(void)
{
    start("max_iter: 1\n");
    CHECK(run("$POSEIDON train --solver solver.prototxt --log-prefix none") == 0);
    CHECK(matches("^Solving tiny$") == 1);
}

static void under_the_name_caffe_all_is_the_same(void)
{
    start("max_iter: 5\n");
    CHECK(run("ln -s $POSEIDON caffe && ./caffe train -solver solver.prototxt") == 0);
    CHECK(matches("\\] Optimization Done") == 2);
    CHECK(run("./caffe test -model net.prototxt -weights s_iter_5.caffemodel -iterations 3") == 0);
    CHECK(matches("\\] Batch [012], accuracy = [.0-9e-]+$") == 3);
    CHECK(matches("\\] Loss: [.0-9e-]+$") == 1);
    CHECK(matches("\\] loss = [.0-9e-]+ \\(\\* 1 = [.0-9e-]+ loss\\)$") == 1);
    CHECK(run("./caffe time -model net.prototxt -iterations 2 -phase TEST") == 0);
    CHECK(matches("\\]      conv1\tforward: [.0-9e-]+ ms.$") == 1);
    CHECK(matches("\\] Average Forward-Backward: [.0-9e-]+ ms.$") == 1);
    CHECK(run("./caffe device_query") == 0);
    CHECK(strncmp(run_out, "host:0", strlen("host:0")) == 0);
}

static void a_run_is_the_same_to_the_bit(void)
{
    start("max_iter: 20\n");
    CHECK(run("$POSEIDON train -solver solver.prototxt && mv s_iter_20.caffemodel first") == 0);
    CHECK(run("$POSEIDON train -solver solver.prototxt && cmp s_iter_20.caffemodel first") == 0);
    CHECK(run("sed -i 's/random_seed: 3/random_seed: 4/' solver.prototxt && "
              "$POSEIDON train -solver solver.prototxt && cmp s_iter_20.caffemodel first") == 1);
}

/* Pictures of two kinds, bright above or bright below, in the files of MNIST: 96 of 8 x 8 pixels. */
static void make_database(void)
{
    FILE *images = fopen("images", "wb"), *labels = fopen("labels", "wb");

    CHECK(images && labels);
    fwrite("\0\0\x08\x03\0\0\0\x60\0\0\0\x08\0\0\0\x08", 1, 16, images);
    fwrite("\0\0\x08\x01\0\0\0\x60", 1, 8, labels);
    for (int i = 0; i < 96; i++) {
        for (int pixel = 0; pixel < 64; pixel++)
            fputc((pixel < 32) == i % 2 ? 200 + pixel : i, images);
        fputc(i % 2, labels);
    }
    CHECK(fclose(images) == 0 && fclose(labels) == 0);
    CHECK(run("$POSEIDON convert-mnist images labels train_lmdb") == 0);
    run_write("net.prototxt",
              "name: \"halves\"\n"
              "layer { name: \"data\" type: \"Data\" top: \"data\" top: \"label\"\n"
              "  transform_param { scale: 0.00390625 mirror: true crop_size: 7 }\n"
              "  data_param { source: \"train_lmdb\" batch_size: 10 backend: LMDB } }\n"
              "layer { name: \"drop\" type: \"Dropout\" bottom: \"data\" top: \"drop\" }\n"
              "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"drop\" top: \"ip\"\n"
              "  inner_product_param { num_output: 2 weight_filler { type: \"xavier\" } } }\n"
              "layer { name: \"accuracy\" type: \"Accuracy\" bottom: \"ip\" bottom: \"label\"\n"
              "  top: \"accuracy\" include { phase: TEST } }\n"
              "layer { name: \"loss\" type: \"SoftmaxWithLoss\" bottom: \"ip\" bottom: \"label\"\n"
              "  top: \"loss\" }\n");
}

static void a_net_learns_from_a_database(void)
{
    start("max_iter: 100\ntest_iter: 9\ntest_interval: 100\n");
    make_database();
    CHECK(run("$POSEIDON train -solver solver.prototxt") == 0);
    CHECK(matches("Test net output #0: accuracy = 1$") == 1);
}

/* Makes the records with these keys no Datum any more. */
static void spoil(const char *keys)
{
    CHECK(run("for key in %s; do "
              "LC_ALL=C sed -i \"s/$key\\x08\\x01\\x10/$key\\x07\\x01\\x10/\" "
              "train_lmdb/data.mdb || exit 1; done",
              keys) == 0);
}

static void bad_records_are_left_out_up_to_a_limit(void)
{
    static const struct {
        int code, told; /* exit code, and records that are told of */
        const char *limit;
    } cases[] = {{1, 1, ""},
                 {1, 2, "--max-bad 1"},
                 {0, 2, "--max-bad 2"},
                 {1, 2, "--max-bad 2%"},
                 {0, 2, "--max-bad 2.1%"},
                 {2, 0, "--max-bad few"}};

    start("max_iter: 30\n"); /* three times all records */
    make_database();
    spoil("00000003 00000070");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].limit);
        CHECK(run("$POSEIDON train -solver solver.prototxt %s", cases[i].limit) == cases[i].code);
        CHECK(matches("key \"000000(03|70)\" is left out: its Datum ") == cases[i].told);
        CHECK(matches("train_lmdb: 2 bad records were left out") == (cases[i].code == 0));
    }
}

static void a_damaged_database_is_one_sentence(void)
{
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"truncate -s 12345 train_lmdb/data.mdb", "perhaps a copy that broke off"},
        {"truncate -s 100 train_lmdb/data.mdb", "train_lmdb/data.mdb ends before byte 100"},
        {"rm train_lmdb/data.mdb", "train_lmdb has no file data.mdb"},
        {"rm -r train_lmdb", "names train_lmdb, but there is no such file"},
        {"dd if=/dev/zero of=train_lmdb/data.mdb bs=4k seek=2 count=3 conv=notrunc",
         "train_lmdb/data.mdb: page "},
        {"sed -i 's/crop_size: 7/crop_size: 9/' net.prototxt",
         "train_lmdb: record 0, key \"00000000\": its 8 x 8 values are fewer than crop_size: 9"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start("max_iter: 1\n");
        make_database();
        fprintf(stderr, "    %s\n", cases[i].line);
        CHECK(run("%s", cases[i].line) == 0);
        CHECK(run("$POSEIDON train -solver solver.prototxt --log-prefix none") == 1);
        const char *told = strstr(run_err, "net.prototxt:4:");
        CHECK(told && strstr(told, cases[i].sentence));
        CHECK(strchr(told, '\n')[1] == 0); /* it is the last line, and the only one of its kind */
        CHECK(!strstr(run_err, "left out"));
        CHECK(run("rm -r *") == 0);
    }
}

/* Trains, and once more from the middle. */
static void check_resumed(const char *line_to_remove)
{
    start("max_iter: 50\nsnapshot: 20\ntest_iter: 3\ntest_interval: 7\n");
    make_database();
    CHECK(run("sed -i '/%s/d' solver.prototxt", line_to_remove) == 0);
    CHECK(run("$POSEIDON train -solver solver.prototxt && mkdir whole && "
              "mv s_iter_40.* s_iter_50.* whole && $POSEIDON train -solver solver.prototxt "
              "-snapshot s_iter_20.solverstate") == 0);
    CHECK(matches("Resuming from s_iter_20.solverstate$") == 1);
    CHECK(
        run("for file in whole/*; do cmp $file ${file#whole/} || exit 1; done; ls whole | wc -l") ==
        0);
    CHECK_TEXT("6\n", run_out);
}

static void a_resumed_run_equals_one_that_was_not_stopped(void)
{
    check_resumed("none of them");
}

static void a_resumed_run_goes_on_with_the_seed_that_the_first_has_drawn(void)
{
    check_resumed("random_seed");
}

static void a_run_that_goes_on_otherwise_says_so(void)
{
    start("max_iter: 10\nsnapshot: 5\n");
    CHECK(run("$POSEIDON train -solver solver.prototxt --threads 2") == 0);
    CHECK(run("$POSEIDON train -solver solver.prototxt --threads 2 -snapshot "
              "s_iter_5.solverstate") == 0);
    CHECK(matches("^W") == 0);
    CHECK(run("$POSEIDON train -solver solver.prototxt --threads 1 -snapshot "
              "s_iter_5.solverstate") == 0);
    CHECK(matches("^W.*s_iter_5.poseidonstate was computed with 2 threads, and this run has 1: "
                  ".*--threads 2 makes it equal$") == 1);
    CHECK(run("$POSEIDON train -solver solver.prototxt --threads 1 --backend plain && "
              "$POSEIDON train -solver solver.prototxt --threads 1 -snapshot "
              "s_iter_5.solverstate") == 0);
    CHECK(matches("^W.*s_iter_5.poseidonstate: then \"conv1 plain\", now \"conv1 ") == 1);
}

static void weights_are_taken_over_by_the_names_of_layers(void)
{
    start("max_iter: 5\n");
    CHECK(run("$POSEIDON train -solver solver.prototxt && mv s_iter_5.caffemodel old && "
              "sed -i 's/name: \"conv1\"/name: \"conv\"/' net.prototxt && "
              "$POSEIDON train -solver solver.prototxt -weights old") == 0);
    CHECK(matches("Finetuning from old$") == 1);
    CHECK(matches("Ignoring source layer conv1$") == 1);
    CHECK(matches("^W") == 0);
    CHECK(run("sed -i 's/name: \"ip\"/name: \"fc\"/' net.prototxt && "
              "$POSEIDON train -solver solver.prototxt -weights old") == 0);
    CHECK(matches("^W.*old has weights for no layer of this net") == 1);
}

/* With a rate of 0, what was loaded is what is written. */
static void a_solver_names_weights_and_an_option_overrides_it(void)
{
    start("max_iter: 1\n");
    CHECK(run("mkdir there; $POSEIDON train -solver solver.prototxt && "
              "mv s_iter_1.caffemodel there/a && sed -i 's/random_seed: 3/random_seed: 4/' "
              "solver.prototxt && $POSEIDON train -solver solver.prototxt && "
              "mv s_iter_1.caffemodel there/b && cp solver.prototxt net.prototxt there && "
              "sed -i 's/base_lr: .*/base_lr: 0/' there/solver.prototxt && "
              "echo 'weights: \"a\"' >>there/solver.prototxt") == 0);
    CHECK(run("$POSEIDON train -solver there/solver.prototxt && cmp s_iter_1.caffemodel there/a") ==
          0);
    CHECK(matches("Finetuning from a$") == 1);
    CHECK(run("$POSEIDON train -solver there/solver.prototxt -snapshot '' -weights '' && "
              "cmp s_iter_1.caffemodel there/a") == 0);
    CHECK(run("$POSEIDON train -solver there/solver.prototxt -weights 'there/a, there/b' && "
              "cmp s_iter_1.caffemodel there/b") == 0);
    CHECK(matches("Finetuning from there/[ab]$") == 2);
}

/* The second solver would fill its weights otherwise, and does not move them. */
static void a_model_that_is_used_as_a_net_keeps_its_weights(void)
{
    start("max_iter: 5\n");
    CHECK(
        run("$POSEIDON train -solver solver.prototxt && mv s_iter_5.caffemodel net.caffemodel && "
            "sed -i 's/base_lr: .*/base_lr: 0/; s/random_seed: 3/random_seed: 4/; "
            "s/net.prototxt/net.caffemodel/' solver.prototxt && "
            "$POSEIDON train -solver solver.prototxt && cmp net.caffemodel s_iter_5.caffemodel && "
            "$POSEIDON train -solver solver.prototxt -n 2 && "
            "cmp net.caffemodel s_iter_5.caffemodel") == 0);
    CHECK(run("$POSEIDON eval --model net.caffemodel --get 'conv1[0]=a.npy,ip[1]=b.npy' && "
              "$POSEIDON eval --model net.prototxt --weights net.caffemodel "
              "--get 'conv1[0]=c.npy,ip[1]=d.npy' && cmp a.npy c.npy && cmp b.npy d.npy") == 0);
}

/* --- snapshots -------------------------------------------------------------------------------- */

static void snapshots_have_their_names_and_can_be_printed(void)
{
    start("max_iter: 25\nsnapshot: 10\n");
    CHECK(run("$POSEIDON train -solver solver.prototxt --threads 2 && echo s_iter_*") == 0);
    CHECK_TEXT("s_iter_10.caffemodel s_iter_10.poseidonstate s_iter_10.solverstate "
               "s_iter_20.caffemodel s_iter_20.poseidonstate s_iter_20.solverstate "
               "s_iter_25.caffemodel s_iter_25.poseidonstate s_iter_25.solverstate\n",
               run_out);
    CHECK(run("$POSEIDON print --short s_iter_25.caffemodel | grep -c blobs") == 0);
    CHECK_TEXT("4\n", run_out);
    CHECK(run("$POSEIDON print s_iter_25.solverstate | head -n 2") == 0);
    CHECK_TEXT("iter: 25\nlearned_net: \"s_iter_25.caffemodel\"\n", run_out);
    CHECK(run("$POSEIDON print s_iter_25.poseidonstate | grep -v -e choice -e version") == 0);
    CHECK_TEXT("iteration: 25\nseed: 3\nthreads: 2\ntrain_position: 25\nworkers: 1\nsamples: 8\n",
               run_out);
    CHECK(run("cp s_iter_25.poseidonstate a; $POSEIDON print --type State a | grep iteration") ==
          0);
}

static void a_full_disk_costs_a_snapshot_and_not_the_training(void)
{
    start("max_iter: 35\nsnapshot: 10\nsnapshot_after_train: false\n");
    run_save_to_small();
    CHECK(run("unshare -m sh -c 'mount -t tmpfs -o size=64k none small && "
              "$POSEIDON train -solver solver.prototxt && ls small && "
              "$POSEIDON print small/s_iter_10.caffemodel >model'") == 0);
    CHECK_TEXT("s_iter_10.caffemodel\ns_iter_10.poseidonstate\ns_iter_10.solverstate\n", run_out);
    CHECK(matches("^W.*no snapshot at iteration 30: .*: No space left on device$") == 1);
    CHECK(matches("Optimization Done") == 2);
    CHECK(
        run("sed -i '$d' solver.prototxt; unshare -m sh -c 'mount -t tmpfs -o size=64k none small "
            "&& $POSEIDON train -solver solver.prototxt'") == 1);
    CHECK(matches("^poseidon: .*No space left on device$") == 1);
    CHECK(run("sed -i 's/max_iter: 35/max_iter: 30/' solver.prototxt; unshare -m sh -c 'mount -t "
              "tmpfs -o size=64k none small && $POSEIDON train -solver solver.prototxt'") == 1);
    CHECK(matches("^poseidon: .*No space left on device$") == 1); /* also after a warning of it */
}

static void a_file_that_cannot_be_written_takes_its_set_along(void)
{
    start("max_iter: 10\nsnapshot: 5\n");
    CHECK(run("mkdir s_iter_5.solverstate s_iter_10.poseidonstate && "
              "$POSEIDON train -solver solver.prototxt") == 1);
    CHECK(matches("^W.*no snapshot at iteration 5: .*s_iter_5.solverstate: it is a directory$") ==
          1);
    CHECK(matches("^poseidon: .*s_iter_10.poseidonstate: it is a directory$") == 1);
    CHECK(run("echo s_*") == 0);
    CHECK_TEXT("s_iter_10.poseidonstate s_iter_5.solverstate\n", run_out);
}

/* --- signals ---------------------------------------------------------------------------------- */

/* Lets the program train without end, sends it `signals` once it is under way, and returns its exit
 * code; what it said is in run_err. */
static int train_with_signals(const char *signals)
{
    return run(": >log; $POSEIDON train -solver solver.prototxt 2>log & pid=$!; "
               "until grep -q 'Iteration 10,' log; do sleep 0.02; done; %s wait $pid; code=$?; "
               "cat log >&2; exit $code",
               signals);
}

static void ctrl_c_stops_after_a_snapshot(void)
{
    start("max_iter: 100000000\nsnapshot_after_train: false\n");
    CHECK(train_with_signals("kill -INT $pid;") == 0);
    CHECK(matches("Optimization stopped early.$") == 1);
    CHECK(matches("Optimization Done.$") == 1);
    CHECK(run("ls s_iter_*.solverstate | wc -l") == 0);
    CHECK_TEXT("1\n", run_out);
}

static void sigterm_leaves_a_snapshot_and_asks_to_be_started_again(void)
{
    start("max_iter: 100000000\n");
    CHECK(train_with_signals("kill -TERM $pid;") == 75);
    CHECK(matches("Optimization stopped early.$") == 1);
    CHECK(run("ls s_iter_*.solverstate | wc -l") == 0);
    CHECK_TEXT("1\n", run_out);
}

static void sighup_makes_a_snapshot_and_goes_on(void)
{
    start("max_iter: 100000000\n");
    CHECK(train_with_signals("kill -HUP $pid; until ls s_iter_*.solverstate; do sleep 0.02; done; "
                             "kill -INT $pid;") == 0);
    CHECK(matches("Snapshotting to binary") == 2);
}

static void what_signals_do_can_be_chosen(void)
{
    start("max_iter: 100000000\n");
    CHECK(run("$POSEIDON train -solver solver.prototxt -sigint_effect=none -sighup_effect=stop "
              "2>log & pid=$!; until grep -q 'Iteration 10,' log; do sleep 0.02; done; "
              "kill -INT $pid; sleep 0.1; kill -0 $pid && kill -HUP $pid; wait $pid") == 0);
}

/* One iteration of this net takes seconds, so both signals come during the first. The second comes when
 * the first has: two of a kind that wait are one. */
static int train_with_two_signals(const char *first, const char *second)
{
    const char *sanitizer = getenv("SAN");

    if (sanitizer && strstr(sanitizer, "thread"))
        SKIP("the sanitizer holds signals back while a thread computes");
    start("max_iter: 100000000\n");
    CHECK(run("sed -i 's/dim: 8 dim: 1 dim: 12 dim: 12/dim: 8 dim: 64 dim: 250 dim: 250/; "
              "s/num_output: 4 kernel_size: 3/num_output: 64 kernel_size: 7/' net.prototxt") == 0);
    return run(": >log; $POSEIDON train -solver solver.prototxt 2>log & pid=$!; "
               "until grep -q 'Learning Rate' log; do sleep 0.02; done; sleep 0.1; kill -%s $pid; "
               "while grep -q '^ShdPnd:.*[1-9a-f]' /proc/$pid/status; do sleep 0.02; done; "
               "sleep 0.1; kill -%s $pid; wait $pid",
               first, second);
}

static void a_second_ctrl_c_ends_at_once(void)
{
    CHECK(train_with_two_signals("INT", "INT") == 130);
    CHECK(run("ls s_iter_*") != 0);
}

static void a_first_ctrl_c_after_sigterm_still_waits_for_the_snapshot(void)
{
    CHECK(train_with_two_signals("TERM", "INT") == 75);
    CHECK(run("ls s_iter_1.solverstate") == 0);
}

/* Going on from it makes the whole test. */
static void a_snapshot_within_a_test_is_of_before_it(void)
{
    start("max_iter: 3\ntest_iter: 100000000\ntest_interval: 1\ntest_initialization: false\n");
    CHECK(run("$POSEIDON train -solver solver.prototxt 2>log & pid=$!; "
              "until grep -q Testing log; do sleep 0.02; done; sleep 0.1; kill -HUP $pid; "
              "until ls s_iter_1.solverstate; do sleep 0.02; done; "
              "$POSEIDON print s_iter_1.poseidonstate >state; kill -INT $pid; wait $pid; code=$?; "
              "cat log >&2; grep position state; exit $code") == 0);
    CHECK(strstr(run_out, "train_position: 1\ntest_position: 0\n"));
    CHECK(matches("Test interrupted.$") == 1);
    CHECK(matches("Snapshotting to binary") == 1); /* that of SIGHUP is that of the stop, too */
}

/* --- a terminal ------------------------------------------------------------------------------- */

static void a_terminal_has_a_live_line_and_a_file_none(void)
{
    static const char clear[] = "\r\033[K";

    start("max_iter: 2000\n");
    CHECK(
        run("script -qec '$POSEIDON train -solver solver.prototxt --log-prefix none' /dev/null") ==
        0);
    const char *live = strstr(run_out, "\r\033[Kiteration ");
    CHECK(live && strstr(live, " of 2000   loss "));
    CHECK(strstr(live, " images/s   0:"));
    const char *last = strstr(run_out, "Optimization Done.");
    CHECK(last && !strstr(last, clear)); /* and it is gone in the end */
    CHECK(run("$POSEIDON train -solver solver.prototxt") == 0);
    CHECK(!strchr(run_err, '\r'));
}

/* --- mistakes --------------------------------------------------------------------------------- */

static void mistakes_are_one_sentence(void)
{
    static const struct {
        int code;
        const char *line, *sentence;
    } cases[] = {
        {2, "$POSEIDON train",
         "poseidon train: a solver is needed: --solver FILE. See \"poseidon help train\".\n"},
        {2, "$POSEIDON train -solver s -snapshot a -weights b",
         "poseidon train: --snapshot goes on with a training, --weights starts a new one: give one "
         "of them. See \"poseidon help train\".\n"},
        {1, "$POSEIDON train -solver nowhere.prototxt",
         "poseidon: cannot open nowhere.prototxt: No such file or directory\n"},
        {1, "$POSEIDON train -solver solver.prototxt -gpu 0",
         "poseidon: there is no GPU that this build can use; without -gpu it computes on the "
         "CPU\n"},
        {1, "$POSEIDON train -solver solver.prototxt --backend abacus", "abacus"},
        {1,
         "sed -i s/net.prototxt/nowhere.prototxt/ solver.prototxt; "
         "$POSEIDON train -solver solver.prototxt",
         "nowhere.prototxt"},
        {1, "sed -i 's/DummyData/DumyData/' net.prototxt; $POSEIDON train -solver solver.prototxt",
         "net.prototxt:2:22: layer data: unknown type \"DumyData\"; did you mean \"DummyData\"?\n"},
        {1,
         "$POSEIDON train -solver solver.prototxt && sed -i 's/num_output: 4/num_output: 5/' "
         "net.prototxt && $POSEIDON train -solver solver.prototxt -weights s_iter_1.caffemodel",
         "s_iter_1.caffemodel: parameter 0 of layer conv1: "},
        {1, "$POSEIDON train -solver solver.prototxt -snapshot net.prototxt", "net.prototxt"},
        {1, "echo 'type: \"Adma\"' >>solver.prototxt; $POSEIDON train -solver solver.prototxt",
         "solver.prototxt:12:1: type is \"SGD\", \"Nesterov\", "},
        {1, "echo 'type: \"AdaGrad\"' >>solver.prototxt; $POSEIDON train -solver solver.prototxt",
         "solver.prototxt:6:1: AdaGrad and RMSProp have no momentum; leave it out\n"},
        {1,
         "sed -i 's/^momentum.*/type: \"RMSProp\" rms_decay: 1/' solver.prototxt; "
         "$POSEIDON train -solver solver.prototxt",
         "solver.prototxt:6:17: rms_decay is at least 0 and less than 1\n"},
        {1,
         "$POSEIDON train -solver solver.prototxt && "
         "$POSEIDON train -solver solver.prototxt -snapshot s_iter_1.caffemodel",
         "poseidon: s_iter_1.caffemodel is not the state of a solver; its name ends in "
         ".solverstate\n"},
        {1,
         "$POSEIDON train -solver solver.prototxt && cp s_iter_1.poseidonstate other && sed -i "
         "'s/max_iter: 1/max_iter: 2/' solver.prototxt && $POSEIDON train -solver solver.prototxt "
         "&& mv other s_iter_2.poseidonstate && $POSEIDON train -solver solver.prototxt -snapshot "
         "s_iter_2.solverstate",
         "poseidon: s_iter_2.poseidonstate is of iteration 1, the .solverstate beside it of "
         "iteration 2; remove it to go on without\n"},
        {1, "echo 'type: \"Sdg\"' >>solver.prototxt; $POSEIDON train -solver solver.prototxt",
         "solver.prototxt:12:1: type is \"SGD\", \"Nesterov\", \"AdaGrad\", \"RMSProp\", "
         "\"AdaDelta\" or "
         "\"Adam\"\n"},
        {1,
         "echo 'test_iter: 0 test_interval: 1' >>solver.prototxt; "
         "$POSEIDON train -solver solver.prototxt",
         "solver.prototxt:12:1: test_iter is at least 1\n"},
        {1, "$POSEIDON train -solver solver.prototxt -weights nowhere", "there is no file nowhere"},
        {1,
         "sed -i 's/prefix: \"s\"/prefix: \"nowhere\\/s\"/' solver.prototxt; "
         "$POSEIDON train -solver solver.prototxt",
         "poseidon: snapshots cannot be written: cannot write nowhere/s_iter_0.caffemodel: "
         "No such file or directory\n"},
        {2, "$POSEIDON test -model net.prototxt",
         "poseidon test: weights are needed: --weights FILE. See \"poseidon help test\".\n"},
        {2, "$POSEIDON time", "poseidon time: a net is needed: --model FILE."},
    };

    start("max_iter: 1\n");
    CHECK(run("cp net.prototxt net; cp solver.prototxt solver") == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run("cp net net.prototxt; cp solver solver.prototxt; %s", cases[i].line);
        if (code != cases[i].code || !strstr(run_err, cases[i].sentence))
            TEST_FAIL("%s: code %d, and: %s", cases[i].line, code, run_err);
    }
}

static void a_solver_that_asks_for_a_gpu_trains_on_the_cpu_and_says_so_once(void)
{
    start("max_iter: 1\nsolver_mode: GPU\n");
    CHECK(run("$POSEIDON train -solver solver.prototxt") == 0);
    CHECK(matches("^W.*asks for solver_mode GPU") == 1);
}

static void debug_info_tells_how_large_everything_is(void)
{
    start("max_iter: 1\ndebug_info: true\n");
    CHECK(run("$POSEIDON train -solver solver.prototxt && ls s_iter_1.caffemodel") == 0);
    CHECK(matches("    \\[Forward\\] Layer [a-z0-9]*, top blob [a-z]* data: [0-9.e-]*$") >= 1);
    CHECK(matches("    \\[Backward\\] All net params .data, diff.: L1 norm = ") == 1);
}

static void snapshots_in_hdf5_are_gone_on_from(void)
{
    start("max_iter: 6\nsnapshot: 3\nsnapshot_format: HDF5\n");
    CHECK(run("$POSEIDON train -solver solver.prototxt") == 0);
    CHECK(matches("Snapshotting to HDF5 file s_iter_6.caffemodel.h5$") == 1);
    CHECK(matches("Snapshotting solver state to HDF5 file s_iter_6.solverstate.h5$") == 1);
    CHECK(run("mv s_iter_6.caffemodel.h5 whole && $POSEIDON train -solver solver.prototxt "
              "-snapshot s_iter_3.solverstate.h5 && cmp whole s_iter_6.caffemodel.h5") == 0);
    CHECK(run("$POSEIDON train -solver solver.prototxt -weights s_iter_3.caffemodel.h5") == 0);
    CHECK(run("$POSEIDON train -solver solver.prototxt -n 2 --logical-workers 2 && "
              "mv s_iter_6.caffemodel.h5 whole && $POSEIDON train -solver solver.prototxt "
              "--logical-workers 2 -snapshot s_iter_3.solverstate.h5 && "
              "cmp whole s_iter_6.caffemodel.h5") == 0);
}

/* --- memory ----------------------------------------------------------------------------------- */

static long allocations(int iterations)
{
    CHECK(run("sed 's/max_iter: .*/max_iter: %d/' solver.prototxt >s.prototxt && "
              "LD_PRELOAD=$PWD/count.so ALLOCATIONS=count $POSEIDON train -solver s.prototxt && "
              "cat count",
              iterations) == 0);
    return atol(run_out);
}

static void iterations_allocate_nothing(void)
{
    char here[PATH_MAX];
    const char *sanitizer = getenv("SAN"), *compiler = getenv("CC");

    if (sanitizer && *sanitizer)
        SKIP("a sanitizer has an allocator of its own");
    CHECK(getcwd(here, sizeof here));
    start("max_iter: 0\n");
    make_database();
    CHECK(run("%s -shared -fPIC -O2 -o count.so %s/tests/count_malloc.c",
              compiler ? compiler : "cc", here) == 0);
    long few = allocations(20);
    CHECK(few > 100); /* or nothing was counted */
    CHECK(allocations(520) == few);
}

int main(int argc, char **argv)
{
    RUN(a_net_learns_and_says_so_in_the_lines_of_caffe)
    RUN(for_people_lines_have_no_prefix)
    RUN(under_the_name_caffe_all_is_the_same)
    RUN(a_run_is_the_same_to_the_bit)
    RUN(a_net_learns_from_a_database)
    RUN(bad_records_are_left_out_up_to_a_limit)
    RUN(a_damaged_database_is_one_sentence)
    RUN(a_resumed_run_equals_one_that_was_not_stopped)
    RUN(a_resumed_run_goes_on_with_the_seed_that_the_first_has_drawn)
    RUN(a_run_that_goes_on_otherwise_says_so)
    RUN(weights_are_taken_over_by_the_names_of_layers)
    RUN(a_solver_names_weights_and_an_option_overrides_it)
    RUN(a_model_that_is_used_as_a_net_keeps_its_weights)
    RUN(snapshots_have_their_names_and_can_be_printed)
    RUN(a_full_disk_costs_a_snapshot_and_not_the_training)
    RUN(a_file_that_cannot_be_written_takes_its_set_along)
    RUN(ctrl_c_stops_after_a_snapshot)
    RUN(sigterm_leaves_a_snapshot_and_asks_to_be_started_again)
    RUN(sighup_makes_a_snapshot_and_goes_on)
    RUN(what_signals_do_can_be_chosen)
    RUN(a_second_ctrl_c_ends_at_once)
    RUN(a_first_ctrl_c_after_sigterm_still_waits_for_the_snapshot)
    RUN(a_snapshot_within_a_test_is_of_before_it)
    RUN(a_terminal_has_a_live_line_and_a_file_none)
    RUN(mistakes_are_one_sentence)
    RUN(a_solver_that_asks_for_a_gpu_trains_on_the_cpu_and_says_so_once)
    RUN(debug_info_tells_how_large_everything_is)
    RUN(snapshots_in_hdf5_are_gone_on_from)
    RUN(iterations_allocate_nothing)
}
