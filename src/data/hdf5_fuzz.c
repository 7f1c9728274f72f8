/* hdf5_fuzz.c - any bytes as an HDF5 file: every dataset that is found can be asked for. */
#include "base/alloc.h"
#include "data/hdf5.h"
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_VALUES = 1 << 18, DEEPEST = 4, MOST_NAMES = 64 };

static void sum(const float *values, size_t count)
{
    volatile float used = 0;

    for (size_t i = 0; i < count; i++) /* a sanitizer sees a value that nobody set */
        used = used + values[i];
}

static void read_rows(struct psd_hdf5_dataset *dataset, uint64_t first, uint64_t count)
{
    size_t values = (size_t)(count * psd_hdf5_dataset_row(dataset));
    float *room = psd_alloc(values * sizeof *room);

    if (room && psd_hdf5_dataset_read(dataset, first, count, room) == PSD_OK)
        sum(room, values);
    psd_alloc_free(room);
}

static void read_dataset(const struct psd_hdf5 *file, const char *path)
{
    struct psd_hdf5_dataset *dataset = NULL;
    int64_t integer;
    char *text = NULL;

    if (psd_hdf5_dataset_open(file, path, &dataset) != PSD_OK)
        return;
    uint64_t rows = psd_hdf5_dataset_rows(dataset), row = psd_hdf5_dataset_row(dataset);
    if (row && row <= MOST_VALUES) {
        uint64_t most = MOST_VALUES / row, count = rows < most ? rows : most;
        read_rows(dataset, 0, count);
        read_rows(dataset, rows - count, count);
    }
    (void)psd_hdf5_dataset_integer(dataset, &integer);
    if (psd_hdf5_dataset_text(dataset, &text) == PSD_OK)
        psd_alloc_free(text);
    psd_hdf5_dataset_close(dataset);
}

static void read_group(const struct psd_hdf5 *file, const char *path, int depth)
{
    struct psd_hdf5_names names = {0};

    if (psd_hdf5_names(file, path, &names) != PSD_OK)
        return;
    for (size_t i = 0; i < names.count && i < MOST_NAMES; i++) {
        char *below = psd_alloc_text("%s/%s", path, names.all[i].text);
        if (below && names.all[i].is_group && depth < DEEPEST)
            read_group(file, below, depth + 1);
        else if (below)
            read_dataset(file, below);
        psd_alloc_free(below);
    }
    psd_hdf5_names_fini(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct psd_hdf5 *file = NULL;
    char path[64];
    int fd = memfd_create("data.h5", MFD_CLOEXEC);

    if (fd < 0)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size && psd_hdf5_open(path, &file) == PSD_OK) {
        read_group(file, "", 0);
        psd_hdf5_close(file);
    }
    close(fd);
    return 0;
}
