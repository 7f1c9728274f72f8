/* tools_test.c - a guard that cannot complain is no guard: each gets a tree with a mistake in it.
 *
 * The scripts run in an empty folder of their own; $tools is the folder under test. */
#include "test.h"

static char output[65536]; /* of the latest script, stdout and stderr */

static int run(const char *script)
{
    FILE *pipe = popen(script, "r");
    CHECK(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

/* Runs `plant`, then `guard`, and sees it end with `status` and say `sentence`. */
static void expect(int status, const char *sentence, const char *guard, const char *plant)
{
    char script[8192];
    int length = snprintf(script, sizeof script,
                          "exec 2>&1; tools=$PWD/tools; folder=$(mktemp -d) || exit 99\n"
                          "trap 'rm -rf \"$folder\"' EXIT; cd \"$folder\"\n"
                          "%s\n%s",
                          plant, guard);
    CHECK(length > 0 && (size_t)length < sizeof script);
    int got = run(script);
    if (got != status || !strstr(output, sentence))
        TEST_FAIL("%s: status %d, not %d with \"%s\":\n%s", guard, got, status, sentence, output);
}

#define ROOMS "mkdir -p src/base src/math; printf 'base:\\nmath: base\\n' >src/LAYERS\n"

static void layers_are_kept(void)
{
    const char *guard = "$tools/check-layers";

    expect(0, "", guard, ROOMS "echo '#include \"base/a.h\"' >src/math/b.c");
    expect(1, "src/base/a.c:1: base may not use math", guard,
           ROOMS "echo '#include \"math/b.h\"' >src/base/a.c");
    expect(1, "src/base/a.h:1: base may not use math", guard,
           ROOMS "echo ' # include <math/b.h>' >src/base/a.h");
    expect(1, "without ../", guard, ROOMS "echo '#include \"../base/a.h\"' >src/math/b.c");
    expect(1, "src/attic: this room is not in src/LAYERS", guard, ROOMS "mkdir src/attic");
    expect(1, "base uses math, which comes later", guard,
           ROOMS "printf 'base: math\\nmath:\\n' >src/LAYERS");
}

#define HEADERS "mkdir -p include/poseidon src/base; echo 'extern int a;' >include/poseidon/a.h\n"

static void headers_stand_alone(void)
{
    const char *guard = "$tools/check-headers";

    expect(0, "", guard, HEADERS "echo '#include \"poseidon/a.h\"' >src/base/b.h");
    expect(1, "size_t", guard, HEADERS "echo 'extern size_t b;' >src/base/b.h");
    expect(1, "redefinition", guard, HEADERS "echo 'struct b { int c; };' >src/base/b.h");
    expect(1, "new", guard, HEADERS "echo 'extern int new;' >include/poseidon/a.h");
    expect(1, "includes only <standard.h>", guard,
           HEADERS "echo '#include <unistd.h>' >include/poseidon/a.h");
    expect(1, "includes only <standard.h>", guard,
           HEADERS "mkdir include/base; touch include/base/a.h\n"
                   "echo '#include \"base/a.h\"' >include/poseidon/a.h");
}

/* Two libraries. Both export psd_here and psd_there, the latter with a long declaration; the larger one
 * psd_table, too. */
#define LIBRARY                                                            \
    "mkdir -p include/poseidon build\n"                                    \
    "echo 'PSD_API int psd_here(int psd_x);' >include/poseidon/status.h\n" \
    "printf 'PSD_API const char *psd_there(int a,\\n    int b);\\n' "      \
    ">include/poseidon/comm.h\n"                                           \
    "echo 'PSD_API extern int psd_table[3];' >include/poseidon/engine.h\n" \
    "echo 'int psd_here, psd_there;' >comm.c; echo 'int psd_table;' >engine.c\n"

static void exports_are_what_the_headers_declare(void)
{
    const char *guard = "${CC:-gcc} -w -shared -o build/libposeidon-comm.so comm.c\n"
                        "${CC:-gcc} -w -shared -o build/libposeidon.so comm.c engine.c\n"
                        "$tools/check-exports build";

    expect(0, "", guard, LIBRARY);
    expect(1, "psd_table: is PSD_API in include/poseidon, but libposeidon.so does not", guard,
           LIBRARY "echo >engine.c");
    expect(1, "psd_there: is PSD_API in include/poseidon, but libposeidon-comm.so does not", guard,
           LIBRARY "echo 'int psd_here;' >comm.c; echo 'int psd_there, psd_table;' >engine.c");
    expect(1, "psd_secret: is exported by libposeidon.so", guard,
           LIBRARY "echo 'int psd_secret;' >>engine.c");
    expect(1, "psd_table: is exported by libposeidon-comm.so", guard,
           LIBRARY "echo 'int psd_table;' >>comm.c; echo >engine.c");
    expect(1, "no PSD_API found", guard,
           LIBRARY "echo >include/poseidon/comm.h;"
                   "echo >include/poseidon/status.h");
}

#define TABLE                                                               \
    "mkdir -p src/cli docs/man; touch docs/man/poseidon-upgrade-net.1.md\n" \
    "printf 'static const struct psd_command *const commands[] = {\\n"      \
    "    &psd_command_upgrade_net, //\\n};\\n' >src/cli/main.c\n"

static void subcommands_have_manual_pages(void)
{
    expect(0, "", "$tools/check-man", TABLE);
    expect(1, "poseidon-upgrade-net.1.md: missing", "$tools/check-man", TABLE "rm docs/man/*");
    expect(1, "poseidon-old.1.md: there is no such subcommand", "$tools/check-man",
           TABLE "touch docs/man/poseidon-old.1.md");
    expect(1, "found no table commands[]", "$tools/check-man", TABLE "echo >src/cli/main.c");
}

#define NETS                                                                                  \
    "for net in $($tools/net --list); do mkdir -p models/$net; touch models/$net/README.md\n" \
    "touch models/$net/solver.prototxt; $tools/net $net >models/$net/train_val.prototxt; done\n"

static void nets_are_what_their_script_writes(void)
{
    const char *guard = "$tools/check-nets";

    expect(0, "", guard, NETS);
    expect(1, "models/vgg19/train_val.prototxt: differs from what tools/net writes", guard,
           NETS "echo >>models/vgg19/train_val.prototxt");
    expect(1, "models/vgg19/README.md: missing", guard, NETS "rm models/vgg19/README.md");
    expect(1, "models/own/solver.prototxt: missing", guard,
           NETS "mkdir models/own; touch models/own/README.md models/own/train_val.prototxt");
    expect(2, "usage: tools/net NAME", "$tools/net vgg99", "");
}

#define PROGRAM(name, body) "printf '#!/bin/sh\\n" body "\\n' >" name "; chmod +x " name "\n"

static void tests_are_counted_and_silence_is_failure(void)
{
    const char *good = PROGRAM("good_test", "echo ok one; echo ok two; echo skip three: no GPU");

    expect(0, "three: no GPU\n2 passed, 0 failed\n", "$tools/run-tests ./good_test", good);
    expect(1, "0 passed, 0 failed\n", "$tools/run-tests", good);
    expect(0, "1 passed, 0 failed\n", "$tools/run-tests ./example", PROGRAM("example", "true"));
    expect(1, "0 passed, 1 failed\n", "$tools/run-tests ./example", PROGRAM("example", "exit 3"));
    expect(1, "0 passed, 1 failed\n", "$tools/run-tests ./silent_test",
           PROGRAM("silent_test", "true"));
    expect(1, "1 passed, 1 failed\n", "$tools/run-tests ./dying_test",
           PROGRAM("dying_test", "echo ok one; kill -SEGV $$"));
    expect(1, "why\n1 passed, 1 failed\n", "$tools/run-tests ./failing_test",
           PROGRAM("failing_test", "echo ok one; echo FAIL two; echo why >&2; exit 1"));
    expect(1, "took longer than 1 seconds\n0 passed, 1 failed\n",
           "TEST_TIMEOUT=1 $tools/run-tests ./endless_test", PROGRAM("endless_test", "sleep 60"));
}

/* A target that fails as libFuzzer's do. */
#define FUZZ_TARGET PROGRAM("x_fuzz", "echo Test unit written to found.crash-1; exit 77")

static void fuzzing_says_how_to_see_a_failure_again(void)
{
    expect(1, "To see it again: ./x_fuzz found.crash-1\n", "$tools/run-fuzz 1 ./x_fuzz",
           FUZZ_TARGET);
    expect(0, "no failure", "$tools/run-fuzz 1 ./x_fuzz", PROGRAM("x_fuzz", "true"));
    expect(0, "tests/corpus/x", "$tools/run-fuzz 1 ./x_fuzz; tail -n 1 x_fuzz.log",
           "mkdir -p tests/corpus/x\n" PROGRAM("x_fuzz", "echo $*"));
}

static void update_leaves_a_file_alone_that_says_the_same(void)
{
    const char *plant = "mkdir a; echo one >a/b; touch -d 2001-01-01 a/b";

    expect(0, "2001", "echo one | $tools/update a/b; ls -l --time-style=+%Y a/b", plant);
    expect(0, "two", "echo two | $tools/update a/b; cat a/b", plant);
    expect(0, "two", "echo two | $tools/update new/folder/b; cat new/folder/b", plant);
}

/* A machine that has gcc and nothing else, and an apt-get that notes what it is asked for. */
#define MACHINE                                                                                 \
    "mkdir bin; PATH=$PWD/bin:$PATH\n" PROGRAM("bin/dpkg-query", "echo installed gcc; exit 1")  \
        PROGRAM("bin/apt-get", "echo $* >>calls")                                               \
            PROGRAM("bin/id", "echo 0") "cp $tools/setup .; echo 'build: gcc' >packages; echo " \
                                        "'test: build cmake' >>packages\n"

static void setup_installs_what_is_missing_and_says_why_it_cannot(void)
{
    const char *offline = MACHINE PROGRAM("bin/apt-get", "echo Could not resolve host; exit 100");

    expect(0, "none", "out=$(./setup build 2>&1) && [ -z \"$out\" ] && [ ! -e calls ] && echo none",
           MACHINE);
    expect(0, "install --no-install-recommends cmake\n", "./setup test >&2; cat calls", MACHINE);
    expect(0, "", "SETUP=no ./setup test && [ ! -e calls ]", MACHINE);
    expect(1, "setup: the package server cannot be reached; connect this machine", "./setup test",
           offline);
    expect(1, "takes root or sudo; let an administrator run: apt-get install cmake", "./setup test",
           MACHINE PROGRAM("bin/id", "echo 1000") PROGRAM("bin/sudo", "exit 1"));
    expect(0, "install --no-install-recommends cmake\n", "./setup test >&2; cat calls",
           MACHINE PROGRAM("bin/id", "echo 1000") PROGRAM("bin/sudo", "exec \"$@\""));
    expect(1, "no group", "./setup garden", MACHINE);
}

int main(int argc, char **argv)
{
    RUN(layers_are_kept)
    RUN(headers_stand_alone)
    RUN(exports_are_what_the_headers_declare)
    RUN(subcommands_have_manual_pages)
    RUN(nets_are_what_their_script_writes)
    RUN(tests_are_counted_and_silence_is_failure)
    RUN(fuzzing_says_how_to_see_a_failure_again)
    RUN(update_leaves_a_file_alone_that_says_the_same)
    RUN(setup_installs_what_is_missing_and_says_why_it_cannot)
}
