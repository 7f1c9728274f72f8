/* mistakes_test.c - what is wrong with a file, several mistakes at once. */
#include "proto/mistakes.h"
#include "test.h"

static void each_mistake_is_a_line_with_its_place(void)
{
    struct psd_mistakes mistakes;

    psd_mistakes_init(&mistakes, "lenet.prototxt");
    psd_mistakes_add(&mistakes, 12, 5, "unknown field \"%s\"", "kernal_size");
    psd_mistakes_add(&mistakes, 14, 1, "expected \"}\"");
    CHECK_STATUS(PSD_ECONFIG, psd_mistakes_status(&mistakes));
    CHECK_TEXT("lenet.prototxt:12:5: unknown field \"kernal_size\"\n"
               "lenet.prototxt:14:1: expected \"}\"",
               psd_error());
}

static void a_mistake_without_a_place_names_the_file(void)
{
    struct psd_mistakes mistakes;

    psd_mistakes_init(&mistakes, "lenet.caffemodel");
    psd_mistakes_add(&mistakes, 0, 0, "no layers");
    CHECK_STATUS(PSD_ECONFIG, psd_mistakes_status(&mistakes));
    CHECK_TEXT("lenet.caffemodel: no layers", psd_error());
}

static void no_mistakes_are_no_failure(void)
{
    struct psd_mistakes mistakes;

    psd_mistakes_init(&mistakes, "lenet.prototxt");
    CHECK_OK(psd_mistakes_status(&mistakes));
    CHECK(!psd_mistakes_full(&mistakes));
}

static void the_list_is_full_after_a_screen(void)
{
    struct psd_mistakes mistakes;

    psd_mistakes_init(&mistakes, "a");
    for (unsigned n = 1; n <= 1000; n++) {
        psd_mistakes_add(&mistakes, n, 1, "mistake %u", n);
        CHECK(psd_mistakes_full(&mistakes) == (n > 20));
    }
    CHECK_STATUS(PSD_ECONFIG, psd_mistakes_status(&mistakes));
    CHECK(strstr(psd_error(), "a:20:1: mistake 20\nthere is more to correct after these"));
    CHECK(!strstr(psd_error(), "a:21:1"));
}

static void a_long_sentence_is_cut(void)
{
    char word[5000];
    struct psd_mistakes mistakes;

    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = 0;
    psd_mistakes_init(&mistakes, "a");
    psd_mistakes_add(&mistakes, 1, 1, "%s", word);
    CHECK_STATUS(PSD_ECONFIG, psd_mistakes_status(&mistakes));
    CHECK(strlen(psd_error()) < 700);
}

static void quoted_pieces_can_be_shown(void)
{
    static const struct {
        const char *text;
        size_t length;
        const char *shown;
    } cases[] = {
        {"conv1", 4, "conv"},
        {"", 0, ""},
        {"a\0b", 3, "a\\x00b"},
        {"\x1b[31m\x7f\n", 7, "\\x1b[31m\\x7f\\x0a"},
        {"caf\xc3\xa9", 5, "caf\xc3\xa9"},
    };
    struct psd_quote quote;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].shown, psd_quote(&quote, cases[i].text, cases[i].length));
}

static void long_pieces_end_in_points(void)
{
    char long_text[1000], nuls[1000] = {0};
    struct psd_quote quote;

    memset(long_text, 'x', sizeof long_text);
    for (size_t length = 0; length < sizeof long_text; length++) {
        psd_quote(&quote, long_text, length);
        bool whole = strlen(quote.text) == length && !strchr(quote.text, '.');
        bool cut = length > 50 && strlen(quote.text) < sizeof quote && strstr(quote.text, "x...");
        CHECK(whole || cut);
        CHECK(strlen(psd_quote(&quote, nuls, length)) < sizeof quote);
    }
}

int main(int argc, char **argv)
{
    RUN(each_mistake_is_a_line_with_its_place)
    RUN(a_mistake_without_a_place_names_the_file)
    RUN(no_mistakes_are_no_failure)
    RUN(the_list_is_full_after_a_screen)
    RUN(a_long_sentence_is_cut)
    RUN(quoted_pieces_can_be_shown)
    RUN(long_pieces_end_in_points)
}
