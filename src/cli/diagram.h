/* diagram.h - a net as boxes and arrows, and as SVG.
 *
 *     .---------------------.
 *     | conv1               |     a box is a layer, with those that work on its top in place
 *     | Convolution 11x11   |
 *     | 256x96x55x55        |
 *     | relu1  ReLU         |
 *     '---------------------'
 *                |
 *
 * Labels, and what comes from far above, have no arrow: their reader names them. */
#ifndef PSD_CLI_DIAGRAM_H
#define PSD_CLI_DIAGRAM_H

#include "cli/layered.h"
#include "engine/net.h"

#include <stdio.h>

/* What stands in a box. */
struct psd_diagram_box {
    const char *name, *type; /* borrowed from the net */
    char **lines;            /* owned, each too: what stands below the name */
    size_t n_lines;
};

struct psd_diagram {
    struct psd_diagram_box *boxes; /* owned; [layered.n_nodes] */
    struct psd_layered layered;    /* nodes and edges are owned, too */
};

/* Makes and arranges the diagram of a net, which outlives it. The caller owns it until fini, also after a
 * failure. */
psd_status psd_diagram_init(struct psd_diagram *diagram, const struct psd_net *net);
void psd_diagram_fini(struct psd_diagram *diagram);

/* Writes it as SVG; `title` is the picture's. */
void psd_diagram_write(const struct psd_diagram *diagram, const char *title, FILE *out);

#endif
