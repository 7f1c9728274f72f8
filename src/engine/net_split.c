/* net_split.c - a blob that several layers read becomes several.
 *
 *     conv1 --> pool1, relu2          conv1 --> Split --> conv1_conv1_0_split_0 --> pool1
 *                                                     '-> conv1_conv1_0_split_1 --> relu2
 *
 * A loss weight on a blob that is read, too, counts as a reader: the first of the parts has it. */
#include "base/alloc.h"
#include "base/map.h"
#include "engine/net_state.h"
#include "proto/field.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A top, and who reads it. */
struct source {
    size_t layer, top;
    size_t readers, given; /* parts there will be; parts given to readers so far */
    float loss_weight;
};

struct splitting {
    struct psd_document *document;
    Caffe__NetParameter *net;
    struct source *sources; /* owned; all tops in their order */
    size_t n_sources;
    size_t *first_source; /* owned; of each layer */
    size_t *read;         /* owned; source of each bottom, layer by layer; SIZE_MAX: none */
    struct psd_map last;  /* name -> source */
};

static float weight_of(const Caffe__LayerParameter *layer, size_t top)
{
    return top < layer->n_loss_weight ? layer->loss_weight[top] : 0;
}

/* Finds out which top each bottom means: the last of that name above it. */
static psd_status trace(struct splitting *s)
{
    size_t bottom = 0;

    for (size_t i = 0; i < s->net->n_layer; i++) {
        const Caffe__LayerParameter *layer = s->net->layer[i];
        for (size_t k = 0; k < layer->n_bottom; k++, bottom++) {
            s->read[bottom] = SIZE_MAX; /* nobody makes it: the net says so later */
            if (psd_map_find(&s->last, layer->bottom[k], &s->read[bottom]))
                s->sources[s->read[bottom]].readers++;
        }
        s->first_source[i] = s->n_sources;
        for (size_t k = 0; k < layer->n_top; k++) {
            float weight = weight_of(layer, k);
            s->sources[s->n_sources] = (struct source){i, k, weight != 0, 0, weight};
            PSD_TRY(psd_map_put(&s->last, layer->top[k], s->n_sources++));
        }
    }
    return PSD_OK;
}

static char *split_name(struct splitting *s, const struct source *source, const char *blob,
                        size_t part)
{
    const char *layer = s->net->layer[source->layer]->name;
    char name[1000];
    int length = part == SIZE_MAX ? snprintf(name, sizeof name, "%s_%s_%zu_split", blob,
                                             layer ? layer : "", source->top)
                                  : snprintf(name, sizeof name, "%s_%s_%zu_split_%zu", blob,
                                             layer ? layer : "", source->top, part);

    if (length < 0 || (size_t)length >= sizeof name)
        length = sizeof name - 1;
    return psd_arena_text(s->document->arena, name, (size_t)length);
}

static psd_status put_text(struct splitting *s, Caffe__LayerParameter *layer, const char *field,
                           char *text)
{
    if (!text)
        return PSD_ENOMEM;
    return psd_field_put(s->document->arena, &layer->base,
                         psd_field_named(layer->base.descriptor, field), &text);
}

/* The Split layer behind a source; its bottom is the source's own name. */
static psd_status make_split(struct splitting *s, struct source *source,
                             Caffe__LayerParameter **out)
{
    struct psd_arena *arena = s->document->arena;
    Caffe__LayerParameter *from = s->net->layer[source->layer];
    char *blob = from->top[source->top];
    ProtobufCMessage *made = NULL;

    PSD_TRY(psd_field_new_message(arena, &caffe__layer_parameter__descriptor, &made));
    Caffe__LayerParameter *split = (Caffe__LayerParameter *)made;
    PSD_TRY(put_text(s, split, "name", split_name(s, source, blob, SIZE_MAX)));
    PSD_TRY(put_text(s, split, "type", psd_arena_text(arena, "Split", 5)));
    PSD_TRY(put_text(s, split, "bottom", blob));
    for (size_t part = 0; part < source->readers; part++) {
        float weight = part == 0 ? source->loss_weight : 0;
        PSD_TRY(put_text(s, split, "top", split_name(s, source, blob, part)));
        if (source->loss_weight != 0)
            PSD_TRY(psd_field_put(arena, made, psd_field_named(made->descriptor, "loss_weight"),
                                  &weight));
    }
    if (source->loss_weight != 0) {
        from->loss_weight[source->top] = 0; /* the first part has it now */
        source->given = 1;
    }
    *out = split;
    return PSD_OK;
}

/* Gives each reader of a split blob its part. */
static psd_status rename_bottoms(struct splitting *s, Caffe__LayerParameter *layer,
                                 const size_t *read)
{
    for (size_t k = 0; k < layer->n_bottom; k++) {
        struct source *source = read[k] == SIZE_MAX ? NULL : &s->sources[read[k]];
        if (!source || source->readers < 2)
            continue;
        layer->bottom[k] = split_name(s, source, layer->bottom[k], source->given++);
        if (!layer->bottom[k])
            return PSD_ENOMEM;
    }
    return PSD_OK;
}

static psd_status rebuild(struct splitting *s)
{
    size_t bottom = 0, n = 0, room = s->net->n_layer + s->n_sources;
    Caffe__LayerParameter **layers =
        psd_arena_alloc(s->document->arena, (room + 1) * sizeof(*layers));

    if (!layers)
        return PSD_ENOMEM;
    for (size_t i = 0; i < s->net->n_layer; i++) {
        Caffe__LayerParameter *layer = s->net->layer[i];
        PSD_TRY(rename_bottoms(s, layer, s->read + bottom));
        bottom += layer->n_bottom;
        layers[n++] = layer;
        for (size_t k = 0; k < layer->n_top; k++) {
            struct source *source = &s->sources[s->first_source[i] + k];
            if (source->readers > 1)
                PSD_TRY(make_split(s, source, &layers[n++]));
        }
    }
    s->net->layer = layers;
    s->net->n_layer = n;
    return PSD_OK;
}

psd_status psd_net_split(struct psd_document *document, Caffe__NetParameter *net)
{
    struct splitting s = {.document = document, .net = net};
    size_t tops = 0, bottoms = 0;
    psd_status status = PSD_ENOMEM;

    for (size_t i = 0; i < net->n_layer; i++) {
        tops += net->layer[i]->n_top;
        bottoms += net->layer[i]->n_bottom;
    }
    s.sources = psd_alloc_zero(tops + 1, sizeof *s.sources);
    s.first_source = psd_alloc_zero(net->n_layer + 1, sizeof *s.first_source);
    s.read = psd_alloc_zero(bottoms + 1, sizeof *s.read);
    psd_map_init(&s.last);
    if (s.sources && s.first_source && s.read)
        status = trace(&s);
    if (status == PSD_OK)
        status = rebuild(&s);
    psd_map_fini(&s.last);
    psd_alloc_free(s.read);
    psd_alloc_free(s.first_source);
    psd_alloc_free(s.sources);
    return status;
}
