/* svg_test.c - text in pictures: markup, control characters, bytes that are no UTF-8. */
#include "cli/svg.h"
#include "test.h"

static const char *written(const char *text)
{
    static char out[200];

    memset(out, 0, sizeof out);
    FILE *file = fmemopen(out, sizeof out, "w");
    CHECK(file);
    psd_svg_text(file, text);
    CHECK(fclose(file) == 0);
    return out;
}

static void markup_is_escaped(void)
{
    CHECK_TEXT("a&lt;b&gt; &amp;amp; \"c\" 'd'", written("a<b> &amp; \"c\" 'd'"));
    CHECK_TEXT("", written(""));
}

static void letters_of_all_languages_stay(void)
{
    CHECK_TEXT("Fenster \xc3\xb6, \xe7\xaa\x97, \xf0\x9f\x8c\x8a",
               written("Fenster \xc3\xb6, \xe7\xaa\x97, \xf0\x9f\x8c\x8a"));
}

static void what_xml_does_not_allow_is_a_question_mark(void)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"a\x01z\x7f", "a?z?"},
        {"\n\t", "??"},
        {"\xff", "?"},
        {"\xc3", "?"},
        {"\xc3z", "?z"},
        {"\xc0\x80", "??"},
        {"\xed\xa0\x80", "???"},
        {"\xef\xbf\xbf", "???"},
        {"\xf4\x90\x80\x80", "????"},
        {"\xe7\xaa", "??"},
        {"\xf8\x88\x80\x80\x80", "?????"},
        {"\x80", "?"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].expected, written(cases[i].text));
}

int main(int argc, char **argv)
{
    RUN(markup_is_escaped)
    RUN(letters_of_all_languages_stay)
    RUN(what_xml_does_not_allow_is_a_question_mark)
}
