/* plugin_test.c - "--plugin": the layer of examples/plugins, loaded by the real program. */
#include "base/npy.h"
#include "run.h"

#define SOFT(text)                                                                             \
    "layer { name: \"soft\" type: \"Softsign\" bottom: \"y\" top: \"z\" plugin_param { text: " \
    "\"" text "\" } }\n"

static const char net[] = "layer { name: \"y\" type: \"Input\" top: \"y\" input_param { shape { "
                          "dim: 1 dim: 2 } } }\n" SOFT("2");

static const char trained[] =
    "layer { name: \"data\" type: \"DummyData\" top: \"x\" top: \"label\" dummy_data_param {\n"
    "  shape { dim: 4 dim: 3 } shape { dim: 4 } data_filler { type: \"uniform\" }\n"
    "  data_filler { type: \"constant\" value: 1 } } }\n"
    "layer { name: \"fc\" type: \"InnerProduct\" bottom: \"x\" top: \"y\" inner_product_param {\n"
    "  num_output: 2 weight_filler { type: \"xavier\" } } }\n" SOFT(
        "") "layer { name: \"loss\" "
            "type: \"SoftmaxWithLoss\" bottom: \"z\" bottom: \"label\" top: \"loss\" }\n";

static const char solver[] = "net: \"net.prototxt\" base_lr: 0.1 lr_policy: \"fixed\" "
                             "max_iter: 20 random_seed: 1 snapshot_prefix: \"s\"\n";

/* The libraries of the build, beside the program, before the test goes into its folder. */
static void start(const char *text)
{
    char build[PATH_MAX];

    if (!getenv("LIBRARIES")) {
        CHECK(realpath(getenv("BUILD") ? getenv("BUILD") : ".", build));
        setenv("LIBRARIES", build, 1); /* NOLINT(concurrency-mt-unsafe): no other thread yet */
    }
    run_start();
    run_write("net.prototxt", text);
}

static void a_net_has_a_layer_of_a_plugin(void)
{
    struct psd_npy npy;

    start(net);
    CHECK_OK(psd_npy_write("y.npy", (size_t[]){1, 2}, 2, (float[]){1, -3}));
    CHECK(run("$POSEIDON eval --plugin $LIBRARIES/examples/plugins/softsign.so "
              "--model=net.prototxt --set y=y.npy --get z=z.npy") == 0);
    CHECK_OK(psd_npy_read("z.npy", &npy));
    CHECK_NEAR(npy.values[0], 1, 1e-6);
    CHECK_NEAR(npy.values[1], -1.5, 1e-6);
    psd_npy_fini(&npy);
}

static void a_net_with_it_can_be_looked_at(void)
{
    start(trained);
    CHECK(run("for c in summary 'plan --nodes 2 --bandwidth 1Gbit' draw; do $POSEIDON $c "
              "--model=net.prototxt "
              "--plugin $LIBRARIES/examples/plugins/softsign.so >$$ || exit 1; cat $$; done") == 0);
    CHECK(strstr(run_out, "Softsign") && strstr(run_out, "total parameters: 9\n"));
}

static void it_trains_alike_on_any_number_of_processes(void)
{
    start(trained);
    run_write("solver.prototxt", solver);
    CHECK(run("for n in 1 3; do $POSEIDON train --solver=solver.prototxt -n $n "
              "--logical-workers 4 --plugin $LIBRARIES/examples/plugins/softsign.so || exit 1; "
              "mv s_iter_20.caffemodel $n.caffemodel; done; cmp 1.caffemodel 3.caffemodel") == 0);
}

static void a_layer_says_what_is_wrong_with_its_text(void)
{
    start(
        "layer { name: \"y\" type: \"Input\" top: \"y\" input_param { shape { dim: 1 } } }\n" SOFT(
            "much"));
    CHECK(run("$POSEIDON eval --plugin $LIBRARIES/examples/plugins/softsign.so "
              "--model=net.prototxt") == 1);
    CHECK_TEXT("net.prototxt:2:1: layer soft: \"much\" is no number to begin with, such as "
               "0.5\n",
               run_err);
}

static void without_the_plugin_its_type_is_unknown(void)
{
    start(net);
    CHECK(run("$POSEIDON eval --model=net.prototxt") == 1);
    CHECK(strstr(run_err, "layer soft: unknown type \"Softsign\""));
}

static void a_library_that_is_no_plugin_is_refused(void)
{
    start(net);
    CHECK(run("$POSEIDON eval --plugin $LIBRARIES/libposeidon-comm.so --model=net.prototxt") == 1);
    CHECK(strstr(run_err, "libposeidon-comm.so is no plugin: it has no variable psd_plugin"));
    CHECK(run("$POSEIDON eval --plugin net.prototxt --model=net.prototxt") == 1);
    CHECK(strstr(run_err, "a plugin cannot be loaded: ./net.prototxt: "));
}

static void a_layer_in_python_is_sent_this_way(void)
{
    start("layer { name: \"p\" type: \"Python\" top: \"p\" python_param { module: \"m\" layer: "
          "\"L\" } }\n");
    CHECK(run("$POSEIDON eval --model=net.prototxt") == 1);
    CHECK(strstr(run_err, "layer p: layers written in Python are not run here; write it in C as a "
                          "plugin, which --plugin loads (poseidon/plugin.h)"));
}

int main(int argc, char **argv)
{
    RUN(a_net_has_a_layer_of_a_plugin)
    RUN(a_net_with_it_can_be_looked_at)
    RUN(it_trains_alike_on_any_number_of_processes)
    RUN(a_layer_says_what_is_wrong_with_its_text)
    RUN(without_the_plugin_its_type_is_unknown)
    RUN(a_library_that_is_no_plugin_is_refused)
    RUN(a_layer_in_python_is_sent_this_way)
}
