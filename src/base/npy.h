/* npy.h - arrays of numbers in NumPy's files.
 *
 *     numpy.save("x.npy", x)   -->   psd_npy_read("x.npy", &x)          floats in C order, and a shape
 *     numpy.load("y.npy")      <--   psd_npy_write("y.npy", ...)
 *
 * Read are versions 1 to 3 of the format with little-endian floats of 4 or 8 bytes, integers of 1 to
 * 8, and booleans; all become floats. Arrays in Fortran's order are turned. Objects (Python's pickles)
 * are never read. A file, byte by byte:
 *
 *     93 'N' 'U' 'M' 'P' 'Y'     the mark
 *     01 00                      version; 2 and 3 have 4 bytes of length instead of 2
 *     76 00                      length of the text that follows
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (64, 10), }     blanks, and a newline
 *     ...                        the numbers, from a multiple of 64 bytes on */
#ifndef PSD_BASE_NPY_H
#define PSD_BASE_NPY_H

#include "base/status.h"

#include <stddef.h>

enum { PSD_NPY_AXES = 32 };

struct psd_npy {
    size_t axes; /* 0: a single number */
    size_t dim[PSD_NPY_AXES];
    size_t count;  /* the product of the dims */
    float *values; /* owned */
};

/* Reads a file, "-" for standard input. The caller ends *out with psd_npy_fini. PSD_ECONFIG: it
 * cannot be read; the sentence says why. */
psd_status psd_npy_read(const char *path, struct psd_npy *out);

/* The same from memory; `name` is for sentences. */
psd_status psd_npy_parse(const char *name, const void *bytes, size_t size, struct psd_npy *out);

void psd_npy_fini(struct psd_npy *npy);

/* Writes version 1 with floats of 4 bytes; the file appears whole or not at all. */
psd_status psd_npy_write(const char *path, const size_t *dim, size_t axes, const float *values);

#endif
