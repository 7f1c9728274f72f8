#include "slopes.h"

#define DATA(rows)                                                                         \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { " \
    "dim: " rows " dim: 100 } } }\n"
#define DROP(top, ratio)                                       \
    "layer { name: 'p' type: 'Dropout' bottom: 'x' top: '" top \
    "' dropout_param { dropout_ratio: " ratio " } }"

static void set_ones(const struct lab *lab, const char *name)
{
    for (size_t i = 0; i < psd_net_blob(lab->net, name)->count; i++)
        lab_values(lab, name)[i] = 1;
}

static void forward(struct lab *lab)
{
    set_ones(lab, "x");
    CHECK_OK(psd_net_forward(lab->net, NULL));
}

static void the_gradient_has_the_mask_of_its_forward(void)
{
    struct lab lab = lab_of(DATA("8") DROP("y", "0.25"));

    for (int pass = 0; pass < 3; pass++) {
        forward(&lab);
        for (size_t i = 0; i < 800; i++)
            lab_gradient(&lab, "y")[i] = 1;
        CHECK_OK(psd_net_backward(lab.net, true));
        CHECK(same_bits(lab_gradient(&lab, "x"), lab_values(&lab, "y"), 800 * sizeof(float)));
    }
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA("4") DROP("y", "0.4"), NULL);
    check_slopes(
        DATA("4") "layer { name: 'w' type: 'Power' bottom: 'x' top: 'y' power_param { scale: 3 } "
                  "} layer { name: 'p' type: 'Dropout' bottom: 'y' top: 'y' }",
        NULL);
    check_slopes(DATA("4") "layer { name: 'p' type: 'Dropout' bottom: 'x' top: 'y' phase: TEST }",
                 NULL);
}

static void a_mask_follows_from_seed_iteration_and_sample(void)
{
    struct lab lab = lab_of(DATA("8") DROP("y", "0.5"));
    const float *y = lab_values(&lab, "y");
    float first[800], second[800];

    forward(&lab);
    memcpy(first, y, sizeof first);
    forward(&lab);
    memcpy(second, y, sizeof second);
    CHECK(!same_bits(first, second, sizeof first));
    CHECK_OK(psd_net_seek(lab.net, &(struct psd_net_position){0}));
    forward(&lab);
    CHECK(same_bits(first, y, sizeof first));
    lab_close(&lab);
}

/* Iteration 0 of two workers with a batch of 4 is iteration 0 of one with a batch of 8. */
static void workers_draw_for_their_own_samples(void)
{
    struct lab whole = lab_of(DATA("8") DROP("y", "0.5")),
               half = lab_of(DATA("4") DROP("y", "0.5"));

    forward(&whole);
    for (unsigned worker = 0; worker < 2; worker++) {
        CHECK_OK(psd_net_seek(
            half.net, &(struct psd_net_position){.workers = &worker, .n_workers = 1, .of = 2}));
        forward(&half);
        CHECK(same_bits(lab_values(&half, "y"), lab_values(&whole, "y") + 400L * worker,
                        400 * sizeof(float)));
    }
    lab_close(&half);
    lab_close(&whole);
}

static void testing_in_place_is_no_work(void)
{
    struct lab lab = lab_with(DATA("8") DROP("x", "0.5"),
                              &(struct psd_net_options){.phase = CAFFE__PHASE__TEST});

    CHECK(psd_net_layer(lab.net, "p")->n_ops == 0);
    forward(&lab);
    CHECK_NEAR(lab_values(&lab, "x")[17], 1, 0);
    CHECK_OK(psd_net_backward(lab.net, true));
    lab_close(&lab);
}

static void a_layer_may_have_a_phase_of_its_own(void)
{
    struct lab lab = lab_of(DATA("8") "layer { name: 'p' type: 'Dropout' bottom: 'x' top: 'y' "
                                      "phase: TEST }");

    forward(&lab);
    for (size_t i = 0; i < 800; i++)
        CHECK_NEAR(lab_values(&lab, "y")[i], 1, 0);
    lab_close(&lab);
}

static void dropping_everything_is_refused(void)
{
    CHECK_TEXT("test.prototxt:2:72: layer p: dropout_ratio is 1; it is at least 0 and less than 1",
               lab_refuses(DATA("8") DROP("y", "1")));
    CHECK_TEXT("test.prototxt:2:72: layer p: dropout_ratio is -0.5; it is at least 0 and less than "
               "1",
               lab_refuses(DATA("8") DROP("y", "-0.5")));
}

int main(int argc, char **argv)
{
    RUN(the_gradient_has_the_mask_of_its_forward)
    RUN(gradients_are_slopes)
    RUN(a_mask_follows_from_seed_iteration_and_sample)
    RUN(workers_draw_for_their_own_samples)
    RUN(testing_in_place_is_no_work)
    RUN(a_layer_may_have_a_phase_of_its_own)
    RUN(dropping_everything_is_refused)
}
