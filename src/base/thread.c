/* thread.c - a thread with a name and without signals. */
#include "base/thread.h"
#include "base/alloc.h"
#include "base/status.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>

/* What a new thread is told; it frees it. */
struct start {
    const char *name;
    void (*run)(void *arg);
    void *arg;
};

static void *begin(void *arg)
{
    struct start start = *(struct start *)arg;
    char name[16]; /* the most that the system keeps */

    psd_alloc_free(arg);
    snprintf(name, sizeof name, "%s", start.name);
    pthread_setname_np(pthread_self(), name); /* a thread without a name works as well */
    start.run(start.arg);
    return NULL;
}

/* All signals except those that a thread raises itself by a fault, which sanitizers and crash
 * handlers want to see, and those of profilers. */
static void fill_with_foreign_signals(sigset_t *set)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF};

    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(set, own[i]);
}

psd_status psd_thread_start(const char *name, void (*run)(void *arg), void *arg, pthread_t *out)
{
    struct start *start = psd_alloc(sizeof *start);
    sigset_t foreign, before;
    pthread_t thread;

    if (!start)
        return PSD_ENOMEM;
    *start = (struct start){.name = name, .run = run, .arg = arg};
    fill_with_foreign_signals(&foreign);
    pthread_sigmask(SIG_BLOCK, &foreign, &before); /* a new thread inherits its maker's mask */
    int error = pthread_create(&thread, NULL, begin, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        psd_alloc_free(start);
        return psd_fail(PSD_ENOMEM, "the system has no thread left for %s (error %d)", name, error);
    }
    *out = thread;
    return PSD_OK;
}

unsigned psd_thread_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}
