/* poseidon/engine.h - load a net of Caffe's from a program: run it, look into it, train it.
 *
 *     struct psd_engine_options options = {.model = "deploy.prototxt", .weights = "lenet.caffemodel"};
 *     psd_engine_open(&options, &engine);
 *     psd_engine_find(engine, "data", &data);       fill data.values [data.count]
 *     psd_engine_forward(engine, NULL);
 *     psd_engine_find(engine, "prob", &prob);       read prob.values
 *     psd_engine_close(engine);
 *
 *     options = (struct psd_engine_options){.solver = "solver.prototxt"};
 *     psd_engine_open(&options, &engine);
 *     psd_engine_step(engine, 100, &loss);          a hundred iterations of training
 *
 * An engine is a net, or a solver with its nets, and the threads that they compute with. It belongs to
 * one thread at a time; a program may have many. Nothing is printed, and nothing exits: every call
 * answers with a status, and psd_error() has the sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef POSEIDON_ENGINE_H
#define POSEIDON_ENGINE_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct psd_engine;

enum psd_engine_phase { PSD_ENGINE_TEST, PSD_ENGINE_TRAIN };

/* What an engine is opened with; borrowed for the call. A field left zero takes its default. */
struct psd_engine_options {
    const char *model;   /* a net, as a .prototxt file; or */
    const char *solver;  /* a solver: its training net is the engine's, in the phase TRAIN */
    const char *weights; /* files with the weights to start from, separated by commas; NULL: none */

    enum psd_engine_phase phase; /* of a `model` */
    int level;                   /* that include and exclude rules see, as do the next */
    const char *const *stages;   /* ends with NULL; NULL: none */
    bool
        all_gradients; /* backward computes those of inputs, too, and of nets without a loss; it ends
                           where a layer says propagate_down: false */

    unsigned threads;    /* 0: one for each processor that we may use */
    const char *backend; /* "plain", "onednn", "simd"; NULL: the best for each operation */
    uint64_t seed;       /* of fillers, dropout and shuffling, where the solver file has none */
    const char *const *plugins; /* libraries with layers from outside; ends with NULL; NULL: none */

    /* Told what Caffe would log, and warnings, a line at a time without its end; it must not call the
     * engine. NULL: nobody. */
    void (*tell)(void *context, const char *line);
    void *context; /* borrowed until close */
};

/* Values of a blob or a parameter, and the gradient of the loss by them. Borrowed until the engine is
 * closed or a shape changes. */
struct psd_engine_array {
    const char *name;
    size_t axes;
    const size_t *dim; /* [axes]; the last varies fastest */
    size_t count;      /* the product of dim */
    float *values;     /* [count] */
    float *gradient;   /* [count]; NULL: nothing needs it */
};

/* Opens a net or a solver. PSD_ECONFIG: the sentence has the file, the place in it and what is wrong.
 * The caller owns *out until psd_engine_close. */
PSD_API psd_status psd_engine_open(const struct psd_engine_options *options,
                                   struct psd_engine **out);
PSD_API void psd_engine_close(struct psd_engine *engine); /* NULL is fine */

/* --- what is in it ------------------------------------------------------------------------------- */

PSD_API size_t psd_engine_layers(const struct psd_engine *engine); /* how many there are */
PSD_API const char *psd_engine_layer_name(const struct psd_engine *engine, size_t layer);
PSD_API const char *psd_engine_layer_type(const struct psd_engine *engine, size_t layer);

/* How many blobs and parameters there are; and each of them by its number. */
PSD_API size_t psd_engine_blobs(const struct psd_engine *engine);
PSD_API size_t psd_engine_params(const struct psd_engine *engine);
PSD_API psd_status psd_engine_blob_at(const struct psd_engine *engine, size_t i,
                                      struct psd_engine_array *out);
PSD_API psd_status psd_engine_param_at(const struct psd_engine *engine, size_t i,
                                       struct psd_engine_array *out);

/* The blob, or the parameter such as "conv1[0]", of that name. PSD_EINVAL: there is none; the sentence
 * has the nearest. */
PSD_API psd_status psd_engine_find(const struct psd_engine *engine, const char *name,
                                   struct psd_engine_array *out);

/* --- feeding it ---------------------------------------------------------------------------------- */

/* Gives a top of an Input layer another shape; what follows has its own before the call returns. */
PSD_API psd_status psd_engine_reshape(struct psd_engine *engine, const char *input,
                                      const size_t *dim, size_t axes);

/* Gives a MemoryData layer `n` samples, a whole number of batches: data [n][channels][height][width]
 * and labels [n], borrowed until the next call or the end. Each forward takes the next batch, and after
 * the last the first. */
PSD_API psd_status psd_engine_feed(struct psd_engine *engine, const char *layer, const float *data,
                                   const float *labels, size_t n);

/* --- running it ---------------------------------------------------------------------------------- */

/* Computes all blobs; *loss, if not NULL, is the sum of the losses by their weights. */
PSD_API psd_status psd_engine_forward(struct psd_engine *engine, float *loss);

/* Computes all gradients, from the loss, or from what was written into the gradients of outputs. */
PSD_API psd_status psd_engine_backward(struct psd_engine *engine);

/* Reads weights into the layers of the same names; writes those of all layers. */
PSD_API psd_status psd_engine_load(struct psd_engine *engine, const char *files);
PSD_API psd_status psd_engine_save(const struct psd_engine *engine, const char *file);

/* --- training it: engines with a solver ---------------------------------------------------------- */

/* Trains `iterations` more, with tests and snapshots as the solver says; *loss, if not NULL, is the
 * last, smoothed over average_loss iterations as the solver says. */
PSD_API psd_status psd_engine_step(struct psd_engine *engine, int64_t iterations, float *loss);

/* How many iterations were done, those before a restored snapshot included. */
PSD_API int64_t psd_engine_iteration(const struct psd_engine *engine);

/* Runs the test nets; what they say is told. */
PSD_API psd_status psd_engine_test(struct psd_engine *engine);

/* Writes a snapshot; goes on from one, before the first step. */
PSD_API psd_status psd_engine_snapshot(struct psd_engine *engine);
PSD_API psd_status psd_engine_restore(struct psd_engine *engine, const char *solverstate);

#ifdef __cplusplus
}
#endif

#endif
