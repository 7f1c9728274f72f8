/* log_test.c - what a line looks like, and that it stays whole. */
#include "base/log.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>

/* A sink that keeps everything. */
struct kept {
    char text[40000];
    size_t length;
    int lines;
};

static void keep(void *context, const char *line, size_t length)
{
    struct kept *kept = context;

    CHECK(length > 0 && length <= PSD_LOG_LONGEST);
    CHECK(memchr(line, '\n', length) == line + length - 1);
    CHECK(kept->length + length < sizeof kept->text);
    memcpy(kept->text + kept->length, line, length);
    kept->length += length;
    kept->lines++;
}

static void only_errors_and_warnings_say_what_they_are(void)
{
    struct kept kept = {.length = 0};
    struct psd_log log;

    psd_log_init(&log, PSD_LOG_DEBUG, PSD_LOG_NO_RANK, keep, &kept);
    psd_log_error(&log, "no %s", "disk");
    psd_log_warning(&log, "slow %s", "disk");
    psd_log_info(&log, "a %s", "disk");
    psd_log_debug(&log, "the disk %d", 7);
    CHECK_TEXT("error: no disk\nwarning: slow disk\na disk\nthe disk 7\n", kept.text);
    psd_log_fini(&log);
}

static void a_rank_comes_first(void)
{
    struct kept kept = {.length = 0};
    struct psd_log log;

    psd_log_init(&log, PSD_LOG_INFO, 3, keep, &kept);
    psd_log_warning(&log, "late");
    psd_log_info(&log, "iteration 10");
    CHECK_TEXT("3: warning: late\n3: iteration 10\n", kept.text);
    psd_log_fini(&log);
}

static void lines_can_begin_as_those_of_glog(void)
{
    struct kept kept = {.length = 0};
    struct psd_log log;
    char level, rest[100];
    int month, day, hour, minute, second, micros, thread;

    psd_log_init(&log, PSD_LOG_INFO, 3, keep, &kept);
    log.prefix = psd_log_prefix_glog;
    psd_log_warning(&log, "late");
    CHECK(sscanf(kept.text, "%c%2d%2d %2d:%2d:%2d.%6d %d %99[^\n]", &level, &month, &day, &hour,
                 &minute, &second, &micros, &thread, rest) == 9);
    CHECK(level == 'W' && month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24);
    CHECK(thread == getpid());
    CHECK_TEXT("poseidon.cpp:1] late", rest);
    psd_log_fini(&log);
}

static void less_urgent_messages_are_not_shown(void)
{
    static const int lines[] = {1, 2, 3, 4};

    for (int level = PSD_LOG_ERROR; level <= PSD_LOG_DEBUG; level++) {
        struct kept kept = {.length = 0};
        struct psd_log log;
        psd_log_init(&log, (enum psd_log_level)level, 0, keep, &kept);
        psd_log_error(&log, "e");
        psd_log_warning(&log, "w");
        psd_log_info(&log, "i");
        psd_log_debug(&log, "d");
        CHECK(kept.lines == lines[level]);
        psd_log_fini(&log);
    }
}

static void no_log_is_silent(void)
{
    psd_log_error(NULL, "nobody hears this");
    psd_log_debug(NULL, "nor %s", "this");
}

static void several_lines_each_have_the_prefix(void)
{
    struct kept kept = {.length = 0};
    struct psd_log log;

    psd_log_init(&log, PSD_LOG_INFO, 1, keep, &kept);
    psd_log_error(&log, "%s", "net.prototxt:3: no such layer\nnet.prototxt:9: no such field\n");
    psd_log_info(&log, "a\n\nb");
    psd_log_info(&log, "%s", "");
    CHECK_TEXT("1: error: net.prototxt:3: no such layer\n1: error: net.prototxt:9: no such field\n"
               "1: a\n1: \n1: b\n1: \n",
               kept.text);
    psd_log_fini(&log);
}

static void an_endless_line_is_cut(void)
{
    struct kept kept = {.length = 0};
    struct psd_log log;
    char endless[10000];

    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    psd_log_init(&log, PSD_LOG_INFO, 2147483647, keep, &kept); /* the longest prefix */
    psd_log_warning(&log, "%s", endless);
    CHECK(kept.lines == 1);
    CHECK(kept.length > PSD_LOG_LONGEST - 100);
    CHECK_TEXT("x...\n", kept.text + kept.length - 5);
    psd_log_fini(&log);
}

static void spoil_errno(void *context, const char *line, size_t length)
{
    (void)context, (void)line, (void)length;
    errno = ENOSPC;
}

static void errno_stays_as_it_is(void)
{
    struct psd_log log;

    psd_log_init(&log, PSD_LOG_INFO, 0, spoil_errno, NULL);
    errno = ENOENT;
    psd_log_info(&log, "x");
    CHECK(errno == ENOENT);
    psd_log_fini(&log);
}

static void a_descriptor_gets_each_line_in_one_piece(void)
{
    struct psd_log log;
    char text[100] = "";
    int pipes[2];

    CHECK(pipe(pipes) == 0);
    psd_log_init(&log, PSD_LOG_INFO, 5, psd_log_sink_fd, &pipes[1]);
    psd_log_info(&log, "hello");
    CHECK(read(pipes[0], text, sizeof text - 1) == 9);
    CHECK_TEXT("5: hello\n", text);
    close(pipes[0]);
    close(pipes[1]);
    psd_log_info(&log, "to nobody");
    psd_log_fini(&log);
}

static void *log_many(void *arg)
{
    for (int i = 0; i < 200; i++)
        psd_log_info(arg, "one\ntwo\nthree");
    return NULL;
}

static void messages_of_several_threads_do_not_mix(void)
{
    static struct kept kept;
    struct psd_log log;
    pthread_t threads[3];

    psd_log_init(&log, PSD_LOG_INFO, PSD_LOG_NO_RANK, keep, &kept);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, log_many, &log) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(kept.lines == 1800);
    for (size_t at = 0; at < kept.length; at += 14)
        CHECK(strncmp(kept.text + at, "one\ntwo\nthree\n", 14) == 0);
    psd_log_fini(&log);
}

static void levels_are_found_by_name(void)
{
    enum psd_log_level found = PSD_LOG_ERROR;

    for (int level = PSD_LOG_ERROR; level <= PSD_LOG_DEBUG; level++) {
        CHECK_OK(psd_log_level_find(psd_log_level_name((enum psd_log_level)level), &found));
        CHECK((int)found == level);
    }
    CHECK_STATUS(PSD_ECONFIG, psd_log_level_find("loud", &found));
    CHECK_TEXT("no log level \"loud\": it is error, warning, info or debug", psd_error());
    CHECK(found == PSD_LOG_DEBUG);
}

int main(int argc, char **argv)
{
    RUN(only_errors_and_warnings_say_what_they_are)
    RUN(a_rank_comes_first)
    RUN(lines_can_begin_as_those_of_glog)
    RUN(less_urgent_messages_are_not_shown)
    RUN(no_log_is_silent)
    RUN(several_lines_each_have_the_prefix)
    RUN(an_endless_line_is_cut)
    RUN(errno_stays_as_it_is)
    RUN(a_descriptor_gets_each_line_in_one_piece)
    RUN(messages_of_several_threads_do_not_mix)
    RUN(levels_are_found_by_name)
}
