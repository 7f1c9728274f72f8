/* status_test.c - what the sentence of a failure promises. */
#include "base/status.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

static void there_is_no_sentence_before_the_first_failure(void)
{
    CHECK_TEXT("", psd_error());
}

static void a_failure_keeps_its_sentence(void)
{
    CHECK_STATUS(PSD_ECONFIG, psd_fail(PSD_ECONFIG, "open %s: %s", "a.prototxt", "gone"));
    CHECK_TEXT("open a.prototxt: gone", psd_error());
}

static void a_sentence_can_be_wrapped_in_another(void)
{
    psd_fail(PSD_ECONFIG, "no such layer");
    psd_fail(PSD_ECONFIG, "net.prototxt: %s", psd_error());
    CHECK_TEXT("net.prototxt: no such layer", psd_error());
}

static void a_sentence_without_end_is_cut(void)
{
    char endless[40000];

    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    psd_fail(PSD_EINVAL, "%s", endless);
    CHECK(strlen(psd_error()) < 20000);
    CHECK_TEXT("x...", psd_error() + strlen(psd_error()) - 4);
}

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    psd_fail(PSD_EPEER, "elsewhere");
    return NULL;
}

static void threads_do_not_see_each_others_sentences(void)
{
    pthread_t thread;

    psd_fail(PSD_EINVAL, "here");
    CHECK(pthread_create(&thread, NULL, fail_elsewhere, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK_TEXT("here", psd_error());
}

static psd_status try_twice(int *reached)
{
    PSD_TRY(PSD_OK);
    ++*reached;
    PSD_TRY(PSD_ENOSUP);
    ++*reached;
    return PSD_OK;
}

static void try_returns_at_the_first_failure(void)
{
    int reached = 0;

    CHECK_STATUS(PSD_ENOSUP, try_twice(&reached));
    CHECK(reached == 1);
}

static void every_status_has_its_name(void)
{
    CHECK_TEXT("PSD_OK", psd_status_name(PSD_OK));
    CHECK_TEXT("PSD_ENOSUP", psd_status_name(PSD_ENOSUP));
    CHECK_TEXT("an unknown status", psd_status_name((psd_status)-99));
}

static void the_version_is_that_of_the_headers(void)
{
    char expected[32];

    snprintf(expected, sizeof expected, "%d.%d.%d", PSD_VERSION_MAJOR, PSD_VERSION_MINOR,
             PSD_VERSION_PATCH);
    CHECK_TEXT(expected, psd_version());
    CHECK_TEXT(expected, PSD_VERSION);
}

int main(int argc, char **argv)
{
    RUN(there_is_no_sentence_before_the_first_failure)
    RUN(a_failure_keeps_its_sentence)
    RUN(a_sentence_can_be_wrapped_in_another)
    RUN(a_sentence_without_end_is_cut)
    RUN(threads_do_not_see_each_others_sentences)
    RUN(try_returns_at_the_first_failure)
    RUN(every_status_has_its_name)
    RUN(the_version_is_that_of_the_headers)
}
