/* eval_test.c - "poseidon eval": arrays in, arrays out. */
#include "base/npy.h"
#include "run.h"

/* y = x w' + b with w [[1 2 3] [4 5 6]] and b [1 -1], and a softmax of it. */
static const char net[] =
    "name: \"small\"\n"
    "layer { name: \"in\" type: \"Input\" top: \"x\" input_param { shape { dim: 1 dim: 3 } } }\n"
    "layer { name: \"fc\" type: \"InnerProduct\" bottom: \"x\" top: \"y\"\n"
    "  inner_product_param { num_output: 2 } }\n"
    "layer { name: \"prob\" type: \"Softmax\" bottom: \"y\" top: \"prob\" }\n";

static void write_array(const char *path, size_t rows, size_t columns, const float *values)
{
    CHECK_OK(psd_npy_write(path, (size_t[]){rows, columns}, columns ? 2 : 1, values));
}

static void start(void)
{
    run_start();
    run_write("net.prototxt", net);
    write_array("x.npy", 2, 3, (float[]){1, 0, 0, 0, 1, -1});
    write_array("w.npy", 2, 3, (float[]){1, 2, 3, 4, 5, 6});
    write_array("b.npy", 2, 0, (float[]){1, -1});
}

static void check_array(const char *path, size_t rows, size_t columns, const float *expected)
{
    struct psd_npy npy;

    CHECK_OK(psd_npy_read(path, &npy));
    CHECK(npy.axes == (columns ? 2 : 1) && npy.dim[0] == rows &&
          (!columns || npy.dim[1] == columns));
    for (size_t i = 0; i < npy.count; i++)
        CHECK_NEAR(npy.values[i], expected[i], 1e-6);
    psd_npy_fini(&npy);
}

static void blobs_and_parameters_are_set_and_got(void)
{
    start();
    CHECK(run("$POSEIDON eval --model=net.prototxt --set x=x.npy --set 'fc[0]=w.npy,fc[1]=b.npy' "
              "--get y=y.npy,prob=p.npy --get 'fc[0]=w2.npy'") == 0);
    CHECK_TEXT("", run_out);
    CHECK_TEXT("", run_err);
    check_array("y.npy", 2, 2, (float[]){2, 3, 0, -2}); /* two rows, as the file has */
    check_array("w2.npy", 2, 3, (float[]){1, 2, 3, 4, 5, 6});
    float even = 1 / (1 + expf(1)), less = 1 / (1 + expf(-2));
    check_array("p.npy", 2, 2, (float[]){even, 1 - even, less, 1 - less});
}

static void blobs_in_the_net_are_its_parameters(void)
{
    start();
    CHECK(run("sed -i 's/num_output: 2 } }/num_output: 2 } blobs { shape { dim: 2 dim: 3 } "
              "data: [1, 2, 3, 4, 5, 6] } blobs { shape { dim: 2 } data: [1, -1] } }/' "
              "net.prototxt; $POSEIDON eval --model=net.prototxt --set x=x.npy --get y=y.npy") ==
          0);
    check_array("y.npy", 2, 2, (float[]){2, 3, 0, -2});
    CHECK(run("sed -i 's/dim: 2 dim: 3/dim: 3 dim: 2/' net.prototxt; "
              "$POSEIDON eval --model=net.prototxt --set x=x.npy --get y=y.npy") == 1);
    CHECK(strstr(run_err,
                 "net.prototxt:4:41: layer fc: blob 0: the file has the shape 3 2 (6), the "
                 "net has 2 3 (6)\n"));
}

static void gradients_flow_from_outputs_to_inputs_and_parameters(void)
{
    start();
    CHECK(run("sed -i '/Softmax/d' net.prototxt") == 0);
    write_array("d.npy", 2, 2, (float[]){1, 0, 0, 10});
    CHECK(run("$POSEIDON eval --model=net.prototxt --set 'x=x.npy,fc[0]=w.npy' --set-diff y=d.npy "
              "--get-diff 'x=gx.npy,fc[0]=gw.npy' --get-diff 'fc[1]=gb.npy' --times=3") == 0);
    check_array("gx.npy", 2, 3, (float[]){1, 2, 3, 40, 50, 60});
    check_array("gw.npy", 2, 3, (float[]){1, 0, 0, 0, 10, -10});
    check_array("gb.npy", 2, 0, (float[]){1, 10});
}

static void gradients_end_at_a_propagate_down_that_is_false(void)
{
    start();
    CHECK(run("sed -i '/Softmax/d; s/bottom: \"x\"/& propagate_down: false/' net.prototxt") == 0);
    write_array("d.npy", 2, 2, (float[]){1, 0, 0, 10});
    CHECK(run("$POSEIDON eval --model=net.prototxt --set 'x=x.npy,fc[0]=w.npy' --set-diff y=d.npy "
              "--get-diff 'x=gx.npy,fc[0]=gw.npy'") == 0);
    check_array("gx.npy", 2, 3, (float[]){0, 0, 0, 0, 0, 0});
    check_array("gw.npy", 2, 3, (float[]){1, 0, 0, 0, 10, -10});
    CHECK(run("echo 'force_backward: true' >>net.prototxt; $POSEIDON eval --model=net.prototxt "
              "--set 'x=x.npy,fc[0]=w.npy' --set-diff y=d.npy --get-diff x=gx.npy") == 0);
    check_array("gx.npy", 2, 3, (float[]){1, 2, 3, 40, 50, 60});
}

static void a_loss_has_its_weight_as_gradient_by_itself(void)
{
    start();
    run_write("more",
              "layer { name: \"in2\" type: \"Input\" top: \"label\" input_param { shape { dim: 2 } "
              "} }\nlayer { name: \"loss\" type: \"SoftmaxWithLoss\" bottom: \"y\" bottom: "
              "\"label\" top: \"loss\" loss_weight: 4 }\n");
    write_array("label.npy", 2, 0, (float[]){0, 1});
    CHECK(
        run("sed -i '/Softmax/d' net.prototxt; cat more >>net.prototxt; $POSEIDON eval "
            "--model=net.prototxt --set x=x.npy,label=label.npy --get-diff y=gy.npy,loss=gl.npy") ==
        0);
    check_array("gy.npy", 2, 2, (float[]){-1, 1, 1, -1}); /* 4 / 2 rows * (1/2 - hit) */
    struct psd_npy npy;
    CHECK_OK(psd_npy_read("gl.npy", &npy));
    CHECK(npy.axes == 0);
    CHECK_NEAR(npy.values[0], 4, 0);
    psd_npy_fini(&npy);

    write_array("d.npy", 1, 0, (float[]){8});
    CHECK(run("$POSEIDON eval --model=net.prototxt --set x=x.npy,label=label.npy --set-diff "
              "loss=d.npy --get-diff y=gy.npy") == 0);
    check_array("gy.npy", 2, 2, (float[]){-2, 2, 2, -2}); /* unless it is told another */
}

/* Softmax would overwrite the signs that the gradient of ReLU asks for. */
static void a_chain_in_place_has_the_gradient_of_one_that_is_not(void)
{
    start();
    run_write("apart.prototxt",
              "layer { name: \"in\" type: \"Input\" top: \"x\" input_param { shape { dim: 2 dim: 3 "
              "} } }\nlayer { name: \"r\" type: \"ReLU\" bottom: \"x\" top: \"r\" }\n"
              "layer { name: \"d\" type: \"Dropout\" bottom: \"r\" top: \"d\" }\n"
              "layer { name: \"s\" type: \"Softmax\" bottom: \"d\" top: \"s\" }\n"
              "layer { name: \"t\" type: \"TanH\" bottom: \"s\" top: \"t\" }\n");
    write_array("x.npy", 2, 3, (float[]){1, -2, .5f, -1, -1, 3});
    write_array("d.npy", 2, 3, (float[]){1, 2, 3, 3, 1, 1});
    CHECK(run("sed 's/\"[rdst]\" }/\"x\" }/; s/bottom: \"[rds]\"/bottom: \"x\"/' apart.prototxt "
              ">in-place.prototxt; grep -c 'bottom: \"x\" top: \"x\"' in-place.prototxt") == 0);
    CHECK_TEXT("4\n", run_out);
    CHECK(run("$POSEIDON eval --model apart.prototxt --set x=x.npy --get t=y1.npy "
              "--set-diff t=d.npy --get-diff x=g1.npy") == 0);
    CHECK(run("$POSEIDON eval --model in-place.prototxt --set x=x.npy --get x=y2.npy "
              "--set-diff x=d.npy --get-diff x=g2.npy") == 0);
    CHECK(run("cmp y1.npy y2.npy && cmp g1.npy g2.npy") == 0);
}

static void mistakes_are_one_sentence(void)
{
    static const struct {
        int code;
        const char *options, *sentence;
    } cases[] = {
        {2, "", "poseidon eval: a net is needed: --model FILE. See \"poseidon help eval\".\n"},
        {2, "--model net.prototxt --set x",
         "poseidon eval: \"x\" is not NAME=FILE, such as data=x.npy. See \"poseidon help "
         "eval\".\n"},
        {1, "--model net.prototxt --set x=no.npy",
         "poseidon: cannot open no.npy: No such file or directory\n"},
        {1, "--model net.prototxt --set x=net.prototxt",
         "poseidon: net.prototxt: it is no file of NumPy's (.npy)\n"},
        {1, "--model net.prototxt --set x=x.npy --get porb=p.npy",
         "poseidon: net.prototxt has no blob or parameter \"porb\"; did you mean \"prob\"?\n"},
        {1, "--model net.prototxt --get 'fc[2]=w.npy'", "no blob or parameter \"fc[2]\""},
        {1, "--model net.prototxt --set prob=x.npy",
         "poseidon: \"prob\" cannot be set, since layer prob computes it; tops of Input layers and "
         "parameters can\n"},
        {1, "--model net.prototxt --set 'fc[1]=x.npy'",
         "poseidon: x.npy has the shape 2 3 (6), but fc[1] has 2 (2)\n"},
        {1, "--model net.prototxt --set-diff y=x.npy",
         "poseidon: the gradient of \"y\" cannot be set; that of an output can, where something "
         "before it learns\n"},
        {1, "--model net.prototxt --set x=x.npy --get y=nowhere/y.npy",
         "poseidon: cannot write nowhere/y.npy: No such file or directory\n"},
        {1, "--model memory.prototxt --get x=x.npy",
         "memory.prototxt:2:1: layer m: has no samples yet; a program gives it some with "
         "psd_engine_feed, and the poseidon command has none to give: for eval --set take an Input "
         "layer\n"},
    };

    start();
    run_write("memory.prototxt",
              "name: 'm'\nlayer { name: 'm' type: 'MemoryData' top: 'x' top: 'l' memory_data_param "
              "{ batch_size: 2 channels: 1 height: 1 width: 1 } }\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run("$POSEIDON eval %s", cases[i].options);
        if (code != cases[i].code || !strstr(run_err, cases[i].sentence))
            TEST_FAIL("%s: code %d, and: %s", cases[i].options, code, run_err);
    }
}

int main(int argc, char **argv)
{
    RUN(blobs_and_parameters_are_set_and_got)
    RUN(blobs_in_the_net_are_its_parameters)
    RUN(gradients_flow_from_outputs_to_inputs_and_parameters)
    RUN(gradients_end_at_a_propagate_down_that_is_false)
    RUN(a_loss_has_its_weight_as_gradient_by_itself)
    RUN(a_chain_in_place_has_the_gradient_of_one_that_is_not)
    RUN(mistakes_are_one_sentence)
}
