/* kind_fuzz.c - any bytes as the start of a file: it is always one of the messages, in one of the
 * forms, and a telling name decides the form.
 *
 *     name of the file   NUL   its first bytes
 */
#include "fuzz.h"
#include "proto/kind.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void expect_kind(const ProtobufCMessageDescriptor *type)
{
    for (size_t i = 0; psd_kinds[i]; i++) {
        if (psd_kinds[i] == type && psd_kind_find(type->short_name) == type)
            return;
    }
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = (const char *)data;
    const char *nul = size ? memchr(data, 0, size) : NULL;

    if (!nul)
        return 0;
    const char *head = nul + 1;
    size_t length = size - (size_t)(head - path);
    bool ends_in_txt = nul - path >= 4 && memcmp(nul - 4, ".txt", 4) == 0;
    enum psd_document_form form = psd_kind_form(path, head, length);

    if (form == PSD_DOCUMENT_AUTO || (ends_in_txt && form != PSD_DOCUMENT_TEXT))
        abort();
    psd_kind_find(path);
    expect_kind(psd_kind_guess(PSD_DOCUMENT_TEXT, head, length));
    expect_kind(psd_kind_guess(PSD_DOCUMENT_BINARY, head, length));
    return 0;
}
