/* logging.h - the program's log: what the settings log.* say, and lines on standard error. */
#ifndef PSD_CLI_LOGGING_H
#define PSD_CLI_LOGGING_H

#include "base/log.h"
#include "base/settings.h"
#include "cli/screen.h"

/* What a line begins with. AUTO is GLOG for the commands that Caffe has and whose lines programs
 * read, and NONE for all others. */
enum psd_logging_prefix { PSD_LOGGING_AUTO, PSD_LOGGING_GLOG, PSD_LOGGING_NONE };

struct psd_logging_config {
    enum psd_log_level level;
    enum psd_logging_prefix prefix;
};

extern const struct psd_setting psd_logging_settings[];

/* Makes a log that writes to `screen`, which is borrowed until psd_log_fini. `as_caffe`: AUTO is
 * GLOG. */
void psd_logging_init(struct psd_log *log, const struct psd_logging_config *config, bool as_caffe,
                      struct psd_screen *screen);

#endif
