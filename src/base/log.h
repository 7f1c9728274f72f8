/* log.h - tells people what happens, a whole line at a time.
 *
 *     psd_log_warning(log, "%s has left", peer)      any thread, many processes
 *            |
 *            v
 *     "3: warning: 10.0.0.7 has left\n"  --->  sink(context, line, length)
 *      |     |
 *      |     only errors and warnings say what they are
 *      the rank, where a job has several
 *
 * Where programs read the log that know Google's, lines begin as theirs do (psd_log_prefix_glog):
 *
 *     "W1115 18:53:56.938479 32358 poseidon.cpp:1] 10.0.0.7 has left\n"
 *
 * The library does not choose where lines go: whoever owns the log gives it a sink. Each call of
 * the sink is one line, and there is one call at a time, so lines never mix. A message of several
 * lines becomes several, together and each with its prefix. A NULL log is silent, so code that may
 * log need not ask whether it should. Any thread; init and fini by the owner. */
#ifndef PSD_BASE_LOG_H
#define PSD_BASE_LOG_H

#include "poseidon/status.h"

#include <pthread.h>
#include <stddef.h>

/* From the most to the least urgent; a log shows its own level and all before it. */
enum psd_log_level { PSD_LOG_ERROR, PSD_LOG_WARNING, PSD_LOG_INFO, PSD_LOG_DEBUG };

/* A log rank for lines without one. */
enum { PSD_LOG_NO_RANK = -1 };

/* No line is longer, its newline included; what is beyond is cut and ends in "...". This much a
 * pipe takes in one piece even from several processes at once. */
enum { PSD_LOG_LONGEST = 4096, PSD_LOG_PREFIX = 64 };

/* In memory of its owner; filled in by init and constant afterwards. */
struct psd_log {
    enum psd_log_level level;
    int rank;
    void (*sink)(void *context, const char *line, size_t length);
    void *context;        /* borrowed until fini */
    pthread_mutex_t lock; /* guards what is behind the sink: it is held for each message */

    /* What a line begins with, set by the owner after init: writes it and returns its length, less
     * than PSD_LOG_PREFIX. NULL: rank and level, as above. */
    size_t (*prefix)(const struct psd_log *log, enum psd_log_level level, char *out);
};

/* Makes a log that shows messages of `level` and more urgent ones. `line` has `length` bytes, the
 * last of which is a newline; it is borrowed for the call. The sink must not log itself. */
void psd_log_init(struct psd_log *log, enum psd_log_level level, int rank,
                  void (*sink)(void *context, const char *line, size_t length), void *context);
void psd_log_fini(struct psd_log *log);

/* A sink that writes to a descriptor, each line in one write(); `context` points to the descriptor,
 * an int. A line that cannot be written is lost. */
void psd_log_sink_fd(void *context, const char *line, size_t length);

/* A prefix as of the glog library before its version 0.6: letter of the level, month and day, local
 * time, thread, and a place in the source, which is always the same one here. */
size_t psd_log_prefix_glog(const struct psd_log *log, enum psd_log_level level, char *out);

/* Log a message made as by printf. They leave errno as it is. */
__attribute__((format(printf, 2, 3))) void psd_log_error(struct psd_log *log, const char *format,
                                                         ...);
__attribute__((format(printf, 2, 3))) void psd_log_warning(struct psd_log *log, const char *format,
                                                           ...);
__attribute__((format(printf, 2, 3))) void psd_log_info(struct psd_log *log, const char *format,
                                                        ...);
__attribute__((format(printf, 2, 3))) void psd_log_debug(struct psd_log *log, const char *format,
                                                         ...);

/* "error", "warning", "info" or "debug". */
const char *psd_log_level_name(enum psd_log_level level);

/* All of them in their order; ends with NULL. */
extern const char *const psd_log_level_names[];

/* The level with that name. PSD_ECONFIG: there is none; the sentence lists them. */
psd_status psd_log_level_find(const char *name, enum psd_log_level *out);

#endif
