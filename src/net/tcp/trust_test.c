/* trust_test.c - which keys are taken, and that nobody finds them afterwards. */
#include "base/alloc.h"
#include "channel_pair.h"
#include "net/tcp/trust_state.h"

#include <fcntl.h>

static void only_keys_that_cannot_be_guessed_are_taken(void)
{
    static const struct {
        size_t size;
        psd_status status;
    } cases[] = {
        {0, PSD_ECONFIG}, {15, PSD_ECONFIG}, {16, PSD_OK}, {64, PSD_OK}, {65, PSD_ECONFIG}};
    static const char key[65] = "any";

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_trust *trust = NULL;
        CHECK_STATUS(cases[i].status, psd_trust_create(key, cases[i].size, 1, false, &trust));
        CHECK((trust != NULL) == (cases[i].status == PSD_OK));
        psd_trust_destroy(trust);
    }
}

static void keys_that_differ_in_length_alone_are_different(void)
{
    struct pair pair;
    struct side client = {.key = "0123456789abcdef"}, server = {.key = "0123456789abcdef0"};

    pair_init(&pair, client, server);
    pair_shake(&pair);
    CHECK_TEXT("has another key", pair.why[0]);
    CHECK_TEXT("has another key", pair.why[1]);
    pair_fini(&pair);
}

/* The key of the next test; only ever together in memory that is wiped. */
static unsigned char byte_of_key(size_t i)
{
    return (unsigned char)(i * i * 37 + 0xa5);
}

static size_t count_in(const unsigned char *bytes, size_t size)
{
    size_t found = 0;

    for (size_t at = 0; at + 32 <= size; at++) {
        size_t same = 0;
        while (same < 32 && bytes[at + same] == byte_of_key(same))
            same++;
        found += same == 32;
    }
    return found;
}

/* How often the key is in the mapping; 0 also for those that cannot be read. */
static size_t look_into(int memory, size_t begin, size_t end)
{
    unsigned char *copy = malloc(end - begin);
    ssize_t size = pread(memory, copy, end - begin, (off_t)begin);
    size_t found = size > 0 ? count_in(copy, (size_t)size) : 0;

    memset(copy, 0, end - begin);
    free(copy);
    return found;
}

/* Goes through what this process may write, as the kernel does for a core file: how often the key is in
 * mappings that a core file has, and in those that it has not. */
static void look_for_key(size_t *in_core, size_t *elsewhere)
{
    char line[512];
    unsigned long begin = 0, end = 0;
    char rights[8] = "";
    size_t here = 0;
    FILE *maps = fopen("/proc/self/smaps", "re");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

    CHECK(maps && memory >= 0);
    *in_core = *elsewhere = 0;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3)
            here = rights[1] == 'w' && end - begin < (64 << 20) ? look_into(memory, begin, end) : 0;
        if (strncmp(line, "VmFlags:", 8) == 0)
            *(strstr(line, " dd") ? elsewhere : in_core) += here;
    }
    close(memory);
    fclose(maps);
}

static struct psd_trust *trust_of_the_key(void)
{
    struct psd_trust *trust = NULL;
    unsigned char key[32];

    for (size_t i = 0; i < sizeof key; i++)
        key[i] = byte_of_key(i);
    CHECK_OK(psd_trust_create(key, sizeof key, 1, false, &trust));
    explicit_bzero(key, sizeof key);
    return trust;
}

static void the_key_is_in_no_memory_that_a_core_file_has(void)
{
    struct pair pair = {.trust = {trust_of_the_key(), trust_of_the_key()}, .wants = {1, 1}};
    size_t in_core, elsewhere;
    int fds[2];

    if (TEST_IS_SANITIZED)
        SKIP("sanitizers keep copies of what has been freed");
    pair_make_sockets(fds);
    for (int i = 0; i < 2; i++)
        CHECK_OK(psd_channel_create(pair.trust[i], fds[i], i == 1, &pair.channel[i]));
    pair_shake(&pair);
    CHECK(!pair.wants[0] && !pair.wants[1] && pair.channel[0] && pair.channel[1]);
    look_for_key(&in_core, &elsewhere);
    CHECK(in_core == 0 && elsewhere == 2);
    pair_fini(&pair);
    look_for_key(&in_core, &elsewhere);
    CHECK(in_core == 0 && elsewhere == 0);
}

static void create_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_trust *trust = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_trust_create(pair_key, sizeof pair_key, 1, false, &trust);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (trust == NULL));
        psd_trust_destroy(trust);
    }
}

int main(int argc, char **argv)
{
    RUN(only_keys_that_cannot_be_guessed_are_taken)
    RUN(keys_that_differ_in_length_alone_are_different)
    RUN(the_key_is_in_no_memory_that_a_core_file_has)
    RUN(create_survives_every_failed_allocation)
}
