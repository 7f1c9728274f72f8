/* token.c - the text format, character by character. Columns count characters, not bytes. */
#include "proto/token.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void psd_tokens_init(struct psd_tokens *tokens, const char *text, size_t length)
{
    static const char mark[] = "\xef\xbb\xbf"; /* some editors start UTF-8 files with it */

    *tokens = (struct psd_tokens){.next = text, .end = text + length, .at = {1, 1}};
    if (length >= 3 && memcmp(text, mark, 3) == 0)
        tokens->next += 3;
}

static void step(struct psd_tokens *tokens)
{
    if (*tokens->next == '\n') {
        tokens->at.line++;
        tokens->at.column = 1;
    } else if (((unsigned char)*tokens->next & 0xc0) != 0x80) {
        tokens->at.column++;
    }
    tokens->next++;
}

static char look(const struct psd_tokens *tokens, size_t ahead)
{
    if ((size_t)(tokens->end - tokens->next) <= ahead)
        return '\0';
    return tokens->next[ahead];
}

static void skip_space(struct psd_tokens *tokens)
{
    while (tokens->next < tokens->end) {
        char c = *tokens->next;
        if (c == '#') {
            while (tokens->next < tokens->end && *tokens->next != '\n' && *tokens->next)
                step(tokens);
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            step(tokens);
        } else {
            return;
        }
    }
}

static void take_name(struct psd_tokens *tokens)
{
    while (is_letter(look(tokens, 0)) || is_digit(look(tokens, 0)))
        step(tokens);
}

/* Takes all that could belong to a number: letters too, so that 12abc is one wrong number and not
 * a number and a name. A sign belongs to it behind a decimal number's e. */
static void take_number(struct psd_tokens *tokens)
{
    bool hex = look(tokens, 0) == '0' && (look(tokens, 1) | 0x20) == 'x';
    char before = 0;

    for (;;) {
        char c = look(tokens, 0);
        bool sign = (c == '-' || c == '+') && (before | 0x20) == 'e' && !hex;
        if (!is_letter(c) && !is_digit(c) && c != '.' && !sign)
            return;
        before = c;
        step(tokens);
    }
}

/* Takes a string with its quotation marks; says what is wrong with it, or NULL. */
static const char *take_string(struct psd_tokens *tokens)
{
    char quote = *tokens->next;
    const char *problem = NULL;

    step(tokens);
    for (;;) {
        if (tokens->next == tokens->end || *tokens->next == '\n')
            return problem ? problem : "this string has no closing quotation mark on its line";
        char c = *tokens->next;
        if (c == 0)
            problem = "a NUL byte; is this a binary file?";
        if (c == '\\' && tokens->end - tokens->next > 1 && tokens->next[1] != '\n')
            step(tokens);
        step(tokens);
        if (c == quote)
            return problem;
    }
}

/* Takes the bytes of one character that means nothing here. */
static const char *take_stray(struct psd_tokens *tokens)
{
    bool nul = *tokens->next == 0;

    do {
        step(tokens);
    } while (tokens->next < tokens->end && ((unsigned char)*tokens->next & 0xc0) == 0x80);
    return nul ? "a NUL byte; is this a binary file?" : "a character that has no place here";
}

struct psd_token psd_tokens_next(struct psd_tokens *tokens)
{
    skip_space(tokens);
    struct psd_token token = {.text = tokens->next, .at = tokens->at};
    if (tokens->next == tokens->end)
        return token;

    char c = *tokens->next;
    if (is_letter(c)) {
        token.kind = PSD_TOKEN_NAME;
        take_name(tokens);
    } else if (is_digit(c) || (c == '.' && is_digit(look(tokens, 1)))) {
        token.kind = PSD_TOKEN_NUMBER;
        take_number(tokens);
    } else if (c == '"' || c == '\'') {
        token.problem = take_string(tokens);
        token.kind = token.problem ? PSD_TOKEN_BAD : PSD_TOKEN_STRING;
    } else if (c && strchr("{}[]<>:;,-./", c)) {
        token.kind = PSD_TOKEN_SIGN;
        step(tokens);
    } else {
        token.kind = PSD_TOKEN_BAD;
        token.problem = take_stray(tokens);
    }
    token.length = (size_t)(tokens->next - token.text);
    return token;
}

bool psd_token_is(const struct psd_token *token, char sign)
{
    return token->kind == PSD_TOKEN_SIGN && *token->text == sign;
}

bool psd_token_says(const struct psd_token *token, const char *name)
{
    return token->kind == PSD_TOKEN_NAME && strlen(name) == token->length &&
           strncasecmp(token->text, name, token->length) == 0;
}
