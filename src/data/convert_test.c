/* convert_test.c - small files in the shape of MNIST and CIFAR-10, and what becomes of them. */
#include "base/alloc.h"
#include "data/convert.h"
#include "data/lmdb.h"
#include "scratch.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define IMAGES                                   \
    "\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03" \
    "abcdef"                                     \
    "ghijkl"
#define LABELS               \
    "\0\0\x08\x01\0\0\0\x02" \
    "\x03\x09"
#define WRITE(name, text) scratch_file(name, text, sizeof(text) - 1)

enum { RECORD = 3073 };

static bool exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

/* Sees that a record has this key and, byte for byte, this value. */
static void check_record(const char *path, uint64_t index, const char *key, const void *value,
                         size_t size)
{
    struct psd_lmdb *db = NULL;
    struct psd_record record = {0};

    CHECK_OK(psd_lmdb_open(path, &db));
    CHECK_OK(psd_lmdb_record(db, index, &record));
    CHECK(record.key_size == strlen(key) && memcmp(record.key, key, strlen(key)) == 0);
    CHECK(record.value_size == size && memcmp(record.value, value, size) == 0);
    psd_record_fini(&record);
    psd_lmdb_close(db);
}

static void mnist_records_have_caffe_s_bytes(void)
{
    WRITE("images", IMAGES);
    WRITE("labels", LABELS);
    CHECK_OK(psd_convert_mnist(scratch("images"), scratch("labels"), scratch("db"), NULL));
    check_record(scratch("db"), 0, "00000000",
                 "\x08\1\x10\2\x18\3\x22\6"
                 "abcdef"
                 "\x28\x03",
                 16);
    check_record(scratch("db"), 1, "00000001",
                 "\x08\1\x10\2\x18\3\x22\6"
                 "ghijkl"
                 "\x28\x09",
                 16);
}

static void mnist_files_that_do_not_fit_leave_nothing(void)
{
    static const struct {
        const char *says, *images, *labels;
        size_t images_size, labels_size;
    } cases[] = {
        {"has 2 images, but ", IMAGES, "\0\0\x08\x01\0\0\0\x03\1\2\3", sizeof IMAGES - 1, 11},
        {"is not an idx file of images", LABELS, LABELS, sizeof LABELS - 1, sizeof LABELS - 1},
        {"is not an idx file of labels", IMAGES, IMAGES, sizeof IMAGES - 1, sizeof IMAGES - 1},
        {"it ends too early", IMAGES, LABELS, sizeof IMAGES - 4, sizeof LABELS - 1},
        {"it ends too early", IMAGES, LABELS, sizeof IMAGES - 1, sizeof LABELS - 2},
        {"goes on after its 2 items", IMAGES, LABELS, sizeof IMAGES, sizeof LABELS - 1},
        {"goes on after its 2 items", IMAGES, LABELS, sizeof IMAGES - 1, sizeof LABELS},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *images = scratch_file("images", cases[i].images, cases[i].images_size);
        const char *labels = scratch_file("labels", cases[i].labels, cases[i].labels_size);
        fprintf(stderr, "    %s\n", cases[i].says);
        CHECK_STATUS(PSD_ECONFIG, psd_convert_mnist(images, labels, scratch("db"), NULL));
        CHECK(strstr(psd_error(), cases[i].says));
        CHECK(!exists(scratch("db")));
    }
}

static void write_cifar(const char *name, int first, int count)
{
    uint8_t *bytes = malloc((size_t)count * RECORD);

    for (int i = 0; i < count; i++)
        memset(bytes + (size_t)i * RECORD, first + i, RECORD);
    scratch_file(name, bytes, (size_t)count * RECORD);
    free(bytes);
}

static void write_cifar_files(void)
{
    char name[32];

    for (int i = 1; i <= 5; i++) {
        snprintf(name, sizeof name, "data_batch_%d.bin", i);
        write_cifar(name, 10 * i, 3);
    }
    write_cifar("test_batch.bin", 7, 2);
}

static void cifar_records_follow_each_other_through_the_files(void)
{
    uint8_t value[8 + 1 + 3072 + 2] = "\x08\3\x10\x20\x18\x20\x22\x80\x18";

    write_cifar_files();
    CHECK_OK(psd_convert_cifar(scratch("."), scratch("."), NULL));
    memset(value + 9, 21, 3072);
    value[3081] = 0x28;
    value[3082] = 21;
    check_record(scratch("cifar10_train_lmdb"), 4, "00004", value, sizeof value);
    memset(value + 9, 8, 3072);
    value[3082] = 8;
    check_record(scratch("cifar10_test_lmdb"), 1, "00001", value, sizeof value);
}

static void cifar_files_that_are_wrong_leave_nothing(void)
{
    write_cifar_files();
    CHECK(truncate(scratch("data_batch_5.bin"), 3072) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_convert_cifar(scratch("."), scratch("."), NULL));
    CHECK(strstr(psd_error(), "data_batch_5.bin is not a file of CIFAR-10"));
    write_cifar_files();
    CHECK(unlink(scratch("test_batch.bin")) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_convert_cifar(scratch("."), scratch("."), NULL));
    CHECK(strstr(psd_error(), "test_batch.bin: No such file"));
    CHECK(!exists(scratch("cifar10_train_lmdb")) && !exists(scratch("cifar10_test_lmdb")));
    CHECK(mkdir(scratch("cifar10_test_lmdb"), 0755) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_convert_cifar(scratch("."), scratch("."), NULL));
    CHECK(strstr(psd_error(), "cifar10_test_lmdb exists already"));
    CHECK(!exists(scratch("cifar10_train_lmdb")) && exists(scratch("cifar10_test_lmdb")));
}

static void both_databases_of_cifar_are_kept_or_neither(void)
{
    struct rlimit limit = {512 << 10, 512 << 10};

    signal(SIGXFSZ, SIG_IGN);
    write_cifar_files();
    write_cifar("test_batch.bin", 0, 200); /* written only when the training set is complete */
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_convert_cifar(scratch("."), scratch("."), NULL));
    CHECK(strstr(psd_error(), "cifar10_test_lmdb: a part of it could not be written"));
    CHECK(!exists(scratch("cifar10_train_lmdb")) && !exists(scratch("cifar10_test_lmdb")));
}

static void converting_survives_every_failed_allocation(void)
{
    bool failed = true;

    WRITE("images", IMAGES);
    WRITE("labels", LABELS);
    write_cifar_files();
    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status mnist =
            psd_convert_mnist(scratch("images"), scratch("labels"), scratch("db"), NULL);
        psd_status cifar = psd_convert_cifar(scratch("."), scratch("."), NULL);
        failed = psd_alloc_fail_at(-1);
        CHECK(failed == (mnist == PSD_ENOMEM || cifar == PSD_ENOMEM));
        CHECK(exists(scratch("db")) == (mnist == PSD_OK));
        CHECK(exists(scratch("cifar10_train_lmdb")) == (cifar == PSD_OK));
        char command[3 * PATH_MAX];
        snprintf(command, sizeof command, "rm -rf %s %s", scratch("db"), scratch("cifar10_*"));
        CHECK(system(command) == 0); /* NOLINT(concurrency-mt-unsafe,cert-env33-c) */
    }
}

int main(int argc, char **argv)
{
    RUN(mnist_records_have_caffe_s_bytes)
    RUN(mnist_files_that_do_not_fit_leave_nothing)
    RUN(cifar_records_follow_each_other_through_the_files)
    RUN(cifar_files_that_are_wrong_leave_nothing)
    RUN(both_databases_of_cifar_are_kept_or_neither)
    RUN(converting_survives_every_failed_allocation)
}
