/* suggest.c - edit distance with swaps (optimal string alignment), three rows at a time. */
#include "base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 }; /* words beyond this get no suggestion */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Row i holds the distances between the first i letters of `a` and every start of `b`. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST + 1];

    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            row[j] = least(change, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

/* One mistake in a short word, one more for every four letters. */
void psd_suggest_init(struct psd_suggest *suggest, const char *word, size_t length)
{
    size_t allowed = length < 7 ? 1 : (length + 1) / 4;

    *suggest = (struct psd_suggest){.word = word, .length = length, .mistakes = allowed + 1};
}

void psd_suggest_offer(struct psd_suggest *suggest, const char *known)
{
    size_t length = strlen(known);
    size_t apart = length > suggest->length ? length - suggest->length : suggest->length - length;

    if (suggest->length > LONGEST || length > LONGEST || apart >= suggest->mistakes)
        return;
    size_t mistakes = distance(suggest->word, suggest->length, known, length);
    if (mistakes < suggest->mistakes && mistakes < length) {
        suggest->mistakes = mistakes;
        suggest->best = known;
    }
}

const char *psd_suggest_best(const struct psd_suggest *suggest)
{
    return suggest->best;
}

const char *psd_suggest_phrase(struct psd_suggest *suggest)
{
    if (!suggest->best)
        return "";
    snprintf(suggest->phrase, sizeof suggest->phrase, "; did you mean \"%s\"?", suggest->best);
    return suggest->phrase;
}
