#include "slopes.h"

#define DATA "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }\n"
#define EMBED(param)                                                                           \
    "layer { name: 'l' type: 'Embed' bottom: 'x' top: 'y' loss_weight: 1 embed_param { " param \
    " } }"
#define SIZES "num_output: 2 input_dim: 4 "
#define FILLERS \
    "weight_filler { type: 'gaussian' std: 1 } bias_filler { type: 'constant' value: 10 } "

static void set_numbers(struct lab *lab)
{
    memcpy(lab_values(lab, "x"), (const float[]){3, 0, 3, 1, 1.9F, 0}, 6 * sizeof(float));
}

static void check_rows(const char *net, float bias)
{
    struct lab lab = lab_of(net);
    struct psd_shape shape = psd_shape_of(3, 2, 3, 2, 0);
    const size_t numbers[] = {3, 0, 3, 1, 1, 0};
    const float *weights = psd_blob_values(&psd_net_layer(lab.net, "l")->params[0]->blob);

    set_numbers(&lab);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "y")->shape, &shape));
    for (size_t i = 0; i < 12; i++)
        CHECK_NEAR(lab_values(&lab, "y")[i], weights[numbers[i / 2] * 2 + i % 2] + bias, 1e-6);
    lab_close(&lab);
}

static void every_number_becomes_its_row(void)
{
    check_rows(DATA EMBED(SIZES FILLERS), 10);
    check_rows(DATA EMBED(SIZES FILLERS "bias_term: false"), 0);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA EMBED(SIZES FILLERS), set_numbers);
    check_slopes("force_backward: true " DATA EMBED(SIZES FILLERS "bias_term: false"), set_numbers);
}

/* Both layers add to one gradient, and a second pass without clear to that. */
static void shared_rows_have_one_gradient(void)
{
    struct lab lab = lab_of(
        DATA "layer { name: 'a' type: 'Embed' bottom: 'x' top: 'ya' loss_weight: 1 param { name: "
             "'w' } embed_param { num_output: 1 input_dim: 4 bias_term: false } }"
             "layer { name: 'b' type: 'Embed' bottom: 'x' top: 'yb' loss_weight: 2 param { name: "
             "'w' } embed_param { num_output: 1 input_dim: 4 bias_term: false } }");
    const float wanted[] = {6, 6, 0, 6}; /* each of 0, 1 and 3 is there twice */

    CHECK(lab.net->n_params == 1);
    for (int pass = 0; pass < 3; pass++) {
        set_numbers(&lab);
        CHECK_OK(psd_net_forward(lab.net, NULL));
        CHECK_OK(psd_net_backward(lab.net, pass < 2));
        for (int i = 0; i < 4; i++)
            CHECK(psd_blob_gradient(&lab.net->params[0]->blob)[i] ==
                  wanted[i] * (pass < 2 ? 1 : 2));
    }
    lab_close(&lab);
}

static void numbers_without_a_row_are_refused(void)
{
    struct lab lab = lab_of(DATA EMBED(SIZES));

    lab_values(&lab, "x")[5] = 4;
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK_TEXT("test.prototxt:2:1: layer l: number 4 is not one of 0 to 3", psd_error());
    lab_values(&lab, "x")[5] = -1;
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK_TEXT("test.prototxt:2:1: layer l: number -1 is not one of 0 to 3", psd_error());
    lab_close(&lab);
}

static void impossible_parameters_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:69: layer l: has no num_output; 1 is the least",
               lab_refuses(DATA EMBED("input_dim: 4")));
    CHECK_TEXT("test.prototxt:2:69: layer l: has no input_dim; 1 is the least",
               lab_refuses(DATA EMBED("num_output: 2")));
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA EMBED(SIZES FILLERS));
}

int main(int argc, char **argv)
{
    RUN(every_number_becomes_its_row)
    RUN(gradients_are_slopes)
    RUN(shared_rows_have_one_gradient)
    RUN(numbers_without_a_row_are_refused)
    RUN(impossible_parameters_are_refused)
    RUN(making_one_survives_every_failed_allocation)
}
