/* convert_cifar.c - files of records of one length:
 *
 *     0     1  label
 *     1  3072  32 x 32 pixels: all red, all green, all blue
 *
 * The training set is five such files of 10,000 records, one after the other; Caffe keeps their
 * order. */
#include "base/alloc.h"
#include "base/file.h"
#include "data/convert.h"
#include "data/convert_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { KEY_DIGITS = 5, SIDE = 32, RECORD = 1 + 3 * SIDE * SIDE, TRAIN_FILES = 5, BATCH = 100 };

/* Copies the `count` records of an open file, a batch of them at a time. */
static psd_status copy_records(int fd, const char *path, uint64_t count,
                               struct psd_convert_writer *writer)
{
    uint8_t *records = psd_alloc((size_t)BATCH * RECORD);
    psd_status status = records ? PSD_OK : PSD_ENOMEM;

    for (uint64_t done = 0; status == PSD_OK && done < count; done += BATCH) {
        size_t n = count - done < BATCH ? (size_t)(count - done) : BATCH;
        status = psd_file_read(fd, path, records, n * RECORD);
        for (size_t i = 0; status == PSD_OK && i < n; i++) {
            const uint8_t *record = records + i * RECORD;
            status = psd_convert_writer_put(writer, record + 1, record[0]);
        }
    }
    psd_alloc_free(records);
    return status;
}

static psd_status copy_file(const char *path, struct psd_convert_writer *writer)
{
    uint64_t size;
    int fd;

    PSD_TRY(psd_file_descriptor(path, &fd, &size));
    psd_status status;
    if (size == PSD_FILE_STREAM || size == 0 || size % RECORD != 0)
        status = psd_fail(PSD_ECONFIG,
                          "%s is not a file of CIFAR-10: its length is no multiple of "
                          "%d bytes",
                          path, RECORD);
    else
        status = copy_records(fd, path, size / RECORD, writer);
    close(fd);
    return status;
}

/* Copies the file NAME.bin of the folder, or NAMEnumber.bin if a number is given. */
static psd_status copy_named(const char *folder, const char *name, int number,
                             struct psd_convert_writer *writer)
{
    char *path = number ? psd_alloc_text("%s/%s%d.bin", folder, name, number)
                        : psd_alloc_text("%s/%s.bin", folder, name);
    if (!path)
        return PSD_ENOMEM;
    psd_status status = copy_file(path, writer);
    psd_alloc_free(path);
    return status;
}

static psd_status copy_training(const char *in, struct psd_log *log,
                                struct psd_convert_writer *writer)
{
    psd_log_info(log, "Writing Training data");
    for (int i = 1; i <= TRAIN_FILES; i++) {
        psd_log_info(log, "Training Batch %d", i);
        PSD_TRY(copy_named(in, "data_batch_", i, writer));
    }
    return PSD_OK;
}

static psd_status copy_test(const char *in, struct psd_log *log, struct psd_convert_writer *writer)
{
    psd_log_info(log, "Writing Testing data");
    return copy_named(in, "test_batch", 0, writer);
}

/* Makes the database OUT/cifar10_SET_lmdb. */
static psd_status open_set(const char *out, const char *set, struct psd_convert_writer *writer)
{
    struct psd_sample_shape shape = {3, SIDE, SIDE};
    char *path = psd_alloc_text("%s/cifar10_%s_lmdb", out, set);

    if (!path)
        return PSD_ENOMEM;
    psd_status status = psd_convert_writer_open(path, shape, KEY_DIGITS, writer);
    psd_alloc_free(path);
    return status;
}

/* Both databases are kept or neither, so neither gets its name before both are complete. */
psd_status psd_convert_cifar(const char *in, const char *out, struct psd_log *log)
{
    struct psd_convert_writer train, test;

    PSD_TRY(open_set(out, "train", &train));
    psd_status status = open_set(out, "test", &test);
    if (status != PSD_OK)
        return psd_convert_writer_close(&train, status);
    status = copy_training(in, log, &train);
    if (status == PSD_OK)
        status = copy_test(in, log, &test);
    if (status == PSD_OK)
        status = psd_convert_writer_complete(&train);
    if (status == PSD_OK)
        status = psd_convert_writer_complete(&test);
    status = psd_convert_writer_close(&train, status);
    return psd_convert_writer_close(&test, status);
}
