/* diagram_svg.c - a diagram as a picture: arrows first, so that boxes lie above them. */
#include "cli/diagram.h"
#include "cli/svg.h"

#include <string.h>

enum { LINE = 15, PADDING = 8, FIRST = 16 }; /* pixels, as in diagram.c; to the first base line */

/* Layers that do alike look alike. */
static const char *class_of(const char *type)
{
    static const struct {
        const char *part, *class;
    } classes[] = {
        {"Data", "data"},       {"Input", "data"}, {"Convolution", "conv"}, {"Deconv", "conv"},
        {"InnerProduct", "fc"}, {"LSTM", "fc"},    {"RNN", "fc"},           {"Embed", "fc"},
        {"Pooling", "pool"},    {"LRN", "norm"},   {"Norm", "norm"},        {"Concat", "join"},
        {"Eltwise", "join"},    {"Slice", "join"}, {"Loss", "loss"},        {"Accuracy", "loss"},
        {"Softmax", "loss"},
    };

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strstr(type, classes[i].part))
            return classes[i].class;
    }
    return "other";
}

static void write_head(const struct psd_layered *layered, const char *title, FILE *out)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n<title>",
            layered->width, layered->height, layered->width, layered->height);
    psd_svg_text(out, title);
    fputs("</title>\n<style>\n"
          "text { font: 11px monospace; fill: #222; }\n"
          ".name { font-weight: bold; }\n"
          "rect { stroke: #555; rx: 4px; fill: #fff; }\n"
          ".data { fill: #e8e8e8; } .conv { fill: #cfe3f5; } .fc { fill: #ddd3ee; }\n"
          ".pool { fill: #d4ecd4; } .norm { fill: #fbe7c6; } .join { fill: #f6f6d0; }\n"
          ".loss { fill: #f6d0d0; }\n"
          "path { fill: none; stroke: #777; stroke-width: 1.2; }\n"
          "marker path { fill: #777; stroke: none; }\n"
          "</style>\n"
          "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
          "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
          "<rect width=\"100%\" height=\"100%\" style=\"fill: #fff; stroke: none\"/>\n",
          out);
}

/* From where the line is, *x and *y, to another place below it. */
static void turn(FILE *out, double *x, double *y, double to_x, double to_y)
{
    double middle = (*y + to_y) / 2;

    fprintf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", *x, middle, to_x, middle, to_x, to_y);
    *x = to_x;
    *y = to_y;
}

static void write_edge(const struct psd_layered *layered, const struct psd_layered_edge *edge,
                       FILE *out)
{
    const struct psd_layered_node *from = &layered->nodes[edge->from];
    const struct psd_layered_node *to = &layered->nodes[edge->to];
    double x = from->x, y = from->y + from->height / 2;

    fprintf(out, "<path marker-end=\"url(#tip)\" d=\"M%.1f %.1f", x, y);
    for (size_t rank = from->rank + 1; rank < to->rank; rank++) {
        turn(out, &x, &y, layered->bend_x[edge->bend + rank - from->rank - 1], layered->top[rank]);
        y = layered->bottom[rank];
        fprintf(out, "V%.1f", y);
    }
    turn(out, &x, &y, to->x, to->y - to->height / 2);
    fputs("\"/>\n", out);
}

static void write_box(const struct psd_layered_node *node, const struct psd_diagram_box *box,
                      FILE *out)
{
    double left = node->x - node->width / 2, top = node->y - node->height / 2;

    fprintf(out, "<g><rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
            class_of(box->type), left, top, node->width, node->height);
    fprintf(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", left + PADDING, top + FIRST);
    psd_svg_text(out, box->name);
    fputs("</text>", out);
    for (size_t i = 0; i < box->n_lines; i++) {
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", left + PADDING,
                top + FIRST + LINE * (double)(i + 1));
        psd_svg_text(out, box->lines[i]);
        fputs("</text>", out);
    }
    fputs("</g>\n", out);
}

void psd_diagram_write(const struct psd_diagram *diagram, const char *title, FILE *out)
{
    const struct psd_layered *layered = &diagram->layered;

    write_head(layered, title, out);
    for (size_t i = 0; i < layered->n_edges; i++)
        write_edge(layered, &layered->edges[i], out);
    for (size_t i = 0; i < layered->n_nodes; i++)
        write_box(&layered->nodes[i], &diagram->boxes[i], out);
    fputs("</svg>\n", out);
}
