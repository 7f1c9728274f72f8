/* bytes_test.c - bytes read front to back. */
#include "base/alloc.h"
#include "proto/bytes.h"
#include "test.h"

#include <fcntl.h>

enum { SIZE = 300000 }; /* several windows */

static uint8_t expected(uint64_t at)
{
    return (uint8_t)(at * 7 + at / 251);
}

/* An open file without a name, with `size` expected bytes. */
static int new_file(size_t size)
{
    char path[] = "/tmp/bytes_test.XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0 && unlink(path) == 0);
    FILE *file = fdopen(dup(fd), "wb");
    CHECK(file);
    for (size_t i = 0; i < size; i++)
        CHECK(putc(expected(i), file) != EOF);
    CHECK(fclose(file) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* Reads to the end in steps of all kinds and sees each byte at its place. */
static void check_all(struct psd_bytes *bytes)
{
    static const size_t steps[] = {0, 1, 10, 65535, 65536, 3, 65537, 100000, 1000};
    static uint8_t to[SIZE];

    for (size_t i = 0; bytes->at < bytes->size; i++) {
        uint64_t before = bytes->at, left = bytes->size - bytes->at;
        size_t count = steps[i % (sizeof steps / sizeof *steps)];
        count = count < left ? count : (size_t)left;
        if (count == 1)
            CHECK_OK(psd_bytes_one(bytes, to));
        else
            CHECK_OK(psd_bytes_copy(bytes, to, count));
        CHECK(bytes->at == before + count);
        for (size_t k = 0; k < count; k++)
            CHECK(to[k] == expected(before + k));
    }
}

static void memory_is_read_to_its_end(void)
{
    static uint8_t data[SIZE];
    struct psd_bytes bytes;

    for (size_t i = 0; i < SIZE; i++)
        data[i] = expected(i);
    psd_bytes_init_memory(&bytes, "memory", data, SIZE);
    check_all(&bytes);
    psd_bytes_fini(&bytes);
}

static void nothing_can_be_read_from_nothing(void)
{
    struct psd_bytes bytes;

    psd_bytes_init_memory(&bytes, "memory", NULL, 0);
    CHECK(bytes.at == bytes.size);
    CHECK_OK(psd_bytes_copy(&bytes, NULL, 0));
    psd_bytes_fini(&bytes);
}

static void a_file_is_read_through_a_window(void)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, SIZE};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int fd = new_file(sizes[i]);
        struct psd_bytes bytes;
        CHECK_OK(psd_bytes_init_file(&bytes, "file", fd, sizes[i]));
        check_all(&bytes);
        psd_bytes_fini(&bytes);
        close(fd);
    }
}

static void a_file_read_byte_by_byte_is_the_same(void)
{
    int fd = new_file(SIZE);
    struct psd_bytes bytes;

    CHECK_OK(psd_bytes_init_file(&bytes, "file", fd, SIZE));
    for (uint64_t i = 0; i < SIZE; i++) {
        uint8_t byte = 0;
        CHECK_OK(psd_bytes_one(&bytes, &byte));
        CHECK(byte == expected(i));
    }
    CHECK(bytes.at == bytes.size);
    psd_bytes_fini(&bytes);
    close(fd);
}

static void a_file_that_shrinks_is_told(void)
{
    static char to[SIZE];
    static const size_t counts[] = {10, SIZE};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int fd = new_file(5);
        struct psd_bytes bytes;
        CHECK_OK(psd_bytes_init_file(&bytes, "a.caffemodel", fd, SIZE));
        CHECK_STATUS(PSD_ECONFIG, psd_bytes_copy(&bytes, to, counts[i]));
        CHECK_TEXT("a.caffemodel became shorter while it was read", psd_error());
        psd_bytes_fini(&bytes);
        close(fd);
    }
}

static void a_window_that_cannot_be_had_is_told(void)
{
    struct psd_bytes bytes;

    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_bytes_init_file(&bytes, "a", 0, 1));
    psd_alloc_fail_at(-1);
}

int main(int argc, char **argv)
{
    RUN(memory_is_read_to_its_end)
    RUN(nothing_can_be_read_from_nothing)
    RUN(a_file_is_read_through_a_window)
    RUN(a_file_read_byte_by_byte_is_the_same)
    RUN(a_file_that_shrinks_is_told)
    RUN(a_window_that_cannot_be_had_is_told)
}
