#include "nets.h"

#define DATA                                            \
    "layer { name: 'd' type: 'Input' top: 'x' top: 'l'" \
    "        input_param { shape { dim: 2 dim: 3 } shape { dim: 2 } } }"
#define FC(name, bottom, top, more)                                                           \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" bottom "' top: '" top "' " more \
    "        inner_product_param { num_output: 3 weight_filler { type: 'xavier' } } }"
#define FROZEN "param { lr_mult: 0 } param { lr_mult: 0 }"
#define LOSS   "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'c' bottom: 'l' }"

/* The layers with a backward, and of each the bottoms that get a gradient: "a c:0 loss:0". */
static const char *needs_with(const char *text, const struct psd_net_options *options)
{
    static char out[400];
    struct lab lab = lab_with(text, options);
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; i < lab.net->n_layers; i++) {
        const struct psd_layer *layer = &lab.net->layers[i];
        if (layer->backward_needed)
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%s", used ? " " : "",
                                     layer->name);
        for (size_t k = 0; k < layer->n_bottom; k++) {
            CHECK(!layer->propagates[k] || layer->backward_needed);
            CHECK(!layer->propagates[k] || layer->bottom[k]->diff);
            if (layer->propagates[k])
                used += (size_t)snprintf(out + used, sizeof out - used, ":%zu", k);
        }
    }
    lab_close(&lab);
    return out;
}

static const char *needs_of(const char *text)
{
    return needs_with(text, &(struct psd_net_options){.seed = 1});
}

static const char *all_of(const char *text)
{
    return needs_with(text, &(struct psd_net_options){.seed = 1, .all_gradients = true});
}

static void gradients_go_where_something_learns(void)
{
    CHECK_TEXT("a b:0 c:0 loss:0", needs_of(DATA FC("a", "x", "a", "") FC("b", "a", "b", "")
                                                FC("c", "b", "c", "") LOSS));
    CHECK_TEXT("c loss:0", needs_of(DATA FC("a", "x", "a", FROZEN) FC("b", "a", "b", FROZEN)
                                        FC("c", "b", "c", "") LOSS));
    CHECK_TEXT("a b:0 c:0 loss:0", needs_of(DATA FC("a", "x", "a", "") FC("b", "a", "b", FROZEN)
                                                FC("c", "b", "c", "") LOSS));
}

static void a_branch_without_loss_has_no_backward(void)
{
    CHECK_TEXT("a c:0 loss:0", needs_of(DATA FC("a", "x", "a", "") FC("c", "a", "c", "")
                                            LOSS FC("z", "x", "z", "")));
    CHECK_TEXT("", needs_of(DATA FC("a", "x", "a", "")));
}

static void a_loss_weight_makes_a_loss(void)
{
    CHECK_TEXT("a", needs_of(DATA FC("a", "x", "a", "loss_weight: 1")));
    CHECK_TEXT("", needs_of(DATA FC("c", "x", "c",
                                    "") "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'c' "
                                        "bottom: 'l' loss_weight: 0 }"));
}

static void propagate_down_false_ends_the_way(void)
{
    CHECK_TEXT("c loss:0", needs_of(DATA FC("a", "x", "a", "") FC("b", "a", "b", "")
                                        FC("c", "b", "c", "propagate_down: false") LOSS));
    /* and true forces it */
    CHECK_TEXT("a:0 c:0 loss:0", needs_of(DATA FC("a", "x", "a", FROZEN "propagate_down: true")
                                              FC("c", "a", "c", "") LOSS));
}

/* The blob that ReLU works on in place gets a gradient from its reader, but conv's comes from ReLU. */
static void an_in_place_layer_can_end_the_way(void)
{
    CHECK_TEXT("c loss:0",
               needs_of(DATA FC("a", "x", "a",
                                "") "layer { name: 'r' type: 'ReLU' bottom: 'a' "
                                    "top: 'a' propagate_down: false }" FC("c", "a", "c", "") LOSS));
}

static void force_backward_reaches_everything_but_labels(void)
{
    CHECK_TEXT("a:0 c:0 loss:0", needs_of("force_backward: true " DATA FC("a", "x", "a", FROZEN)
                                              FC("c", "a", "c", "propagate_down: false") LOSS));
    CHECK_TEXT("a:0", needs_of("force_backward: true " DATA FC(
                          "a", "x", "a",
                          "") "layer { name: 'acc' type: 'Accuracy' bottom: 'a' bottom: 'l' "
                              "top: 'acc' }"));
}

static void a_wish_for_all_gradients_yields_to_propagate_down(void)
{
    CHECK_TEXT("a:0 c:0", all_of(DATA FC("a", "x", "a", FROZEN) FC("c", "a", "c", "")));
    CHECK_TEXT("c loss:0",
               all_of(DATA FC("a", "x", "a", "") FC("c", "a", "c", "propagate_down: false") LOSS));
    CHECK_TEXT("a:0 c:0 loss:0", all_of("force_backward: true " DATA FC("a", "x", "a", "")
                                            FC("c", "a", "c", "propagate_down: false") LOSS));
    /* not around it either, through a layer in place before it */
    CHECK_TEXT("c:0 loss:0",
               all_of(DATA FC("a", "x", "a",
                              "") "layer { name: 's' type: 'Sigmoid' bottom: 'a' top: 'a' } "
                                  "layer { name: 'r' type: 'ReLU' bottom: 'a' top: 'a' "
                                  "propagate_down: false }" FC("c", "a", "c", "") LOSS));
    CHECK_TEXT("a:0",
               all_of(DATA FC("a", "x", "a", "") "layer { name: 'acc' type: 'Accuracy' bottom: "
                                                 "'a' bottom: 'l' top: 'acc' }"));
}

/* A solver updates it like the others: its gradient is 0. */
static void a_parameter_that_no_loss_needs_has_a_gradient_of_zero(void)
{
    struct lab lab = lab_of(DATA FC("c", "x", "c", "") LOSS FC("z", "x", "z", ""));
    const struct psd_param *param = psd_net_layer(lab.net, "z")->params[0];

    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(param->uses == 0);
    for (size_t i = 0; i < param->blob.count; i++)
        CHECK_NEAR(psd_blob_gradient(&param->blob)[i], 0, 0);
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(gradients_go_where_something_learns)
    RUN(a_branch_without_loss_has_no_backward)
    RUN(a_loss_weight_makes_a_loss)
    RUN(propagate_down_false_ends_the_way)
    RUN(an_in_place_layer_can_end_the_way)
    RUN(force_backward_reaches_everything_but_labels)
    RUN(a_wish_for_all_gradients_yields_to_propagate_down)
    RUN(a_parameter_that_no_loss_needs_has_a_gradient_of_zero)
}
