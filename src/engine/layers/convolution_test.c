#include "links.h"
#include "slopes.h"

#define DATA(shape) \
    "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { " shape " } } }\n"
#define IMAGE DATA("dim: 2 dim: 4 dim: 7 dim: 9")
#define CONV(param) \
    "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y' convolution_param { " param " } }"

static const char *shape_after(const char *data, const char *param)
{
    char net[600];

    snprintf(net, sizeof net,
             "%s layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y' "
             "convolution_param { %s } }",
             data, param);
    return lab_shape(net);
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

/* --- numbers ---------------------------------------------------------------------------------- */

#define ONES    \
    {           \
        1, 1, 1 \
    }
#define NONE    \
    {           \
        0, 0, 0 \
    }

static const struct links sums[] = {
    {"dim: 2 dim: 3 dim: 5 dim: 6",
     "num_output: 4 kernel_size: 3",
     2,
     3,
     4,
     1,
     {1, 5, 6},
     {1, 3, 3},
     ONES,
     NONE,
     ONES},
    {"dim: 2 dim: 3 dim: 5 dim: 6",
     "num_output: 4 kernel_size: 3 force_nd_im2col: true",
     2,
     3,
     4,
     1,
     {1, 5, 6},
     {1, 3, 3},
     ONES,
     NONE,
     ONES},
    {"dim: 2 dim: 4 dim: 9 dim: 8",
     "num_output: 6 kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 2 dilation: 1 "
     "dilation: 3 group: 2",
     2,
     4,
     6,
     2,
     {1, 9, 8},
     {1, 3, 2},
     {1, 2, 1},
     {0, 1, 2},
     {1, 1, 3}},
    {"dim: 3 dim: 4 dim: 11",
     "num_output: 6 kernel_size: 3 stride: 2 pad: 1 dilation: 2 group: 2",
     3,
     4,
     6,
     2,
     {1, 1, 11},
     {1, 1, 3},
     {1, 1, 2},
     {0, 0, 1},
     {1, 1, 2}},
    {"dim: 3 dim: 4", "num_output: 6 group: 2", 3, 4, 6, 2, ONES, ONES, ONES, NONE, ONES},
    {"dim: 2 dim: 3 dim: 4 dim: 5 dim: 6",
     "num_output: 4 kernel_size: 3 pad: 1",
     2,
     3,
     4,
     1,
     {4, 5, 6},
     {3, 3, 3},
     ONES,
     ONES,
     ONES},
    {"dim: 2 dim: 4 dim: 6 dim: 5 dim: 7",
     "num_output: 6 kernel_size: 3 kernel_size: 1 kernel_size: 2 stride: 2 stride: 1 stride: 3 "
     "pad: 1 pad: 0 pad: 2 dilation: 2 dilation: 1 dilation: 1 group: 2",
     2,
     4,
     6,
     2,
     {6, 5, 7},
     {3, 1, 2},
     {2, 1, 3},
     {1, 0, 2},
     {2, 1, 1}},
    {"dim: 3 dim: 5 dim: 6",
     "num_output: 4 kernel_size: 3 axis: 0",
     1,
     3,
     4,
     1,
     {1, 5, 6},
     {1, 3, 3},
     ONES,
     NONE,
     ONES},
    {"dim: 2 dim: 2 dim: 3 dim: 6",
     "num_output: 4 kernel_size: 3 axis: 2",
     4,
     3,
     4,
     1,
     {1, 1, 6},
     {1, 1, 3},
     ONES,
     NONE,
     ONES},
    {"dim: 2 dim: 2 dim: 3 dim: 5 dim: 6",
     "num_output: 2 kernel_size: 2 axis: -3",
     4,
     3,
     2,
     1,
     {1, 5, 6},
     {1, 2, 2},
     ONES,
     NONE,
     ONES},
    {"dim: 2 dim: 3 dim: 3", "num_output: 4 axis: -1", 6, 3, 4, 1, ONES, ONES, ONES, NONE, ONES},
    {"dim: 2 dim: 4 dim: 3 dim: 4 dim: 3",
     "num_output: 4 kernel_size: 2 group: 4",
     2,
     4,
     4,
     4,
     {3, 4, 3},
     {2, 2, 2},
     ONES,
     NONE,
     ONES},
};

static void values_and_gradients_are_sums_over_links(void)
{
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        links_check(&sums[i], "Convolution", false);
}

static void other_axes_keep_their_place(void)
{
    CHECK_TEXT("2 5 6 5 7 (2100)", shape_after(DATA("dim: 2 dim: 5 dim: 4 dim: 7 dim: 9"),
                                               "num_output: 6 kernel_size: 3 axis: 2"));
    CHECK_TEXT("6 5 7 (210)",
               shape_after(DATA("dim: 4 dim: 7 dim: 9"), "num_output: 6 kernel_size: 3 axis: 0"));
    CHECK_TEXT("2 6 2 3 4 (288)", shape_after(DATA("dim: 2 dim: 3 dim: 4 dim: 5 dim: 6"),
                                              "num_output: 6 kernel_size: 3"));
    CHECK_TEXT("1 2 1 2 1 2 (8)", shape_after(DATA("dim: 1 dim: 3 dim: 2 dim: 3 dim: 2 dim: 3"),
                                              "num_output: 2 kernel_size: 2"));
}

#define CUBES                                                                               \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 'z' input_param { " \
    "shape { dim: 2 dim: 2 dim: 3 dim: 4 dim: 3 } } }\n"
#define TWO_CUBES                                                                            \
    CUBES "layer { name: 'c' type: 'Convolution' bottom: 'x' bottom: 'z' top: 'y' top: 'w' " \
          "convolution_param { num_output: 4 kernel_size: 2 group: 2 weight_filler { type: " \
          "'xavier' } bias_filler { type: 'uniform' } } }"

static void gradients_are_slopes(void)
{
    check_slopes(TWO_CUBES, NULL);
}

static void a_net_is_made_or_not(void)
{
    check_survives(TWO_CUBES);
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
        {IMAGE CONV("num_output: 6 kernel_size: 3 axis: 5"),
         "test.prototxt:2:109: layer c: axis is 5, but it reads \"x\" of shape 2 4 7 9 (504) from "
         "layer d"},
        {DATA("dim: 2 dim: 4 dim: 5 dim: 5 dim: 5") CONV("num_output: 6 kernel_size: 6 pad: 0"),
         "test.prototxt:2:1: layer c: its kernel of 6 x 6 x 6 does not fit into \"x\" of shape 2 4 "
         "5 "
         "5 5 (1000) from layer d, with its padding"},
        {DATA("dim: 2 dim: 4 dim: 5 dim: 5 dim: 5") CONV("num_output: 6 kernel_size: 3 stride: 2 "
                                                         "stride: 2"),
         "test.prototxt:2:109: layer c: has stride 2 times for 3 spatial axes; give it once, or "
         "for "
         "each"},
        {DATA("dim: 2 dim: 4 dim: 5 dim: 5 dim: 5") CONV("num_output: 6 kernel_size: 3 pad_h: 2"),
         "test.prototxt:2:109: layer c: has pad_h or pad_w, but its bottom has 3 spatial axes, not "
         "2"},
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
    RUN(values_and_gradients_are_sums_over_links)
    RUN(other_axes_keep_their_place)
    RUN(gradients_are_slopes)
    RUN(a_net_is_made_or_not)
    RUN(impossible_parameters_are_refused)
}
