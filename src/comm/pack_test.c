/* pack_test.c - what is written is read again, and nothing else is. */
#include "base/alloc.h"
#include "comm/pack.h"
#include "test.h"

static const unsigned char bytes[] = {
    4,    3, 2, 1,                      /* u32 */
    8,    7, 6, 5,    4,   3,   2,   1, /* u64 */
    0,    0, 0, 0x3f,                   /* 0.5f */
    3,    0, 0, 0,    'f', 'c', '6',    /* a text */
    0,    0, 0, 0,                      /* an empty one */
    0xff, 0, 0, 0,                      /* u32 */
};

static void write_all(struct psd_pack *pack)
{
    psd_pack_u32(pack, 0x01020304);
    psd_pack_u64(pack, UINT64_C(0x0102030405060708));
    psd_pack_f32(pack, 0.5f);
    psd_pack_text(pack, "fc6");
    psd_pack_text(pack, "");
    psd_pack_u32(pack, 255);
}

static void every_number_and_text_has_its_bytes(void)
{
    struct psd_pack pack = {.bytes = NULL};

    write_all(&pack);
    CHECK_OK(pack.status);
    CHECK(pack.length == sizeof bytes && memcmp(pack.bytes, bytes, sizeof bytes) == 0);
    psd_pack_fini(&pack);
    CHECK(!pack.bytes && pack.length == 0);
}

/* Reads as much as there is of what was written. */
static psd_status read_all(const unsigned char *from, size_t length)
{
    struct psd_unpack unpack = {.at = from, .left = length};
    bool right = psd_unpack_u32(&unpack) == 0x01020304 &&
                 psd_unpack_u64(&unpack) == UINT64_C(0x0102030405060708) &&
                 psd_unpack_f32(&unpack) == 0.5f;
    char *name = psd_unpack_text(&unpack, 3), *empty = psd_unpack_text(&unpack, 0);

    right = right && name && strcmp(name, "fc6") == 0 && empty && strcmp(empty, "") == 0;
    right = psd_unpack_u32(&unpack) == 255 && right;
    psd_alloc_free(name);
    psd_alloc_free(empty);
    psd_status status = psd_unpack_end(&unpack, 3, "a test");
    CHECK(right == (status == PSD_OK));
    return status;
}

static void what_is_written_is_read_again(void)
{
    CHECK_OK(read_all(bytes, sizeof bytes));
}

static void bytes_that_are_cut_anywhere_are_refused(void)
{
    for (size_t length = 0; length < sizeof bytes; length++) {
        unsigned char *cut = malloc(length + !length); /* no larger, for the sanitizer */
        memcpy(cut, bytes, length);
        CHECK_STATUS(PSD_EPEER, read_all(cut, length));
        CHECK_TEXT("rank 3 sends a test that cannot be read", psd_error());
        free(cut);
    }
}

static void bytes_that_are_left_are_refused(void)
{
    struct psd_unpack unpack = {.at = bytes, .left = 5};

    psd_unpack_u32(&unpack);
    CHECK_OK(unpack.status);
    CHECK_STATUS(PSD_EPEER, psd_unpack_end(&unpack, 0, "a test"));
}

static void a_text_that_is_too_long_or_has_a_nul_is_refused(void)
{
    static const unsigned char strange[] = {3, 0, 0, 0, 'a', 0, 'b'};
    struct psd_unpack cases[] = {{.at = bytes + 16, .left = 7}, {.at = strange, .left = 7}};

    CHECK(!psd_unpack_text(&cases[0], 2) && !psd_unpack_text(&cases[1], 100));
    for (size_t i = 0; i < 2; i++)
        CHECK_STATUS(PSD_EPEER, psd_unpack_end(&cases[i], 0, "a test"));
}

static void after_a_failure_nothing_more_is_read(void)
{
    struct psd_unpack unpack = {.at = bytes, .left = 6};

    CHECK(psd_unpack_u64(&unpack) == 0);
    CHECK(psd_unpack_u32(&unpack) == 0 && !psd_unpack_text(&unpack, 9));
    CHECK_STATUS(PSD_EPEER, psd_unpack_end(&unpack, 0, "a test"));
}

static void a_failed_allocation_is_remembered(void)
{
    struct psd_pack pack = {.bytes = NULL};
    bool failed = true;

    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        write_all(&pack);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, pack.status);
        psd_pack_fini(&pack);
    }
    failed = true;
    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = read_all(bytes, sizeof bytes);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
}

int main(int argc, char **argv)
{
    RUN(every_number_and_text_has_its_bytes)
    RUN(what_is_written_is_read_again)
    RUN(bytes_that_are_cut_anywhere_are_refused)
    RUN(bytes_that_are_left_are_refused)
    RUN(a_text_that_is_too_long_or_has_a_nul_is_refused)
    RUN(after_a_failure_nothing_more_is_read)
    RUN(a_failed_allocation_is_remembered)
}
