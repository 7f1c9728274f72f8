#include "slopes.h"

#define DATA \
    "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 dim: 2 } } }\n"
#define FACTOR(dims) \
    "layer { name: 'f' type: 'Input' top: 's' input_param { shape { " dims " } } }\n"
#define SCALE(bottom, param)                                          \
    "layer { name: 'l' type: 'Scale' bottom: 'x' " bottom "top: 'y' " \
    "scale_param { " param " } }"

/* What value i is multiplied with and what is added, where factors count from 2 and biases from 10. */
static void check_span(const char *net, const float *factors, bool bias)
{
    struct lab lab = lab_of(net);
    const struct psd_layer *layer = psd_net_layer(lab.net, "l");
    float *scale =
        layer->n_bottom > 1 ? lab_values(&lab, "s") : psd_blob_values(&layer->params[0]->blob);
    size_t count = layer->n_bottom > 1 ? layer->bottom[1]->count : layer->params[0]->blob.count;

    CHECK(layer->n_params == (layer->n_bottom == 1) + (size_t)bias);
    for (size_t i = 0; i < count; i++) {
        scale[i] = (float)(i + 2);
        if (bias)
            psd_blob_values(&layer->params[layer->n_params - 1]->blob)[i] = (float)(i + 10);
    }
    for (int i = 0; i < 12; i++)
        lab_values(&lab, "x")[i] = 3;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    for (int i = 0; i < 12; i++)
        CHECK_NEAR(lab_values(&lab, "y")[i], 3 * factors[i] + (bias ? factors[i] + 8 : 0), 1e-5);
    lab_close(&lab);
}

static void a_factor_spans_the_axes_it_is_told(void)
{
    const float channels[] = {2, 2, 3, 3, 4, 4, 2, 2, 3, 3, 4, 4};
    const float rows[] = {2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3};
    const float all[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    const float last[] = {2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3};
    const float one[] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};

    check_span(DATA SCALE("", ""), channels, false);
    check_span(DATA SCALE("", "bias_term: true"), channels, true);
    check_span(DATA SCALE("", "axis: 0"), rows, false);
    check_span(DATA SCALE("", "axis: 0 num_axes: -1"), all, false);
    check_span(DATA SCALE("", "axis: -1"), last, false);
    check_span(DATA SCALE("", "num_axes: 0 bias_term: true"), one, true);
    check_span(DATA FACTOR("dim: 3") SCALE("bottom: 's' ", ""), channels, false);
    check_span(DATA FACTOR("dim: 3") SCALE("bottom: 's' ", "bias_term: true"), channels, true);
    check_span(DATA FACTOR("dim: 2") SCALE("bottom: 's' ", "axis: 0"), rows, false);
    check_span(DATA FACTOR("") SCALE("bottom: 's' ", ""), one, false);
}

static void factors_start_with_one_and_biases_with_zero(void)
{
    struct lab lab = lab_of(DATA SCALE("", "bias_term: true"));

    CHECK(psd_blob_values(&lab.net->params[0]->blob)[2] == 1);
    CHECK(psd_blob_values(&lab.net->params[1]->blob)[2] == 0);
    lab_close(&lab);
    lab = lab_of(DATA SCALE("", "filler { value: 4 } bias_term: true bias_filler { value: 5 }"));
    CHECK(psd_blob_values(&lab.net->params[0]->blob)[2] == 4);
    CHECK(psd_blob_values(&lab.net->params[1]->blob)[2] == 5);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(
        "force_backward: true " DATA SCALE("", "bias_term: true filler { type: 'xavier' }"), NULL);
    check_slopes("force_backward: true " DATA FACTOR("dim: 3 dim: 2")
                     SCALE("bottom: 's' ", "bias_term: true"),
                 NULL);
    check_slopes("force_backward: true " DATA SCALE("", "num_axes: 0"), NULL);
    check_slopes("force_backward: true "
                 "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 "
                 "dim: 4 dim: 5 } } }" SCALE("", "bias_term: true"),
                 NULL);
}

/* In place of its bottom it has a blob of its own, since the gradient of the factor needs it. */
static void in_place_it_keeps_its_bottom(void)
{
    check_slopes("force_backward: true " DATA
                 "layer { name: 'l' type: 'Scale' bottom: 'x' top: 'x' }"
                 "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'x' }",
                 NULL);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_TEXT("test.prototxt:2:68: layer l: num_axes is 3 from axis 1 on, but it reads \"x\" of "
               "shape 2 3 2 (12) from layer d",
               lab_refuses(DATA SCALE("", "num_axes: 3")));
    CHECK_TEXT("test.prototxt:2:68: layer l: num_axes is -2 from axis 1 on, but it reads \"x\" of "
               "shape 2 3 2 (12) from layer d",
               lab_refuses(DATA SCALE("", "num_axes: -2")));
    CHECK_TEXT("test.prototxt:2:68: layer l: axis is 3, but it reads \"x\" of shape 2 3 2 (12) "
               "from layer d",
               lab_refuses(DATA SCALE("", "axis: 3")));
    CHECK_TEXT("test.prototxt:3:1: layer l: from axis 1 on, \"x\" of shape 2 3 2 (12) from layer d "
               "does not have the shape of \"s\" of shape 2 (2) from layer f",
               lab_refuses(DATA FACTOR("dim: 2") SCALE("bottom: 's' ", "")));
    CHECK_TEXT("test.prototxt:3:1: layer l: from axis 2 on, \"x\" of shape 2 3 2 (12) from layer d "
               "does not have the shape of \"s\" of shape 2 1 (2) from layer f",
               lab_refuses(DATA FACTOR("dim: 2 dim: 1") SCALE("bottom: 's' ", "axis: 2")));
}

static void another_number_of_channels_is_refused(void)
{
    struct lab lab = lab_of(DATA SCALE("", ""));
    struct psd_shape wider = psd_shape_of(3, 2, 4, 2, 0);

    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "x"), &wider));
    CHECK_STATUS(PSD_ECONFIG,
                 psd_net_layer(lab.net, "l")->kind->reshape(psd_net_layer(lab.net, "l")));
    CHECK_TEXT("test.prototxt:2:1: layer l: has a parameter of shape 3 (3), but reads \"x\" of "
               "shape 2 4 2 (16) from layer d",
               psd_error());
    lab_close(&lab);
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA SCALE("", "bias_term: true"));
}

int main(int argc, char **argv)
{
    RUN(a_factor_spans_the_axes_it_is_told)
    RUN(factors_start_with_one_and_biases_with_zero)
    RUN(gradients_are_slopes)
    RUN(in_place_it_keeps_its_bottom)
    RUN(what_does_not_fit_is_refused)
    RUN(another_number_of_channels_is_refused)
    RUN(making_one_survives_every_failed_allocation)
}
