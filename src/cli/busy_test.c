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

int main(int argc, char **argv)
{
    RUN(idle_time_is_not_counted)
    RUN(other_lines_say_nothing)
    RUN(what_we_do_is_counted)
}
