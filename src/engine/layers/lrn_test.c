#include "slopes.h"

enum { SAMPLES = 2, CHANNELS = 5, H = 4, W = 6, COUNT = SAMPLES * CHANNELS * H * W };

#define IMAGE                                                                              \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { " \
    "dim: 2 dim: 5 dim: 4 dim: 6 } } }\n"
#define LRN(param) "layer { name: 'l' type: 'LRN' bottom: 'x' top: 'y' lrn_param { " param " } }"

/* --- numbers: x / (k + alpha / n * the squares near it) ^ beta ---------------------------------- */

struct norm {
    const char *param;
    long size;
    double alpha, beta, k;
    bool within;
};

static const struct norm norms[] = {
    {"", 5, 1, 0.75, 1, false},
    {"local_size: 1 alpha: 2", 1, 2, 0.75, 1, false},
    {"local_size: 3 alpha: 0.7 beta: 1.3 k: 0.5", 3, 0.7, 1.3, 0.5, false},
    {"local_size: 11 beta: 0.5 k: 3", 11, 1, 0.5, 3, false}, /* wider than all channels */
    {"local_size: 3 beta: 0", 3, 1, 0, 1, false},
    {"local_size: 3 alpha: 0 k: 2", 3, 0, 0.75, 2, false},
    {"local_size: 3 beta: -0.5", 3, 1, -0.5, 1, false},
    {"norm_region: WITHIN_CHANNEL", 5, 1, 0.75, 1, true},
    {"norm_region: WITHIN_CHANNEL local_size: 1 beta: 2", 1, 1, 2, 1, true},
    {"norm_region: WITHIN_CHANNEL local_size: 3 alpha: 3 k: 7", 3, 3, 0.75, 1, true}, /* no k */
    {"norm_region: WITHIN_CHANNEL local_size: 9 alpha: 5 beta: 0.6", 9, 5, 0.6, 1, true},
    {"local_size: 3 engine: CAFFE", 3, 1, 0.75, 1, false},
};

static bool is_near(const struct norm *n, size_t a, size_t b)
{
    const long plane = (long)H * W;
    long i = (long)a, j = (long)b, r = (n->size - 1) / 2;
    long dc = labs(i / plane - j / plane), dh = labs(i % plane / W - j % plane / W);
    long dw = labs(i % W - j % W);

    if (i / plane / CHANNELS != j / plane / CHANNELS)
        return false;
    return n->within ? dc == 0 && dh <= r && dw <= r : dc <= r && dh == 0 && dw == 0;
}

static void check_norm(const struct norm *n, const float *x, const float *y)
{
    double area = (double)(n->within ? n->size * n->size : n->size);

    for (size_t i = 0; i < COUNT; i++) {
        double sum = 0;
        for (size_t k = 0; k < COUNT; k++)
            sum += is_near(n, i, k) ? (double)x[k] * (double)x[k] : 0;
        CHECK_NEAR(y[i], (double)x[i] / pow(n->k + n->alpha / area * sum, n->beta), 2e-5);
    }
}

static void values_are_divided_by_what_is_near(void)
{
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        for (const char *const *backend = psd_ops_backends(); *backend; backend++) {
            struct lab lab;
            char net[600];
            if (!lab_open(&lab, *backend, 2))
                continue;
            snprintf(net, sizeof net, IMAGE LRN("%s"), norms[i].param);
            lab.document = net_of(net);
            CHECK_OK(lab_build(&lab, NULL));
            lab_scatter(lab_values(&lab, "x"), COUNT, 3);
            CHECK_OK(psd_net_forward(lab.net, NULL));
            check_norm(&norms[i], lab_values(&lab, "x"), lab_values(&lab, "y"));
            lab_close(&lab);
        }
    }
}

static void gradients_are_slopes(void)
{
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        char net[600];
        snprintf(net, sizeof net, IMAGE LRN("%s"), norms[i].param);
        check_slopes(net, NULL);
    }
}

static void impossible_parameters_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:64: layer l: local_size is 4; it is an odd number",
               lab_refuses(IMAGE LRN("local_size: 4")));
    CHECK_TEXT("test.prototxt:2:64: layer l: local_size is 0; it is an odd number",
               lab_refuses(IMAGE LRN("local_size: 0")));
    CHECK_TEXT(
        "test.prototxt:2:1: layer l: reads a blob of 4 axes, but not \"x\" of shape 2 5 (10) "
        "from layer d",
        lab_refuses("layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 "
                    "dim: 5 } } }\n" LRN("")));
}

int main(int argc, char **argv)
{
    RUN(values_are_divided_by_what_is_near)
    RUN(gradients_are_slopes)
    RUN(impossible_parameters_are_refused)
}
