/* completion_fish.c - a line for each command, option and list of arguments. */
#include "cli/completion.h"

static void show_text(FILE *out, const char *flag, const char *text)
{
    fprintf(out, " %s ", flag);
    psd_completion_quote(out, text, "\\'");
}

/* The beginning of a line, with the condition under which it holds; NULL: before a command. */
static void show_start(FILE *out, const struct psd_completion_context *context)
{
    if (!context)
        fputs("complete -c poseidon -n __fish_use_subcommand", out);
    else if (context->alias)
        fprintf(out, "complete -c %s", context->name);
    else
        fprintf(out, "complete -c poseidon -n '__fish_seen_subcommand_from %s'", context->name);
}

static void show_values(const struct psd_cli *cli, const char *needs, FILE *out)
{
    if (psd_completion_is_file(needs))
        fputs(" -F", out);
    fputs(" -a '", out);
    psd_completion_words(cli, needs, out);
    fputs("'", out);
}

static void show_option(const struct psd_cli *cli, const struct psd_completion_option *option,
                        FILE *out)
{
    fprintf(out, " -l %s", option->name);
    if (option->needs[0]) {
        fputs(psd_completion_is_file(option->needs) ? " -r" : " -x", out);
        show_values(cli, option->needs, out);
    }
    show_text(out, "-d", option->help);
    fputc('\n', out);
}

/* What every command has is said once, of the program. */
static void show_context(const struct psd_cli *cli, const struct psd_completion_context *context,
                         FILE *out)
{
    const struct psd_command *command = context ? context->command : NULL;
    struct psd_completion_option option;

    for (size_t i = 0; psd_completion_option(cli, command, i, &option); i++) {
        if (option.own || (context && context->alias))
            show_start(out, context);
        else if (!context)
            fputs("complete -c poseidon", out);
        else
            continue;
        show_option(cli, &option, out);
    }
    if (command && *command->synopsis) {
        show_start(out, context);
        show_values(cli, command->synopsis, out);
        fputc('\n', out);
    }
}

void psd_completion_fish(const struct psd_cli *cli, FILE *out)
{
    struct psd_completion_context context;

    fputs("# Completion of poseidon for fish; made by \"poseidon completion fish\".\n"
          "complete -c poseidon -f\n",
          out);
    for (size_t i = 0; cli->commands[i]; i++) {
        show_start(out, NULL);
        fprintf(out, " -a %s", cli->commands[i]->name);
        show_text(out, "-d", cli->commands[i]->summary);
        fputc('\n', out);
    }
    show_context(cli, NULL, out);
    for (size_t i = 0; psd_completion_context(cli, i, &context); i++)
        show_context(cli, &context, out);
}
