/* job_workload.h - what a member's own words make of a job: the workload that its plan is made with.
 *
 *     params    conv1[0]   conv1[1]   fc6[0]   fc6[1]
 *     seconds   12, 25     -          3, 6     -            as its parameters say
 *     layers    '--- conv1[0] ---'    '--- fc6[0] -'        one for each that says any
 *
 * The reverse of workload_job.h, for a job that runs. */
#ifndef PSD_COMM_JOB_WORKLOAD_H
#define PSD_COMM_JOB_WORKLOAD_H

#include "comm/job.h"
#include "comm/workload.h"

/* The caller owns *out, which borrows nothing. */
psd_status psd_job_workload_create(const struct psd_job *job, const struct psd_comm_rates *rates,
                                   struct psd_workload **out);

#endif
