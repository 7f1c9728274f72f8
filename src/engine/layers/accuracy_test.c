#include "nets.h"

#define DATA                                            \
    "layer { name: 'd' type: 'Input' top: 'x' top: 'l'" \
    "        input_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }\n"
#define ACCURACY(more) \
    "layer { name: 'a' type: 'Accuracy' bottom: 'x' bottom: 'l' top: 'a' " more " }"

static void set(const struct lab *lab, const float *scores, const float *labels)
{
    memcpy(lab_values(lab, "x"), scores, 12 * sizeof(float));
    memcpy(lab_values(lab, "l"), labels, 4 * sizeof(float));
}

static const float scores[] = {9, 1, 0, /**/ 1, 9, 0, /**/ 0, 9, 1, /**/ 5, 5, 0};

static void a_second_top_has_the_accuracy_of_each_class(void)
{
    struct lab lab = lab_of(DATA ACCURACY("top: 'each'"));

    set(&lab, scores, (const float[]){0, 1, 0, 2});
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(lab_values(&lab, "a")[0], 0.5, 0);
    CHECK_NEAR(lab_values(&lab, "each")[0], 0.5, 0);
    CHECK_NEAR(lab_values(&lab, "each")[1], 1, 0);
    CHECK_NEAR(lab_values(&lab, "each")[2], 0, 0);
    CHECK_OK(psd_net_forward(lab.net, NULL)); /* it starts to count anew */
    CHECK_NEAR(lab_values(&lab, "each")[0], 0.5, 0);
    lab_close(&lab);
}

static void of_equal_scores_none_is_the_best(void)
{
    struct lab lab = lab_of(DATA ACCURACY(""));

    set(&lab, scores, (const float[]){0, 1, 1, 0});
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(lab_values(&lab, "a")[0], 0.75, 0);
    lab_close(&lab);
}

static void a_score_that_is_no_number_is_wrong(void)
{
    struct lab lab = lab_of(DATA ACCURACY(""));

    set(&lab, scores, (const float[]){0, 1, 1, 2});
    for (int i = 0; i < 3; i++)
        lab_values(&lab, "x")[i] = NAN;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(lab_values(&lab, "a")[0], 0.5, 0);
    lab_close(&lab);
}

static void without_labels_that_count_it_is_zero(void)
{
    struct lab lab = lab_of(DATA ACCURACY("accuracy_param { ignore_label: -1 }"));

    set(&lab, scores, (const float[]){-1, -1, -1.5F, -1}); /* labels are cut */
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(lab_values(&lab, "a")[0], 0, 0);
    lab_close(&lab);
}

static void a_label_that_is_no_class_is_refused(void)
{
    struct lab lab = lab_of(DATA ACCURACY(""));

    set(&lab, scores, (const float[]){0, 3, 1, 0});
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK_TEXT("test.prototxt:2:1: layer a: label 3 is not one of the 3 classes", psd_error());
    set(&lab, scores, (const float[]){0, NAN, 1, 0});
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    lab_close(&lab);
}

static void more_guesses_than_classes_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:86: layer a: top_k is 4, but there are 3 classes",
               lab_refuses(DATA ACCURACY("accuracy_param { top_k: 4 }")));
    CHECK_TEXT("test.prototxt:2:86: layer a: top_k is 0, but there are 3 classes",
               lab_refuses(DATA ACCURACY("accuracy_param { top_k: 0 }")));
}

int main(int argc, char **argv)
{
    RUN(a_second_top_has_the_accuracy_of_each_class)
    RUN(of_equal_scores_none_is_the_best)
    RUN(a_score_that_is_no_number_is_wrong)
    RUN(without_labels_that_count_it_is_zero)
    RUN(a_label_that_is_no_class_is_refused)
    RUN(more_guesses_than_classes_are_refused)
}
