/* team_test.c - "poseidon train" with several workers and processes, as people meet it.
 *
 * The nets are tiny and their samples made up by DummyData layers; what they learn does not matter. */
#include "base/clock.h"
#include "run.h"

static const char head[] =
    "layer { name: 'data' type: 'DummyData' top: 'data' top: 'label'\n"
    "  dummy_data_param { shape { dim: 4 dim: 2 dim: 8 dim: 8 } shape { dim: 4 }\n"
    "    data_filler { type: 'gaussian' } data_filler { type: 'constant' value: 3 } } }\n";
static const char tail[] =
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'top' top: 'ip'\n"
    "  inner_product_param { num_output: 10 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'accuracy' type: 'Accuracy' bottom: 'ip' bottom: 'label' top: 'accuracy'\n"
    "  include { phase: TEST } }\n"
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' top: 'loss' }\n";

static const char lenet[] =
    "layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'\n"
    "  convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'pool1' type: 'Pooling' bottom: 'conv1' top: 'pool1'\n"
    "  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }\n"
    "layer { name: 'drop' type: 'Dropout' bottom: 'pool1' top: 'pool1' }\n"
    "layer { name: 'ip1' type: 'InnerProduct' bottom: 'pool1' top: 'top'\n"
    "  inner_product_param { num_output: 60 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'relu' type: 'ReLU' bottom: 'top' top: 'top' }\n";

static const char resnet[] =
    "layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'a'\n"
    "  convolution_param { num_output: 6 kernel_size: 3 pad: 1 weight_filler { type: 'msra' } } }\n"
    "layer { name: 'bn1' type: 'BatchNorm' bottom: 'a' top: 'a' }\n"
    "layer { name: 'scale1' type: 'Scale' bottom: 'a' top: 'a' scale_param { bias_term: true } }\n"
    "layer { name: 'relu1' type: 'ReLU' bottom: 'a' top: 'a' }\n"
    "layer { name: 'conv2' type: 'Convolution' bottom: 'a' top: 'b'\n"
    "  convolution_param { num_output: 6 kernel_size: 3 pad: 1 weight_filler { type: 'msra' } } }\n"
    "layer { name: 'bn2' type: 'BatchNorm' bottom: 'b' top: 'b' }\n"
    "layer { name: 'sum' type: 'Eltwise' bottom: 'a' bottom: 'b' top: 'top' }\n";

static const char lstm[] =
    "layer { name: 'data' type: 'DummyData' top: 'x' top: 'label' top: 'cont'\n"
    "  dummy_data_param { shape { dim: 3 dim: 4 dim: 5 } shape { dim: 3 dim: 4 } shape { dim: 3 "
    "dim: 4 }\n"
    "    data_filler { type: 'gaussian' } data_filler { type: 'constant' value: 3 }\n"
    "    data_filler { type: 'constant' value: 1 } } }\n"
    "layer { name: 'lstm' type: 'LSTM' bottom: 'x' bottom: 'cont' top: 'y' recurrent_param {\n"
    "  num_output: 6 weight_filler { type: 'uniform' min: -0.2 max: 0.2 } } }\n"
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'y' top: 'ip' inner_product_param {\n"
    "  num_output: 10 axis: 2 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' top: 'loss'\n"
    "  softmax_param { axis: 2 } }\n";

/* What is rare: random pooling, one filter twice, a batch that depends on the data, two losses. */
static const char odd[] =
    "layer { name: 'data' type: 'DummyData' top: 'data' top: 'label' top: 'chance' top: 'words'\n"
    "  dummy_data_param { shape { dim: 4 dim: 2 dim: 8 dim: 8 } shape { dim: 4 } shape { dim: 4 }\n"
    "    shape { dim: 4 dim: 3 } data_filler { type: 'gaussian' }\n"
    "    data_filler { type: 'constant' value: 3 } data_filler { type: 'gaussian' }\n"
    "    data_filler { type: 'uniform' min: 0 max: 6.9 } } }\n"
    "layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'a' param { name: 'w' }\n"
    "  convolution_param { num_output: 2 kernel_size: 3 pad: 1 weight_filler { type: 'msra' } } }\n"
    "layer { name: 'relu' type: 'ReLU' bottom: 'a' top: 'a' }\n"
    "layer { name: 'pool' type: 'Pooling' bottom: 'a' top: 'p'\n"
    "  pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 } }\n"
    "layer { name: 'conv2' type: 'Convolution' bottom: 'p' top: 'b' param { name: 'w' }\n"
    "  convolution_param { num_output: 2 kernel_size: 3 pad: 1 } }\n"
    "layer { name: 'up' type: 'Deconvolution' bottom: 'b' top: 'c' convolution_param {\n"
    "  num_output: 3 kernel_size: 2 stride: 2 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'drop' type: 'Dropout' bottom: 'c' top: 'c' }\n"
    "layer { name: 'spp' type: 'SPP' bottom: 'c' top: 's' spp_param { pyramid_height: 2 } }\n"
    "layer { name: 'embed' type: 'Embed' bottom: 'words' top: 'e' embed_param {\n"
    "  num_output: 5 input_dim: 7 weight_filler { type: 'gaussian' } } }\n"
    "layer { name: 'flat' type: 'Flatten' bottom: 'e' top: 'f' }\n"
    "layer { name: 'cat' type: 'Concat' bottom: 's' bottom: 'f' top: 'all' }\n"
    "layer { name: 'ip2' type: 'InnerProduct' bottom: 'all' top: 'ip2'\n"
    "  inner_product_param { num_output: 10 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'hinge' type: 'HingeLoss' bottom: 'ip2' bottom: 'label' top: 'hinge'\n"
    "  loss_weight: 0.5 }\n"
    "layer { name: 'choose' type: 'Threshold' bottom: 'chance' top: 'chosen' }\n"
    "layer { name: 'filter' type: 'Filter' bottom: 'all' bottom: 'label' bottom: 'chosen'\n"
    "  top: 'some' top: 'labels' }\n"
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'some' top: 'ip'\n"
    "  inner_product_param { num_output: 10 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'labels' top: 'loss' }\n";

static const char solver[] = "net: \"net.prototxt\"\n"
                             "base_lr: 0.01\nlr_policy: \"inv\"\ngamma: 0.001\npower: 0.75\n"
                             "momentum: 0.9\nweight_decay: 0.0005\n"
                             "display: 10\nsnapshot_prefix: \"s\"\nrandom_seed: 3\n";

/* A folder with a net, and a solver to which `more` is added. */
static void start(const char *net, const char *more)
{
    char text[4000];
    bool whole = net == lstm || net == odd;

    run_start();
    snprintf(text, sizeof text, "name: 'tiny'\n%s%s%s", whole ? "" : head, net, whole ? "" : tail);
    run_write("net.prototxt", text);
    snprintf(text, sizeof text, "%s%s", solver, more);
    run_write("solver.prototxt", text);
}

/* Trains with these arguments; the model is then `name`. */
static void train(const char *arguments, const char *name)
{
    if (run("$POSEIDON train --solver solver.prototxt --log-prefix none %s && "
            "mv s_iter_30.caffemodel %s",
            arguments, name) != 0)
        TEST_FAIL("%s: %s", arguments, run_err);
}

/* --- any number of processes: what they learn is in exact_test.c ---------------------------------- */

/* What is shown, of training and tests, is that of all workers, in an order that is theirs. */
static void any_number_of_processes_says_the_same(void)
{
    start(resnet, "max_iter: 30\ntest_iter: 7\ntest_interval: 10\n");
    train("--logical-workers 6 2>one.log", "one");
    train("--logical-workers 6 -n 3 2>many.log", "many");
    CHECK(run("grep -E 'net output|lr =' one.log >one.lines; "
              "grep -E 'net output|lr =' many.log >many.lines; cmp one.lines many.lines && "
              "grep -c Test one.lines") == 0);
    CHECK_TEXT("8\n", run_out);
}

static void any_number_of_processes_learns_the_same_in_an_odd_net(void)
{
    static const char *const forms[] = {"", "--form ip2=factored"};

    start(odd, "max_iter: 30\ntype: \"Adam\"\nmomentum2: 0.99\nregularization_type: \"L1\"\n"
               "clip_gradients: 0.5\niter_size: 2\n");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char arguments[100];
        snprintf(arguments, sizeof arguments, "--logical-workers 4 %s", forms[i]);
        train(arguments, "one");
        snprintf(arguments, sizeof arguments, "--logical-workers 4 -n 3 %s", forms[i]);
        train(arguments, "three");
        CHECK(run("cmp one three") == 0);
    }
    CHECK(run("sed -i /clip_gradients/d solver.prototxt") == 0);
    train("--logical-workers 4 --form ip2=factored", "unclipped");
    CHECK(run("cmp one unclipped") == 1); /* so that there was something to clip */
}

/* Diffs are there, and what they are does not depend on who has computed them. */
static void any_number_of_processes_saves_the_same_diffs(void)
{
    static const char *const solvers[] = {
        "max_iter: 30\nsnapshot_diff: true\n",
        "max_iter: 30\nsnapshot_diff: true\ntype: \"Adam\"\nmomentum2: 0.99\nclip_gradients: 1\n",
        "max_iter: 30\nsnapshot_diff: true\nsnapshot_format: HDF5\ntype: \"Nesterov\"\n",
    };

    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        start(resnet, solvers[i]);
        if (run("rm -rf 1 3 s_iter*; for n in 1 3; do mkdir $n && $POSEIDON train --solver "
                "solver.prototxt "
                "-n $n --logical-workers 4 && mv s_iter_30.* $n || exit 1; done; "
                "diff -r 1 3 && du -b 1/*caffemodel* | cut -f 1") != 0)
            TEST_FAIL("%s%s", run_out, run_err);
        int with = atoi(run_out);
        CHECK(run("sed -i '/snapshot_diff/d' solver.prototxt && "
                  "$POSEIDON train --solver solver.prototxt --logical-workers 4 && "
                  "du -b s_iter_30.caffemodel* | cut -f 1") == 0);
        CHECK(with > atoi(run_out) + 6 * 6 * 3 * 3 * (int)sizeof(float));
    }
}

static void a_job_goes_on_with_another_number_of_processes(void)
{
    static const char *const nets[] = {resnet, lstm};

    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        start(nets[i], "max_iter: 30\nsnapshot: 15\ntype: \"Adam\"\nmomentum2: 0.99\n");
        train("--logical-workers 4 -n 2", "whole");
        train("--logical-workers 4 -n 3 --snapshot s_iter_15.solverstate", "rest");
        CHECK(run("cmp whole rest") == 0);
        train("--logical-workers 4 --snapshot s_iter_15.solverstate", "rest");
        CHECK(run("cmp whole rest") == 0);
    }
}

/* --- ends ----------------------------------------------------------------------------------------- */

/* Who waits for the training to get on does not do so when it has ended. */
#define END_WITHOUT_IT "kill -0 $pid || { cat log >&2; exit 97; }; "

/* Starts a training without end, and lets `then` happen once it is under way; how many seconds that and
 * the end take is then in run_out. */
static int train_until(const char *arguments, const char *then)
{
    return run(": >log; " /* of the one before */
               "$POSEIDON train --solver solver.prototxt --log-prefix none %s 2>log & pid=$!; "
               "until grep -q 'Iteration 20,' log; do " END_WITHOUT_IT "sleep 0.05; done; "
               "from=$(date +%%s%%N); %s "
               "wait $pid; code=$?; echo $((($(date +%%s%%N) - from) / 1000000))e-3; "
               "cat log >&2; exit $code",
               arguments, then);
}

static void ctrl_c_stops_all_at_one_iteration(void)
{
    start(lenet, "max_iter: 100000000\nsnapshot_after_train: false\n");
    CHECK(train_until("-n 3", "kill -INT $pid;") == 0);
    CHECK(strstr(run_err, "Optimization stopped early."));
    CHECK(run("ls s_iter_*.solverstate | wc -l") == 0);
    CHECK_TEXT("1\n", run_out);
}

static void sigterm_asks_to_be_started_again(void)
{
    start(lenet, "max_iter: 100000000\nsnapshot_after_train: false\n");
    CHECK(train_until("-n 2", "kill $pid;") == 75);
    CHECK(run("ls s_iter_*.solverstate | wc -l") == 0);
    CHECK_TEXT("1\n", run_out);
}

/* Ends a job so many milliseconds after a word of its log. */
static int terminate_after(const char *word, unsigned ms, const char *arguments)
{
    return run(": >log; "
               "$POSEIDON train --solver solver.prototxt -n 2 %s 2>log & pid=$!; "
               "until grep -q '%s' log; do " END_WITHOUT_IT "done; "
               "sleep 0.%03u; kill $pid; wait $pid; code=$?; cat log >&2; exit $code",
               arguments, word, ms);
}

/* Its processes wait for weights that nobody writes. */
static void sigterm_asks_for_that_before_the_first_iteration(void)
{
    start(lenet, "max_iter: 100000000\n");
    CHECK(run("mkfifo weights.caffemodel") == 0);
    CHECK(terminate_after("Finetuning", 100, "--weights weights.caffemodel") == 75);
    CHECK(!strstr(run_err, "to go on") && !strstr(run_err, "poseidon: "));
    CHECK(run("ls s_iter_*") != 0);
}

/* While they load, meet, or have just begun. */
static void sigterm_asks_for_that_at_any_time(void)
{
    start(lenet, "max_iter: 100000000\nsnapshot_after_train: false\n");
    for (unsigned ms = 0; ms < 60; ms += 4) {
        int code = terminate_after("CPU", ms, "");
        if (code != 75 || strstr(run_err, "poseidon: "))
            TEST_FAIL("after %u ms: %d, %s", ms, code, run_err);
    }
}

static void a_process_that_is_killed_is_named_and_how_to_go_on(void)
{
    start(lenet, "max_iter: 100000000\nsnapshot: 10\n");
    CHECK(train_until("-n 2", "until [ -e s_iter_10.solverstate ]; do sleep 0.05; done; "
                              "kill -9 $(pgrep -P $(pgrep -P $pid) | tail -n 1);") == 128 + 9);
    CHECK(strstr(run_err, "was killed by signal 9"));
    CHECK(strstr(run_err, "to go on from the newest snapshot: poseidon train "
                          "--solver=solver.prototxt -n 2 --logical-workers=2 --snapshot=s_iter_"));
}

/* Whether it then ends with this code within so many seconds, in one of a few times: the machine may be
 * busy, and nothing is promised of what is sanitized. What the last has said is in run_err. */
static bool ends_within(double seconds, const char *arguments, const char *then, int code)
{
    for (unsigned tries = 0; tries < 5; tries++) {
        int got = train_until(arguments, then);
        if (got != code)
            TEST_FAIL("%s %s: %d, %s", arguments, then, got, run_err);
        if (strtod(run_out, NULL) <= seconds || TEST_IS_SANITIZED)
            return true;
    }
    return false;
}

#define SOME_MEMBER "$(pgrep -P $(pgrep -P $pid) | tail -n 1)"

static void a_process_that_is_killed_ends_all_at_once(void)
{
    start(lenet, "max_iter: 100000000\nsnapshot_after_train: false\n");
    CHECK(ends_within(2, "-n 3", "kill -9 " SOME_MEMBER ";", 128 + 9));
    CHECK(strstr(run_err, "poseidon: rank 0 was killed by signal 9") ||
          strstr(run_err, "poseidon: rank 1 was killed by signal 9") ||
          strstr(run_err, "poseidon: rank 2 was killed by signal 9"));
}

/* Waits until they are gone, or wait for a parent that asks for them. */
#define WAIT_FOR_IDS                                                                            \
    "for id in $ids; do while grep -qs '^State:.[^ZX]' /proc/$id/status; do sleep 0.05; done; " \
    "done;"

static void who_kills_the_command_kills_all_within_10_s(void)
{
    start(lenet, "max_iter: 100000000\nsnapshot_after_train: false\n");
    CHECK(ends_within(10, "-n 3",
                      "ids=\"$(pgrep -P $pid) $(pgrep -P $(pgrep -P $pid))\"; "
                      "[ $(echo $ids | wc -w) = 4 ] || exit 98; kill -9 $pid; " WAIT_FOR_IDS,
                      128 + 9));
}

/* Nobody waits for it longer than net.timeout, and a little to be sure that it does not answer. */
static void a_process_that_is_stopped_is_named_and_ended(void)
{
    start(lenet, "max_iter: 100000000\nsnapshot_after_train: false\n");
    CHECK(ends_within(4, "-n 2 --net.timeout 2s", "kill -STOP " SOME_MEMBER ";", 1));
    CHECK(strstr(run_err, " is lost: "));
    CHECK(strstr(run_err, "other members have not ended by themselves"));
    CHECK(ends_within(4, "-n 2 --net.timeout 2s", "kill -STOP " SOME_MEMBER "; kill $pid;", 1));
}

/* Whether a job that is stopped as by Ctrl-Z, and goes on after three times net.timeout, goes on as if nothing
 * had been. In a group without a parent outside nobody can be stopped like that. */
static bool goes_on(const char *timeout, unsigned seconds)
{
    char arguments[50], then[600];

    snprintf(arguments, sizeof arguments, "-n 2 --net.timeout %s", timeout);
    snprintf(
        then, sizeof then,
        "ids=\"$pid $(pgrep -P $(pgrep -P $pid))\"; kill -TSTP $pid; sleep %u; for id in $ids; do "
        "grep -q '^State:.T' /proc/$id/status || { kill -9 $pid; exit 98; }; done; "
        "lines=$(grep -c Iteration log); kill -CONT $pid; sleep 1; "
        "until [ $(grep -c Iteration log) -gt $lines ]; do " END_WITHOUT_IT "sleep 0.05; done; "
        "kill -INT $pid;",
        seconds);
    int code = train_until(arguments, then);
    if (code == 0 && !strstr(run_err, " is lost"))
        return true;
    fprintf(stderr, "    %s: %d, %s\n", arguments, code, run_err);
    return false;
}

/* On a busy machine a second may be too short for anything. */
static void a_job_that_is_stopped_goes_on(void)
{
    CHECK(setpgid(0, 0) == 0);
    start(lenet, "max_iter: 100000000\nsnapshot_after_train: false\n");
    CHECK(goes_on("1s", 3) || goes_on("4s", 12));
}

/* What invites to a job of two, whose port is of 20000 to 27999, where no other test looks for ports; the
 * number that is printed there is added to it. */
#define INVITE_TWO                                                                \
    "export POSEIDON_COORDINATOR=tcp://127.0.0.1:$((20000 + ($$ + %u) %% 8000)) " \
    "POSEIDON_RANKS=2 POSEIDON_JOB=7 POSEIDON_KEY=file:key; "

/* Runs a test of such a job, which returns its exit code, again when somebody else has its port. */
static int at_a_free_port(int (*test)(const void *arg, unsigned port), const void *arg)
{
    int code = test(arg, 0);

    for (unsigned i = 1; i < 4 && strstr(run_err, " is taken: "); i++)
        code = test(arg, 1999 * i);
    return code;
}

static int wait_in_vain(const void *arg, unsigned port)
{
    (void)arg;
    return run(": >log; head -c 32 /dev/urandom >key && chmod 600 key; " INVITE_TWO
               "train='$POSEIDON train --solver solver.prototxt --net.timeout 10min'; "
               "(POSEIDON_RANK=1; export POSEIDON_RANK; eval exec $train) 2>other.log & other=$!; "
               "trap 'kill -9 $other' EXIT; "
               "(POSEIDON_RANK=0; export POSEIDON_RANK; eval exec $train) 2>log & pid=$!; "
               "until grep -q 'Iteration 20,' log; do " END_WITHOUT_IT "sleep 0.05; done; "
               "kill -STOP $other; sleep 0.3; "
               "kill $pid; while sleep 0.2; do kill $pid || break; done; wait $pid",
               port);
}

/* Rank 0 of two waits for the other, which nobody misses. */
static void a_second_sigterm_ends_one_that_waits_in_vain(void)
{
    start(lenet, "max_iter: 100000000\nsnapshot_after_train: false\n");
    CHECK(at_a_free_port(wait_in_vain, NULL) == 128 + 15);
    CHECK(run("ls s_iter_*") != 0);
}

static int terminate_alone(const void *arg, unsigned port)
{
    (void)arg;
    return run("head -c 32 /dev/urandom >key && chmod 600 key; " INVITE_TWO
               "POSEIDON_RANK=0 $POSEIDON train --solver solver.prototxt 2>log & pid=$!; "
               "place=$(printf 0100007F:%%04X ${POSEIDON_COORDINATOR##*:}); "
               "until grep -q \"$place 00000000:0000 0A\" /proc/net/tcp; do " END_WITHOUT_IT
               "sleep 0.01; done; kill $pid; wait $pid; code=$?; cat log >&2; exit $code",
               port);
}

/* Rank 0 of two listens, and the other does not come. */
static void sigterm_ends_one_that_has_nobody_yet(void)
{
    start(lenet, "max_iter: 100000000\n");
    CHECK(at_a_free_port(terminate_alone, NULL) == 75);
    CHECK(run("ls -A") == 0);
    CHECK_TEXT("key\nlog\nnet.prototxt\nsolver.prototxt\n", run_out);
}

/* What stands in the folder is of another run, and is not advised. */
static void without_a_snapshot_of_its_own_a_job_advises_none(void)
{
    start(lenet, "max_iter: 100000000\nsnapshot_after_train: false\n");
    CHECK(run("touch -d 1999-01-01 s_iter_90.solverstate") == 0);
    CHECK(train_until("-n 2", "kill -9 $(pgrep -P $(pgrep -P $pid) | tail -n 1);") == 128 + 9);
    CHECK(strstr(run_err, "there is no snapshot of this run to go on from; --snapshot-every 60s"));
    CHECK(run("$POSEIDON train --solver solver.prototxt -n 2 --weights nowhere") == 1);
    CHECK(strstr(run_err, "nowhere") && !strstr(run_err, "to go on"));
    CHECK(run("$POSEIDON train --solver solver.prototxt -n 2 --net-outputs nowhere/x") == 1);
    CHECK(strstr(run_err, "nowhere/x.netoutputs cannot be written") &&
          !strstr(run_err, "to go on"));
    CHECK(!strstr(run_err, "other members"));
}

/* Rank 1 of two processes has files and arguments of its own. */
struct other {
    const char *net, *solver, *arguments; /* changes by sed; NULL: none */
    const char *sentence;
};

static int train_both(const void *arg, unsigned port)
{
    const struct other *other = arg;

    return run(INVITE_TWO
               "POSEIDON_RANK=1 timeout -s KILL 120 $POSEIDON train --solver other/solver.prototxt "
               "%s 2>other.log & "
               "POSEIDON_RANK=0 timeout -s KILL 120 $POSEIDON train --solver solver.prototxt "
               "2>first.log; code=$?; ! grep -q ' is taken: ' first.log || kill $!; "
               "wait $! || [ $? -eq $code ] || code=99; "
               "grep -h '^poseidon' first.log other.log >&2; exit $code",
               port, other->arguments ? other->arguments : "");
}

/* Starts both, whose words are then in run_err; ends with rank 0's exit code, if rank 1 has the same. */
static int train_with(const struct other *other)
{
    CHECK(
        run("rm -rf other; mkdir other; head -c 32 /dev/urandom >key && chmod 600 key && "
            "sed \"%s\" net.prototxt >other/net.prototxt && "
            "sed \"%s;s,net.prototxt,other/net.prototxt,\" solver.prototxt >other/solver.prototxt",
            other->net ? other->net : "", other->solver ? other->solver : "") == 0);
    return at_a_free_port(train_both, other);
}

/* Both ranks say it. */
static bool is_said_by_both(const char *sentence)
{
    const char *first = strstr(run_err, sentence);

    return first && strstr(first + 1, sentence);
}

/* On a busy machine one of a few times will do; nothing is promised of what is sanitized. */
static bool is_named_at_once(const struct other *other)
{
    for (unsigned tries = 0; tries < 5; tries++) {
        uint64_t begin = psd_clock_now();
        if (train_with(other) != 1 || !is_said_by_both(other->sentence))
            return false;
        if (psd_clock_now() - begin <= 5 * PSD_CLOCK_S || TEST_IS_SANITIZED)
            return true;
    }
    return false;
}

static void a_process_with_other_files_or_options_is_named_within_5_s(void)
{
    static const struct other others[] = {
        {.net = "s/num_output: 60/num_output: 61/", .sentence = "ip1[0]"},
        {.net = "s/'Dropout'/'ReLU'/",
         .sentence = "layer drop on rank 1 is not what it is on rank 0: another prototxt?"},
        {.net = "s/pool: MAX/pool: AVE/", .sentence = "layer pool1 on rank 1 is not what it is"},
        {.net = "/name: 'drop'/d", .sentence = " on rank 1 is not what it is on rank 0: another"},
        {.net = "s/'Accuracy'/'Silence'/;s/ top: 'accuracy'//",
         .sentence = "layer accuracy of test net 0 on rank 1"},
        {.solver = "s/base_lr: 0.01/base_lr: 0.02/",
         .sentence = "base_lr on rank 1 is not what it is on rank 0: another solver file?"},
        {.solver = "s/random_seed: 3/random_seed: 4/", .sentence = "random_seed on rank 1"},
        {.solver = "s/max_iter: 30/max_iter: 29/", .sentence = "max_iter on rank 1"},
        {.solver = "s/display: 10/display: 7/", .sentence = "display on rank 1"},
        {.solver = "s/snapshot: 20/snapshot: 15/", .sentence = "snapshot on rank 1"},
        {.solver = "s/test_interval: 10/test_interval: 5/", .sentence = "test_interval on rank 1"},
        {.solver = "s/momentum: 0.9/momentum: 0.8/", .sentence = "momentum 0.8"},
        {.arguments = "--worker-threads 2", .sentence = "--worker-threads on rank 1"},
        {.arguments = "--backend plain", .sentence = "--backend on rank 1"},
        {.arguments = "--verify 3", .sentence = "--verify on rank 1"},
    };

    start(lenet, "max_iter: 30\nsnapshot: 20\ntest_iter: 2\ntest_interval: 10\n");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!is_named_at_once(&others[i]))
            TEST_FAIL("%s: %s", others[i].sentence, run_err);
    }
}

/* Where its files lie, and where nothing is different, is its own business. */
static void a_process_with_files_in_another_place_takes_part(void)
{
    static const struct other same = {.net = "s/first.h5/other.h5/",
                                      .solver = "s/snapshot_prefix: .*/snapshot_prefix: 'other'/"};

    start(lenet, "max_iter: 30\ntest_iter: 1\ntest_interval: 30\n");
    CHECK(run("echo \"layer { name: 'out' type: 'HDF5Output' bottom: 'ip' bottom: 'label' "
              "hdf5_output_param { file_name: 'first.h5' } include { phase: TEST } }\" "
              ">>net.prototxt") == 0);
    if (train_with(&same) != 0)
        TEST_FAIL("%s", run_err);
    CHECK(run("ls s_iter_30.solverstate") == 0);
}

/* --- the network ---------------------------------------------------------------------------------- */

/* Processes with another port than 7070 and those after it: the ports that a job of two is told of suffice
 * for it, and are free again for the next. */
static void a_job_listens_where_it_may(void)
{
    int at = 28200 + getpid() % 700;

    start(lenet, "max_iter: 5\n");
    CHECK(run("$POSEIDON train --solver solver.prototxt -n 2 --net-port %d", at) == 0);
    CHECK(strstr(run_err, "Processes talk in clear: that keeps out strangers and accidents"));
    for (int i = 0; i < 2; i++)
        CHECK(run("$POSEIDON train --solver solver.prototxt -n 2 --net-encrypt on --net-streams 2 "
                  "--net-lanes 1 --net-ktls off --net-congestion reno --net-window 64K --net-port "
                  "%d-%d",
                  at + 20, at + 21) == 0);
    CHECK(strstr(run_err, "Processes talk encrypted."));
    CHECK(run("$POSEIDON train --solver solver.prototxt -n 2 --net-port %d-%d", at, at) == 1);
    CHECK(strstr(run_err, "of tcp://127.0.0.1 is taken: choose another, or a range such as"));
}

/* Prints where each process of a job listens, the launcher first, as /proc/net/tcp has it. */
#define SHOW_LISTENERS                                                                            \
    "for id in $pid $(pgrep -P $pid) $(pgrep -P $(pgrep -P $pid)); do "                           \
    "(echo inode; ls -l /proc/$id/fd | sed -n 's/.*socket:.\\([0-9]*\\).*/\\1/p') >inodes; "      \
    "echo \"[$(awk 'NR == FNR { its[$1]; next } $4 == \"0A\" && $10 in its { print $2 }' inodes " \
    "/proc/net/tcp /proc/net/tcp6)]\"; done; "

/* Each member at one port of 127.0.0.1, and nobody else at any. */
static void a_job_listens_nowhere_else(void)
{
    unsigned ports[2] = {0};
    int whole = 0;

    start(lenet, "max_iter: 100000000\nsnapshot_after_train: false\n");
    CHECK(train_until("-n 2", SHOW_LISTENERS "kill -INT $pid;") == 0);
    fprintf(stderr, "%s", run_out);
    sscanf(run_out, "[] [] [0100007F:%4x] [0100007F:%4x]%n", &ports[0], &ports[1], &whole);
    CHECK(whole > 0 && ports[0] != ports[1]);
}

static void jobs_side_by_side_have_ports_of_their_own(void)
{
    start(lenet, "max_iter: 5\nsnapshot_after_train: false\n"); /* all would write one snapshot */
    CHECK(run("for i in 1 2 3 4; do "
              "$POSEIDON train --solver solver.prototxt -n 2 & jobs=\"$jobs $!\"; done; "
              "for job in $jobs; do wait $job || exit 1; done") == 0);
}

/* --- mistakes ------------------------------------------------------------------------------------- */

static void mistakes_are_one_sentence(void)
{
    static const struct {
        const char *arguments, *sentence;
        int code;
    } cases[] = {
        {"-n 3 --logical-workers 2", "poseidon train: 3 processes need at least as many", 2},
        {"-n 2 --global-batch 1", "poseidon train: a global batch of 1 is less than", 2},
        {"-n 2 --form ip9=dense", "ip9", 1},
        {"-n 2 --net-timeout 0", "poseidon: net.timeout is 10 ms at least, not 0 ms", 1},
        {"-n 2 --net-timeout 500us", "poseidon: net.timeout is 10 ms at least, not 0.5 ms", 1},
        {"-n 2 --net-window 1K", "a window has 16384 bytes at least, not 1024", 1},
        {"-n 2 --net-congestion magic", "this machine has no congestion control 'magic' for us", 1},
        {"--form ip9=dense", "a form or route is asked for ip9, and the net has no such layer", 1},
        {"--route ip9=servers", "a form or route is asked for ip9", 1},
        {"-n 2 --form ip1", "NAME=WORD", 2},
        {"-n 0", "poseidon train: -n: \"0\" is not a whole number from 1", 2},
        {"-n", "option \"-n\" needs a value: N", 2},
        {"--logical-workers 2 --global-batch 9", "--global-batch needs a Data or HDF5Data layer",
         1},
    };

    start(lenet, "max_iter: 5\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run("$POSEIDON train --solver solver.prototxt %s", cases[i].arguments);
        if (code != cases[i].code || !strstr(run_err, cases[i].sentence))
            TEST_FAIL("%s: %d, %s", cases[i].arguments, code, run_err);
    }
}

int main(int argc, char **argv)
{
    RUN(any_number_of_processes_says_the_same)
    RUN(any_number_of_processes_learns_the_same_in_an_odd_net)
    RUN(any_number_of_processes_saves_the_same_diffs)
    RUN(a_job_goes_on_with_another_number_of_processes)
    RUN(ctrl_c_stops_all_at_one_iteration)
    RUN(sigterm_asks_to_be_started_again)
    RUN(sigterm_asks_for_that_before_the_first_iteration)
    RUN(sigterm_asks_for_that_at_any_time)
    RUN(a_process_that_is_killed_is_named_and_how_to_go_on)
    RUN(a_process_that_is_killed_ends_all_at_once)
    RUN(who_kills_the_command_kills_all_within_10_s)
    RUN(a_process_that_is_stopped_is_named_and_ended)
    RUN(a_job_that_is_stopped_goes_on)
    RUN(a_second_sigterm_ends_one_that_waits_in_vain)
    RUN(sigterm_ends_one_that_has_nobody_yet)
    RUN(without_a_snapshot_of_its_own_a_job_advises_none)
    RUN(a_process_with_other_files_or_options_is_named_within_5_s)
    RUN(a_process_with_files_in_another_place_takes_part)
    RUN(a_job_listens_where_it_may)
    RUN(a_job_listens_nowhere_else)
    RUN(jobs_side_by_side_have_ports_of_their_own)
    RUN(mistakes_are_one_sentence)
}
