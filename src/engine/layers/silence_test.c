#include "slopes.h"

#define DATA                                                                                    \
    "layer { name: 'd' type: 'Input' top: 'x' top: 'z' input_param { shape { dim: 2 } shape { " \
    "dim: 2 } } }\n"
#define SILENCE "layer { name: 's' type: 'Silence' bottom: 'x' bottom: 'z' }"

static void what_it_reads_is_no_output(void)
{
    struct lab lab = lab_of(DATA SILENCE);

    CHECK(lab.net->n_outputs == 0);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    lab_close(&lab);
}

static void its_gradients_are_zero(void)
{
    struct lab lab = lab_of("force_backward: true " DATA SILENCE);

    lab_gradient(&lab, "x")[1] = 7;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(lab_gradient(&lab, "x")[1] == 0);
    lab_close(&lab);
}

/* Of a blob with two readers, the other one's gradient is the whole. */
static void it_adds_nothing_to_the_gradient_of_others(void)
{
    struct lab lab =
        lab_of(DATA "layer { name: 'i' type: 'InnerProduct' bottom: 'x' top: 'y' "
                    "inner_product_param { num_output: 1 axis: 0 weight_filler { value: 1 } } }"
                    "layer { name: 'l' type: 'Reduction' bottom: 'y' top: 'r' loss_weight: 3 }"
                    "layer { name: 's' type: 'Silence' bottom: 'y' }");

    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(psd_blob_gradient(&lab.net->params[1]->blob)[0] == 3);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(
        "force_backward: true " DATA SILENCE
        "layer { name: 'i' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param { "
        "num_output: 3 axis: 0 weight_filler { type: 'gaussian' } } }"
        "layer { name: 't' type: 'TanH' bottom: 'y' top: 'w' }"
        "layer { name: 'u' type: 'Silence' bottom: 'y' }",
        NULL);
}

int main(int argc, char **argv)
{
    RUN(what_it_reads_is_no_output)
    RUN(its_gradients_are_zero)
    RUN(it_adds_nothing_to_the_gradient_of_others)
    RUN(gradients_are_slopes)
}
