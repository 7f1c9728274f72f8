#include "slopes.h"

#define DATA "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }\n"
#define PARAMETER(more, shape)                                                               \
    "layer { name: 'p' type: 'Parameter' top: 'w' " more " parameter_param { shape { " shape \
    " } } }\n"
#define PRODUCT                                                                          \
    "layer { name: 'e' type: 'Eltwise' bottom: 'x' bottom: 'w' top: 'y' loss_weight: 1 " \
    "eltwise_param { operation: PROD } }"

static float *values_of(const struct lab *lab)
{
    return psd_blob_values(&psd_net_layer(lab->net, "p")->params[0]->blob);
}

static void a_top_has_the_parameters_values(void)
{
    struct lab lab = lab_of(DATA PARAMETER("", "dim: 2 dim: 3") PRODUCT);
    struct psd_shape shape = psd_shape_of(2, 2, 3, 0, 0);

    CHECK(psd_shape_same(&psd_net_blob(lab.net, "w")->shape, &shape));
    CHECK(values_of(&lab)[5] == 0);
    values_of(&lab)[5] = 7;
    lab_values(&lab, "x")[5] = 2;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(lab_values(&lab, "w")[5] == 7 && lab_values(&lab, "y")[5] == 14);
    lab_close(&lab);
}

static void gradients_are_added_over_the_passes_of_a_batch(void)
{
    struct lab lab = lab_of(DATA PARAMETER("", "dim: 2 dim: 3") PRODUCT);

    for (int pass = 0; pass < 3; pass++) {
        lab_values(&lab, "x")[4] = 3;
        CHECK_OK(psd_net_forward(lab.net, NULL));
        CHECK_OK(psd_net_backward(lab.net, pass < 2));
        CHECK(psd_blob_gradient(&lab.net->params[0]->blob)[4] == (pass < 2 ? 3 : 6));
    }
    lab_close(&lab);
}

static void one_that_does_not_learn_has_no_gradient(void)
{
    struct lab lab = lab_of(DATA PARAMETER("param { lr_mult: 0 }", "dim: 2 dim: 3") PRODUCT);

    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(!lab.net->params[0]->blob.diff);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes("force_backward: true " DATA PARAMETER("", "dim: 2 dim: 3") PRODUCT, NULL);
    check_slopes(
        DATA PARAMETER("",
                       "dim: 3") "layer { name: 's' type: 'Scale' bottom: 'x' bottom: 'w' top: 'y' "
                                 "loss_weight: 1 scale_param { axis: 1 } }\n"
                                 "layer { name: 'b' type: 'Bias' bottom: 'y' bottom: 'w' top: 'z' "
                                 "loss_weight: "
                                 "1 }",
        NULL);
}

static void a_parameter_has_no_samples(void)
{
    struct lab lab = lab_of(PARAMETER("", "dim: 3") DATA
                            "layer { name: 'b' type: 'Bias' bottom: 'x' bottom: 'w' top: 'y' }");

    CHECK(psd_net_samples(lab.net) == 2);
    lab_close(&lab);
}

static void impossible_shapes_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:73: layer p: dim 1 of a shape is 0; 1 is the least",
               lab_refuses(DATA PARAMETER("", "dim: 2 dim: 0") PRODUCT));
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA PARAMETER("", "dim: 2 dim: 3") PRODUCT);
}

int main(int argc, char **argv)
{
    RUN(a_top_has_the_parameters_values)
    RUN(gradients_are_added_over_the_passes_of_a_batch)
    RUN(one_that_does_not_learn_has_no_gradient)
    RUN(gradients_are_slopes)
    RUN(a_parameter_has_no_samples)
    RUN(impossible_shapes_are_refused)
    RUN(making_one_survives_every_failed_allocation)
}
