/* settings_fuzz.c - any bytes as a settings file: no crash, and what is accepted survives being
 * written and read again. */
#include "base/alloc.h"
#include "base/settings_text.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static const char *const levels[] = {"error", "warning", "info", "debug", NULL};

struct config {
    bool flag;
    int64_t port;
    double rate;
    size_t window;
    uint64_t timeout_ns;
    char *name;
    int level;
};

static const struct psd_setting table[] = {
    {"net.flag", "off", "a switch", PSD_BOOL(struct config, flag)},
    {"net.port", "7070", "a whole number", PSD_INT(struct config, port, 1, 65535)},
    {"net.rate", "0.5", "a number", PSD_DOUBLE(struct config, rate)},
    {"net.window", "64K", "a size", PSD_SIZE(struct config, window)},
    {"net.timeout", "10s", "a time", PSD_TIME(struct config, timeout_ns)},
    {"net.name", "", "a text", PSD_TEXT(struct config, name)},
    {"log.level", "info", "a choice", PSD_CHOICE(struct config, level, levels)},
    {0},
};

static void read_again(struct psd_settings *settings, const struct psd_settings_entry *entry)
{
    char *before = psd_alloc_text("%s", entry->text);
    char *quoted = psd_settings_text_quote(entry->text);
    char *line = psd_alloc_text("%s = %s", entry->setting->name, quoted);
    struct psd_sentences mistakes = {0};

    psd_settings_text_parse(settings, "again", line, strlen(line), &mistakes);
    if (mistakes.count || strcmp(before, entry->text) != 0)
        abort();
    psd_alloc_free(before);
    psd_alloc_free(quoted);
    psd_alloc_free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config config = {0};
    struct psd_sentences mistakes = {0};
    struct psd_settings *settings = NULL;
    const struct psd_settings_entry *entry;

    if (psd_settings_create(&settings) != PSD_OK ||
        psd_settings_add(settings, table, &config) != PSD_OK)
        abort();
    psd_settings_text_parse(settings, "fuzz.conf", (const char *)data, size, &mistakes);
    for (size_t i = 0; (entry = psd_settings_entry(settings, i)); i++)
        read_again(settings, entry);
    psd_settings_destroy(settings);
    return 0;
}
