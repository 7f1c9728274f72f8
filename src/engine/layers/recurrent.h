/* recurrent.h - what LSTM and RNN have in common: a state that goes through the steps of sequences.
 *
 *     bottoms    x [steps][streams][..]  cont [steps][streams]  static [streams][..]  first states
 *
 *                 x, all steps --- W, b ---> input [t]             static --- W ---.
 *                                               |                                  |
 *     state [t-1] --- * cont [t] --- W ------>  +  <-------------------------------'
 *         |                                     |
 *         '------------------------------->   cell   ---> state [t], the last part of it is shown
 *
 * A state is [parts][streams][outputs]: an LSTM has its cells and what it shows of them, an RNN the
 * latter alone. Steps are operations on pieces of blobs that hold all steps, so that backward finds
 * everything. Parameters come in Caffe's order: W and b of x, W of the static input, W of the state,
 * and then what a kind adds.
 *
 * With expose_hidden first and last state are bottoms and tops. Otherwise the last state is carried
 * to the next pass as the layer's own; cont says where it counts. Either way gradients end with the
 * steps of the pass, as in Caffe: those of a first state are 0, those of a last one do not count. */
#ifndef PSD_ENGINE_LAYERS_RECURRENT_H
#define PSD_ENGINE_LAYERS_RECURRENT_H

#include "engine/layer.h"

struct psd_recurrent;

/* What a step does, by kind. */
struct psd_recurrent_cell {
    size_t parts; /* of a state */
    size_t gates; /* numbers that an output is made of */

    struct psd_op_spec (*spec)(const struct psd_recurrent *r);

    /* What the cell of step t, 1 to steps, reads and writes, gradients included. Those of the state
     * before it are added. */
    struct psd_op_values (*values)(const struct psd_recurrent *r, size_t t);
};

struct psd_recurrent {
    const struct psd_recurrent_cell *cell;
    size_t steps, streams, inputs, outputs;
    size_t statics; /* inputs that are the same in all steps; 0: there are none */
    bool exposes;
    size_t state_size; /* floats: parts * streams * outputs */
    size_t input_size; /* floats of one step: streams * gates * outputs */

    const struct psd_blob *cont; /* borrowed; the layer's bottom */
    struct psd_blob state;       /* owned, as the others; [steps + 1][parts][streams][outputs] */
    struct psd_blob input;       /* [steps][streams][gates][outputs]: what goes into the cell */
    struct psd_blob continued;   /* [steps][streams][outputs]: what was shown, times cont */
    struct psd_blob turned;      /* [streams][gates][outputs]: the same, times W, of one step */
    struct psd_blob fixed;       /* [streams][gates][outputs]: the static input, times W */
    struct psd_blob carried;     /* [parts][streams][outputs], unless it exposes */
};

/* `param` is the layer's. Adds the parameters up to the state's W. */
psd_status psd_recurrent_setup(struct psd_layer *layer, const struct psd_recurrent_cell *cell);

/* Shapes tops and blobs, and plans. *next: operations from here on are the kind's own. */
psd_status psd_recurrent_reshape(struct psd_layer *layer, size_t *next);

/* All states from the bottoms; the last goes where it is wanted. */
psd_status psd_recurrent_forward(struct psd_layer *layer);

/* All gradients, after somebody has set those of the states 1 to steps as far as they come from the
 * first top. */
psd_status psd_recurrent_backward(struct psd_layer *layer);

void psd_recurrent_drop(struct psd_layer *layer);

double psd_recurrent_macs(const struct psd_layer *layer);

/* The part of state t, its gradient, and the same that follow from the names. */
struct psd_tensor psd_recurrent_state(const struct psd_recurrent *r, size_t t, size_t part);
struct psd_tensor psd_recurrent_state_diff(const struct psd_recurrent *r, size_t t, size_t part);
struct psd_tensor psd_recurrent_input(const struct psd_recurrent *r, size_t t);
struct psd_tensor psd_recurrent_input_diff(const struct psd_recurrent *r, size_t t);
struct psd_tensor psd_recurrent_cont(const struct psd_recurrent *r, size_t t);

/* A parameter as input `input` of an operation, with the place of its gradient. `again`: this pass
 * has already written that. */
void psd_recurrent_read_param(const struct psd_layer *layer, size_t index, unsigned input,
                              bool again, struct psd_op_values *values);

#endif
