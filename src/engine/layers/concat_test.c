#include "slopes.h"

#define BOTTOM(name, dims)                                                                       \
    "layer { name: '" name "' type: 'Input' top: '" name "' input_param { shape { " dims " } } " \
    "}\n"
#define DATA                                                                                      \
    "force_backward: true " BOTTOM("a", "dim: 2 dim: 1 dim: 2") BOTTOM("b", "dim: 2 dim: 3 dim: " \
                                                                            "2")
#define CONCAT(param)                                                                              \
    "layer { name: 'l' type: 'Concat' bottom: 'a' bottom: 'b' top: 'y' concat_param { " param " }" \
    " }"

static void rows_stand_one_after_the_other(void)
{
    struct lab lab = lab_of(DATA CONCAT(""));
    struct psd_shape shape = psd_shape_of(3, 2, 4, 2, 0);

    for (int i = 0; i < 4; i++)
        lab_values(&lab, "a")[i] = 1;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "y")->shape, &shape));
    for (int i = 0; i < 16; i++)
        CHECK(lab_values(&lab, "y")[i] == (i % 8 < 2));
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA CONCAT(""), NULL);
    check_slopes(DATA CONCAT("concat_dim: 1"), NULL);
    check_slopes("force_backward: true " BOTTOM("a", "dim: 2 dim: 3") BOTTOM("b", "dim: 1 dim: 3")
                     CONCAT("axis: -2"),
                 NULL);
    check_slopes("force_backward: true " BOTTOM(
                     "a", "dim: 2 dim: 3") "layer { name: 'l' type: 'Concat' bottom: 'a' bottom: "
                                           "'a' bottom: 'a' top: 'y' }",
                 NULL);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_TEXT("test.prototxt:3:1: layer l: bottoms differ in axis 0 alone, but it reads \"a\" of "
               "shape 2 1 2 (4) from layer a and \"b\" of shape 2 3 2 (12) from layer b",
               lab_refuses(DATA CONCAT("axis: 0")));
    CHECK_TEXT("test.prototxt:3:82: layer l: concat_dim is the old name of axis; give one",
               lab_refuses(DATA CONCAT("concat_dim: 1 axis: 1")));
    CHECK_TEXT(
        "test.prototxt:3:82: layer l: axis is 32, but it reads \"a\" of shape 2 1 2 (4) from "
        "layer a",
        lab_refuses(DATA CONCAT("concat_dim: 4000000000")));
}

int main(int argc, char **argv)
{
    RUN(rows_stand_one_after_the_other)
    RUN(gradients_are_slopes)
    RUN(what_does_not_fit_is_refused)
}
