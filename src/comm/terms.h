/* terms.h - the options that must be the same for all members of a job.
 *
 *     rank 0   ranks 2, workers 8, rule SGD, momentum 0.9 ...
 *     rank 1   ranks 2, workers 8, rule SGD, momentum 0.5 ...   "rank 1 has momentum 0.5, rank 0 0.9"
 *
 * They travel in front of what a member says when it joins (roster.h): eleven numbers of 32 bits in
 * the order of the table in terms.c, and the name of the rule. No thread owns anything here. */
#ifndef PSD_COMM_TERMS_H
#define PSD_COMM_TERMS_H

#include "comm/pack.h"
#include "poseidon/comm.h"

/* The number of processes, and of logical workers, that the options ask for; never 0. */
unsigned psd_terms_ranks(const struct psd_comm_options *options);
unsigned psd_terms_workers(const struct psd_comm_options *options);

void psd_terms_pack(const struct psd_comm_options *options, struct psd_pack *pack);

/* Reads the terms of rank `from` and compares them with rank 0's. PSD_EPEER: they differ, and the
 * sentence says in what, or they cannot be read. */
psd_status psd_terms_compare(const struct psd_comm_options *ours, unsigned from,
                             struct psd_unpack *theirs);

#endif
