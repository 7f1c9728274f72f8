/* engine_state.h - what is behind poseidon/engine.h; only for engine*.c. */
#ifndef PSD_ENGINE_ENGINE_STATE_H
#define PSD_ENGINE_ENGINE_STATE_H

#include "engine/solver.h"
#include "poseidon/engine.h"

struct psd_engine {
    struct psd_log log;
    void (*tell)(void *context, const char *line); /* NULL: nobody wants to know */
    void *context;

    struct psd_device *device; /* owned, as are the next */
    struct psd_ops *ops;
    struct psd_plugins *plugins;   /* NULL: none */
    struct psd_document *document; /* of a net or a solver */
    struct psd_solver *solver;     /* NULL: there is a net alone */
    struct psd_net *net;           /* owned, or the solver's */
    float loss;                    /* of the latest iteration, smoothed */
};

#endif
