/* run_test.c - "poseidon run": processes of one job, as people and schedulers meet them.
 *
 * Programs are mostly lines for sh. What they wait for has no end of its own, so nothing here depends on
 * how fast the machine is; a test that hangs is ended by its alarm. */
#include "base/clock.h"
#include "gone.h"
#include "poseidon/comm.h"
#include "run.h"

#include <fcntl.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>

static char self[PATH_MAX]; /* this program, which can be run as well */

/* How many lines of `text` are `line`. */
static int lines_of(const char *text, const char *line)
{
    size_t length = strlen(line);
    int count = 0;

    for (; *text; text += strcspn(text, "\n") + 1)
        count += strncmp(text, line, length) == 0 && (text[length] == '\n' || !text[length]);
    return count;
}

/* --- a command that is under way ---------------------------------------------------------------- */

/* Starts a line for sh, whose output goes to the files out and err; with `exec` it is the program itself. */
static pid_t start(const char *line)
{
    pid_t id = fork();

    CHECK(id >= 0);
    if (id > 0)
        return id;
    setpgid(0, 0);
    int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(dup2(out, 1) == 1 && dup2(err, 2) == 2);
    execle("/bin/sh", "sh", "-c", line, (char *)NULL, run_environment);
    _exit(127);
}

static int finish(pid_t id)
{
    int state = 0;

    CHECK(waitpid(id, &state, 0) == id);
    run_read(open("out", O_RDONLY), run_out, sizeof run_out);
    run_read(open("err", O_RDONLY), run_err, sizeof run_err);
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

/* The number in a file that a member writes, once it is there; members move it to its name at once. */
static pid_t number_in(const char *path)
{
    int number = 0;

    while (number == 0) {
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%d", &number) != 1)
            number = 0;
        if (file)
            fclose(file);
        usleep(1000);
    }
    return (pid_t)number;
}

/* For sh: says which process this is in the file NAME.RANK. */
#define TELL_ID(name, id) "echo " id " >tmp." name ".$RANK; mv tmp." name ".$RANK " name ".$RANK; "

/* --- what it is for ----------------------------------------------------------------------------- */

static void every_line_has_its_rank_and_rank_0_is_plain(void)
{
    run_start();
    CHECK(run("$POSEIDON run -n 3 -- sh -c 'echo one; echo two; echo bad >&2; "
              "[ $RANK = 0 ] || printf rest'") == 0);
    CHECK(lines_of(run_out, "two") == 1 && lines_of(run_out, "1: two") == 1 &&
          lines_of(run_out, "2: two") == 1);
    CHECK(lines_of(run_out, "1: rest") == 1 && lines_of(run_out, "2: rest") == 1);
    CHECK(lines_of(run_err, "bad") == 1 && lines_of(run_err, "1: bad") == 1 &&
          lines_of(run_err, "2: bad") == 1);
}

static void a_process_finds_its_job_in_the_environment(void)
{
    run_start();
    CHECK(run("RANK=9 $POSEIDON run -n 2 -- sh -c 'echo $POSEIDON_RANK/$POSEIDON_RANKS "
              "$RANK/$LOCAL_RANK/$WORLD_SIZE ${POSEIDON_COORDINATOR%%:*}'") == 0);
    CHECK(lines_of(run_out, "0/2 0/0/2 tcp://127.0.0.1") == 1);
    CHECK(lines_of(run_out, "1: 1/2 1/1/2 tcp://127.0.0.1") == 1);
}

static void ports_are_those_of_the_setting(void)
{
    run_start();
    CHECK(run("$POSEIDON run --net-port 28100-28199 -n 2 -- "
              "sh -c 'echo $POSEIDON_COORDINATOR $POSEIDON_ADDRESS'") == 0);
    CHECK(strstr(run_out, "1: tcp://127.0.0.1:281"));
    CHECK(strstr(run_out, " tcp://127.0.0.1:28100-28199\n"));
    CHECK(run("$POSEIDON run -n 2 --net-port 28100-28000 -- true") == 2);
    CHECK(strstr(run_err, "\"28100-28000\" is not a port such as 7070, or a range"));
}

#define IN_HEX "od -An -v -tx1 | tr -d ' \\n' "

/* Neither as it is nor in hex, in the environment and the words of launcher and members, and their log. */
static void the_key_is_read_as_often_as_one_likes_and_stands_nowhere(void)
{
    run_start();
    CHECK(run("PSD_LOG_LEVEL=debug $POSEIDON run -n 2 -- sh -c 'key=/dev/fd/${POSEIDON_KEY#fd:}; "
              "cat $key >a.$RANK; cat $key >b.$RANK; env >environment.$RANK; "
              "cat /proc/$$/cmdline /proc/$PPID/cmdline /proc/$PPID/environ >words.$RANK' 2>log") ==
          0);
    CHECK(run("cmp a.0 b.0 && cmp a.0 a.1 && cmp a.1 b.1 && test $(wc -c <a.0) = 32") == 0);
    CHECK(run("grep -qa POSEIDON_KEY=fd: environment.1 && grep -qa sh words.1 && cat environment.? "
              "words.? log >all") == 0);
    CHECK(run(IN_HEX "<a.0 >key && test $(wc -c <key) = 64 && " IN_HEX "<all | grep -F -f key") ==
          1);
    CHECK(run("grep -aiF -f key all") == 1);
    CHECK(run("$POSEIDON run -n 1 -- sh -c 'cmp a.0 /dev/fd/${POSEIDON_KEY#fd:}'") == 1);
}

static void options_of_the_program_are_its_own(void)
{
    run_start();
    CHECK(run("$POSEIDON run -n 1 printf '%%s,' -n 3 --help -- x --bind") == 0);
    CHECK_TEXT("-n,3,--help,--,x,--bind,", run_out);
    CHECK(run("$POSEIDON run -n 1 -- printf '%%s,' -- x") == 0);
    CHECK_TEXT("--,x,", run_out);
}

static void rank_0_has_the_input_and_others_have_none(void)
{
    run_start();
    CHECK(run("echo hello | $POSEIDON run -n 3 -- cat") == 0);
    CHECK_TEXT("hello\n", run_out);
}

static void a_reader_that_goes_away_ends_it(void)
{
    run_start();
    CHECK(run("$POSEIDON run -n 3 -- yes | head -n 2 | wc -l") == 0);
    CHECK_TEXT("2\n", run_out);
    CHECK_TEXT("", run_err);
}

/* How many different sets of processors there are among so many processes. */
static int sets_of(int count, const char *options)
{
    CHECK(
        run("$POSEIDON run -n %d %s -- sh -c 'sed -n s/^Cpus_allowed_list:.//p /proc/self/status' "
            "| sed 's/.*: //' | sort -u | wc -l",
            count, options) == 0);
    return atoi(run_out);
}

static void processes_have_processors_of_their_own_where_there_are_enough(void)
{
    cpu_set_t set;

    run_start();
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    int count = CPU_COUNT(&set);
    if (count < 2 || count > 64)
        SKIP("%d processors are too few, or too many", count);
    CHECK(sets_of(count, "") == count && sets_of(count, "--bind on") == count);
    CHECK(sets_of(count, "--bind off") == 1 && sets_of(count + 1, "") == 1);
    CHECK(run("$POSEIDON run -n %d --bind on -- true", count + 1) == 2);
    CHECK(strstr(run_err, "--bind on: "));
}

/* --- jobs that really meet ---------------------------------------------------------------------- */

static const char *variable(const char *name)
{
    const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe): one thread yet */

    CHECK(value);
    return value;
}

/* What a program does with its environment, as the manual has it. */
static int join(void)
{
    unsigned char key[32];
    unsigned rank = (unsigned)atoi(variable("POSEIDON_RANK"));
    unsigned ranks = (unsigned)atoi(variable("POSEIDON_RANKS"));
    float sum = (float)(1 << rank), value = 0;
    struct psd_comm *comm = NULL;
    int id = 0;

    CHECK(pread(atoi(variable("POSEIDON_KEY") + strlen("fd:")), key, sizeof key, 0) == sizeof key);
    usleep(rank == 0 ? 200000 : 0); /* others look for ports before rank 0 listens */
    CHECK_OK(psd_comm_open(
        &(struct psd_comm_options){.coordinator = variable("POSEIDON_COORDINATOR"),
                                   .key = key,
                                   .key_size = sizeof key,
                                   .job = strtoull(variable("POSEIDON_JOB"), NULL, 10),
                                   .rank = rank,
                                   .ranks = ranks,
                                   .bandwidth = 1e9,
                                   .timeout_ms = 120000},
        &comm));
    CHECK_OK(psd_comm_add(
        comm, &(struct psd_comm_param){.name = "it", .rows = 1, .cols = 1, .value = &value}, &id));
    CHECK_OK(psd_comm_start(comm));
    CHECK_OK(psd_comm_reduce(comm, &sum, 1));
    CHECK(sum == (float)((1 << ranks) - 1));
    psd_comm_close(comm);
    printf("met\n");
    return 0;
}

static void jobs_that_start_at_the_same_moment_do_not_disturb_each_other(void)
{
    enum { JOBS = 6 };
    pid_t jobs[JOBS];
    char line[PATH_MAX + 200];

    run_start();
    for (int i = 0; i < JOBS; i++) {
        snprintf(line, sizeof line, "exec $POSEIDON run -n 3 -- %s --join >job.%d", self, i);
        jobs[i] = start(line);
    }
    for (int i = 0; i < JOBS; i++)
        CHECK(finish(jobs[i]) == 0);
    CHECK(run("cat job.* | sort | uniq -c | tr -s ' \\n' ' '") == 0);
    CHECK_TEXT(" 6 1: met 6 2: met 6 met ", run_out);
}

/* --- ends --------------------------------------------------------------------------------------- */

static void the_exit_code_is_that_of_the_first_cause(void)
{
    static const struct {
        const char *program;
        int exit_code;
        const char *told;
    } cases[] = {
        {"true", 0, ""},
        {"if [ $RANK = 1 ]; then exit 7; fi; exec sleep 1000", 7,
         "poseidon: rank 1 ended with exit code 7\n"},
        {"if [ $RANK = 0 ]; then exit 7; fi; exec sleep 1000", 7,
         "poseidon: rank 0 ended with exit code 7\n"},
        {"if [ $RANK = 2 ]; then kill -SEGV $$; fi; exec sleep 1000", 139,
         "poseidon: rank 2 was killed by signal 11 (Segmentation fault)\n"},
        {"if [ $RANK = 2 ]; then kill -KILL $$; fi; exec sleep 1000", 137,
         "poseidon: rank 2 was killed by signal 9 (Killed); was the machine out of memory?\n"},
        {"if [ $RANK = 2 ]; then kill -TERM $$; fi; exec sleep 1000", 143,
         "poseidon: rank 2 was killed by signal 15 (Terminated)\n"},
    };

    run_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].program);
        CHECK(run("$POSEIDON run -n 3 --grace 10ms -- sh -c '%s'", cases[i].program) ==
              cases[i].exit_code);
        CHECK(strncmp(run_err, cases[i].told, strlen(cases[i].told)) == 0);
    }
}

/* The others see that one is missing, clean up and end, in their own time. */
static void others_may_end_by_themselves(void)
{
    run_start();
    CHECK(
        run("$POSEIDON run -n 3 --grace 1h -- sh -c '" TELL_ID(
            "id",
            "$$") "[ $RANK != 2 ] || exit 5; until [ -e id.2 ]; do sleep 0.01; done; "
                  "while kill -0 $(cat id.2); do sleep 0.01; done; touch cleaned.$RANK; exit 1'") ==
        5);
    CHECK(run("ls cleaned.0 cleaned.1") == 0);
}

static void a_program_that_is_not_there_is_one_sentence(void)
{
    run_start();
    CHECK(run("$POSEIDON run -n 4 -- nowhere --to be found") == 127);
    CHECK_TEXT("poseidon: cannot run nowhere: No such file or directory\n", run_err);
    run_write("data", "no program\n");
    CHECK(run("$POSEIDON run -n 4 -- ./data") == 126);
    CHECK_TEXT("poseidon: cannot run ./data: Permission denied\n", run_err);
}

static void mistakes_are_told_before_anything_starts(void)
{
    static const struct {
        const char *arguments, *sentence;
    } cases[] = {
        {"true", "say how many processes: -n N"},
        {"-n 0 true", "\"0\" is not a whole number from 1 to 128"},
        {"-n 129 true", "\"129\" is not a whole number from 1 to 128"},
        {"-n 2", "expected [--] PROGRAM [ARGUMENT...]"},
        {"-n 2 --bind perhaps true", "\"perhaps\" is not one of auto, on, off"},
        {"-n 2 --grace soon true", "\"soon\" is not a time"},
    };

    run_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].arguments);
        CHECK(run("$POSEIDON run %s", cases[i].arguments) == 2);
        CHECK(strstr(run_err, cases[i].sentence));
    }
}

/* --- signals ------------------------------------------------------------------------------------ */

/* Members that note signals, one line each, and end after SIGTERM as `train` does. */
#define NOTE_SIGNALS                                                                   \
    "exec $POSEIDON run -n 2 -- sh -c 'trap \"echo int\" INT; trap \"echo hup\" HUP; " \
    "trap \"echo term; exit 75\" TERM; " TELL_ID("id", "$$") "while :; do sleep 0.01; done'"

/* Waits until both ranks have written `line` so many times. */
static void wait_for_lines(const char *line, int count)
{
    char other[100];

    snprintf(other, sizeof other, "1: %s", line);
    do {
        usleep(1000);
        run_read(open("out", O_RDONLY), run_out, sizeof run_out);
    } while (lines_of(run_out, line) < count || lines_of(run_out, other) < count);
}

static void each_signal_reaches_each_process_once(void)
{
    run_start();
    pid_t id = start(NOTE_SIGNALS);
    number_in("id.0"), number_in("id.1");
    kill(id, SIGINT);
    wait_for_lines("int", 1);
    kill(id, SIGHUP);
    wait_for_lines("hup", 1);
    kill(id, SIGHUP);
    wait_for_lines("hup", 2);
    kill(id, SIGTERM);
    CHECK(finish(id) == 75);
    CHECK(lines_of(run_out, "int") == 1 && lines_of(run_out, "1: int") == 1);
    CHECK(lines_of(run_out, "hup") == 2 && lines_of(run_out, "1: hup") == 2);
    CHECK(lines_of(run_out, "term") == 1 && lines_of(run_out, "1: term") == 1);
    CHECK(!strstr(run_err, "poseidon")); /* the shells have something to say of their own */
}

static void a_second_interrupt_kills_all(void)
{
    run_start();
    pid_t id = start(NOTE_SIGNALS);
    pid_t members[] = {number_in("id.0"), number_in("id.1")};
    kill(id, SIGINT);
    wait_for_lines("int", 1);
    kill(id, SIGINT);
    CHECK(finish(id) == 130);
    CHECK(gone(members[0]) && gone(members[1]));
    CHECK(lines_of(run_out, "int") == 1 && lines_of(run_out, "1: int") == 1);
}

static void programs_that_do_not_care_end_by_the_signal(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    run_start();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        CHECK(run("rm -f id.*") == 0);
        pid_t id =
            start("exec $POSEIDON run -n 2 -- sh -c '" TELL_ID("id", "$$") "exec sleep 1000'");
        number_in("id.0"), number_in("id.1");
        kill(id, numbers[i]);
        CHECK(finish(id) == 128 + numbers[i]);
        CHECK_TEXT("", run_err); /* who has asked for it knows */
    }
}

/* Reads from a terminal until both ranks have written `line`. */
static void read_lines(int terminal, char *text, size_t size, const char *line)
{
    char both[2][100];
    size_t length = strlen(text);

    snprintf(both[0], sizeof both[0], "%s\r\n", line);
    snprintf(both[1], sizeof both[1], "1: %s\r\n", line);
    for (;;) {
        const char *other = strstr(text, both[1]);
        const char *own = strstr(text, both[0]);
        while (own && own >= text + 3 && strncmp(own - 3, "1: ", 3) == 0)
            own = strstr(own + 1, both[0]);
        if (own && other)
            return;
        ssize_t n = read(terminal, text + length, size - length - 1);
        CHECK(n > 0);
        length += (size_t)n;
        text[length] = 0;
    }
}

/* Keys that are pressed while a job runs in the foreground; returns its exit code. */
static int press_keys(const char *keys, char *text, size_t size)
{
    int terminal = -1, state = 0;
    pid_t id = forkpty(&terminal, NULL, NULL, NULL);

    CHECK(id >= 0);
    if (id == 0) {
        execle("/bin/sh", "sh", "-c",
               "exec $POSEIDON run -n 2 -- sh -c 'trap \"echo int; [ -e stay ] || exit 0\" INT; "
               "echo ready; while :; do sleep 0.01; done'",
               (char *)NULL, run_environment);
        _exit(127);
    }
    *text = 0;
    read_lines(terminal, text, size, "ready");
    for (; *keys; keys++) {
        CHECK(write(terminal, keys, 1) == 1);
        if (keys[1])
            read_lines(terminal, text, size, "int");
    }
    size_t length = strlen(text);
    ssize_t n; /* what is read from a terminal that nobody has any more is an error */
    while ((n = read(terminal, text + length, size - length - 1)) > 0)
        length += (size_t)n;
    text[length] = 0;
    CHECK(waitpid(id, &state, 0) == id && WIFEXITED(state));
    close(terminal);
    return WEXITSTATUS(state);
}

static int count_of(const char *text, const char *part)
{
    int count = 0;

    while ((text = strstr(text, part))) {
        count++;
        text += strlen(part);
    }
    return count;
}

static void ctrl_c_in_a_terminal_reaches_each_process_once(void)
{
    char text[10000];

    run_start();
    CHECK(press_keys("\003", text, sizeof text) == 0);
    CHECK(count_of(text, "int\r\n") == 2 && count_of(text, "1: int\r\n") == 1);
}

static void a_second_ctrl_c_ends_at_once(void)
{
    char text[10000];

    run_start();
    run_write("stay", "");
    CHECK(press_keys("\003\003", text, sizeof text) == 130);
    CHECK(count_of(text, "int\r\n") == 2);
}

static char state_of(pid_t id)
{
    char path[64], line[512] = "";

    snprintf(path, sizeof path, "/proc/%d/stat", (int)id);
    FILE *file = fopen(path, "r");
    CHECK(file && fgets(line, sizeof line, file));
    fclose(file);
    return strrchr(line, ')')[2];
}

/* A process that has no children: a shell that is about to start one, and is stopped just then, waits for
 * it in a state that is not called stopped. */
static int wait_until_enough(void)
{
    while (access("enough", F_OK) != 0)
        usleep(1000);
    printf("done\n");
    return 0;
}

static void ctrl_z_stops_all_until_they_go_on(void)
{
    char line[PATH_MAX + 200];
    int state = 0;

    run_start();
    snprintf(line, sizeof line,
             "exec $POSEIDON run -n 2 -- sh -c '" TELL_ID("id", "$$") "exec %s --wait'", self);
    pid_t id = start(line);
    pid_t members[] = {number_in("id.0"), number_in("id.1")};
    kill(id, SIGTSTP);
    CHECK(waitpid(id, &state, WUNTRACED) == id && WIFSTOPPED(state));
    for (int i = 0; i < 2; i++) {
        while (state_of(members[i]) != 'T')
            usleep(1000);
    }
    run_write("enough", "");
    kill(id, SIGCONT);
    CHECK(finish(id) == 0);
    CHECK(lines_of(run_out, "done") == 1 && lines_of(run_out, "1: done") == 1);
}

/* --- nobody is left ----------------------------------------------------------------------------- */

/* Members of which rank 1 has a child in a session of its own that hears no signal. */
#define HIDE                                                                                       \
    "if [ $RANK = 1 ]; then setsid sh -c \"trap : TERM INT HUP; echo \\$\\$ >tmp; mv tmp hidden; " \
    "while :; do sleep 0.05; done\" & fi; until [ -e hidden ]; do sleep 0.01; done; "
#define JOB                                                                    \
    "exec $POSEIDON run -n 3 --grace 10ms -- sh -c '" HIDE TELL_ID("id", "$$") \
        TELL_ID("keeper", "$PPID") "while :; do sleep 0.05; done'"

enum victim { LAUNCHER, KEEPER, MEMBER };

/* How long it takes until everybody is gone, in ns. */
static uint64_t kill_one(enum victim victim)
{
    static const char *const ids[] = {"id.0", "id.1", "id.2", "hidden", "keeper.0"};
    pid_t all[5];

    run_start();
    CHECK(run("rm -f id.* keeper.* hidden") == 0);
    pid_t launcher = start(JOB);
    for (int i = 0; i < 5; i++)
        all[i] = number_in(ids[i]);
    pid_t killed = victim == LAUNCHER ? launcher : victim == KEEPER ? all[4] : all[2];
    uint64_t begin = psd_clock_now();
    CHECK(kill(killed, SIGKILL) == 0);
    CHECK(finish(launcher) == 137);
    for (int i = 0; i < 5; i++)
        gone_wait(all[i]);
    return psd_clock_now() - begin;
}

/* Within 10 s, in one of a few times: the machine may be busy. */
static void check_nobody_is_left(enum victim victim)
{
    unsigned tries = 1;

    while (kill_one(victim) > 10 * PSD_CLOCK_S)
        CHECK(tries++ < 3);
}

static void nobody_is_left_when_the_launcher_is_killed(void)
{
    check_nobody_is_left(LAUNCHER);
}

static void nobody_is_left_when_the_keeper_is_killed(void)
{
    check_nobody_is_left(KEEPER);
    CHECK_TEXT("poseidon: the process that keeps the members was killed, and they with it\n",
               run_err);
}

static void nobody_is_left_when_a_member_is_killed(void)
{
    check_nobody_is_left(MEMBER);
    CHECK(strncmp(run_err, "poseidon: rank 2 was killed by signal 9 (Killed)", 48) == 0);
}

static void what_programs_leave_behind_ends_with_the_last(void)
{
    run_start();
    CHECK(run("$POSEIDON run -n 2 -- sh -c '" HIDE "'") == 0);
    CHECK(gone(number_in("hidden")));
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--join") == 0)
        return join();
    if (argc == 2 && strcmp(argv[1], "--wait") == 0)
        return wait_until_enough();
    CHECK(realpath("/proc/self/exe", self));
    RUN(every_line_has_its_rank_and_rank_0_is_plain)
    RUN(a_process_finds_its_job_in_the_environment)
    RUN(ports_are_those_of_the_setting)
    RUN(the_key_is_read_as_often_as_one_likes_and_stands_nowhere)
    RUN(options_of_the_program_are_its_own)
    RUN(rank_0_has_the_input_and_others_have_none)
    RUN(a_reader_that_goes_away_ends_it)
    RUN(processes_have_processors_of_their_own_where_there_are_enough)
    RUN(jobs_that_start_at_the_same_moment_do_not_disturb_each_other)
    RUN(the_exit_code_is_that_of_the_first_cause)
    RUN(others_may_end_by_themselves)
    RUN(a_program_that_is_not_there_is_one_sentence)
    RUN(mistakes_are_told_before_anything_starts)
    RUN(each_signal_reaches_each_process_once)
    RUN(a_second_interrupt_kills_all)
    RUN(programs_that_do_not_care_end_by_the_signal)
    RUN(ctrl_c_in_a_terminal_reaches_each_process_once)
    RUN(a_second_ctrl_c_ends_at_once)
    RUN(ctrl_z_stops_all_until_they_go_on)
    RUN(nobody_is_left_when_the_launcher_is_killed)
    RUN(nobody_is_left_when_the_keeper_is_killed)
    RUN(nobody_is_left_when_a_member_is_killed)
    RUN(what_programs_leave_behind_ends_with_the_last)
}
