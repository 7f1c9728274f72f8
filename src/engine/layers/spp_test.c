#include "slopes.h"

#define DATA(shape)                                                                        \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { " \
    "" shape " } } }\n"
#define SPP(param) "layer { name: 's' type: 'SPP' bottom: 'x' top: 'y' spp_param { " param " } }"
#define IMAGE      DATA("dim: 2 dim: 3 dim: 9 dim: 7")

static const char *shape_after(const char *data, const char *param)
{
    char net[600];

    snprintf(net, sizeof net, "%s" SPP("%s"), data, param);
    return lab_shape(net);
}

static void images_of_all_sizes_give_vectors_of_one(void)
{
    CHECK_TEXT("2 63 (126)", shape_after(IMAGE, "pyramid_height: 3"));
    CHECK_TEXT("2 63 (126)",
               shape_after(DATA("dim: 2 dim: 3 dim: 13 dim: 4"), "pyramid_height: 3"));
    CHECK_TEXT("1 5 (5)", shape_after(DATA("dim: 1 dim: 1 dim: 2 dim: 3"), "pyramid_height: 2"));
    CHECK_TEXT("2 3 1 1 (6)", shape_after(IMAGE, "pyramid_height: 1"));
}

/* --- numbers ---------------------------------------------------------------------------------- */

enum { H = 9, W = 7, PLANES = 6, LEVELS = 3 };

/* A window along one direction: it may reach over the edges. */
struct reach {
    long from, to;
};

static struct reach reach_of(long size, long windows, long i)
{
    long kernel = (long)ceil((double)size / (double)windows);
    long pad = (kernel * windows - size + 1) / 2, end = (i + 1) * kernel - pad;

    return (struct reach){i * kernel - pad, end < size + pad ? end : size + pad};
}

/* What one window makes of a plane, if nothing is drawn. */
static double pooled(const float *x, struct reach h, struct reach w, const char *pool)
{
    double most = -1e30, sum = 0, squares = 0;

    for (long i = h.from < 0 ? 0 : h.from; i < h.to && i < H; i++) {
        for (long k = w.from < 0 ? 0 : w.from; k < w.to && k < W; k++) {
            double value = (double)x[i * W + k];
            most = fmax(most, value);
            sum += value;
            squares += value * value;
        }
    }
    if (strcmp(pool, "MAX") == 0)
        return most;
    return strcmp(pool, "AVE") == 0 ? sum / (double)((h.to - h.from) * (w.to - w.from))
                                    : squares / sum;
}

static void check_top(const struct lab *lab, const char *pool)
{
    const float *y = lab_values(lab, "y");

    for (long sample = 0; sample < 2; sample++) {
        for (long i = 0; i < 63; i++, y++) { /* 3 of level 0, 12 of level 1, 48 of level 2 */
            long level = i < 3 ? 0 : i < 15 ? 1 : 2, windows = 1L << level;
            long k = i - (level == 0 ? 0 : level == 1 ? 3 : 15), channel = k / (windows * windows);
            struct reach h = reach_of(H, windows, k / windows % windows);
            struct reach w = reach_of(W, windows, k % windows);
            const float *plane = lab_values(lab, "x") + (sample * 3 + channel) * H * W;
            CHECK_NEAR(*y, pooled(plane, h, w, pool), 1e-5);
        }
    }
}

static void fill(struct lab *lab) /* different in each window, and above 0 */
{
    for (size_t i = 0; i < (size_t)PLANES * H * W; i++)
        lab_values(lab, "x")[i] = 0.1F + (float)(i * 1237 % 1009) / 20;
}

static void each_level_pools_all_of_the_image(void)
{
    static const char *const pools[] = {"MAX", "AVE", "STOCHASTIC"};
    struct psd_net_options options = {.phase = CAFFE__PHASE__TEST};

    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        for (const char *const *backend = psd_ops_backends(); *backend; backend++) {
            struct lab lab;
            char net[600];
            if (!lab_open(&lab, *backend, 2))
                continue;
            snprintf(net, sizeof net, IMAGE SPP("pyramid_height: 3 pool: %s"), pools[i]);
            lab.document = net_of(net);
            CHECK_OK(lab_build(&lab, &options));
            fill(&lab);
            CHECK_OK(psd_net_forward(lab.net, NULL));
            check_top(&lab, pools[i]);
            lab_close(&lab);
        }
    }
}

/* Every value that is drawn is one of its window, and its gradient goes there. */
static void in_training_values_are_drawn(void)
{
    struct lab lab = lab_of(IMAGE SPP("pyramid_height: 3 pool: STOCHASTIC"));
    const float *x = lab_values(&lab, "x"), *y = lab_values(&lab, "y");
    float first[126];
    double sum = 0;

    fill(&lab);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    memcpy(first, y, sizeof first);
    for (size_t i = 0; i < 126; i++)
        lab_gradient(&lab, "y")[i] = 1;
    CHECK_OK(psd_net_backward(lab.net, true));
    for (size_t i = 0; i < (size_t)PLANES * H * W; i++) {
        double times = 0;
        for (size_t k = 0; k < 126; k++)
            times += first[k] == x[i];
        sum += (double)lab_gradient(&lab, "x")[i];
        CHECK_NEAR(lab_gradient(&lab, "x")[i], times, 0);
    }
    CHECK_NEAR(sum, 126, 0);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(!same_bits(first, y, sizeof first));
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(IMAGE SPP("pyramid_height: 3"), fill);
    check_slopes(IMAGE SPP("pyramid_height: 3 pool: AVE"), NULL);
    check_slopes(IMAGE SPP("pyramid_height: 1"), fill);
    check_slopes(DATA("dim: 2 dim: 2 dim: 4 dim: 6") SPP("pyramid_height: 2 pool: AVE"), NULL);
}

static void a_net_is_made_or_not(void)
{
    check_survives(IMAGE SPP("pyramid_height: 2"));
}

static void a_new_size_has_new_windows(void)
{
    struct lab lab = lab_of(IMAGE SPP("pyramid_height: 2"));
    struct psd_shape larger = psd_shape_of(4, 3, 3, 20, 16);

    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "x"), &larger));
    CHECK_OK(psd_net_reshape(lab.net));
    lab_values(&lab, "x")[319] = 5; /* the last pixel of the first plane */
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_net_blob(lab.net, "y")->count == 45);
    CHECK(lab_values(&lab, "y")[0] == 5 && lab_values(&lab, "y")[6] == 5);
    lab_close(&lab);
}

static void impossible_parameters_are_refused(void)
{
    static const struct {
        const char *net, *sentence;
    } cases[] = {
        {IMAGE "layer { name: 's' type: 'SPP' bottom: 'x' top: 'y' }",
         "test.prototxt:2:1: layer s: pyramid_height is 0; it is from 1 to 28"},
        {IMAGE SPP("pyramid_height: 29"),
         "test.prototxt:2:64: layer s: pyramid_height is 29; it is from 1 to 28"},
        {IMAGE SPP("pyramid_height: 4"),
         "test.prototxt:2:64: layer s: level 3 has 8 x 8 windows, of which some hold no pixel of "
         "\"x\" of shape 2 3 9 7 (378) from layer d"},
        {DATA("dim: 2 dim: 3 dim: 9") SPP("pyramid_height: 1"),
         "test.prototxt:2:1: layer s: reads a blob of 4 axes, but not \"x\" of shape 2 3 9 (54) "
         "from layer d"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].sentence, lab_refuses(cases[i].net));
}

int main(int argc, char **argv)
{
    RUN(images_of_all_sizes_give_vectors_of_one)
    RUN(each_level_pools_all_of_the_image)
    RUN(in_training_values_are_drawn)
    RUN(gradients_are_slopes)
    RUN(a_net_is_made_or_not)
    RUN(a_new_size_has_new_windows)
    RUN(impossible_parameters_are_refused)
}
