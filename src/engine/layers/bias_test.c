#include "slopes.h"

#define DATA                                                                                      \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 " \
    "dim: 3 dim: 2 } } }\n"
#define FACTOR(dims) \
    "layer { name: 'f' type: 'Input' top: 's' input_param { shape { " dims " } } }\n"
#define BIAS(bottom, param)                                          \
    "layer { name: 'l' type: 'Bias' bottom: 'x' " bottom "top: 'y' " \
    "bias_param { " param " } }"

static void each_channel_has_its_bias(void)
{
    struct lab lab = lab_of(DATA BIAS("", "filler { value: 2 }"));
    float *b = psd_blob_values(&lab.net->params[0]->blob);

    CHECK(lab.net->params[0]->blob.count == 3 && b[2] == 2);
    b[1] = 7;
    lab_values(&lab, "x")[8] = 1;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    for (int i = 0; i < 12; i++)
        CHECK(lab_values(&lab, "y")[i] == (i / 2 % 3 == 1 ? 7 : 2) + (i == 8));
    lab_close(&lab);
}

static void a_second_bottom_is_the_bias(void)
{
    struct lab lab = lab_of(DATA FACTOR("dim: 2") BIAS("bottom: 's' ", "axis: 0"));

    CHECK(lab.net->n_params == 0);
    lab_values(&lab, "s")[1] = 5;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    for (int i = 0; i < 12; i++)
        CHECK(lab_values(&lab, "y")[i] == (i < 6 ? 0 : 5));
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA BIAS("", ""), NULL);
    check_slopes(DATA BIAS("", "num_axes: 0"), NULL);
    check_slopes(DATA FACTOR("dim: 3 dim: 2") BIAS("bottom: 's' ", ""), NULL);
    check_slopes(DATA "layer { name: 'l' type: 'Bias' bottom: 'x' top: 'x' }", NULL);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_TEXT("test.prototxt:2:66: layer l: axis is -4, but it reads \"x\" of shape 2 3 2 (12) "
               "from layer d",
               lab_refuses(DATA BIAS("", "axis: -4")));
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA BIAS("", ""));
}

int main(int argc, char **argv)
{
    RUN(each_channel_has_its_bias)
    RUN(a_second_bottom_is_the_bias)
    RUN(gradients_are_slopes)
    RUN(what_does_not_fit_is_refused)
    RUN(making_one_survives_every_failed_allocation)
}
