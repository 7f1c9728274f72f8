/* text_reader_fuzz.c - any bytes as a prototxt: no crash, and what is accepted survives being written
 * and read again, in both forms.
 *
 * The message is the one that knows most of the fields: usually a net or a solver. */
#include "fuzz.h"
#include "proto/kind.h"
#include "proto/text_reader.h"
#include "written.h"

static struct psd_document *empty(const ProtobufCMessageDescriptor *type, size_t size)
{
    struct psd_document *document = NULL;

    if (psd_document_create(type, "fuzz.prototxt", size, &document) != PSD_OK)
        abort();
    return document;
}

static struct psd_document *read_text(const ProtobufCMessageDescriptor *type,
                                      const struct written *text)
{
    struct psd_document *document = empty(type, text->size);

    if (psd_text_read(document, text->data, text->size) != PSD_OK)
        abort();
    return document;
}

static struct psd_document *read_wire(const ProtobufCMessageDescriptor *type,
                                      const struct written *wire)
{
    struct psd_document *document = empty(type, wire->size);
    struct psd_bytes bytes;

    psd_bytes_init_memory(&bytes, "fuzz.caffemodel", wire->data, wire->size);
    if (psd_wire_read(document, &bytes) != PSD_OK)
        abort();
    return document;
}

static void expect_text(struct psd_document *again, const struct written *text)
{
    struct written other = written_text(again->root);

    if (!written_equal(text, &other))
        abort();
    written_fini(&other);
    psd_document_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    const ProtobufCMessageDescriptor *type = psd_kind_guess(PSD_DOCUMENT_TEXT, bytes, size);
    struct psd_document *document = empty(type, size);

    if (psd_text_read(document, bytes, size) == PSD_OK) {
        struct written text = written_text(document->root), wire = written_wire(document->root);
        expect_text(read_text(type, &text), &text);
        expect_text(read_wire(type, &wire), &text);
        written_fini(&text);
        written_fini(&wire);
    } else if (!*psd_error()) {
        abort(); /* a mistake without a sentence */
    }
    psd_document_destroy(document);
    return 0;
}
