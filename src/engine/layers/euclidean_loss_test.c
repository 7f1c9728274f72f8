#include "slopes.h"

#define DATA                                                                                      \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 't' input_param { shape " \
    "{ dim: 2 dim: 3 } shape { dim: 2 dim: 3 dim: 1 } } }\n"
#define LOSS "layer { name: 'l' type: 'EuclideanLoss' bottom: 'x' bottom: 't' top: 'y' }"

static void half_the_square_for_each_sample(void)
{
    struct lab lab = lab_of(DATA LOSS);
    float loss = 0;

    lab_values(&lab, "x")[0] = 3;
    lab_values(&lab, "t")[5] = 1;
    CHECK_OK(psd_net_forward(lab.net, &loss));
    CHECK_NEAR(loss, (9 + 1) / 2.0 / 2, 1e-6);
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK_NEAR(lab_gradient(&lab, "x")[0], 1.5, 1e-6);
    CHECK_NEAR(lab_gradient(&lab, "t")[0], -1.5, 1e-6);
    lab_close(&lab);
}

static void samples_of_other_lengths_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:1: layer l: samples have the same values, but it reads \"x\" of "
               "shape 2 (2) from layer d and \"t\" of shape 1 2 (2) from layer d",
               lab_refuses("layer { name: 'd' type: 'Input' top: 'x' top: 't' input_param { shape "
                           "{ dim: 2 } shape { dim: 1 dim: 2 } } }\n" LOSS));
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA LOSS, NULL);
}

int main(int argc, char **argv)
{
    RUN(half_the_square_for_each_sample)
    RUN(samples_of_other_lengths_are_refused)
    RUN(gradients_are_slopes)
}
