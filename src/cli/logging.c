/* logging.c - the log's level and prefix, and the screen as its sink. */
#include "cli/logging.h"

static const char *const prefixes[] = {"auto", "glog", "none", NULL};

const struct psd_setting psd_logging_settings[] = {
    {"log.level", "info", "messages of this level and more urgent ones are shown",
     PSD_CHOICE(struct psd_logging_config, level, psd_log_level_names)},
    {"log.prefix", "auto",
     "what a line begins with: date, time and thread as glog writes them, or nothing; auto is glog "
     "for train, test and time",
     PSD_CHOICE(struct psd_logging_config, prefix, prefixes)},
    {0},
};

void psd_logging_init(struct psd_log *log, const struct psd_logging_config *config, bool as_caffe,
                      struct psd_screen *screen)
{
    bool automatic = config->prefix == PSD_LOGGING_AUTO;

    psd_log_init(log, config->level, PSD_LOG_NO_RANK, psd_screen_write, screen);
    if (config->prefix == PSD_LOGGING_GLOG || (automatic && as_caffe))
        log->prefix = psd_log_prefix_glog;
}
