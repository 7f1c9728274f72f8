#include "slopes.h"

#define DATA \
    "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 dim: 4 } } }\n"
#define IP(param)                                                                 \
    "layer { name: 'i' type: 'InnerProduct' bottom: 'x' top: 'y' loss_weight: 1 " \
    "inner_product_param { num_output: 5 weight_filler { type: 'xavier' } " param " } }"

static void impossible_parameters_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:1: layer i: has no num_output; 1 is the least",
               lab_refuses(DATA "layer { name: 'i' type: 'InnerProduct' bottom: 'x' top: 'y' }"));
    CHECK_TEXT("test.prototxt:2:145: layer i: axis is 3, but it reads \"x\" of shape 2 3 4 (24) "
               "from layer d",
               lab_refuses(DATA IP("axis: 3")));
}

static void its_cost_is_its_weights_for_each_row(void)
{
    static const struct {
        const char *net;
        double macs;
    } cases[] = {
        {DATA IP(""), 2 * 12 * 5},
        {DATA IP("axis: 2"), 2 * 3 * 4 * 5},
        {DATA IP("transpose: true"), 2 * 12 * 5},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = lab_of(cases[i].net);
        const struct psd_layer *layer = psd_net_layer(lab.net, "i");
        CHECK_NEAR(layer->kind->macs(layer), cases[i].macs, 0);
        lab_close(&lab);
    }
}

/* --- factors ---------------------------------------------------------------------------------- */

/* What whoever wants factors makes of them: the product, as large as the weights. */
struct taker {
    bool wants;
    size_t batch, rows, cols;
    float product[100];
    unsigned ready; /* gradients that came whole */
};

static bool wants_factors(void *context, const struct psd_param *param)
{
    return ((struct taker *)context)->wants && param->index == 0;
}

static psd_status factors_ready(void *context, struct psd_param *param, struct psd_tensor u,
                                struct psd_tensor v, size_t batch)
{
    struct taker *taker = context;
    const float *left = psd_tensor_host(u), *right = psd_tensor_host(v);

    taker->batch = batch;
    taker->rows = param->blob.shape.dim[0];
    taker->cols = param->blob.shape.dim[1];
    for (size_t b = 0; b < batch; b++) {
        for (size_t i = 0; i < taker->rows * taker->cols; i++)
            taker->product[i] +=
                left[b * taker->rows + i / taker->cols] * right[b * taker->cols + i % taker->cols];
    }
    return PSD_OK;
}

static psd_status gradient_ready(void *context, struct psd_param *param)
{
    (void)param;
    ((struct taker *)context)->ready++;
    return PSD_OK;
}

static void check_factors(const char *text, size_t batch)
{
    struct taker taker = {.wants = false};
    struct lab lab = lab_with(text, &(struct psd_net_options){.hooks = {
                                                                  .context = &taker,
                                                                  .wants_factors = wants_factors,
                                                                  .factors_ready = factors_ready,
                                                                  .gradient_ready = gradient_ready,
                                                              }});
    const struct psd_blob *weights = &lab.net->params[0]->blob, *bias = &lab.net->params[1]->blob;

    lab_scatter(lab_values(&lab, "x"), 24, 9);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(taker.batch == 0 && taker.ready == 2);
    taker.wants = true;
    float sum = psd_blob_gradient(bias)[0];
    CHECK_OK(
        psd_net_backward(lab.net, false)); /* the weights' gradient stays, the bias' is added */
    CHECK(taker.ready == 3);               /* the bias' alone */
    CHECK(taker.batch == batch && taker.rows * taker.cols == weights->count);
    for (size_t i = 0; i < weights->count; i++)
        CHECK_NEAR(taker.product[i], psd_blob_gradient(weights)[i], 1e-5);
    CHECK_NEAR(psd_blob_gradient(bias)[0], 2 * sum, 1e-5);
    lab_close(&lab);
}

static void factors_are_the_gradient_in_two_parts(void)
{
    check_factors(DATA IP(""), 2);
    check_factors(DATA IP("transpose: true"), 2);
    check_factors(DATA IP("axis: 2"), 6);
    check_factors(DATA IP("axis: -1 transpose: true"), 6);
}

static void gradients_are_slopes(void)
{
    check_slopes("force_backward: true " DATA IP(""), NULL);
    check_slopes("force_backward: true " DATA IP("axis: -1 bias_term: false"), NULL);
    check_slopes("force_backward: true " DATA IP("axis: 2 transpose: true"), NULL);
}

int main(int argc, char **argv)
{
    RUN(impossible_parameters_are_refused)
    RUN(its_cost_is_its_weights_for_each_row)
    RUN(factors_are_the_gradient_in_two_parts)
    RUN(gradients_are_slopes)
}
