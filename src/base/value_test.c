/* value_test.c - what a person may write, and what is made of it. */
#include "base/alloc.h"
#include "base/value.h"
#include "test.h"

enum level { LEVEL_LOW, LEVEL_HIGH };
static const char *const levels[] = {"low", "high", NULL};

struct config {
    bool flag;
    int64_t port;
    double rate;
    size_t window;
    uint64_t timeout_ns;
    double speed;
    char *name;
    enum level level;
    char **names;
    struct psd_value_ports ports;
};

static const struct psd_value flag = PSD_BOOL(struct config, flag);
static const struct psd_value port = PSD_INT(struct config, port, 1, 65535);
static const struct psd_value rate = PSD_DOUBLE(struct config, rate);
static const struct psd_value window = PSD_SIZE(struct config, window);
static const struct psd_value timeout = PSD_TIME(struct config, timeout_ns);
static const struct psd_value speed = PSD_SPEED(struct config, speed);
static const struct psd_value name = PSD_TEXT(struct config, name);
static const struct psd_value level = PSD_CHOICE(struct config, level, levels);
static const struct psd_value names = PSD_LIST(struct config, names);

static const struct psd_value ports = PSD_PORTS(struct config, ports);

static void a_switch_has_four_pairs_of_words(void)
{
    static const char *const on[] = {"on", "true", "yes", "1", "ON"};
    static const char *const off[] = {"off", "false", "no", "0", "False"};
    struct config config = {0};

    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        CHECK_OK(psd_value_parse(&flag, on[i], &config));
        CHECK(config.flag);
        CHECK_OK(psd_value_parse(&flag, off[i], &config));
        CHECK(!config.flag);
    }
}

static void numbers_are_read_whole(void)
{
    struct config config = {0};

    CHECK_OK(psd_value_parse(&port, "65535", &config));
    CHECK(config.port == 65535);
    CHECK_OK(psd_value_parse(&rate, "-2.5e-3", &config));
    CHECK_NEAR(config.rate, -0.0025, 0);
}

static void ports_are_one_or_a_range(void)
{
    static const char *const wrong[] = {"",         "0",        "65536", "7070-",
                                        "-7070",    "7070 ",    "x7070", "7070-7069",
                                        "70-65536", "70-80-90", "7070-0"};
    struct config config = {0};

    CHECK_OK(psd_value_parse(&ports, "7070", &config));
    CHECK(config.ports.first == 7070 && config.ports.last == 0);
    CHECK_OK(psd_value_parse(&ports, "1-65535", &config));
    CHECK(config.ports.first == 1 && config.ports.last == 65535);
    CHECK_OK(psd_value_parse(&ports, "80-80", &config));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_STATUS(PSD_ECONFIG, psd_value_parse(&ports, wrong[i], &config));
    CHECK(config.ports.first == 80 && config.ports.last == 80);
    CHECK_OK(psd_value_check(&ports, "7070-7099"));
    CHECK_STATUS(PSD_ECONFIG, psd_value_check(&ports, "all"));
    CHECK_TEXT("\"all\" is not a port such as 7070, or a range such as 7070-7099", psd_error());
}

static void sizes_are_bytes(void)
{
    struct config config = {0};

    CHECK_OK(psd_value_parse(&window, "512", &config));
    CHECK(config.window == 512);
    CHECK_OK(psd_value_parse(&window, "64K", &config));
    CHECK(config.window == 65536);
    CHECK_OK(psd_value_parse(&window, "2MiB", &config));
    CHECK(config.window == 2097152);
    CHECK_OK(psd_value_parse(&window, "3g", &config));
    CHECK(config.window == UINT64_C(3221225472));
}

static void times_are_nanoseconds(void)
{
    struct config config = {0};

    CHECK_OK(psd_value_parse(&timeout, "10s", &config));
    CHECK(config.timeout_ns == UINT64_C(10000000000));
    CHECK_OK(psd_value_parse(&timeout, "500ms", &config));
    CHECK(config.timeout_ns == 500000000);
    CHECK_OK(psd_value_parse(&timeout, "2m", &config));
    CHECK(config.timeout_ns == UINT64_C(120000000000));
    CHECK_OK(psd_value_parse(&timeout, "1h", &config));
    CHECK(config.timeout_ns == UINT64_C(3600000000000));
    CHECK_OK(psd_value_parse(&timeout, "0", &config));
    CHECK(config.timeout_ns == 0);
}

static void speeds_are_bytes_a_second(void)
{
    static const struct {
        const char *text;
        double bytes;
    } cases[] = {
        {"10Gbit", 1.25e9}, {"2.5Gbit/s", 312.5e6}, {"800mbit", 100e6},
        {"8bit/S", 1},      {"64Kbit", 8000},       {"1Tbit", 125e9},
        {"1.2GB/s", 1.2e9}, {"3MB", 3e6},           {"1e3KB/s", 1000e3},
        {"5b", 5},
    };
    struct config config = {0};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_OK(psd_value_parse(&speed, cases[i].text, &config));
        CHECK_NEAR(config.speed, cases[i].bytes, 1e-6);
    }
}

static void text_is_copied_and_belongs_to_the_structure(void)
{
    struct config config = {0};
    char written[] = "eth0";

    CHECK_OK(psd_value_parse(&name, written, &config));
    written[0] = 'x';
    CHECK_TEXT("eth0", config.name);
    CHECK_OK(psd_value_parse(&name, "", &config));
    CHECK_TEXT("", config.name);
    psd_value_clear(&name, &config);
    CHECK(config.name == NULL);
}

static void a_list_grows_by_what_is_between_commas(void)
{
    struct config config = {0};

    CHECK_OK(psd_value_parse(&names, "", &config));
    CHECK(config.names == NULL);
    CHECK_OK(psd_value_parse(&names, "a,b c,,", &config));
    CHECK_OK(psd_value_parse(&names, "d", &config));
    CHECK_TEXT("a", config.names[0]);
    CHECK_TEXT("b c", config.names[1]);
    CHECK_TEXT("d", config.names[2]);
    CHECK(config.names[3] == NULL);
    CHECK_OK(psd_value_check(&names, "e"));
    CHECK(config.names[3] == NULL);
    psd_value_clear(&names, &config);
    CHECK(config.names == NULL);
}

static void a_choice_is_its_place_among_the_words(void)
{
    struct config config = {0};

    CHECK_OK(psd_value_parse(&level, "high", &config));
    CHECK(config.level == LEVEL_HIGH);
}

static void a_wrong_value_changes_nothing_and_says_what_is_right(void)
{
    static const struct {
        const struct psd_value *value;
        const char *text, *sentence;
    } cases[] = {
        {&flag, "maybe", "\"maybe\" is not on or off"},
        {&flag, "", "\"\" is not on or off"},
        {&port, "0", "\"0\" is not a whole number from 1 to 65535"},
        {&port, "8x", "\"8x\" is not a whole number from 1 to 65535"},
        {&port, " 8", "\" 8\" is not a whole number from 1 to 65535"},
        {&port, "99999999999999999999",
         "\"99999999999999999999\" is not a whole number from 1 to 65535"},
        {&rate, "nan", "\"nan\" is not a number such as 0.5 or 1e-3"},
        {&rate, "0,5", "\"0,5\" is not a number such as 0.5 or 1e-3"},
        {&speed, "10", "\"10\" is not a speed such as 10Gbit, 800Mbit or 1.2GB/s"},
        {&speed, "0Gbit", "\"0Gbit\" is not a speed such as 10Gbit, 800Mbit or 1.2GB/s"},
        {&speed, "-1Gbit", "\"-1Gbit\" is not a speed such as 10Gbit, 800Mbit or 1.2GB/s"},
        {&speed, "10 Gbit", "\"10 Gbit\" is not a speed such as 10Gbit, 800Mbit or 1.2GB/s"},
        {&speed, "/s", "\"/s\" is not a speed such as 10Gbit, 800Mbit or 1.2GB/s"},
        {&speed, "10/s", "\"10/s\" is not a speed such as 10Gbit, 800Mbit or 1.2GB/s"},
        {&speed, "1e308GB", "\"1e308GB\" is not a speed such as 10Gbit, 800Mbit or 1.2GB/s"},
        {&window, "-1", "\"-1\" is not a size such as 512, 64K, 2M or 1G"},
        {&window, "64KB", "\"64KB\" is not a size such as 512, 64K, 2M or 1G"},
        {&window, "99999999T", "\"99999999T\" is not a size such as 512, 64K, 2M or 1G"},
        {&timeout, "10", "\"10\" is not a time such as 500ms, 10s, 2m or 1h"},
        {&timeout, "s", "\"s\" is not a time such as 500ms, 10s, 2m or 1h"},
        {&level, "hihg", "\"hihg\" is not one of low, high; did you mean \"high\"?"},
        {&level, "42", "\"42\" is not one of low, high"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config config = {.port = 7, .rate = 7, .window = 7, .timeout_ns = 7};
        CHECK_STATUS(PSD_ECONFIG, psd_value_parse(cases[i].value, cases[i].text, &config));
        CHECK_TEXT(cases[i].sentence, psd_error());
        CHECK(config.port == 7 && config.window == 7 && config.timeout_ns == 7);
        CHECK_NEAR(config.rate, 7, 0);
        CHECK(!config.flag && config.level == LEVEL_LOW);
    }
}

static void an_endless_value_is_not_repeated_in_full(void)
{
    struct config config = {0};
    char endless[1000];

    memset(endless, '9', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    CHECK_STATUS(PSD_ECONFIG, psd_value_parse(&port, endless, &config));
    CHECK(strlen(psd_error()) < 200);
}

static void ranges_open_at_one_end_say_so(void)
{
    static const struct psd_value any = PSD_INT(struct config, port, INT64_MIN, INT64_MAX);
    static const struct psd_value some = PSD_INT(struct config, port, 1, INT64_MAX);
    char out[100];

    CHECK_TEXT("a whole number", psd_value_accepts(&any, out, sizeof out));
    CHECK_TEXT("a whole number of 1 or more", psd_value_accepts(&some, out, sizeof out));
}

static void without_memory_the_old_text_stays(void)
{
    struct config config = {0};

    CHECK_OK(psd_value_parse(&name, "old", &config));
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_value_parse(&name, "new", &config));
    CHECK(psd_alloc_fail_at(-1));
    CHECK_TEXT("old", config.name);
    psd_value_clear(&name, &config);
}

int main(int argc, char **argv)
{
    RUN(a_switch_has_four_pairs_of_words)
    RUN(numbers_are_read_whole)
    RUN(ports_are_one_or_a_range)
    RUN(sizes_are_bytes)
    RUN(times_are_nanoseconds)
    RUN(speeds_are_bytes_a_second)
    RUN(text_is_copied_and_belongs_to_the_structure)
    RUN(a_list_grows_by_what_is_between_commas)
    RUN(a_choice_is_its_place_among_the_words)
    RUN(a_wrong_value_changes_nothing_and_says_what_is_right)
    RUN(an_endless_value_is_not_repeated_in_full)
    RUN(ranges_open_at_one_end_say_so)
    RUN(without_memory_the_old_text_stays)
}
