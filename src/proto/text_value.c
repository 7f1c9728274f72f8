/* text_value.c - from token to value, with a sentence for everything that does not fit. */
#include "proto/text_value.h"
#include "base/suggest.h"
#include "proto/field.h"
#include "proto/number.h"
#include "proto/quoted.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_STRING = 64 << 20, CHOICES_SHOWN = 8 };

/* "one of MAX, AVE, STOCHASTIC", or the enumeration's name where that would be a list. */
static void expect_choice(const ProtobufCEnumDescriptor *type, char *out, size_t room)
{
    size_t used = 0;

    if (type->n_values > CHOICES_SHOWN) {
        snprintf(out, room, "a name from %s", type->short_name);
        return;
    }
    for (unsigned i = 0; i < type->n_values && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? ", " : "one of ",
                                 type->values[i].name);
}

static const char *expectation(const ProtobufCFieldDescriptor *field, char *out, size_t room)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_ENUM:
        expect_choice(psd_field_enum(field), out, room);
        return out;
    case PROTOBUF_C_TYPE_BOOL:
        return "true or false";
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        return "a string in quotation marks";
    case PROTOBUF_C_TYPE_FLOAT:
        return "a number within the range of a float";
    case PROTOBUF_C_TYPE_DOUBLE:
        return "a number within the range of a double";
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        return "a whole number from 0 to 4294967295";
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return "a whole number from 0 to 18446744073709551615";
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return "a whole number from -9223372036854775808 to 9223372036854775807";
    default:
        return "a whole number from -2147483648 to 2147483647";
    }
}

static const char *nearest_choice(const struct psd_text_value *value)
{
    const ProtobufCEnumDescriptor *type = psd_field_enum(value->field);
    bool quoted = value->token.kind == PSD_TOKEN_STRING && value->token.length >= 2;
    struct psd_suggest suggest;

    if (!type)
        return NULL;
    psd_suggest_init(&suggest, value->token.text + quoted, value->token.length - (quoted ? 2 : 0));
    for (unsigned i = 0; i < type->n_values; i++)
        psd_suggest_offer(&suggest, type->values[i].name);
    return psd_suggest_best(&suggest);
}

void psd_text_value_unfit(struct psd_text_value *value, struct psd_mistakes *mistakes)
{
    char expected[300];
    struct psd_quote found;
    const char *near = nearest_choice(value);
    const ProtobufCFieldDescriptor *field = value->field;

    value->good = false;
    bool end = value->token.kind == PSD_TOKEN_END;
    psd_quote(&found, value->token.text, value->token.length);
    psd_mistakes_add(mistakes, value->at.line, value->at.column,
                     "\"%s\" expects %s, found %s%s%s%s%s", field->name,
                     expectation(field, expected, sizeof expected),
                     value->negative && !end ? "-" : "", end ? "the end of the file" : found.text,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static bool take_whole(struct psd_text_value *value, uint64_t most, uint64_t most_negative,
                       uint64_t *out)
{
    uint64_t magnitude;

    if (value->token.kind != PSD_TOKEN_NUMBER ||
        !psd_number_whole(value->token.text, value->token.length, &magnitude))
        return false;
    if (magnitude > (value->negative ? most_negative : most))
        return false;
    *out = value->negative ? 0 - magnitude : magnitude;
    return true;
}

static bool take_real(struct psd_text_value *value)
{
    const struct psd_token *token = &value->token;

    if (token->kind != PSD_TOKEN_NUMBER && token->kind != PSD_TOKEN_NAME)
        return false;
    if (value->field->type == PROTOBUF_C_TYPE_FLOAT) {
        if (!psd_number_float(token->text, token->length, &value->as.real))
            return false;
        value->as.real = value->negative ? -value->as.real : value->as.real;
        return true;
    }
    if (!psd_number_double(token->text, token->length, &value->as.real64))
        return false;
    value->as.real64 = value->negative ? -value->as.real64 : value->as.real64;
    return true;
}

static bool take_boolean(struct psd_text_value *value)
{
    uint64_t number;

    if (value->token.kind == PSD_TOKEN_NUMBER) {
        bool good = take_whole(value, 1, 0, &number);
        value->as.boolean = good && number == 1;
        return good;
    }
    bool yes = psd_token_says(&value->token, "true") || psd_token_says(&value->token, "t");
    bool no = psd_token_says(&value->token, "false") || psd_token_says(&value->token, "f");
    value->as.boolean = yes;
    return (yes || no) && !value->negative;
}

static bool take_choice(struct psd_text_value *value)
{
    const ProtobufCEnumDescriptor *type = psd_field_enum(value->field);
    uint64_t number;

    if (value->token.kind == PSD_TOKEN_NUMBER && take_whole(value, INT32_MAX, INT32_MAX, &number)) {
        value->as.choice = (int)(int64_t)number;
        return protobuf_c_enum_descriptor_get_value(type, value->as.choice) != NULL;
    }
    for (unsigned i = 0; i < type->n_values && value->token.kind == PSD_TOKEN_NAME; i++) {
        if (strlen(type->values[i].name) == value->token.length && !value->negative &&
            memcmp(type->values[i].name, value->token.text, value->token.length) == 0) {
            value->as.choice = type->values[i].value;
            return true;
        }
    }
    return false;
}

static bool take_scalar(struct psd_text_value *value)
{
    uint64_t number = 0;
    bool good;

    switch (value->field->type) {
    case PROTOBUF_C_TYPE_ENUM:
        return take_choice(value);
    case PROTOBUF_C_TYPE_BOOL:
        return take_boolean(value);
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_DOUBLE:
        return take_real(value);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        good = take_whole(value, UINT32_MAX, 0, &number);
        value->as.uint32 = (uint32_t)number;
        return good;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return take_whole(value, UINT64_MAX, 0, &value->as.uint64);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return take_whole(value, INT64_MAX, (uint64_t)INT64_MAX + 1, &value->as.uint64);
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        good = take_whole(value, INT32_MAX, (uint64_t)INT32_MAX + 1, &number);
        value->as.int32 = (int32_t)(int64_t)number;
        return good;
    default:
        return false;
    }
}

/* Joins the bytes of a string token to those before it, with a NUL behind them. */
static psd_status join(struct psd_text_value *value, struct psd_arena *arena,
                       struct psd_mistakes *mistakes)
{
    size_t before = value->length ? value->length + 1 : 0, added = 0;
    bool bytes = value->field->type == PROTOBUF_C_TYPE_BYTES;
    const struct psd_token *token = &value->token;
    char *old = bytes ? (char *)value->as.bytes.data : value->as.string;

    value->good = false;
    if (token->problem)
        return PSD_OK; /* told already */
    if (value->length + token->length > LONGEST_STRING) {
        psd_mistakes_add(mistakes, token->at.line, token->at.column, "a string longer than %d MiB",
                         LONGEST_STRING >> 20);
        return PSD_OK;
    }
    char *text = psd_arena_grow(arena, value->length ? old : NULL, before,
                                value->length + token->length + 1);
    if (!text)
        return PSD_ENOMEM;
    const char *problem =
        psd_quoted_bytes(token->text, token->length, text + value->length, &added);
    if (!problem && !bytes && memchr(text + value->length, 0, added))
        problem = "a NUL byte in a string";
    if (problem) {
        psd_mistakes_add(mistakes, token->at.line, token->at.column, "%s", problem);
        return PSD_OK;
    }
    value->length += added;
    text[value->length] = 0;
    if (bytes)
        value->as.bytes = (ProtobufCBinaryData){value->length, (uint8_t *)text};
    else
        value->as.string = text;
    value->good = true;
    return PSD_OK;
}

psd_status psd_text_value_take(struct psd_text_value *value, struct psd_arena *arena,
                               struct psd_mistakes *mistakes)
{
    bool wants_string =
        value->field->type == PROTOBUF_C_TYPE_STRING || value->field->type == PROTOBUF_C_TYPE_BYTES;

    if (wants_string && value->token.kind == PSD_TOKEN_STRING && !value->negative)
        return join(value, arena, mistakes);
    if (!wants_string && take_scalar(value))
        value->good = true;
    else
        psd_text_value_unfit(value, mistakes);
    return PSD_OK;
}
