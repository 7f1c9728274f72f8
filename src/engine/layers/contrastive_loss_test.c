#include "slopes.h"

#define BOTTOM(name, shape)                                                                       \
    "layer { name: '" name "' type: 'Input' top: '" name "' input_param { shape { " shape " } } " \
    "}\n"
#define DATA                                                                          \
    "force_backward: true " BOTTOM("a", "dim: 4 dim: 2") BOTTOM("b", "dim: 4 dim: 2") \
        BOTTOM("s", "dim: 4 dim: 1")
#define LOSS(param)                                                                  \
    "layer { name: 'l' type: 'ContrastiveLoss' bottom: 'a' bottom: 'b' bottom: 's' " \
    "contrastive_loss_param { " param " } }"

/* Distances of 5, 5, 0.5 and 0; the first and the last are alike, which a fraction is not. */
static void set_pairs(struct lab *lab)
{
    memcpy(lab_values(lab, "a"), (const float[]){3, 4, 3, 4, 0.5F, 0, 1, 1}, 8 * sizeof(float));
    memcpy(lab_values(lab, "b"), (const float[]){0, 0, 0, 0, 0, 0, 1, 1}, 8 * sizeof(float));
    memcpy(lab_values(lab, "s"), (const float[]){1, 0, 0.9F, -1}, 4 * sizeof(float));
}

static double loss_with(const char *net)
{
    struct lab lab = lab_of(net);
    float loss = 0;

    set_pairs(&lab);
    CHECK_OK(psd_net_forward(lab.net, &loss));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK_NEAR(lab_gradient(&lab, "a")[0], 3 / 4., 1e-6);
    CHECK_NEAR(lab_gradient(&lab, "b")[1], -4 / 4., 1e-6);
    CHECK(lab_gradient(&lab, "a")[7] == 0);
    CHECK(!psd_net_blob(lab.net, "s")->diff);
    lab_close(&lab);
    return (double)loss;
}

static void alike_pairs_cost_their_distance_and_others_what_they_lack(void)
{
    CHECK_NEAR(loss_with(DATA LOSS("")), (25 + 0 + 0.25 + 0) / 8, 1e-6);
    CHECK_NEAR(loss_with(DATA LOSS("margin: 6")), (25 + 1 + 30.25 + 0) / 8, 1e-5);
    CHECK_NEAR(loss_with(DATA LOSS("margin: 6 legacy_version: true")), (25 + 0 + 5.75 + 0) / 8,
               1e-6);
}

static void two_equal_samples_that_should_differ_have_a_gradient(void)
{
    struct lab lab = lab_of(DATA LOSS(""));

    set_pairs(&lab);
    lab_values(&lab, "s")[3] = 0;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(lab_gradient(&lab, "a")[6] == 0); /* and no division by 0 */
    lab_close(&lab);
}

static void set_alike(struct lab *lab)
{
    memcpy(lab_values(lab, "s"), (const float[]){1, 0, 0, 1}, 4 * sizeof(float));
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA LOSS("margin: 2.5"), set_alike);
    check_slopes(DATA LOSS("margin: 2.5 legacy_version: true"), set_alike);
    check_slopes("force_backward: true " BOTTOM("a", "dim: 4 dim: 2 dim: 3")
                     BOTTOM("b", "dim: 4 dim: 2 dim: 3") BOTTOM("s", "dim: 4") LOSS("margin: 3"),
                 set_alike);
}

static void shapes_that_do_not_fit_are_refused(void)
{
    CHECK_TEXT("test.prototxt:4:1: layer l: needs samples and their partners of one shape, but "
               "reads \"a\" of shape 4 2 (8) from layer a and \"b\" of shape 4 3 (12) from layer b",
               lab_refuses(BOTTOM("a", "dim: 4 dim: 2") BOTTOM("b", "dim: 4 dim: 3")
                               BOTTOM("s", "dim: 4") LOSS("")));
    CHECK_TEXT("test.prototxt:4:1: layer l: needs for each of the 4 pairs a number, not 0 where "
               "they are alike, but reads \"s\" of shape 4 2 (8) from layer s",
               lab_refuses(BOTTOM("a", "dim: 4 dim: 2") BOTTOM("b", "dim: 4 dim: 2")
                               BOTTOM("s", "dim: 4 dim: 2") LOSS("")));
}

int main(int argc, char **argv)
{
    RUN(alike_pairs_cost_their_distance_and_others_what_they_lack)
    RUN(two_equal_samples_that_should_differ_have_a_gradient)
    RUN(gradients_are_slopes)
    RUN(shapes_that_do_not_fit_are_refused)
}
