/* recurrent_ops.h - the places of a recurrent layer's operations, for the two files that use them. */
#ifndef PSD_ENGINE_LAYERS_RECURRENT_OPS_H
#define PSD_ENGINE_LAYERS_RECURRENT_OPS_H

#include <stddef.h>

enum { OP_X, OP_SUM, OP_STEPS };                       /* of all steps, and where those begin */
enum { STEP_SCALE, STEP_TURN, STEP_CELL, STEP_KINDS }; /* each step has its own, 1 to steps */

static inline size_t psd_recurrent_op(size_t kind, size_t t)
{
    return OP_STEPS + (t - 1) * STEP_KINDS + kind;
}

#endif
