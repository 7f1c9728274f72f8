/* scheme.h - ways to route a whole net, to be compared with each other.
 *
 *     servers-no-overlap   all gradients are dense and summed by the servers, after the whole backward
 *     servers              the same, each as soon as it is there
 *     hybrid-bytes         factors of inner products are broadcast where the paper's rule says so
 *     hybrid               what the plan chooses for the least time
 *     single-owner         factors of each inner product go to one owner, which sends the values back
 */
#ifndef PSD_COMM_SCHEME_H
#define PSD_COMM_SCHEME_H

#include "comm/plan.h"

enum psd_scheme {
    PSD_SCHEME_SERVERS_NO_OVERLAP,
    PSD_SCHEME_SERVERS,
    PSD_SCHEME_HYBRID_BYTES,
    PSD_SCHEME_HYBRID,
    PSD_SCHEME_SINGLE_OWNER,
    PSD_SCHEMES
};

/* Their names, as above, in that order; ends with NULL. */
extern const char *const psd_scheme_names[];

/* The planned job of `ranks` members that train the workload by this scheme, each with one worker,
 * with SGD and momentum. The caller owns *out. Failures are those of psd_plan_create. */
psd_status psd_scheme_job(enum psd_scheme scheme, const struct psd_workload *workload,
                          unsigned ranks, const struct psd_plan_network *network,
                          struct psd_job **out);

/* Whether it waits for the whole backward before anything is sent. */
bool psd_scheme_overlaps(enum psd_scheme scheme);

#endif
