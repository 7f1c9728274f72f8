/* settings_text.c - reading and writing lines of settings. The bytes come from outside: each line
 * either is a setting or is named as a mistake. */
#include "base/settings_text.h"
#include "base/alloc.h"
#include "base/quote.h"
#include "base/suggest.h"

#include <string.h>

struct line {
    const char *file; /* name */
    unsigned number;
    const char *at, *end; /* what is not yet read */
};

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

static void trim(struct line *line)
{
    while (line->at < line->end && is_blank(*line->at))
        line->at++;
    while (line->at < line->end && is_blank(line->end[-1]))
        line->end--;
}

static psd_status unknown_setting(const struct psd_settings *settings, const char *name,
                                  size_t length)
{
    const struct psd_settings_entry *entry;
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, name, length);
    for (size_t i = 0; (entry = psd_settings_entry(settings, i)); i++)
        psd_suggest_offer(&suggest, entry->setting->name);
    if (length > 64)
        return psd_fail(PSD_ECONFIG, "unknown setting \"%.64s...\"", name);
    return psd_fail(PSD_ECONFIG, "unknown setting \"%.*s\"%s", (int)length, name,
                    psd_suggest_phrase(&suggest));
}

static psd_status read_quoted(struct line *line, char *out)
{
    line->at++;
    PSD_TRY(psd_quote_read(&line->at, line->end, out));
    trim(line);
    if (line->at < line->end && *line->at != '#')
        return psd_fail(PSD_ECONFIG, "after the closing \" only a comment may follow");
    return PSD_OK;
}

/* `out` has room for the rest of the line. */
static psd_status read_value(struct line *line, char *out)
{
    if (line->at < line->end && *line->at == '"')
        return read_quoted(line, out);
    for (const char *at = line->at; at < line->end; at++) {
        if (*at == '#' && (at == line->at || is_blank(at[-1])))
            line->end = at;
    }
    trim(line);
    memcpy(out, line->at, (size_t)(line->end - line->at));
    out[line->end - line->at] = 0;
    return PSD_OK;
}

static psd_status store_value(struct psd_settings *settings, const struct psd_setting *setting,
                              const char *text, const struct line *line)
{
    char *place = psd_alloc_text("%s:%u", line->file, line->number);

    if (!place)
        return PSD_ENOMEM;
    psd_status status = psd_settings_set(settings, setting, text, PSD_ORIGIN_FILE, place);
    psd_alloc_free(place);
    if (status == PSD_ECONFIG)
        return psd_fail(status, "%s: %s", setting->name, psd_error());
    return status;
}

static psd_status read_line(struct psd_settings *settings, struct line *line)
{
    trim(line);
    if (line->at == line->end || *line->at == '#')
        return PSD_OK;
    const char *equals = memchr(line->at, '=', (size_t)(line->end - line->at));
    if (!equals || equals == line->at)
        return psd_fail(PSD_ECONFIG, "expected \"name = value\"");

    struct line name = {.at = line->at, .end = equals};
    trim(&name);
    size_t length = (size_t)(name.end - name.at);
    const struct psd_settings_entry *entry = psd_settings_find(settings, name.at, length);
    if (!entry)
        return unknown_setting(settings, name.at, length);

    line->at = equals + 1;
    trim(line);
    char *text = psd_alloc((size_t)(line->end - line->at) + 1);
    if (!text)
        return PSD_ENOMEM;
    psd_status status = read_value(line, text);
    if (status == PSD_OK)
        status = store_value(settings, entry->setting, text, line);
    psd_alloc_free(text);
    return status;
}

/* Cuts the next line off `rest`, which is not empty. */
static struct line next_line(struct line *rest)
{
    struct line line = *rest;
    const char *newline = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));

    line.end = newline ? newline : rest->end;
    rest->at = newline ? newline + 1 : rest->end;
    rest->number++;
    if (line.end > line.at && line.end[-1] == '\r')
        line.end--;
    return line;
}

/* Has the reader stop at a file that is no text, instead of finding a mistake in each line of it.
 */
static bool is_text(const struct line *line, struct psd_sentences *mistakes)
{
    for (const char *at = line->at; at < line->end; at++) {
        unsigned char byte = (unsigned char)*at;
        if ((byte < ' ' && byte != '\t') || byte == 127) {
            psd_sentences_add(mistakes, "%s:%u: byte 0x%02x does not belong in a text file",
                              line->file, line->number, byte);
            return false;
        }
    }
    return true;
}

psd_status psd_settings_text_parse(struct psd_settings *settings, const char *name,
                                   const char *bytes, size_t size, struct psd_sentences *mistakes)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of a file from Windows */
    struct line rest = {.file = name, .number = 1, .at = bytes, .end = bytes + size};

    if (size >= 3 && memcmp(bytes, mark, 3) == 0)
        rest.at += 3;
    while (rest.at < rest.end) {
        struct line line = next_line(&rest);
        if (!is_text(&line, mistakes))
            break;
        psd_status status = read_line(settings, &line);
        if (status == PSD_ECONFIG)
            psd_sentences_add(mistakes, "%s:%u: %s", name, line.number, psd_error());
        else if (status != PSD_OK)
            return status;
    }
    return PSD_OK;
}

static bool needs_quotes(const char *text)
{
    size_t length = strlen(text);

    if (length == 0 || is_blank(text[0]) || is_blank(text[length - 1]))
        return true;
    for (; *text; text++) {
        if (strchr("\"\\#", *text) || (unsigned char)*text < ' ' || *text == 127)
            return true;
    }
    return false;
}

char *psd_settings_text_quote(const char *text)
{
    if (!needs_quotes(text))
        return psd_alloc_text("%s", text);
    return psd_quote_write(text);
}
