/* upgrade_fuzz.c - any net or solver, in either form, brought up to date: no crash, and what comes
 * out survives being written and read again and is itself up to date.
 *
 * Form and message are found out as for any file, so each input is a file that a user may have. */
#include "fuzz.h"
#include "proto/caffe.pb-c.h"
#include "proto/kind.h"
#include "proto/text_reader.h"
#include "proto/upgrade.h"
#include "written.h"

static const ProtobufCMessageDescriptor *const solver = &caffe__solver_parameter__descriptor;

/* Reads a document; NULL when it is refused. */
static struct psd_document *read_document(const ProtobufCMessageDescriptor *type,
                                          enum psd_document_form form, const char *data,
                                          size_t size)
{
    struct psd_document *document = NULL;
    struct psd_bytes bytes;

    if (psd_document_create(type, "fuzz", size, &document) != PSD_OK)
        abort();
    psd_bytes_init_memory(&bytes, "fuzz", data, size);
    psd_status status = form == PSD_DOCUMENT_TEXT ? psd_text_read(document, data, size)
                                                  : psd_wire_read(document, &bytes);
    if (status == PSD_OK)
        return document;
    psd_document_destroy(document);
    return NULL;
}

static psd_status upgrade(struct psd_document *document, unsigned *done)
{
    struct psd_upgrade report;

    psd_upgrade_init(&report, document);
    psd_status status = document->root->descriptor == solver ? psd_upgrade_solver(document, &report)
                                                             : psd_upgrade_net(document, &report);
    *done = report.done;
    return status;
}

/* Reads what was written of an upgraded document, and sees that it is the same and up to date. */
static void read_again(const struct psd_document *document, enum psd_document_form form,
                       const struct written *written)
{
    struct psd_document *again =
        read_document(document->root->descriptor, form, written->data, written->size);
    unsigned done;

    if (!again || upgrade(again, &done) != PSD_OK || done)
        abort();
    struct written other =
        form == PSD_DOCUMENT_TEXT ? written_text(again->root) : written_wire(again->root);
    bool lost = form == PSD_DOCUMENT_TEXT && written_has_unknown(document->root, false);
    if (!lost && !written_equal(written, &other))
        abort();
    written_fini(&other);
    psd_document_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    enum psd_document_form form = psd_kind_form("", bytes, size);
    const ProtobufCMessageDescriptor *type = psd_kind_guess(form, bytes, size);
    unsigned done;

    if (type != solver)
        type = &caffe__net_parameter__descriptor;
    struct psd_document *document = read_document(type, form, bytes, size);
    if (!document)
        return 0;
    if (upgrade(document, &done) == PSD_OK) {
        struct written text = written_text(document->root), wire = written_wire(document->root);
        read_again(document, PSD_DOCUMENT_TEXT, &text);
        read_again(document, PSD_DOCUMENT_BINARY, &wire);
        written_fini(&text);
        written_fini(&wire);
    } else if (!*psd_error()) {
        abort(); /* a mistake without a sentence */
    }
    psd_document_destroy(document);
    return 0;
}
