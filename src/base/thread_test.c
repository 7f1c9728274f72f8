/* thread_test.c - what a thread of the library is like. */
#include "base/alloc.h"
#include "base/thread.h"
#include "test.h"

#include <signal.h>

struct look {
    char name[16];
    sigset_t blocked;
    int runs;
};

static void look_around(void *arg)
{
    struct look *look = arg;

    look->runs++;
    pthread_getname_np(pthread_self(), look->name, sizeof look->name);
    pthread_sigmask(SIG_BLOCK, NULL, &look->blocked);
}

static struct look look_from(const char *name)
{
    struct look look = {.runs = 0};
    pthread_t thread;

    CHECK_OK(psd_thread_start(name, look_around, &look, &thread));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(look.runs == 1);
    return look;
}

static void a_thread_has_its_name(void)
{
    CHECK_TEXT("psd-test", look_from("psd-test").name);
}

static void a_long_name_is_cut(void)
{
    CHECK_TEXT("psd-with-a-long", look_from("psd-with-a-long-name").name);
}

static void signals_of_the_application_pass_it_by(void)
{
    struct look look = look_from("psd-test");

    CHECK(sigismember(&look.blocked, SIGINT) == 1);
    CHECK(sigismember(&look.blocked, SIGTERM) == 1);
    CHECK(sigismember(&look.blocked, SIGCHLD) == 1);
    CHECK(sigismember(&look.blocked, SIGSEGV) == 0);
    CHECK(sigismember(&look.blocked, SIGPROF) == 0);
}

static void its_maker_keeps_its_own_signals(void)
{
    sigset_t before, after;

    pthread_sigmask(SIG_BLOCK, NULL, &before);
    look_from("psd-test");
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    CHECK(sigismember(&after, SIGINT) == sigismember(&before, SIGINT));
    CHECK(sigismember(&after, SIGTERM) == 0);
}

static void start_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct look look = {.runs = 0};
        pthread_t thread;
        psd_alloc_fail_at(n);
        psd_status status = psd_thread_start("psd-test", look_around, &look, &thread);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        if (!failed)
            CHECK(pthread_join(thread, NULL) == 0);
        CHECK(look.runs == (failed ? 0 : 1));
    }
}

static void there_is_a_processor_to_run_on(void)
{
    CHECK(psd_thread_processors() >= 1);
}

int main(int argc, char **argv)
{
    RUN(a_thread_has_its_name)
    RUN(a_long_name_is_cut)
    RUN(signals_of_the_application_pass_it_by)
    RUN(its_maker_keeps_its_own_signals)
    RUN(start_survives_every_failed_allocation)
    RUN(there_is_a_processor_to_run_on)
}
