/* window.c - a window: how its parts are given, and where it has place. */
#include "engine/layers/window.h"
#include "proto/field.h"

#include <stdio.h>
#include <string.h>

/* What each part is called, and the least it can be, which is also what it is if it is not given. */
static const struct {
    const char *name, *stem; /* the stem of kernel_h is kernel */
    uint32_t least;
} parts[] = {
    [PSD_WINDOW_KERNEL] = {"kernel_size", "kernel", 1},
    [PSD_WINDOW_STRIDE] = {"stride", "stride", 1},
    [PSD_WINDOW_PAD] = {"pad", "pad", 0},
    [PSD_WINDOW_DILATION] = {"dilation", "dilation", 1},
};

/* A part in a message. */
struct given {
    const struct psd_layer *layer;
    const ProtobufCMessage *message;
    enum psd_window_part part;
    const ProtobufCFieldDescriptor *all, *named[2]; /* named are NULL where there are no such */
    size_t n, has[2];                               /* how often each stands there */
};

static struct given find(const struct psd_layer *layer, const ProtobufCMessage *message,
                         enum psd_window_part part)
{
    struct given g = {layer, message, part, .all = NULL};
    char name[32];

    g.all = psd_field_named(message->descriptor, parts[part].name);
    g.n = psd_field_count(message, g.all);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s_%c", parts[part].stem, "hw"[i]);
        g.named[i] = psd_field_find(message->descriptor, name, strlen(name));
        g.has[i] = g.named[i] ? psd_field_count(message, g.named[i]) : 0;
    }
    return g;
}

static bool is_named(const struct given *g)
{
    return g->has[0] || g->has[1];
}

/* The field that a sentence about this part points at. */
static unsigned place_of(const struct given *g)
{
    return g->has[0] ? g->named[0]->id : g->has[1] ? g->named[1]->id : g->all->id;
}

static psd_status check_names(const struct given *g, size_t spatial)
{
    const char *stem = parts[g->part].stem;

    if (g->n)
        return psd_layer_fail(g->layer, g->message, place_of(g),
                              "has %s and %s_h or %s_w; give one kind", parts[g->part].name, stem,
                              stem);
    if (spatial != 2)
        return psd_layer_fail(g->layer, g->message, place_of(g),
                              "has %s_h or %s_w, but its bottom has %zu spatial axes, not 2", stem,
                              stem, spatial);
    if (g->has[0] != g->has[1] && parts[g->part].least)
        return psd_layer_fail(g->layer, g->message, place_of(g),
                              "has only one of %s_h and %s_w; give both", stem, stem);
    return PSD_OK;
}

static psd_status check(const struct given *g, size_t spatial)
{
    if (is_named(g))
        return check_names(g, spatial);
    if (g->n > 1 && g->n != spatial)
        return psd_layer_fail(g->layer, g->message, place_of(g),
                              "has %s %zu times for %zu spatial axes; give it once, or for each",
                              parts[g->part].name, g->n, spatial);
    if (g->part == PSD_WINDOW_KERNEL && !g->n && spatial)
        return psd_layer_fail(g->layer, g->message, 0, "has no %s", parts[g->part].name);
    return PSD_OK;
}

static uint32_t value_at(const struct given *g, size_t axis)
{
    const ProtobufCFieldDescriptor *field = is_named(g) ? g->named[axis] : g->all;
    size_t count = is_named(g) ? g->has[axis] : g->n;

    if (!count)
        return parts[g->part].least;
    return *(const uint32_t *)psd_field_at(g->message, field, count > 1 ? axis : 0);
}

psd_status psd_window_read(const struct psd_layer *layer, const ProtobufCMessage *message,
                           enum psd_window_part part, size_t spatial, size_t *out)
{
    struct given given = find(layer, message, part);
    uint32_t least = parts[part].least;

    PSD_TRY(check(&given, spatial));
    for (size_t axis = 0; axis < spatial; axis++) {
        uint32_t value = value_at(&given, axis);
        if (value < least)
            return psd_layer_fail(layer, message, place_of(&given), "%s is %u; %u is the least",
                                  parts[part].name, value, least);
        out[axis] = value;
    }
    return PSD_OK;
}

psd_status psd_window_read_all(const struct psd_layer *layer, const ProtobufCMessage *message,
                               size_t spatial, struct psd_columns_spec *window)
{
    window->axes = spatial;
    PSD_TRY(psd_window_read(layer, message, PSD_WINDOW_KERNEL, spatial, window->kernel));
    PSD_TRY(psd_window_read(layer, message, PSD_WINDOW_STRIDE, spatial, window->stride));
    PSD_TRY(psd_window_read(layer, message, PSD_WINDOW_PAD, spatial, window->pad));
    return psd_window_read(layer, message, PSD_WINDOW_DILATION, spatial, window->dilation);
}

/* --- over a bottom ---------------------------------------------------------------------------- */

/* Places along one axis; 0: it does not fit. */
static size_t places(const struct psd_columns_spec *w, size_t i)
{
    size_t extent = w->dilation[i] * (w->kernel[i] - 1) + 1, padded = w->size[i] + 2 * w->pad[i];

    return padded < extent ? 0 : (padded - extent) / w->stride[i] + 1;
}

/* "3 x 3 x 1" */
static const char *kernel_text(const struct psd_columns_spec *w, char *out, size_t room)
{
    int used = 0;

    for (size_t i = 0; i < w->axes && (size_t)used < room; i++)
        used += snprintf(out + used, room - (size_t)used, "%s%zu", i ? " x " : "", w->kernel[i]);
    return out;
}

psd_status psd_window_slide(const struct psd_layer *layer, size_t bottom, size_t axis,
                            struct psd_columns_spec *window)
{
    const struct psd_shape *shape = &layer->bottom[bottom]->shape;
    char kernel[200], text[300];

    window->batch = psd_shape_count(shape, 0, axis);
    window->channels = shape->dim[axis];
    for (size_t i = 0; i < window->axes; i++) {
        window->size[i] = shape->dim[axis + 1 + i];
        window->out[i] = places(window, i);
        if (!window->out[i])
            return psd_layer_fail(layer, NULL, 0,
                                  "its kernel of %s does not fit into %s, with its padding",
                                  kernel_text(window, kernel, sizeof kernel),
                                  psd_layer_bottom_text(layer, bottom, text, sizeof text));
    }
    return PSD_OK;
}
