/* options_test.c - every way to write an option, and what is said about the wrong ones. */
#include "base/alloc.h"
#include "cli/options.h"
#include "test.h"

static const char *const forms[] = {"text", "binary", NULL};

struct own {
    bool brief, note;
    int64_t iterations;
    char *output;
    int form;
    char **sets;
};

struct common {
    bool help;
};

struct net_config {
    uint64_t timeout_ns;
    bool fast;
};

static const struct psd_option own_table[] = {
    {"short", NULL, NULL, "says less", PSD_BOOL(struct own, brief)},
    {"note", NULL, NULL, "a switch that begins with no", PSD_BOOL(struct own, note)},
    {"max-iterations", NULL, "50", "how often", PSD_INT(struct own, iterations, 1, 1000)},
    {"output", "FILE", NULL, "where to", PSD_TEXT(struct own, output)},
    {"set", NULL, NULL, "several", PSD_LIST(struct own, sets)},
    {"form", NULL, "binary", "which form", PSD_CHOICE(struct own, form, forms)},
    {0},
};

static const struct psd_option common_table[] = {
    {"help", NULL, NULL, "helps", PSD_BOOL(struct common, help)},
    {0},
};

static const struct psd_setting net_settings[] = {
    {"net.timeout", "10s", "a time", PSD_TIME(struct net_config, timeout_ns)},
    {"net.fast", "off", "a switch", PSD_BOOL(struct net_config, fast)},
    {0},
};

static struct own own;
static struct common common;
static struct net_config net;
static struct psd_settings *settings;
static const struct psd_options sets[2] = {{own_table, &own}, {common_table, &common}};

/* What is left of the words after parsing. */
static struct {
    int argc;
    char *argv[16];
} words;

/* Parses words separated by blanks, into fresh structures. */
static psd_status parse_some(const char *line, bool leading)
{
    static char copy[500];

    psd_options_fini(&sets[0]);
    psd_settings_destroy(settings);
    own = (struct own){0};
    common = (struct common){0};
    CHECK_OK(psd_settings_create(&settings));
    CHECK_OK(psd_settings_add(settings, net_settings, &net));
    CHECK_OK(psd_options_init(&sets[0]));
    snprintf(copy, sizeof copy, "%s", line);
    words.argc = 0;
    char *rest = copy;
    for (char *word; (word = strsep(&rest, " "));)
        words.argv[words.argc++] = word;
    return psd_options_parse(sets, settings, leading, &words.argc, words.argv);
}

static psd_status parse(const char *line)
{
    return parse_some(line, false);
}

static void end(void)
{
    psd_options_fini(&sets[0]);
    psd_settings_destroy(settings);
}

static void options_without_mention_have_their_initial_value(void)
{
    CHECK_OK(parse("a b"));
    CHECK(own.iterations == 50 && own.form == 1 && !own.brief && !own.output);
    CHECK(words.argc == 2);
    CHECK_TEXT("b", words.argv[1]);
    end();
}

static void a_value_is_written_in_four_ways(void)
{
    static const char *const lines[] = {"--output f", "--output=f", "-output f", "-output=f"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        CHECK_OK(parse(lines[i]));
        CHECK_TEXT("f", own.output);
        CHECK(words.argc == 0);
    }
    end();
}

static void a_switch_is_written_as_with_gflags(void)
{
    static const struct {
        const char *line;
        bool brief;
    } cases[] = {{"--short", true},        {"-short", true},
                 {"--short=true", true},   {"--short=false", false},
                 {"--short --noshort", 0}, {"--short --no-short", false},
                 {"--short -noshort", 0},  {"--noshort --short", true}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_OK(parse(cases[i].line));
        CHECK(own.brief == cases[i].brief);
    }
    CHECK_OK(parse("--note"));
    CHECK(own.note);
    CHECK_OK(parse("--nonote"));
    CHECK(!own.note);
    end();
}

static void a_switch_does_not_take_the_next_word(void)
{
    CHECK_OK(parse("--short false"));
    CHECK(own.brief);
    CHECK_TEXT("false", words.argv[0]);
    end();
}

static void dashes_and_underscores_are_the_same(void)
{
    CHECK_OK(parse("--max_iterations 7"));
    CHECK(own.iterations == 7);
    CHECK_OK(parse("-max-iterations=8"));
    CHECK(own.iterations == 8);
    end();
}

static void a_value_may_begin_with_a_dash_or_have_an_equals_sign(void)
{
    CHECK_OK(parse("--output -"));
    CHECK_TEXT("-", own.output);
    CHECK_OK(parse("--output=a=b"));
    CHECK_TEXT("a=b", own.output);
    CHECK_OK(parse("--output="));
    CHECK_TEXT("", own.output);
    end();
}

static void options_may_stand_among_arguments(void)
{
    CHECK_OK(parse("a --short - --help"));
    CHECK(own.brief && common.help && words.argc == 2);
    CHECK_TEXT("a", words.argv[0]);
    CHECK_TEXT("-", words.argv[1]);
    end();
}

static void two_dashes_end_the_options(void)
{
    CHECK_OK(parse("--short -- --help --"));
    CHECK(own.brief && !common.help && words.argc == 2);
    CHECK_TEXT("--help", words.argv[0]);
    CHECK_TEXT("--", words.argv[1]);
    end();
}

static void leading_options_end_at_the_first_argument(void)
{
    CHECK_OK(parse_some("--help print --short", true));
    CHECK(common.help && !own.brief && words.argc == 2);
    CHECK_TEXT("--short", words.argv[1]);
    end();
}

static void every_setting_is_an_option(void)
{
    CHECK_OK(parse("--net-timeout 5s --net_fast a"));
    CHECK(net.timeout_ns == UINT64_C(5000000000) && net.fast && words.argc == 1);
    CHECK_TEXT("--net-timeout", psd_settings_entry(settings, 0)->place);
    CHECK_OK(parse("-net.timeout=6s -nonet-fast"));
    CHECK(net.timeout_ns == UINT64_C(6000000000) && !net.fast);
    end();
}

static void the_last_of_several_counts(void)
{
    CHECK_OK(parse("--output a --output b --net-timeout 1s --net-timeout 2s"));
    CHECK_TEXT("b", own.output);
    CHECK(net.timeout_ns == UINT64_C(2000000000));
    end();
}

static void of_a_list_all_count(void)
{
    CHECK_OK(parse("--set a=1,b=2 --output o -set=c=3"));
    CHECK_TEXT("a=1", own.sets[0]);
    CHECK_TEXT("b=2", own.sets[1]);
    CHECK_TEXT("c=3", own.sets[2]);
    CHECK(own.sets[3] == NULL);
    CHECK_STATUS(PSD_EINVAL, parse("--set"));
    CHECK_TEXT("option \"--set\" needs a value: TEXT,...", psd_error());
    end();
}

static void a_wrong_option_is_named(void)
{
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"--shrot", "unknown option \"--shrot\"; did you mean \"--short\"?"},
        {"-outptu=f", "unknown option \"-outptu\"; did you mean \"--output\"?"},
        {"--net-timout 5s", "unknown option \"--net-timout\"; did you mean \"--net-timeout\"?"},
        {"--zzzzzz", "unknown option \"--zzzzzz\""},
        {"--=x", "unknown option \"--\""},
        {"--output", "option \"--output\" needs a value: FILE"},
        {"--form", "option \"--form\" needs a value: text|binary"},
        {"--max-iterations", "option \"--max-iterations\" needs a value: N"},
        {"--noshort=false", "option \"--noshort\" takes no value"},
        {"--nooutput", "unknown option \"--nooutput\"; did you mean \"--output\"?"},
        {"--short=maybe", "--short: \"maybe\" is not on or off"},
        {"--max-iterations 0", "--max-iterations: \"0\" is not a whole number from 1 to 1000"},
        {"--form txt", "--form: \"txt\" is not one of text, binary; did you mean \"text\"?"},
        {"--net-timeout 5", "--net-timeout: \"5\" is not a time such as 500ms, 10s, 2m or 1h"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(PSD_EINVAL, parse(cases[i].line));
        CHECK_TEXT(cases[i].sentence, psd_error());
    }
    end();
}

static void every_failed_allocation_is_survived(void)
{
    bool failed = true;

    CHECK_OK(parse("a"));
    for (long n = 0; failed; n++) {
        char output[] = "--output=f", set[] = "--set=a,b", timeout[] = "--net-timeout=5s";
        int argc = 3;
        psd_alloc_fail_at(n);
        psd_status status =
            psd_options_parse(sets, settings, false, &argc, (char *[]){output, set, timeout});
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
    end();
}

int main(int argc, char **argv)
{
    RUN(options_without_mention_have_their_initial_value)
    RUN(a_value_is_written_in_four_ways)
    RUN(a_switch_is_written_as_with_gflags)
    RUN(a_switch_does_not_take_the_next_word)
    RUN(dashes_and_underscores_are_the_same)
    RUN(a_value_may_begin_with_a_dash_or_have_an_equals_sign)
    RUN(options_may_stand_among_arguments)
    RUN(two_dashes_end_the_options)
    RUN(leading_options_end_at_the_first_argument)
    RUN(every_setting_is_an_option)
    RUN(the_last_of_several_counts)
    RUN(of_a_list_all_count)
    RUN(a_wrong_option_is_named)
    RUN(every_failed_allocation_is_survived)
}
