#include "slopes.h"

#define DATA(targets)                                                                             \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 't' input_param { shape " \
    "{ dim: 2 dim: 3 } shape { dim: " targets " } } }\n"
#define LOSS(param) \
    "layer { name: 'l' type: 'SigmoidCrossEntropyLoss' bottom: 'x' bottom: 't' " param " }"

/* All values are 0, so each place that counts adds log 2; two of six are ignored. */
static void every_way_of_dividing_the_sum(void)
{
    static const struct {
        const char *net;
        double logs;
    } cases[] = {
        {DATA("6") LOSS(""), 6 / 2.0},
        {DATA("6") LOSS("loss_param { ignore_label: 1 }"), 4 / 2.0},
        {DATA("6") LOSS("loss_param { ignore_label: 1 normalization: VALID }"), 1},
        {DATA("6") LOSS("loss_param { ignore_label: 1 normalization: FULL }"), 4 / 6.0},
        {DATA("6") LOSS("loss_param { ignore_label: 1 normalization: NONE }"), 4},
        {DATA("6") LOSS("loss_param { normalize: true }"), 1},
        {DATA("6") LOSS("loss_param { normalize: false }"), 3},
        {DATA("6") LOSS("loss_weight: 2"), 6},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = lab_of(cases[i].net);
        float loss = 0;
        lab_values(&lab, "t")[1] = lab_values(&lab, "t")[5] = 1;
        CHECK_OK(psd_net_forward(lab.net, &loss));
        CHECK_NEAR(loss, cases[i].logs * log(2), 1e-6);
        lab_close(&lab);
    }
}

static void large_values_do_no_harm(void)
{
    struct lab lab = lab_of(DATA("6") LOSS(""));
    float loss = 0;

    lab_values(&lab, "x")[0] = 1000;
    lab_values(&lab, "x")[1] = -1000;
    lab_values(&lab, "t")[0] = 0.25F;
    CHECK_OK(psd_net_forward(lab.net, &loss));
    CHECK_NEAR(loss, (750 + 4 * log(2)) / 2, 1e-3);
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK_NEAR(lab_gradient(&lab, "x")[0], 0.375, 1e-6);
    CHECK(lab_gradient(&lab, "x")[1] == 0);
    lab_close(&lab);
}

static void too_few_targets_are_refused(void)
{
    CHECK_TEXT(
        "test.prototxt:2:1: layer l: needs a target for each value, but reads \"x\" of shape "
        "2 3 (6) from layer d and \"t\" of shape 5 (5) from layer d",
        lab_refuses(DATA("5") LOSS("")));
}

static void a_second_top_has_the_probabilities(void)
{
    struct lab lab = lab_of(DATA("6") LOSS("top: 'loss' top: 'p' loss_param { ignore_label: 0 }"));

    lab_values(&lab, "x")[0] = 100;
    lab_values(&lab, "x")[5] = -1;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "p")->shape, &psd_net_blob(lab.net, "x")->shape));
    CHECK_NEAR(lab_values(&lab, "p")[0], 1, 1e-6);
    CHECK_NEAR(lab_values(&lab, "p")[1], 0.5, 1e-6);
    CHECK_NEAR(lab_values(&lab, "p")[5], 1 / (1 + exp(1)), 1e-6);
    CHECK_OK(psd_net_backward(lab.net, true));
    lab_close(&lab);
}

static void set_targets(struct lab *lab)
{
    memcpy(lab_values(lab, "t"), (const float[]){0, 1, .5F, 0, .25F, 1}, 6 * sizeof(float));
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA("6") LOSS(""), set_targets);
    check_slopes(DATA("6") LOSS("loss_param { ignore_label: 1 normalization: VALID }"),
                 set_targets);
    check_slopes(DATA("6") LOSS("loss_param { normalization: FULL } loss_weight: 3"), set_targets);
}

int main(int argc, char **argv)
{
    RUN(every_way_of_dividing_the_sum)
    RUN(large_values_do_no_harm)
    RUN(too_few_targets_are_refused)
    RUN(a_second_top_has_the_probabilities)
    RUN(gradients_are_slopes)
}
