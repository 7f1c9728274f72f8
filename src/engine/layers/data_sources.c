/* data_sources.c - names of parts, and who opens what. */
#include "engine/layers/data_sources.h"
#include "base/alloc.h"
#include "base/path.h"
#include "engine/net.h"

#include <string.h>

enum { SOURCE = 1, BACKEND = 8, SHARED_FILE_SYSTEM = 10001 }; /* fields of DataParameter */

static const Caffe__DataParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__DataParameter none = CAFFE__DATA_PARAMETER__INIT;
    return layer->param->data_param ? layer->param->data_param : &none;
}

/* What the data room says gets the layer's place. */
static psd_status with_place(const struct psd_layer *layer, unsigned field, psd_status status)
{
    if (status != PSD_ECONFIG && status != PSD_ENOSUP)
        return status;
    return psd_layer_fail(layer, &param_of(layer)->base, field, "%s", psd_error());
}

static psd_status open_path(const struct psd_layer *layer, const char *path,
                            struct psd_source **out)
{
    bool lmdb = param_of(layer)->backend == CAFFE__DATA_PARAMETER__DB__LMDB;
    psd_status status = psd_source_open(lmdb ? "lmdb" : "leveldb", path, out);

    return with_place(layer, status == PSD_ENOSUP ? BACKEND : SOURCE, status);
}

/* --- parts -------------------------------------------------------------------------------------- */

/* Where the part of a worker is. PSD_ECONFIG: nowhere. */
static psd_status find_part(const struct psd_layer *layer, unsigned worker, char **out)
{
    const char *source = param_of(layer)->source;
    int length = (int)strlen(source);

    while (length > 1 && source[length - 1] == '/')
        length--;
    char *named = psd_alloc_text("%.*s_%u", length, source, worker);
    if (!named)
        return PSD_ENOMEM;
    psd_status status = psd_path_find(named, layer->net->document->path, out);
    psd_alloc_free(named);
    return status;
}

static psd_status open_part(const struct psd_layer *layer, unsigned worker, struct psd_source **out)
{
    const Caffe__DataParameter *p = param_of(layer);
    char *path = NULL;
    psd_status status = find_part(layer, worker, &path);

    if (status == PSD_ECONFIG)
        return psd_layer_fail(layer, &p->base, SHARED_FILE_SYSTEM,
                              "since shared_file_system is false, worker %u of %u reads %s_%u, but "
                              "there is no such file; make a part for each worker, or say true",
                              worker, layer->net->position.of, p->source, worker);
    if (status != PSD_OK)
        return status;
    status = open_path(layer, path, out);
    psd_alloc_free(path);
    return status;
}

static void close_parts(struct psd_data_sources *sources)
{
    for (size_t i = 0; i < sources->n_parts; i++)
        psd_source_close(sources->parts[i]);
    psd_alloc_free((void *)sources->parts);
    sources->parts = NULL;
    sources->n_parts = 0;
}

static psd_status open_parts(struct psd_data_sources *sources, const struct psd_layer *layer)
{
    const struct psd_net_position *position = &layer->net->position;

    sources->parts = psd_alloc_zero(position->n_workers, sizeof(*sources->parts));
    if (!sources->parts)
        return PSD_ENOMEM;
    for (unsigned i = 0; i < position->n_workers; i++) {
        unsigned worker = position->workers ? position->workers[i] : 0;
        PSD_TRY(open_part(layer, worker, &sources->parts[i]));
        sources->n_parts++;
    }
    return PSD_OK;
}

/* --- the common one ----------------------------------------------------------------------------- */

static psd_status find_common(const struct psd_layer *layer, char **out)
{
    const Caffe__DataParameter *p = param_of(layer);
    psd_status status = psd_path_find(p->source, layer->net->document->path, out);

    if (status != PSD_ECONFIG || p->shared_file_system)
        return with_place(layer, SOURCE, status);
    status = find_part(layer, 0, out);
    return status == PSD_ECONFIG ? psd_layer_fail(layer, &p->base, SOURCE,
                                                  "there is neither %s nor its first part, %s_0",
                                                  p->source, p->source)
                                 : status;
}

static psd_status open_common(struct psd_data_sources *sources, const struct psd_layer *layer)
{
    char *path = NULL;

    PSD_TRY(find_common(layer, &path));
    psd_status status = open_path(layer, path, &sources->common);
    psd_alloc_free(path);
    return status;
}

psd_status psd_data_sources_open(struct psd_data_sources *sources, const struct psd_layer *layer,
                                 const struct psd_data_sources *elder)
{
    const Caffe__DataParameter *p = param_of(layer);

    if (!p->source || !*p->source)
        return psd_layer_fail(layer, &p->base, SOURCE, "has no source");
    close_parts(sources);
    if (layer->pins && layer->net->position.of > 1)
        return open_parts(sources, layer);
    if (sources->common)
        return PSD_OK;
    if (!elder || !elder->common)
        return open_common(sources, layer);
    sources->common = elder->common;
    sources->borrowed = true;
    return PSD_OK;
}

void psd_data_sources_close(struct psd_data_sources *sources)
{
    close_parts(sources);
    if (!sources->borrowed)
        psd_source_close(sources->common);
}
