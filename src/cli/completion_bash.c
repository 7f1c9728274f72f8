/* completion_bash.c - one function: it finds the command among the words before the cursor, then
 * offers values after an option that needs one, options after a dash, else arguments. */
#include "cli/completion.h"

static void show_start(FILE *out)
{
    fputs("# Completion of poseidon for bash; made by \"poseidon completion bash\".\n"
          "_poseidon()\n"
          "{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local command= words= options= files= i\n"
          "\n"
          "    # bash makes three words of --option=value\n"
          "    [[ $word == = ]] && word=\n"
          "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}\n",
          out);
}

/* The program's own name, or the first word that is a command. */
static void show_search(const struct psd_cli *cli, FILE *out)
{
    struct psd_completion_context context;

    fputs("    for ((i = 0; i < COMP_CWORD; i++)); do\n"
          "        case $i:${COMP_WORDS[i]##*/} in\n",
          out);
    for (size_t i = 0; psd_completion_context(cli, i, &context); i++)
        fprintf(out, "%s%s:%s", i == 0 ? "        " : " | \\\n        ",
                context.alias ? "0" : "[1-9]*", context.name);
    fputs(") command=${COMP_WORDS[i]##*/}; break ;;\n"
          "        esac\n"
          "    done\n",
          out);
}

static void show_words(const struct psd_cli *cli, const char *needs, FILE *out)
{
    fputs("words='", out);
    psd_completion_words(cli, needs, out);
    fputs(psd_completion_is_file(needs) ? "' files=yes" : "'", out);
}

/* COMMAND:--OPTION, or *:--OPTION where every command has it. */
static void show_values(const struct psd_cli *cli, const struct psd_completion_context *context,
                        FILE *out)
{
    struct psd_completion_option option;
    const struct psd_command *command = context ? context->command : NULL;

    for (size_t i = 0; psd_completion_option(cli, command, i, &option); i++) {
        if (!option.needs[0] || (context && !option.own))
            continue;
        fprintf(out, "    %s:--%s) ", context ? context->name : "*", option.name);
        show_words(cli, option.needs, out);
        fputs(" ;;\n", out);
    }
}

static void show_arguments(const struct psd_cli *cli, const struct psd_completion_context *context,
                           FILE *out)
{
    struct psd_completion_option option;
    const struct psd_command *command = context ? context->command : NULL;
    const char *synopsis = command ? command->synopsis : "COMMAND";

    fprintf(out, "    %s:*) ", context ? context->name : "");
    show_words(cli, synopsis, out);
    fputs(" options='", out);
    for (size_t i = 0; psd_completion_option(cli, command, i, &option); i++)
        fprintf(out, " --%s", option.name);
    fputs("' ;;\n", out);
}

static void show_end(const struct psd_cli *cli, FILE *out)
{
    fputs("    esac\n"
          "    [[ $word == -* && $options ]] && words=$options files=\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "    if [[ $files ]]; then\n"
          "        compopt -o filenames 2>/dev/null\n"
          "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$word\")\n"
          "    fi\n"
          "} &&\n"
          "complete -F _poseidon ",
          out);
    psd_completion_programs(cli, out);
    fputc('\n', out);
}

void psd_completion_bash(const struct psd_cli *cli, FILE *out)
{
    struct psd_completion_context context;

    show_start(out);
    show_search(cli, out);
    fputs("    case $command:$before in\n", out);
    for (size_t i = 0; psd_completion_context(cli, i, &context); i++)
        show_values(cli, &context, out);
    show_values(cli, NULL, out);
    show_arguments(cli, NULL, out);
    for (size_t i = 0; psd_completion_context(cli, i, &context); i++)
        show_arguments(cli, &context, out);
    show_end(cli, out);
}
