/* lines_test.c - texts cut into lines and words, right and wrong. */
#include "base/alloc.h"
#include "base/lines.h"
#include "base/status.h"
#include "test.h"

#include <stdint.h>

static char seen[1000];

/* Notes the words as "a|b/"; the word "bad" makes a line a mistake, "dry" ends the reading. */
static psd_status note(void *context, const struct psd_line *line)
{
    size_t used = strlen(seen);

    CHECK(context == seen);
    for (size_t i = 0; i < line->words; i++)
        used +=
            (size_t)snprintf(seen + used, sizeof seen - used, "%s%s", i ? "|" : "", line->word[i]);
    snprintf(seen + used, sizeof seen - used, "/");
    if (strcmp(line->word[0], "dry") == 0)
        return PSD_ENOMEM;
    return strcmp(line->word[0], "bad") == 0 ? psd_fail(PSD_ECONFIG, "it is bad") : PSD_OK;
}

static psd_status parse(const char *text)
{
    seen[0] = 0;
    return psd_lines_parse("a.txt", text, strlen(text), note, seen);
}

static void lines_are_cut_into_words(void)
{
    CHECK_OK(parse("# a comment\n\n a  b\tc#d # e\n\"f # g\" \"\"\nh"));
    CHECK_TEXT("a|b|c#d/f # g|/h/", seen);
    CHECK_OK(parse("\xef\xbb\xbf"
                   "a\r\nb\r\n"));
    CHECK_TEXT("a/b/", seen);
    CHECK_OK(parse(""));
    CHECK_OK(parse("# only that"));
    CHECK_TEXT("", seen);
}

static void all_mistakes_are_told_with_their_lines(void)
{
    CHECK_STATUS(PSD_ECONFIG, parse("bad\nfine\n\nbad again\n"));
    CHECK_TEXT("a.txt:1: it is bad\na.txt:4: it is bad", psd_error());
    CHECK_TEXT("bad/fine/bad|again/", seen);
}

static void wrong_words_are_mistakes(void)
{
    CHECK_STATUS(PSD_ECONFIG, parse("a \"b"));
    CHECK_TEXT("a.txt:1: the closing \" is missing", psd_error());
    CHECK_STATUS(PSD_ECONFIG, parse("a \"b\"c"));
    CHECK_TEXT("a.txt:1: after a closing \" there is a blank", psd_error());
    CHECK_OK(parse("1 2 3 4 5 6 7 8 9 10 11 12 # 13"));
    CHECK_STATUS(PSD_ECONFIG, parse("1 2 3 4 5 6 7 8 9 10 11 12 13"));
    CHECK_TEXT("a.txt:1: there are more than 12 words", psd_error());
}

static void what_is_no_text_is_left_at_once(void)
{
    CHECK_STATUS(PSD_ECONFIG, parse("a\n\x89PNG\nbad\n"));
    CHECK_TEXT("a/\x89PNG/bad/", seen); /* nothing says that this is not some encoding */
    CHECK_STATUS(PSD_ECONFIG, parse("a\nb\x01\nbad\n"));
    CHECK_TEXT("a.txt:2: byte 0x01 does not belong in a text file", psd_error());
    CHECK_TEXT("a/", seen);
}

static void memory_that_runs_out_ends_the_reading(void)
{
    CHECK_STATUS(PSD_ENOMEM, parse("a\ndry\nb\n"));
    CHECK_TEXT("a/dry/", seen);
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, parse("a"));
    CHECK(psd_alloc_fail_at(-1));
}

static void a_file_is_read_up_to_its_limit(void)
{
    FILE *file = fopen(test_path("a.txt"), "w");

    CHECK(file && fputs("a b\n", file) >= 0 && fclose(file) == 0);
    seen[0] = 0;
    CHECK_OK(psd_lines_read(test_path("a.txt"), note, seen));
    CHECK_TEXT("a|b/", seen);
    CHECK(truncate(test_path("a.txt"), INT64_C(2) << 30) == 0); /* sparse: takes no space */
    CHECK_STATUS(PSD_ECONFIG, psd_lines_read(test_path("a.txt"), note, seen));
    CHECK(strstr(psd_error(), "a.txt is larger than 1 MiB; is it the right file?"));
    CHECK_STATUS(PSD_ECONFIG, psd_lines_read(test_path("b.txt"), note, seen));
    CHECK(strstr(psd_error(), "b.txt: No such file or directory"));
}

static void words_are_numbers(void)
{
    struct psd_line line = {4, {"12", "0.5", "3x7", "abc"}};
    size_t count = 0, pair[2] = {0};
    double number = 0;

    CHECK_OK(psd_line_count(&line, 0, 12, &count));
    CHECK_OK(psd_line_number(&line, 1, 0, 1, &number));
    CHECK_OK(psd_line_pair(&line, 2, 7, pair));
    CHECK(count == 12 && number == 0.5 && pair[0] == 3 && pair[1] == 7);
    CHECK_STATUS(PSD_ECONFIG, psd_line_count(&line, 0, 11, &count));
    CHECK_TEXT("\"12\" is not a whole number from 1 to 11", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_line_count(&line, 3, 11, &count));
    CHECK_STATUS(PSD_ECONFIG, psd_line_number(&line, 3, 0, 1, &number));
    CHECK_STATUS(PSD_ECONFIG, psd_line_number(&line, 0, 0, 1, &number));
    CHECK_TEXT("\"12\" is not a number from 0 to 1", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_line_pair(&line, 2, 6, pair));
    CHECK_TEXT("\"3x7\" is not a size such as 3x3", psd_error());
    CHECK(count == 12 && number == 0.5 && pair[0] == 3 && pair[1] == 7);
}

static void what_is_no_pair_is_refused(void)
{
    static const char *const words[] = {
        "", "3", "x", "3x", "x3", "0x3", "3x0", "3x3x3", "3 x 3", "99999999999999999999999999x3"};
    size_t pair[2];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct psd_line line = {1, {words[i]}};
        CHECK_STATUS(PSD_ECONFIG, psd_line_pair(&line, 0, 1000, pair));
    }
}

int main(int argc, char **argv)
{
    RUN(lines_are_cut_into_words)
    RUN(all_mistakes_are_told_with_their_lines)
    RUN(wrong_words_are_mistakes)
    RUN(what_is_no_text_is_left_at_once)
    RUN(memory_that_runs_out_ends_the_reading)
    RUN(a_file_is_read_up_to_its_limit)
    RUN(words_are_numbers)
    RUN(what_is_no_pair_is_refused)
}
