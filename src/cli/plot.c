/* plot.c - the picture, from top to bottom. */
#include "cli/plot.h"
#include "cli/svg.h"

#include <math.h>

enum {
    WIDTH = 700,
    HEAD = 34,   /* pixels of the title */
    ENTRY = 160, /* of an entry of the legend, across */
    ROW = 20,    /* and down */
    LEFT = 62,   /* beside the axes of a panel, where names and numbers are */
    RIGHT = 18,
    ABOVE = 30,
    HEIGHT = 250, /* of the axes */
    BELOW = 46,
    TICKS = 7,  /* of y, about */
    APART = 24, /* numbers of x, at least */
    COLORS = 7
};

/* Told apart by all eyes: the palette of Okabe and Ito, without its yellow. */
static const char *const colors[COLORS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                           "#e69f00", "#56b4e9", "#000000"};

/* Where a panel's numbers are. */
struct axes {
    double x_most, y_most, y_step;
    double top; /* pixels of the upper left corner is LEFT, top */
};

/* Letters at a place; `how` has more attributes. */
static void put_label(FILE *out, double x, double y, const char *how, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
    psd_svg_text(out, text);
    fputs("</text>\n", out);
}

static double most_of(const struct psd_plot *plot, bool x)
{
    double most = 0;

    for (size_t i = 0; i < plot->n_panels; i++) {
        for (size_t k = 0; k < plot->n_names; k++) {
            const struct psd_plot_line *line = &plot->panels[i].lines[k];
            for (size_t j = 0; j < line->count; j++)
                most = fmax(most, x ? line->x[j] : line->y[j]);
        }
    }
    return most > 0 ? most : 1;
}

/* 1, 2 or 5 times a power of ten, so that there are about TICKS of them. */
static double step_for(double most)
{
    double power = pow(10, floor(log10(most / TICKS)));
    double times = most / TICKS / power;

    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static double at_x(const struct axes *axes, double x)
{
    return LEFT + x / axes->x_most * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct axes *axes, double y)
{
    return axes->top + HEIGHT - y / axes->y_most * HEIGHT;
}

static void put_y_axis(const struct psd_plot *plot, FILE *out, const struct axes *axes)
{
    char number[32], turned[100];
    double middle = axes->top + HEIGHT / 2.0;

    size_t steps = (size_t)(axes->y_most * 1.0001 / axes->y_step);
    for (size_t step = 0; step <= steps; step++) {
        double y = (double)step * axes->y_step;
        fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, at_y(axes, y),
                WIDTH - RIGHT);
        snprintf(number, sizeof number, "%g", y);
        put_label(out, LEFT - 7, at_y(axes, y) + 4, "text-anchor=\"end\"", number);
    }
    snprintf(turned, sizeof turned, "text-anchor=\"middle\" transform=\"rotate(-90 16 %.1f)\"",
             middle);
    put_label(out, 16, middle, turned, plot->y_name);
}

/* From the right, so that the largest has its number and those that are crowded have none. */
static void put_x_axis(const struct psd_plot *plot, FILE *out, const struct axes *axes)
{
    double bottom = axes->top + HEIGHT, last = WIDTH + APART;
    char number[32];

    for (size_t i = plot->n_ticks; i > 0; i--) {
        double x = at_x(axes, plot->ticks[i - 1]);
        fprintf(out, "<path class=\"tick\" d=\"M%.1f %.1fv5\"/>\n", x, bottom);
        if (last - x < APART)
            continue;
        snprintf(number, sizeof number, "%g", plot->ticks[i - 1]);
        put_label(out, x, bottom + 19, "text-anchor=\"middle\"", number);
        last = x;
    }
    put_label(out, (LEFT + WIDTH - RIGHT) / 2.0, bottom + 38, "text-anchor=\"middle\"",
              plot->x_name);
    fprintf(out, "<path class=\"axis\" d=\"M%d %.1fV%.1fH%d\"/>\n", LEFT, axes->top, bottom,
            WIDTH - RIGHT);
}

static bool is_reference(const struct psd_plot *plot, size_t line)
{
    return plot->has_reference && line + 1 == plot->n_names;
}

/* The attributes of a line's stroke. One that lies below others is wider, to be seen beside them. */
static void put_stroke(const struct psd_plot *plot, FILE *out, size_t line)
{
    if (is_reference(plot, line))
        fputs("class=\"line\" stroke=\"#888\" stroke-width=\"2\" stroke-dasharray=\"5 4\"", out);
    else
        fprintf(out, "class=\"line\" stroke=\"%s\" stroke-width=\"%.1f\"", colors[line % COLORS],
                1.6 + 0.8 * (double)line);
}

static void put_line(const struct psd_plot *plot, FILE *out, const struct axes *axes,
                     const struct psd_plot_line *line, size_t index)
{
    if (line->count == 0)
        return;
    fputs("<path ", out);
    put_stroke(plot, out, index);
    for (size_t i = 0; i < line->count; i++)
        fprintf(out, "%s%.1f %.1f", i ? "L" : " d=\"M", at_x(axes, line->x[i]),
                at_y(axes, line->y[i]));
    fputs("\"/>\n", out);
    for (size_t i = 0; i < line->count && !is_reference(plot, index); i++)
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                at_x(axes, line->x[i]), at_y(axes, line->y[i]), colors[index % COLORS]);
}

static void put_panel(const struct psd_plot *plot, FILE *out, const struct axes *axes,
                      const struct psd_plot_panel *panel)
{
    put_label(out, LEFT, axes->top - 10, "class=\"panel\"", panel->title);
    put_y_axis(plot, out, axes);
    put_x_axis(plot, out, axes);
    for (size_t i = plot->n_names; i > 0; i--) /* the first on top, the reference below all */
        put_line(plot, out, axes, &panel->lines[i - 1], i - 1);
}

static size_t columns(void)
{
    return (WIDTH - LEFT) / ENTRY;
}

static double legend_height(const struct psd_plot *plot)
{
    size_t rows = (plot->n_names + columns() - 1) / columns();

    return (double)(rows * ROW);
}

static void put_legend(const struct psd_plot *plot, FILE *out)
{
    for (size_t i = 0; i < plot->n_names; i++) {
        size_t row = i / columns();
        double x = (double)(LEFT + i % columns() * ENTRY);
        double y = (double)(HEAD + row * ROW) + ROW / 2.0;
        fputs("<path ", out);
        put_stroke(plot, out, i);
        fprintf(out, " d=\"M%.1f %.1fh22\"/>\n", x, y);
        put_label(out, x + 28, y + 4, "", plot->names[i]);
    }
}

static void put_head(const struct psd_plot *plot, FILE *out, double height)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
            "viewBox=\"0 0 %d %.0f\">\n",
            WIDTH, height, WIDTH, height);
    fputs("<style>text{font:13px sans-serif;fill:#222}.title{font-size:16px;font-weight:bold}"
          ".panel{font-weight:bold}.grid{stroke:#ddd}.tick,.axis{stroke:#444;fill:none}"
          ".line{fill:none}</style>\n",
          out);
    fprintf(out, "<rect width=\"%d\" height=\"%.0f\" fill=\"#fff\"/>\n", WIDTH, height);
    put_label(out, LEFT, 22, "class=\"title\"", plot->title);
}

void psd_plot_write(const struct psd_plot *plot, FILE *out)
{
    const double panel = ABOVE + HEIGHT + BELOW;
    double above = HEAD + legend_height(plot), most = most_of(plot, false);
    struct axes axes = {.x_most = most_of(plot, true), .y_step = step_for(most)};

    axes.y_most = ceil(most / axes.y_step - 1e-9) * axes.y_step;
    put_head(plot, out, above + (double)plot->n_panels * panel);
    put_legend(plot, out);
    for (size_t i = 0; i < plot->n_panels; i++) {
        axes.top = above + (double)i * panel + ABOVE;
        put_panel(plot, out, &axes, &plot->panels[i]);
    }
    fputs("</svg>\n", out);
}
