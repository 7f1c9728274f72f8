/* text_reader.c - the grammar of the text format, by recursive descent.
 *
 *     fields   { name  [:] '{' fields '}'   |   name : value   |   name : '[' value, ... ']' }
 *
 * Descent ends where the schema does, a few levels down; what the schema does not know is skipped
 * in a loop, however deep it is nested. */
#include "proto/text_reader.h"
#include "base/suggest.h"
#include "proto/field.h"
#include "proto/mistakes.h"
#include "proto/text_value.h"
#include "proto/token.h"

#include <stdio.h>
#include <string.h>

enum { FOUND = 80 }; /* room for a token between quotation marks */

/* A message that is being read. */
struct level {
    const ProtobufCMessageDescriptor *type;
    struct psd_position at;    /* of its field's name */
    const struct level *above; /* NULL: it is the file */
};

struct reader {
    struct psd_document *document; /* borrowed */
    const struct level *level;     /* borrowed; the innermost */
    struct psd_tokens tokens;
    struct psd_token token; /* the next one, not yet taken */
    struct psd_mistakes mistakes;
    psd_status status; /* what ended the reading, other than mistakes */
    bool over;         /* there is nothing more to read, or to complain about */
};

static void stop(struct reader *reader, psd_status status)
{
    if (reader->status == PSD_OK)
        reader->status = status;
    reader->over = true;
    reader->tokens.next = reader->tokens.end;
    reader->token = (struct psd_token){.kind = PSD_TOKEN_END, .text = "", .at = reader->token.at};
}

static bool stopped(const struct reader *reader)
{
    return reader->over;
}

#define MISTAKE(reader, place, ...)                                                           \
    do {                                                                                      \
        if (!stopped(reader))                                                                 \
            psd_mistakes_add(&(reader)->mistakes, (place).line, (place).column, __VA_ARGS__); \
        if (psd_mistakes_full(&(reader)->mistakes))                                           \
            stop(reader, PSD_OK);                                                             \
    } while (0)

/* Takes the token. What is no token is told and left out; a string that was not closed counts as a
 * string, so that one mistake is not told twice. Behind a NUL byte there is no more text. */
static void advance(struct reader *reader)
{
    reader->token = psd_tokens_next(&reader->tokens);
    while (reader->token.kind == PSD_TOKEN_BAD) {
        struct psd_token bad = reader->token;
        bool string = *bad.text == '"' || *bad.text == '\'';
        const char *last = string ? reader->tokens.next : bad.text;
        MISTAKE(reader, bad.at, "%s", bad.problem);
        if (last < reader->tokens.end && *last == 0)
            stop(reader, PSD_OK);
        if (stopped(reader))
            return;
        if (string)
            reader->token.kind = PSD_TOKEN_STRING;
        else
            reader->token = psd_tokens_next(&reader->tokens);
    }
}

static bool accept(struct reader *reader, char sign)
{
    if (!psd_token_is(&reader->token, sign))
        return false;
    advance(reader);
    return true;
}

static bool opens(const struct psd_token *token)
{
    return psd_token_is(token, '{') || psd_token_is(token, '<') || psd_token_is(token, '[');
}

static bool closes(const struct psd_token *token)
{
    return psd_token_is(token, '}') || psd_token_is(token, '>') || psd_token_is(token, ']');
}

/* Takes one token, or all from an opening bracket to its closing one. */
static void skip_one(struct reader *reader)
{
    size_t depth = 0;

    do {
        if (opens(&reader->token))
            depth++;
        else if (closes(&reader->token) && depth)
            depth--;
        advance(reader);
    } while (depth && reader->token.kind != PSD_TOKEN_END);
}

/* Takes a value that nobody wants: a scalar with its sign, a joined string, a message, a list. */
static void skip_value(struct reader *reader)
{
    accept(reader, '-');
    if (closes(&reader->token) || reader->token.kind == PSD_TOKEN_END)
        return;
    bool string = reader->token.kind == PSD_TOKEN_STRING;
    skip_one(reader);
    while (string && reader->token.kind == PSD_TOKEN_STRING)
        advance(reader);
}

/* After nonsense: goes on at the next line, or where this message ends. */
static void skip_line(struct reader *reader)
{
    size_t line = reader->token.at.line;

    while (reader->token.kind != PSD_TOKEN_END && reader->token.at.line == line &&
           !closes(&reader->token))
        skip_one(reader);
}

/* After a mistake in a list: goes on behind it, or where its line ends and a field may begin. */
static void skip_list(struct reader *reader)
{
    do {
        skip_line(reader);
    } while (reader->token.kind != PSD_TOKEN_END && reader->token.kind != PSD_TOKEN_NAME &&
             !closes(&reader->token));
    accept(reader, ']');
}

/* What stands next, for a sentence. */
static const char *describe(const struct reader *reader, char found[FOUND])
{
    struct psd_quote quote;

    if (reader->token.kind == PSD_TOKEN_END)
        return "the end of the file";
    snprintf(found, FOUND, "\"%s\"", psd_quote(&quote, reader->token.text, reader->token.length));
    return found;
}

static void read_fields(struct reader *reader, ProtobufCMessage *message, char close,
                        struct psd_position opened);

static void read_message(struct reader *reader, ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field, struct psd_position at)
{
    struct psd_document *document = reader->document;
    struct psd_position opened = reader->token.at;
    char close = psd_token_is(&reader->token, '<') ? '>' : '}';
    ProtobufCMessage *added = NULL;

    if (!accept(reader, '{') && !accept(reader, '<')) {
        char found[FOUND];
        MISTAKE(reader, reader->token.at, "expected \"{\" after \"%s\", found %s", field->name,
                describe(reader, found));
        skip_line(reader);
        return;
    }
    psd_status status = psd_field_add_message(document->arena, message, field, &added);
    if (status == PSD_OK)
        status = psd_positions_add(document->positions, added, 0, at);
    if (status != PSD_OK) {
        stop(reader, status);
        return;
    }
    struct level level = {.type = added->descriptor, .at = at, .above = reader->level};
    reader->level = &level;
    read_fields(reader, added, close, opened);
    reader->level = level.above;
}

/* Collects the tokens of one scalar and lets text_value.c make a value of them. */
static void read_scalar(struct reader *reader, ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field)
{
    struct psd_text_value value = {.field = field, .at = reader->token.at};

    value.negative = accept(reader, '-');
    value.token = reader->token;
    if (opens(&reader->token) || closes(&reader->token) || reader->token.kind == PSD_TOKEN_END) {
        if (!stopped(reader))
            psd_text_value_unfit(&value, &reader->mistakes);
        if (opens(&reader->token))
            skip_one(reader);
        if (psd_mistakes_full(&reader->mistakes))
            stop(reader, PSD_OK);
        return;
    }
    advance(reader);
    psd_status status = psd_text_value_take(&value, reader->document->arena, &reader->mistakes);
    while (status == PSD_OK && value.token.kind == PSD_TOKEN_STRING &&
           reader->token.kind == PSD_TOKEN_STRING) {
        value.token = reader->token;
        advance(reader);
        status = psd_text_value_take(&value, reader->document->arena, &reader->mistakes);
    }
    if (status == PSD_OK && value.good)
        status = psd_field_put(reader->document->arena, message, field, &value.as);
    if (status != PSD_OK || psd_mistakes_full(&reader->mistakes))
        stop(reader, status);
}

static void read_value(struct reader *reader, ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field, struct psd_position at)
{
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        read_message(reader, message, field, at);
    else
        read_scalar(reader, message, field);
}

static void read_list(struct reader *reader, ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field)
{
    struct psd_position opened = reader->token.at;

    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        MISTAKE(reader, opened, "\"%s\" takes one value, not a list", field->name);
        skip_one(reader);
        return;
    }
    accept(reader, '[');
    if (accept(reader, ']'))
        return;
    do {
        read_value(reader, message, field, reader->token.at);
    } while (accept(reader, ','));
    if (!accept(reader, ']') && !stopped(reader)) {
        char found[FOUND];
        MISTAKE(reader, reader->token.at,
                "expected \",\" or \"]\" in the list opened at %zu:%zu, found %s", opened.line,
                opened.column, describe(reader, found));
        skip_list(reader);
    }
}

static void read_unknown(struct reader *reader, const ProtobufCMessageDescriptor *type,
                         const struct psd_token *name)
{
    struct psd_quote quote;
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, name->text, name->length);
    for (unsigned i = 0; i < type->n_fields; i++)
        psd_suggest_offer(&suggest, type->fields[i].name);
    psd_quote(&quote, name->text, name->length);
    MISTAKE(reader, name->at, "unknown field \"%s\" in %s%s", quote.text, type->short_name,
            psd_suggest_phrase(&suggest));
    if (accept(reader, ':') || opens(&reader->token))
        skip_value(reader);
}

/* Says that a field which can be given once is given again. */
static void check_first(struct reader *reader, ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field, struct psd_position at)
{
    struct psd_position first = psd_positions_find(reader->document->positions, message, field->id);

    if (field->label != PROTOBUF_C_LABEL_REPEATED && first.line)
        MISTAKE(reader, at, "\"%s\" in %s is given again; it was first given at %zu:%zu",
                field->name, message->descriptor->short_name, first.line, first.column);
}

static void read_field(struct reader *reader, ProtobufCMessage *message)
{
    struct psd_token name = reader->token;
    const ProtobufCFieldDescriptor *field =
        psd_field_find(message->descriptor, name.text, name.length);

    advance(reader);
    if (!field) {
        read_unknown(reader, message->descriptor, &name);
        return;
    }
    check_first(reader, message, field, name.at);
    psd_status status = psd_positions_add(reader->document->positions, message, field->id, name.at);
    if (status != PSD_OK) {
        stop(reader, status);
        return;
    }
    if (!accept(reader, ':') && field->type != PROTOBUF_C_TYPE_MESSAGE) {
        MISTAKE(reader, reader->token.at, "expected \":\" after \"%s\"", field->name);
        if (opens(&reader->token))
            skip_one(reader);
        else
            skip_line(reader);
        return;
    }
    if (psd_token_is(&reader->token, '['))
        read_list(reader, message, field);
    else
        read_value(reader, message, field, name.at);
}

/* An extension's or an Any's name in brackets: Caffe's messages have neither. */
static void read_extension(struct reader *reader, const ProtobufCMessageDescriptor *type)
{
    MISTAKE(reader, reader->token.at, "%s has no extensions", type->short_name);
    skip_one(reader);
    if (accept(reader, ':') || opens(&reader->token))
        skip_value(reader);
}

static void read_stray(struct reader *reader, const ProtobufCMessageDescriptor *type)
{
    char found[FOUND];

    MISTAKE(reader, reader->token.at, "expected the name of a field of %s, found %s",
            type->short_name, describe(reader, found));
    if (closes(&reader->token))
        advance(reader);
    else
        skip_line(reader);
}

/* A message without one of its required fields says nothing. */
static void check_required(struct reader *reader, const ProtobufCMessage *message,
                           struct psd_position opened)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;

    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (field->label == PROTOBUF_C_LABEL_REQUIRED &&
            !psd_positions_find(reader->document->positions, message, field->id).line)
            MISTAKE(reader, opened, "%s needs \"%s\"", type->short_name, field->name);
    }
}

/* Whether the message ends here though its own bracket does not close it: with another bracket,
 * with the file, or where a field begins that by name and indentation belongs to a message around
 * it. */
static bool ends_open(const struct reader *reader)
{
    const struct level *level = reader->level;
    const struct psd_token *token = &reader->token;

    if (token->kind == PSD_TOKEN_END)
        return true;
    if (psd_token_is(token, '}') || psd_token_is(token, '>'))
        return level->above != NULL;
    if (token->kind != PSD_TOKEN_NAME || token->at.line == level->at.line ||
        token->at.column > level->at.column)
        return false;
    while (level && !psd_field_find(level->type, token->text, token->length))
        level = level->above;
    return level && level != reader->level;
}

static void miss_bracket(struct reader *reader, char close, struct psd_position opened)
{
    char found[FOUND];

    MISTAKE(reader, reader->token.at, "the \"%c\" of %s opened at %zu:%zu is not closed before %s",
            close == '}' ? '{' : '<', reader->level->type->short_name, opened.line, opened.column,
            describe(reader, found));
    if (closes(&reader->token))
        advance(reader);
}

/* Reads fields up to `close`, or to the end of the file when that is 0. */
static void read_fields(struct reader *reader, ProtobufCMessage *message, char close,
                        struct psd_position opened)
{
    while (!stopped(reader) && !(close && accept(reader, close))) {
        if (ends_open(reader)) {
            if (close)
                miss_bracket(reader, close, opened);
            return;
        }
        if (reader->token.kind == PSD_TOKEN_NAME) {
            read_field(reader, message);
            if (!accept(reader, ','))
                accept(reader, ';');
        } else if (psd_token_is(&reader->token, '[')) {
            read_extension(reader, message->descriptor);
        } else {
            read_stray(reader, message->descriptor);
        }
    }
    if (!stopped(reader))
        check_required(reader, message, opened);
}

psd_status psd_text_read(struct psd_document *document, const char *text, size_t length)
{
    struct level file = {.type = document->root->descriptor};
    struct reader reader = {.document = document, .level = &file};

    if (!document->positions)
        PSD_TRY(psd_positions_create(document->arena, &document->positions));
    psd_mistakes_init(&reader.mistakes, document->path);
    psd_tokens_init(&reader.tokens, text, length);
    advance(&reader);
    read_fields(&reader, document->root, 0, (struct psd_position){0});
    if (reader.status != PSD_OK)
        return psd_fail(reader.status, "%s: %s", document->path, psd_error());
    return psd_mistakes_status(&reader.mistakes);
}
