/* plugins_test.c - layers from outside that are inside for once: their plugin is part of the test. */
#include "base/alloc.h"
#include "engine/plugins.h"
#include "nets.h"

/* --- a plugin: y = w x, with w of the text's value ------------------------------------------------- */

static psd_status times_setup(struct psd_plugin_call *call)
{
    float start = strtof(call->text, NULL);

    *(int *)call->state = 1;
    if (start < 0)
        return call->fail(call, "%g is below zero", (double)start);
    return call->add_param(call, (size_t[]){1}, 1, &(struct psd_plugin_filler){.value = start});
}

static psd_status times_reshape(struct psd_plugin_call *call)
{
    CHECK(*(int *)call->state == 1 && !call->bottoms[0].values);
    call->tops[0] = call->bottoms[0];
    return PSD_OK;
}

static psd_status times_forward(struct psd_plugin_call *call)
{
    CHECK(call->n_params == 1 && call->params[0].count == 1);
    for (size_t i = 0; i < call->bottoms[0].count; i++)
        call->tops[0].values[i] = call->params[0].values[0] * call->bottoms[0].values[i];
    return PSD_OK;
}

static psd_status times_backward(struct psd_plugin_call *call)
{
    const float *dy = call->tops[0].gradient, *x = call->bottoms[0].values;

    for (size_t i = 0; i < call->bottoms[0].count; i++) {
        if (call->bottoms[0].gradient)
            call->bottoms[0].gradient[i] = call->params[0].values[0] * dy[i];
        if (call->params[0].gradient)
            call->params[0].gradient[0] += dy[i] * x[i];
    }
    return PSD_OK;
}

static const struct psd_plugin_layer times = {
    .type = "Times",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .state_size = sizeof(int),
    .setup = times_setup,
    .reshape = times_reshape,
    .forward = times_forward,
    .backward = times_backward,
};

static struct psd_plugins *plugins_of(const struct psd_plugin_layer *layer)
{
    const struct psd_plugin_layer *const layers[] = {layer, NULL};
    struct psd_plugins *plugins = NULL;

    CHECK_OK(psd_plugins_create(&plugins));
    CHECK_OK(psd_plugins_add(plugins, "a", &(struct psd_plugin){PSD_PLUGIN_VERSION, layers}));
    return plugins;
}

#define X                                                                                         \
    "force_backward: true layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 " \
    "dim: 2 } } } "
#define TIMES(bottom, top, text, more)                                      \
    "layer { name: '" top "' type: 'Times' bottom: '" bottom "' top: '" top \
    "' plugin_param { text: '" text "' } " more " } "

/* --- tests ----------------------------------------------------------------------------------------- */

static void a_layer_from_outside_computes_and_learns(void)
{
    struct psd_plugins *plugins = plugins_of(&times);
    struct lab lab = lab_with(X TIMES("x", "y", "3", "loss_weight: 2"),
                              &(struct psd_net_options){.plugins = plugins});
    float *x = lab_values(&lab, "x"), loss = 0;

    memcpy(x, (float[]){1, 2, 3, -1}, 4 * sizeof *x);
    CHECK_OK(psd_net_forward(lab.net, &loss));
    CHECK_NEAR(loss, 2 * 15, 1e-6);
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK_NEAR(psd_blob_gradient(psd_net_blob(lab.net, "x"))[3], 6, 1e-6);
    CHECK_NEAR(psd_blob_gradient(&lab.net->params[0]->blob)[0], 10, 1e-6);
    CHECK_OK(psd_net_backward(lab.net, false)); /* a second pass adds to the first */
    CHECK_NEAR(psd_blob_gradient(&lab.net->params[0]->blob)[0], 20, 1e-6);
    lab_close(&lab);
    psd_plugins_destroy(plugins);
}

static void layers_from_outside_share_parameters(void)
{
    struct psd_plugins *plugins = plugins_of(&times);
    struct lab lab = lab_with(X TIMES("x", "y", "3", "param { name: 'w' }")
                                  TIMES("y", "z", "3", "param { name: 'w' } loss_weight: 1"),
                              &(struct psd_net_options){.plugins = plugins});

    lab_values(&lab, "x")[0] = 1;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK(lab.net->n_params == 1);
    CHECK_NEAR(psd_blob_gradient(&lab.net->params[0]->blob)[0], 2 * 3, 1e-6); /* of w w x */
    lab_close(&lab);
    psd_plugins_destroy(plugins);
}

static void what_a_plugin_refuses_has_its_place(void)
{
    struct psd_plugins *plugins = plugins_of(&times);
    struct lab lab;

    CHECK(lab_open(&lab, NULL, 1));
    lab.document = net_of(X "\n" TIMES("x", "y", "-2", ""));
    CHECK_STATUS(PSD_ECONFIG, lab_build(&lab, &(struct psd_net_options){.plugins = plugins}));
    CHECK_TEXT("test.prototxt:2:1: layer y: -2 is below zero", psd_error());
    lab_close(&lab);
    psd_plugins_destroy(plugins);
}

static void a_type_from_outside_is_suggested(void)
{
    struct psd_plugins *plugins = plugins_of(&times);
    struct lab lab;

    CHECK(lab_open(&lab, NULL, 1));
    lab.document = net_of("layer { name: 'y' type: 'Tims' }");
    CHECK_STATUS(PSD_ECONFIG, lab_build(&lab, &(struct psd_net_options){.plugins = plugins}));
    CHECK(strstr(psd_error(), "unknown type \"Tims\"; did you mean \"Times\"?"));
    lab_close(&lab);
    psd_plugins_destroy(plugins);
}

static void a_plugin_that_does_not_fit_is_refused(void)
{
    struct psd_plugin_layer nameless = times, twice = times, ours = times;
    nameless.type = NULL;
    ours.type = "ReLU";
    const struct {
        unsigned version;
        const struct psd_plugin_layer *layer;
        const char *says;
    } refused[] = {
        {PSD_PLUGIN_VERSION + 1, &times,
         "b was made for version 2 of plugins, and this is version 1; compile it again"},
        {PSD_PLUGIN_VERSION, &nameless,
         "b: a layer lacks its type, reshape or forward; give it all three"},
        {PSD_PLUGIN_VERSION, &twice,
         "b has layers of type \"Times\", but there are such layers already; give them another "
         "name"},
        {PSD_PLUGIN_VERSION, &ours,
         "b has layers of type \"ReLU\", but there are such layers already; give them another "
         "name"},
    };

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct psd_plugin_layer *const layers[] = {refused[i].layer, NULL};
        const struct psd_plugin plugin = {refused[i].version, layers};
        struct psd_plugins *plugins = plugins_of(&times);
        CHECK_STATUS(PSD_ECONFIG, psd_plugins_add(plugins, "b", &plugin));
        CHECK_TEXT(refused[i].says, psd_error());
        psd_plugins_destroy(plugins);
    }
}

static void a_file_that_is_no_library_is_refused(void)
{
    struct psd_plugins *plugins = NULL;

    CHECK_STATUS(PSD_ECONFIG, psd_plugins_load_all((const char *const[]){"no.so", NULL}, &plugins));
    CHECK(strstr(psd_error(), "a plugin cannot be loaded: ./no.so: "));
    psd_plugins_destroy(plugins);
    CHECK_OK(psd_plugins_load_all(NULL, &plugins));
    CHECK(!plugins && !psd_plugins_find(plugins, "Times") && !psd_plugins_at(plugins, 0));
}

static void a_net_survives_every_failed_allocation(void)
{
    struct psd_plugins *plugins = plugins_of(&times);
    CHECK(lab_survives(X TIMES("x", "y", "3", ""), &(struct psd_net_options){.plugins = plugins}) >
          1);
    psd_plugins_destroy(plugins);
}

int main(int argc, char **argv)
{
    RUN(a_layer_from_outside_computes_and_learns)
    RUN(layers_from_outside_share_parameters)
    RUN(what_a_plugin_refuses_has_its_place)
    RUN(a_type_from_outside_is_suggested)
    RUN(a_plugin_that_does_not_fit_is_refused)
    RUN(a_file_that_is_no_library_is_refused)
    RUN(a_net_survives_every_failed_allocation)
}
