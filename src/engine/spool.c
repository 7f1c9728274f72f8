#include "engine/spool.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/thread.h"
#include "proto/wire.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 4 }; /* files of a set */

struct part {
    char *path; /* owned */
    char *data; /* owned; packed */
    size_t size, room;
};

struct psd_spool {
    struct part parts[MOST];
    size_t count;
    struct psd_file_writer *writers[MOST]; /* owned; of the first n_writers parts */
    size_t n_writers;
    bool runs;
    pthread_t thread;
    psd_status status;  /* the thread's, until it is joined */
    char sentence[600]; /* the same */
};

psd_status psd_spool_create(struct psd_spool **out)
{
    *out = psd_alloc_zero(1, sizeof **out);
    return *out ? PSD_OK : PSD_ENOMEM;
}

static bool pack(void *context, const void *data, size_t size)
{
    struct part *part = context;

    if (size > part->room - part->size)
        return false;
    memcpy(part->data + part->size, data, size);
    part->size += size;
    return true;
}

psd_status psd_spool_add(struct psd_spool *spool, char *path, const ProtobufCMessage *message)
{
    struct part *part = &spool->parts[spool->count];
    struct psd_sink sink = {.write = pack, .context = part};

    if (!path || spool->count == MOST) {
        psd_alloc_free(path);
        return PSD_ENOMEM;
    }
    spool->count++;
    part->path = path;
    part->room = protobuf_c_message_get_packed_size(message);
    part->data = psd_alloc(part->room + 1);
    if (!part->data)
        return PSD_ENOMEM;
    return psd_wire_write(message, &sink);
}

psd_status psd_spool_add_bytes(struct psd_spool *spool, char *path, void *data, size_t size)
{
    struct part *part = &spool->parts[spool->count];

    if (!path || !data || spool->count == MOST) {
        psd_alloc_free(path);
        psd_alloc_free(data);
        return PSD_ENOMEM;
    }
    spool->count++;
    *part = (struct part){.path = path, .data = data, .size = size, .room = size};
    return PSD_OK;
}

/* --- on the thread ------------------------------------------------------------------------------ */

static psd_status write_parts(struct psd_spool *spool)
{
    for (size_t i = 0; i < spool->count; i++) {
        struct part *part = &spool->parts[i];
        PSD_TRY(psd_file_create(part->path, &spool->writers[i]));
        bool written = psd_file_write(spool->writers[i], part->data, part->size);
        spool->n_writers++;
        psd_alloc_free(part->data);
        part->data = NULL;
        if (!written)
            break; /* committing says why */
    }
    return PSD_OK;
}

/* A set is whole, or the one that it was to replace is. */
static psd_status name_parts(struct psd_spool *spool)
{
    size_t count = spool->n_writers;

    spool->n_writers = 0;
    return psd_file_commit_all(spool->writers, count);
}

static void run(void *arg)
{
    struct psd_spool *spool = arg;

    spool->status = write_parts(spool);
    if (spool->status == PSD_OK)
        spool->status = name_parts(spool);
    if (spool->status != PSD_OK)
        snprintf(spool->sentence, sizeof spool->sentence, "%s", psd_error());
}

psd_status psd_spool_start(struct psd_spool *spool)
{
    PSD_TRY(psd_thread_start("psd-snapshot", run, spool, &spool->thread));
    spool->runs = true;
    return PSD_OK;
}

psd_status psd_spool_end(struct psd_spool *spool)
{
    psd_status status = PSD_OK;

    if (!spool)
        return PSD_OK;
    if (spool->runs) {
        pthread_join(spool->thread, NULL);
        if (spool->status != PSD_OK)
            status = psd_fail(spool->status, "%s", spool->sentence);
    }
    for (size_t i = 0; i < spool->n_writers; i++)
        psd_file_abandon(spool->writers[i]);
    for (size_t i = 0; i < spool->count; i++) {
        psd_alloc_free(spool->parts[i].data);
        psd_alloc_free(spool->parts[i].path);
    }
    psd_alloc_free(spool);
    return status;
}
