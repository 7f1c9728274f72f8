/* net_hdf5.h - weights in HDF5 files, as Caffe lays them out.
 *
 *     data/conv1/0        the first parameter of layer conv1, a dataset of its shape
 *     data/conv1/1        the second
 *     data/pool1/         a layer without parameters is an empty group
 *     diff/conv1/0        gradients, where they are asked for
 *
 * A parameter that several layers share stands with the layer that made it, its gradient with each. Slashes
 * in the name of a layer make groups in groups, where Caffe fails. */
#ifndef PSD_ENGINE_NET_HDF5_H
#define PSD_ENGINE_NET_HDF5_H

#include "data/hdf5_plan.h"
#include "engine/net.h"

/* As psd_net_load, from an HDF5 file; values go straight to their places. */
psd_status psd_net_load_hdf5(struct psd_net *net, const char *path);

/* Plans a file of the net's parameters, and with `diffs` [n_params] of gradients; both are borrowed until
 * it is written. */
psd_status psd_net_plan_hdf5(const struct psd_net *net, float *const *diffs,
                             struct psd_hdf5_plan *plan);

#endif
