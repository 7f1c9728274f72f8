/* command_test.c - the frame of the program: help, options, settings, completion, broken output. */
#include "run.h"

static void help_lists_the_commands(void)
{
    run_start();
    CHECK(run("$POSEIDON --help") == 0);
    CHECK(strstr(run_out, "Usage: poseidon COMMAND"));
    CHECK(strstr(run_out, "  config "));
    CHECK_TEXT("", run_err);

    CHECK(run("$POSEIDON --help >a; $POSEIDON -h >b; $POSEIDON help >c; cmp a b && cmp b c") == 0);
    CHECK(run("$POSEIDON config --help >a; $POSEIDON help config >b; cmp a b") == 0);
}

static void help_of_every_command_fits_into_80_columns(void)
{
    run_start();
    CHECK(
        run("for name in $($POSEIDON help | sed -n '/^Commands/,/^$/s/^  \\([a-z-]*\\) .*/\\1/p'); "
            "do $POSEIDON help $name || exit 1; done >all") == 0);
    CHECK(run("test -s all && ! grep '.\\{81\\}' all") == 0);
}

static void the_version_says_what_a_bug_report_needs(void)
{
    run_start();
    CHECK(run("$POSEIDON --version") == 0);
    CHECK(strncmp(run_out, "poseidon " PSD_VERSION "\n", strlen("poseidon " PSD_VERSION "\n")) ==
          0);
    CHECK(strstr(run_out, "\ncommit: "));
    CHECK(strstr(run_out, "\nfeatures: protobuf-c "));
    CHECK(strstr(run_out, " openssl "));
    CHECK(strstr(run_out, "\nCPU: "));
    CHECK(strstr(run_out, "\ncompiler: "));
}

static void without_arguments_help_goes_to_standard_error(void)
{
    run_start();
    CHECK(run("$POSEIDON") == 2);
    CHECK_TEXT("", run_out);
    CHECK(strstr(run_err, "Usage: poseidon COMMAND"));
}

static void wrong_use_is_one_sentence_and_code_2(void)
{
    run_start();
    CHECK(run("$POSEIDON confg") == 2);
    CHECK_TEXT("poseidon: unknown command \"confg\"; did you mean \"config\"? "
               "See \"poseidon help\".\n",
               run_err);
    CHECK(run("$POSEIDON config --log-levl=debug") == 2);
    CHECK_TEXT("poseidon config: unknown option \"--log-levl\"; did you mean \"--log-level\"? "
               "See \"poseidon help config\".\n",
               run_err);
    CHECK(run("$POSEIDON config log.level extra") == 2);
    CHECK_TEXT("poseidon config: unexpected argument \"extra\". See \"poseidon help config\".\n",
               run_err);
    CHECK(run("$POSEIDON config log.levl") == 2);
    CHECK_TEXT("poseidon config: unknown setting \"log.levl\"; did you mean \"log.level\"? "
               "See \"poseidon help config\".\n",
               run_err);
}

static void flag_beats_environment_beats_file_beats_default(void)
{
    run_start();
    CHECK(run("$POSEIDON config log.level") == 0);
    CHECK_TEXT("info\n", run_out);

    run_write("a.conf", "log.level = warning\n");
    CHECK(run("$POSEIDON config log.level --config-file a.conf") == 0);
    CHECK_TEXT("warning\n", run_out);
    CHECK(run("PSD_CONFIG_FILE=a.conf PSD_LOG_LEVEL=debug $POSEIDON config log.level") == 0);
    CHECK_TEXT("debug\n", run_out);
    CHECK(run("PSD_CONFIG_FILE=a.conf PSD_LOG_LEVEL=debug "
              "$POSEIDON -log_level=error config log.level") == 0);
    CHECK_TEXT("error\n", run_out);
}

static void the_origin_of_each_value_is_shown(void)
{
    run_start();
    CHECK(run("mkdir -p .config/poseidon") == 0);
    run_write(".config/poseidon/poseidon.conf", "# mine\nlog.level = debug\n");
    CHECK(run("$POSEIDON config") == 0);
    CHECK(strstr(run_out, "/.config/poseidon/poseidon.conf:2\nlog.level = debug\n"));
    CHECK(run("PSD_LOG_LEVEL=error $POSEIDON config") == 0);
    CHECK(strstr(run_out, "# from: environment PSD_LOG_LEVEL\nlog.level = error\n"));
    CHECK(run("$POSEIDON config --log-level error") == 0);
    CHECK(strstr(run_out, "# from: --log-level\nlog.level = error\n"));
}

static void what_config_prints_is_a_settings_file(void)
{
    run_start();
    CHECK(run("$POSEIDON --log-level debug config >saved.conf") == 0);
    CHECK(run("$POSEIDON config --config-file saved.conf log.level") == 0);
    CHECK_TEXT("debug\n", run_out);
}

static void mistakes_in_a_settings_file_are_all_shown(void)
{
    run_start();
    run_write("a.conf", "log.levl = info\n\nlog.level = loud\n");
    CHECK(run("$POSEIDON config --config-file a.conf") == 1);
    CHECK_TEXT("", run_out);
    CHECK_TEXT("a.conf:1: unknown setting \"log.levl\"; did you mean \"log.level\"?\n"
               "a.conf:3: log.level: \"loud\" is not one of error, warning, info, debug\n",
               run_err);
    CHECK(run("$POSEIDON help --config-file a.conf") == 0);
}

static void strange_settings_files_are_one_sentence(void)
{
    run_start();
    CHECK(run("$POSEIDON config --config-file nowhere.conf") == 1);
    CHECK_TEXT("poseidon: cannot open nowhere.conf: No such file or directory\n", run_err);
    CHECK(run("$POSEIDON config --config-file .") == 1);
    CHECK_TEXT("poseidon: cannot read .: Is a directory\n", run_err);
    CHECK(run("printf 'a\\0b' >nul.conf; $POSEIDON config --config-file nul.conf") == 1);
    CHECK_TEXT("nul.conf:1: byte 0x00 does not belong in a text file\n", run_err);
    CHECK(run("$POSEIDON config --config-file /dev/zero") == 1);
    CHECK_TEXT("poseidon: /dev/zero is larger than 1 MiB; is it a settings file?\n", run_err);
}

static void a_mistyped_variable_is_a_warning(void)
{
    run_start();
    CHECK(run("PSD_LOG_LEVLE=debug $POSEIDON config log.level") == 0);
    CHECK_TEXT("info\n", run_out);
    CHECK_TEXT("warning: environment PSD_LOG_LEVLE is not a setting; "
               "did you mean PSD_LOG_LEVEL?\n",
               run_err);
}

static void bash_completes_commands_options_and_values(void)
{
    static const struct {
        const char *words, *completions;
    } cases[] = {
        {"poseidon conf", "config\n"},
        {"poseidon config --log-l", "--log-level\n"},
        {"poseidon config --log-level = d", "debug\n"},
        {"poseidon config --log-level w", "warning\n"},
        {"poseidon --log-level debug completion f", "fish\n"},
        {"poseidon config --config-file scr", "script\n"},
        {"poseidon help sett", "settings\n"},
    };

    run_start();
    CHECK(run("$POSEIDON completion bash >script") == 0);
    run_write("complete", ". ./script\n"
                          "COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))\n"
                          "_poseidon poseidon\n"
                          "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(run("bash complete %s", cases[i].words) == 0);
        CHECK_TEXT(cases[i].completions, run_out);
        CHECK_TEXT("", run_err);
    }
}

static void other_shells_have_their_completion(void)
{
    run_start();
    CHECK(run("$POSEIDON completion zsh") == 0);
    CHECK(strncmp(run_out, "#compdef poseidon", strlen("#compdef poseidon")) == 0);
    CHECK(run("$POSEIDON completion fish") == 0);
    CHECK(strstr(run_out, "complete -c poseidon "));
    CHECK(run("$POSEIDON completion csh") == 2);
    CHECK_TEXT("poseidon completion: \"csh\" is not one of bash, zsh, fish. "
               "See \"poseidon help completion\".\n",
               run_err);
}

static void output_that_is_lost_is_a_failure(void)
{
    run_start();
    CHECK(run("$POSEIDON help >/dev/full") == 1);
    CHECK_TEXT("poseidon: standard output: No space left on device\n", run_err);
    CHECK(run("$POSEIDON help >&-") == 1);
    CHECK_TEXT("poseidon: standard output: Bad file descriptor\n", run_err);
    CHECK(run("$POSEIDON help <&- 2>&-") == 0);
}

static void a_reader_that_has_seen_enough_is_no_reason_to_complain(void)
{
    run_start();
    CHECK(run("mkfifo pipe; (exec <pipe) & exec 3>pipe; wait; $POSEIDON help >&3") == 1);
    CHECK_TEXT("", run_err);
}

static void every_other_name_of_the_program_has_its_help(void)
{
    run_start();
    CHECK(run("for name in $($POSEIDON help --names); do "
              "ln -s $POSEIDON $name && ./$name --help >help && grep -q \"^Usage: $name \" help || "
              "exit 1; done") == 0);
}

int main(int argc, char **argv)
{
    RUN(help_lists_the_commands)
    RUN(help_of_every_command_fits_into_80_columns)
    RUN(the_version_says_what_a_bug_report_needs)
    RUN(without_arguments_help_goes_to_standard_error)
    RUN(wrong_use_is_one_sentence_and_code_2)
    RUN(flag_beats_environment_beats_file_beats_default)
    RUN(the_origin_of_each_value_is_shown)
    RUN(what_config_prints_is_a_settings_file)
    RUN(mistakes_in_a_settings_file_are_all_shown)
    RUN(strange_settings_files_are_one_sentence)
    RUN(a_mistyped_variable_is_a_warning)
    RUN(bash_completes_commands_options_and_values)
    RUN(other_shells_have_their_completion)
    RUN(output_that_is_lost_is_a_failure)
    RUN(a_reader_that_has_seen_enough_is_no_reason_to_complain)
    RUN(every_other_name_of_the_program_has_its_help)
}
