/* token.h - the words of the text format.
 *
 *     kernel_size: 5  # comment        NAME kernel_size   SIGN :   NUMBER 5
 *
 * Tokens point into the text; nothing is copied. A piece of text that is no token becomes a BAD one
 * with the reason, and reading goes on behind it. */
#ifndef PSD_PROTO_TOKEN_H
#define PSD_PROTO_TOKEN_H

#include "proto/positions.h"

#include <stdbool.h>

enum psd_token_kind {
    PSD_TOKEN_END,    /* of the text */
    PSD_TOKEN_NAME,   /* letters, digits and underscores, not starting with a digit */
    PSD_TOKEN_NUMBER, /* whatever starts like a number; may still be none */
    PSD_TOKEN_STRING, /* with its quotation marks */
    PSD_TOKEN_SIGN,   /* one character of { } [ ] < > : ; , - . / */
    PSD_TOKEN_BAD     /* `problem` says why */
};

struct psd_token {
    enum psd_token_kind kind;
    const char *text;
    size_t length;
    struct psd_position at;
    const char *problem; /* a constant; NULL when all is well with it */
};

/* A text being cut into tokens. */
struct psd_tokens {
    const char *next, *end; /* borrowed */
    struct psd_position at; /* of next */
};

void psd_tokens_init(struct psd_tokens *tokens, const char *text, size_t length);

/* The next token; END for ever after the last one. */
struct psd_token psd_tokens_next(struct psd_tokens *tokens);

/* Whether the token is that sign, or that name. */
bool psd_token_is(const struct psd_token *token, char sign);
bool psd_token_says(const struct psd_token *token, const char *name);

#endif
