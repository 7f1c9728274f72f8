/* spec.c - what each kind of operation demands of its spec, and the sizes that follow from one.
 *
 * Sizes are at most LARGEST each, and so are their products: whoever multiplies or adds a few of
 * them afterwards, as offsets and bytes do, cannot overflow. */
#include "ops/spec.h"

#include <string.h>

#define LARGEST (SIZE_MAX >> 8)

static psd_status check_product(const char *what, const size_t *sizes, size_t count)
{
    size_t product = 1;

    for (size_t i = 0; i < count; i++) {
        if (sizes[i] == 0)
            return psd_fail(PSD_EINVAL, "%s: size %zu of %zu is 0", what, i + 1, count);
        if (__builtin_mul_overflow(product, sizes[i], &product) || product > LARGEST)
            return psd_fail(PSD_EINVAL, "%s: more values than this machine can address", what);
    }
    return PSD_OK;
}

/* Every size in the list is at least 1, and all together can be addressed. */
#define CHECK_SIZES(what, ...)                                   \
    PSD_TRY(check_product((what), (const size_t[]){__VA_ARGS__}, \
                          sizeof(size_t[]){__VA_ARGS__} / sizeof(size_t)))

/* --- convolution and pooling
 * ---------------------------------------------------------------------*/

/* One direction of a sliding window. */
struct axis {
    const char *what;
    size_t size, out, kernel, stride, pad, dilation;
};

/* Larger numbers than these are nobody's net, and smaller ones cannot overflow below. */
static psd_status check_axis(const struct axis *axis)
{
    const size_t largest = (size_t)1 << 28;

    if (!axis->kernel || !axis->stride || !axis->dilation)
        return psd_fail(PSD_EINVAL, "%s: kernel, stride and dilation are at least 1", axis->what);
    if (axis->size > largest || axis->kernel > largest || axis->stride > largest ||
        axis->pad > largest || axis->dilation > largest)
        return psd_fail(PSD_EINVAL, "%s: a size is beyond %zu", axis->what, largest);
    return PSD_OK;
}

static psd_status check_conv_axis(const struct axis *axis)
{
    PSD_TRY(check_axis(axis));
    size_t extent = axis->dilation * (axis->kernel - 1) + 1, padded = axis->size + 2 * axis->pad;

    if (extent > padded)
        return psd_fail(PSD_EINVAL,
                        "%s: a kernel that covers %zu does not fit into %zu with padding",
                        axis->what, extent, padded);
    size_t out = (padded - extent) / axis->stride + 1;
    if (axis->out != out)
        return psd_fail(PSD_EINVAL, "%s: the output has %zu, not %zu", axis->what, out, axis->out);
    return PSD_OK;
}

static psd_status check_conv(const struct psd_conv_spec *s)
{
    CHECK_SIZES("input of a convolution", s->batch, s->channels, s->height, s->width);
    CHECK_SIZES("output of a convolution", s->batch, s->outputs, s->out_height, s->out_width);
    CHECK_SIZES("weights of a convolution", s->outputs, s->channels, s->kernel[0], s->kernel[1]);
    if (!s->group || s->channels % s->group || s->outputs % s->group)
        return psd_fail(PSD_EINVAL,
                        "convolution: %zu groups do not divide %zu channels and %zu outputs",
                        s->group, s->channels, s->outputs);
    PSD_TRY(check_conv_axis(&(struct axis){"height of a convolution", s->height, s->out_height,
                                           s->kernel[0], s->stride[0], s->pad[0], s->dilation[0]}));
    return check_conv_axis(&(struct axis){"width of a convolution", s->width, s->out_width,
                                          s->kernel[1], s->stride[1], s->pad[1], s->dilation[1]});
}

/* Input and output of a window along any number of axes, each with what every tap sees. */
static psd_status check_columns(const struct psd_columns_spec *s)
{
    size_t in[2 + PSD_OP_AXES] = {s->batch, s->channels}, out[2 + 2 * PSD_OP_AXES];

    if (s->axes > PSD_OP_AXES)
        return psd_fail(PSD_EINVAL, "a window along %zu axes; %d is the most", s->axes,
                        PSD_OP_AXES);
    memcpy(out, in, 2 * sizeof *in);
    for (size_t i = 0; i < s->axes; i++) {
        in[2 + i] = s->size[i];
        out[2 + 2 * i] = s->kernel[i];
        out[3 + 2 * i] = s->out[i];
        PSD_TRY(
            check_conv_axis(&(struct axis){"an axis of a window", s->size[i], s->out[i],
                                           s->kernel[i], s->stride[i], s->pad[i], s->dilation[i]}));
    }
    PSD_TRY(check_product("input of a window", in, 2 + s->axes));
    return check_product("all that a window sees", out, 2 + 2 * s->axes);
}

static size_t count_of(const size_t *sizes, size_t axes)
{
    size_t count = 1;

    for (size_t i = 0; i < axes; i++)
        count *= sizes[i];
    return count;
}

static psd_status check_conv_nd(const struct psd_conv_nd_spec *s)
{
    const struct psd_columns_spec *w = &s->window;

    PSD_TRY(check_columns(w));
    CHECK_SIZES("output of a convolution", w->batch, s->outputs, count_of(w->out, w->axes));
    CHECK_SIZES("weights of a convolution", s->outputs, w->channels, count_of(w->kernel, w->axes));
    if (!s->group || w->channels % s->group || s->outputs % s->group)
        return psd_fail(PSD_EINVAL,
                        "convolution: %zu groups do not divide %zu channels and %zu outputs",
                        s->group, w->channels, s->outputs);
    return PSD_OK;
}

/* A sample has at most 2^32 values to draw (see psd_op_draw). */
static psd_status check_draws(const struct psd_pool_spec *s)
{
    size_t channels = s->channels ? s->channels : s->planes;

    if (s->planes % channels)
        return psd_fail(PSD_EINVAL, "pooling: %zu planes are no whole samples of %zu", s->planes,
                        channels);
    if (channels * s->out_height * s->out_width > UINT32_MAX)
        return psd_fail(PSD_EINVAL, "pooling: a sample of more than 4294967295 values");
    return PSD_OK;
}

/* The number of windows may be rounded up or down, as long as each one holds a pixel. */
static psd_status check_pool_axis(const struct axis *axis)
{
    PSD_TRY(check_axis(axis));
    size_t padded = axis->size + 2 * axis->pad;
    size_t fewest = padded < axis->kernel ? 1 : (padded - axis->kernel) / axis->stride + 1;
    size_t most = (axis->size + axis->pad - 1) / axis->stride + 1;

    if (axis->pad >= axis->kernel)
        return psd_fail(PSD_EINVAL, "%s: a padding of %zu is not smaller than the kernel, %zu",
                        axis->what, axis->pad, axis->kernel);
    if (axis->out < fewest || axis->out > most)
        return psd_fail(PSD_EINVAL, "%s: the output has %zu to %zu, not %zu", axis->what, fewest,
                        most, axis->out);
    return PSD_OK;
}

static psd_status check_pool(const struct psd_pool_spec *s)
{
    CHECK_SIZES("input of a pooling", s->planes, s->height, s->width);
    CHECK_SIZES("output of a pooling", s->planes, s->out_height, s->out_width);
    if (s->method > PSD_POOL_STOCHASTIC)
        return psd_fail(PSD_EINVAL, "pooling: there is no method %d", (int)s->method);
    if (s->method == PSD_POOL_STOCHASTIC)
        PSD_TRY(check_draws(s));
    PSD_TRY(check_pool_axis(&(struct axis){"height of a pooling", s->height, s->out_height,
                                           s->kernel[0], s->stride[0], s->pad[0], 1}));
    return check_pool_axis(&(struct axis){"width of a pooling", s->width, s->out_width,
                                          s->kernel[1], s->stride[1], s->pad[1], 1});
}

/* --- the others
 * ----------------------------------------------------------------------------------*/

static psd_status check_fc(const struct psd_fc_spec *s)
{
    CHECK_SIZES("input of a fully connected layer", s->rows, s->inputs);
    CHECK_SIZES("output of a fully connected layer", s->rows, s->outputs);
    CHECK_SIZES("weights of a fully connected layer", s->outputs, s->inputs);
    return PSD_OK;
}

static psd_status check_lrn(const struct psd_lrn_spec *s)
{
    CHECK_SIZES("response normalization", s->batch, s->channels, s->height, s->width);
    if (s->size % 2 == 0 || s->size > LARGEST)
        return psd_fail(PSD_EINVAL, "response normalization: the size is odd, not %zu", s->size);
    return PSD_OK;
}

static psd_status check_dropout(const struct psd_dropout_spec *s)
{
    CHECK_SIZES("dropout", s->count);
    if (!s->row || s->count % s->row)
        return psd_fail(PSD_EINVAL, "dropout: %zu values are no whole samples of %zu", s->count,
                        s->row);
    if (s->row > UINT32_MAX)
        return psd_fail(PSD_EINVAL, "dropout: a sample of more than 4294967295 values");
    if (!(s->ratio >= 0 && s->ratio < 1))
        return psd_fail(PSD_EINVAL, "dropout: the ratio is in [0, 1), not %g", (double)s->ratio);
    return PSD_OK;
}

static psd_status check_softmax_loss(const struct psd_softmax_loss_spec *s)
{
    CHECK_SIZES("softmax loss", s->outer, s->channels, s->inner);
    if (s->norm > PSD_LOSS_NONE)
        return psd_fail(PSD_EINVAL, "softmax loss: there is no normalization %d", (int)s->norm);
    return PSD_OK;
}

static psd_status check_batch_norm(const struct psd_batch_norm_spec *s)
{
    CHECK_SIZES("batch normalization", s->batch, s->channels, s->inner);
    if (!(s->eps >= 0))
        return psd_fail(PSD_EINVAL, "batch normalization: eps is at least 0, not %g",
                        (double)s->eps);
    return PSD_OK;
}

static psd_status check_eltwise(const struct psd_eltwise_spec *s)
{
    CHECK_SIZES("eltwise", s->count);
    if (s->method > PSD_ELTWISE_MAX)
        return psd_fail(PSD_EINVAL, "eltwise: there is no method %d", (int)s->method);
    return PSD_OK;
}

static psd_status check_map(const struct psd_map_spec *s)
{
    CHECK_SIZES("map", s->count);
    if (s->method > PSD_MAP_THRESHOLD)
        return psd_fail(PSD_EINVAL, "map: there is no method %d", (int)s->method);
    return PSD_OK;
}

static psd_status check_reduce(const struct psd_reduce_spec *s)
{
    CHECK_SIZES("reduce", s->rows, s->count);
    if (s->method > PSD_REDUCE_MEAN)
        return psd_fail(PSD_EINVAL, "reduce: there is no method %d", (int)s->method);
    return PSD_OK;
}

static psd_status check_sigmoid_loss(const struct psd_sigmoid_loss_spec *s)
{
    CHECK_SIZES("sigmoid loss", s->batch, s->row);
    if (s->norm > PSD_LOSS_NONE)
        return psd_fail(PSD_EINVAL, "sigmoid loss: there is no normalization %d", (int)s->norm);
    return PSD_OK;
}

psd_status psd_spec_check(const struct psd_op_spec *spec)
{
    switch (spec->kind) {
    case PSD_OP_CONV:
        return check_conv(&spec->conv);
    case PSD_OP_POOL:
        return check_pool(&spec->pool);
    case PSD_OP_FC:
        return check_fc(&spec->fc);
    case PSD_OP_RELU:
        return check_product("relu", &spec->relu.count, 1);
    case PSD_OP_TANH:
        return check_product("tanh", &spec->tanh.count, 1);
    case PSD_OP_LRN:
        return check_lrn(&spec->lrn);
    case PSD_OP_DROPOUT:
        return check_dropout(&spec->dropout);
    case PSD_OP_SOFTMAX:
        CHECK_SIZES("softmax", spec->softmax.outer, spec->softmax.channels, spec->softmax.inner);
        return PSD_OK;
    case PSD_OP_SOFTMAX_LOSS:
        return check_softmax_loss(&spec->softmax_loss);
    case PSD_OP_BATCH_NORM:
        return check_batch_norm(&spec->batch_norm);
    case PSD_OP_SCALE:
        CHECK_SIZES("scale", spec->scale.outer, spec->scale.channels, spec->scale.inner);
        return PSD_OK;
    case PSD_OP_BIAS:
        CHECK_SIZES("bias", spec->bias.outer, spec->bias.channels, spec->bias.inner);
        return PSD_OK;
    case PSD_OP_ELTWISE:
        return check_eltwise(&spec->eltwise);
    case PSD_OP_LSTM_UNIT:
        CHECK_SIZES("lstm unit", spec->lstm_unit.rows, spec->lstm_unit.outputs);
        return PSD_OK;
    case PSD_OP_MAP:
        return check_map(&spec->map);
    case PSD_OP_PRELU:
        CHECK_SIZES("prelu", spec->prelu.outer, spec->prelu.channels, spec->prelu.inner);
        return PSD_OK;
    case PSD_OP_REDUCE:
        return check_reduce(&spec->reduce);
    case PSD_OP_DISTANCE_LOSS:
        CHECK_SIZES("distance loss", spec->distance_loss.batch, spec->distance_loss.row);
        return PSD_OK;
    case PSD_OP_HINGE_LOSS:
        CHECK_SIZES("hinge loss", spec->hinge_loss.batch, spec->hinge_loss.classes);
        return PSD_OK;
    case PSD_OP_SIGMOID_LOSS:
        return check_sigmoid_loss(&spec->sigmoid_loss);
    case PSD_OP_COLUMNS:
        return check_columns(&spec->columns);
    case PSD_OP_CONV_ND:
        return check_conv_nd(&spec->conv_nd);
    case PSD_OP_DECONV:
        return check_conv_nd(&spec->deconv);
    case PSD_OP_KINDS:
        break;
    }
    return psd_fail(PSD_EINVAL, "there is no operation %d", (int)spec->kind);
}

/* --- what follows from a spec
 * --------------------------------------------------------------------*/

const char *psd_spec_name(const struct psd_op_spec *spec)
{
    static const char *const names[PSD_OP_KINDS] = {
        [PSD_OP_CONV] = "convolution",
        [PSD_OP_POOL] = "pooling",
        [PSD_OP_FC] = "fully connected",
        [PSD_OP_RELU] = "relu",
        [PSD_OP_TANH] = "tanh",
        [PSD_OP_LRN] = "response normalization",
        [PSD_OP_DROPOUT] = "dropout",
        [PSD_OP_SOFTMAX] = "softmax",
        [PSD_OP_SOFTMAX_LOSS] = "softmax loss",
        [PSD_OP_BATCH_NORM] = "batch normalization",
        [PSD_OP_SCALE] = "scale",
        [PSD_OP_BIAS] = "bias",
        [PSD_OP_ELTWISE] = "eltwise",
        [PSD_OP_LSTM_UNIT] = "lstm unit",
        [PSD_OP_MAP] = "map",
        [PSD_OP_PRELU] = "prelu",
        [PSD_OP_REDUCE] = "reduce",
        [PSD_OP_DISTANCE_LOSS] = "distance loss",
        [PSD_OP_HINGE_LOSS] = "hinge loss",
        [PSD_OP_SIGMOID_LOSS] = "sigmoid loss",
        [PSD_OP_COLUMNS] = "columns",
        [PSD_OP_CONV_ND] = "convolution",
        [PSD_OP_DECONV] = "deconvolution",
    };
    return names[spec->kind];
}

bool psd_spec_in_place(const struct psd_op_spec *spec)
{
    switch (spec->kind) {
    case PSD_OP_RELU:
    case PSD_OP_TANH:
    case PSD_OP_DROPOUT:
    case PSD_OP_SOFTMAX:
    case PSD_OP_BIAS:
        return true;
    case PSD_OP_ELTWISE:
        return spec->eltwise.method == PSD_ELTWISE_SUM;
    default:
        return false;
    }
}

bool psd_spec_has_gradient(const struct psd_op_spec *spec, unsigned input)
{
    switch (spec->kind) {
    case PSD_OP_SOFTMAX_LOSS: /* labels */
    case PSD_OP_HINGE_LOSS:
    case PSD_OP_SIGMOID_LOSS:
    case PSD_OP_BATCH_NORM: /* means and variances */
        return input == 0;
    case PSD_OP_LSTM_UNIT: /* where sequences start */
        return input < 2;
    default:
        return psd_op_input_count(spec, input) > 0;
    }
}

static size_t conv_input(const struct psd_conv_spec *s, unsigned input)
{
    const size_t counts[PSD_OP_INPUTS] = {
        s->batch * s->channels * s->height * s->width,
        s->outputs * (s->channels / s->group) * s->kernel[0] * s->kernel[1],
        s->bias ? s->outputs : 0,
    };
    return counts[input];
}

/* Each tensor of a convolution along any number of axes. */
static size_t image_count(const struct psd_conv_nd_spec *s)
{
    return s->window.batch * s->window.channels * count_of(s->window.size, s->window.axes);
}

static size_t result_count(const struct psd_conv_nd_spec *s)
{
    return s->window.batch * s->outputs * count_of(s->window.out, s->window.axes);
}

static size_t weight_count(const struct psd_conv_nd_spec *s)
{
    return s->outputs * (s->window.channels / s->group) *
           count_of(s->window.kernel, s->window.axes);
}

static size_t conv_nd_input(const struct psd_conv_nd_spec *s, bool back, unsigned input)
{
    size_t biases = back ? s->window.channels : s->outputs;
    const size_t counts[PSD_OP_INPUTS] = {
        back ? result_count(s) : image_count(s),
        weight_count(s),
        s->bias ? biases : 0,
    };
    return counts[input];
}

struct psd_op_spec psd_op_conv(const struct psd_conv_nd_spec *conv)
{
    const struct psd_columns_spec *w = &conv->window;
    struct psd_op_spec spec = {PSD_OP_CONV, .conv = {w->batch, w->channels, 1, 1, conv->outputs, 1,
                                                     1, conv->group, .bias = conv->bias}};
    struct psd_conv_spec *c = &spec.conv;

    if (w->axes > 2)
        return (struct psd_op_spec){PSD_OP_CONV_ND, .conv_nd = *conv};
    c->height = w->axes == 2 ? w->size[0] : 1;
    c->out_height = w->axes == 2 ? w->out[0] : 1;
    c->width = w->axes ? w->size[w->axes - 1] : 1;
    c->out_width = w->axes ? w->out[w->axes - 1] : 1;
    for (size_t i = 0; i < 2; i++) { /* an axis that is missing stands in front */
        bool there = i + w->axes >= 2;
        size_t axis = i + w->axes - 2;
        c->kernel[i] = there ? w->kernel[axis] : 1;
        c->stride[i] = there ? w->stride[axis] : 1;
        c->pad[i] = there ? w->pad[axis] : 0;
        c->dilation[i] = there ? w->dilation[axis] : 1;
    }
    return spec;
}

static size_t fc_input(const struct psd_fc_spec *s, unsigned input)
{
    const size_t counts[PSD_OP_INPUTS] = {
        s->rows * s->inputs,
        s->outputs * s->inputs,
        s->bias ? s->outputs : 0,
    };
    return counts[input];
}

/* Of the only input, or of the first where the others are of another size. */
static size_t first_input(const struct psd_op_spec *spec)
{
    switch (spec->kind) {
    case PSD_OP_POOL:
        return spec->pool.planes * spec->pool.height * spec->pool.width;
    case PSD_OP_RELU:
        return spec->relu.count;
    case PSD_OP_TANH:
        return spec->tanh.count;
    case PSD_OP_LRN:
        return spec->lrn.batch * spec->lrn.channels * spec->lrn.height * spec->lrn.width;
    case PSD_OP_DROPOUT:
        return spec->dropout.count;
    case PSD_OP_SOFTMAX:
        return spec->softmax.outer * spec->softmax.channels * spec->softmax.inner;
    case PSD_OP_SOFTMAX_LOSS:
        return spec->softmax_loss.outer * spec->softmax_loss.channels * spec->softmax_loss.inner;
    case PSD_OP_BATCH_NORM:
        return spec->batch_norm.batch * spec->batch_norm.channels * spec->batch_norm.inner;
    case PSD_OP_SCALE:
        return spec->scale.outer * spec->scale.channels * spec->scale.inner;
    case PSD_OP_BIAS:
        return spec->bias.outer * spec->bias.channels * spec->bias.inner;
    case PSD_OP_ELTWISE:
        return spec->eltwise.count;
    case PSD_OP_LSTM_UNIT:
        return spec->lstm_unit.rows * spec->lstm_unit.outputs;
    case PSD_OP_MAP:
        return spec->map.count;
    case PSD_OP_PRELU:
        return spec->prelu.outer * spec->prelu.channels * spec->prelu.inner;
    case PSD_OP_REDUCE:
        return spec->reduce.rows * spec->reduce.count;
    case PSD_OP_DISTANCE_LOSS:
        return spec->distance_loss.batch * spec->distance_loss.row;
    case PSD_OP_HINGE_LOSS:
        return spec->hinge_loss.batch * spec->hinge_loss.classes;
    case PSD_OP_SIGMOID_LOSS:
        return spec->sigmoid_loss.batch * spec->sigmoid_loss.row;
    case PSD_OP_COLUMNS:
        return spec->columns.batch * spec->columns.channels *
               count_of(spec->columns.size, spec->columns.axes);
    default:
        return 0;
    }
}

/* Of the second and third input, where there are some. */
static size_t next_input(const struct psd_op_spec *spec, unsigned input)
{
    switch (spec->kind) {
    case PSD_OP_SOFTMAX_LOSS:
        return input == 1 ? spec->softmax_loss.outer * spec->softmax_loss.inner : 0;
    case PSD_OP_BATCH_NORM:
        return input == 1 && spec->batch_norm.global ? 2 * spec->batch_norm.channels : 0;
    case PSD_OP_SCALE:
        return input == 1 || spec->scale.bias ? spec->scale.channels : 0;
    case PSD_OP_BIAS:
        return input == 1 ? spec->bias.channels : 0;
    case PSD_OP_ELTWISE:
        return input == 1 ? spec->eltwise.count : 0;
    case PSD_OP_LSTM_UNIT:
        return input == 1 ? 4 * first_input(spec) : spec->lstm_unit.rows;
    case PSD_OP_PRELU:
        return input == 1 ? spec->prelu.channels : 0;
    case PSD_OP_HINGE_LOSS:
        return input == 1 ? spec->hinge_loss.batch : 0;
    case PSD_OP_DISTANCE_LOSS:
    case PSD_OP_SIGMOID_LOSS:
        return input == 1 ? first_input(spec) : 0;
    default:
        return 0;
    }
}

size_t psd_op_input_count(const struct psd_op_spec *spec, unsigned input)
{
    if (input >= PSD_OP_INPUTS)
        return 0;
    if (spec->kind == PSD_OP_CONV)
        return conv_input(&spec->conv, input);
    if (spec->kind == PSD_OP_FC)
        return fc_input(&spec->fc, input);
    if (spec->kind == PSD_OP_CONV_ND || spec->kind == PSD_OP_DECONV)
        return conv_nd_input(&spec->conv_nd, spec->kind == PSD_OP_DECONV, input);
    return input == 0 ? first_input(spec) : next_input(spec, input);
}

static size_t pool_output(const struct psd_pool_spec *s, unsigned output)
{
    bool wins = s->method == PSD_POOL_MAX || (s->method == PSD_POOL_STOCHASTIC && s->train);

    return output == 0 || wins ? s->planes * s->out_height * s->out_width : 0;
}

/* Of the second output, where there is one. */
static size_t second_output(const struct psd_op_spec *spec)
{
    switch (spec->kind) {
    case PSD_OP_POOL:
        return pool_output(&spec->pool, 1);
    case PSD_OP_SOFTMAX_LOSS:
    case PSD_OP_SIGMOID_LOSS:
        return first_input(spec);
    case PSD_OP_BATCH_NORM:
        return spec->batch_norm.global ? 0 : 2 * spec->batch_norm.channels;
    default:
        return 0;
    }
}

size_t psd_op_output_count(const struct psd_op_spec *spec, unsigned output)
{
    const struct psd_conv_spec *conv = &spec->conv;

    if (output > 0)
        return output == 1 ? second_output(spec) : 0;
    switch (spec->kind) {
    case PSD_OP_CONV:
        return conv->batch * conv->outputs * conv->out_height * conv->out_width;
    case PSD_OP_POOL:
        return pool_output(&spec->pool, 0);
    case PSD_OP_FC:
        return spec->fc.rows * spec->fc.outputs;
    case PSD_OP_LSTM_UNIT:
        return 2 * first_input(spec);
    case PSD_OP_REDUCE:
        return spec->reduce.rows;
    case PSD_OP_COLUMNS:
        return spec->columns.batch * spec->columns.channels *
               count_of(spec->columns.kernel, spec->columns.axes) *
               count_of(spec->columns.out, spec->columns.axes);
    case PSD_OP_CONV_ND:
        return result_count(&spec->conv_nd);
    case PSD_OP_DECONV:
        return image_count(&spec->deconv);
    case PSD_OP_SOFTMAX_LOSS:
    case PSD_OP_DISTANCE_LOSS:
    case PSD_OP_HINGE_LOSS:
    case PSD_OP_SIGMOID_LOSS:
        return 1;
    default:
        return first_input(spec);
    }
}
