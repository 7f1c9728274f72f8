/* forms.c - lines compared with their forms, word by word. */
#include "base/forms.h"
#include "base/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool stands_for_any(const char *word, size_t length)
{
    return strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") >= length;
}

static bool fits(const struct psd_forms_line *form, const struct psd_line *line)
{
    const char *at = form->rest;

    if (strcmp(form->word, line->word[0]) != 0)
        return false;
    for (size_t i = 1; i < line->words; i++) {
        size_t length = strcspn(at, " ");
        bool same = strlen(line->word[i]) == length && memcmp(at, line->word[i], length) == 0;
        if (!length || (!same && !stands_for_any(at, length)))
            return false;
        at += length + (at[length] == ' ');
    }
    return !*at;
}

/* The forms of that word: "model NAME batch N, or: model NAME". False: there is none. */
static bool list_forms(const struct psd_forms_line *forms, const char *word, char *out, size_t room)
{
    size_t used = 0;

    for (; forms->word; forms++) {
        if (strcmp(forms->word, word) == 0 && used < room)
            used += (size_t)snprintf(out + used, room - used, "%s%s %s", used ? ", or: " : "",
                                     forms->word, forms->rest);
    }
    return used > 0;
}

/* "model, conv or fc" */
static void list_words(const struct psd_forms_line *forms, char *out, size_t room)
{
    size_t used = 0;

    while (forms->word && used < room) {
        const char *word = forms->word;
        while (forms->word && strcmp(forms->word, word) == 0)
            forms++;
        const char *between = forms->word ? ", " : " or ";
        used += (size_t)snprintf(out + used, room - used, "%s%s", used ? between : "", word);
    }
}

static psd_status refuse(const struct psd_forms_line *forms, const char *word)
{
    char text[1000];
    struct psd_suggest suggest;

    if (list_forms(forms, word, text, sizeof text))
        return psd_fail(PSD_ECONFIG, "this line is written: %s", text);
    list_words(forms, text, sizeof text);
    psd_suggest_init(&suggest, word, strlen(word));
    for (; forms->word; forms++)
        psd_suggest_offer(&suggest, forms->word);
    return psd_fail(PSD_ECONFIG, "a line begins with %s, not \"%.100s\"%s", text, word,
                    psd_suggest_phrase(&suggest));
}

psd_status psd_forms_read(const struct psd_forms_line *forms, const struct psd_line *line,
                          void *context)
{
    for (const struct psd_forms_line *form = forms; form->word; form++) {
        if (fits(form, line))
            return form->read(context, line);
    }
    return refuse(forms, line->word[0]);
}
