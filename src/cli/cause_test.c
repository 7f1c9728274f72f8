/* cause_test.c - whose failure is the job's. */
#include "cli/cause.h"
#include "test.h"

#include <signal.h>

enum { MOST = 4 };

/* A wait status, as Linux makes it. */
#define CODE(code) ((code) << 8)
#define LOSS       CODE(2) /* of one that has lost another */

static void the_first_failure_is_the_cause_unless_one_is_killed(void)
{
    static const struct {
        const char *what;
        int states[MOST]; /* of ranks 0, 1, ... in the order of their ends */
        unsigned rank;
        int exit_code;
        bool is_asked;
    } cases[] = {
        {"all is well", {0, 0, 0, 0}, 0, 0, false},
        {"one fails", {0, 0, CODE(3), 0}, 2, 3, false},
        {"the first of several", {0, CODE(3), CODE(1), CODE(75)}, 1, 3, false},
        {"killed after others missed it", {CODE(1), CODE(1), SIGKILL, 0}, 2, 137, false},
        {"the first of two that are killed", {CODE(1), SIGSEGV, SIGKILL, 0}, 1, 139, false},
        {"one that aborts since others fail", {CODE(3), SIGABRT, 0, 0}, 0, 3, false},
        {"one that writes to who has failed", {CODE(3), SIGPIPE, 0, 0}, 0, 3, false},
        {"one that aborts by itself", {0, SIGABRT, CODE(1), 0}, 1, 134, false},
        {"asked to end, and to be started again", {CODE(75), CODE(75), 0, 0}, 0, 75, true},
        {"asked to end, and cannot", {CODE(75), CODE(75), CODE(1), 0}, 2, 1, true},
        {"asked to end, and missed before it is heard", {LOSS, CODE(75), LOSS, 0}, 1, 75, true},
        {"asked to end, and missed afterwards", {CODE(75), LOSS, 0, LOSS}, 0, 75, true},
        {"asked to end, and lost", {LOSS, LOSS, 0, 0}, 0, 2, true},
        {"asked to end, lost, and one cannot", {LOSS, CODE(3), CODE(75), 0}, 1, 3, true},
        {"asked to end, and killed", {LOSS, CODE(75), SIGKILL, 0}, 2, 137, true},
        {"lost", {LOSS, CODE(75), 0, 0}, 0, 2, false},
        {"started again without being asked", {CODE(75), CODE(1), 0, 0}, 0, 75, false},
        {"one that leaves a core file", {0, 0x80 | SIGSEGV, CODE(1), 0}, 1, 139, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_cause cause = {.rank = 0};
        fprintf(stderr, "    %s\n", cases[i].what);
        for (unsigned rank = 0; rank < MOST; rank++) {
            bool is_it = psd_cause_hear(&cause, rank, cases[i].states[rank], cases[i].is_asked,
                                        cases[i].states[rank] == LOSS);
            CHECK(is_it == (cause.weight && cause.rank == rank));
        }
        CHECK((cause.weight != PSD_CAUSE_NONE) == (cases[i].exit_code != 0));
        CHECK(cause.rank == cases[i].rank && cause.exit_code == cases[i].exit_code);
    }
}

static void ends_are_told_in_words(void)
{
    char text[200];

    CHECK_TEXT("rank 2 was killed by signal 9 (Killed); was the machine out of memory?",
               psd_cause_say(2, SIGKILL, text, sizeof text));
    CHECK_TEXT("rank 0 was killed by signal 11 (Segmentation fault)",
               psd_cause_say(0, SIGSEGV, text, sizeof text));
    CHECK_TEXT("rank 7 ended with exit code 3", psd_cause_say(7, CODE(3), text, sizeof text));
}

int main(int argc, char **argv)
{
    RUN(the_first_failure_is_the_cause_unless_one_is_killed)
    RUN(ends_are_told_in_words)
}
