/* idx_test.c - files of images and labels, whole and broken, plain and compressed. */
#include "base/alloc.h"
#include "data/idx.h"
#include "scratch.h"

#include <zlib.h>

#define IMAGES                                   \
    "\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03" \
    "abcdef"                                     \
    "ghijkl"
#define LABELS               \
    "\0\0\x08\x01\0\0\0\x03" \
    "\x01\x02\xff"
#define WRITE(name, text) scratch_file(name, text, sizeof(text) - 1)

static const char *write_gzip(const char *name, const void *bytes, unsigned size)
{
    const char *path = scratch(name);
    gzFile file = gzopen(path, "wb");

    CHECK(file && gzwrite(file, bytes, size) == (int)size && gzclose(file) == Z_OK);
    return path;
}

static void check_images(const char *path)
{
    struct psd_idx *idx = NULL;
    char item[6];

    CHECK_OK(psd_idx_open(path, 3, &idx));
    CHECK(idx->count == 2 && idx->rows == 2 && idx->cols == 3 && idx->item_size == 6);
    CHECK_OK(psd_idx_read(idx, item));
    CHECK(memcmp(item, "abcdef", 6) == 0);
    CHECK_OK(psd_idx_read(idx, item));
    CHECK(memcmp(item, "ghijkl", 6) == 0);
    CHECK_OK(psd_idx_finish(idx));
    psd_idx_close(idx);
}

static void images_are_read_plain_or_compressed(void)
{
    check_images(WRITE("images", IMAGES));
    check_images(write_gzip("images.gz", IMAGES, sizeof IMAGES - 1));
}

static void labels_are_items_of_one_byte(void)
{
    struct psd_idx *idx = NULL;
    uint8_t label = 0;

    CHECK_OK(psd_idx_open(WRITE("labels", LABELS), 1, &idx));
    CHECK(idx->count == 3 && idx->item_size == 1);
    for (int i = 0; i < 3; i++)
        CHECK_OK(psd_idx_read(idx, &label));
    CHECK(label == 255);
    CHECK_OK(psd_idx_finish(idx));
    psd_idx_close(idx);
}

static void what_is_no_such_file_is_refused(void)
{
    static const struct {
        const char *why, *bytes;
        size_t size;
    } cases[] = {
        {"empty", "", 0},
        {"half a header", IMAGES, 10},
        {"labels", LABELS, sizeof LABELS - 1},
        {"another type", "\0\0\x0d\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03", 16},
        {"images of nothing", "\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\0", 16},
        {"images beyond all measure", "\0\0\x08\x03\0\0\0\x02\xff\xff\xff\xff\xff\xff\xff\xff", 16},
    };
    struct psd_idx *idx = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].why);
        const char *path = scratch_file("file", cases[i].bytes, cases[i].size);
        CHECK_STATUS(PSD_ECONFIG, psd_idx_open(path, 3, &idx));
        CHECK(strstr(psd_error(), path) && idx == NULL);
    }
    CHECK_STATUS(PSD_ECONFIG, psd_idx_open(scratch("nothing"), 3, &idx));
    CHECK(strstr(psd_error(), "cannot open"));
}

static void a_file_of_the_wrong_length_is_refused(void)
{
    struct psd_idx *idx = NULL;
    char item[6];

    CHECK_OK(psd_idx_open(scratch_file("short", IMAGES, sizeof IMAGES - 2), 3, &idx));
    CHECK_OK(psd_idx_read(idx, item));
    CHECK_STATUS(PSD_ECONFIG, psd_idx_read(idx, item));
    CHECK(strstr(psd_error(), "after 1 of its 2 items: it ends too early"));
    psd_idx_close(idx);

    CHECK_OK(psd_idx_open(WRITE("long", IMAGES "m"), 3, &idx));
    CHECK_OK(psd_idx_read(idx, item));
    CHECK_OK(psd_idx_read(idx, item));
    CHECK_STATUS(PSD_ECONFIG, psd_idx_finish(idx));
    CHECK(strstr(psd_error(), "goes on after its 2 items"));
    psd_idx_close(idx);
}

static void a_damaged_gzip_file_is_a_sentence(void)
{
    const char *path = write_gzip("images.gz", IMAGES, sizeof IMAGES - 1);
    struct psd_idx *idx = NULL;
    char item[6];

    CHECK(truncate(path, 30) == 0); /* the header and an image */
    psd_status status = psd_idx_open(path, 3, &idx);
    for (int i = 0; i < 2 && status == PSD_OK; i++)
        status = psd_idx_read(idx, item);
    if (status == PSD_OK)
        status = psd_idx_finish(idx);
    CHECK_STATUS(PSD_ECONFIG, status);
    CHECK(strstr(psd_error(), "images.gz"));
    CHECK(strstr(psd_error(), ": unexpected end of file"));
    CHECK(!strstr(psd_error(), "fd:")); /* what zlib calls the file is nobody's name for it */
    psd_idx_close(idx);
}

static void open_survives_every_failed_allocation(void)
{
    const char *path = WRITE("images", IMAGES);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_idx *idx = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_idx_open(path, 3, &idx);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_idx_close(idx);
    }
}

int main(int argc, char **argv)
{
    RUN(images_are_read_plain_or_compressed)
    RUN(labels_are_items_of_one_byte)
    RUN(what_is_no_such_file_is_refused)
    RUN(a_file_of_the_wrong_length_is_refused)
    RUN(a_damaged_gzip_file_is_a_sentence)
    RUN(open_survives_every_failed_allocation)
}
