/* spec_test.c - which specs make sense, and how large their tensors are. */
#include "ops/cases.h"
#include "ops/spec.h"
#include "test.h"

static const struct psd_op_spec conv = {
    .kind = PSD_OP_CONV,
    .conv = {2, 4, 9, 8, 6, 4, 8, 2, {3, 3}, {2, 1}, {0, 1}, {1, 1}, true},
};
static const struct psd_op_spec pool = {
    .kind = PSD_OP_POOL,
    .pool = {PSD_POOL_MAX, 6, 8, 8, 4, 4, {3, 3}, {2, 2}, {0, 0}, false, 3},
};

static void every_case_makes_sense(void)
{
    for (size_t i = 0; i < OP_CASES; i++) {
        psd_status status = psd_spec_check(&op_cases[i].spec);
        if (status != PSD_OK)
            TEST_FAIL("%s: %s", op_cases[i].name, psd_error());
    }
}

static void refuses(struct psd_op_spec spec, const char *sentence)
{
    CHECK_STATUS(PSD_EINVAL, psd_spec_check(&spec));
    CHECK_TEXT(sentence, psd_error());
}

/* Checks `from` with one field changed. */
#define REFUSES(sentence, from, field, ...) \
    do {                                    \
        struct psd_op_spec spec_ = (from);  \
        spec_.field = __VA_ARGS__;          \
        refuses(spec_, (sentence));         \
    } while (0)

static void convolutions_that_do_not_fit_are_refused(void)
{
    CHECK_OK(psd_spec_check(&conv));
    REFUSES("input of a convolution: size 1 of 4 is 0", conv, conv.batch, 0);
    REFUSES("output of a convolution: size 2 of 4 is 0", conv, conv.outputs, 0);
    REFUSES("weights of a convolution: size 4 of 4 is 0", conv, conv.kernel[1], 0);
    REFUSES("height of a convolution: kernel, stride and dilation are at least 1", conv,
            conv.stride[0], 0);
    REFUSES("width of a convolution: kernel, stride and dilation are at least 1", conv,
            conv.dilation[1], 0);
    REFUSES("convolution: 3 groups do not divide 4 channels and 6 outputs", conv, conv.group, 3);
    REFUSES("convolution: 0 groups do not divide 4 channels and 6 outputs", conv, conv.group, 0);
    REFUSES("convolution: 4 groups do not divide 4 channels and 6 outputs", conv, conv.group, 4);
    REFUSES("height of a convolution: the output has 4, not 5", conv, conv.out_height, 5);
    REFUSES("width of a convolution: the output has 8, not 7", conv, conv.out_width, 7);
    REFUSES("height of a convolution: a kernel that covers 11 does not fit into 9 with padding",
            conv, conv.dilation[0], 5);
}

static void sizes_that_would_overflow_are_refused(void)
{
    const char *too_many = "input of a convolution: more values than this machine can address";

    REFUSES(too_many, conv, conv.batch, SIZE_MAX);
    REFUSES(too_many, conv, conv.batch, SIZE_MAX / 4);
    REFUSES(too_many, conv, conv.batch, SIZE_MAX / sizeof(float) / 288);
    REFUSES("width of a convolution: a size is beyond 268435456", conv, conv.pad[1], SIZE_MAX / 2);
    REFUSES("width of a convolution: a size is beyond 268435456", conv, conv.dilation[1],
            SIZE_MAX / 2);
    REFUSES("height of a pooling: a size is beyond 268435456", pool, pool.stride[0], SIZE_MAX);
}

static void poolings_that_do_not_fit_are_refused(void)
{
    CHECK_OK(psd_spec_check(&pool));
    REFUSES("pooling: there is no method 7", pool, pool.method, (enum psd_pool_method)7);
    REFUSES("input of a pooling: size 2 of 3 is 0", pool, pool.height, 0);
    REFUSES("height of a pooling: the output has 3 to 4, not 5", pool, pool.out_height, 5);
    REFUSES("width of a pooling: the output has 3 to 4, not 2", pool, pool.out_width, 2);
    REFUSES("width of a pooling: a padding of 3 is not smaller than the kernel, 3", pool,
            pool.pad[1], 3);
    struct psd_op_spec stochastic = pool;
    stochastic.pool.method = PSD_POOL_STOCHASTIC;
    REFUSES("pooling: 6 planes are no whole samples of 4", stochastic, pool.channels, 4);
    stochastic.pool.channels = 0;
    REFUSES("pooling: a sample of more than 4294967295 values", stochastic, pool.planes,
            (size_t)1 << 29);
}

static void windows_along_many_axes_that_do_not_fit_are_refused(void)
{
    struct psd_op_spec cube = {
        .kind = PSD_OP_COLUMNS,
        .columns = {2, 3, 3, {5, 4, 6}, {3, 4, 2}, {3, 1, 2}, {2, 1, 3}, {1, 0, 0}, {1, 1, 2}}};
    struct psd_op_spec filters = {.kind = PSD_OP_DECONV, .deconv = {cube.columns, 4, 1, true}};

    CHECK_OK(psd_spec_check(&cube));
    REFUSES("a window along 33 axes; 32 is the most", cube, columns.axes, 33);
    REFUSES("an axis of a window: the output has 4, not 5", cube, columns.out[1], 5);
    REFUSES("an axis of a window: kernel, stride and dilation are at least 1", cube,
            columns.stride[2], 0);
    REFUSES("input of a window: size 2 of 5 is 0", cube, columns.channels, 0);
    REFUSES("all that a window sees: more values than this machine can address", cube,
            columns.batch, SIZE_MAX / 256 / 400);
    CHECK_OK(psd_spec_check(&filters));
    REFUSES("output of a convolution: size 2 of 3 is 0", filters, deconv.outputs, 0);
    REFUSES("convolution: 2 groups do not divide 3 channels and 4 outputs", filters, deconv.group,
            2);
    filters.kind = PSD_OP_CONV_ND;
    REFUSES("an axis of a window: the output has 2, not 1", filters, conv_nd.window.out[2], 1);
}

static void up_to_two_axes_are_a_plain_convolution(void)
{
    struct psd_conv_nd_spec row = {{2, 3, 1, {11}, {6}, {3}, {2}, {1}, {1}}, 4, 1, true};
    struct psd_conv_nd_spec cube = {.window = {.axes = 3}};
    struct psd_op_spec flat = psd_op_conv(&row);

    CHECK(flat.kind == PSD_OP_CONV);
    CHECK_OK(psd_spec_check(&flat));
    CHECK(flat.conv.height == 1 && flat.conv.kernel[0] == 1 && flat.conv.stride[0] == 1);
    CHECK(flat.conv.width == 11 && flat.conv.out_width == 6 && flat.conv.pad[1] == 1);
    CHECK(psd_op_conv(&cube).kind == PSD_OP_CONV_ND);
}

static void the_rest_is_refused_too(void)
{
    struct psd_op_spec fc = {.kind = PSD_OP_FC, .fc = {2, 3, 4, true, false}};
    struct psd_op_spec lrn = {.kind = PSD_OP_LRN, .lrn = {1, 2, 3, 4, 5, 1, 1, 1, false}};
    struct psd_op_spec dropout = {.kind = PSD_OP_DROPOUT, .dropout = {12, 4, 0.5F}};
    struct psd_op_spec softmax_loss = {.kind = PSD_OP_SOFTMAX_LOSS,
                                       .softmax_loss = {.outer = 2, .channels = 3, .inner = 1}};

    REFUSES("output of a fully connected layer: size 2 of 2 is 0", fc, fc.outputs, 0);
    REFUSES("response normalization: the size is odd, not 4", lrn, lrn.size, 4);
    REFUSES("response normalization: the size is odd, not 0", lrn, lrn.size, 0);
    REFUSES("dropout: 12 values are no whole samples of 5", dropout, dropout.row, 5);
    REFUSES("dropout: 12 values are no whole samples of 0", dropout, dropout.row, 0);
    REFUSES("dropout: a sample of more than 4294967295 values", dropout, dropout,
            (struct psd_dropout_spec){(size_t)1 << 33, (size_t)1 << 33, 0.5F});
    REFUSES("dropout: the ratio is in [0, 1), not 1", dropout, dropout.ratio, 1);
    REFUSES("dropout: the ratio is in [0, 1), not nan", dropout, dropout.ratio, NAN);
    REFUSES("softmax loss: there is no normalization 9", softmax_loss, softmax_loss.norm,
            (enum psd_loss_norm)9);
    struct psd_op_spec norm = {.kind = PSD_OP_BATCH_NORM, .batch_norm = {2, 3, 4, 1, false}};
    struct psd_op_spec eltwise = {.kind = PSD_OP_ELTWISE, .eltwise = {PSD_ELTWISE_SUM, 3, {1, 1}}};
    REFUSES("batch normalization: size 2 of 3 is 0", norm, batch_norm.channels, 0);
    REFUSES("batch normalization: eps is at least 0, not -1", norm, batch_norm.eps, -1);
    REFUSES("batch normalization: eps is at least 0, not nan", norm, batch_norm.eps, NAN);
    REFUSES("eltwise: size 1 of 1 is 0", eltwise, eltwise.count, 0);
    REFUSES("eltwise: there is no method 7", eltwise, eltwise.method, (enum psd_eltwise_method)7);
    refuses((struct psd_op_spec){.kind = PSD_OP_SCALE}, "scale: size 1 of 3 is 0");
    refuses((struct psd_op_spec){.kind = PSD_OP_BIAS}, "bias: size 1 of 3 is 0");
    struct psd_op_spec map = {.kind = PSD_OP_MAP, .map = {PSD_MAP_ABS, 3, 0, 0, 0}};
    struct psd_op_spec reduce = {.kind = PSD_OP_REDUCE, .reduce = {PSD_REDUCE_SUM, 2, 3, 1}};
    struct psd_op_spec sigmoid = {.kind = PSD_OP_SIGMOID_LOSS,
                                  .sigmoid_loss = {2, 3, false, 0, PSD_LOSS_FULL}};
    REFUSES("map: there is no method 77", map, map.method, (enum psd_map_method)77);
    REFUSES("reduce: there is no method 7", reduce, reduce.method, (enum psd_reduce_method)7);
    REFUSES("sigmoid loss: there is no normalization 9", sigmoid, sigmoid_loss.norm,
            (enum psd_loss_norm)9);
    refuses((struct psd_op_spec){.kind = PSD_OP_PRELU}, "prelu: size 1 of 3 is 0");
    refuses((struct psd_op_spec){.kind = PSD_OP_LSTM_UNIT}, "lstm unit: size 1 of 2 is 0");
    refuses((struct psd_op_spec){.kind = PSD_OP_DISTANCE_LOSS}, "distance loss: size 1 of 2 is 0");
    refuses((struct psd_op_spec){.kind = PSD_OP_HINGE_LOSS}, "hinge loss: size 1 of 2 is 0");
    REFUSES("there is no operation 99", fc, kind, (enum psd_op_kind)99);
    refuses((struct psd_op_spec){.kind = PSD_OP_RELU}, "relu: size 1 of 1 is 0");
    refuses((struct psd_op_spec){.kind = PSD_OP_TANH}, "tanh: size 1 of 1 is 0");
    refuses((struct psd_op_spec){.kind = PSD_OP_SOFTMAX}, "softmax: size 1 of 3 is 0");
}

static void counts_follow_from_a_spec(void)
{
    struct psd_op_spec loss = {.kind = PSD_OP_SOFTMAX_LOSS,
                               .softmax_loss = {.outer = 2, .channels = 3, .inner = 5}};
    struct psd_op_spec average = pool;

    CHECK(psd_op_input_count(&conv, 0) == (size_t)2 * 4 * 9 * 8);
    CHECK(psd_op_input_count(&conv, 1) == (size_t)6 * 2 * 3 * 3);
    CHECK(psd_op_input_count(&conv, 2) == 6);
    CHECK(psd_op_input_count(&conv, 3) == 0);
    CHECK(psd_op_output_count(&conv, 0) == (size_t)2 * 6 * 4 * 8);
    CHECK(psd_op_output_count(&conv, 1) == 0);

    CHECK(psd_op_input_count(&pool, 0) == (size_t)6 * 8 * 8);
    CHECK(psd_op_output_count(&pool, 1) == (size_t)6 * 4 * 4);
    average.pool.method = PSD_POOL_AVERAGE;
    CHECK(psd_op_output_count(&average, 0) == (size_t)6 * 4 * 4);
    CHECK(psd_op_output_count(&average, 1) == 0);

    CHECK(psd_op_input_count(&loss, 1) == 10);
    CHECK(psd_op_output_count(&loss, 0) == 1);
    CHECK(psd_op_output_count(&loss, 1) == 30);
    CHECK(psd_spec_has_gradient(&loss, 0));
    CHECK(!psd_spec_has_gradient(&loss, 1)); /* labels have none */

    struct psd_op_spec norm = {.kind = PSD_OP_BATCH_NORM, .batch_norm = {2, 3, 4, 1, false}};
    CHECK(psd_op_input_count(&norm, 0) == 24 && psd_op_input_count(&norm, 1) == 0);
    CHECK(psd_op_output_count(&norm, 0) == 24 && psd_op_output_count(&norm, 1) == 6);
    norm.batch_norm.global = true;
    CHECK(psd_op_input_count(&norm, 1) == 6 && psd_op_output_count(&norm, 1) == 0);
    CHECK(!psd_spec_has_gradient(&norm, 1));
    struct psd_op_spec scale = {.kind = PSD_OP_SCALE, .scale = {2, 3, 4, false}};
    CHECK(psd_op_input_count(&scale, 1) == 3 && psd_op_input_count(&scale, 2) == 0);
    CHECK(psd_spec_has_gradient(&scale, 1) && !psd_spec_in_place(&scale));
    struct psd_op_spec unit = {.kind = PSD_OP_LSTM_UNIT, .lstm_unit = {2, 3}};
    CHECK(psd_op_input_count(&unit, 1) == 24 && psd_op_input_count(&unit, 2) == 2);
    CHECK(psd_op_output_count(&unit, 0) == 12 && !psd_spec_has_gradient(&unit, 2));
    struct psd_op_spec deconv = {.kind = PSD_OP_DECONV,
                                 .deconv = {{2, 6, 1, {9}, {5}, {3}, {2}, {1}, {1}}, 4, 2, true}};
    CHECK(psd_op_input_count(&deconv, 0) == 40 && psd_op_input_count(&deconv, 1) == 36);
    CHECK(psd_op_input_count(&deconv, 2) == 6 && psd_op_output_count(&deconv, 0) == 108);
    struct psd_op_spec hinge = {.kind = PSD_OP_HINGE_LOSS, .hinge_loss = {2, 3, false}};
    CHECK(psd_op_input_count(&hinge, 1) == 2 && psd_op_output_count(&hinge, 0) == 1);
}

int main(int argc, char **argv)
{
    RUN(every_case_makes_sense)
    RUN(convolutions_that_do_not_fit_are_refused)
    RUN(sizes_that_would_overflow_are_refused)
    RUN(poolings_that_do_not_fit_are_refused)
    RUN(windows_along_many_axes_that_do_not_fit_are_refused)
    RUN(up_to_two_axes_are_a_plain_convolution)
    RUN(the_rest_is_refused_too)
    RUN(counts_follow_from_a_spec)
}
