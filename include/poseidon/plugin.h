/* poseidon/plugin.h - write a layer of your own, in a library that poseidon loads.
 *
 *     const struct psd_plugin psd_plugin = {PSD_PLUGIN_VERSION, layers};     what libswirl.so exports
 *
 *     cc -shared -fPIC -o libswirl.so swirl.c
 *     poseidon train --plugin ./libswirl.so --solver solver.prototxt
 *     layer { name: "s" type: "Swirl" bottom: "a" top: "b" plugin_param { text: "0.5" } }
 *
 * A net calls a layer's functions in this order, from one thread at a time; several nets, each with its
 * layers, may run at once, so a layer keeps what it has in its state and nothing in variables of the
 * library:
 *
 *     setup      once: reads its text, adds the parameters it learns
 *     reshape    after setup, and when a bottom changes its shape: sets the shapes of the tops
 *     forward    values of the tops from those of bottoms and parameters
 *     backward   gradients of bottoms, and of parameters
 *     drop       once: frees what the state points at
 *
 * A function returns PSD_OK, or what call->fail returned. The library needs no symbol of ours.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef POSEIDON_PLUGIN_H
#define POSEIDON_PLUGIN_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PSD_PLUGIN_VERSION 1 /* of this contract */

enum { PSD_PLUGIN_AXES = 32 };

/* A bottom, a top or a parameter. */
struct psd_plugin_array {
    size_t axes;
    size_t dim[PSD_PLUGIN_AXES]; /* [axes]; reshape writes it for tops */
    size_t count;                /* the product of dim */
    float *values;               /* [count]; NULL in setup and reshape */

    /* [count]; NULL except in backward, and where nobody wants it. That of a bottom is set, that of a
     * parameter is added to. */
    float *gradient;
};

/* How a new parameter is filled; the types and their numbers are those of Caffe's fillers. */
struct psd_plugin_filler {
    const char *type; /* "constant" (also when NULL), "gaussian", "uniform", "xavier", "msra" */
    float value, min, max, mean, std;
};

/* What a function of a layer is called with; borrowed for the call. */
struct psd_plugin_call {
    const char *name; /* of the layer */
    const char *text; /* of its plugin_param; "" where it has none */
    void *state;      /* the layer's own, state_size bytes, zero before setup */
    bool trains;      /* the net is of the phase TRAIN */
    size_t n_bottoms, n_tops, n_params;
    const struct psd_plugin_array *bottoms, *params;
    struct psd_plugin_array *tops;

    /* Random numbers of a pass come from these two alone, so that any number of processes draws the
     * same: numbers of a sample from the seed, and sample + its place in the batch. */
    uint64_t seed, sample;

    /* In setup: adds a parameter. */
    psd_status (*add_param)(struct psd_plugin_call *call, const size_t *dim, size_t axes,
                            const struct psd_plugin_filler *filler);

    /* Returns a status for a sentence about what is wrong, made as by printf, which the user gets with
     * the file, the place and the name of the layer. */
    psd_status (*fail)(struct psd_plugin_call *call, const char *format, ...);

    void *host; /* ours */
};

/* A type of layers. */
struct psd_plugin_layer {
    const char *type; /* as prototxts write it; none that poseidon has itself */

    unsigned bottoms, most_bottoms; /* at least, at most */
    unsigned tops, most_tops;
    bool is_loss;      /* its first top has the weight 1 unless told otherwise */
    size_t state_size; /* bytes of call->state */

    psd_status (*setup)(struct psd_plugin_call *call); /* NULL: nothing to do */
    psd_status (*reshape)(struct psd_plugin_call *call);
    psd_status (*forward)(struct psd_plugin_call *call);
    psd_status (*backward)(struct psd_plugin_call *call); /* NULL: it has no gradients to give */
    void (*drop)(struct psd_plugin_call *call);           /* NULL: nothing to do */
};

/* What a library exports under the name psd_plugin. */
struct psd_plugin {
    unsigned version;                             /* PSD_PLUGIN_VERSION */
    const struct psd_plugin_layer *const *layers; /* ends with NULL */
};

#ifdef __cplusplus
}
#endif

#endif
