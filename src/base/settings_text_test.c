/* settings_text_test.c - lines of settings, right and wrong. */
#include "base/alloc.h"
#include "base/settings_text.h"
#include "test.h"

struct config {
    uint64_t timeout_ns;
    char *name;
};

static const struct psd_setting table[] = {
    {"net.timeout", "10s", "a time", PSD_TIME(struct config, timeout_ns)},
    {"net.name", "none", "a text", PSD_TEXT(struct config, name)},
    {0},
};

static struct config config;
static struct psd_settings *settings;

/* Reads text as the file a.conf into fresh settings. */
static psd_status parse(const char *text, size_t size)
{
    struct psd_sentences mistakes = {0};

    psd_settings_destroy(settings);
    settings = NULL;
    CHECK_OK(psd_settings_create(&settings));
    CHECK_OK(psd_settings_add(settings, table, &config));
    CHECK_OK(psd_settings_text_parse(settings, "a.conf", text, size, &mistakes));
    return psd_sentences_status(&mistakes);
}

static void end(void)
{
    psd_settings_destroy(settings);
    settings = NULL;
}

static void lines_comments_and_blanks_are_read(void)
{
    static const char text[] = "# a comment\n"
                               "\n"
                               "  net.timeout = 5s   # the rest is for people\n"
                               "net_name=eth0#1\n"
                               "\t# another";

    CHECK_OK(parse(text, strlen(text)));
    CHECK(config.timeout_ns == UINT64_C(5000000000));
    CHECK_TEXT("eth0#1", config.name);
    CHECK_TEXT("a.conf:3", psd_settings_entry(settings, 0)->place);
    CHECK_TEXT("a.conf:4", psd_settings_entry(settings, 1)->place);
    end();
}

static void files_from_windows_are_read(void)
{
    static const char text[] = "\xef\xbb\xbfnet.timeout = 1s\r\nnet.name = a b\r\n";

    CHECK_OK(parse(text, strlen(text)));
    CHECK(config.timeout_ns == 1000000000);
    CHECK_TEXT("a b", config.name);
    end();
}

static void the_later_line_wins(void)
{
    static const char text[] = "net.name = a\nnet.name = b\n";

    CHECK_OK(parse(text, strlen(text)));
    CHECK_TEXT("b", config.name);
    end();
}

static void quotes_keep_everything(void)
{
    static const char text[] = "net.name = \" a # \\\"b\\\" \\\\ \\n\\t\\x1b \"  # but this\n";

    CHECK_OK(parse(text, strlen(text)));
    CHECK_TEXT(" a # \"b\" \\ \n\t\x1b ", config.name);
    end();
}

static void an_empty_value_is_an_empty_text(void)
{
    static const char text[] = "net.name =\n";

    CHECK_OK(parse(text, strlen(text)));
    CHECK_TEXT("", config.name);
    end();
}

static void a_wrong_line_is_named(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"\n\nnet.timout = 5s",
         "a.conf:3: unknown setting \"net.timout\"; did you mean \"net.timeout\"?"},
        {"xyz = 5s", "a.conf:1: unknown setting \"xyz\""},
        {"net.timeout 5s", "a.conf:1: expected \"name = value\""},
        {"= 5s", "a.conf:1: expected \"name = value\""},
        {"net.timeout = 5",
         "a.conf:1: net.timeout: \"5\" is not a time such as 500ms, 10s, 2m or 1h"},
        {"net.timeout =", "a.conf:1: net.timeout: \"\" is not a time such as 500ms, 10s, 2m or 1h"},
        {"net.name = \"a", "a.conf:1: the closing \" is missing"},
        {"net.name = \"a\" b", "a.conf:1: after the closing \" only a comment may follow"},
        {"net.name = \"\\q\"", "a.conf:1: in quotes a \\ is followed by one of n t \" \\ or xNN"},
        {"net.name = \"\\x00\"", "a.conf:1: in quotes a \\ is followed by one of n t \" \\ or xNN"},
        {"net.name = \"\\x1", "a.conf:1: in quotes a \\ is followed by one of n t \" \\ or xNN"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(PSD_ECONFIG, parse(cases[i].text, strlen(cases[i].text)));
        CHECK_TEXT(cases[i].sentence, psd_error());
    }
    end();
}

static void all_mistakes_are_reported_and_the_rest_counts(void)
{
    static const char text[] = "a = 1\nnet.name = good\nb = 2\n";

    CHECK_STATUS(PSD_ECONFIG, parse(text, strlen(text)));
    CHECK_TEXT("a.conf:1: unknown setting \"a\"\na.conf:3: unknown setting \"b\"", psd_error());
    CHECK_TEXT("good", config.name);
    end();
}

static void a_file_that_is_no_text_is_one_mistake(void)
{
    static const char text[] = "net.name = a\nnet.name\0= b\na = b\n";

    CHECK_STATUS(PSD_ECONFIG, parse(text, sizeof text - 1));
    CHECK_TEXT("a.conf:2: byte 0x00 does not belong in a text file", psd_error());
    CHECK_STATUS(PSD_ECONFIG, parse("\x7f\x45LF", 4));
    CHECK_TEXT("a.conf:1: byte 0x7f does not belong in a text file", psd_error());
    end();
}

static void an_endless_name_is_cut(void)
{
    static char text[100000];

    memset(text, 'x', sizeof text);
    text[sizeof text - 2] = '=';
    CHECK_STATUS(PSD_ECONFIG, parse(text, sizeof text));
    CHECK(strlen(psd_error()) < 200);
    end();
}

static void what_is_quoted_is_read_as_it_was(void)
{
    static const char *const texts[] = {"plain", "",   " a",       "a ",      "a #b",
                                        "\"",    "\\", "\n\t\x1b", "\xc3\xa4"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *quoted = psd_settings_text_quote(texts[i]);
        char *line = psd_alloc_text("net.name = %s", quoted);
        CHECK_OK(parse(line, strlen(line)));
        CHECK_TEXT(texts[i], config.name);
        psd_alloc_free(quoted);
        psd_alloc_free(line);
    }
    end();
}

int main(int argc, char **argv)
{
    RUN(lines_comments_and_blanks_are_read)
    RUN(files_from_windows_are_read)
    RUN(the_later_line_wins)
    RUN(quotes_keep_everything)
    RUN(an_empty_value_is_an_empty_text)
    RUN(a_wrong_line_is_named)
    RUN(all_mistakes_are_reported_and_the_rest_counts)
    RUN(a_file_that_is_no_text_is_one_mistake)
    RUN(an_endless_name_is_cut)
    RUN(what_is_quoted_is_read_as_it_was)
}
