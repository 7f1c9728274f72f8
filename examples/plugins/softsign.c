/* softsign.c - a layer from outside: y = a x / (1 + |x|), with a learned.
 *
 *     cc -shared -fPIC -o libsoftsign.so softsign.c $(pkg-config --cflags poseidon)
 *     poseidon train --plugin ./libsoftsign.so --solver solver.prototxt
 *
 *     layer { name: "soft" type: "Softsign" bottom: "a" top: "b" plugin_param { text: "2" } }
 *
 * The text is what `a` begins with; without one that is 1.
 * SPDX-License-Identifier: Apache-2.0 */
#include <poseidon/plugin.h>

#include <math.h>
#include <stdlib.h>

static psd_status setup(struct psd_plugin_call *call)
{
    char *end = NULL;
    float start = strtof(call->text, &end);

    if (*end || !isfinite(start))
        return call->fail(call, "\"%s\" is no number to begin with, such as 0.5", call->text);
    struct psd_plugin_filler filler = {.type = "constant", .value = *call->text ? start : 1};
    return call->add_param(call, (size_t[]){1}, 1, &filler);
}

static psd_status reshape(struct psd_plugin_call *call)
{
    call->tops[0] = call->bottoms[0]; /* the same shape */
    return PSD_OK;
}

static psd_status forward(struct psd_plugin_call *call)
{
    const float *x = call->bottoms[0].values, a = call->params[0].values[0];
    float *y = call->tops[0].values;

    for (size_t i = 0; i < call->bottoms[0].count; i++)
        y[i] = a * x[i] / (1 + fabsf(x[i]));
    return PSD_OK;
}

static psd_status backward(struct psd_plugin_call *call)
{
    const struct psd_plugin_array *bottom = &call->bottoms[0], *param = &call->params[0];
    const float *x = bottom->values, *dy = call->tops[0].gradient, a = param->values[0];
    double da = 0;

    for (size_t i = 0; bottom->gradient && i < bottom->count; i++) {
        float below = 1 + fabsf(x[i]);
        bottom->gradient[i] = dy[i] * a / (below * below);
    }
    for (size_t i = 0; param->gradient && i < bottom->count; i++)
        da += (double)(dy[i] * x[i] / (1 + fabsf(x[i])));
    if (param->gradient)
        param->gradient[0] += (float)da;
    return PSD_OK;
}

static const struct psd_plugin_layer softsign = {
    .type = "Softsign",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};

static const struct psd_plugin_layer *const layers[] = {&softsign, NULL};

PSD_API const struct psd_plugin psd_plugin;
const struct psd_plugin psd_plugin = {PSD_PLUGIN_VERSION, layers};
