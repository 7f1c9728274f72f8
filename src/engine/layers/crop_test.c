#include "slopes.h"

#define DATA(shape, like)                                                                   \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 'r' input_param { " \
    "shape { " shape " } shape { " like " } } }\n"
#define CROP(param) \
    "layer { name: 'l' type: 'Crop' bottom: 'x' bottom: 'r' top: 'y' crop_param { " param " } }"
#define IMAGES DATA("dim: 2 dim: 3 dim: 6 dim: 7", "dim: 1 dim: 2 dim: 4 dim: 5")

/* What the four axes of the top begin with, and how long they are. */
struct cut {
    const char *param;
    size_t offset[4], size[4];
};

static const struct cut cuts[] = {
    {"", {0, 0, 0, 0}, {2, 3, 4, 5}},
    {"offset: 2", {0, 0, 2, 2}, {2, 3, 4, 5}},
    {"offset: 1 offset: 2", {0, 0, 1, 2}, {2, 3, 4, 5}},
    {"axis: 3 offset: 1", {0, 0, 0, 1}, {2, 3, 6, 5}},
    {"axis: -1", {0, 0, 0, 0}, {2, 3, 6, 5}},
    {"axis: 1 offset: 1 offset: 2 offset: 0", {0, 1, 2, 0}, {2, 2, 4, 5}},
    {"axis: -4 offset: 1", {1, 1, 1, 1}, {1, 2, 4, 5}},
    {"axis: 0 offset: 0 offset: 1 offset: 0 offset: 2", {0, 1, 0, 2}, {1, 2, 4, 5}},
};

static struct lab lab_of_cut(const struct cut *cut)
{
    char net[600];

    snprintf(net, sizeof net, "%s" CROP("%s"), IMAGES, cut->param);
    return lab_of(net);
}

/* Each value of the top, or of its gradient, is the bottom's at the place that the cut says. */
static void check_places(const struct cut *c, const float *top, const float *bottom)
{
    static const size_t dims[4] = {2, 3, 6, 7};
    size_t count = c->size[0] * c->size[1] * c->size[2] * c->size[3];

    for (size_t i = 0; i < count; i++) {
        size_t place = 0, step = 1, left = i;
        for (size_t axis = 4; axis-- > 0;) {
            place += (left % c->size[axis] + c->offset[axis]) * step;
            left /= c->size[axis];
            step *= dims[axis];
        }
        CHECK(top[i] == bottom[place]);
    }
}

static void what_is_cut_out_is_where_the_offsets_say(void)
{
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct lab lab = lab_of_cut(&cuts[i]);
        const size_t *s = cuts[i].size;
        struct psd_shape shape = psd_shape_of(4, s[0], s[1], s[2], s[3]);
        for (int k = 0; k < 252; k++)
            lab_values(&lab, "x")[k] = (float)k;
        CHECK_OK(psd_net_forward(lab.net, NULL));
        CHECK(psd_shape_same(&psd_net_blob(lab.net, "y")->shape, &shape));
        check_places(&cuts[i], lab_values(&lab, "y"), lab_values(&lab, "x"));
        lab_close(&lab);
    }
}

static void what_is_cut_off_has_no_gradient(void)
{
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct lab lab = lab_of_cut(&cuts[i]);
        size_t count = psd_net_blob(lab.net, "y")->count;
        double sum = 0;
        CHECK_OK(psd_net_forward(lab.net, NULL));
        for (size_t k = 0; k < count; k++)
            lab_gradient(&lab, "y")[k] = (float)(k + 1);
        for (int k = 0; k < 40; k++)
            lab_gradient(&lab, "r")[k] = 7;
        CHECK_OK(psd_net_backward(lab.net, true));
        check_places(&cuts[i], lab_gradient(&lab, "y"), lab_gradient(&lab, "x"));
        for (int k = 0; k < 252; k++)
            sum += (double)lab_gradient(&lab, "x")[k];
        CHECK_NEAR(sum, (double)(count * (count + 1)) / 2, 0);
        for (int k = 0; k < 40; k++)
            CHECK(lab_gradient(&lab, "r")[k] == 0);
        lab_close(&lab);
    }
}

static void gradients_are_slopes(void)
{
    check_slopes(IMAGES CROP("offset: 1 offset: 2"), NULL);
    check_slopes(DATA("dim: 5", "dim: 3 dim: 4") CROP("axis: 0 offset: 2"), NULL);
}

static void a_new_shape_cuts_anew(void)
{
    struct lab lab = lab_of(IMAGES CROP("axis: -1 offset: 1"));
    struct psd_shape three = psd_shape_of(3, 2, 3, 6, 0);

    CHECK_OK(psd_blob_reshape(psd_net_blob(lab.net, "x"), &three));
    CHECK_OK(psd_net_reshape(lab.net));
    lab_scatter(lab_values(&lab, "x"), 36, 1);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_net_blob(lab.net, "y")->shape.dim[2] == 4);
    CHECK(lab_values(&lab, "y")[5] == lab_values(&lab, "x")[8]);
    lab_close(&lab);
}

static void impossible_parameters_are_refused(void)
{
    static const struct {
        const char *net, *sentence;
    } cases[] = {
        {IMAGES CROP("axis: 4"),
         "test.prototxt:2:78: layer l: axis is 4, but it reads \"x\" of shape 2 3 6 7 (252) from "
         "layer d"},
        {IMAGES CROP("offset: 1 offset: 2 offset: 3"),
         "test.prototxt:2:78: layer l: has offset 3 times for 2 axes; give it once, or for each"},
        {IMAGES CROP("offset: 2 offset: 3"),
         "test.prototxt:2:78: layer l: axis 3 is cut to 5 from 3 on, which \"x\" of shape 2 3 6 7 "
         "(252) from layer d does not have"},
        {IMAGES CROP("offset: 8"),
         "test.prototxt:2:78: layer l: axis 2 is cut to 4 from 8 on, which \"x\" of shape 2 3 6 7 "
         "(252) from layer d does not have"},
        {DATA("dim: 2 dim: 3", "dim: 2 dim: 4") CROP("axis: 1"),
         "test.prototxt:2:65: layer l: axis 1 is cut to 4 from 0 on, which \"x\" of shape 2 3 (6) "
         "from layer d does not have"},
        {DATA("dim: 2 dim: 3", "dim: 2") CROP("axis: 1"),
         "test.prototxt:2:1: layer l: has fewer axes to cut to than to cut: \"x\" of shape 2 3 (6) "
         "from layer d, and \"r\" of shape 2 (2) from layer d"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].sentence, lab_refuses(cases[i].net));
}

int main(int argc, char **argv)
{
    RUN(what_is_cut_out_is_where_the_offsets_say)
    RUN(what_is_cut_off_has_no_gradient)
    RUN(gradients_are_slopes)
    RUN(a_new_shape_cuts_anew)
    RUN(impossible_parameters_are_refused)
}
