/* cli.c - from arguments to exit code, for every command alike. */
#include "cli/cli.h"
#include "base/alloc.h"
#include "base/suggest.h"
#include "cli/help.h"
#include "cli/streams.h"
#include "cli/version.h"

#include <stdarg.h>
#include <string.h>

const struct psd_option psd_cli_common_options[] = {
    {"help", NULL, NULL, "shows this help and ends", PSD_BOOL(struct psd_cli_common, help)},
    {"h", NULL, NULL, NULL, PSD_BOOL(struct psd_cli_common, help)},
    {"config-file", "FILE", NULL, "reads settings from FILE instead of the usual places",
     PSD_TEXT(struct psd_cli_common, config_file)},
    {0},
};

const struct psd_option psd_cli_program_options[] = {
    {"version", NULL, NULL, "shows version, commit, features and CPU, and ends",
     PSD_BOOL(struct psd_cli_common, version)},
    {0},
};

psd_status psd_cli_misuse(struct psd_cli *cli, const char *format, ...)
{
    bool with_command = cli->command && !cli->by_alias;
    const char *name = with_command ? cli->command->name : "";
    const char *blank = with_command ? " " : "";
    char sentence[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    cli->misused = true;
    const char *stop = *sentence && sentence[strlen(sentence) - 1] == '?' ? "" : ".";
    return psd_fail(PSD_EINVAL, "%s%s%s: %s%s See \"%s%s%s%s\".", cli->program, blank, name,
                    sentence, stop, cli->program, cli->by_alias ? " --help" : " help", blank, name);
}

const struct psd_command *psd_cli_find(const struct psd_cli *cli, const char *name)
{
    for (size_t i = 0; cli->commands[i]; i++) {
        if (psd_options_same_name(cli->commands[i]->name, name, strlen(name)))
            return cli->commands[i];
    }
    return NULL;
}

psd_status psd_cli_unknown(struct psd_cli *cli, const char *name)
{
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, name, strlen(name));
    for (size_t i = 0; cli->commands[i]; i++)
        psd_suggest_offer(&suggest, cli->commands[i]->name);
    return psd_cli_misuse(cli, "unknown command \"%s\"%s", name, psd_suggest_phrase(&suggest));
}

static psd_status parse(struct psd_cli *cli, const struct psd_options *own, bool leading, int *argc,
                        char **argv)
{
    struct psd_options sets[2] = {*own, {psd_cli_common_options, &cli->common}};
    psd_status status = psd_options_parse(sets, cli->settings, leading, argc, argv);

    return status == PSD_EINVAL ? psd_cli_misuse(cli, "%s", psd_error()) : status;
}

static psd_status check_arguments(struct psd_cli *cli, int argc, char **argv)
{
    const struct psd_command *command = cli->command;

    if (command->most >= 0 && argc > command->most)
        return psd_cli_misuse(cli, "unexpected argument \"%s\"", argv[command->most]);
    if (argc < command->least)
        return psd_cli_misuse(cli, "expected %s", command->synopsis);
    return PSD_OK;
}

/* With settings, and so with a log. */
static psd_status run_configured(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    struct psd_screen screen;
    struct psd_log log;

    if (!cli->command->without_settings)
        PSD_TRY(psd_settings_load(cli->settings, cli->common.config_file, cli->environment));
    psd_screen_init(&screen, cli->err);
    psd_logging_init(&log, &cli->logging, cli->command->logs_as_caffe, &screen);
    cli->screen = &screen;
    cli->log = &log;
    if (*psd_settings_warnings(cli->settings))
        psd_log_warning(cli->log, "%s", psd_settings_warnings(cli->settings));
    psd_status status = cli->command->run(cli, options, argc, argv);
    cli->log = NULL;
    cli->screen = NULL;
    psd_log_fini(&log);
    psd_screen_fini(&screen);
    return status;
}

static psd_status run_parsed(struct psd_cli *cli, const struct psd_options *own, int argc,
                             char **argv)
{
    PSD_TRY(psd_options_init(own));
    PSD_TRY(parse(cli, own, cli->command->options_lead, &argc, argv));
    if (cli->common.help) {
        psd_help_command(cli, cli->command, cli->out);
        return PSD_OK;
    }
    PSD_TRY(check_arguments(cli, argc, argv));
    return run_configured(cli, own->base, argc, argv);
}

static psd_status run_command(struct psd_cli *cli, const struct psd_command *command, int argc,
                              char **argv)
{
    struct psd_options own = {command->options, psd_alloc_zero(1, command->options_size)};

    if (!own.base)
        return PSD_ENOMEM;
    cli->command = command;
    psd_status status = run_parsed(cli, &own, argc, argv);
    psd_options_fini(&own);
    psd_alloc_free(own.base);
    return status;
}

static psd_status run_first(struct psd_cli *cli, int argc, char **argv)
{
    const struct psd_command *command = psd_cli_find(cli, argv[0]);

    return command ? run_command(cli, command, argc - 1, argv + 1) : psd_cli_unknown(cli, argv[0]);
}

/* Options may stand before the command; --help and --version need none. */
static psd_status run_program(struct psd_cli *cli, int argc, char **argv)
{
    struct psd_options own = {psd_cli_program_options, &cli->common};

    PSD_TRY(parse(cli, &own, true, &argc, argv));
    if (cli->common.help) {
        psd_help_program(cli, cli->out);
    } else if (cli->common.version) {
        psd_version_show(cli->out);
    } else if (argc == 0) {
        psd_help_program(cli, cli->err);
        cli->exit_code = PSD_EXIT_MISUSED;
    } else {
        return run_first(cli, argc, argv);
    }
    return PSD_OK;
}

static psd_status run_by_name(struct psd_cli *cli, int argc, char **argv)
{
    for (const struct psd_alias *alias = cli->aliases; alias->name; alias++) {
        cli->by_alias = alias->command && strcmp(alias->name, cli->program) == 0;
        if (cli->by_alias)
            return run_command(cli, alias->command, argc, argv);
    }
    return run_program(cli, argc, argv);
}

/* The tables of the rooms; each fills in a structure in cli. */
static psd_status add_settings(struct psd_cli *cli)
{
    PSD_TRY(psd_settings_create(&cli->settings));
    PSD_TRY(psd_settings_add(cli->settings, psd_logging_settings, &cli->logging));
    return psd_settings_add(cli->settings, psd_network_settings, &cli->network);
}

static void show_failure(struct psd_cli *cli)
{
    if (cli->misused)
        fprintf(cli->err, "%s\n", psd_error());
    else
        psd_streams_show(cli->err, cli->program, psd_error());
    cli->exit_code = cli->misused ? PSD_EXIT_MISUSED : PSD_EXIT_FAILED;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int psd_cli_main(struct psd_cli *cli, int argc, char **argv)
{
    int first = argc > 0; /* execve lets even the name be missing */

    cli->program = first ? base_name(argv[0]) : "poseidon";
    psd_status status = add_settings(cli);
    if (status == PSD_OK)
        status = run_by_name(cli, argc - first, argv + first);
    if (status != PSD_OK)
        show_failure(cli);
    psd_options_fini(&(struct psd_options){psd_cli_common_options, &cli->common});
    psd_settings_destroy(cli->settings);
    int lost = psd_streams_end(cli->out, cli->out_error, cli->err, cli->program);
    return cli->exit_code ? cli->exit_code : lost;
}
