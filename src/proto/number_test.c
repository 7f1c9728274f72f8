/* number_test.c - numbers as the text format writes them. */
#include "base/random.h"
#include "proto/number.h"
#include "test.h"

#include <float.h>
#include <langinfo.h>
#include <locale.h>

static void whole_numbers_are_decimal_hexadecimal_or_octal(void)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"0", 0},
        {"17", 17},
        {"0x11", 17},
        {"0XfF", 255},
        {"021", 17},
        {"00", 0},
        {"18446744073709551615", UINT64_MAX},
        {"0xffffffffffffffff", UINT64_MAX},
        {"01777777777777777777777", UINT64_MAX},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 99;
        CHECK(psd_number_whole(cases[i].text, strlen(cases[i].text), &value));
        CHECK(value == cases[i].value);
    }
}

static void what_is_no_whole_number_leaves_the_value_alone(void)
{
    static const char *const texts[] = {"",
                                        "x",
                                        "-1",
                                        "+1",
                                        " 1",
                                        "1.0",
                                        "1e3",
                                        "08",
                                        "0x",
                                        "0xg",
                                        "12abc",
                                        "18446744073709551616",
                                        "0x10000000000000000",
                                        "02000000000000000000000",
                                        "99999999999999999999999999"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint64_t value = 99;
        fprintf(stderr, "    %s\n", texts[i]);
        CHECK(!psd_number_whole(texts[i], strlen(texts[i]), &value) && value == 99);
    }
}

static void only_the_given_length_is_read(void)
{
    uint64_t whole = 0;
    float real = 0;

    CHECK(psd_number_whole("123456", 3, &whole) && whole == 123);
    CHECK(psd_number_float("1.53e9", 3, &real) && real == 1.5f);
}

static void real_numbers_have_fractions_exponents_and_an_f(void)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"17", 17},
        {"0.5", 0.5},
        {".5", 0.5},
        {"5.", 5},
        {"5f", 5},
        {"0.25F", 0.25},
        {"1e3", 1000},
        {"1E+3", 1000},
        {"125e-3", 0.125},
        {"1e3f", 1000},
        {"inf", (double)INFINITY},
        {"Infinity", (double)INFINITY},
        {"INF", (double)INFINITY},
        {"16777216", 16777216},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float real = -1;
        double real64 = -1;
        fprintf(stderr, "    %s\n", cases[i].text);
        CHECK(psd_number_float(cases[i].text, strlen(cases[i].text), &real));
        CHECK(psd_number_double(cases[i].text, strlen(cases[i].text), &real64));
        CHECK((double)real == cases[i].value && real64 == cases[i].value);
    }
}

static void nan_is_a_number_of_its_own(void)
{
    float real = 0;
    double real64 = 0;

    CHECK(psd_number_float("nan", 3, &real) && isnan(real));
    CHECK(psd_number_double("NaN", 3, &real64) && isnan(real64));
}

static void what_is_no_real_number_leaves_the_value_alone(void)
{
    static const char *const texts[] = {"",      "f",   "-1",   "+1",   " 1",     "1 ",    "0x10",
                                        "0x1p3", "010", "1e",   "1e+",  "1.2.3",  "12abc", "1_000",
                                        "1,5",   "e5",  "inff", "nanf", "nan(1)", ".",     ".e1"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        float real = 99;
        double real64 = 99;
        fprintf(stderr, "    \"%s\"\n", texts[i]);
        CHECK(!psd_number_float(texts[i], strlen(texts[i]), &real) && real == 99);
        CHECK(!psd_number_double(texts[i], strlen(texts[i]), &real64) && real64 == 99);
    }
}

static void a_number_too_large_for_its_type_is_none(void)
{
    float real = 99;
    double real64 = 99;
    char endless[1001];

    CHECK(!psd_number_float("1e39", 4, &real) && psd_number_double("1e39", 4, &real64));
    CHECK(!psd_number_double("1e309", 5, &real64));
    memset(endless, '1', sizeof endless);
    CHECK(!psd_number_float(endless, sizeof endless, &real));
    CHECK(!psd_number_double(endless, sizeof endless, &real64));
    CHECK(real == 99 && real64 == 1e39);
}

static void a_tiny_number_is_rounded_to_what_there_is(void)
{
    float real = 99;

    CHECK(psd_number_float("1e-45", 5, &real) && real == FLT_TRUE_MIN);
    CHECK(psd_number_float("1e-400", 6, &real) && real == 0);
}

/* 1 + 2^-24 is half way between two floats; a bit below the double's last makes it more than that,
 * and is lost if the number is a double first. */
static void a_float_is_rounded_once(void)
{
    const char text[] = "1.000000059604644775390625000000000001";
    float real = 0;

    CHECK(psd_number_float(text, strlen(text), &real) && real == 1 + FLT_EPSILON);
}

static void numbers_are_printed_in_the_fewest_digits(void)
{
    static const struct {
        double value;
        const char *as_float, *as_double;
    } cases[] = {
        {0, "0", "0"},
        {-0.0, "-0", "-0"},
        {0.5, "0.5", "0.5"},
        {-17, "-17", "-17"},
        {1e6, "1e+06", "1000000"},
        {16777216, "16777216", "16777216"},
        {1e-5, "1e-05", "1e-05"},
        {0.1, "0.1", "0.1"},
        {(double)INFINITY, "inf", "inf"},
        {-(double)INFINITY, "-inf", "-inf"},
        {(double)NAN, "nan", "nan"},
    };
    char out[PSD_NUMBER_ROOM];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        psd_number_print_float((float)cases[i].value, out);
        CHECK_TEXT(cases[i].as_float, out);
        psd_number_print_double(cases[i].value, out);
        CHECK_TEXT(cases[i].as_double, out);
    }
}

static bool float_comes_back(float value)
{
    char out[PSD_NUMBER_ROOM];
    float back = 0;

    psd_number_print_float(value, out);
    bool negative = *out == '-';
    CHECK(psd_number_float(out + negative, strlen(out) - negative, &back));
    back = negative ? -back : back;
    return isnan(value) ? isnan(back) : back == value && signbit(back) == signbit(value);
}

static bool double_comes_back(double value)
{
    char out[PSD_NUMBER_ROOM];
    double back = 0;

    psd_number_print_double(value, out);
    bool negative = *out == '-';
    CHECK(psd_number_double(out + negative, strlen(out) - negative, &back));
    back = negative ? -back : back;
    return isnan(value) ? isnan(back) : back == value && signbit(back) == signbit(value);
}

static void every_number_comes_back_as_it_was(void)
{
    CHECK(float_comes_back(FLT_MAX) && float_comes_back(FLT_MIN) && float_comes_back(FLT_TRUE_MIN));
    CHECK(double_comes_back(DBL_MAX) && double_comes_back(DBL_TRUE_MIN));
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t words[4];
        float real;
        double real64;
        psd_random_block(1, 1, i, words);
        memcpy(&real, words, sizeof real);
        memcpy(&real64, words + 1, sizeof real64);
        CHECK(float_comes_back(real) && double_comes_back(real64));
    }
}

static bool writes_commas(const char *locale)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
    return setlocale(LC_ALL, locale) && strcmp(nl_langinfo(RADIXCHAR), ",") == 0;
}

/* An installed locale, or one made from its source for this test. */
static bool choose_locale_with_commas(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8", "ru_RU.UTF-8"};
    char folder[] = "/tmp/number_test.XXXXXX", command[200];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (writes_commas(names[i]))
            return true;
    }
    CHECK(mkdtemp(folder));
    snprintf(command, sizeof command, "localedef -i de_DE -f ISO-8859-1 %s/xx.ISO-8859-1 >&2",
             folder);
    int made = system(command);   /* NOLINT(concurrency-mt-unsafe, bugprone-command-processor) */
    setenv("LOCPATH", folder, 1); /* NOLINT(concurrency-mt-unsafe) */
    bool good = made == 0 && writes_commas("xx.ISO-8859-1");
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return good;
}

static void the_locale_of_the_program_changes_nothing(void)
{
    float real = 0;
    double real64 = 0;
    char out[PSD_NUMBER_ROOM];

    if (!choose_locale_with_commas())
        SKIP("no locale that writes numbers with a comma can be had");
    CHECK(psd_number_float("0.5", 3, &real) && real == 0.5f);
    CHECK(psd_number_double("0.5", 3, &real64) && real64 == 0.5);
    CHECK(!psd_number_float("0,5", 3, &real));
    psd_number_print_float(0.5f, out);
    CHECK_TEXT("0.5", out);
    psd_number_print_double(0.5, out);
    CHECK_TEXT("0.5", out);
    snprintf(out, sizeof out, "%.1f", 0.5);
    CHECK_TEXT("0,5", out); /* the program's own locale is as it was */
}

int main(int argc, char **argv)
{
    RUN(whole_numbers_are_decimal_hexadecimal_or_octal)
    RUN(what_is_no_whole_number_leaves_the_value_alone)
    RUN(only_the_given_length_is_read)
    RUN(real_numbers_have_fractions_exponents_and_an_f)
    RUN(nan_is_a_number_of_its_own)
    RUN(what_is_no_real_number_leaves_the_value_alone)
    RUN(a_number_too_large_for_its_type_is_none)
    RUN(a_tiny_number_is_rounded_to_what_there_is)
    RUN(a_float_is_rounded_once)
    RUN(numbers_are_printed_in_the_fewest_digits)
    RUN(every_number_comes_back_as_it_was)
    RUN(the_locale_of_the_program_changes_nothing)
}
