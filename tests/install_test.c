/* install_test.c - what make install puts down is what users can build on, and uninstall takes all
 * of it away again.
 *
 * The tests share one installation and run in the order of a user's life with it. */
#include "test.h"

/* Runs a script that stops at its first failing command and shows what it wrote if there is one.
 * "no COMMAND" stops when COMMAND succeeds. */
static void run(const char *script)
{
    char command[8192];
    int length = snprintf(command, sizeof command,
                          "no() { if \"$@\"; then exit 1; fi; }\n"
                          "{ set -ex\n%s\n} >$WORK/log 2>&1",
                          script);
    CHECK(length > 0 && (size_t)length < sizeof command);
    if (system(command) != 0) {
        CHECK(system("cat $WORK/log >&2") == 0);
        TEST_FAIL("the last command above failed");
    }
}

static void need_plain_build(void)
{
    const char *sanitizer = getenv("SAN");
    if (sanitizer && *sanitizer)
        SKIP("the libraries are built with a sanitizer, which their users would need too");
}

static void install_puts_everything_in_its_place(void)
{
    need_plain_build();
    run("make install DESTDIR=$WORK/root PREFIX=/opt/poseidon\n"
        "cd $WORK/root/opt/poseidon\n"
        "bin/poseidon --version\n"
        "names=$(bin/poseidon help --names)\n"
        "for name in $names; do [ -x bin/$name ]; done\n"
        "for page in $ROOT/docs/man/*.md; do\n"
        "    page=$(basename $page .md); [ -s share/man/man${page##*.}/$page ]\n"
        "done\n"
        "no grep -r @OPTIONS@ share/man\n"
        "[ -s share/poseidon/descriptions/vgg19.txt ]\n"
        "[ -s share/poseidon/profiles/titan-x.txt ]\n"
        "bin/poseidon summary --model share/poseidon/models/vgg16/train_val.prototxt\n"
        "no grep -r '@[A-Z]*@' lib/pkgconfig lib/cmake\n"
        "bash -n share/bash-completion/completions/poseidon\n"
        "[ -s share/bash-completion/completions/poseidon ]\n"
        "[ -s share/zsh/site-functions/_poseidon ]\n"
        "[ -s share/fish/vendor_completions.d/poseidon.fish ]\n");
}

/* A user's program; it sees whether headers and library are of one version. */
#define USER                                                   \
    "cd $(mktemp -d $WORK/user.XXX)\n"                         \
    "cat >user.c <<'END'\n"                                    \
    "#include <poseidon/status.h>\n"                           \
    "#include <stdio.h>\n"                                     \
    "#include <string.h>\n"                                    \
    "int main(void)\n"                                         \
    "{\n"                                                      \
    "    puts(psd_version());\n"                               \
    "    return strcmp(psd_version(), PSD_VERSION) ? 1 : 0;\n" \
    "}\n"                                                      \
    "END\n"                                                    \
    "export LD_LIBRARY_PATH=$WORK/root/opt/poseidon/lib\n"

static void programs_build_with_pkg_config(void)
{
    need_plain_build();
    if (system("command -v pkg-config >$WORK/log") != 0)
        SKIP("pkg-config is not installed");
    run(USER "export PKG_CONFIG_SYSROOT_DIR=$WORK/root\n"
             "export PKG_CONFIG_LIBDIR=$WORK/root/opt/poseidon/lib/pkgconfig\n"
             "for library in poseidon poseidon-comm; do\n"
             "    ${CC:-gcc} user.c $(pkg-config --cflags --libs $library) -o user\n"
             "    ./user\n"
             "    ldd user | grep $WORK/root/opt/poseidon/lib/lib$library.so\n"
             "done\n"
             "rm $WORK/root/opt/poseidon/lib/lib*.so\n" /* only the archives are left */
             "${CC:-gcc} user.c $(pkg-config --static --cflags --libs poseidon) -o user\n"
             "./user\n"
             "ldd user >libraries\n"
             "no grep poseidon libraries\n");
}

static void programs_build_with_cmake(void)
{
    need_plain_build();
    if (system("command -v cmake >$WORK/log") != 0)
        SKIP("cmake is not installed");
    run("make install DESTDIR=$WORK/root PREFIX=/opt/poseidon\n" /* again: over the last one */
        USER "cat >CMakeLists.txt <<'END'\n"
        "cmake_minimum_required(VERSION 3.13)\n"
        "project(user C)\n"
        "find_package(Poseidon 0.1 REQUIRED)\n"
        "add_executable(user user.c)\n"
        "target_link_libraries(user Poseidon::poseidon)\n"
        "add_executable(worker user.c)\n"
        "target_link_libraries(worker Poseidon::comm)\n"
        "END\n"
        "cmake -S . -B out -DCMAKE_PREFIX_PATH=$WORK/root/opt/poseidon\n"
        "cmake --build out\n"
        "./out/user && ./out/worker\n"
        "sed -i 's/Poseidon 0.1/Poseidon 99/' CMakeLists.txt\n" /* a version that is not there */
        "no cmake -S . -B other -DCMAKE_PREFIX_PATH=$WORK/root/opt/poseidon\n");
}

static void uninstall_leaves_nothing(void)
{
    need_plain_build();
    run("make uninstall DESTDIR=$WORK/root PREFIX=/opt/poseidon\n"
        "left=$(find $WORK/root ! -type d -o -name '*oseidon*' ! -path '*/opt/poseidon')\n"
        "echo \"$left\"; [ -z \"$left\" ]\n");
}

int main(int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");
    char folder[4096], here[4096];

    snprintf(folder, sizeof folder, "%s/install-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder) || !getcwd(here, sizeof here))
        TEST_FAIL("cannot make %s", folder);
    setenv("WORK", folder, 1); /* NOLINT(concurrency-mt-unsafe): no other thread yet */
    setenv("ROOT", here, 1);   /* NOLINT(concurrency-mt-unsafe) */
    RUN(install_puts_everything_in_its_place)
    RUN(programs_build_with_pkg_config)
    RUN(programs_build_with_cmake)
    RUN(uninstall_leaves_nothing)
    return system("rm -rf \"$WORK\"") ? 1 : 0;
}
