/* spec.c - what each kind of operation demands of its spec, and the sizes that follow from one.
 *
 * Sizes are at most LARGEST each, and so are their products: whoever multiplies or adds a few of
 * them afterwards, as offsets and bytes do, cannot overflow. */
#include "ops/spec.h"

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
    if (s->method == PSD_POOL_STOCHASTIC && (s->pad[0] || s->pad[1]))
        return psd_fail(PSD_EINVAL, "stochastic pooling has no padding");
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
    };
    return names[spec->kind];
}

bool psd_spec_in_place(const struct psd_op_spec *spec)
{
    return spec->kind == PSD_OP_RELU || spec->kind == PSD_OP_TANH || spec->kind == PSD_OP_DROPOUT ||
           spec->kind == PSD_OP_SOFTMAX;
}

bool psd_spec_has_gradient(const struct psd_op_spec *spec, unsigned input)
{
    bool labels = spec->kind == PSD_OP_SOFTMAX_LOSS && input == 1;

    return !labels && psd_op_input_count(spec, input) > 0;
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
    if (spec->kind == PSD_OP_SOFTMAX_LOSS && input == 1)
        return spec->softmax_loss.outer * spec->softmax_loss.inner;
    return input == 0 ? first_input(spec) : 0;
}

static size_t pool_output(const struct psd_pool_spec *s, unsigned output)
{
    bool wins = s->method == PSD_POOL_MAX || (s->method == PSD_POOL_STOCHASTIC && s->train);

    return output == 0 || wins ? s->planes * s->out_height * s->out_width : 0;
}

size_t psd_op_output_count(const struct psd_op_spec *spec, unsigned output)
{
    const struct psd_conv_spec *conv = &spec->conv;

    if (output >= PSD_OP_OUTPUTS)
        return 0;
    if (spec->kind == PSD_OP_POOL)
        return pool_output(&spec->pool, output);
    if (spec->kind == PSD_OP_SOFTMAX_LOSS)
        return output == 0 ? 1 : first_input(spec);
    if (output > 0)
        return 0;
    if (spec->kind == PSD_OP_CONV)
        return conv->batch * conv->outputs * conv->out_height * conv->out_width;
    return spec->kind == PSD_OP_FC ? spec->fc.rows * spec->fc.outputs : first_input(spec);
}
