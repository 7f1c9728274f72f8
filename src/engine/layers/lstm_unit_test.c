#include "slopes.h"

#define INPUT(name, dims)                                                                        \
    "layer { name: '" name "' type: 'Input' top: '" name "' input_param { shape { " dims " } } " \
    "}\n"
#define DATA                                                                                       \
    "force_backward: true " INPUT("c", "dim: 1 dim: 2 dim: 3") INPUT("g", "dim: 1 dim: 2 dim: 12") \
        INPUT("cont", "dim: 1 dim: 2")
#define UNIT                                                                                       \
    "layer { name: 'l' type: 'LSTMUnit' bottom: 'c' bottom: 'g' bottom: 'cont' top: 'd' top: 'h' " \
    "}"

static void start_the_second(struct lab *lab)
{
    lab_values(lab, "cont")[0] = 1;
    lab_values(lab, "cont")[1] = 0;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static void cells_are_kept_and_filled_by_gates(void)
{
    struct lab lab = lab_of(DATA UNIT);

    for (int i = 0; i < 24; i++)
        lab_values(&lab, "g")[i] = (const float[]){0, 0.5F, 1, 1.5F}[i % 12 / 3];
    for (int i = 0; i < 6; i++)
        lab_values(&lab, "c")[i] = i < 3 ? 2 : NAN; /* of a sequence that is over */
    start_the_second(&lab);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    double added = 0.5 * tanh(1.5), cell = 2 * sigmoid(0.5) + added;
    CHECK_NEAR(lab_values(&lab, "d")[1], cell, 1e-6);
    CHECK_NEAR(lab_values(&lab, "h")[1], sigmoid(1) * tanh(cell), 1e-6);
    CHECK_NEAR(lab_values(&lab, "d")[4], added, 1e-6);
    CHECK_NEAR(lab_values(&lab, "h")[4], sigmoid(1) * tanh(added), 1e-6);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA UNIT, start_the_second);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_TEXT("test.prototxt:4:1: layer l: reads shapes 1 N D, 1 N 4D and 1 N, but not \"c\" of "
               "shape 1 2 3 (6) from layer c, \"c\" of shape 1 2 3 (6) from layer c and \"cont\" "
               "of shape 1 2 (2) from layer cont",
               lab_refuses(DATA "layer { name: 'l' type: 'LSTMUnit' bottom: 'c' bottom: 'c' "
                                "bottom: 'cont' top: 'd' top: 'h' }"));
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA UNIT);
}

int main(int argc, char **argv)
{
    RUN(cells_are_kept_and_filled_by_gates)
    RUN(gradients_are_slopes)
    RUN(what_does_not_fit_is_refused)
    RUN(making_one_survives_every_failed_allocation)
}
