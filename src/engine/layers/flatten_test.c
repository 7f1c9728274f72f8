#include "slopes.h"

#define DATA                                                                                      \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 " \
    "dim: 3 dim: 4 } } }\n"
#define FLATTEN(param) \
    "layer { name: 'l' type: 'Flatten' bottom: 'x' top: 'y' flatten_param { " param " } }"

static void check_shape(const char *net, struct psd_shape shape)
{
    struct lab lab = lab_of(net);

    lab_values(&lab, "x")[7] = 5;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "y")->shape, &shape));
    CHECK(lab_values(&lab, "y")[7] == 5);
    lab_close(&lab);
}

static void axes_become_one(void)
{
    check_shape(DATA FLATTEN(""), psd_shape_of(2, 2, 12, 0, 0));
    check_shape(DATA FLATTEN("axis: 0 end_axis: 1"), psd_shape_of(2, 6, 4, 0, 0));
    check_shape(DATA FLATTEN("axis: 0"), psd_shape_of(1, 24, 0, 0, 0));
    check_shape(DATA FLATTEN("axis: -1"), psd_shape_of(3, 2, 3, 4, 0));
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA FLATTEN("") "layer { name: 'r' type: 'TanH' bottom: 'y' top: 'y' }", NULL);
    check_slopes(DATA "layer { name: 't' type: 'TanH' bottom: 'x' top: 't' }"
                      "layer { name: 'l' type: 'Flatten' bottom: 't' top: 't' }"
                      "layer { name: 'r' type: 'ReLU' bottom: 't' top: 't' }",
                 NULL);
}

static void axes_that_are_not_there_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:72: layer l: end_axis is 0, before axis, 1",
               lab_refuses(DATA FLATTEN("end_axis: 0")));
    CHECK_TEXT(
        "test.prototxt:2:72: layer l: axis is 3, but it reads \"x\" of shape 2 3 4 (24) from "
        "layer d",
        lab_refuses(DATA FLATTEN("axis: 3")));
}

int main(int argc, char **argv)
{
    RUN(axes_become_one)
    RUN(gradients_are_slopes)
    RUN(axes_that_are_not_there_are_refused)
}
