/* relay_test.c - what members write, and what comes out. */
#include "base/alloc.h"
#include "cli/relay.h"
#include "test.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/mman.h>

/* What a member says. */
typedef void speech(unsigned rank);

/* Starts a member that speaks and ends; rank 0 has `out` itself. */
static pid_t start(struct psd_relay *relay, unsigned rank, int out, speech *speak)
{
    pid_t id = fork();

    CHECK(id >= 0);
    if (id > 0)
        return id;
    if (rank == 0)
        dup2(out, STDOUT_FILENO);
    CHECK_OK(psd_relay_enter(relay, rank));
    speak(rank);
    _exit(0);
}

static void move_all(struct psd_relay *relay)
{
    struct pollfd polls[64];

    while (!psd_relay_is_done(relay)) {
        psd_relay_watch(relay, polls);
        CHECK(poll(polls, psd_relay_polls(relay), -1) > 0);
        psd_relay_move(relay, polls);
    }
}

static void wait_for(unsigned count)
{
    int state = 0;

    for (; count > 0; count--)
        CHECK(wait(&state) > 0 && state == 0);
}

/* Lets members 1 to count - 1 speak, and returns what comes out; both outputs in their order. */
static const char *relay_all(unsigned count, speech *speak)
{
    static char text[1 << 20];
    int outs[2] = {memfd_create("out", 0), memfd_create("err", 0)};
    struct psd_relay *relay = NULL;
    ssize_t length = 0;

    CHECK_OK(psd_relay_open(
        &(struct psd_relay_options){.count = count, .out = outs[0], .err = outs[1]}, &relay));
    for (unsigned i = 1; i < count; i++)
        start(relay, i, -1, speak);
    psd_relay_begin(relay);
    move_all(relay);
    wait_for(count - 1);
    for (int i = 0; i < 2; i++) {
        ssize_t n = pread(outs[i], text + length, sizeof text - 1 - (size_t)length, 0);
        CHECK(n >= 0);
        length += n;
        close(outs[i]);
    }
    text[length] = 0;
    psd_relay_close(relay);
    return text;
}

static void write_text(int fd, const char *text)
{
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

/* --- lines -------------------------------------------------------------------------------------- */

static void say_a_little(unsigned rank)
{
    (void)rank;
    write_text(STDERR_FILENO, "bad ");
    write_text(STDOUT_FILENO, "one\n\ntwo\nth");
    write_text(STDERR_FILENO, "file\n");
    write_text(STDOUT_FILENO, "ree");
}

static void every_line_has_the_rank_before_it_and_the_last_is_completed(void)
{
    CHECK_TEXT("1: one\n1: \n1: two\n1: three\n1: bad file\n", relay_all(2, say_a_little));
}

static void say_nothing(unsigned rank)
{
    (void)rank;
}

static void who_says_nothing_is_not_heard(void)
{
    CHECK_TEXT("", relay_all(5, say_nothing));
    CHECK_TEXT("", relay_all(1, say_nothing));
}

enum { TEXT = 4096 - 32 };

/* A long line, one that just fits, and bytes that are no text. */
static void say_much(unsigned rank)
{
    char letters[2 * TEXT + 1];

    (void)rank;
    for (size_t i = 0; i < sizeof letters; i++)
        letters[i] = (char)('a' + i % 26);
    for (size_t done = 0; done < sizeof letters; done += 997) /* however it comes in */
        CHECK(write(1, letters + done, done + 997 < sizeof letters ? 997 : sizeof letters - done) >
              0);
    write_text(1, "\n");
    CHECK(write(1, letters, TEXT) == TEXT);
    CHECK(write(1, "\n\0\xff\n", 4) == 4);
}

static void a_very_long_line_comes_in_pieces(void)
{
    static const size_t lengths[] = {TEXT, TEXT, 1, TEXT};
    const char *text = relay_all(2, say_much);
    size_t letter = 0;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        CHECK(strncmp(text, "1: ", 3) == 0 && strcspn(text, "\n") == 3 + lengths[i]);
        letter = i == 3 ? 0 : letter; /* the next line */
        for (size_t k = 0; k < lengths[i]; k++)
            CHECK(text[3 + k] == (char)('a' + letter++ % 26));
        text += 3 + lengths[i] + 1;
    }
    CHECK(memcmp(text, "1: \0\xff\n", 7) == 0);
}

/* --- outputs ------------------------------------------------------------------------------------ */

enum { RANKS = 5, LINES = 400 };

/* Lines of many lengths, each of one digit. */
static void say_digits(unsigned rank)
{
    char line[300];

    for (size_t i = 0; i < LINES; i++) {
        size_t length = 1 + (i * 7 + rank) % (sizeof line - 1);
        memset(line, (int)('0' + rank), length);
        line[length - 1] = '\n';
        CHECK(write(STDOUT_FILENO, line, length) == (ssize_t)length);
    }
}

/* Reads what comes out of a pipe, slowly: a line is of one rank alone. */
static void read_slowly(int from)
{
    unsigned lines[RANKS] = {0};
    char *line = NULL;
    size_t room = 0;
    FILE *file = fdopen(from, "r");

    CHECK(file);
    while (getline(&line, &room, file) > 0) {
        unsigned rank = line[1] == ':' ? (unsigned)(line[0] - '0') : 0;
        const char *text = rank ? line + 3 : line;
        CHECK(rank < RANKS && text[strspn(text, (char[]){(char)('0' + rank), 0})] == '\n');
        if (lines[rank]++ % 50 == 0)
            usleep(1000);
    }
    for (unsigned i = 0; i < RANKS; i++)
        CHECK(lines[i] == LINES);
    free(line);
    fclose(file);
    _exit(0);
}

static void lines_are_whole_also_where_they_are_read_slowly(void)
{
    struct psd_relay *relay = NULL;
    int ends[2];

    CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
    CHECK_OK(psd_relay_open(
        &(struct psd_relay_options){.count = RANKS, .out = ends[1], .err = ends[1]}, &relay));
    for (unsigned i = 0; i < RANKS; i++)
        start(relay, i, ends[1], say_digits);
    if (fork() == 0) {
        psd_relay_close(relay);
        close(ends[1]);
        read_slowly(ends[0]);
    }
    psd_relay_begin(relay);
    move_all(relay);
    psd_relay_close(relay);
    close(ends[1]);
    wait_for(RANKS + 1);
}

static void say_without_end(unsigned rank)
{
    (void)rank;
    while (write(STDOUT_FILENO, "x\n", 2) > 0)
        ;
    _exit(3); /* it ignored the signal */
}

static void what_is_not_read_is_not_waited_for(void)
{
    struct psd_relay *relay = NULL;
    struct pollfd polls[4];
    char page[4096];
    int ends[2];

    CHECK(pipe(ends) == 0);
    CHECK_OK(psd_relay_open(&(struct psd_relay_options){.count = 2, .out = ends[1], .err = ends[1]},
                            &relay));
    start(relay, 1, -1, say_without_end);
    psd_relay_begin(relay);
    for (bool is_full = false; !is_full;) {
        psd_relay_watch(relay, polls);
        is_full = polls[0].fd >= 0;
        if (!is_full)
            CHECK(poll(polls, psd_relay_polls(relay), -1) > 0);
        psd_relay_move(relay, polls);
    }
    CHECK(poll(polls, psd_relay_polls(relay), 0) == 0);
    psd_relay_hear(relay, 1);
    CHECK(!psd_relay_is_done(relay));
    CHECK(read(ends[0], page, sizeof page) == sizeof page);
    CHECK(poll(polls, psd_relay_polls(relay), -1) > 0);
    psd_relay_move(relay, polls);
    psd_relay_close(relay); /* and its member ends by the signal that a closed pipe is */
    int state = 0;
    CHECK(wait(&state) > 0 && WIFSIGNALED(state) && WTERMSIG(state) == SIGPIPE);
}

static void members_notice_that_nobody_reads(void)
{
    struct psd_relay *relay = NULL;
    int ends[2], state = 0;

    signal(SIGPIPE, SIG_IGN);
    CHECK(pipe(ends) == 0);
    close(ends[0]);
    CHECK_OK(psd_relay_open(&(struct psd_relay_options){.count = 2, .out = ends[1], .err = ends[1]},
                            &relay));
    start(relay, 1, -1, say_without_end);
    psd_relay_begin(relay);
    move_all(relay);
    CHECK(wait(&state) > 0 && WEXITSTATUS(state) == 3);
    psd_relay_close(relay);
}

static void on_a_terminal_a_line_takes_the_place_of_the_live_line(void)
{
    struct psd_relay *relay = NULL;
    char text[100];
    int terminal = -1, slave = -1;

    CHECK(openpty(&terminal, &slave, NULL, NULL, NULL) == 0);
    CHECK_OK(psd_relay_open(
        &(struct psd_relay_options){.count = 2, .out = slave, .err = slave, .over_status = true},
        &relay));
    start(relay, 1, -1, say_a_little);
    psd_relay_begin(relay);
    move_all(relay);
    ssize_t length = read(terminal, text, sizeof text - 1);
    CHECK(length > 0);
    text[length] = 0;
    CHECK(strncmp(text, "\r\033[K1: ", 7) == 0);
    psd_relay_close(relay);
    wait_for(1);
}

static void opening_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_relay *relay = NULL;
        psd_alloc_fail_at(n);
        psd_status status =
            psd_relay_open(&(struct psd_relay_options){.count = 3, .out = 1, .err = 2}, &relay);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (relay == NULL));
        psd_relay_close(relay);
    }
}

int main(int argc, char **argv)
{
    RUN(every_line_has_the_rank_before_it_and_the_last_is_completed)
    RUN(who_says_nothing_is_not_heard)
    RUN(a_very_long_line_comes_in_pieces)
    RUN(lines_are_whole_also_where_they_are_read_slowly)
    RUN(what_is_not_read_is_not_waited_for)
    RUN(members_notice_that_nobody_reads)
    RUN(on_a_terminal_a_line_takes_the_place_of_the_live_line)
    RUN(opening_survives_every_failed_allocation)
}
