#include "nets.h"

#define DUMMY(tops, param) \
    "layer { name: 'd' type: 'DummyData' " tops " dummy_data_param { " param " } }"

static const char *shape_of(const struct lab *lab, const char *name)
{
    static char text[100];

    return psd_shape_text(&psd_net_blob(lab->net, name)->shape, text, sizeof text);
}

static void shapes_are_for_all_tops_or_for_each(void)
{
    struct lab all = lab_of(DUMMY("top: 'a' top: 'b'", "shape { dim: 2 dim: 3 }"));
    struct lab each = lab_of(DUMMY("top: 'a' top: 'b'", "shape { dim: 2 } shape { dim: 5 }"));
    struct lab old = lab_of(DUMMY("top: 'a' top: 'b'", "num: 2 num: 4 channels: 3 height: 1 width: "
                                                       "1 width: 5"));

    CHECK_TEXT("2 3 (6)", shape_of(&all, "b"));
    CHECK_TEXT("2 (2)", shape_of(&each, "a"));
    CHECK_TEXT("5 (5)", shape_of(&each, "b"));
    CHECK_TEXT("2 3 1 1 (6)", shape_of(&old, "a"));
    CHECK_TEXT("4 3 1 5 (60)", shape_of(&old, "b"));
    lab_close(&all);
    lab_close(&each);
    lab_close(&old);
}

static void constants_are_filled_once_and_the_rest_is_drawn_anew(void)
{
    struct lab lab = lab_of(DUMMY("top: 'a' top: 'b'", "shape { dim: 9 } data_filler { value: 3 } "
                                                       "data_filler { type: 'gaussian' }"));
    float *a = lab_values(&lab, "a"), *b = lab_values(&lab, "b"), first[9];

    CHECK_NEAR(a[8], 3, 0); /* before any forward */
    CHECK_OK(psd_net_forward(lab.net, NULL));
    memcpy(first, b, sizeof first);
    a[8] = 5;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(a[8], 5, 0);
    CHECK(!same_bits(first, b, sizeof first));
    CHECK_OK(psd_net_seek(lab.net, &(struct psd_net_position){0}));
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(same_bits(first, b, sizeof first));
    lab_close(&lab);
}

/* Two workers with half of the samples each draw what one with all of them draws. */
static void workers_draw_for_their_own_samples(void)
{
    static const char *const fillers[] = {"gaussian", "uniform", "positive_unitball", "xavier"};
    static const unsigned both[] = {0, 1};
    struct psd_net_position position = {.workers = both, .n_workers = 2, .of = 2};
    char text[300];

    for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++) {
        snprintf(text, sizeof text,
                 DUMMY("top: 'a'", "shape { dim: %d dim: 5 } data_filler { type: '%s' }"), 8,
                 fillers[i]);
        struct lab whole = lab_of(text);
        snprintf(text, sizeof text,
                 DUMMY("top: 'a'", "shape { dim: %d dim: 5 } data_filler { type: '%s' }"), 4,
                 fillers[i]);
        struct lab half = lab_of(text);
        CHECK_OK(psd_net_seek(half.net, &position));
        for (size_t n = 0; n < 6; n++) {
            if (n % 2 == 0)
                CHECK_OK(psd_net_forward(whole.net, NULL));
            CHECK_OK(psd_net_forward(half.net, NULL));
            CHECK(same_bits(lab_values(&half, "a"), lab_values(&whole, "a") + n % 2 * 20,
                            20 * sizeof(float)));
        }
        lab_close(&half);
        lab_close(&whole);
    }
}

static void no_filler_is_zero(void)
{
    struct lab lab = lab_of(DUMMY("top: 'a'", "shape { dim: 9 }"));

    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(lab_values(&lab, "a")[4], 0, 0);
    lab_close(&lab);
}

/* Caffe lets a layer in place spoil the constant for the next iteration. */
static void a_layer_in_place_does_not_change_a_constant(void)
{
    struct lab lab = lab_of(DUMMY(
        "top: 'a'", "shape { dim: 9 } data_filler { value: 1 }") "layer { name: 't' type: 'TanH' "
                                                                 "bottom: 'a' top: 'a' }");

    for (int i = 0; i < 3; i++)
        CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(lab_values(&lab, "a")[4], 0.76159416, 1e-6);
    lab_close(&lab);
}

static void impossible_parameters_are_refused(void)
{
    static const struct {
        const char *net, *sentence;
    } cases[] = {
        {DUMMY("top: 'a'", ""), "test.prototxt:1:46: layer d: has 0 shapes for 1 tops; give one "
                                "for all, or one for each"},
        {DUMMY("top: 'a'", "shape { dim: 0 }"),
         "test.prototxt:1:73: layer d: dim 0 of a shape is 0; 1 is the least"},
        {DUMMY("top: 'a'", "shape { dim: 1 } num: 3"),
         "test.prototxt:1:65: layer d: has shape and num, channels, height or width; give one "
         "kind"},
        {DUMMY("top: 'a'", "num: 3 channels: 3 height: 3"),
         "test.prototxt:1:46: layer d: has 0 width for 1 tops; give one for all, or one for each"},
        {DUMMY("top: 'a'", "num: 3 channels: 3 height: 3 width: 0"),
         "test.prototxt:1:65: layer d: num, channels, height or width is 0"},
        {DUMMY("top: 'a'", "shape { dim: 1 } data_filler { type: 'cnstant' }"),
         "test.prototxt:1:82: layer d: there is no filler \"cnstant\"; did you mean \"constant\"?"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].sentence, lab_refuses(cases[i].net));
}

int main(int argc, char **argv)
{
    RUN(shapes_are_for_all_tops_or_for_each)
    RUN(constants_are_filled_once_and_the_rest_is_drawn_anew)
    RUN(workers_draw_for_their_own_samples)
    RUN(no_filler_is_zero)
    RUN(a_layer_in_place_does_not_change_a_constant)
    RUN(impossible_parameters_are_refused)
}
