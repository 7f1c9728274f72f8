/* sweep_plot.c - a sweep as lines: a panel for each bandwidth, a line for each scheme. */
#include "base/alloc.h"
#include "base/status.h"
#include "cli/plot.h"
#include "cli/sweep.h"
#include "cli/text_file.h"

/* What the picture is made of; arrays are owned. */
struct picture {
    struct psd_plot plot;
    const char *names[PSD_SCHEMES + 1];
    char title[200];
    char (*titles)[40];            /* [panels] */
    struct psd_plot_panel *panels; /* [panels] */
    struct psd_plot_line *lines;   /* [panels][names] */
    double *x, *y;                 /* [panels][names][nodes] */
};

static psd_status make_room(struct picture *picture, size_t panels, size_t lines, size_t nodes)
{
    picture->titles = psd_alloc_zero(panels, sizeof *picture->titles);
    picture->panels = psd_alloc_zero(panels, sizeof *picture->panels);
    picture->lines = psd_alloc_zero(panels * lines, sizeof *picture->lines);
    picture->x = psd_alloc_zero(panels * lines * nodes, sizeof *picture->x);
    picture->y = psd_alloc_zero(panels * lines * nodes, sizeof *picture->y);
    return picture->titles && picture->panels && picture->lines && picture->x && picture->y
               ? PSD_OK
               : PSD_ENOMEM;
}

static void free_picture(struct picture *picture)
{
    psd_alloc_free(picture->titles);
    psd_alloc_free(picture->panels);
    psd_alloc_free(picture->lines);
    psd_alloc_free(picture->x);
    psd_alloc_free(picture->y);
}

/* The line of one scheme, or behind the last one that of as many times as there are nodes. */
static void fill_line(const struct psd_sweep *sweep, const struct psd_sweep_point *points,
                      size_t scheme, double *x, double *y, struct psd_plot_line *line)
{
    bool reference = scheme == sweep->schemes;

    *line = (struct psd_plot_line){.x = x, .y = y};
    for (size_t i = 0; i < sweep->nodes; i += sweep->schemes) {
        const struct psd_sweep_point *point = &points[i + (reference ? 0 : scheme)];
        double speedup = psd_sweep_speedup(point);
        if (!(speedup > 0))
            continue;
        x[line->count] = point->nodes;
        y[line->count++] = reference ? point->nodes : speedup;
    }
}

static void fill_panel(const struct psd_sweep *sweep, struct picture *picture, size_t i)
{
    const struct psd_sweep_point *points = &sweep->points[i * sweep->nodes];
    size_t lines = sweep->schemes + 1, nodes = sweep->nodes / sweep->schemes;

    snprintf(picture->titles[i], sizeof *picture->titles, "%.4g Gbit/s",
             points->bandwidth * 8 / 1e9);
    picture->panels[i] = (struct psd_plot_panel){picture->titles[i], &picture->lines[i * lines]};
    for (size_t k = 0; k < lines; k++) {
        size_t at = (i * lines + k) * nodes;
        fill_line(sweep, points, k, &picture->x[at], &picture->y[at],
                  &picture->lines[i * lines + k]);
    }
}

static void fill(const struct psd_sweep *sweep, struct picture *picture)
{
    struct psd_plot *plot = &picture->plot;
    size_t panels = sweep->count / sweep->nodes;

    for (size_t i = 0; i < sweep->schemes; i++)
        picture->names[i] = psd_scheme_names[sweep->points[i].scheme];
    picture->names[sweep->schemes] = "ideal";
    snprintf(picture->title, sizeof picture->title, "%s, batch %zu a node, simulated",
             sweep->workload->name, sweep->workload->batch);
    for (size_t i = 0; i < panels; i++)
        fill_panel(sweep, picture, i);
    *plot = (struct psd_plot){
        .title = picture->title,
        .x_name = "nodes",
        .y_name = "speed-up",
        .names = picture->names,
        .n_names = sweep->schemes + 1,
        .has_reference = true,
        .ticks = picture->lines[sweep->schemes].x,
        .n_ticks = picture->lines[sweep->schemes].count,
        .panels = picture->panels,
        .n_panels = panels,
    };
}

static psd_status draw(const struct psd_plot *plot, const char *path)
{
    struct psd_text_file file;

    PSD_TRY(psd_text_file_begin(&file));
    psd_plot_write(plot, file.out);
    return psd_text_file_save(&file, path);
}

psd_status psd_sweep_plot(const struct psd_sweep *sweep, const char *path)
{
    struct picture picture = {.names = {NULL}};
    size_t panels = sweep->count / sweep->nodes, nodes = sweep->nodes / sweep->schemes;
    psd_status status = make_room(&picture, panels, sweep->schemes + 1, nodes);

    if (status == PSD_OK) {
        fill(sweep, &picture);
        status = draw(&picture.plot, path);
    }
    free_picture(&picture);
    return status;
}
