#include "slopes.h"

#define DATA                                                                                      \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 " \
    "dim: 3 dim: 4 } } }\n"
#define REDUCTION(param) \
    "layer { name: 'l' type: 'Reduction' bottom: 'x' top: 'y' reduction_param { " param " } }"

static void axes_from_one_on_disappear(void)
{
    static const struct {
        const char *net;
        size_t axes, count;
        float first;
    } cases[] = {
        {DATA REDUCTION(""), 0, 1, -24},
        {DATA REDUCTION("axis: 1 coeff: 0.5"), 1, 2, -6},
        {DATA REDUCTION("axis: -1 operation: ASUM"), 2, 6, 4},
        {DATA REDUCTION("axis: 2 operation: SUMSQ coeff: 2"), 2, 6, 8},
        {DATA REDUCTION("axis: 1 operation: MEAN"), 1, 2, -1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = lab_of(cases[i].net);
        for (int k = 0; k < 24; k++)
            lab_values(&lab, "x")[k] = -1;
        CHECK_OK(psd_net_forward(lab.net, NULL));
        CHECK(psd_net_blob(lab.net, "y")->shape.axes == cases[i].axes);
        CHECK(psd_net_blob(lab.net, "y")->count == cases[i].count);
        CHECK_NEAR(lab_values(&lab, "y")[0], cases[i].first, 1e-5);
        lab_close(&lab);
    }
}

static void leave_zero(struct lab *lab)
{
    for (size_t i = 0; i < 24; i++)
        lab_values(lab, "x")[i] += lab_values(lab, "x")[i] < 0 ? -0.05F : 0.05F;
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA REDUCTION("coeff: 0.5"), NULL);
    check_slopes(DATA REDUCTION("axis: 1 operation: ASUM"), leave_zero);
    check_slopes(DATA REDUCTION("axis: 2 operation: SUMSQ"), NULL);
    check_slopes(DATA REDUCTION("axis: 1 operation: MEAN coeff: 3"), NULL);
}

static void an_axis_that_is_not_there_is_refused(void)
{
    CHECK_TEXT(
        "test.prototxt:2:76: layer l: axis is 3, but it reads \"x\" of shape 2 3 4 (24) from "
        "layer d",
        lab_refuses(DATA REDUCTION("axis: 3")));
}

int main(int argc, char **argv)
{
    RUN(axes_from_one_on_disappear)
    RUN(gradients_are_slopes)
    RUN(an_axis_that_is_not_there_is_refused)
}
