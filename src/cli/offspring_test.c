/* offspring_test.c - children, and children of children that have ended. */
#include "cli/offspring.h"
#include "gone.h"

#include <signal.h>

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

/* A child that has a child, which hides as well as it can, and ends. Returns the grandchild. */
static pid_t leave_an_orphan(void)
{
    pid_t orphan = 0;
    int ends[2];

    CHECK(pipe(ends) == 0);
    pid_t id = fork();
    if (id == 0) {
        orphan = fork();
        if (orphan == 0) {
            setsid();
            signal(SIGTERM, SIG_IGN);
            orphan = getpid();
            CHECK(write(ends[1], &orphan, sizeof orphan) == sizeof orphan);
            sleep_for_ever();
        }
        _exit(0);
    }
    CHECK(read(ends[0], &orphan, sizeof orphan) == sizeof orphan);
    CHECK(waitpid(id, NULL, 0) == id);
    return orphan;
}

static bool is_listed(pid_t id)
{
    struct psd_offspring all;

    psd_offspring_list(&all);
    for (size_t i = 0; i < all.count; i++) {
        if (all.ids[i] == id)
            return true;
    }
    return false;
}

static void orphans_become_ours_and_end(void)
{
    struct psd_offspring spared;
    pid_t child = fork();

    if (child == 0)
        sleep_for_ever();
    psd_offspring_list(&spared);
    CHECK(spared.count == 1 && spared.ids[0] == child);
    CHECK(!psd_offspring_adopt(true));
    pid_t orphans[] = {leave_an_orphan(), leave_an_orphan()};
    CHECK(is_listed(orphans[0]) && is_listed(orphans[1]));
    psd_offspring_end(&spared);
    CHECK(gone(orphans[0]) && gone(orphans[1]) && !gone(child));
    psd_offspring_end(NULL);
    CHECK(gone(child) && waitpid(-1, NULL, 0) < 0);
    CHECK(psd_offspring_adopt(false));
    CHECK(!psd_offspring_adopt(false));
}

static void more_than_a_list_holds_end_too(void)
{
    struct psd_offspring all;

    for (int i = 0; i < PSD_OFFSPRING_MOST + 10; i++) {
        pid_t id = fork();
        CHECK(id >= 0);
        if (id == 0)
            sleep_for_ever();
    }
    psd_offspring_list(&all);
    CHECK(all.count == PSD_OFFSPRING_MOST);
    psd_offspring_end(NULL);
    CHECK(waitpid(-1, NULL, 0) < 0);
}

static void without_children_nothing_is_waited_for(void)
{
    struct psd_offspring all;

    psd_offspring_list(&all);
    CHECK(all.count == 0);
    psd_offspring_signal(SIGKILL, NULL);
    psd_offspring_end(NULL);
}

int main(int argc, char **argv)
{
    RUN(orphans_become_ours_and_end)
    RUN(more_than_a_list_holds_end_too)
    RUN(without_children_nothing_is_waited_for)
}
