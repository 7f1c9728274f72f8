#include "slopes.h"

#define DATA                                                                                    \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: " \
    "2 dim: 3 dim: 2 dim: 2 } } }\n"
#define MVN(param) "layer { name: 'l' type: 'MVN' bottom: 'x' top: 'y' mvn_param { " param " } }"

/* Every row of that length has the mean 0 and the deviation 1, or else its own. */
static void check_rows(const char *net, size_t row, bool divided)
{
    struct lab lab = lab_of(net);

    lab_scatter(lab_values(&lab, "x"), 24, 3);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    for (size_t r = 0; r < 24 / row; r++) {
        const float *y = lab_values(&lab, "y") + r * row, *x = lab_values(&lab, "x") + r * row;
        double sum = 0, squares = 0;
        for (size_t i = 0; i < row; i++) {
            sum += (double)y[i];
            squares += (double)y[i] * (double)y[i];
        }
        CHECK_NEAR(sum, 0, 1e-5);
        if (divided)
            CHECK_NEAR(squares / (double)row, 1, 1e-5);
        else
            CHECK_NEAR(y[1] - y[0], x[1] - x[0], 1e-6);
    }
    lab_close(&lab);
}

static void rows_lose_their_mean_and_deviation(void)
{
    check_rows(DATA "layer { name: 'l' type: 'MVN' bottom: 'x' top: 'y' }", 4, true);
    check_rows(DATA MVN(""), 4, true);
    check_rows(DATA MVN("across_channels: true"), 12, true);
    check_rows(DATA MVN("normalize_variance: false"), 4, false);
    check_rows(DATA MVN("normalize_variance: false across_channels: true"), 12, false);
}

static void eps_is_added_to_the_deviation(void)
{
    struct lab lab = lab_of(DATA MVN("eps: 0.5"));
    const float *y = lab_values(&lab, "y");

    memcpy(lab_values(&lab, "x"), (const float[]){1, -1, 1, -1}, 4 * sizeof(float));
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(y[0], 1 / 1.5, 1e-6);
    CHECK(y[4] == 0); /* where all are equal */
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA MVN(""), NULL);
    check_slopes(DATA MVN("across_channels: true"), NULL);
    check_slopes(DATA MVN("normalize_variance: false"), NULL);
    check_slopes(DATA MVN("normalize_variance: false across_channels: true"), NULL);
    check_slopes(DATA "layer { name: 'l' type: 'MVN' bottom: 'x' top: 'x' mvn_param { "
                      "across_channels: true } }",
                 NULL);
}

static void blobs_of_any_number_of_axes_will_do(void)
{
    struct lab lab = lab_of("layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 4 "
                            "} } } layer { name: 'l' type: 'MVN' bottom: 'x' top: 'y' }");

    lab_scatter(lab_values(&lab, "x"), 4, 1);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(lab_values(&lab, "y")[3] == 0); /* a row has one value */
    lab_close(&lab);
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA MVN(""));
}

int main(int argc, char **argv)
{
    RUN(rows_lose_their_mean_and_deviation)
    RUN(eps_is_added_to_the_deviation)
    RUN(gradients_are_slopes)
    RUN(blobs_of_any_number_of_axes_will_do)
    RUN(making_one_survives_every_failed_allocation)
}
