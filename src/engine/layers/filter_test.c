#include "slopes.h"

#define INPUT(name, shape)                                                                        \
    "layer { name: '" name "' type: 'Input' top: '" name "' input_param { shape { " shape " } } " \
    "}\n"
#define DATA                                                                        \
    "force_backward: true " INPUT("x", "dim: 4 dim: 3 dim: 2") INPUT("t", "dim: 4") \
        INPUT("s", "dim: 4 dim: 1")
#define LEARNED                         \
    INPUT("x0", "dim: 4 dim: 3 dim: 2") \
    INPUT("t", "dim: 4")                \
    INPUT("s", "dim: 4 dim: 1") "layer { name: 'x' type: 'Scale' bottom: 'x0' top: 'x' }\n"
#define FILTER                                                                             \
    "layer { name: 'f' type: 'Filter' bottom: 'x' bottom: 't' bottom: 's' top: 'fx' top: " \
    "'ft' }\n"
#define REST                                                                                   \
    "layer { name: 'r' type: 'Reshape' bottom: 'fx' top: 'r' reshape_param { shape { dim: -1 " \
    "dim: 6 } } }\n"                                                                           \
    "layer { name: 'i' type: 'InnerProduct' bottom: 'r' top: 'i' inner_product_param { "       \
    "num_output: 3 weight_filler { type: 'gaussian' std: 1 } } }\n"                            \
    "layer { name: 'b' type: 'Scale' bottom: 'i' top: 'b' scale_param { bias_term: true } }\n" \
    "layer { name: 'n' type: 'ReLU' bottom: 'b' top: 'b' }\n"                                  \
    "layer { name: 'a' type: 'Accuracy' bottom: 'b' bottom: 'ft' top: 'a' top: 'each' }\n"     \
    "layer { name: 'l' type: 'SoftmaxWithLoss' bottom: 'b' bottom: 'ft' top: 'loss' }\n"

static void set_selector(struct lab *lab, const float *selector)
{
    memcpy(lab_values(lab, "s"), selector, 4 * sizeof *selector);
    memcpy(lab_values(lab, "t"), (const float[]){0, 1, 2, 1}, 4 * sizeof(float));
}

static void selected_samples_come_through(void)
{
    struct lab lab = lab_of(DATA FILTER);
    struct psd_shape shape = psd_shape_of(3, 2, 3, 2, 0);

    set_selector(&lab, (const float[]){0, -1, 0, 0.5F});
    for (int i = 0; i < 24; i++)
        lab_values(&lab, "x")[i] = (float)i;
    CHECK(psd_net_blob(lab.net, "fx")->count == 24);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "fx")->shape, &shape));
    CHECK(psd_net_blob(lab.net, "ft")->count == 2);
    for (int i = 0; i < 12; i++)
        CHECK(lab_values(&lab, "fx")[i] == (float)(i < 6 ? i + 6 : i + 12));
    CHECK(lab_values(&lab, "ft")[0] == 1 && lab_values(&lab, "ft")[1] == 1);
    for (int i = 0; i < 12; i++)
        lab_gradient(&lab, "fx")[i] = (float)i + 1;
    CHECK_OK(psd_net_backward(lab.net, true));
    for (int i = 0; i < 24; i++)
        CHECK(lab_gradient(&lab, "x")[i] == (float)(i / 6 % 2 ? i % 6 + i / 18 * 6 + 1 : 0));
    CHECK(!psd_net_blob(lab.net, "s")->diff);
    lab_close(&lab);
}

static void select_three(struct lab *lab)
{
    set_selector(lab, (const float[]){1, 1, 0, 1});
}

/* Labels and selectors have no slope to look at; what is before the filter learns. */
static void gradients_are_slopes(void)
{
    check_slopes(DATA FILTER, select_three);
    check_slopes(LEARNED FILTER REST, select_three);
    check_slopes(LEARNED FILTER "layer { name: 'f2' type: 'Filter' bottom: 'fx' bottom: 'ft' top: "
                                "'y' loss_weight: 1 }",
                 select_three);
}

/* --- layers after it ---------------------------------------------------------------------------- */

/* The loss is that of a net that has the selected samples alone. */
static double loss_of_some(struct lab *lab, const float *selector)
{
    float loss = 0;

    set_selector(lab, selector);
    lab_scatter(lab_values(lab, "x"), 24, 9);
    CHECK_OK(psd_net_forward(lab->net, &loss));
    CHECK_OK(psd_net_backward(lab->net, true));
    return (double)loss;
}

static void numbers_of_samples_change_from_pass_to_pass(void)
{
    struct lab lab = lab_of(DATA FILTER REST);
    double each[4], sum = 0;

    for (int i = 0; i < 4; i++) {
        float one[4] = {0};
        one[i] = 1;
        each[i] = loss_of_some(&lab, one);
        CHECK(psd_net_blob(lab.net, "b")->shape.dim[0] == 1);
        sum += each[i];
    }
    CHECK_NEAR(loss_of_some(&lab, (const float[]){1, 1, 1, 1}), sum / 4, 1e-5);
    CHECK_NEAR(loss_of_some(&lab, (const float[]){1, 0, 0, 1}), (each[0] + each[3]) / 2, 1e-5);
    CHECK(psd_net_blob(lab.net, "b")->shape.dim[0] == 2);
    CHECK(!lab.net->reshaped);
    lab_close(&lab);
}

static void without_a_sample_there_is_no_loss_and_no_gradient(void)
{
    struct lab lab = lab_of(DATA FILTER REST);

    CHECK(loss_of_some(&lab, (const float[]){1, 1, 0, 1}) > 0);
    CHECK(loss_of_some(&lab, (const float[]){0, 0, 0, 0}) == 0);
    CHECK(psd_net_blob(lab.net, "r")->shape.dim[0] == 0 &&
          psd_net_blob(lab.net, "r")->shape.dim[1] == 6);
    CHECK(psd_net_blob(lab.net, "b")->count == 0);
    CHECK(lab_values(&lab, "a")[0] == 0 && psd_net_blob(lab.net, "each")->count == 3);
    for (size_t i = 0; i < lab.net->n_params; i++) {
        const struct psd_blob *blob = &lab.net->params[i]->blob;
        for (size_t k = 0; k < blob->count; k++)
            CHECK(psd_blob_gradient(blob)[k] == 0);
    }
    for (int i = 0; i < 24; i++)
        CHECK(lab_gradient(&lab, "x")[i] == 0);
    CHECK(loss_of_some(&lab, (const float[]){1, 1, 0, 1}) > 0); /* and it goes on */
    lab_close(&lab);
}

/* A gradient of nothing is added to that of the pass before. */
static void an_empty_pass_leaves_the_gradients_of_the_batch(void)
{
    struct lab lab = lab_of(DATA FILTER REST);
    float *gradient = psd_blob_gradient(&lab.net->params[0]->blob);

    loss_of_some(&lab, (const float[]){1, 1, 1, 1});
    float before = gradient[0];
    CHECK(before != 0);
    set_selector(&lab, (const float[]){0, 0, 0, 0});
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, false));
    CHECK(gradient[0] == before);
    lab_close(&lab);
}

static void what_is_selected_and_what_is_not_come_together_again(void)
{
    struct lab lab = lab_of(
        DATA
        "layer { name: 'not' type: 'Power' bottom: 's' top: 'o' power_param { scale: -1 shift: "
        "1 } }\n"
        "layer { name: 'f' type: 'Filter' bottom: 'x' bottom: 's' top: 'a' }\n"
        "layer { name: 'g' type: 'Filter' bottom: 'x' bottom: 'o' top: 'b' }\n"
        "layer { name: 'c' type: 'Concat' bottom: 'a' bottom: 'b' top: 'y' concat_param { "
        "axis: 0 } }\n");

    for (unsigned bits = 0; bits < 16; bits++) {
        float selector[4];
        for (unsigned i = 0; i < 4; i++)
            selector[i] = (float)(bits >> i & 1);
        set_selector(&lab, selector);
        lab_scatter(lab_values(&lab, "x"), 24, 2);
        CHECK_OK(psd_net_forward(lab.net, NULL));
        CHECK(psd_net_blob(lab.net, "y")->shape.dim[0] == 4);
        memcpy(lab_gradient(&lab, "y"), lab_values(&lab, "y"), 24 * sizeof(float));
        CHECK_OK(psd_net_backward(lab.net, true));
        for (int i = 0; i < 24; i++)
            CHECK(lab_gradient(&lab, "x")[i] == lab_values(&lab, "x")[i]);
    }
    lab_close(&lab);
}

/* A pass that fails half way leaves shapes of which the next one knows nothing. */
static void a_failed_pass_does_not_spoil_the_next(void)
{
    struct lab lab = lab_of(DATA FILTER REST);

    set_selector(&lab, (const float[]){1, 1, 0, 0});
    lab_values(&lab, "t")[0] = 7;
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK(loss_of_some(&lab, (const float[]){1, 1, 0, 0}) > 0);
    CHECK(psd_net_blob(lab.net, "b")->shape.dim[0] == 2);
    lab_close(&lab);
}

static void outputs_keep_their_places(void)
{
    struct lab lab = lab_of(DATA FILTER);
    float outputs[28];

    CHECK(psd_net_count_outputs(lab.net) == 28);
    set_selector(&lab, (const float[]){0, 0, 1, 0});
    lab_scatter(lab_values(&lab, "x"), 24, 2);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_net_count_outputs(lab.net) == 28);
    psd_net_get_outputs(lab.net, outputs); /* ft, then fx */
    CHECK(outputs[0] == 2 && outputs[1] == 0 && outputs[3] == 0);
    CHECK(same_bits(outputs + 4, lab_values(&lab, "x") + 12, 6 * sizeof(float)));
    CHECK(outputs[10] == 0 && outputs[27] == 0);
    lab_close(&lab);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_TEXT(
        "test.prototxt:3:1: layer f: selects by one value a sample, but not by \"s\" of "
        "shape 4 2 (8) from layer s",
        lab_refuses(INPUT("x", "dim: 4 dim: 3") INPUT(
            "s",
            "dim: 4 dim: 2") "layer { name: 'f' type: 'Filter' bottom: 'x' bottom: 's' top: 'y' "
                             "}"));
    CHECK_TEXT(
        "test.prototxt:3:1: layer f: needs a value to select by for each sample of \"x\" of "
        "shape 4 3 (12) from layer x, but reads \"s\" of shape 5 (5) from layer s",
        lab_refuses(INPUT("x", "dim: 4 dim: 3") INPUT(
            "s", "dim: 5") "layer { name: 'f' type: 'Filter' bottom: 'x' bottom: 's' top: 'y' "
                           "}"));
    CHECK_TEXT(
        "test.prototxt:3:1: layer f: has 2 tops for 1 bottoms and the selector; give a top "
        "for each",
        lab_refuses(INPUT("x", "dim: 4 dim: 3") INPUT(
            "s", "dim: 4") "layer { name: 'f' type: 'Filter' bottom: 'x' bottom: 's' top: 'y' "
                           "top: 'z' }"));
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA FILTER REST);
}

/* Shapes for no samples take memory, and may find none. */
static void a_pass_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct lab lab = lab_of(DATA FILTER REST);
        set_selector(&lab, (const float[]){0, 0, 0, 0});
        psd_alloc_fail_at(n);
        psd_status status = psd_net_forward(lab.net, NULL);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(loss_of_some(&lab, (const float[]){1, 0, 1, 0}) > 0);
        lab_close(&lab);
    }
}

int main(int argc, char **argv)
{
    RUN(selected_samples_come_through)
    RUN(gradients_are_slopes)
    RUN(numbers_of_samples_change_from_pass_to_pass)
    RUN(without_a_sample_there_is_no_loss_and_no_gradient)
    RUN(an_empty_pass_leaves_the_gradients_of_the_batch)
    RUN(what_is_selected_and_what_is_not_come_together_again)
    RUN(a_failed_pass_does_not_spoil_the_next)
    RUN(outputs_keep_their_places)
    RUN(what_does_not_fit_is_refused)
    RUN(making_one_survives_every_failed_allocation)
    RUN(a_pass_survives_every_failed_allocation)
}
