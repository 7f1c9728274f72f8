#include "slopes.h"

#define DATA(steps)                                                                         \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 'c' input_param { " \
    "shape { dim: " steps " dim: 2 dim: 3 } shape { dim: " steps " dim: 2 } } }\n"
#define STATIC \
    "layer { name: 's' type: 'Input' top: 's' input_param { shape { dim: 2 dim: 4 } } }\n"
#define RNN(more, param)                                                                      \
    "layer { name: 'l' type: 'RNN' bottom: 'x' bottom: 'c' " more " recurrent_param { "       \
    "num_output: 5 weight_filler { type: 'uniform' min: -0.6 max: 0.6 } bias_filler { type: " \
    "'uniform' min: -0.3 max: 0.3 } " param " } }"

static void fill_cont(struct lab *lab)
{
    size_t count = psd_net_blob(lab->net, "c")->count;

    for (size_t i = 0; i < count; i++)
        lab_values(lab, "c")[i] = i != 0 && i != 5 ? 1 : 0;
}

/* Weights and inputs of 1 make it tanh(tanh(1 + tanh(1 ...))). */
static void the_state_goes_through_two_tanhs(void)
{
    struct lab lab = lab_of(
        "layer { name: 'd' type: 'Input' top: 'x' top: 'c' input_param { shape { dim: 2 dim: 1 "
        "dim: 1 } shape { dim: 2 dim: 1 } } }"
        "layer { name: 'l' type: 'RNN' bottom: 'x' bottom: 'c' top: 'y' recurrent_param { "
        "num_output: 1 weight_filler { value: 1 } bias_filler { value: 0.5 } } }");

    CHECK(lab.net->n_params == 5);
    for (int i = 0; i < 2; i++)
        lab_values(&lab, "x")[i] = lab_values(&lab, "c")[i] = 1;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    double first = tanh(1.5), second = tanh(1.5 + first);
    CHECK_NEAR(lab_values(&lab, "y")[0], tanh(first + 0.5), 1e-6);
    CHECK_NEAR(lab_values(&lab, "y")[1], tanh(second + 0.5), 1e-6);
    lab_close(&lab);
}

static void its_state_is_carried_as_its_own(void)
{
    struct lab lab = lab_of(DATA("3") RNN("top: 'y'", ""));
    const struct psd_layer *layer = psd_net_layer(lab.net, "l");

    CHECK(layer->n_carried == 1 && layer->carried[0].kind == PSD_CARRY_OWN);
    CHECK(layer->carried[0].blob->count == 10);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA("4") RNN("top: 'y'", ""), fill_cont);
    check_slopes(DATA("3") STATIC RNN("bottom: 's' top: 'y'", ""), fill_cont);
    check_slopes(DATA("3") RNN("top: 'y'", "") "layer { name: 'r' type: 'ReLU' bottom: 'y' top: "
                                               "'y' relu_param { negative_slope: 0.5 } }",
                 fill_cont);
}

static void exposed_states_are_bottoms_and_tops(void)
{
    struct lab lab = lab_of(DATA("3") "layer { name: 's' type: 'Input' top: 'h0' input_param { "
                                      "shape { dim: 1 dim: 2 dim: 5 } } }" RNN(
                                          "bottom: 'h0' top: 'y' top: 'h'", "expose_hidden: true"));

    fill_cont(&lab);
    lab_scatter(lab_values(&lab, "h0"), 10, 3);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    float before = lab_values(&lab, "h")[9];
    lab_values(&lab, "h0")[5] += 1;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(lab_values(&lab, "h")[9] == before); /* its stream starts again in step 2 */
    CHECK(psd_net_layer(lab.net, "l")->n_carried == 0);
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(lab_gradient(&lab, "h0")[0] == 0);
    lab_close(&lab);
}

static void its_cost_has_the_output_too(void)
{
    struct lab lab = lab_of(DATA("3") RNN("top: 'y'", ""));
    const struct psd_layer *layer = psd_net_layer(lab.net, "l");

    CHECK_NEAR(layer->kind->macs(layer), 3 * 2 * 5 * (3 + 5) + 3 * 2 * 5 * 5, 0);
    lab_close(&lab);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_TEXT("test.prototxt:2:1: layer l: has no num_output; 1 is the least",
               lab_refuses(DATA("3") "layer { name: 'l' type: 'RNN' bottom: 'x' bottom: 'c' top: "
                                     "'y' }"));
    CHECK_TEXT("test.prototxt:2:1: layer l: with expose_hidden true it has 3 or 4 bottoms and 2 "
               "tops, not 2 and 1",
               lab_refuses(DATA("3") RNN("top: 'y'", "expose_hidden: true")));
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA("2") STATIC RNN("bottom: 's' top: 'y'", ""));
}

int main(int argc, char **argv)
{
    RUN(the_state_goes_through_two_tanhs)
    RUN(its_state_is_carried_as_its_own)
    RUN(gradients_are_slopes)
    RUN(exposed_states_are_bottoms_and_tops)
    RUN(its_cost_has_the_output_too)
    RUN(what_does_not_fit_is_refused)
    RUN(making_one_survives_every_failed_allocation)
}
