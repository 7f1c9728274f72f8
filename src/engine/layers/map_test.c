/* map_test.c - all layers that change each value for itself: gradients, places, parameters. */
#include "slopes.h"

#define DATA                                                                                      \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 " \
    "dim: 3 dim: 4 } } }\n"
#define EACH(type, param) "layer { name: 'l' type: '" type "' bottom: 'x' top: 'y' " param " }"

/* Away from 0, where some of them have a corner. */
static void leave_zero(struct lab *lab)
{
    for (size_t i = 0; i < 24; i++)
        lab_values(lab, "x")[i] += lab_values(lab, "x")[i] < 0 ? -0.05F : 0.05F;
}

static void gradients_are_slopes(void)
{
    static const char *const nets[] = {
        DATA EACH("AbsVal", ""),
        DATA EACH("BNLL", ""),
        DATA EACH("Clip", "clip_param { min: -0.02 max: 2 }"),
        DATA EACH("ELU", "elu_param { alpha: 0.5 }"),
        DATA EACH("Exp", "exp_param { base: 3 scale: 0.5 shift: 1 }"),
        DATA EACH("Log", "log_param { base: 3 scale: 0.5 shift: 2 }"),
        DATA EACH("Power", "power_param { power: 3 scale: 0.5 shift: 1 }"),
        DATA EACH("Sigmoid", ""),
        DATA EACH("Swish", "swish_param { beta: 2 }"),
    };

    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        check_slopes(nets[i], leave_zero);
}

static void values_are_as_the_names_say(void)
{
    static const struct {
        const char *net;
        double x, y;
    } cases[] = {
        {DATA EACH("AbsVal", ""), -3, 3},
        {DATA EACH("BNLL", ""), 0, 0.69314718},
        {DATA EACH("BNLL", ""), 800, 800},
        {DATA EACH("Clip", "clip_param { min: -1 max: 2 }"), 5, 2},
        {DATA EACH("Clip", "clip_param { min: -1 max: 2 }"), -5, -1},
        {DATA EACH("ELU", ""), -1, 0.36787944 - 1},
        {DATA EACH("Exp", ""), 1, 2.71828183},
        {DATA EACH("Exp", "exp_param { base: 2 }"), 3, 8},
        {DATA EACH("Exp", "exp_param { base: 10 scale: 0.5 shift: -1 }"), 6, 100},
        {DATA EACH("Log", ""), 1, 0},
        {DATA EACH("Log", "log_param { base: 2 scale: 4 shift: 4 }"), 1, 3},
        {DATA EACH("Power", ""), -2, -2},
        {DATA EACH("Power", "power_param { power: 0 shift: 0 }"), 0, 1},
        {DATA EACH("Power", "power_param { power: 2 scale: 2 shift: 1 }"), 3, 49},
        {DATA EACH("Sigmoid", ""), -1000, 0},
        {DATA EACH("Swish", ""), 0, 0},
        {DATA EACH("Threshold", "threshold_param { threshold: 0.5 }"), 0.5, 0},
        {DATA EACH("Threshold", "threshold_param { threshold: 0.5 }"), 0.6, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = lab_of(cases[i].net);
        fprintf(stderr, "    %s of %g\n", psd_net_layer(lab.net, "l")->kind->type, cases[i].x);
        lab_values(&lab, "x")[5] = (float)cases[i].x;
        CHECK_OK(psd_net_forward(lab.net, NULL));
        CHECK_NEAR(lab_values(&lab, "y")[5], cases[i].y, 1e-6 * (1 + fabs(cases[i].y)));
        lab_close(&lab);
    }
}

/* Named as its bottom, a layer whose gradient needs the bottom has a blob of its own. */
static void in_place_gradients_are_the_same(void)
{
    check_slopes(DATA "layer { name: 'l' type: 'Sigmoid' bottom: 'x' top: 'x' }"
                      "layer { name: 'p' type: 'Power' bottom: 'x' top: 'x' power_param { power: 2 "
                      "} }",
                 NULL);
}

static void a_threshold_ends_the_way_of_gradients(void)
{
    struct lab lab = lab_of(DATA EACH("Threshold", "loss_weight: 1"));

    CHECK(!psd_net_layer(lab.net, "l")->backward_needed);
    lab_close(&lab);
}

static void impossible_parameters_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:1: layer l: has no clip_param, which says min and max",
               lab_refuses(DATA EACH("Clip", "")));
    CHECK_TEXT("test.prototxt:2:66: layer l: min is 2, which is above max, 1",
               lab_refuses(DATA EACH("Clip", "clip_param { min: 2 max: 1 }")));
    CHECK_TEXT("test.prototxt:2:64: layer l: base is -2; it is above 0, or -1 for e",
               lab_refuses(DATA EACH("Exp", "exp_param { base: -2 }")));
    CHECK_TEXT("test.prototxt:2:64: layer l: base is 1; it is above 0 and not 1, or -1 for e",
               lab_refuses(DATA EACH("Log", "log_param { base: 1 }")));
}

int main(int argc, char **argv)
{
    RUN(gradients_are_slopes)
    RUN(values_are_as_the_names_say)
    RUN(in_place_gradients_are_the_same)
    RUN(a_threshold_ends_the_way_of_gradients)
    RUN(impossible_parameters_are_refused)
}
