/* cases.h - the operations that every backend is tested and timed with (ops_test.c, ops_slope_test.c).
 *
 * Odd shapes come first: each differs from the usual in one way that has broken somebody's kernel.
 * Then the layers of known nets, with few samples to be tested and, marked BENCH, with as many as
 * in training to be timed. */
#ifndef PSD_OPS_CASES_H
#define PSD_OPS_CASES_H

#include "ops/ops.h"

enum op_case_use { TEST, NET, BENCH };

struct op_case {
    const char *name;
    enum op_case_use use;
    double tolerance; /* of what a backend may differ from plain, in parts of the largest value */
    struct psd_op_spec spec;
};

/* clang-format off */
#define CONV(...)         {.kind = PSD_OP_CONV, .conv = {__VA_ARGS__}}
#define POOL(...)         {.kind = PSD_OP_POOL, .pool = {__VA_ARGS__}}
#define FC(...)           {.kind = PSD_OP_FC, .fc = {__VA_ARGS__}}
#define RELU(...)         {.kind = PSD_OP_RELU, .relu = {__VA_ARGS__}}
#define TANH(...)         {.kind = PSD_OP_TANH, .tanh = {__VA_ARGS__}}
#define LRN(...)          {.kind = PSD_OP_LRN, .lrn = {__VA_ARGS__}}
#define DROPOUT(...)      {.kind = PSD_OP_DROPOUT, .dropout = {__VA_ARGS__}}
#define SOFTMAX(...)      {.kind = PSD_OP_SOFTMAX, .softmax = {__VA_ARGS__}}
#define SOFTMAX_LOSS(...) {.kind = PSD_OP_SOFTMAX_LOSS, .softmax_loss = {__VA_ARGS__}}
#define BATCH_NORM(...)   {.kind = PSD_OP_BATCH_NORM, .batch_norm = {__VA_ARGS__}}
#define SCALE(...)        {.kind = PSD_OP_SCALE, .scale = {__VA_ARGS__}}
#define BIAS(...)         {.kind = PSD_OP_BIAS, .bias = {__VA_ARGS__}}
#define ELTWISE(...)      {.kind = PSD_OP_ELTWISE, .eltwise = {__VA_ARGS__}}
#define LSTM_UNIT(...)    {.kind = PSD_OP_LSTM_UNIT, .lstm_unit = {__VA_ARGS__}}
#define MAP(...)          {.kind = PSD_OP_MAP, .map = {__VA_ARGS__}}
#define PRELU(...)        {.kind = PSD_OP_PRELU, .prelu = {__VA_ARGS__}}
#define REDUCE(...)       {.kind = PSD_OP_REDUCE, .reduce = {__VA_ARGS__}}
#define DISTANCE_LOSS(...) {.kind = PSD_OP_DISTANCE_LOSS, .distance_loss = {__VA_ARGS__}}
#define HINGE_LOSS(...)   {.kind = PSD_OP_HINGE_LOSS, .hinge_loss = {__VA_ARGS__}}
#define SIGMOID_LOSS(...) {.kind = PSD_OP_SIGMOID_LOSS, .sigmoid_loss = {__VA_ARGS__}}
#define COLUMNS(...)      {.kind = PSD_OP_COLUMNS, .columns = {__VA_ARGS__}}
#define CONV_ND(...)      {.kind = PSD_OP_CONV_ND, .conv_nd = {__VA_ARGS__}}
#define DECONV(...)       {.kind = PSD_OP_DECONV, .deconv = {__VA_ARGS__}}
#define MAX PSD_POOL_MAX
#define AVE PSD_POOL_AVERAGE
#define STO PSD_POOL_STOCHASTIC

static const struct op_case op_cases[] = {
    /*                               batch, channels, height, width, outputs, out h, out w, group,
                                     kernel, stride, pad, dilation, bias */
    {"conv one pixel",    TEST, 1e-5, CONV(1, 1, 1, 1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"conv 1x1",          TEST, 1e-5, CONV(2, 5, 6, 7, 9, 6, 7, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"conv 1x1 wide",     TEST, 1e-5, CONV(2, 24, 9, 9, 40, 9, 9, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"conv 1x1 strided",  TEST, 1e-5, CONV(2, 8, 7, 8, 16, 3, 3, 1, {1, 1}, {3, 3}, {0, 0}, {1, 1}, false)},
    {"conv 1x5",          TEST, 1e-5, CONV(2, 3, 6, 11, 4, 6, 7, 1, {1, 5}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"conv 7x1 padded",   TEST, 1e-5, CONV(1, 4, 9, 5, 6, 9, 5, 1, {7, 1}, {1, 1}, {3, 0}, {1, 1}, true)},
    {"conv whole image",  TEST, 1e-5, CONV(3, 2, 4, 5, 7, 1, 1, 1, {4, 5}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"conv 3x3",          TEST, 1e-5, CONV(2, 8, 10, 10, 16, 8, 8, 1, {3, 3}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"conv 3x3 no bias",  TEST, 1e-5, CONV(2, 3, 8, 9, 13, 8, 9, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false)},
    {"conv 3x3 stride 2", TEST, 1e-5, CONV(2, 7, 9, 10, 5, 5, 5, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true)},
    {"conv leftover",     TEST, 1e-5, CONV(2, 3, 10, 12, 8, 4, 4, 1, {3, 3}, {2, 3}, {0, 0}, {1, 1}, true)},
    {"conv gaps",         TEST, 1e-5, CONV(1, 3, 11, 13, 6, 3, 3, 1, {2, 3}, {4, 5}, {0, 0}, {1, 1}, true)},
    {"conv much padding", TEST, 1e-5, CONV(1, 2, 3, 4, 3, 7, 10, 1, {3, 3}, {1, 1}, {3, 4}, {1, 1}, true)},
    {"conv dilated",      TEST, 1e-5, CONV(2, 4, 12, 11, 5, 8, 9, 1, {3, 3}, {1, 1}, {0, 2}, {2, 3}, true)},
    {"conv dilated gaps", TEST, 1e-5, CONV(1, 3, 14, 13, 4, 5, 5, 1, {3, 2}, {2, 3}, {0, 1}, {2, 2}, true)},
    {"conv 2 groups",     TEST, 1e-5, CONV(2, 6, 7, 7, 10, 7, 7, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true)},
    {"conv 2 groups of 8", TEST, 1e-5, CONV(2, 16, 6, 7, 32, 6, 7, 2, {5, 5}, {1, 1}, {2, 2}, {1, 1}, true)},
    {"conv depthwise",    TEST, 1e-5, CONV(2, 9, 8, 8, 9, 4, 4, 9, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true)},
    {"conv depthwise x2", TEST, 1e-5, CONV(1, 5, 6, 6, 10, 6, 6, 5, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false)},
    {"conv batch 1",      TEST, 1e-5, CONV(1, 13, 17, 19, 21, 17, 19, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true)},
    {"conv batch 5",      TEST, 1e-5, CONV(5, 4, 5, 6, 3, 3, 4, 1, {3, 3}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"conv 5x5 to a pixel", TEST, 1e-5, CONV(2, 12, 5, 5, 12, 1, 1, 1, {5, 5}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"conv 5x5 odd",      TEST, 1e-5, CONV(3, 13, 9, 11, 17, 7, 9, 1, {5, 5}, {1, 1}, {1, 1}, {1, 1}, true)},
    {"conv 5x5 flat",     TEST, 1e-5, CONV(1, 16, 5, 77, 15, 1, 75, 1, {5, 5}, {1, 1}, {0, 1}, {1, 1}, true)},
    {"conv 5x5 no bias",  TEST, 1e-5, CONV(11, 24, 3, 4, 16, 7, 8, 1, {5, 5}, {1, 1}, {4, 4}, {1, 1}, false)},

    /*                               method, planes, height, width, out h, out w, kernel, stride, pad,
                                     train, channels */
    {"max one pixel",     TEST, 1e-6, POOL(MAX, 1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0}, false, 0)},
    {"max 2x2",           TEST, 1e-6, POOL(MAX, 5, 8, 6, 4, 3, {2, 2}, {2, 2}, {0, 0}, false, 0)},
    {"max 2x2 rows of 4", TEST, 1e-6, POOL(MAX, 5, 8, 8, 4, 4, {2, 2}, {2, 2}, {0, 0}, false, 0)},
    {"max 2x2 rows of 12", TEST, 1e-6, POOL(MAX, 3, 4, 24, 2, 12, {2, 2}, {2, 2}, {0, 0}, false, 0)},
    {"max 2x2 a row of 12", TEST, 1e-6, POOL(MAX, 3, 2, 24, 1, 12, {2, 2}, {2, 2}, {0, 0}, false, 0)},
    {"max 2x2 cut",       TEST, 1e-6, POOL(MAX, 3, 7, 9, 4, 5, {2, 2}, {2, 2}, {0, 0}, false, 0)},
    {"max 3x3 overlap",   TEST, 1e-6, POOL(MAX, 4, 8, 8, 4, 4, {3, 3}, {2, 2}, {0, 0}, false, 0)},
    {"max 3x3 rounded down", TEST, 1e-6, POOL(MAX, 4, 8, 8, 3, 3, {3, 3}, {2, 2}, {0, 0}, false, 0)},
    {"max 3x3 padded",    TEST, 1e-6, POOL(MAX, 6, 7, 7, 4, 4, {3, 3}, {2, 2}, {1, 1}, false, 0)},
    {"max 3x3 stride 1",  TEST, 1e-6, POOL(MAX, 17, 9, 11, 9, 11, {3, 3}, {1, 1}, {1, 1}, false, 0)},
    {"max 2x3 pad 0x2",   TEST, 1e-6, POOL(MAX, 2, 5, 6, 3, 8, {2, 3}, {2, 1}, {0, 2}, false, 0)},
    {"max gaps",          TEST, 1e-6, POOL(MAX, 3, 9, 10, 3, 3, {2, 2}, {3, 4}, {0, 0}, false, 0)},
    {"max whole plane",   TEST, 1e-6, POOL(MAX, 9, 6, 7, 1, 1, {6, 7}, {1, 1}, {0, 0}, false, 0)},
    {"ave one pixel",     TEST, 1e-6, POOL(AVE, 1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0}, false, 0)},
    {"ave 2x2",           TEST, 1e-6, POOL(AVE, 5, 8, 6, 4, 3, {2, 2}, {2, 2}, {0, 0}, false, 0)},
    {"ave 3x3 cut",       TEST, 1e-6, POOL(AVE, 3, 8, 8, 4, 4, {3, 3}, {2, 2}, {0, 0}, false, 0)},
    {"ave 3x3 padded",    TEST, 1e-6, POOL(AVE, 6, 8, 7, 5, 4, {3, 3}, {2, 2}, {1, 1}, false, 0)},
    {"ave 3x3 stride 1",  TEST, 1e-6, POOL(AVE, 17, 9, 11, 9, 11, {3, 3}, {1, 1}, {1, 1}, false, 0)},
    {"ave 4x3 pad 3x1",   TEST, 1e-6, POOL(AVE, 2, 5, 6, 4, 4, {4, 3}, {2, 2}, {3, 1}, false, 0)},
    {"ave whole plane",   TEST, 1e-6, POOL(AVE, 9, 6, 7, 1, 1, {6, 7}, {1, 1}, {0, 0}, false, 0)},
    {"stochastic test",   TEST, 1e-6, POOL(STO, 4, 6, 7, 3, 4, {2, 2}, {2, 2}, {0, 0}, false, 2)},
    {"stochastic padded", TEST, 1e-6, POOL(STO, 4, 9, 7, 4, 4, {3, 2}, {3, 2}, {2, 1}, false, 2)},
    {"stochastic train, padded", TEST, 1e-6, POOL(STO, 4, 9, 7, 4, 4, {3, 2}, {3, 2}, {2, 1}, true, 2)},
    {"stochastic train",  TEST, 1e-6, POOL(STO, 6, 7, 7, 3, 3, {3, 3}, {2, 2}, {0, 0}, true, 3)},

    /*                               rows, inputs, outputs, bias, transpose */
    {"fc one value",      TEST, 1e-5, FC(1, 1, 1, true, false)},
    {"fc one row",        TEST, 1e-5, FC(1, 37, 23, true, false)},
    {"fc one output",     TEST, 1e-5, FC(9, 31, 1, true, false)},
    {"fc one input",      TEST, 1e-5, FC(9, 1, 11, true, false)},
    {"fc",                TEST, 1e-5, FC(13, 45, 29, true, false)},
    {"fc no bias",        TEST, 1e-5, FC(16, 64, 32, false, false)},
    {"fc transposed",     TEST, 1e-5, FC(7, 33, 21, true, true)},

    /*                               count, slope */
    {"relu",              TEST, 1e-6, RELU(1003, 0)},
    {"relu one value",    TEST, 1e-6, RELU(1, 0)},
    {"relu sloped",       TEST, 1e-6, RELU(517, 0.25F)},
    {"tanh",              TEST, 1e-6, TANH(1003)},
    {"tanh one value",    TEST, 1e-6, TANH(1)},

    /*                               batch, channels, height, width, size, alpha, beta, k, within */
    {"lrn across",        TEST, 1e-5, LRN(2, 13, 5, 6, 5, 1, 0.75F, 1, false)},
    {"lrn across, k 2",   TEST, 1e-5, LRN(1, 6, 3, 3, 3, 0.5F, 0.5F, 2, false)},
    {"lrn few channels",  TEST, 1e-5, LRN(2, 2, 4, 3, 9, 1, 0.75F, 1, false)},
    {"lrn within",        TEST, 1e-5, LRN(2, 3, 7, 8, 3, 1, 0.75F, 1, true)},
    {"lrn within, wide",  TEST, 1e-5, LRN(1, 2, 4, 5, 7, 2, 0.6F, 1, true)},
    {"lrn of itself",     TEST, 1e-5, LRN(1, 3, 4, 4, 1, 1, 0.75F, 1, false)},

    /*                               count, row, ratio */
    {"dropout",           TEST, 1e-6, DROPOUT(1003, 1003, 0.5F)},
    {"dropout rows",      TEST, 1e-6, DROPOUT(371, 53, 0.3F)},
    {"dropout nothing",   TEST, 1e-6, DROPOUT(64, 16, 0)},

    /*                               outer, channels, inner */
    {"softmax",           TEST, 1e-6, SOFTMAX(7, 10, 1)},
    {"softmax one class", TEST, 1e-6, SOFTMAX(3, 1, 1)},
    {"softmax of pixels", TEST, 1e-6, SOFTMAX(2, 5, 21)},
    {"softmax wide",      TEST, 1e-6, SOFTMAX(3, 1000, 1)},

    /*                               outer, channels, inner, has_ignored, ignored, norm */
    {"loss full",         TEST, 1e-5, SOFTMAX_LOSS(7, 10, 1, false, 0, PSD_LOSS_FULL)},
    {"loss valid",        TEST, 1e-5, SOFTMAX_LOSS(9, 4, 5, true, 2, PSD_LOSS_VALID)},
    {"loss batch size",   TEST, 1e-5, SOFTMAX_LOSS(3, 5, 7, true, 0, PSD_LOSS_BATCH_SIZE)},
    {"loss unnormalized", TEST, 1e-5, SOFTMAX_LOSS(3, 6, 1, false, 0, PSD_LOSS_NONE)},

    /*                               batch, channels, inner, eps, global */
    {"batch norm",        TEST, 1e-5, BATCH_NORM(3, 5, 21, 1e-5F, false)},
    {"batch norm planes", TEST, 1e-5, BATCH_NORM(4, 3, 64, 1e-3F, false)},
    {"batch norm short",  TEST, 1e-5, BATCH_NORM(13, 6, 5, 1e-5F, false)},
    {"batch norm rows",   TEST, 1e-5, BATCH_NORM(31, 9, 1, 1e-5F, false)},
    {"batch norm a value", TEST, 1e-5, BATCH_NORM(1, 4, 1, 1e-5F, false)},
    {"batch norm global", TEST, 1e-5, BATCH_NORM(3, 5, 21, 1e-5F, true)},
    {"batch norm global rows", TEST, 1e-5, BATCH_NORM(7, 9, 1, 1e-5F, true)},

    /*                               outer, channels, inner, bias */
    {"scale",             TEST, 1e-5, SCALE(3, 5, 21, false)},
    {"scale and bias",    TEST, 1e-5, SCALE(4, 3, 64, true)},
    {"scale rows",        TEST, 1e-5, SCALE(7, 19, 1, true)},
    {"scale each value",  TEST, 1e-5, SCALE(1, 37, 1, false)},
    {"scale all values",  TEST, 1e-5, SCALE(1, 1, 53, true)},
    {"scale short rows",  TEST, 1e-5, SCALE(3, 4, 3, true)},
    {"bias",              TEST, 1e-5, BIAS(3, 5, 21)},
    {"bias rows",         TEST, 1e-5, BIAS(7, 19, 1)},
    {"bias all values",   TEST, 1e-5, BIAS(1, 1, 53)},

    /*                               method, count, coefficients */
    {"sum",               TEST, 1e-6, ELTWISE(PSD_ELTWISE_SUM, 1003, {1, 1})},
    {"sum, coefficients", TEST, 1e-6, ELTWISE(PSD_ELTWISE_SUM, 517, {-0.5F, 2})},
    {"sum one value",     TEST, 1e-6, ELTWISE(PSD_ELTWISE_SUM, 1, {1, 0})},
    {"product",           TEST, 1e-6, ELTWISE(PSD_ELTWISE_PRODUCT, 1003, {1, 1})},
    {"larger of two",     TEST, 1e-6, ELTWISE(PSD_ELTWISE_MAX, 1003, {1, 1})},

    /*                               rows, outputs */
    {"lstm unit",         TEST, 1e-6, LSTM_UNIT(5, 13)},
    {"lstm unit one",     TEST, 1e-6, LSTM_UNIT(1, 1)},

    /*                               method, count, a, b, c */
    {"absolute value",    TEST, 1e-6, MAP(PSD_MAP_ABS, 517, 0, 0, 0)},
    {"bnll",              TEST, 1e-6, MAP(PSD_MAP_BNLL, 517, 0, 0, 0)},
    {"clip",              TEST, 1e-6, MAP(PSD_MAP_CLIP, 517, -0.02F, 2, 0)},
    {"elu",               TEST, 1e-6, MAP(PSD_MAP_ELU, 517, 0.7F, 0, 0)},
    {"exp",               TEST, 1e-6, MAP(PSD_MAP_EXP, 517, 0.7F, 0.5F, 1)},
    {"log",               TEST, 1e-6, MAP(PSD_MAP_LOG, 517, 0.4F, 0.5F, 2)},
    {"power",             TEST, 1e-6, MAP(PSD_MAP_POWER, 517, 1.7F, 0.5F, 2.5F)},
    {"power 0",           TEST, 1e-6, MAP(PSD_MAP_POWER, 7, 0, 1, 0)},
    {"power 2",           TEST, 1e-6, MAP(PSD_MAP_POWER, 517, 2, 1.5F, -0.3F)},
    {"sigmoid",           TEST, 1e-6, MAP(PSD_MAP_SIGMOID, 517, 0, 0, 0)},
    {"swish",             TEST, 1e-6, MAP(PSD_MAP_SWISH, 517, 1.5F, 0, 0)},
    {"threshold",         TEST, 1e-6, MAP(PSD_MAP_THRESHOLD, 517, 0.01F, 0, 0)},

    /*                               outer, channels, inner */
    {"prelu",             TEST, 1e-5, PRELU(3, 5, 21)},
    {"prelu shared",      TEST, 1e-5, PRELU(1, 1, 53)},

    /*                               method, rows, count, coefficient */
    {"sum of all",        TEST, 1e-5, REDUCE(PSD_REDUCE_SUM, 1, 53, 1)},
    {"sum of rows",       TEST, 1e-5, REDUCE(PSD_REDUCE_SUM, 5, 13, 0.7F)},
    {"sum of magnitudes", TEST, 1e-5, REDUCE(PSD_REDUCE_ASUM, 5, 13, 0.7F)},
    {"sum of squares",    TEST, 1e-5, REDUCE(PSD_REDUCE_SUMSQ, 5, 13, 0.7F)},
    {"mean of rows",      TEST, 1e-5, REDUCE(PSD_REDUCE_MEAN, 5, 13, 0.7F)},

    {"distance loss",     TEST, 1e-5, DISTANCE_LOSS(7, 13)},
    {"hinge loss",        TEST, 1e-5, HINGE_LOSS(7, 13, false)},
    {"hinge loss of squares", TEST, 1e-5, HINGE_LOSS(7, 13, true)},
    {"sigmoid loss",      TEST, 1e-5, SIGMOID_LOSS(7, 13, false, 0, PSD_LOSS_BATCH_SIZE)},
    {"sigmoid loss full", TEST, 1e-5, SIGMOID_LOSS(7, 13, true, 1, PSD_LOSS_FULL)},
    {"sigmoid loss valid", TEST, 1e-5, SIGMOID_LOSS(7, 13, true, 1, PSD_LOSS_VALID)},
    {"sigmoid loss whole", TEST, 1e-5, SIGMOID_LOSS(7, 13, true, 1, PSD_LOSS_NONE)},

    /*                               batch, channels, axes, sizes, outs, kernels, strides, pads,
                                     dilations */
    {"columns of a vector", TEST, 1e-6, COLUMNS(.batch = 3, .channels = 5)},
    {"columns of a row",  TEST, 1e-6, COLUMNS(2, 3, 1, {11}, {6}, {3}, {2}, {1}, {1})},
    {"columns",           TEST, 1e-6, COLUMNS(2, 3, 2, {7, 6}, {4, 3}, {3, 3}, {2, 2}, {1, 1}, {1, 1})},
    {"columns padded",    TEST, 1e-6, COLUMNS(1, 2, 2, {3, 2}, {9, 8}, {2, 3}, {1, 1}, {4, 5}, {2, 2})},
    {"columns of gaps",   TEST, 1e-6, COLUMNS(2, 2, 2, {9, 11}, {3, 4}, {2, 2}, {3, 3}, {0, 1}, {1, 2})},
    {"columns of a cube", TEST, 1e-6, COLUMNS(2, 2, 3, {5, 4, 6}, {3, 4, 2}, {3, 1, 2}, {2, 1, 3}, {1, 0, 0}, {1, 1, 2})},
    {"columns of a frame", TEST, 1e-6, COLUMNS(2, 7, 2, {31, 29}, {31, 29}, {3, 3}, {1, 1}, {1, 1}, {1, 1})},

    /*                               window as above, outputs, group, bias */
    {"conv of a cube",    TEST, 1e-5, CONV_ND({2, 3, 3, {5, 4, 6}, {3, 4, 2}, {3, 1, 2}, {2, 1, 3}, {1, 0, 0}, {1, 1, 2}}, 4, 1, true)},
    {"conv 3x3x3",        TEST, 1e-5, CONV_ND({3, 4, 3, {4, 5, 6}, {4, 5, 6}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, 6, 2, true)},
    {"conv of four axes", TEST, 1e-5, CONV_ND({2, 2, 4, {3, 4, 2, 3}, {2, 2, 2, 3}, {2, 3, 1, 2}, {1, 1, 1, 2}, {0, 0, 0, 2}, {1, 1, 1, 1}}, 3, 1, false)},
    {"conv nd of images", TEST, 1e-5, CONV_ND({2, 3, 2, {7, 6}, {4, 3}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, 5, 1, true)},
    {"conv nd of vectors", TEST, 1e-5, CONV_ND({.batch = 3, .channels = 6}, 4, 2, true)},
    {"conv 3x3x3 in blocks", NET, 1e-5, CONV_ND({3, 8, 3, {12, 12, 14}, {12, 12, 14}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, 2, 1, true)},

    {"deconv",            TEST, 1e-5, DECONV({2, 3, 2, {9, 11}, {5, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, 4, 1, true)},
    {"deconv 1x1",        TEST, 1e-5, DECONV({2, 5, 2, {4, 9}, {4, 9}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, 3, 1, true)},
    {"deconv stride 1",   TEST, 1e-5, DECONV({3, 6, 2, {7, 8}, {5, 6}, {3, 3}, {1, 1}, {0, 0}, {1, 1}}, 8, 2, true)},
    {"deconv 5x5",        TEST, 1e-5, DECONV({2, 13, 2, {8, 9}, {6, 7}, {5, 5}, {1, 1}, {1, 1}, {1, 1}}, 14, 1, true)},
    {"deconv dilated",    TEST, 1e-5, DECONV({1, 2, 2, {7, 7}, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {2, 2}}, 3, 1, true)},
    {"deconv bilinear",   TEST, 1e-5, DECONV({1, 3, 2, {10, 8}, {5, 4}, {4, 4}, {2, 2}, {1, 1}, {1, 1}}, 3, 3, false)},
    {"deconv gaps",       TEST, 1e-5, DECONV({2, 2, 2, {11, 14}, {4, 5}, {2, 2}, {3, 3}, {0, 0}, {1, 1}}, 3, 1, true)},
    {"deconv cut",        TEST, 1e-5, DECONV({1, 2, 2, {3, 2}, {4, 3}, {2, 2}, {2, 2}, {3, 3}, {2, 3}}, 3, 1, true)},
    {"deconv of a row",   TEST, 1e-5, DECONV({2, 3, 1, {9}, {5}, {3}, {2}, {1}, {1}}, 4, 1, true)},
    {"deconv of vectors", TEST, 1e-5, DECONV({.batch = 3, .channels = 4}, 6, 2, true)},
    {"deconv of a cube",  TEST, 1e-5, DECONV({2, 4, 3, {5, 4, 7}, {3, 4, 3}, {3, 1, 2}, {2, 1, 3}, {1, 0, 1}, {1, 1, 2}}, 2, 2, true)},

    /* Layers of nets with few samples, to be tested. */
    {"lenet conv1 small",   NET, 1e-5, CONV(5, 1, 28, 28, 20, 24, 24, 1, {5, 5}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"lenet conv2 small",   NET, 1e-5, CONV(1, 20, 12, 12, 50, 8, 8, 1, {5, 5}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"lenet ip1 small",     NET, 1e-5, FC(3, 800, 500, true, false)},
    {"cifar conv1 small",   NET, 1e-5, CONV(1, 3, 32, 32, 32, 32, 32, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}, true)},
    {"cifar conv2 small",   NET, 1e-5, CONV(1, 32, 16, 16, 32, 16, 16, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}, true)},
    {"cifar conv3 small",   NET, 1e-5, CONV(2, 32, 8, 8, 64, 8, 8, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}, true)},
    {"cifar pool1 small",   NET, 1e-6, POOL(MAX, 32, 32, 32, 16, 16, {3, 3}, {2, 2}, {0, 0}, false, 32)},
    {"alexnet conv1 small", NET, 1e-5, CONV(1, 3, 59, 59, 96, 13, 13, 1, {11, 11}, {4, 4}, {0, 0}, {1, 1}, true)},
    {"alexnet conv2 small", NET, 1e-5, CONV(1, 96, 9, 9, 64, 9, 9, 2, {5, 5}, {1, 1}, {2, 2}, {1, 1}, true)},
    {"alexnet norm1 small", NET, 1e-5, LRN(1, 96, 9, 9, 5, 1e-4F, 0.75F, 1, false)},

    /* The same with the batches of training, to be timed. */
    {"lenet conv1",       BENCH, 2e-5, CONV(64, 1, 28, 28, 20, 24, 24, 1, {5, 5}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"lenet pool1",       BENCH, 1e-6, POOL(MAX, 1280, 24, 24, 12, 12, {2, 2}, {2, 2}, {0, 0}, false, 20)},
    {"lenet conv2",       BENCH, 2e-5, CONV(64, 20, 12, 12, 50, 8, 8, 1, {5, 5}, {1, 1}, {0, 0}, {1, 1}, true)},
    {"lenet pool2",       BENCH, 1e-6, POOL(MAX, 3200, 8, 8, 4, 4, {2, 2}, {2, 2}, {0, 0}, false, 50)},
    {"lenet ip1",         BENCH, 2e-5, FC(64, 800, 500, true, false)},
    {"lenet relu1",       BENCH, 1e-6, RELU(32000, 0)},
    {"lenet ip2",         BENCH, 2e-5, FC(64, 500, 10, true, false)},
    {"lenet loss",        BENCH, 1e-5, SOFTMAX_LOSS(64, 10, 1, false, 0, PSD_LOSS_VALID)},
    {"cifar conv1",       BENCH, 2e-5, CONV(100, 3, 32, 32, 32, 32, 32, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}, true)},
    {"cifar pool1",       BENCH, 1e-6, POOL(MAX, 3200, 32, 32, 16, 16, {3, 3}, {2, 2}, {0, 0}, false, 32)},
    {"cifar relu1",       BENCH, 1e-6, RELU(819200, 0)},
    {"cifar norm1",       BENCH, 1e-5, LRN(100, 32, 16, 16, 3, 5e-5F, 0.75F, 1, true)},
    {"cifar conv2",       BENCH, 2e-5, CONV(100, 32, 16, 16, 32, 16, 16, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}, true)},
    {"cifar relu2",       BENCH, 1e-6, RELU(819200, 0)},
    {"cifar pool2",       BENCH, 1e-6, POOL(AVE, 3200, 16, 16, 8, 8, {3, 3}, {2, 2}, {0, 0}, false, 32)},
    {"cifar conv3",       BENCH, 2e-5, CONV(100, 32, 8, 8, 64, 8, 8, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}, true)},
    {"cifar pool3",       BENCH, 1e-6, POOL(AVE, 6400, 8, 8, 4, 4, {3, 3}, {2, 2}, {0, 0}, false, 64)},
    {"cifar ip1",         BENCH, 2e-5, FC(100, 1024, 64, true, false)},
    {"alexnet conv1",     BENCH, 2e-5, CONV(4, 3, 227, 227, 96, 55, 55, 1, {11, 11}, {4, 4}, {0, 0}, {1, 1}, true)},
    {"alexnet norm1",     BENCH, 1e-5, LRN(4, 96, 55, 55, 5, 1e-4F, 0.75F, 1, false)},
    {"cubes conv2",       BENCH, 2e-5, CONV_ND({2, 16, 3, {4, 28, 28}, {4, 28, 28}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, 32, 1, true)},
    {"u-net up4",         BENCH, 2e-5, DECONV({4, 32, 2, {56, 56}, {28, 28}, {2, 2}, {2, 2}, {0, 0}, {1, 1}}, 64, 1, true)},
    {"resnet bn2",        BENCH, 1e-5, BATCH_NORM(8, 64, 3136, 1e-5F, false)},
    {"resnet bn5",        BENCH, 1e-5, BATCH_NORM(8, 2048, 49, 1e-5F, false)},
    {"resnet scale2",     BENCH, 1e-5, SCALE(8, 64, 3136, true)},
    {"resnet scale5",     BENCH, 1e-5, SCALE(8, 2048, 49, true)},
    {"resnet sum2",       BENCH, 1e-6, ELTWISE(PSD_ELTWISE_SUM, 6422528, {1, 1})},
    {"alexnet drop6",     BENCH, 1e-6, DROPOUT(262144, 4096, 0.5F)},
};
/* clang-format on */

#undef MAX
#undef AVE
#undef STO

enum { OP_CASES = sizeof op_cases / sizeof *op_cases };

#endif
