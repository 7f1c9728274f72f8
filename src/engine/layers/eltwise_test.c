#include "slopes.h"

#define BOTTOM(name)                                                                              \
    "layer { name: '" name "' type: 'Input' top: '" name "' input_param { shape { dim: 2 dim: 2 " \
    "} } }\n"
#define DATA "force_backward: true " BOTTOM("a") BOTTOM("b") BOTTOM("c") BOTTOM("d")
#define ELTWISE(param)                                                                        \
    "layer { name: 'l' type: 'Eltwise' bottom: 'a' bottom: 'b' bottom: 'c' bottom: 'd' top: " \
    "'y' eltwise_param { " param " } }"

static void check_result(const char *param, const float *wanted)
{
    const float inputs[4][4] = {{1, 2, -3, 4}, {5, 2, 0, 2}, {1, 2, -1, 1}, {2, -1, 3, 4}};
    char net[1000];

    snprintf(net, sizeof net, DATA ELTWISE("%s"), param);
    struct lab lab = lab_of(net);
    for (size_t i = 0; i < 4; i++)
        memcpy(lab_values(&lab, (const char[]){(char)('a' + i), 0}), inputs[i], sizeof *inputs);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(lab_values(&lab, "y")[i], wanted[i], 1e-6);
    lab_close(&lab);
}

static void four_bottoms_become_one(void)
{
    check_result("", (const float[]){9, 5, -1, 11});
    check_result("operation: SUM coeff: 1 coeff: -1 coeff: 2 coeff: 0.5",
                 (const float[]){-1, 3.5F, -3.5F, 6});
    check_result("operation: PROD", (const float[]){10, -8, 0, 32});
    check_result("operation: PROD stable_prod_grad: false", (const float[]){10, -8, 0, 32});
    check_result("operation: MAX", (const float[]){5, 2, 3, 4});
    check_result("operation: MAX coeff: 9 coeff: 9 coeff: 9 coeff: 9", (const float[]){5, 2, 3, 4});
}

/* Of 2 2 2 -1 the second wins; of 4 2 1 4 the first. */
static void of_equal_maxima_one_gets_the_gradient(void)
{
    struct lab lab = lab_of(DATA ELTWISE("operation: MAX"));
    const float wanted[4][2] = {{0, 1}, {1, 0}, {0, 0}, {0, 0}};

    for (size_t i = 0; i < 4; i++) {
        const char name[] = {(char)('a' + i), 0};
        memcpy(lab_values(&lab, name), (const float[4][2]){{2, 4}, {2, 2}, {2, 1}, {-1, 4}}[i],
               2 * sizeof(float));
    }
    CHECK_OK(psd_net_forward(lab.net, NULL));
    for (size_t i = 0; i < 4; i++)
        lab_gradient(&lab, "y")[i] = 1;
    CHECK_OK(psd_net_backward(lab.net, true));
    for (size_t i = 0; i < 4; i++) {
        const char name[] = {(char)('a' + i), 0};
        CHECK(lab_gradient(&lab, name)[0] == wanted[i][0]);
        CHECK(lab_gradient(&lab, name)[1] == wanted[i][1]);
    }
    lab_close(&lab);
}

/* Also where a value is 0, so that a division would not do. */
static void put_a_zero(struct lab *lab)
{
    lab_values(lab, "b")[1] = 0;
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA ELTWISE(""), NULL);
    check_slopes(DATA ELTWISE("coeff: 1 coeff: -1 coeff: 2 coeff: 0.5"), NULL);
    check_slopes(DATA ELTWISE("operation: PROD"), put_a_zero);
    check_slopes(DATA ELTWISE("operation: PROD stable_prod_grad: false"), put_a_zero);
    check_slopes(DATA ELTWISE("operation: MAX"), NULL);
    check_slopes("force_backward: true " BOTTOM("a") BOTTOM(
                     "b") "layer { name: 'l' type: 'Eltwise' bottom: 'a' bottom: 'b' top: 'a' }",
                 NULL);
    check_slopes("force_backward: true " BOTTOM(
                     "a") "layer { name: 'l' type: 'Eltwise' bottom: 'a' bottom: 'a' top: 'y' "
                          "eltwise_param { operation: PROD } }",
                 NULL);
}

static void only_wanted_gradients_are_computed(void)
{
    struct lab lab = lab_of(BOTTOM("a") BOTTOM("b") BOTTOM(
        "c") "layer { name: 'i' type: 'InnerProduct' bottom: 'b' top: 'p' "
             "inner_product_param { num_output: 2 axis: 1 } }"
             "layer { name: 'l' type: 'Eltwise' bottom: 'a' bottom: 'p' bottom: 'c' "
             "top: 'y' loss_weight: 1 eltwise_param { operation: PROD } }");

    for (int i = 0; i < 4; i++) {
        lab_values(&lab, "a")[i] = 2;
        lab_values(&lab, "c")[i] = 3;
    }
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(lab_gradient(&lab, "p")[3] == 6);
    CHECK(!psd_net_blob(lab.net, "a")->diff);
    lab_close(&lab);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_TEXT("test.prototxt:5:108: layer l: coeff is given 2 times for 4 bottoms; give one for "
               "each, or none",
               lab_refuses(DATA ELTWISE("coeff: 1 coeff: 2")));
    CHECK_TEXT("test.prototxt:5:124: layer l: only sums have coefficients",
               lab_refuses(DATA ELTWISE("operation: PROD coeff: 1 coeff: 2 coeff: 1 coeff: 1")));
    CHECK_TEXT(
        "test.prototxt:3:1: layer l: bottoms have one shape, but it reads \"a\" of shape "
        "2 2 (4) from layer a and \"b\" of shape 4 (4) from layer b",
        lab_refuses(BOTTOM("a") "layer { name: 'b' type: 'Input' top: 'b' input_param { shape { "
                                "dim: 4 } } }\n"
                                "layer { name: 'l' type: 'Eltwise' bottom: 'a' bottom: 'b' "
                                "top: 'y' }"));
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA ELTWISE("operation: MAX"));
    check_survives(DATA ELTWISE(""));
}

int main(int argc, char **argv)
{
    RUN(four_bottoms_become_one)
    RUN(of_equal_maxima_one_gets_the_gradient)
    RUN(gradients_are_slopes)
    RUN(only_wanted_gradients_are_computed)
    RUN(what_does_not_fit_is_refused)
    RUN(making_one_survives_every_failed_allocation)
}
