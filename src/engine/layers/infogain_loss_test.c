#include "scratch.h"
#include "slopes.h"

#define DATA                                                                               \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 't' top: 'h' "     \
    "input_param { shape { dim: 2 dim: 3 dim: 2 } shape { dim: 2 dim: 2 } shape { dim: 3 " \
    "dim: 3 } } }\n"
#define LOSS(more) \
    "layer { name: 'l' type: 'InfogainLoss' bottom: 'x' bottom: 't' bottom: 'h' " more " }"

static const float matrix[] = {1, 0, 0, .5F, 2, -.5F, 0, 3, 3};

static void set_values(struct lab *lab)
{
    memcpy(lab_values(lab, "t"), (const float[]){0, 1, 2, 2}, 4 * sizeof(float));
    memcpy(lab_values(lab, "h"), matrix, sizeof matrix);
}

/* All scores are equal, so that a place adds log 3 times the sum of its label's row: 1, 2, 6, 6. */
static double loss_with(const char *more)
{
    char net[1000];
    float loss = 0;

    snprintf(net, sizeof net, DATA LOSS("%s"), more);
    struct lab lab = lab_of(net);
    set_values(&lab);
    CHECK_OK(psd_net_forward(lab.net, &loss));
    lab_close(&lab);
    return (double)loss / log(3);
}

static void every_way_of_dividing_the_sum(void)
{
    static const struct {
        const char *more;
        double logs;
    } cases[] = {
        {"", 15 / 4.},
        {"loss_param { ignore_label: 2 }", 3 / 2.},
        {"loss_param { ignore_label: 2 normalization: FULL }", 3 / 4.},
        {"loss_param { ignore_label: 2 normalization: VALID }", 3 / 2.},
        {"loss_param { ignore_label: 1 normalization: BATCH_SIZE }", 13 / 2.},
        {"loss_param { normalization: NONE }", 15},
        {"loss_param { normalize: false }", 15 / 2.},
        {"loss_weight: 2", 15 / 2.},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].more);
        CHECK_NEAR(loss_with(cases[i].more), cases[i].logs, 1e-5);
    }
}

static void a_second_top_has_the_probabilities(void)
{
    struct lab lab = lab_of(DATA LOSS("top: 'loss' top: 'p'"));

    set_values(&lab);
    lab_values(&lab, "x")[0] = 100;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "p")->shape, &psd_net_blob(lab.net, "x")->shape));
    CHECK_NEAR(lab_values(&lab, "p")[0], 1, 1e-6);
    CHECK_NEAR(lab_values(&lab, "p")[1], 1. / 3, 1e-6);
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(!psd_net_blob(lab.net, "h")->diff && !psd_net_blob(lab.net, "t")->diff);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA LOSS(""), set_values);
    check_slopes(DATA LOSS("infogain_loss_param { axis: -2 } loss_param { ignore_label: 2 "
                           "normalization: NONE }"),
                 set_values);
    check_slopes(DATA LOSS("loss_param { ignore_label: 0 }"), set_values);
}

/* --- a matrix in a file ----------------------------------------------------------------------- */

#define FROM_FILE                                                                           \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' top: 't' input_param { " \
    "shape { dim: 2 dim: 2 } shape { dim: 2 } } }\n"                                        \
    "layer { name: 'l' type: 'InfogainLoss' bottom: 'x' bottom: 't' infogain_loss_param { " \
    "source: '%s' } }"

/* A BlobProto of the values 1 2 3 and `last`: data is field 5, packed. */
static const char *matrix_file(char last)
{
    const unsigned char bytes[] = {
        0x2a, 16, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0, 0, (unsigned char)last,
        0x40};
    return scratch_file("h.binaryproto", bytes, sizeof bytes);
}

static void a_file_has_the_matrix(void)
{
    char net[1000];
    float loss = 0;

    snprintf(net, sizeof net, FROM_FILE, matrix_file((char)0x80));
    struct lab lab = lab_of(net);
    lab_values(&lab, "t")[1] = 1;
    CHECK_OK(psd_net_forward(lab.net, &loss));
    CHECK_NEAR(loss, (1 + 2 + 3 + 4) * log(2) / 2, 1e-6);
    lab_close(&lab);
    check_survives(net);
}

static void a_matrix_that_does_not_fit_is_refused(void)
{
    char net[1000];
    const unsigned char one[] = {0x2a, 4, 0, 0, 0x80, 0x3f};

    snprintf(net, sizeof net, FROM_FILE, "none.binaryproto");
    CHECK(strncmp(lab_refuses(net), "test.prototxt:2:", 16) == 0);
    CHECK(strstr(psd_error(), "layer l: ") && strstr(psd_error(), "none.binaryproto"));
    snprintf(net, sizeof net, FROM_FILE, scratch_file("h.bad", "nonsense", 8));
    CHECK(strstr(lab_refuses(net), "layer l: ") && strstr(psd_error(), "h.bad"));
    snprintf(net, sizeof net, FROM_FILE, scratch_file("h.one", one, sizeof one));
    CHECK(strstr(lab_refuses(net), "needs a matrix of 2 x 2 values for its classes, but it has 1"));
    CHECK_TEXT(
        "test.prototxt:2:1: layer l: has no matrix; give its file as source, or a third "
        "bottom",
        lab_refuses(DATA "layer { name: 'l' type: 'InfogainLoss' bottom: 'x' bottom: 't' }"));
    CHECK_TEXT(
        "test.prototxt:2:1: layer l: needs a matrix of 2 x 2 values for its classes, but it "
        "has 9",
        lab_refuses("layer { name: 'd' type: 'Input' top: 'x' top: 't' top: 'h' input_param "
                    "{ shape { dim: 2 dim: 2 } shape { dim: 2 } shape { dim: 9 } } }\n" LOSS("")));
}

static void a_label_that_is_no_class_is_refused(void)
{
    struct lab lab = lab_of(DATA LOSS(""));

    set_values(&lab);
    lab_values(&lab, "t")[3] = 3;
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK_TEXT("test.prototxt:2:1: layer l: label 3 is not one of 0 to 2", psd_error());
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(every_way_of_dividing_the_sum)
    RUN(a_second_top_has_the_probabilities)
    RUN(gradients_are_slopes)
    RUN(a_file_has_the_matrix)
    RUN(a_matrix_that_does_not_fit_is_refused)
    RUN(a_label_that_is_no_class_is_refused)
}
