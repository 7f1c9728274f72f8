/* lmdb_fuzz.c - any bytes as a data.mdb: every record that is found can be asked for. */
#include "data/lmdb.h"
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void read_all(const char *path)
{
    struct psd_lmdb *db = NULL;
    struct psd_record record = {0};
    unsigned sum = 0;

    if (psd_lmdb_open(path, &db) != PSD_OK)
        return;
    for (uint64_t i = 0; i < psd_lmdb_count(db); i++) {
        if (psd_lmdb_record(db, i, &record) != PSD_OK)
            continue;
        for (size_t k = 0; k < record.key_size; k++) /* a sanitizer sees a byte that is not ours */
            sum += record.key[k];
        for (size_t k = 0; k < record.value_size; k++)
            sum += record.value[k];
    }
    volatile unsigned used = sum;
    (void)used;
    psd_record_fini(&record);
    psd_lmdb_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("data.mdb", MFD_CLOEXEC);

    if (fd < 0)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size)
        read_all(path);
    close(fd);
    return 0;
}
