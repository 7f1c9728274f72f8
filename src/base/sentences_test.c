/* sentences_test.c - many sentences, one failure. */
#include "base/sentences.h"
#include "test.h"

static void no_mistake_is_no_failure(void)
{
    struct psd_sentences sentences = {0};

    CHECK_OK(psd_sentences_status(&sentences));
}

static void each_mistake_is_a_line(void)
{
    struct psd_sentences sentences = {0};

    psd_fail(PSD_EINVAL, "what");
    psd_sentences_add(&sentences, "a:%d: %s", 1, psd_error());
    psd_sentences_add(&sentences, "a:%d: no", 2);
    CHECK_STATUS(PSD_ECONFIG, psd_sentences_status(&sentences));
    CHECK_TEXT("a:1: what\na:2: no", psd_error());
}

static void what_does_not_fit_on_a_screen_is_left_out(void)
{
    struct psd_sentences sentences = {0};

    for (int i = 0; i < 27; i++)
        psd_sentences_add(&sentences, "mistake");
    CHECK_STATUS(PSD_ECONFIG, psd_sentences_status(&sentences));
    CHECK(strstr(psd_error(), "mistake\nthere is more to correct after these"));
}

static void a_sentence_too_long_is_left_out(void)
{
    static char endless[10000];
    struct psd_sentences sentences = {0};

    memset(endless, 'x', sizeof endless - 1);
    psd_sentences_add(&sentences, "%s", endless);
    psd_sentences_add(&sentences, "second");
    psd_sentences_add(&sentences, "%s", endless);
    psd_sentences_add(&sentences, "fourth");
    CHECK_STATUS(PSD_ECONFIG, psd_sentences_status(&sentences));
    CHECK_TEXT("second\nfourth\nthere is more to correct after these", psd_error());
}

int main(int argc, char **argv)
{
    RUN(no_mistake_is_no_failure)
    RUN(each_mistake_is_a_line)
    RUN(what_does_not_fit_on_a_screen_is_left_out)
    RUN(a_sentence_too_long_is_left_out)
}
