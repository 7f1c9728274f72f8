#include "nets.h"

#define DATA(shape) \
    "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { " shape " } } }\n"
#define IMAGE DATA("dim: 2 dim: 4 dim: 7 dim: 9")
#define CONV(param) \
    "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y' convolution_param { " param " } }"

static const char *shape_after(const char *data, const char *param)
{
    static char text[200];
    char net[600];

    snprintf(net, sizeof net,
             "%s layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y' "
             "convolution_param { %s } }",
             data, param);
    struct lab lab = lab_of(net);
    psd_shape_text(&psd_net_blob(lab.net, "y")->shape, text, sizeof text);
    lab_close(&lab);
    return text;
}

static void every_way_of_giving_the_window(void)
{
    static const struct {
        const char *param, *shape;
    } cases[] = {
        {"num_output: 6 kernel_size: 3", "2 6 5 7 (420)"},
        {"num_output: 6 kernel_size: 3 kernel_size: 1", "2 6 5 9 (540)"},
        {"num_output: 6 kernel_h: 1 kernel_w: 3", "2 6 7 7 (588)"},
        {"num_output: 6 kernel_size: 3 stride: 2 pad: 1", "2 6 4 5 (240)"},
        {"num_output: 6 kernel_size: 3 stride: 1 stride: 3", "2 6 5 3 (180)"},
        {"num_output: 6 kernel_size: 3 stride_h: 2 stride_w: 3", "2 6 3 3 (108)"},
        {"num_output: 6 kernel_size: 3 pad_h: 2", "2 6 9 7 (756)"},
        {"num_output: 6 kernel_size: 3 pad: 0 pad: 1", "2 6 5 9 (540)"},
        {"num_output: 6 kernel_size: 3 dilation: 2", "2 6 3 5 (180)"},
        {"num_output: 6 kernel_size: 3 dilation: 1 dilation: 3", "2 6 5 3 (180)"},
        {"num_output: 6 kernel_size: 1 axis: -3", "2 6 7 9 (756)"},
        {"num_output: 6 kernel_size: 7 engine: CUDNN", "2 6 1 3 (36)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].shape, shape_after(IMAGE, cases[i].param));
}

static void rows_and_vectors_are_flat_images(void)
{
    CHECK_TEXT("2 6 4 (48)",
               shape_after(DATA("dim: 2 dim: 4 dim: 9"), "num_output: 6 kernel_size: 3 stride: 2"));
    CHECK_TEXT("2 6 (12)", shape_after(DATA("dim: 2 dim: 4"), "num_output: 6"));
}

static void weights_have_the_channels_of_a_group(void)
{
    struct lab lab = lab_of(IMAGE CONV("num_output: 6 kernel_h: 3 kernel_w: 2 group: 2"));
    char text[100];

    CHECK(lab.net->n_params == 2);
    CHECK_TEXT("6 2 3 2 (72)", psd_shape_text(&lab.net->params[0]->blob.shape, text, sizeof text));
    CHECK_TEXT("6 (6)", psd_shape_text(&lab.net->params[1]->blob.shape, text, sizeof text));
    lab_close(&lab);
}

static void its_cost_is_that_of_all_tops(void)
{
    struct lab lab = lab_of(IMAGE CONV("num_output: 6 kernel_h: 3 kernel_w: 2 group: 2"));
    const struct psd_layer *layer = psd_net_layer(lab.net, "c");

    CHECK_NEAR(layer->kind->macs(layer), 2 * 6 * (5 * 8) * (2 * 3 * 2), 0);
    lab_close(&lab);
    lab = lab_of("layer { name: 'd' type: 'Input' top: 'x' top: 'z' input_param {"
                 "  shape { dim: 1 dim: 2 dim: 3 dim: 3 } } }"
                 "layer { name: 'c' type: 'Convolution' bottom: 'x' bottom: 'z' top: 'y' top: 'w'"
                 "  convolution_param { num_output: 4 kernel_size: 3 } }");
    layer = psd_net_layer(lab.net, "c");
    CHECK_NEAR(layer->kind->macs(layer), 2 * 4 * (2 * 9), 0);
    lab_close(&lab);
}

static void impossible_parameters_are_refused(void)
{
    static const struct {
        const char *net, *sentence;
    } cases[] = {
        {IMAGE "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y' }",
         "test.prototxt:2:1: layer c: has no num_output; 1 is the least"},
        {IMAGE CONV("num_output: 6"), "test.prototxt:2:60: layer c: has no kernel_size"},
        {IMAGE CONV("num_output: 6 kernel_size: 0"),
         "test.prototxt:2:94: layer c: kernel_size is 0; 1 is the least"},
        {IMAGE CONV("num_output: 6 kernel_h: 3"),
         "test.prototxt:2:94: layer c: has only one of kernel_h and kernel_w; give both"},
        {IMAGE CONV("num_output: 6 kernel_size: 3 kernel_h: 3 kernel_w: 3"),
         "test.prototxt:2:109: layer c: has kernel_size and kernel_h or kernel_w; give one kind"},
        {IMAGE CONV("num_output: 6 kernel_size: 3 kernel_size: 3 kernel_size: 3"),
         "test.prototxt:2:94: layer c: has kernel_size 3 times for 2 spatial axes; give it once, "
         "or for each"},
        {IMAGE CONV("num_output: 6 kernel_size: 3 stride: 0"),
         "test.prototxt:2:109: layer c: stride is 0; 1 is the least"},
        {IMAGE CONV("num_output: 6 kernel_size: 3 dilation: 0"),
         "test.prototxt:2:109: layer c: dilation is 0; 1 is the least"},
        {IMAGE CONV("num_output: 6 kernel_size: 3 group: 3"),
         "test.prototxt:2:109: layer c: group is 3, which does not divide 4 channels and 6 "
         "outputs"},
        {IMAGE CONV("num_output: 6 kernel_size: 3 group: 0"),
         "test.prototxt:2:109: layer c: group is 0, which does not divide 4 channels and 6 "
         "outputs"},
        {IMAGE CONV("num_output: 6 kernel_size: 8"),
         "test.prototxt:2:1: layer c: its kernel of 8 x 8 does not fit into \"x\" of shape 2 4 7 9 "
         "(504) from layer d, with its padding"},
        {IMAGE CONV("num_output: 6 kernel_size: 3 axis: 2"),
         "test.prototxt:2:109: layer c: axis is 2; channels on another axis than 1 come later"},
        {IMAGE CONV("num_output: 6 kernel_size: 3 axis: 5"),
         "test.prototxt:2:109: layer c: axis is 5, but it reads \"x\" of shape 2 4 7 9 (504) from "
         "layer d"},
        {DATA("dim: 2 dim: 4 dim: 5 dim: 5 dim: 5") CONV("num_output: 6 kernel_size: 3"),
         "test.prototxt:2:1: layer c: its bottom has 3 spatial axes; more than 2 come later"},
        {DATA("dim: 2 dim: 4 dim: 5") CONV("num_output: 6 kernel_h: 3 kernel_w: 3"),
         "test.prototxt:2:94: layer c: has kernel_h or kernel_w, but its bottom has 1 spatial "
         "axes, not 2"},
        {IMAGE "layer { name: 'e' type: 'Input' top: 'z' input_param { shape { dim: 2 dim: 4 dim: "
               "7 dim: 8 } } }\n"
               "layer { name: 'c' type: 'Convolution' bottom: 'x' bottom: 'z' top: 'a' top: 'b' "
               "convolution_param { num_output: 6 kernel_size: 3 } }",
         "test.prototxt:3:1: layer c: its bottoms differ: \"x\" of shape 2 4 7 9 (504) from layer "
         "d, and \"z\" of shape 2 4 7 8 (448) from layer e"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].sentence, lab_refuses(cases[i].net));
}

int main(int argc, char **argv)
{
    RUN(every_way_of_giving_the_window)
    RUN(rows_and_vectors_are_flat_images)
    RUN(weights_have_the_channels_of_a_group)
    RUN(its_cost_is_that_of_all_tops)
    RUN(impossible_parameters_are_refused)
}
