/* roster.h - how a job comes about: who is who, who hosts what, and what the parameters are.
 *
 *     rank 1   join: address, hosted workers, batches, options -.
 *     rank 2   join -------------------------------------------+--> rank 0 compares and deals out
 *     all      roster: addresses, hosts, batches <--------------'
 *
 *     rank 1   params: names, shapes, wishes ------.
 *     rank 2   params ----------------------------+--> rank 0 compares and plans
 *     all      plan: forms, routes, window, text <-'
 *
 * The payloads of these four messages, and rank 0's part (the coordinator's). Every difference
 * becomes a sentence that names the rank, and what it and rank 0 have. Numbers and texts are those of
 * pack.h:
 *
 *     join      the terms (terms.h); address; u64 batch; u32 count, and as many u32 hosted workers; u32
 *               count, and as many u64: a batch for each hosted worker, or none: that before for all
 *     roster    u32 1, and a u32 host for each worker; or u32 0: hosted evenly. Then an address for
 *               each rank, and a u64 batch for each worker
 *     params    u64 count, and for each: name; u64 rows, cols; f32 rate, decay; u32 factors,
 *               averaged, 1 + bias_of, form, route
 *     plan      for each parameter: u32 form, route. Then u64 window in bytes, and the plan's text
 *
 * No I/O, no clock. */
#ifndef PSD_COMM_ROSTER_H
#define PSD_COMM_ROSTER_H

#include "comm/job.h"
#include "comm/pack.h"

/* What a member says when it joins. */
struct psd_join {
    const char *address;                    /* borrowed; where it listens */
    const struct psd_comm_options *options; /* borrowed */
};
psd_status psd_roster_pack_join(const struct psd_join *join, struct psd_pack *pack);

struct psd_roster;

/* Rank 0's list, with its own entry; what is in `own` is borrowed until destroy. */
psd_status psd_roster_create(const struct psd_join *own, struct psd_roster **out);
void psd_roster_destroy(struct psd_roster *roster);

/* Another member joins. PSD_EPEER: it has other options than rank 0; the sentence is for all. */
psd_status psd_roster_join(struct psd_roster *roster, unsigned from, const void *bytes,
                           size_t length);

/* Whether everybody has joined. */
bool psd_roster_is_full(const struct psd_roster *roster);

/* Writes the roster of a job that everybody has joined. PSD_EPEER: a worker is hosted by nobody, or
 * twice, or a rank hosts none, or has batches for more or fewer. */
psd_status psd_roster_pack(const struct psd_roster *roster, struct psd_pack *pack);

/* Makes *out, the job, without parameters, of a roster that has come, and in *addresses the texts of all
 * ranks. The caller owns both. */
psd_status psd_roster_read(const struct psd_comm_options *options, const void *bytes, size_t length,
                           struct psd_job **out, char ***addresses);
void psd_roster_free_addresses(char **addresses, unsigned ranks);

/* The parameters of a job; and the first difference that another member's have to it. */
psd_status psd_roster_pack_params(const struct psd_job *job, struct psd_pack *pack);
psd_status psd_roster_compare_params(const struct psd_job *job, unsigned from, const void *bytes,
                                     size_t length);

/* The forms, routes and window of a planned job, with its text; and putting them into one that is not planned.
 * The caller owns *text. PSD_EPEER: it cannot be read, or does not fit the parameters. */
psd_status psd_roster_pack_plan(const struct psd_job *job, const char *text, struct psd_pack *pack);
psd_status psd_roster_read_plan(struct psd_job *job, const void *bytes, size_t length, char **text);

#endif
