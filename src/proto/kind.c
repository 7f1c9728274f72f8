/* kind.c - telling Caffe's files apart. */
#include "proto/kind.h"
#include "proto/caffe.pb-c.h"
#include "proto/field.h"
#include "proto/token.h"
#include "proto/wire.h"

#include <string.h>

const ProtobufCMessageDescriptor *const psd_kinds[] = {
    &caffe__net_parameter__descriptor,
    &caffe__solver_parameter__descriptor,
    &caffe__solver_state__descriptor,
    &caffe__blob_proto__descriptor,
    &caffe__blob_proto_vector__descriptor,
    &caffe__datum__descriptor,
    NULL,
};

const ProtobufCMessageDescriptor *psd_kind_find(const char *name)
{
    for (size_t i = 0; psd_kinds[i]; i++) {
        if (strcmp(psd_kinds[i]->short_name, name) == 0)
            return psd_kinds[i];
    }
    return NULL;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);

    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

/* Text has no control characters but white space. */
static bool has_binary(const char *head, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)head[i];
        if ((c < ' ' && !(c >= '\t' && c <= '\r')) || c == 0x7f)
            return true;
    }
    return false;
}

enum psd_document_form psd_kind_form_of_name(const char *path)
{
    static const char *const text[] = {".prototxt", ".pbtxt", ".txt"};
    static const char *const binary[] = {".caffemodel", ".solverstate", ".binaryproto", ".pb"};

    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        if (ends_in(path, text[i]))
            return PSD_DOCUMENT_TEXT;
    }
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
        if (ends_in(path, binary[i]))
            return PSD_DOCUMENT_BINARY;
    }
    return PSD_DOCUMENT_AUTO;
}

enum psd_document_form psd_kind_form(const char *path, const char *head, size_t length)
{
    enum psd_document_form form = psd_kind_form_of_name(path);

    if (form != PSD_DOCUMENT_AUTO)
        return form;
    return has_binary(head, length) ? PSD_DOCUMENT_BINARY : PSD_DOCUMENT_TEXT;
}

/* How many fields at the top level of a text are fields of the type: names before : or {. */
static size_t text_fit(const ProtobufCMessageDescriptor *type, const char *head, size_t length)
{
    struct psd_tokens tokens;
    struct psd_token name = {0};
    size_t fits = 0, depth = 0;

    psd_tokens_init(&tokens, head, length);
    for (struct psd_token token = psd_tokens_next(&tokens); token.kind != PSD_TOKEN_END;
         name = token, token = psd_tokens_next(&tokens)) {
        bool opens = psd_token_is(&token, '{') || psd_token_is(&token, '<');
        if (!depth && name.kind == PSD_TOKEN_NAME && (opens || psd_token_is(&token, ':')))
            fits += psd_field_find(type, name.text, name.length) != NULL;
        if (opens)
            depth++;
        else if (depth && (psd_token_is(&token, '}') || psd_token_is(&token, '>')))
            depth--;
    }
    return fits;
}

const ProtobufCMessageDescriptor *psd_kind_guess(enum psd_document_form form, const char *head,
                                                 size_t length)
{
    const ProtobufCMessageDescriptor *best = psd_kinds[0];
    size_t most = 0;

    for (size_t i = 0; psd_kinds[i]; i++) {
        size_t fits = form == PSD_DOCUMENT_BINARY ? psd_wire_fit(psd_kinds[i], head, length)
                                                  : text_fit(psd_kinds[i], head, length);
        if (fits > most) {
            most = fits;
            best = psd_kinds[i];
        }
    }
    return best;
}
