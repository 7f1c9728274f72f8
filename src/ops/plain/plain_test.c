/* plain_test.c - the definition itself, against numbers made by hand: where Caffe draws a line, as
 * with windows that are cut, equal values or labels that do not count, this says on which side. */
#include "ops/backend.h"
#include "test.h"

#include <float.h>

/* An operation on arrays. An array that is NULL does not take part. */
struct run {
    struct psd_op_spec spec;
    const float *in[PSD_OP_INPUTS];
    float *out[PSD_OP_OUTPUTS];
    const float *out_diff;
    float *in_diff[PSD_OP_INPUTS];
    uint64_t sample;
};

static struct psd_tensor new_tensor(struct psd_device *device, const float *from, size_t count)
{
    struct psd_tensor tensor = {NULL, 0};

    CHECK_OK(psd_device_alloc(device, count * sizeof(float), &tensor.memory));
    if (from)
        memcpy(psd_tensor_host(tensor), from, count * sizeof(float));
    return tensor;
}

static void take(struct psd_tensor tensor, float *to, size_t count)
{
    if (to)
        memcpy(to, psd_tensor_host(tensor), count * sizeof(float));
    psd_device_free(tensor.memory);
}

static void make_values(const struct run *run, struct psd_device *device,
                        struct psd_op_values *values)
{
    for (unsigned i = 0; i < PSD_OP_INPUTS; i++) {
        if (run->in[i])
            values->in[i] = new_tensor(device, run->in[i], psd_op_input_count(&run->spec, i));
        if (run->in_diff[i])
            values->in_diff[i] = new_tensor(device, NULL, psd_op_input_count(&run->spec, i));
    }
    for (unsigned i = 0; i < PSD_OP_OUTPUTS; i++) {
        if (run->out[i])
            values->out[i] = new_tensor(device, NULL, psd_op_output_count(&run->spec, i));
    }
    if (run->out_diff)
        values->out_diff[0] = new_tensor(device, run->out_diff, psd_op_output_count(&run->spec, 0));
}

static void take_values(const struct run *run, const struct psd_op_values *values)
{
    for (unsigned i = 0; i < PSD_OP_INPUTS; i++) {
        take(values->in[i], NULL, 0);
        take(values->in_diff[i], run->in_diff[i], psd_op_input_count(&run->spec, i));
    }
    for (unsigned i = 0; i < PSD_OP_OUTPUTS; i++)
        take(values->out[i], run->out[i], psd_op_output_count(&run->spec, i));
    take(values->out_diff[0], NULL, 0);
}

/* Forward and, where there is a gradient of the output, backward. */
static psd_status compute(const struct run *run)
{
    struct psd_op_values values = {.seed = 5, .stream = 6, .sample = run->sample};
    struct psd_device *device = NULL;
    struct psd_ops *ops = NULL;
    struct psd_op *op = NULL;

    CHECK_OK(psd_device_open("host", 0, &device));
    CHECK_OK(psd_ops_open(&(struct psd_ops_options){device, 1, "plain"}, &ops));
    CHECK_OK(psd_op_create(ops, &run->spec, &op));
    make_values(run, device, &values);
    psd_status status = psd_op_forward(op, &values);
    if (status == PSD_OK && run->out_diff)
        status = psd_op_backward(op, &values);
    take_values(run, &values);
    psd_op_destroy(op);
    psd_ops_close(ops);
    psd_device_close(device);
    return status;
}

static void check_values(const float *got, const float *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR(got[i], wanted[i], 1e-6);
}

#define CHECK_VALUES(got, ...) \
    check_values((got), (const float[]){__VA_ARGS__}, sizeof(float[]){__VA_ARGS__} / sizeof(float))

/* --- convolution and fully connected ---------------------------------------------------------*/

static void convolution_does_not_turn_the_kernel(void)
{
    float y[2], dx[3], dw[2], db[1];
    struct run run = {
        .spec = {.kind = PSD_OP_CONV,
                 .conv = {1, 1, 1, 3, 1, 1, 2, 1, {1, 2}, {1, 1}, {0, 0}, {1, 1}, true}},
        .in = {(float[]){1, 2, 4}, (float[]){10, 100}, (float[]){0.5F}},
        .out = {y},
        .out_diff = (float[]){1, 3},
        .in_diff = {dx, dw, db},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 210.5F, 420.5F);
    CHECK_VALUES(dx, 10, 130, 300);
    CHECK_VALUES(dw, 7, 14);
    CHECK_VALUES(db, 4);
}

static void groups_see_their_own_channels(void)
{
    float y[4];
    struct run run = {
        .spec = {.kind = PSD_OP_CONV,
                 .conv = {1, 2, 1, 1, 4, 1, 1, 2, {1, 1}, {1, 1}, {0, 0}, {1, 1}, false}},
        .in = {(float[]){1, 10}, (float[]){1, 2, 3, 4}},
        .out = {y},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 1, 2, 30, 40);
}

static void taps_stand_apart_in_a_dilated_kernel(void)
{
    float y[5];
    struct run run = {
        .spec = {.kind = PSD_OP_CONV,
                 .conv = {1, 1, 1, 5, 1, 1, 5, 1, {1, 3}, {1, 1}, {0, 2}, {1, 2}, false}},
        .in = {(float[]){1, 2, 3, 4, 5}, (float[]){100, 10, 1}},
        .out = {y},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 13, 24, 135, 240, 350);
}

static void deconvolution_adds_a_kernel_for_each_value(void)
{
    float y[5], dx[2], dw[3], db[1];
    struct run run = {
        .spec = {.kind = PSD_OP_DECONV,
                 .deconv = {{1, 1, 1, {5}, {2}, {3}, {2}, {0}, {1}}, 1, 1, true}},
        .in = {(float[]){1, 2}, (float[]){1, 10, 100}, (float[]){0.5F}},
        .out = {y},
        .out_diff = (float[]){1, 0, 1, 2, 0},
        .in_diff = {dx, dw, db},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 1.5F, 10.5F, 102.5F, 20.5F, 200.5F);
    CHECK_VALUES(dx, 101, 21);
    CHECK_VALUES(dw, 3, 4, 1);
    CHECK_VALUES(db, 4);
}

/* Two channels, of which each output of two groups sees one. */
static void a_cube_has_windows_along_three_axes(void)
{
    float y[8], dx[16];
    struct run run = {
        .spec = {.kind = PSD_OP_CONV_ND,
                 .conv_nd =
                     {{1, 2, 3, {2, 2, 2}, {1, 2, 2}, {2, 1, 2}, {1, 1, 1}, {0, 0, 1}, {1, 1, 2}},
                      2,
                      2,
                      false}},
        .in = {(float[]){1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1, 1, 1, 1, 1},
               (float[]){1000, 100, 10, 1, 1, 2, 3, 4}},
        .out = {y},
        .out_diff = (float[]){1, 0, 0, 0, 0, 0, 0, 1},
        .in_diff = {dx},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 206, 1050, 408, 3070, 6, 4, 6, 4);
    CHECK_VALUES(dx, 0, 100, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0);
}

static void columns_have_what_each_tap_sees(void)
{
    float y[6], dx[3];
    struct run run = {
        .spec = {.kind = PSD_OP_COLUMNS, .columns = {1, 1, 1, {3}, {2}, {3}, {2}, {1}, {1}}},
        .in = {(float[]){1, 2, 3}},
        .out = {y},
        .out_diff = (float[]){1, 10, 100, 1000, 10000, 100000},
        .in_diff = {dx},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 0, 2, 1, 3, 2, 0);
    CHECK_VALUES(dx, 100, 10010, 1000);
}

static void weights_may_be_transposed(void)
{
    float y[2], dx[3], dw[6], db[2];
    struct run run = {
        .spec = {.kind = PSD_OP_FC, .fc = {1, 3, 2, true, true}},
        .in = {(float[]){1, 2, 3}, (float[]){1, 10, 2, 20, 3, 30}, (float[]){0.5F, 0.25F}},
        .out = {y},
        .out_diff = (float[]){1, -1},
        .in_diff = {dx, dw, db},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 14.5F, 140.25F);
    CHECK_VALUES(dx, -9, -18, -27);
    CHECK_VALUES(dw, 1, -1, 2, -2, 3, -3);
    CHECK_VALUES(db, 1, -1);
}

/* --- pooling ---------------------------------------------------------------------------------*/

static struct psd_op_spec row_pool(enum psd_pool_method method, size_t width, size_t out,
                                   size_t kernel, size_t stride, size_t pad)
{
    return (struct psd_op_spec){
        .kind = PSD_OP_POOL,
        .pool = {method, 1, 1, width, 1, out, {1, kernel}, {1, stride}, {0, pad}, false, 0},
    };
}

static void the_first_of_the_largest_wins(void)
{
    float y[3], places[3], dx[5];
    struct run run = {
        .spec = row_pool(PSD_POOL_MAX, 5, 3, 3, 2, 1),
        .in = {(float[]){-2, -1, -1, -1, -3}},
        .out = {y, places},
        .out_diff = (float[]){1, 10, 100},
        .in_diff = {dx},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, -1, -1, -1);
    CHECK_VALUES(places, 1, 1, 3);
    CHECK_VALUES(dx, 0, 11, 0, 100, 0);
}

/* Of 4 pixels with a padding of 1, windows of 3 start at -1, 1 and 3: the last one has a pixel, one
 * of the padding, and one beyond it, which does not count. */
static void an_average_counts_the_padding_but_nothing_beyond(void)
{
    float y[3], dx[4];
    struct run run = {
        .spec = row_pool(PSD_POOL_AVERAGE, 4, 3, 3, 2, 1),
        .in = {(float[]){3, 6, 9, 12}},
        .out = {y},
        .out_diff = (float[]){3, 6, 2},
        .in_diff = {dx},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 3, 9, 6);
    CHECK_VALUES(dx, 1, 3, 2, 3);
}

static void stochastic_pooling_weighs_values_by_themselves(void)
{
    float y[2], dx[4];
    struct run run = {
        .spec = row_pool(PSD_POOL_STOCHASTIC, 4, 2, 2, 2, 0),
        .in = {(float[]){1, 3, 0, 0}},
        .out = {y},
        .out_diff = (float[]){1, 1},
        .in_diff = {dx},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 2.5F, 0);
    CHECK_VALUES(dx, (2 - 2.5F) / 4, (6 - 2.5F) / 4, 0, 0);
}

enum { DRAWS = 4000 };

static void stochastic_pooling_draws_in_training(void)
{
    static float x[2 * DRAWS], y[DRAWS], places[DRAWS], ones[DRAWS], dx[2 * DRAWS];
    struct run run = {
        .spec = row_pool(PSD_POOL_STOCHASTIC, (size_t)2 * DRAWS, DRAWS, 2, 2, 0),
        .in = {x},
        .out = {y, places},
        .out_diff = ones,
        .in_diff = {dx},
    };
    size_t threes = 0;

    run.spec.pool.train = true;
    for (size_t i = 0; i < DRAWS; i++) {
        x[2 * i] = 1;
        x[2 * i + 1] = 3;
        ones[i] = 1;
    }
    CHECK_OK(compute(&run));
    for (size_t i = 0; i < DRAWS; i++) {
        size_t place = (size_t)places[i];
        CHECK(place / 2 == i && x[place] == y[i]);
        CHECK(dx[place] == 1 && dx[place ^ 1] == 0);
        threes += y[i] == 3;
    }
    CHECK_NEAR((double)threes / DRAWS, 0.75, 0.03);
}

/* --- one value at a time ---------------------------------------------------------------------*/

static void at_zero_relu_has_the_slope_of_the_left(void)
{
    float y[3], dx[3];
    struct run run = {
        .spec = {.kind = PSD_OP_RELU, .relu = {3, 0.5F}},
        .in = {(float[]){-2, 0, 2}},
        .out = {y},
        .out_diff = (float[]){1, 1, 1},
        .in_diff = {dx},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, -1, 0, 2);
    CHECK_VALUES(dx, 0.5F, 0.5F, 1);
}

static void tanh_is_the_hyperbolic_tangent(void)
{
    float y[2], dx[2];
    struct run run = {
        .spec = {.kind = PSD_OP_TANH, .tanh = {2}},
        .in = {(float[]){0, 0.5493061443F}}, /* half the logarithm of 3 */
        .out = {y},
        .out_diff = (float[]){2, 2},
        .in_diff = {dx},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 0, 0.5F);
    CHECK_VALUES(dx, 2, 1.5F);
}

/* What becomes of ones, forward and backward, in rows of 1000. */
struct dropped {
    float y[DRAWS], dx[DRAWS];
};

static void dropout(float ratio, uint64_t sample, size_t rows, struct dropped *out)
{
    static float ones[DRAWS];
    struct run run = {
        .spec = {.kind = PSD_OP_DROPOUT, .dropout = {rows * 1000, 1000, ratio}},
        .in = {ones},
        .out = {out->y},
        .out_diff = ones,
        .in_diff = {out->dx},
        .sample = sample,
    };

    CHECK(rows * 1000 <= DRAWS);
    for (size_t i = 0; i < DRAWS; i++)
        ones[i] = 1;
    CHECK_OK(compute(&run));
}

static void dropout_drops_its_part_and_scales_the_rest(void)
{
    static struct dropped got;
    size_t dropped = 0;

    dropout(0.2F, 0, 4, &got);
    for (size_t i = 0; i < DRAWS; i++) {
        CHECK(got.y[i] == 0 || got.y[i] == 1.25F);
        CHECK(got.dx[i] == got.y[i]);
        dropped += got.y[i] == 0;
    }
    CHECK_NEAR((double)dropped / DRAWS, 0.2, 0.03);
    dropout(0, 0, 1, &got);
    for (size_t i = 0; i < 1000; i++)
        CHECK(got.y[i] == 1);
}

static size_t differences(const float *a, const float *b, size_t count)
{
    size_t different = 0;

    for (size_t i = 0; i < count; i++)
        different += a[i] != b[i];
    return different;
}

/* However a batch is cut into calls. */
static void a_sample_has_its_own_draws_wherever_it_is(void)
{
    static struct dropped whole, part;

    dropout(0.5F, 7, 4, &whole);
    dropout(0.5F, 9, 2, &part);
    CHECK(differences(whole.y + 2000, part.y, 2000) == 0);
    CHECK(differences(whole.y, whole.y + 1000, 1000) > 400);
}

/* --- normalization ---------------------------------------------------------------------------*/

static void normalization_across_divides_by_the_whole_size(void)
{
    float y[3];
    struct run run = {
        .spec = {.kind = PSD_OP_LRN, .lrn = {1, 3, 1, 1, 3, 3, 1, 2, false}},
        .in = {(float[]){1, 2, 3}},
        .out = {y},
    };

    CHECK_OK(compute(&run)); /* scale = 2 + (squares of the neighbours) */
    CHECK_VALUES(y, 1.0F / 7, 2.0F / 16, 3.0F / 15);
}

static void normalization_within_has_squares_and_no_k(void)
{
    float y[4];
    struct run run = {
        .spec = {.kind = PSD_OP_LRN, .lrn = {1, 1, 2, 2, 3, 9, 1, 5, true}},
        .in = {(float[]){1, 2, 3, 4}},
        .out = {y},
    };

    CHECK_OK(compute(&run)); /* scale = 1 + (all four squares) */
    CHECK_VALUES(y, 1.0F / 31, 2.0F / 31, 3.0F / 31, 4.0F / 31);
}

/* --- softmax ---------------------------------------------------------------------------------*/

static void softmax_survives_large_values(void)
{
    float y[4];
    struct run run = {
        .spec = {.kind = PSD_OP_SOFTMAX, .softmax = {1, 2, 2}},
        .in = {(float[]){3e38F, 0, 3e38F, -1e30F}},
        .out = {y},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 0.5F, 1, 0.5F, 0);
}

/* Two samples of two places each with two even classes: a place costs log 2. */
static struct run even_loss(enum psd_loss_norm norm, const float *labels, float *loss, float *dx)
{
    static const float zeros[8], weight[1] = {2};

    return (struct run){
        .spec = {.kind = PSD_OP_SOFTMAX_LOSS, .softmax_loss = {2, 2, 2, true, 255, norm}},
        .in = {zeros, labels},
        .out = {loss},
        .out_diff = weight,
        .in_diff = {dx},
    };
}

static void the_loss_is_divided_as_asked(void)
{
    static const struct {
        enum psd_loss_norm norm;
        float divisor;
    } cases[] = {
        {PSD_LOSS_FULL, 4}, {PSD_LOSS_VALID, 3}, {PSD_LOSS_BATCH_SIZE, 2}, {PSD_LOSS_NONE, 1}};
    const float labels[] = {0, 1, 255, 1};
    float loss, dx[8];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = even_loss(cases[i].norm, labels, &loss, dx);
        float g = 1 / cases[i].divisor; /* the weight, 2, times one half */
        CHECK_OK(compute(&run));
        CHECK_NEAR(loss, 3 * 0.69314718F / cases[i].divisor, 1e-6);
        CHECK_VALUES(dx, -g, g, g, -g, 0, g, 0, -g);
    }
}

static void a_batch_without_valid_labels_costs_nothing(void)
{
    float loss, dx[8];
    struct run run = even_loss(PSD_LOSS_VALID, (float[]){255, 255, 255, 255}, &loss, dx);

    CHECK_OK(compute(&run));
    CHECK(loss == 0);
    CHECK_VALUES(dx, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void a_certain_mistake_costs_the_smallest_float(void)
{
    float loss, p[2];
    struct run run = {
        .spec = {.kind = PSD_OP_SOFTMAX_LOSS, .softmax_loss = {1, 2, 1, false, 0, PSD_LOSS_FULL}},
        .in = {(float[]){1000, 0}, (float[]){1}},
        .out = {&loss, p},
    };

    CHECK_OK(compute(&run));
    CHECK_NEAR(loss, -log((double)FLT_MIN), 1e-5);
    CHECK_VALUES(p, 1, 0);
}

/* Nobody should take a net that has gone astray for one that is certain and wrong. */
static void scores_that_are_no_numbers_have_a_loss_that_is_none(void)
{
    const float scores[][2] = {{NAN, 0}, {0, NAN}, {INFINITY, 0}};
    float loss;

    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) {
        struct run run = {
            .spec = {.kind = PSD_OP_SOFTMAX_LOSS,
                     .softmax_loss = {1, 2, 1, false, 0, PSD_LOSS_FULL}},
            .in = {scores[i], (float[]){1}},
            .out = {&loss},
        };
        CHECK_OK(compute(&run));
        CHECK(isnan(loss));
    }
}

static void labels_outside_the_classes_are_refused(void)
{
    static const struct {
        float label;
        const char *text;
    } cases[] = {{2, "2"}, {-1, "-1"}, {1e30F, "1e+30"}, {NAN, "nan"}};
    float loss, dx[8];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float labels[] = {0, 1, 255, cases[i].label};
        char sentence[128];
        struct run run = even_loss(PSD_LOSS_VALID, labels, &loss, dx);
        snprintf(sentence, sizeof sentence,
                 "label %s of sample 1 of the batch: with 2 classes, labels are 0 to 1",
                 cases[i].text);
        CHECK_STATUS(PSD_ECONFIG, compute(&run));
        CHECK_TEXT(sentence, psd_error());
    }
}

/* --- channels and pairs -------------------------------------------------------------------------*/

/* A channel 1 3 has the mean 2 and the variance 1: of the batch, not an estimate for others. */
static void a_batch_is_normalized_by_its_own_variance(void)
{
    float y[4], measured[4], dx[4];
    struct run run = {
        .spec = {.kind = PSD_OP_BATCH_NORM, .batch_norm = {2, 2, 1, 3, false}},
        .in = {(float[]){1, 10, 3, 30}},
        .out = {y, measured},
        .out_diff = (float[]){1, 0, 0, 0},
        .in_diff = {dx},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(measured, 2, 20, 1, 100);
    CHECK_NEAR(y[0], -0.5, 1e-6);
    CHECK_NEAR(y[2], 0.5, 1e-6);
    /* (1 - 1/2 - n * (1 * n) / 2) / 2 with n = -1/2 */
    CHECK_NEAR(dx[0], (1 - 0.5 - 0.125) / 2, 1e-6);
    CHECK_NEAR(dx[2], (0 - 0.5 + 0.125) / 2, 1e-6);
}

static void given_statistics_are_constants(void)
{
    float y[2], dx[2];
    struct run run = {
        .spec = {.kind = PSD_OP_BATCH_NORM, .batch_norm = {2, 1, 1, 1, true}},
        .in = {(float[]){7, 1}, (float[]){3, 15}},
        .out = {y},
        .out_diff = (float[]){8, 4},
        .in_diff = {dx},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 1, -0.5F);
    CHECK_VALUES(dx, 2, 1);
}

static void a_channel_has_its_factor_and_bias(void)
{
    float y[8], dx[8], df[2], db[2];
    struct run run = {
        .spec = {.kind = PSD_OP_SCALE, .scale = {2, 2, 2, true}},
        .in = {(float[]){1, 2, 3, 4, 5, 6, 7, 8}, (float[]){2, -1}, (float[]){0.5F, 10}},
        .out = {y},
        .out_diff = (float[]){1, 0, 0, 1, 1, 0, 0, 0},
        .in_diff = {dx, df, db},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 2.5F, 4.5F, 7, 6, 10.5F, 12.5F, 3, 2);
    CHECK_VALUES(dx, 2, 0, 0, -1, 2, 0, 0, 0);
    CHECK_VALUES(df, 6, 4);
    CHECK_VALUES(db, 2, 1);
}

static void of_two_equal_values_the_second_is_the_larger(void)
{
    float y[3], da[3], db[3];
    struct run run = {
        .spec = {.kind = PSD_OP_ELTWISE, .eltwise = {PSD_ELTWISE_MAX, 3, {1, 1}}},
        .in = {(float[]){1, 2, 3}, (float[]){2, 2, 2}},
        .out = {y},
        .out_diff = (float[]){1, 1, 1},
        .in_diff = {da, db},
    };

    CHECK_OK(compute(&run));
    CHECK_VALUES(y, 2, 2, 3);
    CHECK_VALUES(da, 0, 0, 1);
    CHECK_VALUES(db, 1, 1, 0);
}

int main(int argc, char **argv)
{
    RUN(convolution_does_not_turn_the_kernel)
    RUN(groups_see_their_own_channels)
    RUN(taps_stand_apart_in_a_dilated_kernel)
    RUN(deconvolution_adds_a_kernel_for_each_value)
    RUN(a_cube_has_windows_along_three_axes)
    RUN(columns_have_what_each_tap_sees)
    RUN(weights_may_be_transposed)
    RUN(the_first_of_the_largest_wins)
    RUN(an_average_counts_the_padding_but_nothing_beyond)
    RUN(stochastic_pooling_weighs_values_by_themselves)
    RUN(stochastic_pooling_draws_in_training)
    RUN(at_zero_relu_has_the_slope_of_the_left)
    RUN(tanh_is_the_hyperbolic_tangent)
    RUN(dropout_drops_its_part_and_scales_the_rest)
    RUN(a_sample_has_its_own_draws_wherever_it_is)
    RUN(normalization_across_divides_by_the_whole_size)
    RUN(normalization_within_has_squares_and_no_k)
    RUN(softmax_survives_large_values)
    RUN(the_loss_is_divided_as_asked)
    RUN(a_batch_without_valid_labels_costs_nothing)
    RUN(a_certain_mistake_costs_the_smallest_float)
    RUN(scores_that_are_no_numbers_have_a_loss_that_is_none)
    RUN(labels_outside_the_classes_are_refused)
    RUN(a_batch_is_normalized_by_its_own_variance)
    RUN(given_statistics_are_constants)
    RUN(a_channel_has_its_factor_and_bias)
    RUN(of_two_equal_values_the_second_is_the_larger)
}
