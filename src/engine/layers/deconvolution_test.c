#include "links.h"
#include "slopes.h"

#define DATA(shape)                                                                        \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { " \
    "" shape " } } }\n"
#define IMAGE DATA("dim: 2 dim: 4 dim: 3 dim: 5")
#define DECONV(param)                                                                             \
    "layer { name: 'c' type: 'Deconvolution' bottom: 'x' top: 'y' "                               \
    "convolution_param { weight_filler { type: 'xavier' } bias_filler { type: 'uniform' } " param \
    " } }"

static const char *shape_after(const char *data, const char *param)
{
    char net[600];

    snprintf(net, sizeof net, "%s" DECONV("%s"), data, param);
    return lab_shape(net);
}

static void the_top_is_what_a_convolution_would_have_started_from(void)
{
    static const struct {
        const char *param, *shape;
    } cases[] = {
        {"num_output: 6 kernel_size: 3", "2 6 5 7 (420)"},
        {"num_output: 6 kernel_size: 4 stride: 2 pad: 1", "2 6 6 10 (720)"},
        {"num_output: 6 kernel_h: 1 kernel_w: 3 stride_h: 3 stride_w: 2", "2 6 7 11 (924)"},
        {"num_output: 6 kernel_size: 3 dilation: 2", "2 6 7 9 (756)"},
        {"num_output: 6 kernel_size: 2 stride: 4 pad: 0 pad: 3", "2 6 10 12 (1440)"},
        {"num_output: 6 kernel_size: 3 axis: -3", "2 6 5 7 (420)"},
        {"num_output: 6 kernel_size: 3 axis: 2", "2 4 6 7 (336)"},
        {"num_output: 6 kernel_size: 2 axis: 0", "6 5 4 6 (720)"},
        {"num_output: 1 kernel_size: 1 pad: 1", "2 1 1 3 (6)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].shape, shape_after(IMAGE, cases[i].param));
    CHECK_TEXT("2 6 3 5 7 (1260)", shape_after(DATA("dim: 2 dim: 4 dim: 2 dim: 4 dim: 6"),
                                               "num_output: 6 kernel_size: 2"));
    CHECK_TEXT("2 6 19 (228)",
               shape_after(DATA("dim: 2 dim: 4 dim: 9"), "num_output: 6 kernel_size: 3 stride: 2"));
    CHECK_TEXT("2 6 (12)", shape_after(DATA("dim: 2 dim: 4"), "num_output: 6"));
}

static void weights_have_the_outputs_of_a_group(void)
{
    struct lab lab = lab_of(IMAGE DECONV("num_output: 6 kernel_h: 3 kernel_w: 2 group: 2"));
    const struct psd_layer *layer = psd_net_layer(lab.net, "c");
    char text[100];

    CHECK(lab.net->n_params == 2);
    CHECK_TEXT("4 3 3 2 (72)", psd_shape_text(&lab.net->params[0]->blob.shape, text, sizeof text));
    CHECK_TEXT("6 (6)", psd_shape_text(&lab.net->params[1]->blob.shape, text, sizeof text));
    CHECK_NEAR(layer->kind->macs(layer), 2 * 4 * (3 * 5) * (3 * 3 * 2), 0);
    CHECK(!layer->kind->gives_factors);
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
    {"dim: 2 dim: 4 dim: 5 dim: 6",
     "num_output: 3 kernel_size: 3 stride: 2 pad: 1",
     2,
     4,
     3,
     1,
     {1, 5, 6},
     {1, 3, 3},
     {1, 2, 2},
     {0, 1, 1},
     ONES},
    {"dim: 2 dim: 4 dim: 5 dim: 6",
     "num_output: 6 kernel_size: 3 group: 2",
     2,
     4,
     6,
     2,
     {1, 5, 6},
     {1, 3, 3},
     ONES,
     NONE,
     ONES},
    {"dim: 2 dim: 12 dim: 4 dim: 3",
     "num_output: 12 kernel_size: 5 pad: 2",
     2,
     12,
     12,
     1,
     {1, 4, 3},
     {1, 5, 5},
     ONES,
     {0, 2, 2},
     ONES},
    {"dim: 2 dim: 4 dim: 4 dim: 3",
     "num_output: 2 kernel_h: 3 kernel_w: 2 stride_h: 1 stride_w: 3 pad_h: 2 pad_w: 1 dilation: 2 "
     "dilation: 1 force_nd_im2col: true",
     2,
     4,
     2,
     1,
     {1, 4, 3},
     {1, 3, 2},
     {1, 1, 3},
     {0, 2, 1},
     {1, 2, 1}},
    {"dim: 1 dim: 3 dim: 5 dim: 4",
     "num_output: 3 kernel_size: 4 stride: 2 pad: 1 group: 3",
     1,
     3,
     3,
     3,
     {1, 5, 4},
     {1, 4, 4},
     {1, 2, 2},
     {0, 1, 1},
     ONES},
    {"dim: 3 dim: 4 dim: 7",
     "num_output: 6 kernel_size: 3 stride: 2 dilation: 2 group: 2",
     3,
     4,
     6,
     2,
     {1, 1, 7},
     {1, 1, 3},
     {1, 1, 2},
     NONE,
     {1, 1, 2}},
    {"dim: 3 dim: 4", "num_output: 6 group: 2", 3, 4, 6, 2, ONES, ONES, ONES, NONE, ONES},
    {"dim: 2 dim: 4 dim: 3 dim: 4 dim: 2",
     "num_output: 6 kernel_size: 3 kernel_size: 1 kernel_size: 2 stride: 2 stride: 1 stride: 3 "
     "pad: 1 pad: 0 pad: 1 dilation: 1 dilation: 1 dilation: 2 group: 2",
     2,
     4,
     6,
     2,
     {3, 4, 2},
     {3, 1, 2},
     {2, 1, 3},
     {1, 0, 1},
     {1, 1, 2}},
    {"dim: 3 dim: 5 dim: 6",
     "num_output: 2 kernel_size: 3 axis: 0",
     1,
     3,
     2,
     1,
     {1, 5, 6},
     {1, 3, 3},
     ONES,
     NONE,
     ONES},
    {"dim: 2 dim: 2 dim: 3 dim: 6",
     "num_output: 4 kernel_size: 3 axis: -2",
     4,
     3,
     4,
     1,
     {1, 1, 6},
     {1, 1, 3},
     ONES,
     NONE,
     ONES},
    {"dim: 2 dim: 3 dim: 4 dim: 5",
     "num_output: 2 kernel_size: 1 stride: 3 pad: 2",
     2,
     3,
     2,
     1,
     {1, 4, 5},
     ONES,
     {1, 3, 3},
     {0, 2, 2},
     ONES},
};

static void values_and_gradients_are_sums_over_links(void)
{
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        links_check(&sums[i], "Deconvolution", true);
}

static void bilinear_filters_enlarge_images(void)
{
    struct lab lab = lab_of(
        DATA("dim: 1 dim: 1 dim: 4 dim: 4") "layer { name: 'c' type: 'Deconvolution' bottom: 'x' "
                                            "top: 'y' param { lr_mult: 0 } convolution_param { "
                                            "num_output: 1 kernel_size: 4 stride: 2 pad: 1 "
                                            "bias_term: false weight_filler { type: 'bilinear' } "
                                            "} }");

    for (size_t i = 0; i < 16; i++) { /* a plane: 3 down, 1 to the right */
        size_t row = i / 4, column = i % 4;
        lab_values(&lab, "x")[i] = (float)(3 * row + column);
    }
    CHECK_OK(psd_net_forward(lab.net, NULL));
    for (int h = 1; h < 7; h++) {
        for (int w = 1; w < 7; w++)
            CHECK_NEAR(lab_values(&lab, "y")[h * 8 + w], 3 * (0.5 * h - 0.25) + (0.5 * w - 0.25),
                       1e-5);
    }
    lab_close(&lab);
}

#define TWO(more)                                                                                 \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 'z' input_param { shape " \
    "{ "                                                                                          \
    "dim: 2 dim: 4 dim: 3 dim: 4 } } }\n"                                                         \
    "layer { name: 'c' type: 'Deconvolution' bottom: 'x' bottom: 'z' top: 'y' top: 'w' "          \
    "convolution_param { num_output: 2 kernel_size: 3 stride: 2 group: 2 weight_filler { type: "  \
    "'xavier' } bias_filler { type: 'uniform' } } " more " }"

static void gradients_are_slopes(void)
{
    check_slopes(TWO(""), NULL);
    check_slopes(TWO("propagate_down: false propagate_down: true"), NULL);
    check_slopes(TWO("param { lr_mult: 0 }"), NULL);
    check_slopes(DATA("dim: 2 dim: 2 dim: 3 dim: 2 dim: 3")
                     DECONV("num_output: 2 kernel_size: 2 stride: 2"),
                 NULL);
}

/* The second layer adds its share to the gradient of the weights. */
static void weights_may_be_shared(void)
{
    check_slopes(IMAGE "layer { name: 'a' type: 'Deconvolution' bottom: 'x' top: 'y' param { name: "
                       "'w' } convolution_param { num_output: 4 kernel_size: 3 bias_term: false "
                       "weight_filler { type: 'xavier' } } }"
                       "layer { name: 'b' type: 'Deconvolution' bottom: 'y' top: 'z' param { name: "
                       "'w' } convolution_param { num_output: 4 kernel_size: 3 stride: 2 "
                       "bias_term: false } }",
                 NULL);
}

static void a_net_is_made_or_not(void)
{
    check_survives(TWO(""));
}

static void impossible_parameters_are_refused(void)
{
    static const struct {
        const char *net, *sentence;
    } cases[] = {
        {IMAGE "layer { name: 'c' type: 'Deconvolution' bottom: 'x' top: 'y' }",
         "test.prototxt:2:1: layer c: has no num_output; 1 is the least"},
        {IMAGE DECONV("num_output: 6 kernel_size: 3 group: 3"),
         "test.prototxt:2:176: layer c: group is 3, which does not divide 4 channels and 6 "
         "outputs"},
        {IMAGE DECONV("num_output: 6 kernel_size: 3 pad: 3"),
         "test.prototxt:2:1: layer c: with a pad of 3 nothing is left of what it makes of \"x\" of "
         "shape 2 4 3 5 (120) from layer d"},
        {IMAGE DECONV("num_output: 6 kernel_size: 3 stride: 4294967295"),
         "test.prototxt:2:1: layer c: an axis of a window: a size is beyond 268435456"},
        {IMAGE "layer { name: 'e' type: 'Input' top: 'z' input_param { shape { dim: 2 dim: 4 dim: "
               "7 dim: 8 } } }\n"
               "layer { name: 'c' type: 'Deconvolution' bottom: 'x' bottom: 'z' top: 'a' top: 'b' "
               "convolution_param { num_output: 6 kernel_size: 3 } }",
         "test.prototxt:3:1: layer c: its bottoms differ: \"x\" of shape 2 4 3 5 (120) from layer "
         "d, and \"z\" of shape 2 4 7 8 (448) from layer e"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].sentence, lab_refuses(cases[i].net));
}

static void a_new_shape_fits_the_weights_or_is_refused(void)
{
    struct lab lab = lab_of(IMAGE DECONV("num_output: 2 kernel_size: 2"));
    struct psd_shape larger = psd_shape_of(4, 3, 4, 6, 7), other = psd_shape_of(4, 3, 5, 6, 7);

    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "x"), &larger));
    CHECK_OK(psd_net_reshape(lab.net));
    CHECK(psd_net_blob(lab.net, "y")->count == (size_t)3 * 2 * 7 * 8);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "x"), &other));
    CHECK_STATUS(PSD_ECONFIG, psd_net_reshape(lab.net));
    CHECK_TEXT(
        "test.prototxt:2:1: layer c: has weights for 4 channels and 2 spatial axes, but reads "
        "\"x\" of shape 3 5 6 7 (630) from layer d",
        psd_error());
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(the_top_is_what_a_convolution_would_have_started_from)
    RUN(weights_have_the_outputs_of_a_group)
    RUN(values_and_gradients_are_sums_over_links)
    RUN(bilinear_filters_enlarge_images)
    RUN(gradients_are_slopes)
    RUN(weights_may_be_shared)
    RUN(a_net_is_made_or_not)
    RUN(impossible_parameters_are_refused)
    RUN(a_new_shape_fits_the_weights_or_is_refused)
}
