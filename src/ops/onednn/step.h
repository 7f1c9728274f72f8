/* step.h - one primitive of oneDNN with the tensors it reads and writes; only for onednn/.
 *
 *     our tensor --> [reorder] --> primitive --> [reorder] --> our tensor
 *
 * oneDNN is fastest on layouts of its own choice. A port knows our plain layout and the primitive's,
 * and reorders between them when they differ. All memory is taken when a step is opened. */
#ifndef PSD_OPS_ONEDNN_STEP_H
#define PSD_OPS_ONEDNN_STEP_H

#include "base/status.h"

#include <dnnl.h>
#include <stdbool.h>

enum { PSD_ONEDNN_PORTS = 4 };

struct psd_onednn_port {
    int arg;                  /* DNNL_ARG_SRC and so on */
    bool writes;              /* the primitive writes it */
    dnnl_memory_t user;       /* owned; our layout, over memory of the caller */
    dnnl_memory_t inner;      /* owned; the primitive's layout; NULL: ours will do */
    dnnl_primitive_t reorder; /* owned; NULL like inner */
};

struct psd_onednn_step {
    dnnl_engine_t engine;       /* borrowed */
    dnnl_primitive_t primitive; /* owned */
    dnnl_memory_t scratch;      /* owned; NULL: it needs none */
    size_t n_ports;
    struct psd_onednn_port ports[PSD_ONEDNN_PORTS];
};

/* PSD_OK, or PSD_ENOSUP or PSD_ENOMEM for what oneDNN answered. */
psd_status psd_onednn_status(dnnl_status_t status);

/* Makes a step of an operation; `hint` is the forward primitive of a backward one, else NULL. Frees
 * nothing that it borrowed; close works on a step that failed to open, too. */
psd_status psd_onednn_step_open(struct psd_onednn_step *step, dnnl_engine_t engine,
                                const void *operation, const_dnnl_primitive_desc_t hint);

/* Adds a port: argument `arg`, in our layout `plain`. */
psd_status psd_onednn_step_port(struct psd_onednn_step *step, int arg, bool writes,
                                const dnnl_memory_desc_t *plain);

/* Computes with data[i] behind port i. */
psd_status psd_onednn_step_run(struct psd_onednn_step *step, dnnl_stream_t stream,
                               void *const *data);

void psd_onednn_step_close(struct psd_onednn_step *step);

#endif
