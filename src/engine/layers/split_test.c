#include "slopes.h"

#define DATA                                                                                      \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 " \
    "dim: 3 } } }\n"
#define SPLIT "layer { name: 's' type: 'Split' bottom: 'x' top: 'a' top: 'b' top: 'c' }\n"
#define TANH(bottom, top) \
    "layer { name: '" top "' type: 'TanH' bottom: '" bottom "' top: '" top "' }\n"
#define SQUARE(bottom, top)                                                 \
    "layer { name: '" top "' type: 'Power' bottom: '" bottom "' top: '" top \
    "' power_param { power: 2 } }\n"

static void tops_look_at_the_values_of_the_bottom(void)
{
    struct lab lab = lab_of(DATA SPLIT);

    lab_values(&lab, "x")[5] = 7;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(lab_values(&lab, "a") == lab_values(&lab, "x"));
    CHECK_NEAR(lab_values(&lab, "c")[5], 7, 0);
    lab_close(&lab);
}

/* With a top that is an output, one that has a reader without a gradient, and one that the net makes. */
static void gradients_are_slopes(void)
{
    check_slopes(DATA SPLIT TANH("a", "y") SQUARE("b", "z"), NULL);
    check_slopes(DATA SPLIT TANH("a", "y") SQUARE("b", "z") "layer { name: 'q' type: 'Silence' "
                                                            "bottom: 'c' }",
                 NULL);
    check_slopes(DATA TANH("x", "y") SQUARE("x", "z") SQUARE("y", "v") TANH("y", "w"), NULL);
}

int main(int argc, char **argv)
{
    RUN(tops_look_at_the_values_of_the_bottom)
    RUN(gradients_are_slopes)
}
