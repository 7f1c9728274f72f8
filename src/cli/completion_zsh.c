/* completion_zsh.c - a call of zsh's _arguments for the program, and one for each command. */
#include "cli/completion.h"

/* In a specification of _arguments [ ] : and \ have a meaning. */
static void show_help(FILE *out, const char *help)
{
    for (; *help; help++) {
        if (*help == '[' || *help == ']' || *help == ':' || *help == '\\')
            fputc('\\', out);
        if (*help == '\'')
            fputs("'\\''", out);
        else
            fputc(*help, out);
    }
}

/* What completes an argument or value: ":message:action". */
static void show_action(const struct psd_cli *cli, const char *needs, FILE *out)
{
    fputs(":value:", out);
    if (psd_completion_is_file(needs)) {
        fputs("_files", out);
        return;
    }
    fputs("(", out);
    psd_completion_words(cli, needs, out);
    fputs(")", out);
}

static void show_options(const struct psd_cli *cli, const struct psd_command *command, FILE *out)
{
    struct psd_completion_option option;

    for (size_t i = 0; psd_completion_option(cli, command, i, &option); i++) {
        fprintf(out, " \\\n        '--%s%s[", option.name, option.needs[0] ? "=" : "");
        show_help(out, option.help);
        fputs("]", out);
        if (option.needs[0])
            show_action(cli, option.needs, out);
        fputs("'", out);
    }
}

static void show_context(const struct psd_cli *cli, const struct psd_completion_context *context,
                         FILE *out)
{
    fprintf(out, "    %s)\n        _arguments", context->name);
    show_options(cli, context->command, out);
    if (*context->command->synopsis) {
        fputs(" \\\n        '*", out);
        show_action(cli, context->command->synopsis, out);
        fputs("'", out);
    }
    fputs(" ;;\n", out);
}

static void show_program(const struct psd_cli *cli, FILE *out)
{
    fputs("    *)\n        _arguments -C", out);
    show_options(cli, NULL, out);
    fputs(" \\\n        '1:command:->command' '*::argument:->argument'\n"
          "        case $state in\n"
          "        command) _describe command commands ;;\n"
          "        argument) _poseidon_context $words[1] ;;\n"
          "        esac ;;\n",
          out);
}

static void show_commands(const struct psd_cli *cli, FILE *out)
{
    fputs("    local -a commands=(", out);
    for (size_t i = 0; cli->commands[i]; i++) {
        fprintf(out, "\n        '%s:", cli->commands[i]->name);
        show_help(out, cli->commands[i]->summary);
        fputs("'", out);
    }
    fputs(")\n", out);
}

void psd_completion_zsh(const struct psd_cli *cli, FILE *out)
{
    struct psd_completion_context context;

    fputs("#compdef ", out);
    psd_completion_programs(cli, out);
    fputs("\n# Completion of poseidon for zsh; made by \"poseidon completion zsh\".\n"
          "_poseidon_context()\n"
          "{\n"
          "    local context curcontext=$curcontext state line\n",
          out);
    show_commands(cli, out);
    fputs("    case $1 in\n", out);
    for (size_t i = 0; psd_completion_context(cli, i, &context); i++)
        show_context(cli, &context, out);
    show_program(cli, out);
    fputs("    esac\n"
          "}\n"
          "if [[ $funcstack[1] == _poseidon ]]; then\n"
          "    _poseidon_context $service\n"
          "else\n"
          "    compdef '_poseidon_context $service' ",
          out);
    psd_completion_programs(cli, out);
    fputs("\nfi\n", out);
}
