/* share_test.c - where data files are looked for. */
#include "base/alloc.h"
#include "cli/share.h"
#include "test.h"

static void put(const char *name)
{
    char command[600];

    snprintf(command, sizeof command, "mkdir -p $(dirname %s) && touch %s", test_path(name),
             test_path(name));
    CHECK(system(command) == 0); /* NOLINT: a path of our own making */
}

/* What `name` among the profiles is for the program at `program`, without the test's folder. */
static const char *found(const char *program, const char *name)
{
    static char text[1000];
    char *path = NULL;

    CHECK_OK(psd_share_find(test_path(program), "profiles", name, &path));
    size_t before = strncmp(path, test_folder(), strlen(test_folder())) ? 0 : strlen(test_folder());
    snprintf(text, sizeof text, "%s", path + before);
    psd_alloc_free(path);
    return text;
}

static void make_files(void)
{
    put("usr/bin/poseidon");
    put("usr/share/poseidon/profiles/titan-x.txt");
    put("usr/share/poseidon/profiles/a100.txt");
    put("usr/share/poseidon/profiles/README");
    put("tree/build/gcc/poseidon");
    put("tree/models/profiles/titan-x.txt");
    put("lost/poseidon");
    put("here");
    CHECK(chdir(test_folder()) == 0);
}

static void files_are_found_from_where_the_program_is(void)
{
    make_files();
    CHECK_TEXT("/usr/share/poseidon/profiles/titan-x.txt", found("usr/bin/poseidon", "titan-x"));
    CHECK_TEXT("/tree/models/profiles/titan-x.txt", found("tree/build/gcc/poseidon", "titan-x"));
}

static void a_file_that_is_named_comes_first(void)
{
    make_files();
    CHECK_TEXT("here", found("usr/bin/poseidon", "here"));
    CHECK_TEXT("usr/share/../bin/poseidon", found("usr/bin/poseidon", "usr/share/../bin/poseidon"));
    put("titan-x");
    CHECK_TEXT("titan-x", found("usr/bin/poseidon", "titan-x"));
}

static void what_is_not_there_is_refused_with_what_is(void)
{
    char *path = NULL;

    make_files();
    CHECK_STATUS(PSD_ECONFIG,
                 psd_share_find(test_path("usr/bin/poseidon"), "profiles", "titan", &path));
    CHECK_TEXT("there is no file titan, and of the profiles here none has that name: a100, titan-x",
               psd_error());
    CHECK_STATUS(PSD_ECONFIG,
                 psd_share_find(test_path("lost/poseidon"), "profiles", "titan", &path));
    CHECK_TEXT("there is no file titan, and this program came without profiles", psd_error());
    CHECK_STATUS(PSD_ECONFIG,
                 psd_share_find(test_path("usr/bin/poseidon"), "profiles", "./titan-x", &path));
    CHECK_TEXT("there is no file ./titan-x", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_share_find("/nowhere/poseidon", "profiles", "titan", &path));
    CHECK(!path);
}

static void every_failed_allocation_is_survived(void)
{
    char *path = NULL;

    make_files();
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM,
                 psd_share_find(test_path("usr/bin/poseidon"), "profiles", "titan-x", &path));
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM,
                 psd_share_find(test_path("usr/bin/poseidon"), "profiles", "here", &path));
    CHECK(psd_alloc_fail_at(-1) && !path);
}

int main(int argc, char **argv)
{
    RUN(files_are_found_from_where_the_program_is)
    RUN(a_file_that_is_named_comes_first)
    RUN(what_is_not_there_is_refused_with_what_is)
    RUN(every_failed_allocation_is_survived)
}
