#include "nets.h"

#define DATA \
    "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 dim: 2 } } }\n"
#define FOUR_AXES                                                                               \
    "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 dim: 2 dim: " \
    "1 } } }\n"
#define ARG_MAX(param) \
    "layer { name: 'l' type: 'ArgMax' bottom: 'x' top: 'y' argmax_param { " param " } }"

#define CHECK_TOP(net, shape, ...)                      \
    check_top(net, shape, (const float[]){__VA_ARGS__}, \
              sizeof(float[]){__VA_ARGS__} / sizeof(float))

/* Sample 0 is 1 5 / 3 5 / 2 NaN, sample 1 is all 0. */
static void check_top(const char *net, struct psd_shape shape, const float *wanted, size_t count)
{
    struct lab lab = lab_of(net);

    memcpy(lab_values(&lab, "x"), (const float[]){1, 5, 3, 5, 2, NAN}, 6 * sizeof(float));
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "y")->shape, &shape));
    CHECK(psd_net_blob(lab.net, "y")->count == count);
    for (size_t i = 0; i < count; i++)
        CHECK(lab_values(&lab, "y")[i] == wanted[i]);
    lab_close(&lab);
}

static void of_equal_values_the_later_comes_first(void)
{
    CHECK_TOP(DATA ARG_MAX(""), psd_shape_of(3, 2, 1, 1, 0), 3, 5);
    CHECK_TOP(DATA ARG_MAX("top_k: 3"), psd_shape_of(3, 2, 1, 3, 0), 3, 1, 2, 5, 4, 3);
    CHECK_TOP(DATA ARG_MAX("top_k: 2 out_max_val: true"), psd_shape_of(3, 2, 2, 2, 0), 3, 1, 5, 5,
              5, 4, 0, 0);
}

static void a_top_has_at_least_the_axes_of_the_bottom(void)
{
    CHECK_TOP(FOUR_AXES ARG_MAX("top_k: 3"), psd_shape_of(4, 2, 1, 3, 1), 3, 1, 2, 5, 4, 3);
    CHECK_TOP(FOUR_AXES ARG_MAX("out_max_val: true"), psd_shape_of(4, 2, 2, 1, 1), 3, 5, 5, 0);
}

static void along_an_axis_there_are_places_or_values(void)
{
    CHECK_TOP(DATA ARG_MAX("axis: 1"), psd_shape_of(3, 2, 1, 2, 0), 1, 1, 2, 2);
    CHECK_TOP(DATA ARG_MAX("axis: 1 top_k: 2 out_max_val: true"), psd_shape_of(3, 2, 2, 2, 0), 3, 5,
              2, 5, 0, 0, 0, 0);
    CHECK_TOP(DATA ARG_MAX("axis: -1"), psd_shape_of(3, 2, 3, 1, 0), 1, 1, 0, 1, 1, 1);
}

static void impossible_parameters_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:70: layer l: top_k is 7; it is from 1 to 6",
               lab_refuses(DATA ARG_MAX("top_k: 7")));
    CHECK_TEXT("test.prototxt:2:78: layer l: top_k is 4; it is from 1 to 3",
               lab_refuses(DATA ARG_MAX("axis: 1 top_k: 4")));
    CHECK_TEXT("test.prototxt:2:70: layer l: top_k is 0; it is from 1 to 6",
               lab_refuses(DATA ARG_MAX("top_k: 0")));
    CHECK_TEXT(
        "test.prototxt:2:70: layer l: axis is 3, but it reads \"x\" of shape 2 3 2 (12) from "
        "layer d",
        lab_refuses(DATA ARG_MAX("axis: 3")));
}

int main(int argc, char **argv)
{
    RUN(of_equal_values_the_later_comes_first)
    RUN(a_top_has_at_least_the_axes_of_the_bottom)
    RUN(along_an_axis_there_are_places_or_values)
    RUN(impossible_parameters_are_refused)
}
