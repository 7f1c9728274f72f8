#include "base/random.h"
#include "documents.h"
#include "engine/filler.h"

static bool same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

#define FILLER (&caffe__filler_parameter__descriptor)

/* A blob of its own, filled; values are good until the next call. */
struct filled {
    struct psd_device *device;
    struct psd_document *filler;
    struct psd_blob blob;
};

static struct filled prepare(const char *text, struct psd_shape shape)
{
    struct filled f = {.filler = document_of(FILLER, text)};

    CHECK_OK(psd_device_open("host", 0, &f.device));
    psd_blob_init(&f.blob, f.device);
    CHECK_OK(psd_blob_reshape(&f.blob, &shape));
    return f;
}

static psd_status fill(struct filled *f, uint64_t seed, uint64_t stream)
{
    return psd_filler_fill((const Caffe__FillerParameter *)f->filler->root, seed, stream, &f->blob);
}

static void finish(struct filled *f)
{
    psd_blob_fini(&f->blob);
    psd_document_destroy(f->filler);
    psd_device_close(f->device);
}

struct moments {
    double mean, deviation, least, most;
    size_t zeros;
};

static struct moments moments_of(const struct psd_blob *blob)
{
    const float *values = psd_blob_values(blob);
    struct moments m = {.least = HUGE_VAL, .most = -HUGE_VAL};
    double squares = 0;

    for (size_t i = 0; i < blob->count; i++) {
        double value = (double)values[i];
        m.mean += value / (double)blob->count;
        squares += value * value / (double)blob->count;
        m.least = fmin(m.least, value);
        m.most = fmax(m.most, value);
        m.zeros += values[i] == 0;
    }
    m.deviation = sqrt(squares - m.mean * m.mean);
    return m;
}

static struct moments moments_after(const char *text, struct psd_shape shape)
{
    struct filled f = prepare(text, shape);

    CHECK_OK(fill(&f, 1701, 3));
    struct moments m = moments_of(&f.blob);
    finish(&f);
    return m;
}

static void check_against_caffe(const char *text, struct psd_shape shape, const char *file)
{
    struct filled f = prepare(text, shape);
    float theirs[100];
    char path[200];

    CHECK_OK(fill(&f, 1701, 0));
    snprintf(path, sizeof path, "tests/fixtures/rng/%s", file);
    FILE *from = fopen(path, "rb");
    CHECK(from && f.blob.count <= 100);
    CHECK(fread(theirs, sizeof *theirs, f.blob.count, from) == f.blob.count);
    fclose(from);
    CHECK(same_bits(psd_blob_values(&f.blob), theirs, f.blob.count * sizeof *theirs));
    finish(&f);
}

static void constant_and_bilinear_are_caffes_to_the_bit(void)
{
    check_against_caffe("type: 'constant' value: 0.25", psd_shape_of(4, 2, 3, 1, 1),
                        "filler_constant.bin");
    check_against_caffe("type: 'bilinear'", psd_shape_of(4, 3, 1, 4, 4), "filler_bilinear.bin");
    check_against_caffe("type: 'bilinear'", psd_shape_of(4, 2, 1, 5, 5), "filler_bilinear5.bin");
}

static void nothing_said_is_zero(void)
{
    struct filled f = prepare("", psd_shape_of(1, 5, 0, 0, 0));

    CHECK_OK(psd_filler_fill(NULL, 1, 1, &f.blob));
    CHECK(moments_of(&f.blob).zeros == 5);
    CHECK_OK(fill(&f, 1, 1));
    CHECK(moments_of(&f.blob).zeros == 5);
    finish(&f);
}

/* 64 outputs of 32 channels with kernels of 5 x 5: fan in 800, fan out 1600, 51200 values. */
static void drawn_values_have_their_range_and_moments(void)
{
    static const struct {
        const char *text;
        double mean, deviation, most;
    } cases[] = {
        {"type: 'uniform' min: -0.5 max: 2", 0.75, 2.5 / 3.4641016, 2},
        {"type: 'gaussian' mean: 0.5 std: 0.1", 0.5, 0.1, 1.2},
        {"type: 'xavier'", 0, 0.0353553, 0.0612373},
        {"type: 'xavier' variance_norm: FAN_OUT", 0, 0.025, 0.0433013},
        {"type: 'xavier' variance_norm: AVERAGE", 0, 0.0288675, 0.0500001},
        {"type: 'msra'", 0, 0.05, 0.35},
        {"type: 'msra' variance_norm: FAN_OUT", 0, 0.0353553, 0.25},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct moments m = moments_after(cases[i].text, psd_shape_of(4, 64, 32, 5, 5));
        fprintf(stderr, "    %s\n", cases[i].text);
        CHECK_NEAR(m.mean, cases[i].mean, cases[i].deviation / 50);
        CHECK_NEAR(m.deviation, cases[i].deviation, cases[i].deviation / 50);
        CHECK(m.most <= cases[i].most && m.least >= 2 * cases[i].mean - cases[i].most);
    }
}

static void a_vector_has_as_many_outputs_as_values(void)
{
    struct moments in = moments_after("type: 'xavier'", psd_shape_of(1, 4096, 0, 0, 0));
    struct moments out =
        moments_after("type: 'xavier' variance_norm: FAN_OUT", psd_shape_of(1, 4096, 0, 0, 0));

    CHECK_NEAR(in.most, 1.7320508, 0.01);
    CHECK_NEAR(out.most, 1.7320508 / 64, 0.0002);
}

static void sparse_keeps_that_many_of_an_inputs_weights(void)
{
    struct moments m =
        moments_after("type: 'gaussian' std: 1 sparse: 16", psd_shape_of(4, 64, 32, 5, 5));

    CHECK_NEAR((double)m.zeros / 51200, 0.75, 0.01);
    CHECK_NEAR(m.deviation, 0.5, 0.01);
}

static void positive_unitball_sums_to_one_for_each_output(void)
{
    struct filled f = prepare("type: 'positive_unitball'", psd_shape_of(4, 5, 4, 3, 1));

    CHECK_OK(fill(&f, 1701, 0));
    for (size_t row = 0; row < 5; row++) {
        double sum = 0;
        for (size_t i = 0; i < 12; i++) {
            CHECK(psd_blob_values(&f.blob)[row * 12 + i] >= 0);
            sum += (double)psd_blob_values(&f.blob)[row * 12 + i];
        }
        CHECK_NEAR(sum, 1, 1e-6);
    }
    finish(&f);
}

/* A parameter that grows by rows keeps the values it had, and two parameters differ. */
static void values_follow_from_seed_stream_and_element(void)
{
    struct filled small = prepare("type: 'gaussian'", psd_shape_of(2, 10, 10, 0, 0));
    struct filled large = prepare("type: 'gaussian'", psd_shape_of(2, 20, 10, 0, 0));
    const float *a = psd_blob_values(&small.blob), *b = psd_blob_values(&large.blob);

    CHECK_OK(fill(&small, 7, 2));
    CHECK_OK(fill(&large, 7, 2));
    CHECK(same_bits(a, b, 100 * sizeof *a));
    CHECK(a[42] == psd_random_normal(7, 2, 42));
    CHECK_OK(fill(&large, 7, 3));
    CHECK(!same_bits(a, b, 100 * sizeof *a));
    CHECK_OK(fill(&large, 8, 2));
    CHECK(!same_bits(a, b, 100 * sizeof *a));
    finish(&small);
    finish(&large);
}

static void a_part_has_the_values_of_its_places(void)
{
    static const char *const texts[] = {"type: 'uniform'", "type: 'gaussian'", "type: 'xavier'",
                                        "type: 'gaussian' sparse: 2"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct filled whole = prepare(texts[i], psd_shape_of(2, 4, 50, 0, 0));
        struct filled part = prepare(texts[i], psd_shape_of(2, 4, 50, 0, 0));
        CHECK_OK(fill(&whole, 1, 2));
        CHECK_OK(psd_filler_fill_part((const Caffe__FillerParameter *)part.filler->root, 1, 2, 77,
                                      &part.blob));
        CHECK(same_bits(psd_blob_values(&whole.blob) + 77, psd_blob_values(&part.blob),
                        (200 - 77) * sizeof(float)));
        finish(&part);
        finish(&whole);
    }
}

static void impossible_fillers_are_refused(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"type: 'gausian'", "there is no filler \"gausian\"; did you mean \"gaussian\"?"},
        {"type: 'uniform' min: 2 max: 1", "a uniform filler from 2 up to 1"},
        {"type: 'gaussian' std: -1", "a gaussian filler with the std -1"},
        {"type: 'xavier' sparse: 3", "sparse is for the gaussian filler, not for xavier"},
        {"type: 'bilinear'", "a bilinear filler needs square kernels, not the shape 2 3 4 5 (120)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct filled f = prepare(cases[i].text, psd_shape_of(4, 2, 3, 4, 5));
        CHECK_STATUS(PSD_ECONFIG, fill(&f, 1, 1));
        CHECK_TEXT(cases[i].sentence, psd_error());
        finish(&f);
    }
}

int main(int argc, char **argv)
{
    RUN(constant_and_bilinear_are_caffes_to_the_bit)
    RUN(nothing_said_is_zero)
    RUN(drawn_values_have_their_range_and_moments)
    RUN(a_vector_has_as_many_outputs_as_values)
    RUN(sparse_keeps_that_many_of_an_inputs_weights)
    RUN(positive_unitball_sums_to_one_for_each_output)
    RUN(values_follow_from_seed_stream_and_element)
    RUN(a_part_has_the_values_of_its_places)
    RUN(impossible_fillers_are_refused)
}
