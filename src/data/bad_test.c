/* bad_test.c - limits as people write them, and counting. */
#include "base/alloc.h"
#include "data/bad.h"
#include "test.h"

static uint64_t most_of(const char *text, uint64_t records)
{
    struct psd_bad_limit limit = {0};
    struct psd_bad bad;

    if (text)
        CHECK_OK(psd_bad_parse(text, &limit));
    CHECK_OK(psd_bad_init(&bad, records, &limit));
    uint64_t most = bad.most;
    psd_bad_fini(&bad);
    return most;
}

static void a_limit_is_a_number_or_a_share(void)
{
    CHECK(most_of(NULL, 60000) == 60);
    CHECK(most_of(NULL, 999) == 0);
    CHECK(most_of("0", 60000) == 0);
    CHECK(most_of("25", 60000) == 25);
    CHECK(most_of("0%", 60000) == 0);
    CHECK(most_of("0.5%", 1000) == 5);
    CHECK(most_of("100%", 10) == 10);
    CHECK(most_of("0.7%", 1000) == 7); /* although 0.7 / 100 is a little less in binary */
    CHECK(most_of("2.3%", 50000) == 1150);
    CHECK(most_of("0.1%", 999) == 0);
}

static void other_texts_are_no_limit(void)
{
    static const char *const texts[] = {"",  "-1",  "many", "5 ",     "5%%", "101%",
                                        "%", "0.5", "nan%", "0x1p3%", "1e3", "99999999999999999999",
                                        " 5"};
    struct psd_bad_limit limit = {.count = 7};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fprintf(stderr, "    \"%s\"\n", texts[i]);
        CHECK_STATUS(PSD_ECONFIG, psd_bad_parse(texts[i], &limit));
        CHECK(limit.count == 7);
    }
}

static void a_record_is_counted_once(void)
{
    struct psd_bad bad;

    CHECK_OK(psd_bad_init(&bad, 100, &(struct psd_bad_limit){PSD_BAD_COUNT, 2, 0}));
    CHECK(!psd_bad_has(&bad, 99));
    CHECK(psd_bad_add(&bad, 99) && psd_bad_add(&bad, 99) && psd_bad_add(&bad, 64));
    CHECK(psd_bad_has(&bad, 99) && psd_bad_has(&bad, 64) && !psd_bad_has(&bad, 63));
    CHECK(bad.count == 2);
    CHECK(!psd_bad_add(&bad, 0) && bad.count == 3);
    psd_bad_fini(&bad);
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_bad_init(&bad, 100, &(struct psd_bad_limit){0}));
    psd_alloc_fail_at(-1);
}

int main(int argc, char **argv)
{
    RUN(a_limit_is_a_number_or_a_share)
    RUN(other_texts_are_no_limit)
    RUN(a_record_is_counted_once)
}
