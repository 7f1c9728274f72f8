#include "slopes.h"

#define IMAGE                                                                                      \
    "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 dim: 6 dim: 9 }" \
    " } }\n"
#define POOL(param) \
    "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'y' pooling_param { " param " } }"

static const char *shape_after(const char *param)
{
    static char text[200];
    char net[600];

    snprintf(net, sizeof net,
             IMAGE "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'y' pooling_param { %s } }",
             param);
    struct lab lab = lab_of(net);
    psd_shape_text(&psd_net_blob(lab.net, "y")->shape, text, sizeof text);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    lab_close(&lab);
    return text;
}

static void windows_are_counted_as_caffe_counts_them(void)
{
    static const struct {
        const char *param, *shape;
    } cases[] = {
        {"kernel_size: 3 stride: 2", "2 3 3 4 (72)"}, /* the last hangs over the edge */
        {"kernel_size: 3 stride: 2 round_mode: FLOOR", "2 3 2 4 (48)"},
        {"kernel_h: 2 kernel_w: 3 stride_h: 2 stride_w: 3", "2 3 3 3 (54)"},
        {"kernel_size: 3 pad: 1", "2 3 6 9 (324)"},
        {"kernel_size: 3 stride: 3 pad_h: 1 pad_w: 2", "2 3 3 4 (72)"},
        {"kernel_size: 2 stride: 2 pad: 1", "2 3 4 5 (120)"}, /* 6 + 2: the last is in padding */
        {"global_pooling: true", "2 3 1 1 (6)"},
        {"kernel_size: 7 stride: 2", "2 3 1 2 (12)"},           /* only a part of it fits */
        {"kernel_size: 1 stride: 5 pool: AVE", "2 3 2 2 (24)"}, /* no window outside the image */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].shape, shape_after(cases[i].param));
}

static void impossible_parameters_are_refused(void)
{
    static const struct {
        const char *net, *sentence;
    } cases[] = {
        {IMAGE "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'y' }",
         "test.prototxt:2:1: layer p: has no kernel_size"},
        {IMAGE POOL("kernel_size: 0"),
         "test.prototxt:2:72: layer p: kernel_size is 0; 1 is the least"},
        {IMAGE POOL("kernel_h: 3"),
         "test.prototxt:2:72: layer p: has only one of kernel_h and kernel_w; give both"},
        {IMAGE POOL("kernel_size: 3 kernel_h: 3 kernel_w: 3"),
         "test.prototxt:2:87: layer p: has kernel_size and kernel_h or kernel_w; give one kind"},
        {IMAGE POOL("kernel_size: 3 stride: 0"),
         "test.prototxt:2:87: layer p: stride is 0; 1 is the least"},
        {IMAGE POOL("kernel_size: 3 pad: 3"),
         "test.prototxt:2:87: layer p: its padding of 3 x 3 is not smaller than its kernel of 3 x "
         "3"},
        {IMAGE POOL("kernel_size: 3 pad: 1 pool: STOCHASTIC"),
         "test.prototxt:2:87: layer p: stochastic pooling knows no padding"},
        {IMAGE POOL("global_pooling: true kernel_size: 3"),
         "test.prototxt:2:72: layer p: has global_pooling and a kernel; the image is the kernel"},
        {IMAGE POOL("global_pooling: true stride: 2"),
         "test.prototxt:2:72: layer p: has global_pooling, for which pad is 0 and stride is 1"},
        {IMAGE POOL("kernel_size: 10 round_mode: FLOOR"),
         "test.prototxt:2:1: layer p: its kernel of 10 x 10 does not fit into \"x\" of shape 2 3 6 "
         "9 (324) from layer d"},
        {IMAGE "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'y' top: 'm' pooling_param { "
               "kernel_size: 2 pool: AVE } }",
         "test.prototxt:2:47: layer p: has two tops, but only maxima have a place: pool is MAX, or "
         "there is no second top"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].sentence, lab_refuses(cases[i].net));
}

/* --- numbers ---------------------------------------------------------------------------------- */

enum { PLANES = 6, H = 6, W = 9 };

/* A pooling layer as its prototxt has it, and the same in numbers. */
struct pooling {
    const char *param;
    bool average;
    long kernel[2], stride[2], pad[2], out[2];
};

static const struct pooling poolings[] = {
    {"kernel_size: 3 stride: 2", false, {3, 3}, {2, 2}, {0, 0}, {3, 4}},
    {"kernel_size: 3 stride: 2 round_mode: FLOOR", false, {3, 3}, {2, 2}, {0, 0}, {2, 4}},
    {"kernel_h: 2 kernel_w: 4 stride_h: 1 stride_w: 3 pad_h: 1 pad_w: 3",
     false,
     {2, 4},
     {1, 3},
     {1, 3},
     {7, 4}},
    {"kernel_size: 2 stride: 2 pad: 1", false, {2, 2}, {2, 2}, {1, 1}, {4, 5}},
    {"kernel_size: 2 stride: 4", false, {2, 2}, {4, 4}, {0, 0}, {2, 3}},
    {"global_pooling: true", false, {6, 9}, {1, 1}, {0, 0}, {1, 1}},
    {"pool: AVE kernel_size: 3 stride: 2", true, {3, 3}, {2, 2}, {0, 0}, {3, 4}},
    {"pool: AVE kernel_size: 3 stride: 2 pad: 2", true, {3, 3}, {2, 2}, {2, 2}, {4, 6}},
    {"pool: AVE kernel_h: 5 kernel_w: 2 stride: 3 pad_h: 4 pad_w: 1",
     true,
     {5, 2},
     {3, 3},
     {4, 1},
     {4, 4}},
    {"pool: AVE global_pooling: true round_mode: FLOOR", true, {6, 9}, {1, 1}, {0, 0}, {1, 1}},
};

static long least(long a, long b)
{
    return a < b ? a : b;
}

/* One window of a plane: its result in y, and where the largest was in place. */
static void pool_window(const struct pooling *p, const float *x, long i, double *y, long *place)
{
    long top = i / p->out[1] * p->stride[0] - p->pad[0];
    long left = i % p->out[1] * p->stride[1] - p->pad[1];
    long bottom = least(top + p->kernel[0], H + p->pad[0]);
    long right = least(left + p->kernel[1], W + p->pad[1]);
    double sum = 0;

    *place = -1;
    for (long h = top; h < bottom; h++) {
        for (long w = left; w < right; w++) {
            if (h < 0 || h >= H || w < 0 || w >= W)
                continue;
            sum += (double)x[h * W + w];
            if (*place < 0 || x[h * W + w] > x[*place])
                *place = h * W + w;
        }
    }
    *y = p->average ? sum / (double)((bottom - top) * (right - left)) : (double)x[*place];
}

static void check_pooling(const struct pooling *p, const struct lab *lab)
{
    const float *x = lab_values(lab, "x"), *y = lab_values(lab, "y");
    const float *mask = p->average ? NULL : lab_values(lab, "m");
    long windows = p->out[0] * p->out[1], place;
    double wanted;

    CHECK(psd_net_blob(lab->net, "y")->count == (size_t)(PLANES * windows));
    for (long i = 0; i < PLANES * windows; i++) {
        pool_window(p, x + i / windows * H * W, i % windows, &wanted, &place);
        CHECK_NEAR(y[i], wanted, 1e-5);
        if (mask)
            CHECK(mask[i] == (float)place);
    }
}

static void net_with_mask(const struct pooling *p, char *net, size_t room)
{
    snprintf(net, room,
             "force_backward: true " IMAGE
             "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'y' %s pooling_param { %s } }",
             p->average ? "" : "top: 'm'", p->param);
}

static void windows_give_means_or_maxima_and_where_they_were(void)
{
    for (size_t i = 0; i < sizeof poolings / sizeof *poolings; i++) {
        for (const char *const *backend = psd_ops_backends(); *backend; backend++) {
            struct lab lab;
            char net[600];
            if (!lab_open(&lab, *backend, 2))
                continue;
            net_with_mask(&poolings[i], net, sizeof net);
            lab.document = net_of(net);
            CHECK_OK(lab_build(&lab, NULL));
            for (size_t k = 0; k < (size_t)PLANES * H * W; k++) /* below 0, and some are equal */
                lab_values(&lab, "x")[k] = (float)(k * 37 % 23) - 30;
            CHECK_OK(psd_net_forward(lab.net, NULL));
            check_pooling(&poolings[i], &lab);
            lab_close(&lab);
        }
    }
}

/* Values that stand apart by more than a step; a mask has no gradient, so it is left out. */
static void spread_out(struct lab *lab)
{
    for (size_t i = 0; i < (size_t)PLANES * H * W; i++)
        lab_values(lab, "x")[i] = (float)(i * 1237 % 1009) / 20 + 0.1F;
}

static void gradients_are_slopes(void)
{
    for (size_t i = 0; i < sizeof poolings / sizeof *poolings; i++) {
        char net[600];
        snprintf(net, sizeof net, "force_backward: true " IMAGE POOL("%s"), poolings[i].param);
        check_slopes(net, spread_out);
    }
}

/* --- stochastic pooling, which Caffe's CPU cannot do ------------------------------------------- */

#define STOCHASTIC                                                                 \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { " \
    "shape { dim: 2 dim: 3 dim: 4 dim: 4 } } }\n" POOL(                            \
        "kernel_size: 2 stride: 2 pool: STOCHASTIC")

static struct lab stochastic(Caffe__Phase phase)
{
    struct lab lab = lab_with(STOCHASTIC, &(struct psd_net_options){.phase = phase});
    float *x = lab_values(&lab, "x");

    for (size_t i = 0; i < 96; i++)
        x[i] = (float)(i + 1);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    return lab;
}

static void in_training_one_value_of_each_window_is_drawn(void)
{
    struct lab lab = stochastic(CAFFE__PHASE__TRAIN);
    const float *x = lab_values(&lab, "x"), *y = lab_values(&lab, "y");
    float *dy = lab_gradient(&lab, "y"), *dx = lab_gradient(&lab, "x");

    for (size_t i = 0; i < 24; i++)
        dy[i] = (float)(i + 1);
    CHECK_OK(psd_net_backward(lab.net, true));
    for (size_t i = 0; i < 24; i++) { /* the gradient went to the value that was drawn */
        size_t at = (size_t)y[i] - 1, window = at / 16 * 4 + at % 16 / 8 * 2 + at % 4 / 2;
        CHECK(window == i);
        CHECK_NEAR(x[at], y[i], 0);
        CHECK_NEAR(dx[at], dy[i], 0);
    }
    float before[24];
    memcpy(before, y, sizeof before);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(!same_bits(before, y, sizeof before));
    lab_close(&lab);
}

static void in_testing_it_is_the_mean_by_those_odds(void)
{
    struct lab lab = stochastic(CAFFE__PHASE__TEST);

    CHECK_NEAR(lab_values(&lab, "y")[0], (1. + 4 + 25 + 36) / (1 + 2 + 5 + 6), 1e-5);
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(windows_are_counted_as_caffe_counts_them)
    RUN(windows_give_means_or_maxima_and_where_they_were)
    RUN(gradients_are_slopes)
    RUN(impossible_parameters_are_refused)
    RUN(in_training_one_value_of_each_window_is_drawn)
    RUN(in_testing_it_is_the_mean_by_those_odds)
}
