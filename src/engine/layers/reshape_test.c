#include "slopes.h"

#define DATA                                                                                      \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 " \
    "dim: 3 dim: 4 } } }\n"
#define RESHAPE(param) \
    "layer { name: 'l' type: 'Reshape' bottom: 'x' top: 'y' reshape_param { " param " } }"

static void check_shape(const char *net, struct psd_shape shape)
{
    struct lab lab = lab_of(net);
    char text[200];

    psd_shape_text(&psd_net_blob(lab.net, "y")->shape, text, sizeof text);
    fprintf(stderr, "    %s\n", text);
    lab_values(&lab, "x")[7] = 5;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "y")->shape, &shape));
    CHECK(lab_values(&lab, "y")[7] == 5);
    lab_close(&lab);
}

static void dims_are_given_taken_over_or_the_rest(void)
{
    check_shape(DATA RESHAPE("shape { dim: 4 dim: 6 }"), psd_shape_of(2, 4, 6, 0, 0));
    check_shape(DATA RESHAPE("shape { dim: 0 dim: -1 }"), psd_shape_of(2, 2, 12, 0, 0));
    check_shape(DATA RESHAPE("shape { dim: -1 }"), psd_shape_of(1, 24, 0, 0, 0));
    check_shape(DATA RESHAPE("shape { dim: 2 dim: 2 } axis: 2"), psd_shape_of(4, 2, 3, 2, 2));
    check_shape(DATA RESHAPE("shape { dim: -1 } axis: 1 num_axes: 1"), psd_shape_of(3, 2, 3, 4, 0));
    check_shape(DATA RESHAPE("shape { dim: 1 } axis: 1 num_axes: 0"), psd_shape_of(4, 2, 1, 3, 4));
    check_shape(DATA RESHAPE("shape { dim: 1 } axis: -1"), psd_shape_of(4, 2, 3, 4, 1));
    check_shape(DATA RESHAPE("shape { dim: 6 } num_axes: 2"), psd_shape_of(2, 6, 4, 0, 0));
    check_shape(DATA "layer { name: 'l' type: 'Reshape' bottom: 'x' top: 'y' reshape_param { axis: "
                     "1 num_axes: 0 } }",
                psd_shape_of(3, 2, 3, 4, 0));
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA RESHAPE("shape { dim: 4 dim: -1 }"), NULL);
}

static void shapes_that_do_not_fit_are_refused(void)
{
    CHECK_TEXT(
        "test.prototxt:2:72: layer l: the shape 5 1 (5) does not have the values of \"x\" of "
        "shape 2 3 4 (24) from layer d",
        lab_refuses(DATA RESHAPE("shape { dim: 5 dim: -1 }")));
    CHECK_TEXT(
        "test.prototxt:2:72: layer l: the shape 5 5 (25) does not have the values of \"x\" of "
        "shape 2 3 4 (24) from layer d",
        lab_refuses(DATA RESHAPE("shape { dim: 5 dim: 5 }")));
    CHECK_TEXT("test.prototxt:2:80: layer l: dim 1 is -1; it is at least 1, 0 for the bottom's, or "
               "once -1 for the rest",
               lab_refuses(DATA RESHAPE("shape { dim: -1 dim: -1 }")));
    CHECK_TEXT("test.prototxt:2:80: layer l: dim 0 is -2; it is at least 1, 0 for the bottom's, or "
               "once -1 for the rest",
               lab_refuses(DATA RESHAPE("shape { dim: -2 }")));
    CHECK_TEXT(
        "test.prototxt:2:80: layer l: dim 3 is 0, but the bottom has no axis 3 to take it from",
        lab_refuses(DATA RESHAPE("shape { dim: 0 dim: 0 dim: 0 dim: 0 }")));
    CHECK_TEXT(
        "test.prototxt:2:90: layer l: axis is 4, but it reads \"x\" of shape 2 3 4 (24) from "
        "layer d",
        lab_refuses(DATA RESHAPE("shape { dim: -1 } axis: 4")));
    CHECK_TEXT("test.prototxt:2:98: layer l: num_axes is 3 from axis 1 on, but it reads \"x\" of "
               "shape 2 3 4 (24) from layer d",
               lab_refuses(DATA RESHAPE("shape { dim: -1 } axis: 1 num_axes: 3")));
}

int main(int argc, char **argv)
{
    RUN(dims_are_given_taken_over_or_the_rest)
    RUN(gradients_are_slopes)
    RUN(shapes_that_do_not_fit_are_refused)
}
