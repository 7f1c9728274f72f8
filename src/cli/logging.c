/* logging.c - a sink for the log. Standard error has no buffer, so a line is one write. */
#include "cli/logging.h"

static const char *const levels[] = {"error", "warning", "info", "debug", NULL};

const struct psd_setting psd_logging_settings[] = {
    {"log.level", "info", "messages of this level and more urgent ones are shown",
     PSD_CHOICE(struct psd_logging_config, level, levels)},
    {0},
};

static void write_line(void *context, const char *line, size_t length)
{
    fwrite(line, 1, length, context);
}

void psd_logging_init(struct psd_log *log, const struct psd_logging_config *config, FILE *err)
{
    psd_log_init(log, config->level, PSD_LOG_NO_RANK, write_line, err);
}
