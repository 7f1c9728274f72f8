/* rate.h - the learning rate of an iteration, by Caffe's policies and a warm-up of ours. */
#ifndef PSD_ENGINE_RATE_H
#define PSD_ENGINE_RATE_H

#include "base/status.h"
#include "proto/caffe.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

/* What a policy remembers between iterations. */
struct psd_rate {
    int step; /* how many steps have been taken */
};

/* PSD_ECONFIG: the solver's policy is unknown, or lacks what it needs. */
psd_status psd_rate_check(const Caffe__SolverParameter *solver);

/* The rate of iteration `iteration`; policies with steps move on in *rate, at most one step a call, as
 * Caffe does. *stepped, if not NULL, says whether "multistep" has just taken one. */
float psd_rate_next(const Caffe__SolverParameter *solver, struct psd_rate *rate, int64_t iteration,
                    bool *stepped);

#endif
