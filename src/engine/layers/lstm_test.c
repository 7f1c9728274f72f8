#include "slopes.h"

#define DATA(steps)                                                                         \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 'c' input_param { " \
    "shape { dim: " steps " dim: 2 dim: 3 } shape { dim: " steps " dim: 2 } } }\n"
#define STATES                                                                          \
    "layer { name: 's' type: 'Input' top: 'h0' top: 'c0' input_param { shape { dim: 1 " \
    "dim: 2 dim: 5 } shape { dim: 1 dim: 2 dim: 5 } } }\n"
#define STATIC \
    "layer { name: 's' type: 'Input' top: 's' input_param { shape { dim: 2 dim: 4 } } }\n"
#define LSTM(more, param)                                                                     \
    "layer { name: 'l' type: 'LSTM' bottom: 'x' bottom: 'c' " more " recurrent_param { "      \
    "num_output: 5 weight_filler { type: 'uniform' min: -0.6 max: 0.6 } bias_filler { type: " \
    "'uniform' min: -0.3 max: 0.3 } " param " } }"
#define PLAIN LSTM("top: 'y'", "")

static const size_t in_step = 6, out_step = 10; /* floats */

enum { ALL = 60 }; /* outputs of six steps */

/* Streams go on, but for the first step and the second stream's third. */
static void fill_cont(struct lab *lab)
{
    size_t steps = psd_net_blob(lab->net, "c")->shape.dim[0];

    for (size_t i = 0; i < steps * 2; i++)
        lab_values(lab, "c")[i] = i != 0 && i != 5 ? 1 : 0;
}

/* --- state ------------------------------------------------------------------------------------ */

/* Six steps in passes of `steps`, where the sequence starts with step 0 and with step `again`. */
static void run_steps(const char *text, size_t steps, size_t again, float *out)
{
    struct lab lab = lab_of(text);

    for (size_t first = 0; first < 6; first += steps) {
        for (size_t i = 0; i < steps * in_step; i++)
            lab_values(&lab, "x")[i] = (float)((first * in_step + i) * 37 % 100) / 50 - 1;
        for (size_t i = 0; i < steps * 2; i++)
            lab_values(&lab, "c")[i] = first + i / 2 != 0 && first + i / 2 != again ? 1 : 0;
        CHECK_OK(psd_net_forward(lab.net, NULL));
        memcpy(out + first * out_step, lab_values(&lab, "y"), steps * out_step * sizeof *out);
    }
    lab_close(&lab);
}

static void a_pass_goes_on_where_the_last_one_ended(void)
{
    for (size_t again = 2; again <= 6; again++) {
        float whole[ALL], halves[ALL];
        run_steps(DATA("6") PLAIN, 6, again, whole);
        run_steps(DATA("3") PLAIN, 3, again, halves);
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
            CHECK_NEAR(halves[i], whole[i], 1e-6);
    }
}

static void a_sequence_that_starts_knows_nothing_of_others(void)
{
    float on[ALL], again[ALL];

    run_steps(DATA("3") PLAIN, 3, 6, on);
    run_steps(DATA("3") PLAIN, 3, 3, again);
    CHECK(same_bits(on, again, 3 * out_step * sizeof *on));
    CHECK(!same_bits(on + 3 * out_step, again + 3 * out_step, out_step * sizeof *on));
}

static void its_state_is_carried_as_its_own(void)
{
    struct lab lab = lab_of(DATA("3") PLAIN);
    const struct psd_layer *layer = psd_net_layer(lab.net, "l");
    float first[ALL / 2];

    CHECK(layer->n_carried == 1 && layer->carried[0].kind == PSD_CARRY_OWN);
    struct psd_blob *carried = layer->carried[0].blob;
    CHECK(carried->count == 2 * out_step);
    for (int i = 0; i < 6; i++)
        lab_values(&lab, "c")[i] = 1;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    memcpy(first, lab_values(&lab, "y"), sizeof first);
    CHECK(same_bits(psd_blob_values(carried) + out_step, first + 2 * out_step,
                    out_step * sizeof(float)));
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(!same_bits(lab_values(&lab, "y"), first, sizeof first));
    memset(psd_blob_values(carried), 0, carried->count * sizeof(float));
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(same_bits(lab_values(&lab, "y"), first, sizeof first));
    lab_close(&lab);
}

static void exposed_states_are_bottoms_and_tops(void)
{
    struct lab lab = lab_of(DATA("3") STATES LSTM(
        "bottom: 'h0' bottom: 'c0' top: 'y' top: 'h' top: 'cells'", "expose_hidden: true"));

    CHECK(psd_net_layer(lab.net, "l")->n_carried == 0);
    fill_cont(&lab);
    lab_scatter(lab_values(&lab, "h0"), out_step, 3);
    lab_scatter(lab_values(&lab, "c0"), out_step, 4);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(same_bits(lab_values(&lab, "h"), lab_values(&lab, "y") + 2 * out_step,
                    out_step * sizeof(float)));
    float before = lab_values(&lab, "y")[out_step / 2], other = lab_values(&lab, "y")[0];
    lab_values(&lab, "c0")[out_step / 2] += 1; /* of the stream that goes on */
    lab_values(&lab, "c0")[0] += 1;            /* of the one that starts anew */
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(lab_values(&lab, "y")[out_step / 2] != before && lab_values(&lab, "y")[0] == other);
    lab_close(&lab);
}

/* --- gradients ---------------------------------------------------------------------------------- */

static void gradients_are_slopes(void)
{
    check_slopes(DATA("4") PLAIN, fill_cont);
    check_slopes(DATA("1") PLAIN, fill_cont);
    check_slopes(DATA("4") STATIC LSTM("bottom: 's' top: 'y'", ""), fill_cont);
}

static void a_second_pass_adds_to_the_gradients(void)
{
    struct lab lab = lab_of(DATA("3") STATIC LSTM("bottom: 's' top: 'y' loss_weight: 1", ""));
    const struct psd_layer *layer = psd_net_layer(lab.net, "l");
    float once[4];

    lab_scatter(lab_values(&lab, "x"), 3 * in_step, 1);
    lab_scatter(lab_values(&lab, "s"), 8, 2);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    for (size_t i = 0; i < 4; i++)
        once[i] = psd_blob_gradient(&layer->params[i]->blob)[1];
    CHECK_OK(psd_net_backward(lab.net, false));
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(psd_blob_gradient(&layer->params[i]->blob)[1], 2 * once[i], 1e-5);
    lab_close(&lab);
}

/* --- shapes -------------------------------------------------------------------------------------- */

static void more_steps_and_streams_may_come(void)
{
    struct lab lab = lab_of(DATA("3") PLAIN);
    struct psd_shape x = psd_shape_of(3, 5, 4, 3, 0), c = psd_shape_of(2, 5, 4, 0, 0);

    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "x"), &x));
    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "c"), &c));
    CHECK_OK(psd_net_layer(lab.net, "l")->kind->reshape(psd_net_layer(lab.net, "l")));
    CHECK(psd_net_blob(lab.net, "y")->count == (size_t)5 * 4 * 5);
    CHECK(psd_blob_values(psd_net_layer(lab.net, "l")->carried[0].blob)[3] == 0);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    lab_close(&lab);
}

static void its_cost_is_its_weights_for_each_step(void)
{
    struct lab lab = lab_of(DATA("3") STATIC LSTM("bottom: 's' top: 'y'", ""));
    const struct psd_layer *layer = psd_net_layer(lab.net, "l");

    CHECK_NEAR(layer->kind->macs(layer), 3 * 2 * 20 * (3 + 5) + 2 * 20 * 4, 0);
    lab_close(&lab);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_TEXT("test.prototxt:2:1: layer l: has no num_output; 1 is the least",
               lab_refuses(DATA("3") "layer { name: 'l' type: 'LSTM' bottom: 'x' bottom: 'c' top: "
                                     "'y' }"));
    CHECK_TEXT("test.prototxt:2:1: layer l: with expose_hidden true it has 4 or 5 bottoms and 3 "
               "tops, not 2 and 1",
               lab_refuses(DATA("3") LSTM("top: 'y'", "expose_hidden: true")));
    CHECK_TEXT("test.prototxt:2:1: layer l: with expose_hidden false it has 2 or 3 bottoms and 1 "
               "tops, not 2 and 2",
               lab_refuses(DATA("3") LSTM("top: 'y' top: 'h'", "")));
    CHECK_TEXT("test.prototxt:2:1: layer l: the second bottom has a number for each step and "
               "stream, but for \"x\" of shape 3 2 3 (18) from layer d it reads \"x\" of shape 3 2 "
               "3 (18) from layer d",
               lab_refuses(DATA("3") "layer { name: 'l' type: 'LSTM' bottom: 'x' bottom: 'x' top: "
                                     "'y' recurrent_param { num_output: 5 } }"));
    CHECK_TEXT("test.prototxt:2:1: layer l: reads steps, streams and inputs, but not \"c\" of "
               "shape 3 2 (6) from layer d",
               lab_refuses(DATA("3") "layer { name: 'l' type: 'LSTM' bottom: 'c' bottom: 'c' top: "
                                     "'y' recurrent_param { num_output: 5 } }"));
    CHECK_TEXT(
        "test.prototxt:2:1: layer l: a static input has a row for each stream, but for "
        "\"x\" of shape 3 2 3 (18) from layer d it reads \"c\" of shape 3 2 (6) from layer d",
        lab_refuses(DATA("3") LSTM("bottom: 'c' top: 'y'", "")));
    CHECK_TEXT("test.prototxt:3:1: layer l: a first state has the shape 1, streams, outputs, but "
               "for \"x\" of shape 3 2 3 (18) from layer d it reads \"x\" of shape 3 2 3 (18) from "
               "layer d",
               lab_refuses(DATA("3") STATES LSTM(
                   "bottom: 'h0' bottom: 'x' top: 'y' top: 'h' top: 'k'", "expose_hidden: true")));
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA("2") STATIC LSTM("bottom: 's' top: 'y'", ""));
}

int main(int argc, char **argv)
{
    RUN(a_pass_goes_on_where_the_last_one_ended)
    RUN(a_sequence_that_starts_knows_nothing_of_others)
    RUN(its_state_is_carried_as_its_own)
    RUN(exposed_states_are_bottoms_and_tops)
    RUN(gradients_are_slopes)
    RUN(a_second_pass_adds_to_the_gradients)
    RUN(more_steps_and_streams_may_come)
    RUN(its_cost_is_its_weights_for_each_step)
    RUN(what_does_not_fit_is_refused)
    RUN(making_one_survives_every_failed_allocation)
}
