#include "slopes.h"

#define DATA(labels)                                                                              \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'p' top: 't' input_param { shape " \
    "{ dim: 2 dim: 3 } shape { dim: " labels " } } }\n"
#define LOSS(more) \
    "layer { name: 'l' type: 'MultinomialLogisticLoss' bottom: 'p' bottom: 't' " more " }"

static void set_values(struct lab *lab)
{
    memcpy(lab_values(lab, "p"), (const float[]){.5F, .25F, .25F, .1F, .1F, .8F},
           6 * sizeof(float));
    memcpy(lab_values(lab, "t"), (const float[]){0, 2}, 2 * sizeof(float));
}

static void the_labels_probabilities_count(void)
{
    struct lab lab = lab_of(DATA("2") LOSS("loss_weight: 2"));
    float loss = 0;

    set_values(&lab);
    CHECK_OK(psd_net_forward(lab.net, &loss));
    CHECK_NEAR(loss, -log(.5) - log(.8), 1e-6);
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK_NEAR(lab_gradient(&lab, "p")[0], -2, 1e-6);
    CHECK_NEAR(lab_gradient(&lab, "p")[5], -1 / .8, 1e-6);
    CHECK(lab_gradient(&lab, "p")[1] == 0);
    lab_close(&lab);
}

static void no_probability_is_not_the_end(void)
{
    struct lab lab = lab_of(DATA("2") LOSS(""));
    float loss = 0;

    set_values(&lab);
    lab_values(&lab, "p")[0] = 0;
    CHECK_OK(psd_net_forward(lab.net, &loss));
    CHECK_NEAR(loss, (-log(1e-20) - log(.8)) / 2, 1e-4);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA("2") LOSS(""), set_values);
}

static void labels_that_do_not_fit_are_refused(void)
{
    struct lab lab = lab_of(DATA("2") LOSS(""));

    lab_values(&lab, "t")[1] = 3;
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK_TEXT("test.prototxt:2:1: layer l: label 3 is not one of 0 to 2", psd_error());
    lab_close(&lab);
    CHECK_TEXT("test.prototxt:2:1: layer l: needs a label for each sample of \"p\" of shape 2 3 "
               "(6) from layer d, but reads \"t\" of shape 3 (3) from layer d",
               lab_refuses(DATA("3") LOSS("")));
}

int main(int argc, char **argv)
{
    RUN(the_labels_probabilities_count)
    RUN(no_probability_is_not_the_end)
    RUN(gradients_are_slopes)
    RUN(labels_that_do_not_fit_are_refused)
}
