/* settings_file_test.c - which file is read, and what happens to strange ones. */
#include "base/alloc.h"
#include "base/settings_file.h"
#include "test.h"

#include <sys/stat.h>

struct config {
    int64_t port;
};

static const struct psd_setting table[] = {
    {"net.port", "7070", "a number", PSD_INT(struct config, port, 1, 65535)},
    {0},
};

static char folder[] = "/tmp/settings_file_test.XXXXXX";
static char xdg[100], home[100], variable[100];
static char *const nothing[] = {NULL};

/* Makes `folder` with a file that says the port in each place a file may be. */
static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(file);
    fputs(text, file);
    fclose(file);
}

static const char *path_of(const char *name)
{
    static char path[200];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void make_files(void)
{
    static const char *const folders[] = {"xdg", "xdg/poseidon", "home", "home/.config",
                                          "home/.config/poseidon"};

    CHECK(mkdtemp(folder));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        CHECK(mkdir(path_of(folders[i]), 0700) == 0);
    write_file(path_of("xdg/poseidon/poseidon.conf"), "net.port = 1\n");
    write_file(path_of("home/.config/poseidon/poseidon.conf"), "net.port = 2\n");
    write_file(path_of("variable.conf"), "net.port = 3\n");
    write_file(path_of("named.conf"), "net.port = 4\n");
    snprintf(xdg, sizeof xdg, "XDG_CONFIG_HOME=%s/xdg", folder);
    snprintf(home, sizeof home, "HOME=%s/home", folder);
    snprintf(variable, sizeof variable, "PSD_CONFIG_FILE=%s/variable.conf", folder);
}

static void remove_files(void)
{
    char command[100];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0); /* NOLINT: a path of our own making */
}

/* The port that the files say, 7070 without any; mistakes end as psd_error(). */
static int64_t port_from(const char *path, char *const *environment, psd_status expected)
{
    struct config config = {0};
    struct psd_settings *settings = NULL;
    struct psd_sentences mistakes = {0}, warnings = {0};

    CHECK_OK(psd_settings_create(&settings));
    CHECK_OK(psd_settings_add(settings, table, &config));
    CHECK_OK(psd_settings_file_load(settings, path, environment, &mistakes, &warnings));
    CHECK_STATUS(expected, psd_sentences_status(&mistakes));
    CHECK(warnings.count == 0);
    psd_settings_destroy(settings);
    return config.port;
}

static void the_nearest_file_is_read(void)
{
    make_files();
    CHECK(port_from(path_of("named.conf"), (char *[]){variable, xdg, home, NULL}, PSD_OK) == 4);
    CHECK(port_from(NULL, (char *[]){xdg, variable, home, NULL}, PSD_OK) == 3);
    CHECK(port_from(NULL, (char *[]){home, xdg, NULL}, PSD_OK) == 1);
    CHECK(port_from(NULL, (char *[]){home, NULL}, PSD_OK) == 2);
    remove_files();
}

static void no_file_is_fine_unless_it_was_named(void)
{
    char absent[] = "PSD_CONFIG_FILE=/nowhere/a.conf", nowhere[] = "HOME=/nowhere";

    if (access("/etc/poseidon.conf", F_OK) == 0)
        SKIP("this machine has an /etc/poseidon.conf");
    CHECK(port_from(NULL, nothing, PSD_OK) == 7070);
    CHECK(port_from(NULL, (char *[]){nowhere, NULL}, PSD_OK) == 7070);
    port_from("/nowhere/a.conf", nothing, PSD_ECONFIG);
    CHECK_TEXT("cannot open /nowhere/a.conf: No such file or directory", psd_error());
    port_from(NULL, (char *[]){absent, NULL}, PSD_ECONFIG);
    CHECK_TEXT("cannot open /nowhere/a.conf: No such file or directory", psd_error());
}

static void a_folder_is_no_file(void)
{
    port_from("/tmp", nothing, PSD_ECONFIG);
    CHECK_TEXT("cannot read /tmp: Is a directory", psd_error());
}

static void a_file_without_end_is_refused_at_once(void)
{
    port_from("/dev/zero", nothing, PSD_ECONFIG);
    CHECK_TEXT("/dev/zero is larger than 1 MiB; is it a settings file?", psd_error());
}

static void a_line_of_two_gigabytes_is_refused_at_once(void)
{
    make_files();
    CHECK(truncate(path_of("named.conf"), INT64_C(2) << 30) == 0); /* sparse: takes no space */
    port_from(path_of("named.conf"), nothing, PSD_ECONFIG);
    CHECK(strstr(psd_error(), "named.conf is larger than 1 MiB; is it a settings file?"));
    remove_files();
}

static void every_failed_allocation_is_survived(void)
{
    static struct config config;
    bool failed = true;

    make_files();
    for (long n = 0; failed; n++) {
        struct psd_settings *settings = NULL;
        struct psd_sentences mistakes = {0}, warnings = {0};
        CHECK_OK(psd_settings_create(&settings));
        CHECK_OK(psd_settings_add(settings, table, &config));
        psd_alloc_fail_at(n);
        psd_status status =
            psd_settings_file_load(settings, NULL, (char *[]){xdg, NULL}, &mistakes, &warnings);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_settings_destroy(settings);
    }
    remove_files();
}

int main(int argc, char **argv)
{
    RUN(the_nearest_file_is_read)
    RUN(no_file_is_fine_unless_it_was_named)
    RUN(a_folder_is_no_file)
    RUN(a_file_without_end_is_refused_at_once)
    RUN(a_line_of_two_gigabytes_is_refused_at_once)
    RUN(every_failed_allocation_is_survived)
}
