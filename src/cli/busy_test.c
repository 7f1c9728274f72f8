/* busy_test.c - seconds of processors. */
#include "cli/busy.h"
#include "test.h"

#include <time.h>

static void idle_time_is_not_counted(void)
{
    CHECK_NEAR(psd_busy_parse("cpu  100 20 30 9000 500 4 6 40 0 0\n", 100), 2.0, 1e-9);
    CHECK_NEAR(psd_busy_parse("cpu  100 20 30 9000\n", 100), 1.5, 1e-9); /* an old kernel */
}

static void other_lines_say_nothing(void)
{
    static const char *const lines[] = {"", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2\n",
                                        "intr 5 6 7 8\n"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK_NEAR(psd_busy_parse(lines[i], 100), 0, 0);
}

static void what_we_do_is_counted(void)
{
    struct psd_busy before = psd_busy_read(), after = before;

    while (after.own_s < before.own_s + 0.05)
        after = psd_busy_read();
    CHECK(after.machine_s >= before.machine_s && after.machine_s > 0);
}

static void what_is_done_in_several_times_adds_up(void)
{
    struct psd_busy sum = {0}, before = psd_busy_read();

    psd_busy_add_since(&sum, &before);
    struct psd_busy once = sum;
    before.elapsed_s -= 1;
    before.own_s -= 2;
    psd_busy_add_since(&sum, &before);
    CHECK(sum.elapsed_s >= once.elapsed_s + 1 && sum.own_s >= once.own_s + 2);
    CHECK(sum.machine_s >= once.machine_s);
}

static void processes_of_one_machine_share_its_time(void)
{
    struct psd_busy all = {0};

    psd_busy_join(&all, &(struct psd_busy){.elapsed_s = 10, .machine_s = 13, .own_s = 4});
    psd_busy_join(&all, &(struct psd_busy){.elapsed_s = 11, .machine_s = 15, .own_s = 5});
    CHECK_NEAR(psd_busy_cores(&all), 1.3, 1e-9);
    CHECK_NEAR(all.own_s, 9, 1e-9);
    CHECK(!psd_busy_is_limit(&all, 2));
    all.machine_s = 14.1;
    CHECK(psd_busy_is_limit(&all, 2));
    CHECK_NEAR(psd_busy_cores(&(struct psd_busy){0}), 0, 0);
}

int main(int argc, char **argv)
{
    RUN(idle_time_is_not_counted)
    RUN(other_lines_say_nothing)
    RUN(what_we_do_is_counted)
    RUN(what_is_done_in_several_times_adds_up)
    RUN(processes_of_one_machine_share_its_time)
}
