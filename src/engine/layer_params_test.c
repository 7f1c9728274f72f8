#include "nets.h"

#define DATA                                            \
    "layer { name: 'd' type: 'Input' top: 'x' top: 'l'" \
    "        input_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }\n"
#define FC(name, bottom, top, more)                                                           \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" bottom "' top: '" top "' " more \
    " inner_product_param { num_output: 3 bias_term: false weight_filler { type: 'xavier' } } }\n"
#define LOSS "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'z' bottom: 'l' top: 'loss' }\n"
#define W    "param { name: 'w' }"

#define SHARED \
    DATA FC("a", "x", "a", W) FC("b", "a", "b", "param { lr_mult: 2 }") FC("c", "b", "z", W) LOSS

static void set_inputs(const struct lab *lab)
{
    lab_scatter(lab_values(lab, "x"), 12, 5);
    for (int i = 0; i < 4; i++)
        lab_values(lab, "l")[i] = (float)(i % 3);
}

static void one_name_is_one_parameter(void)
{
    struct lab lab = lab_of(SHARED);
    struct psd_net *net = lab.net;

    CHECK(net->n_params == 2);
    CHECK_TEXT("w", net->params[0]->name);
    CHECK(psd_net_layer(net, "a")->params[0] == psd_net_layer(net, "c")->params[0]);
    CHECK(net->params[0]->uses == 2 && net->params[1]->uses == 1);
    CHECK_NEAR(net->params[1]->rate, 2, 0);
    lab_close(&lab);
}

static void gradients_of_all_uses_add_up(void)
{
    struct lab lab = lab_of(SHARED);
    struct psd_blob *blob = &lab.net->params[0]->blob;
    const float step = 1.f / 256;

    set_inputs(&lab);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    for (size_t i = 0; i < blob->count; i++) {
        float *value = &psd_blob_values(blob)[i], kept = *value, above, below;
        *value = kept + step;
        CHECK_OK(psd_net_forward(lab.net, &above));
        *value = kept - step;
        CHECK_OK(psd_net_forward(lab.net, &below));
        *value = kept;
        CHECK_NEAR(psd_blob_gradient(blob)[i], (above - below) / (2 * step), 1e-3);
    }
    lab_close(&lab);
}

static void a_multiplier_holds_for_all_sharers(void)
{
    struct lab lab = lab_of(DATA FC("a", "x", "a", W)
                                FC("b", "a", "z", "param { name: 'w' lr_mult: 3 decay_mult: 0 }"));

    CHECK_NEAR(lab.net->params[0]->rate, 3, 0);
    CHECK_NEAR(lab.net->params[0]->decay, 0, 0);
    lab_close(&lab);
}

static void sharers_that_contradict_each_other_are_refused(void)
{
    CHECK_TEXT("test.prototxt:3:61: layer b: lr_mult of a shared parameter is 3 here and 1 above",
               lab_refuses(DATA FC("a", "x", "a", "param { name: 'w' lr_mult: 1 }")
                               FC("b", "a", "z", "param { name: 'w' lr_mult: 3 }")));
    CHECK_TEXT("test.prototxt:3:1: layer b: parameter 0 has the shape 2 3 (6), but \"w\", which it "
               "shares, has 3 3 (9)",
               lab_refuses(DATA FC("a", "x", "a",
                                   W) "layer { name: 'b' type: 'InnerProduct' bottom: 'a' "
                                      "top: 'z' " W " inner_product_param { num_output: 2 } }\n"));
}

static void permissive_sharers_agree_on_the_count_alone(void)
{
    struct lab lab =
        lab_of("layer { name: 'd' type: 'Input' top: 'x' top: 'y'"
               "        input_param { shape { dim: 1 dim: 2 } shape { dim: 1 dim: 3 } } }\n"
               "layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' " W
               "        inner_product_param { num_output: 3 bias_term: false } }\n"
               "layer { name: 'b' type: 'InnerProduct' bottom: 'y' top: 'b'"
               "        param { name: 'w' share_mode: PERMISSIVE }"
               "        inner_product_param { num_output: 2 bias_term: false } }\n");

    CHECK(lab.net->n_params == 1);
    lab_close(&lab);
}

static void a_bad_filler_is_told_with_its_place(void)
{
    CHECK_TEXT("test.prototxt:2:97: layer a: parameter 0: there is no filler \"xavir\"; did you "
               "mean \"xavier\"?",
               lab_refuses(DATA "layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' "
                                "inner_product_param { num_output: 3 weight_filler { "
                                "type: 'xavir' } } }"));
}

/* --- nets with common weights ----------------------------------------------------------------- */

#define SHAPE "shape { dim: 3 dim: 3 } "
#define NINE  "data: [1, 2, 3, 4, 5, 6, 7, 8, 9]"

/* As in every .caffemodel, which is a net, too. */
static void blobs_in_the_nets_own_file_are_its_values(void)
{
    static const char *const shapes[] = {SHAPE, "num: 1 channels: 1 height: 3 width: 3 "};

    for (size_t i = 0; i < 2; i++) {
        char blobs[200], text[2000];
        snprintf(blobs, sizeof blobs, "blobs { %s" NINE " }", shapes[i]);
        snprintf(text, sizeof text, DATA FC("a", "x", "a", "%s") FC("b", "a", "z", ""), blobs);
        struct lab lab = lab_of(text);
        const float *a = psd_blob_values(&lab.net->params[0]->blob);
        CHECK_NEAR(a[0], 1, 0);
        CHECK_NEAR(a[8], 9, 0);
        CHECK(psd_blob_values(&lab.net->params[1]->blob)[8] != 9); /* has its filler's */
        lab_close(&lab);
    }
}

static void blobs_that_do_not_fit_are_told_with_their_place(void)
{
    static const struct {
        const char *blobs, *sentence;
    } bad[] = {
        {"blobs { shape { dim: 9 } " NINE " }",
         "test.prototxt:2:61: layer a: blob 0: the file has the shape 9 (9), the net has 3 3 (9)"},
        {"blobs { " SHAPE "data: 1 }",
         "test.prototxt:2:61: layer a: blob 0: the file has 1 values instead of 9"},
        {"blobs { " SHAPE NINE " } blobs { shape { dim: 1 } data: 1 }",
         "test.prototxt:2:129: layer a: has 2 blobs for 1 parameters"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[2000];
        snprintf(text, sizeof text, DATA FC("a", "x", "z", "%s"), bad[i].blobs);
        CHECK_TEXT(bad[i].sentence, lab_refuses(text));
    }
    CHECK(
        strstr(lab_refuses(DATA "layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' blobs "
                                "{ " SHAPE NINE " } inner_product_param { num_output: 3 } }"),
               "layer a: has 1 blobs, and none for parameter 1"));
}

static void a_net_can_use_another_nets_parameters(void)
{
    struct lab lab = lab_of(SHARED), other = lab;

    other.document = net_of(SHARED);
    CHECK_OK(lab_build(&other, &(struct psd_net_options){
                                   .phase = CAFFE__PHASE__TEST, .share = lab.net, .seed = 99}));
    CHECK(other.net->n_params == 0);
    CHECK(psd_net_layer(other.net, "a")->params[0] == lab.net->params[0]);
    CHECK(!psd_net_layer(other.net, "c")->backward_needed);

    float ours, theirs;
    set_inputs(&lab);
    set_inputs(&other);
    CHECK_OK(psd_net_forward(lab.net, &ours));
    CHECK_OK(psd_net_forward(other.net, &theirs));
    CHECK(ours == theirs);
    psd_net_destroy(other.net);
    psd_document_destroy(other.document);
    lab_close(&lab);
}

/* --- hooks ------------------------------------------------------------------------------------ */

/* What the hooks were told, in order: "need w", "ready b[0]". */
struct story {
    char text[400];
};

static void tell(struct story *story, const char *what, const struct psd_param *param)
{
    size_t used = strlen(story->text);

    snprintf(story->text + used, sizeof story->text - used, "%s %s, ", what, param->name);
}

static psd_status need_value(void *context, struct psd_param *param)
{
    tell(context, "need", param);
    return PSD_OK;
}

static psd_status gradient_ready(void *context, struct psd_param *param)
{
    tell(context, "ready", param);
    return PSD_OK;
}

static void hooks_hear_of_first_and_last_uses(void)
{
    struct story story = {""};
    struct lab lab =
        lab_with(SHARED, &(struct psd_net_options){.hooks = {.context = &story,
                                                             .need_value = need_value,
                                                             .gradient_ready = gradient_ready}});

    set_inputs(&lab);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK_TEXT("need w, need b[0], ready b[0], ready w, ", story.text);
    lab_close(&lab);
}

static psd_status refuse(void *context, struct psd_param *param)
{
    (void)context;
    return psd_fail(PSD_EPEER, "nobody knows %s", param->name);
}

static void a_hook_that_fails_ends_the_pass(void)
{
    struct lab lab =
        lab_with(SHARED, &(struct psd_net_options){.hooks = {.gradient_ready = refuse}});

    set_inputs(&lab);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_STATUS(PSD_EPEER, psd_net_backward(lab.net, true));
    CHECK_TEXT("nobody knows b[0]", psd_error());
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(one_name_is_one_parameter)
    RUN(gradients_of_all_uses_add_up)
    RUN(a_multiplier_holds_for_all_sharers)
    RUN(sharers_that_contradict_each_other_are_refused)
    RUN(permissive_sharers_agree_on_the_count_alone)
    RUN(a_bad_filler_is_told_with_its_place)
    RUN(blobs_in_the_nets_own_file_are_its_values)
    RUN(blobs_that_do_not_fit_are_told_with_their_place)
    RUN(a_net_can_use_another_nets_parameters)
    RUN(hooks_hear_of_first_and_last_uses)
    RUN(a_hook_that_fails_ends_the_pass)
}
