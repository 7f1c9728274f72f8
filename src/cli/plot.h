/* plot.h - lines over numbers, as an SVG picture 700 pixels wide.
 *
 *     title
 *     -- one   -- other                the legend, once
 *     |      ,-'                       a panel below the other, with equal axes from 0
 *     |   ,-'   ,--
 *     |,-'---''                        marks at the points
 *     '--1--2-----4---------8
 */
#ifndef PSD_CLI_PLOT_H
#define PSD_CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All pointers are borrowed for the call. */
struct psd_plot_line {
    const double *x, *y; /* [count]; 0 or more */
    size_t count;
};

struct psd_plot_panel {
    const char *title;
    const struct psd_plot_line *lines; /* [plot->n_names] */
};

struct psd_plot {
    const char *title, *x_name, *y_name;
    const char *const *names; /* of the lines, in every panel the same */
    size_t n_names;
    bool has_reference;  /* the last line is what others are measured by: dashed, without marks */
    const double *ticks; /* of x, rising */
    size_t n_ticks;
    const struct psd_plot_panel *panels;
    size_t n_panels;
};

/* Writes the picture; failures are the stream's. */
void psd_plot_write(const struct psd_plot *plot, FILE *out);

#endif
