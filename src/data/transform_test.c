/* transform_test.c - crops, mirrors, means and scales of a sample whose values say where they are.
 */
#include "base/alloc.h"
#include "data/transform.h"
#include "scratch.h"

enum { CHANNELS = 2, HEIGHT = 5, WIDTH = 40, COUNT = CHANNELS * HEIGHT * WIDTH };

static uint8_t bytes[COUNT];
static float floats[COUNT], out[COUNT];
static struct psd_sample sample = {{CHANNELS, HEIGHT, WIDTH}, bytes, NULL};
static const struct psd_draw first_draw = {1, 2, 3};

static bool same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

static float value_at(size_t c, size_t y, size_t x)
{
    return (float)((c * 100 + y * 45 + x) % 256);
}

static size_t place(size_t c, size_t y, size_t x)
{
    return (c * HEIGHT + y) * WIDTH + x;
}

static void fill_samples(void)
{
    for (size_t c = 0; c < CHANNELS; c++) {
        for (size_t y = 0; y < HEIGHT; y++) {
            for (size_t x = 0; x < WIDTH; x++) {
                bytes[place(c, y, x)] = (uint8_t)value_at(c, y, x);
                floats[place(c, y, x)] = value_at(c, y, x);
            }
        }
    }
}

static Caffe__TransformationParameter param = CAFFE__TRANSFORMATION_PARAMETER__INIT;

static struct psd_transform *new_transform(Caffe__Phase phase)
{
    struct psd_transform *transform = NULL;

    fill_samples();
    CHECK_OK(psd_transform_create(&param, phase, NULL, &transform));
    return transform;
}

static void without_parameters_values_stay(void)
{
    struct psd_transform *transform = NULL;
    struct psd_sample_shape shape;

    fill_samples();
    CHECK_OK(psd_transform_create(NULL, CAFFE__PHASE__TRAIN, NULL, &transform));
    CHECK_OK(psd_transform_shape(transform, sample.shape, &shape));
    CHECK(shape.channels == CHANNELS && shape.height == HEIGHT && shape.width == WIDTH);
    CHECK(psd_transform_color(transform) == PSD_IMAGE_NATIVE);
    psd_transform_apply(transform, &sample, &first_draw, out);
    CHECK(same_bits(out, floats, sizeof out));
    psd_transform_destroy(transform);
}

static void bytes_and_floats_give_the_same(void)
{
    float mean[] = {3.5f, 7.25f}, others[COUNT];
    struct psd_sample of_floats = {sample.shape, NULL, floats};

    param.mean_value = mean;
    param.n_mean_value = 2;
    param.scale = 0.1f;
    struct psd_transform *transform = new_transform(CAFFE__PHASE__TEST);
    psd_transform_apply(transform, &sample, &first_draw, out);
    psd_transform_apply(transform, &of_floats, &first_draw, others);
    CHECK(same_bits(out, others, sizeof out));
    CHECK(out[place(0, 1, 2)] == (value_at(0, 1, 2) - 3.5f) * 0.1f);
    CHECK(out[place(1, 4, 39)] == (value_at(1, 4, 39) - 7.25f) * 0.1f);
    psd_transform_destroy(transform);
}

static void a_test_crop_is_in_the_middle(void)
{
    struct psd_sample_shape shape;

    param.has_crop_size = 1;
    param.crop_size = 4;
    struct psd_transform *transform = new_transform(CAFFE__PHASE__TEST);
    CHECK_OK(psd_transform_shape(transform, sample.shape, &shape));
    CHECK(shape.channels == CHANNELS && shape.height == 4 && shape.width == 4);
    psd_transform_apply(transform, &sample, &first_draw, out);
    for (size_t c = 0; c < CHANNELS; c++) {
        for (size_t i = 0; i < 16; i++)
            CHECK(out[16 * c + i] == value_at(c, i / 4, 18 + i % 4));
    }
    psd_transform_destroy(transform);
}

/* Where the 4 x 4 values in `out` come from; every channel must agree. */
static void find_crop(size_t *top, size_t *left, bool *mirrored)
{
    for (size_t at = 0; at < 2ul * (HEIGHT - 3) * (WIDTH - 3); at++) {
        size_t y = at / 2 / (WIDTH - 3), x = at / 2 % (WIDTH - 3), same = 0;
        for (size_t i = 0; i < 16ul * CHANNELS; i++) {
            size_t column = at % 2 ? 3 - i % 4 : i % 4;
            same += out[i] == value_at(i / 16, y + i / 4 % 4, x + column);
        }
        if (same == 16ul * CHANNELS) {
            *top = y, *left = x, *mirrored = at % 2;
            return;
        }
    }
    TEST_FAIL("this is no crop of the sample");
}

static void training_crops_and_mirrors_are_everywhere_equally_often(void)
{
    enum { DRAWS = 6000 };
    int tops[HEIGHT] = {0}, lefts[WIDTH] = {0}, mirrors = 0;

    param.crop_size = 4;
    param.mirror = 1;
    struct psd_transform *transform = new_transform(CAFFE__PHASE__TRAIN);
    for (uint64_t i = 0; i < DRAWS; i++) {
        size_t top = 0, left = 0;
        bool mirrored = false;
        psd_transform_apply(transform, &sample, &(struct psd_draw){9, i / 60, i % 60}, out);
        find_crop(&top, &left, &mirrored);
        tops[top]++;
        lefts[left]++;
        mirrors += mirrored;
    }
    CHECK_NEAR(mirrors, DRAWS / 2.0, 200);
    CHECK_NEAR(tops[0], DRAWS / 2.0, 200);
    CHECK_NEAR(tops[1], DRAWS / 2.0, 200);
    for (size_t x = 0; x <= WIDTH - 4; x++)
        CHECK_NEAR(lefts[x], DRAWS / (WIDTH - 3.0), 80);
    psd_transform_destroy(transform);
}

static void chance_is_a_function_of_the_draw_alone(void)
{
    float again[COUNT];
    int differ = 0;

    param.crop_size = 4;
    param.mirror = 1;
    struct psd_transform *transform = new_transform(CAFFE__PHASE__TRAIN);
    struct psd_transform *other = new_transform(CAFFE__PHASE__TRAIN);
    for (uint64_t i = 0; i < 100; i++) {
        struct psd_draw draw = {5, 6, i};
        psd_transform_apply(transform, &sample, &draw, out);
        psd_transform_apply(other, &sample, &draw, again);
        CHECK(same_bits(out, again, 32 * sizeof *out));
        draw.seed++;
        psd_transform_apply(other, &sample, &draw, again);
        differ += !same_bits(out, again, 32 * sizeof *out);
    }
    CHECK(differ > 80);
    psd_transform_destroy(other);
    psd_transform_destroy(transform);
}

static void a_mirrored_whole_sample_is_turned_row_by_row(void)
{
    bool seen = false;

    param.mirror = 1;
    struct psd_transform *transform = new_transform(CAFFE__PHASE__TEST);
    for (uint64_t i = 0; i < 50; i++) {
        psd_transform_apply(transform, &sample, &(struct psd_draw){1, 1, i}, out);
        bool mirrored = out[0] != value_at(0, 0, 0);
        for (size_t x = 0; x < WIDTH; x++)
            CHECK(out[place(1, 2, x)] == value_at(1, 2, mirrored ? WIDTH - 1 - x : x));
        seen |= mirrored;
    }
    CHECK(seen);
    psd_transform_destroy(transform);
}

static void contradictions_are_refused(void)
{
    struct psd_transform *transform = NULL;
    float mean = 1;
    char name[] = "nothing.binaryproto";

    param.force_color = param.force_gray = 1;
    CHECK_STATUS(PSD_ECONFIG, psd_transform_create(&param, CAFFE__PHASE__TRAIN, NULL, &transform));
    param.force_gray = 0;
    param.mean_file = name;
    param.mean_value = &mean;
    param.n_mean_value = 1;
    CHECK_STATUS(PSD_ECONFIG, psd_transform_create(&param, CAFFE__PHASE__TRAIN, NULL, &transform));
    param.n_mean_value = 0;
    CHECK_STATUS(PSD_ECONFIG, psd_transform_create(&param, CAFFE__PHASE__TRAIN, NULL, &transform));
    CHECK(strstr(psd_error(), "there is no file nothing.binaryproto"));
    CHECK(transform == NULL);
}

static void samples_that_do_not_fit_are_refused(void)
{
    struct psd_sample_shape shape;
    float means[] = {1, 2, 3};

    param.crop_size = 6;
    struct psd_transform *transform = new_transform(CAFFE__PHASE__TRAIN);
    CHECK_STATUS(PSD_ECONFIG, psd_transform_shape(transform, sample.shape, &shape));
    CHECK(strstr(psd_error(), "crop_size: 6"));
    psd_transform_destroy(transform);
    param.crop_size = 0;
    param.mean_value = means;
    param.n_mean_value = 3;
    transform = new_transform(CAFFE__PHASE__TRAIN);
    CHECK_STATUS(PSD_ECONFIG, psd_transform_shape(transform, sample.shape, &shape));
    psd_transform_destroy(transform);
}

static void force_color_and_gray_are_for_decoding(void)
{
    param.force_color = 1;
    struct psd_transform *transform = new_transform(CAFFE__PHASE__TRAIN);
    CHECK(psd_transform_color(transform) == PSD_IMAGE_COLOR);
    psd_transform_destroy(transform);
    param.force_color = 0;
    param.force_gray = 1;
    transform = new_transform(CAFFE__PHASE__TRAIN);
    CHECK(psd_transform_color(transform) == PSD_IMAGE_GRAY);
    psd_transform_destroy(transform);
}

static void create_survives_every_failed_allocation(void)
{
    char name[] = "../mean.binaryproto";
    bool failed = true;

    param.mean_file = name;
    for (long n = 0; failed; n++) {
        struct psd_transform *transform = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_transform_create(
            &param, CAFFE__PHASE__TRAIN, "tests/fixtures/data/enc_test/net.prototxt", &transform);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_transform_destroy(transform);
    }
}

int main(int argc, char **argv)
{
    RUN(without_parameters_values_stay)
    RUN(bytes_and_floats_give_the_same)
    RUN(a_test_crop_is_in_the_middle)
    RUN(training_crops_and_mirrors_are_everywhere_equally_often)
    RUN(chance_is_a_function_of_the_draw_alone)
    RUN(a_mirrored_whole_sample_is_turned_row_by_row)
    RUN(contradictions_are_refused)
    RUN(samples_that_do_not_fit_are_refused)
    RUN(force_color_and_gray_are_for_decoding)
    RUN(create_survives_every_failed_allocation)
}
