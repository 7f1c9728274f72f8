#include "slopes.h"

#define DATA                                                                 \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 'l'" \
    "        input_param { shape { dim: 2 dim: 3 dim: 2 } shape { dim: 2 dim: 2 } } }\n"
#define LOSS(more) "layer { name: 's' type: 'SoftmaxWithLoss' bottom: 'x' bottom: 'l' " more " }"

/* All scores are equal, so each place that counts adds log 3. */
static float loss_with(const char *param)
{
    char net[600];
    float loss = 0;

    snprintf(net, sizeof net,
             DATA "layer { name: 's' type: 'SoftmaxWithLoss' bottom: 'x' "
                  "bottom: 'l' %s }",
             param);
    struct lab lab = lab_of(net);
    for (int i = 0; i < 12; i++)
        lab_values(&lab, "x")[i] = 1;
    memcpy(lab_values(&lab, "l"), (const float[]){0, 1, 2, 2}, 4 * sizeof(float));
    CHECK_OK(psd_net_forward(lab.net, &loss));
    lab_close(&lab);
    return loss;
}

/* Of 4 places 2 have the label 2. */
static void every_way_of_dividing_the_sum(void)
{
    static const struct {
        const char *param;
        double logs;
    } cases[] = {
        {"", 1},
        {"loss_param { ignore_label: 2 }", 1},
        {"loss_param { ignore_label: 2 normalization: VALID }", 1},
        {"loss_param { ignore_label: 2 normalization: FULL }", 0.5},
        {"loss_param { ignore_label: 2 normalization: BATCH_SIZE }", 1},
        {"loss_param { ignore_label: 2 normalization: NONE }", 2},
        {"loss_param { normalize: false }", 2},
        {"loss_param { normalize: true ignore_label: 2 }", 1},
        {"loss_param { normalize: false normalization: NONE }", 4},
        {"loss_weight: 3", 3},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].param);
        CHECK_NEAR(loss_with(cases[i].param), cases[i].logs * log(3), 1e-6);
    }
}

static void a_second_top_has_the_probabilities(void)
{
    struct lab lab = lab_of(DATA LOSS("top: 'loss' top: 'p'"));

    lab_values(&lab, "x")[0] = 100;
    memset(lab_values(&lab, "l"), 0, 4 * sizeof(float));
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "p")->shape, &psd_net_blob(lab.net, "x")->shape));
    CHECK_NEAR(lab_values(&lab, "p")[0], 1, 1e-6);
    CHECK_NEAR(lab_values(&lab, "p")[1], 1. / 3, 1e-6);
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK_NEAR(lab_gradient(&lab, "x")[1], (1. / 3 - 1) / 4, 1e-6);
    lab_close(&lab);
}

static void a_top_that_is_not_named_is_made(void)
{
    struct lab lab = lab_of(DATA LOSS(""));

    CHECK(lab.net->n_outputs == 1);
    CHECK_TEXT("(automatic)", lab.net->blob_names[lab.net->outputs[0]]);
    CHECK(psd_net_layer(lab.net, "s")->top[0]->count == 1);
    lab_close(&lab);
}

static void a_label_that_is_no_class_is_refused(void)
{
    struct lab lab = lab_of(DATA LOSS(""));

    lab_values(&lab, "l")[0] = 3;
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK(strncmp(psd_error(), "test.prototxt:2:1: layer s: ", 28) == 0);
    lab_close(&lab);
}

static void set_labels(struct lab *lab)
{
    memcpy(lab_values(lab, "l"), (const float[]){0, 1, 2, 2}, 4 * sizeof(float));
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA LOSS(""), set_labels);
    check_slopes(DATA LOSS("softmax_param { axis: -2 } loss_param { normalization: NONE }"),
                 set_labels);
    check_slopes(DATA LOSS("loss_param { ignore_label: 2 }"), set_labels);
    check_slopes(DATA LOSS("loss_param { ignore_label: 2 normalization: FULL } loss_weight: 3"),
                 set_labels);
}

int main(int argc, char **argv)
{
    RUN(every_way_of_dividing_the_sum)
    RUN(a_second_top_has_the_probabilities)
    RUN(a_top_that_is_not_named_is_made)
    RUN(a_label_that_is_no_class_is_refused)
    RUN(gradients_are_slopes)
}
