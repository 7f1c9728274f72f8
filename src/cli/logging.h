/* logging.h - the program's log: what the settings log.* say, and lines on standard error. */
#ifndef PSD_CLI_LOGGING_H
#define PSD_CLI_LOGGING_H

#include "base/log.h"
#include "base/settings.h"

#include <stdio.h>

struct psd_logging_config {
    enum psd_log_level level;
};

extern const struct psd_setting psd_logging_settings[];

/* Makes a log that writes to `err`, which is borrowed until psd_log_fini. */
void psd_logging_init(struct psd_log *log, const struct psd_logging_config *config, FILE *err);

#endif
