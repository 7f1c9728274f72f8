/* document.h - a message as it stands in a file, in Caffe's text or binary form.
 *
 *     lenet.prototxt ----.                         .---> text
 *                        +--> struct psd_document -+
 *     lenet.caffemodel --'    root, arena, places  '---> binary
 *
 * A document owns its message tree whole: root and all below it live in one arena and go together.
 * Changing it means putting memory of that arena into it (field.h). One thread at a time; many
 * threads may read a document that nobody changes. */
#ifndef PSD_PROTO_DOCUMENT_H
#define PSD_PROTO_DOCUMENT_H

#include "base/arena.h"
#include "proto/positions.h"
#include "proto/text_writer.h"

#include <protobuf-c/protobuf-c.h>

struct psd_document {
    ProtobufCMessage *root;          /* owned through the arena */
    struct psd_arena *arena;         /* owned */
    struct psd_positions *positions; /* in the arena; NULL unless it was read from text */
    char *path;                      /* owned; the file's name, for sentences */
};

/* The two forms; AUTO takes that of the file, by its name and first bytes. */
enum psd_document_form { PSD_DOCUMENT_AUTO, PSD_DOCUMENT_TEXT, PSD_DOCUMENT_BINARY };
extern const char *const psd_form_names[]; /* "auto", "text", "binary", NULL */

/* An empty message of that type. `size` is the length of what will be read into it: the document
 * may take 64 MiB and twice that size of memory, no more. */
psd_status psd_document_create(const ProtobufCMessageDescriptor *type, const char *path,
                               uint64_t size, struct psd_document **out);
void psd_document_destroy(struct psd_document *document);

/* Reads `path` ("-": standard input) as a message of `type`; with NULL the type is found from the
 * contents (kind.h). The caller owns *out. PSD_ECONFIG: the file is missing or has mistakes. */
psd_status psd_document_read(const char *path, enum psd_document_form form,
                             const ProtobufCMessageDescriptor *type, struct psd_document **out);

/* Writes a document; the file appears whole or not at all. AUTO is binary for a name like
 * x.caffemodel, else text. `options` are for text and may be NULL. */
psd_status psd_document_write(const struct psd_document *document, enum psd_document_form form,
                              const struct psd_text_options *options, const char *path);

/* Where a field of a message of this document was written; 0 as field: the message itself. */
struct psd_position psd_document_where(const struct psd_document *document,
                                       const ProtobufCMessage *message, unsigned field);

#endif
