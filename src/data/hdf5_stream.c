#include "data/hdf5_stream.h"
#include "base/alloc.h"
#include "data/hdf5_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 256 << 10 }; /* bytes that are copied at a time */

struct column {
    struct psd_hdf5_column as; /* its name is owned; dim[0] is the rows so far */
    size_t row;                /* bytes of a row */
    int fd;                    /* owned; the file itself for the first; -1: not yet open */
};

struct psd_hdf5_stream {
    char *path, *temporary; /* owned */
    struct column columns[PSD_HDF5_COLUMNS];
    size_t count;
    uint64_t head; /* bytes before the first column */
};

static psd_status failed(const struct psd_hdf5_stream *stream)
{
    return psd_fail(PSD_ECONFIG, "cannot write %s: %s", stream->path, strerrordesc_np(errno));
}

/* --- opening ------------------------------------------------------------------------------------ */

/* What the file will have, with the rows that there are so far; the caller destroys it. */
static psd_status plan(const struct psd_hdf5_stream *stream, struct psd_hdf5_plan **out)
{
    struct psd_hdf5_plan *made = NULL;
    uint64_t size;

    PSD_TRY(psd_hdf5_plan_create(&made));
    psd_status status = PSD_OK;
    for (size_t i = 0; status == PSD_OK && i < stream->count; i++) {
        const struct psd_hdf5_column *as = &stream->columns[i].as;
        status = psd_hdf5_plan_floats(made, as->name, as->axes, as->dim, NULL);
    }
    if (status == PSD_OK)
        status = psd_hdf5_plan_lay_out(made, &size);
    if (status == PSD_OK)
        *out = made;
    else
        psd_hdf5_plan_destroy(made);
    return status;
}

static psd_status take_columns(struct psd_hdf5_stream *stream,
                               const struct psd_hdf5_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct column *column = &stream->columns[i];
        column->as = columns[i];
        column->as.name = psd_alloc_text("%s", columns[i].name);
        column->as.dim[0] = 0;
        column->row = sizeof(float);
        column->fd = -1;
        stream->count++;
        if (!column->as.name)
            return PSD_ENOMEM;
        for (size_t k = 1; k < column->as.axes; k++)
            column->row *= column->as.dim[k];
    }
    return PSD_OK;
}

/* The first column's file gets a name in the end; the others have none from the start. */
static psd_status open_column(struct psd_hdf5_stream *stream, size_t i)
{
    char *name = i ? psd_alloc_text("%s-%zu", stream->temporary, i)
                   : psd_alloc_text("%s", stream->temporary);

    if (!name)
        return PSD_ENOMEM;
    unlink(name); /* of a run that was killed */
    stream->columns[i].fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    psd_status status = stream->columns[i].fd < 0 ? failed(stream) : PSD_OK;
    if (i && status == PSD_OK)
        unlink(name);
    psd_alloc_free(name);
    return status;
}

static psd_status start(struct psd_hdf5_stream *stream, const char *path,
                        const struct psd_hdf5_column *columns, size_t count)
{
    struct psd_hdf5_plan *made = NULL;

    PSD_TRY(take_columns(stream, columns, count));
    stream->path = psd_alloc_text("%s", path);
    stream->temporary = psd_alloc_text("%s.tmp-%ld", path, (long)getpid());
    if (!stream->path || !stream->temporary)
        return PSD_ENOMEM;
    PSD_TRY(plan(stream, &made));
    stream->head = psd_hdf5_plan_head_size(made);
    psd_hdf5_plan_destroy(made);
    for (size_t i = 0; i < count; i++)
        PSD_TRY(open_column(stream, i));
    return PSD_OK;
}

psd_status psd_hdf5_stream_open(const char *path, const struct psd_hdf5_column *columns,
                                size_t count, struct psd_hdf5_stream **out)
{
    struct psd_hdf5_stream *stream = psd_alloc_zero(1, sizeof *stream);

    if (!stream)
        return PSD_ENOMEM;
    psd_status status = start(stream, path, columns, count);
    if (status == PSD_OK)
        *out = stream;
    else
        psd_hdf5_stream_abandon(stream);
    return status;
}

/* --- writing ------------------------------------------------------------------------------------ */

static psd_status write_at(const struct psd_hdf5_stream *stream, int fd, uint64_t at,
                           const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(at + done));
        if (put < 0 && errno != EINTR)
            return failed(stream);
        done += put > 0 ? (size_t)put : 0;
    }
    return PSD_OK;
}

psd_status psd_hdf5_stream_add(struct psd_hdf5_stream *stream, size_t rows,
                               const float *const *values)
{
    for (size_t i = 0; i < stream->count; i++) {
        struct column *column = &stream->columns[i];
        uint64_t at = (i ? 0 : stream->head) + (uint64_t)column->as.dim[0] * column->row;
        PSD_TRY(write_at(stream, column->fd, at, values[i], rows * column->row));
    }
    for (size_t i = 0; i < stream->count; i++)
        stream->columns[i].as.dim[0] += rows;
    return PSD_OK;
}

/* --- the end ------------------------------------------------------------------------------------ */

static psd_status append_column(struct psd_hdf5_stream *stream, const struct column *column,
                                uint64_t to, char *piece)
{
    uint64_t size = (uint64_t)column->as.dim[0] * column->row;

    for (uint64_t at = 0; at < size;) {
        size_t wanted = size - at < PIECE ? (size_t)(size - at) : PIECE;
        ssize_t got = pread(column->fd, piece, wanted, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return failed(stream);
        PSD_TRY(write_at(stream, stream->columns[0].fd, to + at, piece, (size_t)got));
        at += (uint64_t)got;
    }
    return PSD_OK;
}

static psd_status append_columns(struct psd_hdf5_stream *stream, const struct psd_hdf5_plan *made)
{
    char *piece = psd_alloc(PIECE);
    psd_status status = piece ? PSD_OK : PSD_ENOMEM;

    for (size_t i = 1; status == PSD_OK && i < stream->count; i++)
        status = append_column(stream, &stream->columns[i],
                               psd_hdf5_plan_place(made, stream->columns[i].as.name), piece);
    psd_alloc_free(piece);
    return status;
}

static psd_status write_head(struct psd_hdf5_stream *stream, const struct psd_hdf5_plan *made,
                             uint64_t size)
{
    unsigned char *head = psd_alloc((size_t)stream->head);

    if (!head)
        return PSD_ENOMEM;
    psd_hdf5_plan_head(made, head);
    int fd = stream->columns[0].fd;
    psd_status status = write_at(stream, fd, 0, head, (size_t)stream->head);
    psd_alloc_free(head);
    if (status == PSD_OK && (ftruncate(fd, (off_t)size) != 0 || fsync(fd) != 0))
        status = failed(stream);
    return status;
}

static psd_status complete(struct psd_hdf5_stream *stream)
{
    struct psd_hdf5_plan *made = NULL;
    uint64_t size = 0;

    PSD_TRY(plan(stream, &made));
    psd_status status = psd_hdf5_plan_lay_out(made, &size);
    if (status == PSD_OK)
        status = append_columns(stream, made);
    if (status == PSD_OK)
        status = write_head(stream, made, size);
    if (status == PSD_OK && rename(stream->temporary, stream->path) != 0)
        status = failed(stream);
    psd_hdf5_plan_destroy(made);
    return status;
}

static void release(struct psd_hdf5_stream *stream)
{
    for (size_t i = 0; i < stream->count; i++) {
        if (stream->columns[i].fd >= 0)
            close(stream->columns[i].fd);
        psd_alloc_free((void *)(uintptr_t)stream->columns[i].as.name);
    }
    psd_alloc_free(stream->temporary);
    psd_alloc_free(stream->path);
    psd_alloc_free(stream);
}

psd_status psd_hdf5_stream_commit(struct psd_hdf5_stream *stream)
{
    psd_status status = complete(stream);

    if (status == PSD_OK)
        release(stream);
    else
        psd_hdf5_stream_abandon(stream);
    return status;
}

void psd_hdf5_stream_abandon(struct psd_hdf5_stream *stream)
{
    if (!stream)
        return;
    if (stream->count && stream->columns[0].fd >= 0)
        unlink(stream->temporary);
    release(stream);
}
