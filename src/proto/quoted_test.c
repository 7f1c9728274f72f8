/* quoted_test.c - strings as the text format writes them. */
#include "proto/quoted.h"
#include "test.h"

static void escapes_stand_for_bytes(void)
{
    static const struct {
        const char *text, *bytes;
        size_t length;
    } cases[] = {
        {"\"\"", "", 0},
        {"\"conv1\"", "conv1", 5},
        {"'it\\'s'", "it's", 4},
        {"'\"'", "\"", 1},
        {"\"\\a\\b\\f\\n\\r\\t\\v\\?\\'\\\"\\\\\"", "\a\b\f\n\r\t\v?'\"\\", 11},
        {"\"\\x41\\102\\7z\"", "AB\az", 4},
        {"\"\\xag\\Xfff\"",
         "\x0ag\xff"
         "f",
         4},
        {"\"\\0\\000\\377\\1011\"", "\0\0\377A1", 5},
        {"\"\\u0041\\u00e9\\u20ac\"", "A\xc3\xa9\xe2\x82\xac", 6},
        {"\"\\U0001f41f\\U0010ffff\"", "\xf0\x9f\x90\x9f\xf4\x8f\xbf\xbf", 8},
        {"\"caf\xc3\xa9\"", "caf\xc3\xa9", 5},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[100];
        size_t length = 99;
        fprintf(stderr, "    %s\n", cases[i].text);
        CHECK(!psd_quoted_bytes(cases[i].text, strlen(cases[i].text), out, &length));
        CHECK(length == cases[i].length && memcmp(out, cases[i].bytes, length) == 0);
    }
}

static void a_wrong_escape_is_named(void)
{
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"\"\\q\"", "an unknown escape after the backslash"},
        {"\"\\8\"", "an unknown escape after the backslash"},
        {"\"\\400\"", "an octal escape above \\377"},
        {"\"\\x\"", "an escape with too few hexadecimal digits"},
        {"\"\\xg\"", "an escape with too few hexadecimal digits"},
        {"\"\\u12\"", "an escape with too few hexadecimal digits"},
        {"\"\\U0001f41\"", "an escape with too few hexadecimal digits"},
        {"\"\\ud800\"", "an escape that is no Unicode character"},
        {"\"\\U00110000\"", "an escape that is no Unicode character"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[100];
        size_t length = 99;
        CHECK_TEXT(cases[i].problem,
                   psd_quoted_bytes(cases[i].text, strlen(cases[i].text), out, &length));
        CHECK(length == 99);
    }
}

static void bytes_are_printed_as_caffe_prints_them(void)
{
    static const struct {
        char byte;
        const char *text;
    } cases[] = {{'a', "a"},       {' ', " "},      {'~', "~"},      {'\n', "\\n"},
                 {'\r', "\\r"},    {'\t', "\\t"},   {'"', "\\\""},   {'\'', "\\'"},
                 {'\\', "\\\\"},   {'\0', "\\000"}, {'\a', "\\007"}, {'\x7f', "\\177"},
                 {'\xff', "\\377"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[5] = {0};
        CHECK(psd_quoted_print(cases[i].byte, out) == strlen(cases[i].text));
        CHECK_TEXT(cases[i].text, out);
    }
}

static void every_pair_of_bytes_comes_back(void)
{
    for (unsigned pair = 0; pair < 65536; pair++) {
        char bytes[2] = {(char)(pair >> 8), (char)pair}, text[20] = "\"", back[20];
        size_t used = 1, length;
        used += psd_quoted_print(bytes[0], text + used);
        used += psd_quoted_print(bytes[1], text + used);
        text[used++] = '"';
        CHECK(!psd_quoted_bytes(text, used, back, &length));
        CHECK(length == 2 && memcmp(back, bytes, 2) == 0);
    }
}

int main(int argc, char **argv)
{
    RUN(escapes_stand_for_bytes)
    RUN(a_wrong_escape_is_named)
    RUN(bytes_are_printed_as_caffe_prints_them)
    RUN(every_pair_of_bytes_comes_back)
}
