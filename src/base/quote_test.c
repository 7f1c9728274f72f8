/* quote_test.c - texts in quotes, there and back. */
#include "base/alloc.h"
#include "base/quote.h"
#include "test.h"

/* What stands between quotes, or the sentence with which it is refused. */
static const char *read_back(const char *quoted)
{
    static char out[100];
    const char *at = quoted + 1;

    if (psd_quote_read(&at, quoted + strlen(quoted), out) != PSD_OK)
        return psd_error();
    CHECK(at[-1] == '"');
    return out;
}

static void a_text_is_read_with_what_its_escapes_mean(void)
{
    CHECK_TEXT("", read_back("\"\""));
    CHECK_TEXT("a # b", read_back("\"a # b\""));
    CHECK_TEXT("\"\\\n\t\x1b", read_back("\"\\\"\\\\\\n\\t\\x1b\""));
    CHECK_TEXT("a", read_back("\"a\" and the rest"));
}

static void half_a_text_is_refused(void)
{
    static const char escape[] = "in quotes a \\ is followed by one of n t \" \\ or xNN";

    CHECK_TEXT("the closing \" is missing", read_back("\"abc"));
    CHECK_TEXT("the closing \" is missing", read_back("\"abc\\\""));
    CHECK_TEXT(escape, read_back("\"\\q\""));
    CHECK_TEXT(escape, read_back("\"\\x1\""));
    CHECK_TEXT(escape, read_back("\"\\x00\""));
    CHECK_TEXT(escape, read_back("\"\\"));
}

static void a_text_may_be_read_where_it_stands(void)
{
    char text[] = "\"a\\\"b\\x41\" c";
    const char *at = text + 1;

    CHECK_OK(psd_quote_read(&at, text + strlen(text), text));
    CHECK_TEXT("a\"bA", text);
    CHECK_TEXT(" c", at);
}

static void what_is_written_reads_as_before(void)
{
    static const char *const texts[] = {"", "conv1", " a\tb ", "\"\\#\x7f\x01", "\xc3\xa9"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *quoted = psd_quote_write(texts[i]);
        CHECK(quoted);
        CHECK_TEXT(texts[i], read_back(quoted));
        psd_alloc_free(quoted);
    }
    psd_alloc_fail_at(0);
    CHECK(!psd_quote_write("a"));
    CHECK(psd_alloc_fail_at(-1));
}

int main(int argc, char **argv)
{
    RUN(a_text_is_read_with_what_its_escapes_mean)
    RUN(half_a_text_is_refused)
    RUN(a_text_may_be_read_where_it_stands)
    RUN(what_is_written_reads_as_before)
}
