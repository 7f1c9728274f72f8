/* cli_test.c - a run of the program with commands made for the purpose. */
#include "base/alloc.h"
#include "cli/cli.h"
#include "test.h"

struct greet_options {
    bool loud;
    char *whom;
};

static const struct psd_option greet_options[] = {
    {"loud", NULL, NULL, "adds an exclamation mark", PSD_BOOL(struct greet_options, loud)},
    {"whom", "NAME", "world", "greets NAME", PSD_TEXT(struct greet_options, whom)},
    {0},
};

static psd_status greet(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct greet_options *options = opaque;

    fprintf(cli->out, "hello %s%s", options->whom, options->loud ? "!" : "");
    for (int i = 0; i < argc; i++)
        fprintf(cli->out, " [%s]", argv[i]);
    fputc('\n', cli->out);
    psd_log_info(cli->log, "greeted");
    return PSD_OK;
}

static psd_status fail(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    (void)options, (void)argc;
    if (strcmp(argv[0], "misuse") == 0)
        return psd_cli_misuse(cli, "no %s", argv[0]);
    cli->exit_code = 75;
    if (strcmp(argv[0], "requeue") == 0)
        return PSD_OK;
    return psd_fail(PSD_ECONFIG, "it went wrong\na.prototxt:12:5: unknown field");
}

static const struct psd_command greet_command = {
    .name = "greet",
    .summary = "says hello",
    .synopsis = "FILE [FILE]",
    .least = 1,
    .most = 2,
    .description = "Says hello.",
    .options = greet_options,
    .options_size = sizeof(struct greet_options),
    .run = greet,
};
static const struct psd_command fail_command = {.name = "fail",
                                                .summary = "does not work",
                                                .synopsis = "[HOW]",
                                                .most = -1,
                                                .description = "Fails.",
                                                .run = fail};
static const struct psd_command *const commands[] = {&greet_command, &fail_command, NULL};
static const struct psd_alias aliases[] = {{"caffe", NULL}, {"hello", &greet_command}, {0}};

static char out[10000], err[10000];

/* Runs words separated by blanks; what was printed is in out and err. */
static int run(const char *line)
{
    char copy[500], *rest = copy, *argv[16] = {NULL};
    char environment[] = "PSD_CONFIG_FILE=/dev/null";
    int argc = 0;
    struct psd_cli cli = {
        .commands = commands, .aliases = aliases, .environment = (char *[]){environment, NULL}};

    snprintf(copy, sizeof copy, "%s", line);
    for (char *word; (word = strsep(&rest, " "));)
        argv[argc++] = word;
    memset(out, 0, sizeof out);
    memset(err, 0, sizeof err);
    cli.out = fmemopen(out, sizeof out, "w");
    cli.err = fmemopen(err, sizeof err, "w");
    int code = psd_cli_main(&cli, argc, argv);
    fclose(cli.out);
    fclose(cli.err);
    return code;
}

static void a_command_gets_its_options_and_arguments(void)
{
    CHECK(run("poseidon greet --whom=sea a --loud b") == 0);
    CHECK_TEXT("hello sea! [a] [b]\n", out);
    CHECK(run("/usr/bin/poseidon greet a") == 0);
    CHECK_TEXT("hello world [a]\n", out);
}

static void a_command_has_a_log_of_the_level_that_is_set(void)
{
    CHECK(run("poseidon greet a") == 0);
    CHECK_TEXT("greeted\n", err);
    CHECK(run("poseidon --log-level warning greet a") == 0);
    CHECK_TEXT("", err);
}

static void wrong_use_is_one_sentence_and_code_2(void)
{
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"poseidon gret",
         "poseidon: unknown command \"gret\"; did you mean \"greet\"? See \"poseidon help\".\n"},
        {"poseidon xyz", "poseidon: unknown command \"xyz\". See \"poseidon help\".\n"},
        {"poseidon --xyz", "poseidon: unknown option \"--xyz\". See \"poseidon help\".\n"},
        {"poseidon greet --load a", "poseidon greet: unknown option \"--load\"; did you mean "
                                    "\"--loud\"? See \"poseidon help greet\".\n"},
        {"poseidon greet a --whom", "poseidon greet: option \"--whom\" needs a value: NAME. See "
                                    "\"poseidon help greet\".\n"},
        {"poseidon greet", "poseidon greet: expected FILE [FILE]. See \"poseidon help greet\".\n"},
        {"poseidon greet a b c",
         "poseidon greet: unexpected argument \"c\". See \"poseidon help greet\".\n"},
        {"poseidon fail misuse", "poseidon fail: no misuse. See \"poseidon help fail\".\n"},
        {"caffe greet", "caffe greet: expected FILE [FILE]. See \"caffe help greet\".\n"},
        {"hello", "hello: expected FILE [FILE]. See \"hello --help\".\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(run(cases[i].line) == 2);
        CHECK_TEXT(cases[i].sentence, err);
        CHECK_TEXT("", out);
    }
}

static void a_failure_is_shown_line_by_line_with_code_1(void)
{
    CHECK(run("poseidon fail really") == 1);
    CHECK_TEXT("poseidon: it went wrong\na.prototxt:12:5: unknown field\n", err);
}

static void a_command_may_choose_its_exit_code(void)
{
    CHECK(run("poseidon fail requeue") == 75);
}

static void help_is_shown_whatever_else_is_wrong(void)
{
    CHECK(run("poseidon --help") == 0);
    CHECK(strstr(out, "Usage: poseidon COMMAND") && strstr(out, "greet "));
    CHECK(run("poseidon greet -h") == 0);
    CHECK(strstr(out, "Usage: poseidon greet [OPTION]... FILE [FILE]\n"));
    CHECK(strstr(out, "--whom NAME"));
    CHECK(strstr(out, "(default: world)"));
    CHECK(run("hello --help") == 0);
    CHECK(strstr(out, "Usage: hello [OPTION]... FILE [FILE]\n"));
}

static void nothing_at_all_is_wrong_use(void)
{
    CHECK(run("poseidon") == 2);
    CHECK_TEXT("", out);
    CHECK(strstr(err, "Usage: poseidon COMMAND"));
}

static void another_name_is_a_command_or_the_program(void)
{
    CHECK(run("caffe greet a") == 0);
    CHECK_TEXT("hello world [a]\n", out);
    CHECK(run("./hello a --loud") == 0);
    CHECK_TEXT("hello world! [a]\n", out);
}

static void every_failed_allocation_is_one_sentence(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        int code = run("poseidon greet --whom=sea --log-level=error a");
        failed = psd_alloc_fail_at(-1);
        CHECK(code == (failed ? 1 : 0));
        CHECK((strstr(err, "poseidon: out of memory") != NULL) == failed);
    }
}

int main(int argc, char **argv)
{
    RUN(a_command_gets_its_options_and_arguments)
    RUN(a_command_has_a_log_of_the_level_that_is_set)
    RUN(wrong_use_is_one_sentence_and_code_2)
    RUN(a_failure_is_shown_line_by_line_with_code_1)
    RUN(a_command_may_choose_its_exit_code)
    RUN(help_is_shown_whatever_else_is_wrong)
    RUN(nothing_at_all_is_wrong_use)
    RUN(another_name_is_a_command_or_the_program)
    RUN(every_failed_allocation_is_one_sentence)
}
