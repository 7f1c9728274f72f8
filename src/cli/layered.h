/* layered.h - where the boxes of a graph go that flows from top to bottom.
 *
 *     rank 0        [ a ]
 *                   /   \            an edge that passes a rank has a bend there, so that it goes
 *     rank 1     [ b ]   |           between the boxes of that rank and not across them
 *                   \   /
 *     rank 2        [ c ]
 *
 * Boxes of a rank stand in the order that lets few edges cross, each as near to the middle of its
 * neighbours above and below as the others allow. */
#ifndef PSD_CLI_LAYERED_H
#define PSD_CLI_LAYERED_H

#include "base/status.h"

#include <stddef.h>

struct psd_layered_node {
    size_t rank;          /* below those of all nodes with an edge to this one */
    double width, height; /* of its box */
    double x, y;          /* set by arrange: of its middle */
};

struct psd_layered_edge {
    size_t from, to; /* nodes, of which the first is above */
    size_t bend;     /* set by arrange: the first of its bends, one for each rank that it passes */
};

struct psd_layered {
    struct psd_layered_node *nodes; /* borrowed, as are the edges */
    struct psd_layered_edge *edges;
    size_t n_nodes, n_edges;

    size_t n_ranks;
    double *top, *bottom; /* owned; [n_ranks]: between which the boxes of a rank are */
    double *bend_x;       /* owned */
    double width, height; /* of all */
};

/* Places the nodes, and the bends of the edges. The caller fills in the first group of fields, and
 * drops what is made, also after a failure. */
psd_status psd_layered_arrange(struct psd_layered *layered);
void psd_layered_fini(struct psd_layered *layered);

#endif
