/* diagram.c - from layers to boxes, and which of them are joined by arrows. */
#include "cli/diagram.h"
#include "base/alloc.h"
#include "cli/sketch.h"

#include <string.h>

enum {
    LINE = 15,     /* pixels of a line of text */
    LETTER = 7,    /* and of a letter of it */
    PADDING = 8,   /* around the text of a box */
    FARTHEST = 40, /* ranks that an arrow passes at most */
};

/* Who makes a blob. */
struct maker {
    size_t box;
    bool is_label; /* it is a further top of a layer that reads nothing */
};

struct making {
    struct psd_diagram *diagram;
    const struct psd_net *net;
    struct maker *makers; /* owned; of each blob of the net */
};

/* --- boxes -------------------------------------------------------------------------------------- */

/* Adds a line, which the box owns from here on; NULL: there was no memory for it. */
static psd_status add_line(struct psd_diagram_box *box, char *line)
{
    char **lines =
        line ? psd_alloc_resize((void *)box->lines, box->n_lines + 1, sizeof *lines) : NULL;

    if (!lines) {
        psd_alloc_free(line);
        return PSD_ENOMEM;
    }
    box->lines = lines;
    lines[box->n_lines++] = line;
    return PSD_OK;
}

/* "Convolution 11x11", "Pooling MAX 3x3": the type, and what one looks for first. */
static char *describe(const struct psd_layer *layer)
{
    static const char *const methods[] = {"MAX", "AVE", "STOCHASTIC"};
    const char *type = psd_stand_in_type(layer->param);
    const Caffe__PoolingParameter *pool = layer->param->pooling_param;
    const struct psd_shape *kernel = layer->n_params ? &layer->params[0]->blob.shape : NULL;

    if (strcmp(type, "Pooling") == 0 && pool && (size_t)pool->pool < 3) {
        unsigned h = pool->has_kernel_h ? pool->kernel_h : pool->kernel_size;
        unsigned w = pool->has_kernel_w ? pool->kernel_w : pool->kernel_size;
        return pool->global_pooling
                   ? psd_alloc_text("%s %s of all", type, methods[pool->pool])
                   : psd_alloc_text("%s %s %ux%u", type, methods[pool->pool], h, w);
    }
    if (kernel && kernel->axes == 4 && layer->param->convolution_param)
        return psd_alloc_text("%s %zux%zu", type, kernel->dim[2], kernel->dim[3]);
    return psd_alloc_text("%s", type);
}

static psd_status add_box(struct making *making, const struct psd_layer *layer)
{
    struct psd_layered *layered = &making->diagram->layered;
    struct psd_diagram_box *box = &making->diagram->boxes[layered->n_nodes++];
    char shape[200];

    box->name = layer->name;
    box->type = psd_stand_in_type(layer->param);
    PSD_TRY(add_line(box, describe(layer)));
    for (size_t i = 0; i < layer->n_top && i < 2; i++)
        PSD_TRY(add_line(box, psd_alloc_text("%s", psd_sketch_shape(&layer->top[i]->shape, shape,
                                                                    sizeof shape))));
    return layer->n_top > 2 ? add_line(box, psd_alloc_text("and %zu more tops", layer->n_top - 2))
                            : PSD_OK;
}

static bool is_in_place(const struct psd_layer *layer)
{
    return layer->n_bottom == 1 && layer->n_top == 1 && layer->param->n_top == 1 &&
           strcmp(layer->param->bottom[0], layer->param->top[0]) == 0;
}

/* --- arrows ------------------------------------------------------------------------------------- */

/* The name of a blob as the prototxt has it: before it was split. */
static const char *name_of(const struct making *making, const struct psd_layer *layer,
                           size_t bottom)
{
    size_t blob = layer->bottom_id[bottom];

    for (size_t i = layer->index; i-- > 0;) {
        const struct psd_layer *other = &making->net->layers[i];
        for (size_t k = 0; k < other->n_top; k++) {
            if (other->top_id[k] == blob && psd_sketch_is_split(other))
                return making->net->blob_names[other->bottom_id[0]];
        }
    }
    return making->net->blob_names[blob];
}

/* Below all that it reads but labels. */
static size_t rank_of(const struct making *making, const struct psd_layer *layer)
{
    size_t rank = 0;

    for (size_t i = 0; i < layer->n_bottom; i++) {
        const struct maker *maker = &making->makers[layer->bottom_id[i]];
        size_t above = making->diagram->layered.nodes[maker->box].rank;
        if (!maker->is_label && above >= rank)
            rank = above + 1;
    }
    return rank;
}

static psd_status join(struct making *making, const struct psd_layer *layer, size_t box)
{
    struct psd_layered *layered = &making->diagram->layered;

    layered->nodes[box].rank = rank_of(making, layer);
    for (size_t i = 0; i < layer->n_bottom; i++) {
        const struct maker *maker = &making->makers[layer->bottom_id[i]];
        size_t above = layered->nodes[maker->box].rank;
        if (!maker->is_label && layered->nodes[box].rank - above <= FARTHEST)
            layered->edges[layered->n_edges++] = (struct psd_layered_edge){maker->box, box, 0};
        else
            PSD_TRY(add_line(&making->diagram->boxes[box],
                             psd_alloc_text("reads %s", name_of(making, layer, i))));
    }
    return PSD_OK;
}

/* --- all ---------------------------------------------------------------------------------------- */

static psd_status add_layer(struct making *making, const struct psd_layer *layer)
{
    bool passes = psd_sketch_is_split(layer) || is_in_place(layer);
    struct maker maker = passes ? making->makers[layer->bottom_id[0]]
                                : (struct maker){making->diagram->layered.n_nodes, false};

    if (!passes) {
        PSD_TRY(add_box(making, layer));
        PSD_TRY(join(making, layer, maker.box));
    } else if (!psd_sketch_is_split(layer)) {
        PSD_TRY(add_line(&making->diagram->boxes[maker.box],
                         psd_alloc_text("%s  %s", layer->name, psd_stand_in_type(layer->param))));
    }
    for (size_t i = 0; i < layer->n_top; i++) {
        making->makers[layer->top_id[i]] = maker;
        making->makers[layer->top_id[i]].is_label |= !layer->n_bottom && i > 0;
    }
    return PSD_OK;
}

static void size_boxes(struct psd_diagram *diagram)
{
    for (size_t i = 0; i < diagram->layered.n_nodes; i++) {
        const struct psd_diagram_box *box = &diagram->boxes[i];
        size_t longest = strlen(box->name);
        for (size_t k = 0; k < box->n_lines; k++)
            longest = strlen(box->lines[k]) > longest ? strlen(box->lines[k]) : longest;
        diagram->layered.nodes[i].width = (double)(longest * LETTER + 2 * (size_t)PADDING);
        diagram->layered.nodes[i].height = (double)((box->n_lines + 1) * LINE + (size_t)PADDING);
    }
}

static psd_status make(struct making *making)
{
    const struct psd_net *net = making->net;
    struct psd_diagram *diagram = making->diagram;
    size_t bottoms = 0;

    for (size_t i = 0; i < net->n_layers; i++)
        bottoms += net->layers[i].n_bottom;
    diagram->boxes = psd_alloc_zero(net->n_layers, sizeof *diagram->boxes);
    diagram->layered.nodes = psd_alloc_zero(net->n_layers, sizeof *diagram->layered.nodes);
    diagram->layered.edges = psd_alloc_zero(bottoms, sizeof *diagram->layered.edges);
    if (!making->makers || !diagram->boxes || !diagram->layered.nodes || !diagram->layered.edges)
        return PSD_ENOMEM;
    for (size_t i = 0; i < net->n_layers; i++)
        PSD_TRY(add_layer(making, &net->layers[i]));
    size_boxes(diagram);
    return psd_layered_arrange(&diagram->layered);
}

psd_status psd_diagram_init(struct psd_diagram *diagram, const struct psd_net *net)
{
    struct making making = {diagram, net, psd_alloc_zero(net->n_blobs, sizeof *making.makers)};

    *diagram = (struct psd_diagram){.boxes = NULL};
    psd_status status = make(&making);
    psd_alloc_free(making.makers);
    return status;
}

void psd_diagram_fini(struct psd_diagram *diagram)
{
    for (size_t i = 0; diagram->boxes && i < diagram->layered.n_nodes; i++) {
        for (size_t k = 0; k < diagram->boxes[i].n_lines; k++)
            psd_alloc_free(diagram->boxes[i].lines[k]);
        psd_alloc_free((void *)diagram->boxes[i].lines);
    }
    psd_alloc_free(diagram->boxes);
    psd_alloc_free(diagram->layered.nodes);
    psd_alloc_free(diagram->layered.edges);
    psd_layered_fini(&diagram->layered);
}
