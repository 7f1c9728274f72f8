#include "slopes.h"

#define DATA(shape)                                                                        \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { " \
    "" shape " } } }\n"
#define IMAGE DATA("dim: 2 dim: 3 dim: 5 dim: 6")
#define CUBE  DATA("dim: 2 dim: 2 dim: 4 dim: 3 dim: 5")
#define IM2COL(param)                                        \
    "layer { name: 'c' type: 'Im2col' bottom: 'x' top: 'y' " \
    "convolution_param { " param " } }"

static const char *shape_after(const char *data, const char *param)
{
    char net[600];

    snprintf(net, sizeof net, "%s" IM2COL("%s"), data, param);
    return lab_shape(net);
}

static void each_tap_is_a_channel(void)
{
    static const struct {
        const char *data, *param, *shape;
    } cases[] = {
        {IMAGE, "kernel_size: 3", "2 27 3 4 (648)"},
        {IMAGE, "kernel_h: 1 kernel_w: 2 stride_h: 2 stride_w: 1 pad_w: 1", "2 6 3 7 (252)"},
        {IMAGE, "kernel_size: 3 dilation: 2", "2 27 1 2 (108)"},
        {IMAGE, "kernel_size: 2 axis: 2", "2 3 10 5 (300)"},
        {IMAGE, "kernel_size: 2 kernel_size: 1 kernel_size: 3 axis: -4", "12 2 5 4 (480)"},
        {CUBE, "kernel_size: 2 force_nd_im2col: true", "2 16 3 2 4 (768)"},
        {DATA("dim: 3 dim: 2 dim: 9"), "kernel_size: 3 stride: 3", "3 6 3 (54)"},
        {DATA("dim: 3 dim: 2"), "", "3 2 (6)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].shape, shape_after(cases[i].data, cases[i].param));
}

/* --- numbers: channel (c, kh, kw) has the pixel under that tap, or 0 ----------------------------- */

enum { CHANNELS = 3, H = 5, W = 6, KH = 3, KW = 2, OUT_H = 3, OUT_W = 7 };
enum { TAPS = KH * KW, PLACES = OUT_H * OUT_W, PIXELS = CHANNELS * H * W };
#define STRIDED "kernel_h: 3 kernel_w: 2 stride: 2 stride: 1 pad: 1 dilation: 1"

static long pixel_under(long channel, long oh, long ow)
{
    long h = oh * 2 - 1 + channel / KW % KH, w = ow - 1 + channel % KW;

    return h < 0 || h >= H || w < 0 || w >= W ? -1 : (channel / TAPS * H + h) * W + w;
}

static void check_on(struct lab *lab)
{
    const size_t image = PIXELS, result = (size_t)CHANNELS * TAPS * PLACES;
    const float *x = lab_values(lab, "x"), *y = lab_values(lab, "y");
    float *dx = lab_gradient(lab, "x"), *dy = lab_gradient(lab, "y");
    double wanted[2 * PIXELS] = {0};

    CHECK(psd_net_blob(lab->net, "y")->count == 2 * result);
    lab_scatter(lab_values(lab, "x"), 2 * image, 1);
    CHECK_OK(psd_net_forward(lab->net, NULL));
    lab_scatter(dy, 2 * result, 2);
    for (size_t i = 0; i < 2 * result; i++) {
        long place = (long)(i % PLACES), channel = (long)(i % result / PLACES);
        long q = pixel_under(channel, place / OUT_W, place % OUT_W);
        CHECK(y[i] == (q < 0 ? 0 : x[i / result * image + (size_t)q]));
        if (q >= 0)
            wanted[i / result * image + (size_t)q] += (double)dy[i];
    }
    CHECK_OK(psd_net_backward(lab->net, true));
    for (size_t i = 0; i < 2 * image; i++)
        CHECK_NEAR(dx[i], wanted[i], 1e-5);
}

static void values_are_the_pixels_under_the_taps(void)
{
    for (const char *const *backend = psd_ops_backends(); *backend; backend++) {
        struct lab lab;
        if (!lab_open(&lab, *backend, 2))
            continue;
        lab.document = net_of(IMAGE IM2COL(STRIDED));
        CHECK_OK(lab_build(&lab, NULL));
        check_on(&lab);
        lab_close(&lab);
    }
}

/* A convolution of 1 x 1 over columns is the convolution with that window. */
static void columns_make_a_convolution(void)
{
    struct lab lab = lab_of(CUBE IM2COL(
        "kernel_size: 2 kernel_size: 3 kernel_size: 2 pad: 1 stride: 1 stride: 2 "
        "stride: 2") "layer { name: 'a' type: 'Convolution' bottom: 'y' top: 'a' convolution_param "
                     "{ "
                     "num_output: 3 kernel_size: 1 weight_filler { type: 'xavier' } } }"
                     "layer { name: 'b' type: 'Convolution' bottom: 'x' top: 'b' convolution_param "
                     "{ "
                     "num_output: 3 kernel_size: 2 kernel_size: 3 kernel_size: 2 pad: 1 stride: 1 "
                     "stride: 2 stride: 2 } }");
    const struct psd_blob *one = &psd_net_layer(lab.net, "a")->params[0]->blob;
    const struct psd_blob *window = &psd_net_layer(lab.net, "b")->params[0]->blob;
    size_t count = psd_net_blob(lab.net, "a")->count;

    CHECK(one->count == window->count && count == psd_net_blob(lab.net, "b")->count);
    memcpy(psd_blob_values(window), psd_blob_values(one), one->count * sizeof(float));
    lab_scatter(lab_values(&lab, "x"), psd_net_blob(lab.net, "x")->count, 3);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR(lab_values(&lab, "a")[i], lab_values(&lab, "b")[i], 1e-5);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(IMAGE IM2COL("kernel_size: 3 stride: 2 pad: 1"), NULL);
    check_slopes(IMAGE IM2COL("kernel_size: 2 dilation: 3 axis: 2"), NULL);
    check_slopes(CUBE IM2COL("kernel_size: 2 pad: 1"), NULL);
}

static void impossible_parameters_are_refused(void)
{
    static const struct {
        const char *net, *sentence;
    } cases[] = {
        {IMAGE "layer { name: 'c' type: 'Im2col' bottom: 'x' top: 'y' }",
         "test.prototxt:2:1: layer c: has no kernel_size"},
        {IMAGE IM2COL("kernel_size: 7 pad: 0"),
         "test.prototxt:2:1: layer c: its kernel of 7 x 7 does not fit into \"x\" of shape 2 3 5 6 "
         "(180) from layer d, with its padding"},
        {IMAGE IM2COL("kernel_size: 3 axis: 4"),
         "test.prototxt:2:90: layer c: axis is 4, but it reads \"x\" of shape 2 3 5 6 (180) from "
         "layer d"},
        {IMAGE IM2COL("kernel_size: 3 stride: 0"),
         "test.prototxt:2:90: layer c: stride is 0; 1 is the least"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].sentence, lab_refuses(cases[i].net));
}

int main(int argc, char **argv)
{
    RUN(each_tap_is_a_channel)
    RUN(values_are_the_pixels_under_the_taps)
    RUN(columns_make_a_convolution)
    RUN(gradients_are_slopes)
    RUN(impossible_parameters_are_refused)
}
