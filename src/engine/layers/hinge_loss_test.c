#include "slopes.h"

#define DATA(labels)                                                                              \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 't' input_param { shape " \
    "{ dim: 2 dim: 2 } shape { dim: " labels " } } }\n"
#define LOSS(param) \
    "layer { name: 'l' type: 'HingeLoss' bottom: 'x' bottom: 't' hinge_loss_param { " param " } }"

/* Violations of 3 0 / 0.5 -2, labels 1 0: 4 1, 0.5 0. */
static void check_loss(const char *net, double wanted, double first)
{
    struct lab lab = lab_of(net);
    float loss = 0;

    memcpy(lab_values(&lab, "x"), (const float[]){3, 0, 0.5F, -2}, 4 * sizeof(float));
    memcpy(lab_values(&lab, "t"), (const float[]){1, 0}, 2 * sizeof(float));
    CHECK_OK(psd_net_forward(lab.net, &loss));
    CHECK_NEAR(loss, wanted, 1e-6);
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK_NEAR(lab_gradient(&lab, "x")[0], first, 1e-6);
    CHECK(lab_gradient(&lab, "x")[1] < 0 && lab_gradient(&lab, "x")[3] == 0);
    lab_close(&lab);
}

static void violations_are_added_or_their_squares(void)
{
    check_loss(DATA("2") LOSS(""), 5.5 / 2, 0.5);
    check_loss(DATA("2") LOSS("norm: L2"), (16 + 1 + 0.25) / 2, 2 * 4 / 2.0);
}

static void labels_that_do_not_fit_are_refused(void)
{
    struct lab lab = lab_of(DATA("2") LOSS(""));

    lab_values(&lab, "t")[1] = 2;
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK_TEXT(
        "test.prototxt:2:1: layer l: label 2 of sample 1 of the batch: with 2 classes, labels "
        "are 0 to 1",
        psd_error());
    lab_values(&lab, "t")[1] = NAN;
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    lab_close(&lab);
    CHECK_TEXT("test.prototxt:2:1: layer l: needs a label for each of the 2 samples of \"x\" of "
               "shape 2 2 (4) from layer d, but its labels are \"t\" of shape 3 (3) from layer d",
               lab_refuses(DATA("3") LOSS("")));
}

static void set_labels(struct lab *lab)
{
    memcpy(lab_values(lab, "t"), (const float[]){1, 0}, 2 * sizeof(float));
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA("2") LOSS(""), set_labels);
    check_slopes(DATA("2") LOSS("norm: L2"), set_labels);
}

int main(int argc, char **argv)
{
    RUN(violations_are_added_or_their_squares)
    RUN(labels_that_do_not_fit_are_refused)
    RUN(gradients_are_slopes)
}
