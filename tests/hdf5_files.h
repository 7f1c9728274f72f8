/* hdf5_files.h - small HDF5 files in the test's folder, and lists of them.
 *
 *     write_rows("one.h5", 100, 3);      "data" [3][2] and "label" [3]: row i has 100 + i, 100.5 + i, and
 *                                        its label is -100 - i
 *     write_list("list.txt", "one.h5\ntwo.h5\n"); */
#ifndef PSD_TESTS_HDF5_FILES_H
#define PSD_TESTS_HDF5_FILES_H

#include "data/hdf5_stream.h"
#include "test.h"

static inline void write_rows(const char *name, int first, int rows)
{
    static const struct psd_hdf5_column columns[] = {{"data", 2, {0, 2}}, {"label", 1, {0}}};
    struct psd_hdf5_stream *stream = NULL;

    CHECK_OK(psd_hdf5_stream_open(test_path(name), columns, 2, &stream));
    for (int i = first; i < first + rows; i++) {
        float data[2] = {(float)i, (float)i + .5f}, label = -(float)i;
        CHECK_OK(psd_hdf5_stream_add(stream, 1, (const float *const[]){data, &label}));
    }
    CHECK_OK(psd_hdf5_stream_commit(stream));
}

static inline const char *write_list(const char *name, const char *text)
{
    const char *path = test_path(name);
    FILE *file = fopen(path, "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

#endif
