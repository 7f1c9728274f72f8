/* hdf5_plan.h - writes HDF5 files: what will be in one is said first, then it is laid out and made.
 *
 *     psd_hdf5_plan_create(&plan);
 *     psd_hdf5_plan_floats(plan, "data/conv1/0", 4, dim, values);      groups are made as needed
 *     psd_hdf5_plan_integer(plan, "iter", 5000);
 *     psd_hdf5_plan_lay_out(plan, &size);
 *     psd_hdf5_plan_write(plan, bytes);                                size bytes
 *     psd_hdf5_plan_destroy(plan);
 *
 *     [ superblock | groups and headers of datasets | values | values ... ]
 *                                                   ^ head
 *
 * Files are of the oldest format, which every program reads, as Caffe writes them: superblock 0, groups
 * by symbol tables, values in one piece. Where values begin follows from names and axes alone, so that
 * they can be written before it is known how many there are (hdf5_stream.h). One thread. */
#ifndef PSD_DATA_HDF5_PLAN_H
#define PSD_DATA_HDF5_PLAN_H

#include "data/hdf5_file.h"

struct psd_hdf5_plan;

psd_status psd_hdf5_plan_create(struct psd_hdf5_plan **out);
void psd_hdf5_plan_destroy(struct psd_hdf5_plan *plan);

/* Adds a group; one that is there already is fine. PSD_EINVAL: a dataset has that name. */
psd_status psd_hdf5_plan_group(struct psd_hdf5_plan *plan, const char *path);

/* Adds a dataset of floats; `values` are borrowed until it is written, and NULL when the caller writes
 * them. PSD_EINVAL: there is something of that name, or there are more than 32 axes. */
psd_status psd_hdf5_plan_floats(struct psd_hdf5_plan *plan, const char *path, size_t axes,
                                const size_t *dim, const float *values);

/* Adds an array of one integer, or a text. */
psd_status psd_hdf5_plan_integer(struct psd_hdf5_plan *plan, const char *path, int32_t value);
psd_status psd_hdf5_plan_text(struct psd_hdf5_plan *plan, const char *path, const char *text);

/* After the last addition: decides where everything stands. *size is that of the file. */
psd_status psd_hdf5_plan_lay_out(struct psd_hdf5_plan *plan, uint64_t *size);

/* After that: the byte behind everything that is no value of a dataset, and where a dataset's values
 * begin. */
uint64_t psd_hdf5_plan_head_size(const struct psd_hdf5_plan *plan);
uint64_t psd_hdf5_plan_place(const struct psd_hdf5_plan *plan, const char *path);

/* Makes the head alone, or the whole file. */
void psd_hdf5_plan_head(const struct psd_hdf5_plan *plan, unsigned char *out);
void psd_hdf5_plan_write(const struct psd_hdf5_plan *plan, unsigned char *out);

#endif
