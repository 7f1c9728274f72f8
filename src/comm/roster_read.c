/* roster_read.c - what every member makes of the roster: a job, and where the others are. */
#include "base/alloc.h"
#include "base/status.h"
#include "comm/roster.h"
#include "comm/terms.h"

enum { LONGEST_ADDRESS = 255 };

static psd_status unreadable(void)
{
    return psd_fail(PSD_EPEER, "rank 0 sends a roster that cannot be read");
}

/* The hosts, unless they are as psd_job_create deals them out. */
static psd_status read_hosts(struct psd_job *job, struct psd_unpack *bytes)
{
    uint32_t named = psd_unpack_u32(bytes);

    for (unsigned w = 0; named && w < job->workers; w++) {
        job->host[w] = psd_unpack_u32(bytes);
        if (job->host[w] >= job->ranks)
            return unreadable();
    }
    for (unsigned rank = 0; rank < job->ranks; rank++) {
        if (psd_job_hosted(job, rank) == 0)
            return unreadable();
    }
    return named > 1 ? unreadable() : PSD_OK;
}

static psd_status read_members(const struct psd_job *job, struct psd_unpack *bytes,
                               char **addresses)
{
    for (unsigned rank = 0; rank < job->ranks; rank++)
        addresses[rank] = psd_unpack_text(bytes, LONGEST_ADDRESS);
    for (unsigned w = 0; w < job->workers; w++) {
        job->batch[w] = psd_unpack_u64(bytes);
        if (bytes->status == PSD_OK && (job->batch[w] < 1 || job->batch[w] > PSD_JOB_BATCH))
            return unreadable();
    }
    return psd_unpack_end(bytes, 0, "a roster");
}

void psd_roster_free_addresses(char **addresses, unsigned ranks)
{
    for (unsigned i = 0; addresses && i < ranks; i++)
        psd_alloc_free(addresses[i]);
    psd_alloc_free(addresses);
}

psd_status psd_roster_read(const struct psd_comm_options *options, const void *bytes, size_t length,
                           struct psd_job **out, char ***addresses)
{
    struct psd_unpack unpack = {.at = bytes, .left = length};
    unsigned ranks = psd_terms_ranks(options);
    struct psd_job *job = NULL;

    PSD_TRY(psd_job_create(ranks, psd_terms_workers(options), 1, options->mode, &options->update,
                           &job));
    char **texts = psd_alloc_zero(ranks, sizeof *texts);
    psd_status status = texts ? read_hosts(job, &unpack) : PSD_ENOMEM;
    if (status == PSD_OK)
        status = read_members(job, &unpack, texts);
    if (status != PSD_OK) {
        psd_roster_free_addresses(texts, ranks);
        psd_job_destroy(job);
        return status;
    }
    *out = job;
    *addresses = texts;
    return PSD_OK;
}
