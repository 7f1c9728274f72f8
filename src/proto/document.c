/* document.c - from file to message tree and back. */
#include "proto/document.h"
#include "base/alloc.h"
#include "base/file.h"
#include "proto/field.h"
#include "proto/kind.h"
#include "proto/text_reader.h"
#include "proto/wire.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
    HEAD = 64 << 10,
    WINDOW = 16 << 10,
    LONGEST_LINE = 128 << 20, /* bytes; only a file gone wrong has such a line */
};

const char *const psd_form_names[] = {"auto", "text", "binary", NULL};

psd_status psd_document_create(const ProtobufCMessageDescriptor *type, const char *path,
                               uint64_t size, struct psd_document **out)
{
    struct psd_document *document = psd_alloc_zero(1, sizeof *document);
    if (!document)
        return PSD_ENOMEM;

    psd_status status = psd_arena_create(((size_t)64 << 20) + 2 * size, &document->arena);
    if (status == PSD_OK)
        status = psd_field_new_message(document->arena, type, &document->root);
    document->path = psd_alloc_copy(path, strlen(path) + 1);
    if (status == PSD_OK && !document->path)
        status = PSD_ENOMEM;
    if (status == PSD_OK)
        *out = document;
    else
        psd_document_destroy(document);
    return status;
}

void psd_document_destroy(struct psd_document *document)
{
    if (!document)
        return;
    psd_arena_destroy(document->arena);
    psd_alloc_free(document->path);
    psd_alloc_free(document);
}

/* A file being read. */
struct source {
    const char *path;      /* borrowed */
    int fd;                /* owned */
    uint64_t size;         /* PSD_FILE_STREAM only until it is loaded */
    bool loaded;           /* `whole` has everything */
    struct psd_file whole; /* owned */
    const char *head;      /* its first bytes, borrowed from start or whole */
    size_t head_length;
    char start[HEAD];
};

/* Looks at the start of a file; a stream has to be read whole for that. */
static psd_status look_at(struct source *source)
{
    if (source->size != PSD_FILE_STREAM) {
        ssize_t got = pread(source->fd, source->start, HEAD, 0);
        source->head = source->start;
        source->head_length = got > 0 ? (size_t)got : 0;
        return PSD_OK;
    }
    PSD_TRY(psd_file_load(source->fd, source->path, &source->whole));
    source->loaded = true;
    source->size = source->whole.size;
    source->head = source->whole.data;
    source->head_length = source->size < HEAD ? (size_t)source->size : HEAD;
    return PSD_OK;
}

/* Where the last line ends that ends between two bytes of the file; `from` if none does. */
static uint64_t last_line_end(int fd, uint64_t from, uint64_t to)
{
    char window[WINDOW];

    while (to > from) {
        size_t count = to - from < WINDOW ? (size_t)(to - from) : WINDOW;
        ssize_t got = pread(fd, window, count, (off_t)(to - count));
        if (got <= 0)
            return to; /* whoever reads it will say what is wrong */
        const char *end = memrchr(window, '\n', (size_t)got);
        to -= count;
        if (end)
            return to + (uint64_t)(end - window) + 1;
    }
    return from;
}

/* Looks from one line's end for another within reach, which touches usual text hardly at all. What
 * has none is no text, however large, and is not read into memory. */
static psd_status check_lines(const struct source *source)
{
    uint64_t at = 0;

    while (source->size - at > LONGEST_LINE) {
        uint64_t end = last_line_end(source->fd, at, at + LONGEST_LINE);
        if (end == at)
            return psd_fail(PSD_ECONFIG, "%s: a line is longer than %d MiB; is this a text file?",
                            source->path, LONGEST_LINE >> 20);
        at = end;
    }
    return PSD_OK;
}

static psd_status load_text(struct source *source)
{
    PSD_TRY(check_lines(source));
    return psd_file_load(source->fd, source->path, &source->whole);
}

static psd_status read_text(struct source *source, struct psd_document *document)
{
    if (!source->loaded)
        PSD_TRY(load_text(source));
    return psd_text_read(document, source->whole.data, source->whole.size);
}

static psd_status read_binary(struct source *source, struct psd_document *document)
{
    static const char hdf5[] = "\x89HDF\r\n";
    struct psd_bytes bytes;

    if (source->size == 0)
        return psd_fail(PSD_ECONFIG, "%s is empty", source->path);
    if (source->head_length >= 6 && memcmp(source->head, hdf5, 6) == 0)
        return psd_fail(PSD_ENOSUP, "%s is an HDF5 file, not a binary protobuf", source->path);
    if (source->loaded)
        psd_bytes_init_memory(&bytes, source->path, source->whole.data, source->whole.size);
    else
        PSD_TRY(psd_bytes_init_file(&bytes, source->path, source->fd, source->size));
    psd_status status = psd_wire_read(document, &bytes);
    psd_bytes_fini(&bytes);
    return status;
}

static psd_status read_source(struct source *source, enum psd_document_form form,
                              const ProtobufCMessageDescriptor *type, struct psd_document **out)
{
    struct psd_document *document = NULL;

    if (form == PSD_DOCUMENT_AUTO)
        form = psd_kind_form(source->path, source->head, source->head_length);
    if (!type)
        type = psd_kind_guess(form, source->head, source->head_length);
    PSD_TRY(psd_document_create(type, source->path, source->size, &document));
    psd_status status =
        form == PSD_DOCUMENT_TEXT ? read_text(source, document) : read_binary(source, document);
    if (status == PSD_OK)
        *out = document;
    else
        psd_document_destroy(document);
    return status;
}

psd_status psd_document_read(const char *path, enum psd_document_form form,
                             const ProtobufCMessageDescriptor *type, struct psd_document **out)
{
    struct source *source = psd_alloc_zero(1, sizeof *source);
    if (!source)
        return PSD_ENOMEM;
    source->path = path;
    psd_status status = psd_file_descriptor(path, &source->fd, &source->size);
    if (status == PSD_OK) {
        status = look_at(source);
        if (status == PSD_OK)
            status = read_source(source, form, type, out);
        psd_file_close(&source->whole);
        close(source->fd);
    }
    psd_alloc_free(source);
    return status;
}

static bool write_to_file(void *context, const void *data, size_t size)
{
    return psd_file_write(context, data, size);
}

psd_status psd_document_write(const struct psd_document *document, enum psd_document_form form,
                              const struct psd_text_options *options, const char *path)
{
    struct psd_file_writer *file = NULL;

    if (form == PSD_DOCUMENT_AUTO)
        form = psd_kind_form_of_name(path);
    PSD_TRY(psd_file_create(path, &file));
    struct psd_sink sink = {.write = write_to_file, .context = file};
    psd_status status = PSD_OK;
    if (form == PSD_DOCUMENT_BINARY)
        status = psd_wire_write(document->root, &sink);
    else
        psd_text_write(document->root, options, &sink);
    if (status == PSD_OK)
        return psd_file_commit(file);
    psd_file_abandon(file);
    return status;
}

struct psd_position psd_document_where(const struct psd_document *document,
                                       const ProtobufCMessage *message, unsigned field)
{
    return psd_positions_find(document->positions, message, field);
}
