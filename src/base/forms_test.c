/* forms_test.c - which form a line has. */
#include "base/forms.h"
#include "base/status.h"
#include "test.h"

static psd_status one(void *context, const struct psd_line *line)
{
    snprintf(context, 20, "one %zu", line->words);
    return PSD_OK;
}

static psd_status two(void *context, const struct psd_line *line)
{
    snprintf(context, 20, "two %s", line->word[line->words - 1]);
    return psd_fail(PSD_ECONFIG, "as the reader says");
}

static const struct psd_forms_line forms[] = {
    {"model", "NAME batch N", one},
    {"model", "NAME batch N rate N images/s", two},
    {"speed", "N GB/s", two},
    {"end", "", one},
    {0},
};

static char seen[20];

static psd_status judge(const struct psd_line *line)
{
    seen[0] = 0;
    return psd_forms_read(forms, line, seen);
}

static void the_form_that_fits_reads_the_line(void)
{
    CHECK_OK(judge(&(struct psd_line){4, {"model", "batch", "batch", "7"}}));
    CHECK_TEXT("one 4", seen);
    CHECK_OK(judge(&(struct psd_line){1, {"end"}}));
    CHECK_TEXT("one 1", seen);
    CHECK_STATUS(PSD_ECONFIG, judge(&(struct psd_line){3, {"speed", "7", "GB/s"}}));
    CHECK_TEXT("two GB/s", seen);
    CHECK_TEXT("as the reader says", psd_error());
}

static void a_line_of_another_form_is_told_its_own(void)
{
    static const struct psd_line lines[] = {{1, {"speed"}},
                                            {2, {"speed", "7"}},
                                            {3, {"speed", "7", "GB"}},
                                            {4, {"speed", "7", "GB/s", "x"}}};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        CHECK_STATUS(PSD_ECONFIG, judge(&lines[i]));
        CHECK_TEXT("this line is written: speed N GB/s", psd_error());
        CHECK_TEXT("", seen);
    }
    CHECK_STATUS(PSD_ECONFIG, judge(&(struct psd_line){4, {"model", "a", "batsh", "7"}}));
    CHECK_TEXT("this line is written: model NAME batch N, or: model NAME batch N rate N images/s",
               psd_error());
}

static void an_unknown_word_is_told_the_known_ones(void)
{
    CHECK_STATUS(PSD_ECONFIG, judge(&(struct psd_line){1, {"spede"}}));
    CHECK_TEXT("a line begins with model, speed or end, not \"spede\"; did you mean \"speed\"?",
               psd_error());
    CHECK_STATUS(PSD_ECONFIG, judge(&(struct psd_line){1, {""}}));
    CHECK_TEXT("a line begins with model, speed or end, not \"\"", psd_error());
}

int main(int argc, char **argv)
{
    RUN(the_form_that_fits_reads_the_line)
    RUN(a_line_of_another_form_is_told_its_own)
    RUN(an_unknown_word_is_told_the_known_ones)
}
