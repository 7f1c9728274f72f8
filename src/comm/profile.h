/* profile.h - how fast a device is: the times that a workload gets.
 *
 *     device  "GeForce GTX Titan X"
 *     rebuild 5500 GFLOP/s                              gradients from their factors
 *     update  150 GB/s                                  memory moved by updates,
 *     sum     10 GB/s                                   and by sums of gradients
 *     model   vgg19 batch 32 rate 38.2 images/s         a published rate: one third of the time is
 *                                                       forward, two are backward, and layers share
 *                                                       it by their multiply-adds
 *     model   lenet batch 64                            a measured net, layer by layer
 *     layer   conv1 forward 1.5 ms backward 3.25 ms
 *
 *     workload + profile --apply--> forward_s and backward_s of each layer, and the three speeds
 *
 * "poseidon time --profile-out" writes one; docs/man/poseidon-profile.5.md has the whole of it.
 * One thread at a time. */
#ifndef PSD_COMM_PROFILE_H
#define PSD_COMM_PROFILE_H

#include "comm/workload.h"

struct psd_profile_layer {
    char *name;                   /* owned */
    double forward_s, backward_s; /* of one batch */
};

struct psd_profile_model {
    char *name; /* owned */
    size_t batch;
    double rate;                      /* samples a second; 0: the layers have times */
    struct psd_profile_layer *layers; /* owned; in forward order */
    size_t n_layers;
};

struct psd_profile {
    char *source; /* owned; the file it was read from, or "the profile" */
    char *device; /* owned; what people call it */
    double rebuild_flops, update_bytes_per_s, sum_bytes_per_s; /* as in struct psd_workload */
    struct psd_profile_model *models;                          /* owned */
    size_t n_models;
};

/* Reads a profile. The caller owns *out until destroy. PSD_ECONFIG: all mistakes of the file, each
 * with its line. */
psd_status psd_profile_read(const char *path, struct psd_profile **out);

/* The same from memory; sentences call the file `name`. */
psd_status psd_profile_parse(const char *name, const char *bytes, size_t size,
                             struct psd_profile **out);

/* A profile without models, whose speeds the caller fills in; texts are copied. */
psd_status psd_profile_create(const char *source, const char *device, struct psd_profile **out);
void psd_profile_destroy(struct psd_profile *profile);

/* Adds a model; rate 0: its layers follow. */
psd_status psd_profile_add_model(struct psd_profile *profile, const char *name, size_t batch,
                                 double rate);

/* Adds the next layer, in forward order, to the latest model. */
psd_status psd_profile_add_layer(struct psd_profile *profile, const char *name, double forward_s,
                                 double backward_s);

/* The model of that name, NULL when there is none; borrowed. Case does not matter, and _ is -. */
const struct psd_profile_model *psd_profile_find(const struct psd_profile *profile,
                                                 const char *name);

/* Writes a file that psd_profile_read reads; times to the nanosecond. */
psd_status psd_profile_write(const struct psd_profile *profile, const char *path);

/* Gives the workload `batch` (0: its own), the profile's speeds, and times for that batch: those of
 * the profile's model of its name, scaled linearly from the batch they were measured with.
 *
 * The time of a measured layer that the workload lacks (a pooling, which a description leaves out)
 * goes to the one before it. PSD_ECONFIG: the profile has no such model, or a measured one lacks a
 * layer that computes or learns; the workload is as before. */
psd_status psd_profile_apply(const struct psd_profile *profile, struct psd_workload *workload,
                             size_t batch);

#endif
