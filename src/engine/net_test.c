#include "base/alloc.h"
#include "nets.h"

/* A net that has a bit of everything: two convolutions, pooling, an in-place ReLU, a split by two
 * readers, TanH, LRN, and a loss. */
#define SMALL_NET                                                                             \
    "name: 'small'\n"                                                                         \
    "layer { name: 'data' type: 'Input' top: 'data' top: 'label'"                             \
    "        input_param { shape { dim: 2 dim: 2 dim: 6 dim: 6 } shape { dim: 2 } } }\n"      \
    "layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv' convolution_param {" \
    "        num_output: 3 kernel_size: 3 weight_filler { type: 'xavier' }"                   \
    "        bias_filler { type: 'uniform' } } }\n"                                           \
    "layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv'"                            \
    "        relu_param { negative_slope: 0.1 } }\n"                                          \
    "layer { name: 'norm' type: 'LRN' bottom: 'conv' top: 'norm' }\n"                         \
    "layer { name: 'pool' type: 'Pooling' bottom: 'norm' top: 'pool'"                         \
    "        pooling_param { pool: AVE kernel_size: 2 stride: 2 } }\n"                        \
    "layer { name: 'fc' type: 'InnerProduct' bottom: 'pool' top: 'fc' inner_product_param {"  \
    "        num_output: 4 weight_filler { type: 'xavier' } } }\n"                            \
    "layer { name: 'tanh' type: 'TanH' bottom: 'fc' top: 'fc' }\n"                            \
    "layer { name: 'out' type: 'InnerProduct' bottom: 'fc' top: 'out' inner_product_param {"  \
    "        num_output: 3 weight_filler { type: 'xavier' } } }\n"                            \
    "layer { name: 'right' type: 'Accuracy' bottom: 'out' bottom: 'label' top: 'right' }\n"   \
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'out' bottom: 'label' top: 'loss' }\n"

#define X "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }\n"
#define IP(name, bottom, top)                                                           \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" bottom "' top: '" top "'" \
    "        inner_product_param { num_output: 3 weight_filler { type: 'xavier' } } }\n"

static void set_inputs(const struct lab *lab)
{
    float *label = lab_values(lab, "label");

    lab_scatter(lab_values(lab, "data"), psd_net_blob(lab->net, "data")->count, 1);
    label[0] = 2;
    label[1] = 0;
}

static void a_net_has_layers_blobs_and_parameters(void)
{
    struct lab lab = lab_of(SMALL_NET);
    struct psd_net *net = lab.net;

    CHECK(net->n_layers == 12); /* ten, and splits of label and out */
    CHECK(net->n_params == 6);
    CHECK_TEXT("conv[0]", net->params[0]->name);
    CHECK_TEXT("out[1]", net->params[5]->name);
    CHECK(psd_net_layer(net, "conv")->top[0] == psd_net_blob(net, "conv"));
    CHECK(psd_net_blob(net, "pool")->count == 24);
    CHECK(!psd_net_layer(net, "no") && !psd_net_blob(net, "no"));
    lab_close(&lab);
}

static void outputs_are_what_nobody_reads_by_name(void)
{
    struct lab lab = lab_of(SMALL_NET IP("z", "pool", "a"));
    struct psd_net *net = lab.net;

    CHECK(net->n_outputs == 3);
    CHECK_TEXT("a", net->blob_names[net->outputs[0]]);
    CHECK_TEXT("loss", net->blob_names[net->outputs[1]]);
    CHECK_TEXT("right", net->blob_names[net->outputs[2]]);
    lab_close(&lab);
}

static void loss_is_the_sum_of_tops_by_their_weights(void)
{
    struct lab lab = lab_of("layer { name: 'x' type: 'DummyData' top: 'x' top: 'y' loss_weight: 2 "
                            "loss_weight: -0.5 dummy_data_param { shape { dim: 3 } "
                            "data_filler { value: 1 } data_filler { value: 4 } } }");
    float loss = 0;

    CHECK_OK(psd_net_forward(lab.net, &loss));
    CHECK_NEAR(loss, 2 * 3 - 0.5 * 12, 1e-6);
    lab_close(&lab);
}

/* --- gradients -------------------------------------------------------------------------------- */

static float loss_of(struct lab *lab)
{
    float loss = 0;

    CHECK_OK(psd_net_forward(lab->net, &loss));
    return loss;
}

/* (f(x + h) - f(x - h)) / 2h for a few places of a tensor. */
static void check_slope(struct lab *lab, float *values, const float *gradient, size_t count)
{
    const float step = 1.f / 512;

    for (size_t i = 0; i < count; i += 1 + count / 9) {
        float kept = values[i];
        values[i] = kept + step;
        double above = (double)loss_of(lab);
        values[i] = kept - step;
        double below = (double)loss_of(lab);
        values[i] = kept;
        CHECK_NEAR(gradient[i], (above - below) / (2 * (double)step), 2e-3);
    }
}

static void gradients_are_slopes_of_the_loss(void)
{
    struct lab lab = lab_of("force_backward: true\n" SMALL_NET);

    set_inputs(&lab);
    loss_of(&lab);
    CHECK_OK(psd_net_backward(lab.net, true));
    for (size_t i = 0; i < lab.net->n_params; i++) {
        struct psd_blob *blob = &lab.net->params[i]->blob;
        check_slope(&lab, psd_blob_values(blob), psd_blob_gradient(blob), blob->count);
    }
    check_slope(&lab, lab_values(&lab, "data"), lab_gradient(&lab, "data"), 144);
    lab_close(&lab);
}

static void a_pass_that_continues_a_batch_adds_its_gradients(void)
{
    struct lab lab = lab_of(SMALL_NET);
    const struct psd_blob *blob = &lab.net->params[0]->blob;
    float once[54];

    set_inputs(&lab);
    for (int pass = 0; pass < 3; pass++) {
        loss_of(&lab);
        CHECK_OK(psd_net_backward(lab.net, pass == 0));
        if (pass == 0)
            memcpy(once, psd_blob_gradient(blob), sizeof once);
    }
    CHECK(blob->count == 54);
    for (size_t i = 0; i < 54; i++)
        CHECK_NEAR(psd_blob_gradient(blob)[i], 3 * once[i], 1e-5);
    loss_of(&lab);
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(same_bits(once, psd_blob_gradient(blob), sizeof once));
    lab_close(&lab);
}

/* --- in place --------------------------------------------------------------------------------- */

static void a_layer_in_place_shares_its_bottom(void)
{
    struct lab lab = lab_of(X IP("ip", "x", "y") "layer { name: 'r' type: 'ReLU' bottom: 'y' "
                                                 "top: 'y' }");

    CHECK(psd_net_layer(lab.net, "r")->top[0] == psd_net_layer(lab.net, "ip")->top[0]);
    CHECK(lab.net->n_outputs == 1);
    lab_close(&lab);
}

/* Caffe would compute a wrong gradient: TanH's asks for what Dropout has overwritten. */
static void what_a_gradient_needs_is_not_overwritten(void)
{
    struct lab lab =
        lab_of("force_backward: true\n" X "layer { name: 't' type: 'TanH' bottom: 'x' top: 'y' }"
               "layer { name: 'r' type: 'ReLU' bottom: 'y' top: 'y' loss_weight: 1 }");

    CHECK(psd_net_layer(lab.net, "r")->top[0] != psd_net_layer(lab.net, "t")->top[0]);
    CHECK(psd_net_blob(lab.net, "y") == psd_net_layer(lab.net, "r")->top[0]);
    CHECK(lab.net->n_outputs == 1);
    lab_scatter(lab_values(&lab, "x"), 6, 3);
    loss_of(&lab);
    CHECK_OK(psd_net_backward(lab.net, true));
    check_slope(&lab, lab_values(&lab, "x"), lab_gradient(&lab, "x"), 6);
    lab_close(&lab);
}

static void parts_of_a_split_are_not_overwritten(void)
{
    struct lab lab = lab_of(X "layer { name: 's' type: 'Split' bottom: 'x' top: 'a' top: 'b' }"
                              "layer { name: 'r' type: 'ReLU' bottom: 'a' top: 'a' }");

    for (int i = 0; i < 6; i++)
        lab_values(&lab, "x")[i] = -1;
    loss_of(&lab);
    CHECK_NEAR(lab_values(&lab, "a")[3], 0, 0);
    CHECK_NEAR(lab_values(&lab, "b")[3], -1, 0);
    lab_close(&lab);
}

/* --- other shapes ----------------------------------------------------------------------------- */

static void a_net_follows_an_input_of_another_shape(void)
{
    struct lab lab = lab_of("force_backward: true\n" SMALL_NET);
    struct psd_shape data = psd_shape_of(4, 5, 2, 6, 6), label = psd_shape_of(1, 5, 0, 0, 0);

    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "data"), &data));
    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "label"), &label));
    CHECK_OK(psd_net_reshape(lab.net));
    CHECK(psd_net_blob(lab.net, "out")->count == 15);
    set_inputs(&lab);
    memset(lab_values(&lab, "label"), 0, 5 * sizeof(float));
    loss_of(&lab);
    CHECK_OK(psd_net_backward(lab.net, true));
    check_slope(&lab, lab_values(&lab, "data"), lab_gradient(&lab, "data"), 360);
    lab_close(&lab);
}

static void one_that_does_not_fit_the_weights_is_refused(void)
{
    struct lab lab = lab_of(X IP("ip", "x", "y"));
    struct psd_shape wide = psd_shape_of(2, 2, 4, 0, 0);

    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "x"), &wide));
    CHECK_STATUS(PSD_ECONFIG, psd_net_reshape(lab.net));
    CHECK_TEXT("test.prototxt:2:1: layer ip: has weights for 3 inputs, but reads \"x\" of shape "
               "2 4 (8) from layer x",
               psd_error());
    lab_close(&lab);
}

/* --- bad nets --------------------------------------------------------------------------------- */

static void mistakes_are_sentences_with_their_place(void)
{
    static const struct {
        const char *net, *sentence;
    } cases[] = {
        {"layer { name: 'c' type: 'Convolutoin' }",
         "test.prototxt:1:19: layer c: unknown type \"Convolutoin\"; did you mean "
         "\"Convolution\"?"},
        {"layer { name: 'c' type: 'Quux' }", "test.prototxt:1:19: layer c: unknown type \"Quux\""},
        {"layer { name: 'p' type: 'Python' }",
         "test.prototxt:1:19: layer p: layers written in Python are not run here; write it in C as "
         "a plugin, which --plugin loads (poseidon/plugin.h)"},
        {X IP("ip", "x", "fc1") "layer { name: 'r' type: 'ReLU' bottom: 'f1c' top: 'y' }",
         "test.prototxt:3:32: layer r: reads \"f1c\", which no layer makes; did you mean "
         "\"fc1\"?"},
        {X "layer { name: 'r' type: 'ReLU' bottom: 'data' top: 'y' }",
         "test.prototxt:2:32: layer r: reads \"data\", which no layer makes"},
        {X "layer { name: 'r' type: 'ReLU' bottom: 'b' top: 'a' }\n"
           "layer { name: 's' type: 'ReLU' bottom: 'a' top: 'b' }",
         "test.prototxt:2:32: layer r: reads \"b\", which is made only afterwards, by layer s"},
        {"layer { name: 'r' type: 'ReLU' bottom: 'a' top: 'a' }",
         "test.prototxt:1:32: layer r: reads \"a\", which is made only afterwards, by itself"},
        {X "layer { name: 'r' type: 'TanH' bottom: 'x' top: 'y' }\n"
           "layer { name: 's' type: 'Softmax' bottom: 'y' top: 'x' }",
         "test.prototxt:3:47: layer s: makes \"x\", which layer x makes"},
        {"layer { name: 'x' type: 'Input' top: 'x' top: 'x' input_param { shape { } } }",
         "test.prototxt:1:33: layer x: makes \"x\", which layer x makes"},
        {X "layer { name: 'i' type: 'InnerProduct' bottom: 'x' top: 'x' }",
         "test.prototxt:2:52: layer i: InnerProduct layers cannot work in place; give its top "
         "another name than \"x\""},
        {X "layer { name: 'r' type: 'ReLU' top: 'y' }",
         "test.prototxt:2:1: layer r: ReLU layers take 1 bottom, not 0"},
        {X "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' top: 'z' }",
         "test.prototxt:2:1: layer r: ReLU layers take 1 top, not 2"},
        {X "layer { name: 's' type: 'Split' bottom: 'x' }",
         "test.prototxt:2:1: layer s: Split layers take at least 1 tops, not 0"},
        {X "layer { name: 'a' type: 'Accuracy' bottom: 'x' bottom: 'x' }",
         "test.prototxt:2:1: layer a: Accuracy layers take 1 to 2 tops, not 0"},
        {X "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y' top: 'z' }",
         "test.prototxt:2:1: layer c: Convolution layers have as many tops as bottoms, not 2 and "
         "1"},
        {X "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' loss_weight: 1 loss_weight: 1 }",
         "test.prototxt:2:53: layer r: loss_weight is given 2 times for 1 top; give one for each, "
         "or none"},
        {X "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' param { } }",
         "test.prototxt:2:53: layer r: param is given 1 times, but it has 0 parameters"},
        {X "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' propagate_down: true "
           "propagate_down: true }",
         "test.prototxt:2:53: layer r: propagate_down is given 2 times for 1 bottom; give one for "
         "each, "
         "or none"},
        {X "layer { name: 'l' type: 'Input' top: 'l' input_param { shape { dim: 4 } } }\n"
           "layer { name: 's' type: 'SoftmaxWithLoss' bottom: 'x' bottom: 'l' }\n"
           "layer { name: 't' type: 'SoftmaxWithLoss' bottom: 'x' bottom: 'l' }",
         "test.prototxt:3:1: layer s: needs a label for each of the 2 places of \"x\" of shape 2 3 "
         "(6) from layer x, but its labels are \"l\" of shape 4 (4) from layer l"},
        {X "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'p' pooling_param { kernel_size: 2 "
           "} }",
         "test.prototxt:2:1: layer p: reads a blob of 4 axes, but not \"x\" of shape 2 3 (6) from "
         "layer x"},
        {"layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 4000000000 "
         "dim: 4000000000 } } }",
         "test.prototxt:1:1: layer x: a blob of shape 4000000000 4000000000 (beyond counting) "
         "is too large"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].sentence, lab_refuses(cases[i].net));
}

#define WIDE                                                                                 \
    "layer { name: 'd' type: 'Input' top: 'w' top: 'c' input_param { shape { dim: 1 dim: 1 " \
    "dim: 1000000 } shape { dim: 1 dim: 1 } } }\n"

/* No address is left for so much memory on any machine. */
static void sizes_that_no_memory_has_are_told_with_their_place(void)
{
    static const struct {
        const char *layer, *sentence;
    } cases[] = {
        {"layer { name: 'ip' type: 'InnerProduct' bottom: 'w' top: 'y' inner_product_param { "
         "num_output: 4294967295 } }",
         "test.prototxt:2:1: layer ip: out of memory: 17179869180000000 bytes are not to be had"},
        {"layer { name: 't' type: 'Tile' bottom: 'w' top: 'y' tile_param { tiles: 2147483647 } }",
         "test.prototxt:2:1: layer t: out of memory: 8589934588000000 bytes are not to be had"},
        {"layer { name: 'l' type: 'LSTM' bottom: 'w' bottom: 'c' top: 'y' recurrent_param { "
         "num_output: 4294967295 } }",
         "test.prototxt:2:1: layer l: out of memory: 68719476720000000 bytes are not to be had"},
        {"layer { name: 'p' type: 'Parameter' top: 'y' parameter_param { shape { dim: "
         "4000000000000000 } } }",
         "test.prototxt:2:1: layer p: out of memory: 16000000000000000 bytes are not to be had"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        struct lab lab;
        snprintf(text, sizeof text, WIDE "%s", cases[i].layer);
        CHECK(lab_open(&lab, NULL, 1));
        lab.document = net_of(text);
        CHECK_STATUS(PSD_ENOMEM, lab_build(&lab, NULL));
        CHECK_TEXT(cases[i].sentence, psd_error());
        lab_close(&lab);
    }
}

static void creating_survives_every_failed_allocation(void)
{
    CHECK(lab_survives(SMALL_NET, NULL) > 100);
}

int main(int argc, char **argv)
{
    RUN(a_net_has_layers_blobs_and_parameters)
    RUN(outputs_are_what_nobody_reads_by_name)
    RUN(loss_is_the_sum_of_tops_by_their_weights)
    RUN(gradients_are_slopes_of_the_loss)
    RUN(a_pass_that_continues_a_batch_adds_its_gradients)
    RUN(a_layer_in_place_shares_its_bottom)
    RUN(what_a_gradient_needs_is_not_overwritten)
    RUN(parts_of_a_split_are_not_overwritten)
    RUN(a_net_follows_an_input_of_another_shape)
    RUN(one_that_does_not_fit_the_weights_is_refused)
    RUN(mistakes_are_sentences_with_their_place)
    RUN(sizes_that_no_memory_has_are_told_with_their_place)
    RUN(creating_survives_every_failed_allocation)
}
