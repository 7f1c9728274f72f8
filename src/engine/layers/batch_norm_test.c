#include "slopes.h"

#define DATA(dims) "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { " dims " } } }\n"
#define IMAGES     DATA("dim: 3 dim: 2 dim: 3 dim: 4")
#define BN(more)   "layer { name: 'b' type: 'BatchNorm' bottom: 'x' top: 'y' " more " }"

static const float *kept(const struct lab *lab, size_t i)
{
    return psd_blob_values(&psd_net_layer(lab->net, "b")->params[i]->blob);
}

/* Two channels of two values: 1 3 and 10 30. */
static struct lab run_once(const char *net, Caffe__Phase phase)
{
    struct lab lab = lab_with(net, &(struct psd_net_options){.phase = phase});

    memcpy(lab_values(&lab, "x"), (const float[]){1, 10, 3, 30}, 4 * sizeof(float));
    CHECK_OK(psd_net_forward(lab.net, NULL));
    return lab;
}

/* The variance of two values is estimated as twice what it is in the batch. */
static void training_measures_and_keeps(void)
{
    struct lab lab =
        run_once(DATA("dim: 2 dim: 2") BN("batch_norm_param { moving_average_fraction: 0.5 }"),
                 CAFFE__PHASE__TRAIN);

    for (int i = 0; i < 4; i++)
        CHECK_NEAR(lab_values(&lab, "y")[i], i < 2 ? -1 : 1, 1e-4);
    CHECK_NEAR(kept(&lab, 0)[1], 20, 1e-5);
    CHECK_NEAR(kept(&lab, 1)[1], 200, 1e-4);
    CHECK_NEAR(kept(&lab, 2)[0], 1, 0);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(kept(&lab, 0)[1], 30, 1e-5);
    CHECK_NEAR(kept(&lab, 1)[1], 300, 1e-4);
    CHECK_NEAR(kept(&lab, 2)[0], 1.5, 0);
    lab_close(&lab);
}

static void testing_uses_what_was_kept(void)
{
    struct lab lab = lab_with(DATA("dim: 2 dim: 2") BN(""),
                              &(struct psd_net_options){.phase = CAFFE__PHASE__TEST});
    const float x[] = {1, 10, 3, 30};

    CHECK_OK(psd_net_forward(lab.net, NULL)); /* nothing was kept: 0 / sqrt(0 + eps) */
    CHECK(lab_values(&lab, "y")[0] == 0);
    memcpy(lab_values(&lab, "x"), x, sizeof x);
    for (size_t i = 0; i < 3; i++)
        psd_blob_values(&lab.net->params[i]->blob)[0] = (const float[]){4, 18, 2}[i];
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(lab_values(&lab, "y")[0], (1 - 2) / 3.0, 1e-5);
    CHECK_NEAR(lab_values(&lab, "y")[2], (3 - 2) / 3.0, 1e-5);
    CHECK_NEAR(kept(&lab, 2)[0], 2, 0);
    lab_close(&lab);
}

static void use_global_stats_comes_before_the_phase(void)
{
    struct lab trains =
        run_once(DATA("dim: 2 dim: 2") BN("batch_norm_param { use_global_stats: true }"),
                 CAFFE__PHASE__TRAIN);
    struct lab tests =
        run_once(DATA("dim: 2 dim: 2") BN("batch_norm_param { use_global_stats: false }"),
                 CAFFE__PHASE__TEST);

    CHECK(kept(&trains, 2)[0] == 0);
    CHECK(lab_values(&trains, "y")[0] > 100); /* 1 / sqrt(eps) */
    CHECK(kept(&tests, 2)[0] == 1);
    CHECK_NEAR(lab_values(&tests, "y")[0], -1, 1e-4);
    lab_close(&trains);
    lab_close(&tests);
}

static void statistics_are_carried_and_do_not_learn(void)
{
    struct lab lab = lab_of(IMAGES BN("param { decay_mult: 0 }"));
    const struct psd_layer *layer = psd_net_layer(lab.net, "b");

    CHECK(layer->n_params == 3 && layer->n_carried == 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK(!layer->params[i]->learns && layer->params[i]->rate == 0);
        CHECK(layer->carried[i].kind == PSD_CARRY_AVERAGED);
        CHECK(layer->carried[i].blob == &layer->params[i]->blob);
    }
    CHECK(layer->params[1]->blob.count == 2 && layer->params[2]->blob.count == 1);
    lab_close(&lab);
}

/* A test net that measures leaves the training net's statistics alone. */
static void a_net_that_shares_parameters_changes_none(void)
{
    struct lab lab = lab_of(DATA("dim: 2 dim: 2") BN(""));
    struct psd_document *document =
        net_of(DATA("dim: 2 dim: 2") BN("batch_norm_param { use_global_stats: false }"));
    struct psd_net_options options = {
        .document = document, .device = lab.device, .ops = lab.ops, .share = lab.net, .seed = 1};
    struct psd_net *other = NULL;

    CHECK_OK(psd_net_create(&options, &other));
    CHECK_OK(psd_net_forward(other, NULL));
    CHECK(kept(&lab, 2)[0] == 0);
    CHECK(psd_net_layer(other, "b")->n_carried == 0);
    psd_net_destroy(other);
    psd_document_destroy(document);
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes("force_backward: true " IMAGES BN(""), NULL);
    check_slopes("force_backward: true " DATA("dim: 9 dim: 3") BN(""), NULL);
    check_slopes("force_backward: true " DATA("dim: 11") BN("batch_norm_param { eps: 0.1 }"), NULL);
}

static void impossible_parameters_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:77: layer b: eps is -1; 0 is the least",
               lab_refuses(IMAGES BN("batch_norm_param { eps: -1 }")));
    CHECK_TEXT("test.prototxt:2:77: layer b: moving_average_fraction is 2; it is from 0 to 1",
               lab_refuses(IMAGES BN("batch_norm_param { moving_average_fraction: 2 }")));
    CHECK_TEXT("test.prototxt:2:66: layer b: parameter 0 is measured and does not learn; its "
               "lr_mult is 0, not 1",
               lab_refuses(IMAGES BN("param { lr_mult: 1 }")));
    CHECK_TEXT("test.prototxt:2:1: layer b: normalizes a batch, but reads \"x\" of shape (1) from "
               "layer d",
               lab_refuses(DATA("") BN("")));
}

static void making_one_survives_every_failed_allocation(void)
{
    check_survives(IMAGES BN(""));
}

int main(int argc, char **argv)
{
    RUN(training_measures_and_keeps)
    RUN(testing_uses_what_was_kept)
    RUN(use_global_stats_comes_before_the_phase)
    RUN(statistics_are_carried_and_do_not_learn)
    RUN(a_net_that_shares_parameters_changes_none)
    RUN(gradients_are_slopes)
    RUN(impossible_parameters_are_refused)
    RUN(making_one_survives_every_failed_allocation)
}
