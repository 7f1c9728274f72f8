/* offspring.c - the kernel's list of our children. */
#include "cli/offspring.h"
#include "base/clock.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Between two looks, and for all looks together. */
static const uint64_t look_ns = 5 * PSD_CLOCK_MS, patience_ns = 5 * PSD_CLOCK_S;

bool psd_offspring_adopt(bool adopts)
{
    int before = 0;

    (void)prctl(PR_GET_CHILD_SUBREAPER, &before);
    (void)prctl(PR_SET_CHILD_SUBREAPER, adopts ? 1UL : 0UL);
    return before != 0;
}

void psd_offspring_list(struct psd_offspring *out)
{
    FILE *file = fopen("/proc/thread-self/children", "re");
    int id = 0;

    out->count = 0;
    if (!file)
        return;
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers */
    while (out->count < PSD_OFFSPRING_MOST && fscanf(file, "%d", &id) == 1)
        out->ids[out->count++] = (pid_t)id;
    fclose(file);
}

static bool is_among(const struct psd_offspring *offspring, pid_t id)
{
    for (size_t i = 0; offspring && i < offspring->count; i++) {
        if (offspring->ids[i] == id)
            return true;
    }
    return false;
}

void psd_offspring_signal(int number, const struct psd_offspring *spared)
{
    struct psd_offspring all;

    psd_offspring_list(&all);
    for (size_t i = 0; i < all.count; i++) {
        if (!is_among(spared, all.ids[i]))
            kill(all.ids[i], number);
    }
}

/* Waits for those that have ended; whether others are left. */
static bool reap(const struct psd_offspring *spared)
{
    struct psd_offspring all;
    bool is_left = false;

    psd_offspring_list(&all);
    for (size_t i = 0; i < all.count; i++) {
        if (!is_among(spared, all.ids[i]))
            is_left = waitpid(all.ids[i], NULL, WNOHANG) == 0 || is_left;
    }
    return is_left || all.count == PSD_OFFSPRING_MOST;
}

void psd_offspring_end(const struct psd_offspring *spared)
{
    uint64_t deadline = psd_clock_now() + patience_ns;

    do {
        psd_offspring_signal(SIGKILL, spared);
        psd_clock_sleep_until(psd_clock_now() + look_ns);
    } while (reap(spared) && psd_clock_now() < deadline);
}
