#include "slopes.h"

#define DATA                                                                                      \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 " \
    "dim: 3 dim: 4 } } }\n"
#define PRELU(param) \
    "layer { name: 'l' type: 'PReLU' bottom: 'x' top: 'y' prelu_param { " param " } }"

static void leave_zero(struct lab *lab)
{
    for (size_t i = 0; i < 24; i++)
        lab_values(lab, "x")[i] += lab_values(lab, "x")[i] < 0 ? -0.05F : 0.05F;
}

static void channels_have_slopes_of_their_own(void)
{
    struct lab lab = lab_of(DATA PRELU(""));
    float *slopes = psd_blob_values(&lab.net->params[0]->blob);

    CHECK(lab.net->params[0]->blob.count == 3 && slopes[1] == 0.25F);
    slopes[1] = 2;
    for (int i = 0; i < 24; i++)
        lab_values(&lab, "x")[i] = i % 2 ? 1 : -1;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(lab_values(&lab, "y")[0] == -0.25F && lab_values(&lab, "y")[1] == 1);
    CHECK(lab_values(&lab, "y")[4] == -2 && lab_values(&lab, "y")[16] == -2);
    lab_close(&lab);
}

static void one_slope_may_do_for_all(void)
{
    struct lab lab = lab_of(DATA PRELU("channel_shared: true filler { value: 3 }"));

    CHECK(lab.net->params[0]->blob.count == 1 && lab.net->params[0]->blob.shape.axes == 0);
    lab_values(&lab, "x")[23] = -1;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(lab_values(&lab, "y")[23] == -3);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA PRELU(""), leave_zero);
    check_slopes(DATA PRELU("channel_shared: true"), leave_zero);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_TEXT("test.prototxt:2:1: layer l: reads samples with channels, but not \"v\" of shape 3 "
               "(3) from layer d",
               lab_refuses("layer { name: 'd' type: 'Input' top: 'v' input_param { shape { dim: 3 "
                           "} } }\nlayer { name: 'l' type: 'PReLU' bottom: 'v' top: 'y' }"));
}

static void another_number_of_channels_is_refused(void)
{
    struct lab lab = lab_of(DATA PRELU(""));
    struct psd_shape wider = psd_shape_of(2, 2, 4, 0, 0);

    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "x"), &wider));
    CHECK_STATUS(PSD_ECONFIG, psd_layer_prelu.reshape(psd_net_layer(lab.net, "l")));
    CHECK_TEXT(
        "test.prototxt:2:1: layer l: has slopes for 3 channels, but reads \"x\" of shape 2 4 "
        "(8) from layer d",
        psd_error());
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(channels_have_slopes_of_their_own)
    RUN(one_slope_may_do_for_all)
    RUN(gradients_are_slopes)
    RUN(what_does_not_fit_is_refused)
    RUN(another_number_of_channels_is_refused)
}
