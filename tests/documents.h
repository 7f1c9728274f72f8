/* documents.h - messages in memory, for tests of the formats.
 *
 *     struct psd_document *net = net_of("name: 'lenet'");
 *     CHECK_TEXT("name: \"lenet\"\n", text_of(net->root));
 *     psd_document_destroy(net);
 *
 * A helper that cannot do its work fails the test. */
#ifndef PSD_TESTS_DOCUMENTS_H
#define PSD_TESTS_DOCUMENTS_H

#include "proto/caffe.pb-c.h"
#include "proto/document.h"
#include "proto/text_reader.h"
#include "test.h"
#include "written.h"

#define NET    (&caffe__net_parameter__descriptor)
#define SOLVER (&caffe__solver_parameter__descriptor)
#define LAYER  (&caffe__layer_parameter__descriptor)
#define BLOB   (&caffe__blob_proto__descriptor)
#define DATUM  (&caffe__datum__descriptor)

/* A message in the text form; good until the next call. */
static inline const char *text_of(const ProtobufCMessage *message)
{
    static struct written text;
    struct psd_sink sink = {.write = written_add, .context = &text};

    text.size = 0;
    psd_text_write(message, NULL, &sink);
    written_add(&text, "", 1);
    return text.data;
}

/* Reads either form as a file of that name; on failure there is no document. */
static inline psd_status read_text(const ProtobufCMessageDescriptor *type, const char *path,
                                   const char *text, size_t length, struct psd_document **out)
{
    struct psd_document *document = NULL;
    psd_status status = psd_document_create(type, path, length, &document);

    if (status == PSD_OK)
        status = psd_text_read(document, text, length);
    if (status == PSD_OK)
        *out = document;
    else
        psd_document_destroy(document);
    return status;
}

static inline psd_status read_bytes(const ProtobufCMessageDescriptor *type, const char *path,
                                    const void *data, size_t size, struct psd_document **out)
{
    struct psd_document *document = NULL;
    struct psd_bytes bytes;
    psd_status status = psd_document_create(type, path, size, &document);

    psd_bytes_init_memory(&bytes, path, data, size);
    if (status == PSD_OK)
        status = psd_wire_read(document, &bytes);
    psd_bytes_fini(&bytes);
    if (status == PSD_OK)
        *out = document;
    else
        psd_document_destroy(document);
    return status;
}

/* A good document; the caller destroys it. */
static inline struct psd_document *document_of(const ProtobufCMessageDescriptor *type,
                                               const char *text)
{
    struct psd_document *document = NULL;

    CHECK_OK(read_text(type, "test.prototxt", text, strlen(text), &document));
    return document;
}

static inline struct psd_document *net_of(const char *text)
{
    return document_of(NET, text);
}

static inline Caffe__NetParameter *net_in(const struct psd_document *document)
{
    CHECK(document->root->descriptor == NET);
    return (Caffe__NetParameter *)document->root;
}

#endif
