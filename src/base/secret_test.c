/* secret_test.c - where a key is to be found, and where it is not. */
#include "base/alloc.h"
#include "base/secret.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { KEY = 48, CHUNK = 1 << 16 };

/* A byte of the key, which as a whole stands nowhere in the test. */
static unsigned char key_byte(size_t i)
{
    return (unsigned char)(i * i * 37 + i * 11 + 129);
}

static struct psd_secret *new_secret(void)
{
    volatile unsigned char key[KEY];
    struct psd_secret *secret = NULL;

    for (size_t i = 0; i < KEY; i++)
        key[i] = key_byte(i);
    CHECK_OK(psd_secret_create((const void *)(uintptr_t)key, KEY, &secret));
    for (size_t i = 0; i < KEY; i++)
        key[i] = 0;
    return secret;
}

static bool is_key(const unsigned char *bytes)
{
    size_t same = 0;

    while (same < KEY && bytes[same] == key_byte(same))
        same++;
    return same == KEY;
}

static void a_secret_is_what_it_was_made_of(void)
{
    struct psd_secret *secret = new_secret(), *empty = NULL;

    CHECK(psd_secret_size(secret) == KEY && is_key(psd_secret_data(secret)));
    psd_secret_destroy(secret);
    CHECK_OK(psd_secret_create(NULL, 0, &empty));
    CHECK(psd_secret_size(empty) == 0 && psd_secret_data(empty));
    psd_secret_destroy(empty);
    psd_secret_destroy(NULL);
}

static void secrets_of_every_length_fit(void)
{
    static unsigned char long_key[20000];
    static const size_t sizes[] = {1, 4095, 4096, 4097, 20000};

    memset(long_key, 7, sizeof long_key);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct psd_secret *secret = NULL;
        CHECK_OK(psd_secret_create(long_key, sizes[i], &secret));
        CHECK(memcmp(psd_secret_data(secret), long_key, sizes[i]) == 0);
        psd_secret_destroy(secret);
    }
}

/* The kernel's flags of the pages at `address`, two letters each: "VmFlags: rd wr dd ..." */
static void read_flags(const void *address, char flags[512])
{
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[512];
    bool is_inside = false;

    CHECK(file);
    while (fgets(line, sizeof line, file)) {
        char *end = NULL;
        uintptr_t from = strtoull(line, &end, 16);
        if (*end == '-')
            is_inside =
                from <= (uintptr_t)address && (uintptr_t)address < strtoull(end + 1, NULL, 16);
        else if (is_inside && strncmp(line, "VmFlags:", 8) == 0)
            snprintf(flags, 512, "%s", line);
    }
    fclose(file);
}

static void core_files_and_children_do_not_get_it(void)
{
    struct psd_secret *secret = new_secret();
    char flags[512] = "";

    read_flags(psd_secret_data(secret), flags);
    if (!*flags)
        SKIP("this kernel tells no VmFlags");
    CHECK(strstr(flags, " dd")); /* do not dump */
    CHECK(strstr(flags, " wf") || strstr(flags, " dc"));
    psd_secret_destroy(secret);
}

static void a_forked_child_finds_zeros_or_nothing(void)
{
    struct psd_secret *secret = new_secret();
    int status = -1;

    pid_t child = fork();
    if (child == 0)
        _exit(((const unsigned char *)psd_secret_data(secret))[0] == 0 ? 0 : 1);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    CHECK(is_key(psd_secret_data(secret))); /* here it still is */
    psd_secret_destroy(secret);
}

static void who_may_lock_nothing_has_secrets_too(void)
{
    struct rlimit none = {.rlim_cur = 0};

    CHECK(setrlimit(RLIMIT_MEMLOCK, &none) == 0);
    struct psd_secret *secret = new_secret();
    CHECK(is_key(psd_secret_data(secret)));
    psd_secret_destroy(secret);
}

/* How often the key stands in a chunk of memory read into `chunk`, which does not count itself. */
static int count_in_chunk(int memory, uintptr_t from, unsigned char *chunk)
{
    ssize_t got = pread(memory, chunk, CHUNK + KEY, (off_t)from);
    int found = 0;

    for (ssize_t i = 0; i + KEY <= got && i < CHUNK; i++)
        found += is_key(chunk + i);
    explicit_bzero(chunk, CHUNK + KEY);
    return found;
}

/* How often the key stands anywhere in this process, but for the huge reserves of sanitizers. */
static int count_in_memory(void)
{
    static unsigned char chunk[CHUNK + KEY];
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC), found = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];

    CHECK(memory >= 0 && maps);
    while (fgets(line, sizeof line, maps)) {
        char *end = NULL;
        uintptr_t from = strtoull(line, &end, 16), to = strtoull(end + 1, NULL, 16);
        for (; to - from < 1 << 28 && from < to; from += CHUNK)
            found += count_in_chunk(memory, from, chunk);
    }
    fclose(maps);
    close(memory);
    return found;
}

static void a_secret_is_in_one_place_and_then_in_none(void)
{
    if (TEST_IS_SANITIZED)
        SKIP("sanitizers keep copies of what has been freed");
    CHECK(count_in_memory() == 0);
    struct psd_secret *secret = new_secret();
    CHECK(count_in_memory() == 1);
    const void *page = psd_secret_data(secret);
    psd_secret_destroy(secret);
    CHECK(count_in_memory() == 0);
    unsigned char is_there = 0;
    CHECK(mincore((void *)(uintptr_t)page, 1, &is_there) == -1 && errno == ENOMEM);
}

static void create_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_secret *secret = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_secret_create("secret", 6, &secret);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (secret == NULL));
        psd_secret_destroy(secret);
    }
}

static void what_is_longer_than_all_memory_is_refused(void)
{
    struct psd_secret *secret = NULL;

    CHECK_STATUS(PSD_ENOMEM, psd_secret_create("", SIZE_MAX, &secret));
    CHECK_STATUS(PSD_ENOMEM, psd_secret_create("", SIZE_MAX / 2, &secret));
    CHECK(!secret);
}

int main(int argc, char **argv)
{
    RUN(a_secret_is_what_it_was_made_of)
    RUN(secrets_of_every_length_fit)
    RUN(core_files_and_children_do_not_get_it)
    RUN(a_forked_child_finds_zeros_or_nothing)
    RUN(who_may_lock_nothing_has_secrets_too)
    RUN(a_secret_is_in_one_place_and_then_in_none)
    RUN(create_survives_every_failed_allocation)
    RUN(what_is_longer_than_all_memory_is_refused)
}
