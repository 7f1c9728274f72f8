/* token_test.c - the words of the text format. */
#include "proto/token.h"
#include "test.h"

/* Writes tokens down as "name@1:1 :@1:5 ...", a BAD one as its problem in parentheses. */
static const char *cut(const char *text, size_t length)
{
    static char out[2000];
    size_t used = 0;
    struct psd_tokens tokens;
    struct psd_token token;

    *out = 0;
    psd_tokens_init(&tokens, text, length);
    while ((token = psd_tokens_next(&tokens)).kind != PSD_TOKEN_END) {
        bool bad = token.kind == PSD_TOKEN_BAD;
        used += (size_t)snprintf(
            out + used, sizeof out - used, "%s%s%.*s%s@%zu:%zu", used ? " " : "", bad ? "(" : "",
            bad ? (int)strlen(token.problem) : (int)token.length, bad ? token.problem : token.text,
            bad ? ")" : "", token.at.line, token.at.column);
        CHECK(used < sizeof out && bad == (token.problem != NULL));
    }
    return out;
}

static void a_text_is_cut_into_words_with_their_places(void)
{
    static const struct {
        const char *text, *tokens;
    } cases[] = {
        {"", ""},
        {" \t\v\f\r\n ", ""},
        {"kernel_size: 5", "kernel_size@1:1 :@1:12 5@1:14"},
        {"a\nb\r\n  c", "a@1:1 b@2:1 c@3:3"},
        {"a{b<c[d]>};,./", "a@1:1 {@1:2 b@1:3 <@1:4 c@1:5 [@1:6 d@1:7 ]@1:8 >@1:9 }@1:10 "
                           ";@1:11 ,@1:12 .@1:13 /@1:14"},
        {"_x9Y", "_x9Y@1:1"},
        {"a # b: 1 \" {\nc#", "a@1:1 c@2:1"},
        {"# only a comment", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].tokens, cut(cases[i].text, strlen(cases[i].text)));
}

static void a_number_is_all_that_could_belong_to_it(void)
{
    static const struct {
        const char *text, *tokens;
    } cases[] = {
        {"17 0x1F 021", "17@1:1 0x1F@1:4 021@1:9"},
        {"-3", "-@1:1 3@1:2"},
        {".5 5. 1.5f", ".5@1:1 5.@1:4 1.5f@1:7"},
        {"1e-5 1E+5 1e5", "1e-5@1:1 1E+5@1:6 1e5@1:11"},
        {"0x1e-5", "0x1e@1:1 -@1:5 5@1:6"},
        {"1-5", "1@1:1 -@1:2 5@1:3"},
        {"12abc 1.2.3", "12abc@1:1 1.2.3@1:7"},
        {"1,2", "1@1:1 ,@1:2 2@1:3"},
        {". 5", ".@1:1 5@1:3"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].tokens, cut(cases[i].text, strlen(cases[i].text)));
}

static void a_string_keeps_its_quotation_marks(void)
{
    static const struct {
        const char *text, *tokens;
    } cases[] = {
        {"\"a b\" 'c'", "\"a b\"@1:1 'c'@1:7"},          {"\"it's\" '\"'", "\"it's\"@1:1 '\"'@1:8"},
        {"\"a\\\"b\"'\\''", "\"a\\\"b\"@1:1 '\\''@1:7"}, {"\"\\\\\"x", "\"\\\\\"@1:1 x@1:5"},
        {"\"# no comment\"", "\"# no comment\"@1:1"},    {"\"\"", "\"\"@1:1"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].tokens, cut(cases[i].text, strlen(cases[i].text)));
}

#define UNCLOSED "(this string has no closing quotation mark on its line)"
#define NUL_BYTE "(a NUL byte; is this a binary file?)"
#define STRAY    "(a character that has no place here)"

static void what_is_no_word_is_told_and_reading_goes_on(void)
{
    static const struct {
        const char *text;
        size_t length;
        const char *tokens;
    } cases[] = {
        {"\"abc\nd", 6, UNCLOSED "@1:1 d@2:1"},
        {"\"abc", 4, UNCLOSED "@1:1"},
        {"\"", 1, UNCLOSED "@1:1"},
        {"'a\\", 3, UNCLOSED "@1:1"},
        {"'a\\\nb", 5, UNCLOSED "@1:1 b@2:1"},
        {"a = 1", 5, "a@1:1 " STRAY "@1:3 1@1:5"},
        {"a\0b", 3, "a@1:1 " NUL_BYTE "@1:2 b@1:3"},
        {"'a\0b' c", 7, NUL_BYTE "@1:1 c@1:7"},
        {"\xc3\xa9 b", 4, STRAY "@1:1 b@1:3"},
        {"\xff\x80\x80", 3, STRAY "@1:1"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].tokens, cut(cases[i].text, cases[i].length));
}

static void a_byte_order_mark_is_no_word(void)
{
    CHECK_TEXT("name@1:1", cut("\xef\xbb\xbfname", 7));
    CHECK_TEXT("", cut("\xef\xbb\xbf", 3));
    CHECK_TEXT(STRAY "@1:1", cut("\xef\xbb", 2));
}

static void columns_count_characters_not_bytes(void)
{
    CHECK_TEXT("'\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9f'@1:1 x@1:7",
               cut("'\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9f' x", 13));
}

static void the_end_stays_the_end(void)
{
    struct psd_tokens tokens;

    psd_tokens_init(&tokens, "a", 1);
    CHECK(psd_tokens_next(&tokens).kind == PSD_TOKEN_NAME);
    for (int i = 0; i < 3; i++)
        CHECK(psd_tokens_next(&tokens).kind == PSD_TOKEN_END);
}

static void a_word_can_be_asked_what_it_is(void)
{
    struct psd_tokens tokens;

    psd_tokens_init(&tokens, "True : 'true'", 13);
    struct psd_token name = psd_tokens_next(&tokens);
    struct psd_token sign = psd_tokens_next(&tokens);
    struct psd_token string = psd_tokens_next(&tokens);
    CHECK(psd_token_says(&name, "true") && !psd_token_says(&name, "tru"));
    CHECK(!psd_token_says(&string, "true") && !psd_token_is(&string, '\''));
    CHECK(psd_token_is(&sign, ':') && !psd_token_is(&sign, ';') && !psd_token_is(&name, 'T'));
}

int main(int argc, char **argv)
{
    RUN(a_text_is_cut_into_words_with_their_places)
    RUN(a_number_is_all_that_could_belong_to_it)
    RUN(a_string_keeps_its_quotation_marks)
    RUN(what_is_no_word_is_told_and_reading_goes_on)
    RUN(a_byte_order_mark_is_no_word)
    RUN(columns_count_characters_not_bytes)
    RUN(the_end_stays_the_end)
    RUN(a_word_can_be_asked_what_it_is)
}
