/* lines.c - cutting a text into lines and words. The bytes come from outside: each line either makes
 * sense or is named as a mistake. */
#include "base/lines.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/sentences.h"
#include "base/value.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What is left of the text, which ends with a NUL that belongs to nobody. */
struct text {
    char *at, *end;
    unsigned number; /* of the next line */
};

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

/* Cuts a word off, which ends with a NUL afterwards; `at` is at its first letter. */
static psd_status take_word(char **at, char *end, const char **out)
{
    char *word = *at;
    const char *behind = word + 1;

    if (*word == '"') {
        PSD_TRY(psd_quote_read(&behind, end, word));
        if (behind < end && !is_blank(*behind))
            return psd_fail(PSD_ECONFIG, "after a closing \" there is a blank");
        *at += behind - word;
    } else {
        while (*at < end && !is_blank(**at))
            (*at)++;
        if (*at < end)
            *(*at)++ = 0;
    }
    *out = word;
    return PSD_OK;
}

static psd_status take_words(char *at, char *end, struct psd_line *line)
{
    line->words = 0;
    for (;;) {
        while (at < end && is_blank(*at))
            at++;
        if (at == end || *at == '#')
            return PSD_OK;
        if (line->words == PSD_LINE_WORDS)
            return psd_fail(PSD_ECONFIG, "there are more than %d words", PSD_LINE_WORDS);
        PSD_TRY(take_word(&at, end, &line->word[line->words++]));
    }
}

static psd_status check_text(const char *at, const char *end)
{
    for (; at < end; at++) {
        unsigned char byte = (unsigned char)*at;
        if ((byte < ' ' && byte != '\t') || byte == 127)
            return psd_fail(PSD_ECONFIG, "byte 0x%02x does not belong in a text file", byte);
    }
    return PSD_OK;
}

/* Ends the line with a NUL, so that its last word has one. */
static char *cut_line(struct text *text)
{
    char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
    char *end = newline ? newline : text->end;

    if (end > text->at && end[-1] == '\r')
        end--;
    text->at = newline ? newline + 1 : text->end;
    text->number++;
    *end = 0;
    return end;
}

static psd_status read_next(struct text *text, psd_line_function *read_line, void *context)
{
    struct psd_line line;
    char *at = text->at, *end = cut_line(text);
    psd_status status = check_text(at, end);

    if (status != PSD_OK) {
        text->at = text->end; /* instead of a mistake in each line of a picture */
        return status;
    }
    PSD_TRY(take_words(at, end, &line));
    return line.words ? read_line(context, &line) : PSD_OK;
}

static psd_status read_all(const char *name, struct text *text, psd_line_function *read_line,
                           void *context)
{
    struct psd_sentences mistakes = {0};

    while (text->at < text->end) {
        unsigned number = text->number;
        psd_status status = read_next(text, read_line, context);
        if (status == PSD_ENOMEM)
            return status;
        if (status != PSD_OK)
            psd_sentences_add(&mistakes, "%s:%u: %s", name, number, psd_error());
    }
    return psd_sentences_status(&mistakes);
}

psd_status psd_lines_parse(const char *name, const char *bytes, size_t size,
                           psd_line_function *read_line, void *context)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of a file from Windows */
    struct text text = {.number = 1};

    if (size > PSD_LINES_LIMIT)
        return psd_fail(PSD_ECONFIG, "%s is larger than 1 MiB; is it the right file?", name);
    char *copy = psd_alloc(size + 1);
    if (!copy)
        return PSD_ENOMEM;
    memcpy(copy, size ? bytes : "", size);
    text.at = size >= 3 && memcmp(copy, mark, 3) == 0 ? copy + 3 : copy;
    text.end = copy + size;
    psd_status status = read_all(name, &text, read_line, context);
    psd_alloc_free(copy);
    return status;
}

psd_status psd_lines_read(const char *path, psd_line_function *read_line, void *context)
{
    struct psd_file file;

    PSD_TRY(psd_file_open(path, &file));
    psd_status status = psd_lines_parse(path, file.data, file.size, read_line, context);
    psd_file_close(&file);
    return status;
}

/* --- what words say --------------------------------------------------------------------------- */

psd_status psd_line_count(const struct psd_line *line, size_t i, size_t most, size_t *out)
{
    const struct psd_value value = {.kind = PSD_VALUE_INT, .least = 1, .most = (int64_t)most};
    int64_t number = 0;

    PSD_TRY(psd_value_parse(&value, line->word[i], &number));
    *out = (size_t)number;
    return PSD_OK;
}

psd_status psd_line_number(const struct psd_line *line, size_t i, double least, double most,
                           double *out)
{
    const struct psd_value value = {.kind = PSD_VALUE_DOUBLE};
    double number = 0;

    PSD_TRY(psd_value_parse(&value, line->word[i], &number));
    if (number < least || number > most)
        return psd_fail(PSD_ECONFIG, "\"%.100s\" is not a number from %g to %g", line->word[i],
                        least, most);
    *out = number;
    return PSD_OK;
}

psd_status psd_line_pair(const struct psd_line *line, size_t i, size_t most, size_t out[2])
{
    const char *cross = strchr(line->word[i], 'x');
    char text[24] = "";
    struct psd_line halves = {2, {text, cross ? cross + 1 : ""}};
    size_t pair[2];

    if (cross && (size_t)(cross - line->word[i]) < sizeof text)
        memcpy(text, line->word[i], (size_t)(cross - line->word[i]));
    if (psd_line_count(&halves, 0, most, &pair[0]) != PSD_OK ||
        psd_line_count(&halves, 1, most, &pair[1]) != PSD_OK)
        return psd_fail(PSD_ECONFIG, "\"%.100s\" is not a size such as 3x3", line->word[i]);
    out[0] = pair[0];
    out[1] = pair[1];
    return PSD_OK;
}
