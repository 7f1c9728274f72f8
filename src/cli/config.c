/* config.c - "poseidon config": the settings in force, as a settings file. */
#include "base/alloc.h"
#include "base/settings_text.h"
#include "base/suggest.h"
#include "cli/cli.h"

#include <string.h>

static psd_status show_entry(FILE *out, const struct psd_settings_entry *entry)
{
    char accepts[500];
    char *quoted = psd_settings_text_quote(entry->text);

    if (!quoted)
        return PSD_ENOMEM;
    fprintf(out, "# %s: %s\n", entry->setting->help,
            psd_value_accepts(&entry->setting->value, accepts, sizeof accepts));
    fprintf(out, "# from: %s\n%s = %s\n", entry->place, entry->setting->name, quoted);
    psd_alloc_free(quoted);
    return PSD_OK;
}

static psd_status show_all(struct psd_cli *cli)
{
    const struct psd_settings_entry *entry;

    for (size_t i = 0; (entry = psd_settings_entry(cli->settings, i)); i++) {
        if (i)
            fputc('\n', cli->out);
        PSD_TRY(show_entry(cli->out, entry));
    }
    return PSD_OK;
}

static psd_status unknown(struct psd_cli *cli, const char *name)
{
    const struct psd_settings_entry *entry;
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, name, strlen(name));
    for (size_t i = 0; (entry = psd_settings_entry(cli->settings, i)); i++)
        psd_suggest_offer(&suggest, entry->setting->name);
    return psd_cli_misuse(cli, "unknown setting \"%s\"%s", name, psd_suggest_phrase(&suggest));
}

static psd_status run(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    (void)options;
    if (argc == 0)
        return show_all(cli);
    const struct psd_settings_entry *entry =
        psd_settings_find(cli->settings, argv[0], strlen(argv[0]));
    if (!entry)
        return unknown(cli, argv[0]);
    fprintf(cli->out, "%s\n", entry->text);
    return PSD_OK;
}

const struct psd_command psd_command_config = {
    .name = "config",
    .summary = "prints the settings in force, and where each comes from",
    .synopsis = "[SETTING]",
    .most = 1,
    .description = "Prints every setting with its value, in the form of a settings file: what it "
                   "prints can be saved as poseidon.conf and read again. With the name of a "
                   "setting it prints the value alone.",
    .run = run,
};
