/* log.c - a message becomes lines, and lines go to the sink. */
#include "base/log.h"
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_SIZE = PSD_LOG_LONGEST - PSD_LOG_PREFIX };

const char *const psd_log_level_names[] = {"error", "warning", "info", "debug", NULL};

void psd_log_init(struct psd_log *log, enum psd_log_level level, int rank,
                  void (*sink)(void *context, const char *line, size_t length), void *context)
{
    *log = (struct psd_log){.level = level, .rank = rank, .sink = sink, .context = context};
    pthread_mutex_init(&log->lock, NULL);
}

void psd_log_fini(struct psd_log *log)
{
    pthread_mutex_destroy(&log->lock);
}

void psd_log_sink_fd(void *context, const char *line, size_t length)
{
    const int *fd = context;
    ssize_t written;

    do {
        written = write(*fd, line, length);
    } while (written < 0 && errno == EINTR);
}

/* Writes "RANK: LEVEL: " as far as they apply. */
static size_t plain_prefix(const struct psd_log *log, enum psd_log_level level, char *out)
{
    int length = 0;

    if (log->rank >= 0)
        length = snprintf(out, PSD_LOG_PREFIX, "%d: ", log->rank);
    if (level <= PSD_LOG_WARNING)
        length += snprintf(out + length, PSD_LOG_PREFIX - (size_t)length,
                           "%s: ", psd_log_level_name(level));
    return (size_t)length;
}

/* Programs that take a line apart look for a word, ".cpp:" and a number; none asks which. */
size_t psd_log_prefix_glog(const struct psd_log *log, enum psd_log_level level, char *out)
{
    static const char letters[] = {'E', 'W', 'I', 'I'};
    struct timespec now;
    struct tm date;
    char day[24] = "";

    (void)log;
    clock_gettime(CLOCK_REALTIME, &now);
    if (localtime_r(&now.tv_sec, &date))
        strftime(day, sizeof day, "%m%d %H:%M:%S", &date);
    return (size_t)snprintf(out, PSD_LOG_PREFIX, "%c%s.%06ld %5ld poseidon.cpp:1] ", letters[level],
                            day, now.tv_nsec / 1000, (long)gettid());
}

/* Hands the text to the sink line by line; a newline at its end is not another, empty line. */
static void send_lines(struct psd_log *log, enum psd_log_level level, const char *text)
{
    char line[PSD_LOG_LONGEST + 1];
    size_t prefix = (log->prefix ? log->prefix : plain_prefix)(log, level, line);

    pthread_mutex_lock(&log->lock);
    do {
        size_t length = strcspn(text, "\n");
        memcpy(line + prefix, text, length);
        memcpy(line + prefix + length, "\n", 2);
        log->sink(log->context, line, prefix + length + 1);
        text += length + (text[length] == '\n');
    } while (*text);
    pthread_mutex_unlock(&log->lock);
}

__attribute__((format(printf, 3, 0))) static void write_message(struct psd_log *log,
                                                                enum psd_log_level level,
                                                                const char *format, va_list args)
{
    static const char cut[] = "...";
    char text[TEXT_SIZE];
    int before = errno;

    if (!log || level > log->level)
        return;
    int length = vsnprintf(text, sizeof text, format, args);
    if (length < 0)
        strcpy(text, "a message that cannot be put into words");
    else if ((size_t)length >= sizeof text)
        memcpy(text + sizeof text - sizeof cut, cut, sizeof cut);
    send_lines(log, level, text);
    errno = before;
}

void psd_log_error(struct psd_log *log, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_message(log, PSD_LOG_ERROR, format, args);
    va_end(args);
}

void psd_log_warning(struct psd_log *log, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_message(log, PSD_LOG_WARNING, format, args);
    va_end(args);
}

void psd_log_info(struct psd_log *log, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_message(log, PSD_LOG_INFO, format, args);
    va_end(args);
}

void psd_log_debug(struct psd_log *log, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_message(log, PSD_LOG_DEBUG, format, args);
    va_end(args);
}

const char *psd_log_level_name(enum psd_log_level level)
{
    return psd_log_level_names[level];
}

psd_status psd_log_level_find(const char *name, enum psd_log_level *out)
{
    for (int i = 0; psd_log_level_names[i]; i++) {
        if (strcmp(name, psd_log_level_names[i]) == 0) {
            *out = (enum psd_log_level)i;
            return PSD_OK;
        }
    }
    return psd_fail(PSD_ECONFIG, "no log level \"%s\": it is error, warning, info or debug", name);
}
