/* text_file_test.c - a text becomes a file when it is saved. */
#include "base/file.h"
#include "cli/text_file.h"
#include "test.h"

static void a_text_becomes_a_file_when_it_is_saved(void)
{
    struct psd_text_file text;
    struct psd_file file;

    CHECK_OK(psd_text_file_begin(&text));
    fprintf(text.out, "one %d\n", 2);
    CHECK_STATUS(PSD_ECONFIG, psd_file_open(test_path("a.txt"), &file));
    CHECK_OK(psd_text_file_save(&text, test_path("a.txt")));
    CHECK_OK(psd_file_open(test_path("a.txt"), &file));
    CHECK(file.size == 6 && memcmp(file.data, "one 2\n", 6) == 0);
    psd_file_close(&file);
}

static void a_place_that_is_not_there_is_a_failure(void)
{
    struct psd_text_file text;

    CHECK_OK(psd_text_file_begin(&text));
    CHECK_STATUS(PSD_ECONFIG, psd_text_file_save(&text, test_path("nowhere/a.txt")));
    CHECK_OK(psd_text_file_begin(&text));
    CHECK_OK(psd_text_file_save(&text, NULL)); /* which only frees it */
}

static void whether_it_can_be_written_is_known_before(void)
{
    struct psd_file file;

    CHECK_STATUS(PSD_ECONFIG, psd_text_file_try(test_path("nowhere/a.txt")));
    CHECK(strstr(psd_error(), "nowhere/a.txt: No such file or directory"));
    CHECK_STATUS(PSD_ECONFIG, psd_text_file_try(test_path("")));
    CHECK_OK(psd_text_file_try(test_path("b.txt")));
    CHECK_STATUS(PSD_ECONFIG, psd_file_open(test_path("b.txt"), &file)); /* nothing is left there */
    CHECK_OK(psd_text_file_try(NULL));
    CHECK_OK(psd_text_file_try("-"));
    CHECK_OK(psd_text_file_try("/dev/null"));
}

int main(int argc, char **argv)
{
    RUN(a_text_becomes_a_file_when_it_is_saved)
    RUN(whether_it_can_be_written_is_known_before)
    RUN(a_place_that_is_not_there_is_a_failure)
}
