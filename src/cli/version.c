/* version.c - version, commit, features, CPU and compiler. */
#include "cli/version.h"
#include "cli/cli.h"
#include "commit.h" /* made by the build, as config.h */
#include "config.h"

#include <openssl/crypto.h>
#include <protobuf-c/protobuf-c.h>
#include <string.h>
#include <unistd.h>

#ifndef __has_feature /* gcc before 14 */
#define __has_feature(feature) 0
#endif

static void show_features(FILE *out)
{
    fprintf(out, "features: protobuf-c %s openssl %s%s%s", protobuf_c_version(),
            OpenSSL_version(OPENSSL_VERSION_STRING), *PSD_FEATURES ? " " : "", PSD_FEATURES);
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
    fputs(" address-sanitizer", out);
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
    fputs(" thread-sanitizer", out);
#endif
#ifndef NDEBUG
    fputs(" assertions", out);
#endif
    fputc('\n', out);
}

/* The first "model name : ..." of /proc/cpuinfo, which not every machine has. */
static void show_model(FILE *out)
{
    char line[256], *colon = NULL;
    FILE *info = fopen("/proc/cpuinfo", "re");

    while (info && !colon && fgets(line, sizeof line, info)) {
        if (strncmp(line, "model name", strlen("model name")) == 0)
            colon = strchr(line, ':');
    }
    if (info)
        fclose(info);
    if (colon)
        colon[1 + strcspn(colon + 1, "\n")] = 0;
    fprintf(out, "CPU:      %s", colon ? colon + 2 : "unknown model");
    fprintf(out, ", %ld threads;", sysconf(_SC_NPROCESSORS_ONLN));
}

/* The instruction sets that the arithmetic can make use of. */
static void show_instructions(FILE *out)
{
#if defined(__x86_64__) || defined(__i386__)
    fputs(__builtin_cpu_supports("sse4.2") ? " sse4.2" : "", out);
    fputs(__builtin_cpu_supports("avx") ? " avx" : "", out);
    fputs(__builtin_cpu_supports("avx2") ? " avx2" : "", out);
    fputs(__builtin_cpu_supports("fma") ? " fma" : "", out);
    fputs(__builtin_cpu_supports("avx512f") ? " avx512f" : "", out);
#else
    fputs(" no instruction sets we know of", out);
#endif
    fputc('\n', out);
}

void psd_version_show(FILE *out)
{
    fprintf(out, "poseidon %s\n", psd_version());
    fprintf(out, "commit:   %s\n", PSD_COMMIT);
    show_features(out);
    show_model(out);
    show_instructions(out);
#ifdef __clang__
    fprintf(out, "compiler: %s\n", __VERSION__);
#else
    fprintf(out, "compiler: gcc %s\n", __VERSION__);
#endif
}

static psd_status run(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    (void)options, (void)argc, (void)argv;
    psd_version_show(cli->out);
    return PSD_OK;
}

const struct psd_command psd_command_version = {
    .name = "version",
    .summary = "shows version, commit, features and CPU",
    .synopsis = "",
    .description = "Shows what this program is and where it runs: please add it when you report "
                   "a bug.",
    .without_settings = true,
    .run = run,
};
