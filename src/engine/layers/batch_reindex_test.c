#include "slopes.h"

#define DATA(places)                                                                        \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 'i' input_param { " \
    "shape { dim: 3 dim: 2 dim: 2 } shape { " places " } } }\n"
#define REINDEX "layer { name: 'l' type: 'BatchReindex' bottom: 'x' bottom: 'i' top: 'y' }"

static void set_places(struct lab *lab)
{
    memcpy(lab_values(lab, "i"), (const float[]){2, 0, 2, 2, 1.5F}, 5 * sizeof(float));
}

static void samples_come_in_the_order_of_the_places(void)
{
    struct lab lab = lab_of(DATA("dim: 5") REINDEX);
    struct psd_shape shape = psd_shape_of(3, 5, 2, 2, 0);
    const float wanted[] = {2, 0, 2, 2, 1};

    set_places(&lab);
    for (int i = 0; i < 12; i++)
        lab_values(&lab, "x")[i] = (float)i;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "y")->shape, &shape));
    for (int i = 0; i < 20; i++)
        CHECK(lab_values(&lab, "y")[i] == wanted[i / 4] * 4 + (float)(i % 4));
    CHECK(!psd_net_blob(lab.net, "i")->diff);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA("dim: 5") REINDEX, set_places);
}

static void what_is_no_sample_is_refused(void)
{
    struct lab lab = lab_of(DATA("dim: 1") REINDEX);
    static const struct {
        float place;
        const char *sentence;
    } cases[] = {
        {3, "test.prototxt:2:1: layer l: sample 3 is not one of 0 to 2"},
        {-1, "test.prototxt:2:1: layer l: sample -1 is not one of 0 to 2"},
        {1e30F, "test.prototxt:2:1: layer l: sample 1e+30 is not one of 0 to 2"},
        {NAN, "test.prototxt:2:1: layer l: sample nan is not one of 0 to 2"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_values(&lab, "i")[0] = cases[i].place;
        CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
        CHECK_TEXT(cases[i].sentence, psd_error());
    }
    lab_close(&lab);
}

static void shapes_that_do_not_fit_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:1: layer l: reads a blob of 1 axes, but not \"i\" of shape 5 1 (5) "
               "from layer d",
               lab_refuses(DATA("dim: 5 dim: 1") REINDEX));
    CHECK_TEXT(
        "test.prototxt:1:73: layer l: reads samples, but not \"x\" of shape (1) from layer d",
        lab_refuses("layer { name: 'd' type: 'Input' top: 'x' input_param { shape { } } } "
                    "   layer { name: 'l' type: 'BatchReindex' bottom: 'x' bottom: 'x' "
                    "top: 'y' }"));
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(DATA("dim: 5") REINDEX);
}

int main(int argc, char **argv)
{
    RUN(samples_come_in_the_order_of_the_places)
    RUN(gradients_are_slopes)
    RUN(what_is_no_sample_is_refused)
    RUN(shapes_that_do_not_fit_are_refused)
    RUN(making_one_survives_every_failed_allocation)
}
