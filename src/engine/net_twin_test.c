/* net_twin_test.c - several nets of one document, for several workers at a time. */
#include "base/alloc.h"
#include "base/thread.h"
#include "nets.h"

#define INPUT(shape)                                                         \
    "layer { name: 'd' type: 'Input' top: 'x' input_param { " shape " } }\n" \
    "layer { name: 'l' type: 'Input' top: 'label' input_param { shape { dim: 2 } } }\n"
#define FC(name, bottom, top, outputs, more)                                                  \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" bottom "' top: '" top "' " more \
    " inner_product_param { num_output: " outputs " weight_filler { type: 'xavier' } } }\n"
#define ON(name, type, blob) \
    "layer { name: '" name "' type: '" type "' bottom: '" blob "' top: '" blob "' }\n"
#define LOSS                                                                           \
    "layer { name: 'right' type: 'Accuracy' bottom: 'y' bottom: 'label' top: 'right' " \
    "include { phase: TEST } }\n"                                                      \
    "layer { name: 'seen' type: 'Softmax' bottom: 'y' top: 'seen' }\n"                 \
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'y' bottom: 'label' top: 'loss' }\n"
#define CONV(name, bottom, top)                                                        \
    "layer { name: '" name "' type: 'Convolution' bottom: '" bottom "' top: '" top "'" \
    "        convolution_param { num_output: 3 kernel_size: 3 pad: 1"                  \
    "        weight_filler { type: 'xavier' } } }\n"

#define LENET                                                                                \
    INPUT("shape { dim: 2 dim: 1 dim: 8 dim: 8 }")                                           \
    CONV("conv", "x", "conv")                                                                \
    ON("relu", "ReLU", "conv")                                                               \
    "layer { name: 'pool' type: 'Pooling' bottom: 'conv' top: 'pool'"                        \
    "        pooling_param { kernel_size: 2 stride: 2 } }\n" FC("ip", "pool", "ip", "9", "") \
        ON("tanh", "TanH", "ip") ON("drop", "Dropout", "ip") FC("out", "ip", "y", "4", "") LOSS

#define SHARED                                                          \
    INPUT("shape { dim: 2 dim: 3 }")                                    \
    FC("a", "x", "a", "3", "param { name: 'w' }")                       \
    FC("b", "a", "b", "3", "param { lr_mult: 2 } param { lr_mult: 0 }") \
    FC("c", "b", "y", "3", "param { name: 'w' }") LOSS

#define NORMED                                                                     \
    INPUT("shape { dim: 2 dim: 2 dim: 4 dim: 4 }")                                 \
    CONV("conv", "x", "conv")                                                      \
    ON("norm", "BatchNorm", "conv")                                                \
    "layer { name: 'scale' type: 'Scale' bottom: 'conv' "                          \
    "top: 'conv' scale_param { bias_term: true } }\n" CONV(                        \
        "side", "x", "side") "layer { name: 'sum' type: 'Eltwise' bottom: 'conv' " \
                             "bottom: 'side' top: 'sum' }\n" FC("out", "sum", "y", "3", "") LOSS

#define SEQUENCES                                                                                 \
    "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 4 dim: 2 dim: 3 } } }\n" \
    "layer { name: 'c' type: 'Input' top: 'cont' input_param { shape { dim: 4 dim: 2 } } }\n"     \
    "layer { name: 'lstm' type: 'LSTM' bottom: 'x' bottom: 'cont' top: 'h' recurrent_param {"     \
    "        num_output: 5 weight_filler { type: 'uniform' min: -0.6 max: 0.6 } } }\n"            \
    "layer { name: 'out' type: 'InnerProduct' bottom: 'h' top: 'y' loss_weight: 1"                \
    "        inner_product_param { num_output: 2 axis: 2 weight_filler { type: 'xavier' } } }\n"

static const struct {
    const char *name, *text;
} nets[] = {{"lenet", LENET}, {"shared", SHARED}, {"normed", NORMED}, {"sequences", SEQUENCES}};
enum { NETS = sizeof nets / sizeof *nets };

/* Another net of the lab's document, with the lab's device and operations. */
static struct lab twin_with(const struct lab *lab, struct psd_net_options options)
{
    struct lab twin = *lab;

    options.twin_of = lab->net;
    CHECK_OK(lab_build(&twin, &options));
    return twin;
}

static struct lab twin_of(const struct lab *lab)
{
    return twin_with(lab, (struct psd_net_options){0});
}

static void set_inputs(const struct lab *lab)
{
    struct psd_blob *x = psd_net_blob(lab->net, "x"), *label = psd_net_blob(lab->net, "label");
    struct psd_blob *cont = psd_net_blob(lab->net, "cont");

    lab_scatter(psd_blob_values(x), x->count, 3);
    for (size_t i = 0; label && i < label->count; i++)
        psd_blob_values(label)[i] = (float)(2 - i);
    for (size_t i = 0; cont && i < cont->count; i++)
        psd_blob_values(cont)[i] = i > 1 ? 1 : 0;
}

static float pass(const struct lab *lab)
{
    float loss = 0;

    set_inputs(lab);
    CHECK_OK(psd_net_forward(lab->net, &loss));
    CHECK_OK(psd_net_backward(lab->net, true));
    return loss;
}

static void same_gradients(const struct lab *a, const struct lab *b)
{
    for (size_t i = 0; i < a->net->n_params; i++) {
        const struct psd_param *one = a->net->params[i], *other = b->net->params[i];
        if (one->learns)
            CHECK(same_bits(psd_blob_gradient(&one->blob), psd_blob_gradient(&other->blob),
                            one->blob.count * sizeof(float)));
    }
}

/* --- what a twin is --------------------------------------------------------------------------- */

static void same_plan(const struct psd_net *a, const struct psd_net *b)
{
    CHECK(a->n_layers == b->n_layers && a->n_blobs == b->n_blobs && a->n_params == b->n_params);
    for (size_t i = 0; i < a->n_layers; i++)
        CHECK_TEXT(a->layers[i].name, b->layers[i].name);
    for (size_t i = 0; i < a->n_params; i++) {
        const struct psd_param *one = a->params[i], *other = b->params[i];
        CHECK(one != other);
        CHECK_TEXT(one->name, other->name);
        CHECK(one->learns == other->learns && one->uses == other->uses);
        CHECK(one->rate == other->rate && one->decay == other->decay);
    }
}

static void a_twin_has_the_values_of_its_elder_and_gradients_of_its_own(void)
{
    for (size_t n = 0; n < NETS; n++) {
        struct lab lab = lab_of(nets[n].text), second = twin_of(&lab), third = twin_of(&lab);
        fprintf(stderr, "    %s\n", nets[n].name);
        same_plan(lab.net, second.net);
        same_plan(lab.net, third.net);
        for (size_t i = 0; i < lab.net->n_params; i++) {
            const struct psd_blob *one = &lab.net->params[i]->blob;
            const struct psd_blob *other = &third.net->params[i]->blob;
            CHECK(psd_blob_values(one) == psd_blob_values(other) && one->count == other->count);
            if (lab.net->params[i]->learns)
                CHECK(psd_blob_gradient(one) != psd_blob_gradient(other));
        }
        float loss = pass(&lab);
        CHECK(loss == pass(&second) && loss == pass(&third));
        same_gradients(&lab, &second);
        same_gradients(&lab, &third);
        psd_net_destroy(third.net);
        psd_net_destroy(second.net);
        lab_close(&lab);
    }
}

static void no_filler_runs_for_a_twin(void)
{
    struct lab lab = lab_of(LENET);
    float *weights = psd_blob_values(&lab.net->params[0]->blob);

    weights[0] = 42;
    struct lab twin = twin_of(&lab);
    CHECK_NEAR(weights[0], 42, 0);
    psd_net_destroy(twin.net);
    CHECK_NEAR(weights[0], 42, 0); /* it is not the twin's to free */
    lab_close(&lab);
}

/* Also for whoever builds a net of its own from it. */
static void a_document_that_is_split_stays_as_it_is(void)
{
    for (size_t n = 0; n < NETS; n++) {
        struct lab lab = lab_of(nets[n].text), again = lab;
        CHECK_OK(lab_build(&again, NULL));
        same_plan(lab.net, again.net);
        CHECK(pass(&lab) == pass(&again));
        same_gradients(&lab, &again);
        psd_net_destroy(again.net);
        lab_close(&lab);
    }
}

static void a_net_that_tests_has_twins_too(void)
{
    struct lab lab = lab_of(LENET), test = lab;

    test.document = net_of(LENET FC("extra", "pool", "extra", "2", ""));
    CHECK_OK(
        lab_build(&test, &(struct psd_net_options){.phase = CAFFE__PHASE__TEST, .share = lab.net}));
    struct lab twin = twin_of(&test);
    CHECK(psd_net_layer(twin.net, "right") && twin.net->n_params == 2);
    CHECK(psd_net_layer(twin.net, "conv")->params[0] == lab.net->params[0]);
    CHECK(psd_blob_values(&twin.net->params[0]->blob) ==
          psd_blob_values(&test.net->params[0]->blob));
    float ours = 0, theirs = 0;
    set_inputs(&test);
    set_inputs(&twin);
    CHECK_OK(psd_net_forward(test.net, &ours));
    CHECK_OK(psd_net_forward(twin.net, &theirs));
    CHECK(ours == theirs);
    psd_net_destroy(twin.net);
    psd_net_destroy(test.net);
    psd_document_destroy(test.document);
    lab_close(&lab);
}

/* --- at the same time --------------------------------------------------------------------------- */

struct runner {
    struct lab lab;
    float loss;
};

static void run(void *arg)
{
    struct runner *runner = arg;

    for (int i = 0; i < 5; i++)
        runner->loss += pass(&runner->lab);
}

static void twins_compute_at_the_same_time(void)
{
    struct lab lab = lab_of(LENET);
    struct runner first = {.lab = lab}, second = {.lab = lab};
    struct psd_ops_options own = {.device = lab.device, .threads = 1};
    pthread_t thread;

    CHECK_OK(psd_ops_open(&own, &second.lab.ops));
    CHECK_OK(lab_build(&second.lab, &(struct psd_net_options){.twin_of = lab.net}));
    CHECK_OK(psd_thread_start("twin", run, &second, &thread));
    run(&first);
    pthread_join(thread, NULL);
    CHECK(first.loss == second.loss);
    same_gradients(&first.lab, &second.lab);
    psd_net_destroy(second.lab.net);
    psd_ops_close(second.lab.ops);
    lab_close(&lab);
}

/* --- borrowed gradients ------------------------------------------------------------------------- */

/* Lends the gradients of one net to another. */
static void lend(const struct lab *from, const struct lab *to)
{
    for (size_t i = 0; i < to->net->n_params; i++)
        psd_blob_share_diff(&to->net->params[i]->blob, &from->net->params[i]->blob);
}

static void a_net_that_borrows_has_no_gradients(void)
{
    for (size_t n = 0; n < NETS; n++) {
        struct lab lab = lab_of(nets[n].text), lender = twin_of(&lab);
        struct lab twin = twin_with(&lab, (struct psd_net_options){.borrows_gradients = true});
        for (size_t i = 0; i < twin.net->n_params; i++)
            CHECK(!twin.net->params[i]->blob.diff);
        lend(&lender, &twin);
        CHECK(pass(&lab) == pass(&twin));
        same_gradients(&lab, &lender);
        psd_net_destroy(twin.net);
        psd_net_destroy(lender.net);
        lab_close(&lab);
    }
}

static void check_no_gradients(const struct psd_net *net)
{
    for (size_t i = 0; i < net->n_params; i++)
        CHECK(!net->params[i]->blob.diff);
    for (size_t i = 0; net->share && i < net->n_blobs; i++)
        CHECK(!net->blobs[i].diff);
}

/* Neither in what they share nor in what is their own; so test nets cost a team no memory for any. */
static void nets_that_test_have_no_gradients(void)
{
    struct psd_net_options team = {.borrows_gradients = true};

    for (size_t n = 0; n < NETS; n++) {
        struct lab lab = lab_with(nets[n].text, &team), test = lab;
        char more[4000];
        snprintf(more, sizeof more, "%s%s", nets[n].text, FC("extra", "y", "extra", "2", ""));
        test.document = net_of(more);
        CHECK_OK(lab_build(
            &test, &(struct psd_net_options){.phase = CAFFE__PHASE__TEST, .share = lab.net}));
        struct lab twin = twin_of(&test);
        CHECK(test.net->n_params == 2 && twin.net->n_params == 2);
        check_no_gradients(lab.net);
        check_no_gradients(test.net);
        check_no_gradients(twin.net);
        psd_net_destroy(twin.net);
        psd_net_destroy(test.net);
        psd_document_destroy(test.document);
        lab_close(&lab);
    }
}

static void what_nobody_lends_is_told(void)
{
    struct lab lab = lab_with(SHARED, &(struct psd_net_options){.borrows_gradients = true});

    set_inputs(&lab);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_STATUS(PSD_EINVAL, psd_net_backward(lab.net, true));
    CHECK_TEXT("nobody has lent a gradient of c[1] before backward", psd_error());
    lab_close(&lab);
}

/* --- hooks ------------------------------------------------------------------------------------- */

/* What the hooks of a net were told of, and what its factored gradient came to. */
struct story {
    const struct psd_net *net;
    unsigned needed, ready, factored;
    float product; /* the gradient of weight 0 of "out" */
};

static bool is_ours(const struct story *story, const struct psd_param *param)
{
    for (size_t i = 0; i < story->net->n_params; i++) {
        if (story->net->params[i] == param)
            return true;
    }
    return false;
}

static psd_status need_value(void *context, struct psd_param *param)
{
    struct story *story = context;

    CHECK(is_ours(story, param));
    story->needed++;
    return PSD_OK;
}

static psd_status gradient_ready(void *context, struct psd_param *param)
{
    struct story *story = context;

    CHECK(is_ours(story, param) && !param->factored);
    story->ready++;
    return PSD_OK;
}

static bool wants_factors(void *context, const struct psd_param *param)
{
    (void)context;
    return strcmp(param->name, "out[0]") == 0;
}

static psd_status factors_ready(void *context, struct psd_param *param, struct psd_tensor u,
                                struct psd_tensor v, size_t batch)
{
    struct story *story = context;
    size_t rows = param->blob.shape.dim[0], cols = param->blob.shape.dim[1];

    CHECK(is_ours(story, param) && param->factored);
    for (size_t i = 0; i < batch; i++)
        story->product += psd_tensor_host(u)[i * rows] * psd_tensor_host(v)[i * cols];
    story->factored++;
    return PSD_OK;
}

/* The lender has a gradient of "out[0]", which nobody asks for. */
static void hooks_are_the_twins_own(void)
{
    struct lab lab = lab_of(LENET), lender = twin_of(&lab);
    struct story story = {0};
    struct lab twin =
        twin_with(&lab, (struct psd_net_options){.borrows_gradients = true,
                                                 .hooks = {.context = &story,
                                                           .need_value = need_value,
                                                           .gradient_ready = gradient_ready,
                                                           .wants_factors = wants_factors,
                                                           .factors_ready = factors_ready}});

    story.net = twin.net;
    lend(&lender, &twin);
    struct psd_blob *out = &psd_net_layer(twin.net, "out")->params[0]->blob;
    psd_blob_share_diff(out, &(struct psd_blob){0});
    pass(&lab);
    pass(&twin);
    CHECK(story.needed == 6 && story.ready == 5 && story.factored == 1);
    const struct psd_blob *dense = &psd_net_layer(lab.net, "out")->params[0]->blob;
    CHECK_NEAR(story.product, psd_blob_gradient(dense)[0], 1e-6);
    CHECK(!out->diff);
    psd_net_destroy(twin.net);
    psd_net_destroy(lender.net);
    lab_close(&lab);
}

/* --- what layers carry -------------------------------------------------------------------------- */

/* A blob of somebody's own for each of the net's that is carried; returns how many there are. */
static size_t lend_carried(const struct psd_net *net, struct psd_blob *own)
{
    size_t count = 0;

    for (size_t i = 0; i < net->n_layers; i++) {
        for (size_t k = 0; k < net->layers[i].n_carried; k++, count++) {
            struct psd_blob *blob = net->layers[i].carried[k].blob;
            psd_blob_init(&own[count], net->device);
            CHECK_OK(psd_blob_reshape(&own[count], &blob->shape));
            psd_blob_share_data(blob, &own[count]);
        }
    }
    return count;
}

static void what_is_carried_can_be_lent_for_a_pass(void)
{
    static const struct {
        const char *text;
        size_t count;
    } cases[] = {{NORMED, 3}, {SEQUENCES, 1}};

    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct lab lab = lab_of(cases[n].text), twin = twin_of(&lab);
        struct psd_blob ours[3], theirs[3];
        CHECK(lend_carried(lab.net, ours) == cases[n].count);
        CHECK(lend_carried(twin.net, theirs) == cases[n].count);
        pass(&twin);
        for (size_t i = 0; i < cases[n].count; i++) {
            CHECK(psd_blob_values(&theirs[i])[0] != 0);
            CHECK_NEAR(psd_blob_values(&ours[i])[0], 0, 0);
        }
        pass(&lab);
        for (size_t i = 0; i < cases[n].count; i++)
            CHECK(same_bits(psd_blob_values(&ours[i]), psd_blob_values(&theirs[i]),
                            ours[i].count * sizeof(float)));
        for (size_t i = 0; i < cases[n].count; i++) {
            psd_blob_fini(&ours[i]);
            psd_blob_fini(&theirs[i]);
        }
        psd_net_destroy(twin.net);
        lab_close(&lab);
    }
}

/* --- the scale of the loss ----------------------------------------------------------------------- */

static void gradients_are_scaled_and_the_loss_is_not(void)
{
    for (size_t n = 0; n < NETS; n++) {
        struct lab lab = lab_of(nets[n].text), twin = twin_of(&lab);
        CHECK_NEAR(twin.net->loss_scale, 1, 0);
        twin.net->loss_scale = 0.25f;
        CHECK(pass(&lab) == pass(&twin));
        for (size_t i = 0; i < lab.net->n_params; i++) {
            const struct psd_param *one = lab.net->params[i], *other = twin.net->params[i];
            for (size_t k = 0; one->learns && k < one->blob.count; k++)
                CHECK_NEAR(psd_blob_gradient(&other->blob)[k],
                           0.25f * psd_blob_gradient(&one->blob)[k], 1e-7);
        }
        psd_net_destroy(twin.net);
        lab_close(&lab);
    }
}

/* --- memory --------------------------------------------------------------------------------------- */

static void once_warm_twins_allocate_nothing(void)
{
    for (size_t n = 0; n < NETS; n++) {
        struct lab lab = lab_of(nets[n].text), lender = twin_of(&lab);
        struct lab twin = twin_with(&lab, (struct psd_net_options){.borrows_gradients = true});
        lend(&lender, &twin);
        pass(&twin);
        psd_alloc_fail_at(0);
        for (int i = 0; i < 3; i++) {
            lend(i % 2 ? &lender : &lab, &twin);
            pass(&twin);
        }
        CHECK(!psd_alloc_fail_at(-1));
        psd_net_destroy(twin.net);
        psd_net_destroy(lender.net);
        lab_close(&lab);
    }
}

static void creating_survives_every_failed_allocation(void)
{
    struct lab lab = lab_of(NORMED);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct lab twin = lab;
        twin.net = NULL;
        psd_alloc_fail_at(n);
        psd_status status = lab_build(&twin, &(struct psd_net_options){.twin_of = lab.net});
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (twin.net == NULL));
        psd_net_destroy(twin.net);
    }
    pass(&lab);
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(a_twin_has_the_values_of_its_elder_and_gradients_of_its_own)
    RUN(no_filler_runs_for_a_twin)
    RUN(a_document_that_is_split_stays_as_it_is)
    RUN(a_net_that_tests_has_twins_too)
    RUN(twins_compute_at_the_same_time)
    RUN(a_net_that_borrows_has_no_gradients)
    RUN(nets_that_test_have_no_gradients)
    RUN(what_nobody_lends_is_told)
    RUN(hooks_are_the_twins_own)
    RUN(what_is_carried_can_be_lent_for_a_pass)
    RUN(gradients_are_scaled_and_the_loss_is_not)
    RUN(once_warm_twins_allocate_nothing)
    RUN(creating_survives_every_failed_allocation)
}
