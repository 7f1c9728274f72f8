#include "slopes.h"

#define DATA                                                                                      \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 " \
    "dim: 6 dim: 2 } } }\n"
#define SLICE(tops, param) \
    "layer { name: 'l' type: 'Slice' bottom: 'x' " tops " slice_param { " param " } }"

static void parts_are_equal_or_end_at_points(void)
{
    struct lab lab = lab_of(DATA SLICE("top: 'a' top: 'b'", ""));

    CHECK(psd_net_blob(lab.net, "b")->shape.dim[1] == 3);
    lab_close(&lab);
    lab = lab_of(DATA SLICE("top: 'a' top: 'b' top: 'c'", "slice_point: 1 slice_point: 5"));
    for (int i = 0; i < 24; i++)
        lab_values(&lab, "x")[i] = (float)i;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_net_blob(lab.net, "b")->shape.dim[1] == 4);
    CHECK(lab_values(&lab, "b")[0] == 2 && lab_values(&lab, "b")[8] == 14);
    CHECK(lab_values(&lab, "c")[2] == 22);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA SLICE("top: 'a' top: 'b' top: 'c'", "slice_point: 1 slice_point: 5"), NULL);
    check_slopes(DATA SLICE("top: 'a' top: 'b'", "axis: -1"), NULL);
    check_slopes(DATA SLICE("top: 'a' top: 'b'", "slice_dim: 0"), NULL);
    check_slopes(DATA SLICE("top: 'a'", ""), NULL);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_TEXT("test.prototxt:2:1: layer l: 4 tops are no equal parts of \"x\" of shape 2 6 2 (24) "
               "from layer d",
               lab_refuses(DATA SLICE("top: 'a' top: 'b' top: 'c' top: 'd'", "")));
    CHECK_TEXT(
        "test.prototxt:2:77: layer l: slice_point is given 2 times for 2 tops; give one less "
        "than tops, or none",
        lab_refuses(DATA SLICE("top: 'a' top: 'b'", "slice_point: 1 slice_point: 2")));
    CHECK_TEXT(
        "test.prototxt:2:77: layer l: slice_point 6 is not between the one before it and the "
        "end of \"x\" of shape 2 6 2 (24) from layer d",
        lab_refuses(DATA SLICE("top: 'a' top: 'b'", "slice_point: 6")));
    CHECK_TEXT(
        "test.prototxt:2:77: layer l: slice_point 0 is not between the one before it and the "
        "end of \"x\" of shape 2 6 2 (24) from layer d",
        lab_refuses(DATA SLICE("top: 'a' top: 'b'", "slice_point: 0")));
    CHECK_TEXT("test.prototxt:2:77: layer l: slice_dim is the old name of axis; give one",
               lab_refuses(DATA SLICE("top: 'a' top: 'b'", "slice_dim: 1 axis: 1")));
}

int main(int argc, char **argv)
{
    RUN(parts_are_equal_or_end_at_points)
    RUN(gradients_are_slopes)
    RUN(what_does_not_fit_is_refused)
}
