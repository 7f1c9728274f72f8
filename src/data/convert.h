/* convert.h - the files of MNIST and CIFAR-10 become databases, record for record as Caffe's.
 *
 *     train-images-idx3-ubyte, train-labels-idx1-ubyte  -->  train_lmdb         key 00000000 ...
 *     data_batch_1.bin ... data_batch_5.bin             -->  cifar10_train_lmdb key 00000 ...
 *     test_batch.bin                                    -->  cifar10_test_lmdb  key 00000 ...
 *
 * What cannot be read or written whole leaves no database behind. */
#ifndef PSD_DATA_CONVERT_H
#define PSD_DATA_CONVERT_H

#include "base/log.h"
#include "base/status.h"

/* Writes the database `out` from a file of images and one of labels, either perhaps compressed by
 * gzip. PSD_ECONFIG: they do not belong together or are damaged, or `out` exists. */
psd_status psd_convert_mnist(const char *images, const char *labels, const char *out,
                             struct psd_log *log);

/* Writes the databases cifar10_train_lmdb and cifar10_test_lmdb into the folder `out` from the
 * binary files in the folder `in`. */
psd_status psd_convert_cifar(const char *in, const char *out, struct psd_log *log);

#endif
