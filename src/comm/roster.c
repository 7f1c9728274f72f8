/* roster.c - who joins with what; rank 0 compares everybody with itself. */
#include "comm/roster.h"
#include "base/alloc.h"
#include "base/status.h"
#include "comm/hosting.h"
#include "comm/terms.h"

#include <string.h>

#define NOBODY UINT32_MAX

enum { LONGEST_ADDRESS = 255 };

/* One member, as it said. */
struct entry {
    bool here;
    char *address;     /* owned */
    unsigned *hosted;  /* owned; rising */
    uint32_t n_hosted; /* 0: to be dealt out */
    uint64_t batch;    /* of each of its workers, */
    uint64_t *batches; /* owned; unless there are some here */
    uint32_t n_batches;
};

struct psd_roster {
    const struct psd_comm_options *options; /* borrowed; rank 0's */
    unsigned ranks, workers;
    struct entry *entries; /* owned; [ranks] */
    unsigned came;
};

psd_status psd_roster_pack_join(const struct psd_join *join, struct psd_pack *pack)
{
    const struct psd_comm_options *options = join->options;

    psd_terms_pack(options, pack);
    psd_pack_text(pack, join->address);
    psd_pack_u64(pack, options->batch ? options->batch : 1);
    psd_pack_u32(pack, options->hosted ? options->n_hosted : 0);
    for (unsigned i = 0; options->hosted && i < options->n_hosted; i++)
        psd_pack_u32(pack, options->hosted[i]);
    psd_pack_u32(pack, options->batches ? options->n_hosted : 0);
    for (unsigned i = 0; options->batches && i < options->n_hosted; i++)
        psd_pack_u64(pack, options->batches[i]);
    return pack->status;
}

/* How many numbers of `size` bytes follow, which are all there. */
static psd_status read_count(unsigned from, struct psd_unpack *bytes, size_t size, uint32_t *out)
{
    *out = psd_unpack_u32(bytes);
    if (bytes->status != PSD_OK || bytes->left < *out * size)
        return psd_fail(PSD_EPEER, "rank %u joins with words that cannot be read", from);
    return PSD_OK;
}

static psd_status read_hosted(const struct psd_roster *roster, unsigned from, struct entry *entry,
                              struct psd_unpack *bytes)
{
    PSD_TRY(read_count(from, bytes, sizeof(uint32_t), &entry->n_hosted));
    entry->hosted = psd_alloc_zero(entry->n_hosted, sizeof *entry->hosted);
    if (!entry->hosted)
        return PSD_ENOMEM;
    for (uint32_t i = 0; i < entry->n_hosted; i++) {
        entry->hosted[i] = psd_unpack_u32(bytes);
        if (entry->hosted[i] >= roster->workers)
            return psd_fail(PSD_EPEER, "rank %u hosts worker %u; workers are 0 to %u", from,
                            entry->hosted[i], roster->workers - 1);
        if (i && entry->hosted[i] <= entry->hosted[i - 1])
            return psd_fail(PSD_EPEER, "rank %u hosts worker %u and then %u: name them rising",
                            from, entry->hosted[i - 1], entry->hosted[i]);
    }
    return PSD_OK;
}

static psd_status check_batch(unsigned from, uint64_t batch)
{
    if (batch < 1 || batch > PSD_JOB_BATCH)
        return psd_fail(PSD_EPEER, "rank %u joins with a batch of %llu samples: it is 1 to %d",
                        from, (unsigned long long)batch, PSD_JOB_BATCH);
    return PSD_OK;
}

static psd_status read_batches(unsigned from, struct entry *entry, struct psd_unpack *bytes)
{
    PSD_TRY(read_count(from, bytes, sizeof(uint64_t), &entry->n_batches));
    entry->batches = psd_alloc_zero(entry->n_batches, sizeof *entry->batches);
    if (!entry->batches)
        return PSD_ENOMEM;
    for (uint32_t i = 0; i < entry->n_batches; i++) {
        entry->batches[i] = psd_unpack_u64(bytes);
        PSD_TRY(check_batch(from, entry->batches[i]));
    }
    return psd_unpack_end(bytes, from, "options");
}

static void fini_entry(struct entry *entry)
{
    psd_alloc_free(entry->address);
    psd_alloc_free(entry->hosted);
    psd_alloc_free(entry->batches);
    *entry = (struct entry){.here = false};
}

static psd_status read_entry(const struct psd_roster *roster, unsigned from,
                             struct psd_unpack *bytes, struct entry *entry)
{
    PSD_TRY(psd_terms_compare(roster->options, from, bytes));
    entry->address = psd_unpack_text(bytes, LONGEST_ADDRESS);
    entry->batch = psd_unpack_u64(bytes);
    if (bytes->status != PSD_OK)
        return psd_unpack_end(bytes, from, "an address and batch");
    PSD_TRY(check_batch(from, entry->batch));
    PSD_TRY(read_hosted(roster, from, entry, bytes));
    return read_batches(from, entry, bytes);
}

psd_status psd_roster_join(struct psd_roster *roster, unsigned from, const void *bytes,
                           size_t length)
{
    struct psd_unpack unpack = {.at = bytes, .left = length};
    struct entry entry = {.here = true};

    if (from >= roster->ranks || roster->entries[from].here)
        return psd_fail(PSD_EPEER, "rank %u joins twice, or is none of %u ranks", from,
                        roster->ranks);
    psd_status status = read_entry(roster, from, &unpack, &entry);
    if (status != PSD_OK) {
        fini_entry(&entry);
        return status;
    }
    roster->entries[from] = entry;
    roster->came++;
    return PSD_OK;
}

static psd_status join_own(struct psd_roster *roster, const struct psd_join *own)
{
    struct psd_pack pack = {.bytes = NULL};
    psd_status status = psd_roster_pack_join(own, &pack);

    if (status == PSD_OK)
        status = psd_roster_join(roster, 0, pack.bytes, pack.length);
    psd_pack_fini(&pack);
    return status;
}

psd_status psd_roster_create(const struct psd_join *own, struct psd_roster **out)
{
    struct psd_roster *roster = psd_alloc_zero(1, sizeof *roster);

    if (!roster)
        return PSD_ENOMEM;
    roster->options = own->options;
    roster->ranks = psd_terms_ranks(own->options);
    roster->workers = psd_terms_workers(own->options);
    roster->entries = psd_alloc_zero(roster->ranks, sizeof *roster->entries);
    psd_status status = roster->entries ? join_own(roster, own) : PSD_ENOMEM;
    if (status == PSD_OK)
        *out = roster;
    else
        psd_roster_destroy(roster);
    return status;
}

void psd_roster_destroy(struct psd_roster *roster)
{
    if (!roster)
        return;
    for (unsigned i = 0; roster->entries && i < roster->ranks; i++)
        fini_entry(&roster->entries[i]);
    psd_alloc_free(roster->entries);
    psd_alloc_free(roster);
}

bool psd_roster_is_full(const struct psd_roster *roster)
{
    return roster->came == roster->ranks;
}

/* The hosts that members name; NOBODY where none does. *any: whether some do at all. */
static psd_status named_hosts(const struct psd_roster *roster, uint32_t *host, bool *any)
{
    for (unsigned w = 0; w < roster->workers; w++)
        host[w] = NOBODY;
    *any = false;
    for (unsigned rank = 0; rank < roster->ranks; rank++) {
        const struct entry *entry = &roster->entries[rank];
        for (uint32_t i = 0; i < entry->n_hosted; i++) {
            *any = true;
            if (host[entry->hosted[i]] != NOBODY)
                return psd_fail(PSD_EPEER, "worker %u is hosted by rank %u and by rank %u",
                                entry->hosted[i], host[entry->hosted[i]], rank);
            host[entry->hosted[i]] = rank;
        }
    }
    return PSD_OK;
}

static psd_status check_hosts(const struct psd_roster *roster, const uint32_t *host)
{
    for (unsigned rank = 0; rank < roster->ranks; rank++) {
        if (roster->entries[rank].n_hosted == 0)
            return psd_fail(PSD_EPEER, "rank %u names no worker that it hosts, but others do",
                            rank);
    }
    for (unsigned w = 0; w < roster->workers; w++) {
        if (host[w] == NOBODY)
            return psd_fail(PSD_EPEER, "worker %u is hosted by no rank", w);
    }
    return PSD_OK;
}

/* Who hosts each worker. *named: members say so themselves. */
static psd_status find_hosts(const struct psd_roster *roster, uint32_t *host, bool *named)
{
    PSD_TRY(named_hosts(roster, host, named));
    if (*named)
        return check_hosts(roster, host);
    psd_hosting_even(roster->ranks, roster->workers, host);
    return PSD_OK;
}

/* The batches of a rank's workers, which it has given in their order, each where it belongs. */
static psd_status deal_batches(const struct psd_roster *roster, unsigned rank, const uint32_t *host,
                               uint64_t *batch)
{
    const struct entry *entry = &roster->entries[rank];
    uint32_t hosted = 0;

    for (unsigned w = 0; w < roster->workers; w++) {
        if (host[w] != rank)
            continue;
        batch[w] = hosted < entry->n_batches ? entry->batches[hosted] : entry->batch;
        hosted++;
    }
    if (entry->n_batches && entry->n_batches != hosted)
        return psd_fail(PSD_EPEER, "rank %u joins with batches of %u workers, and hosts %u", rank,
                        entry->n_batches, hosted);
    return PSD_OK;
}

static psd_status pack_all(const struct psd_roster *roster, uint32_t *host, uint64_t *batch,
                           struct psd_pack *pack)
{
    bool named = false;

    PSD_TRY(find_hosts(roster, host, &named));
    for (unsigned rank = 0; rank < roster->ranks; rank++)
        PSD_TRY(deal_batches(roster, rank, host, batch));
    psd_pack_u32(pack, named);
    for (unsigned w = 0; named && w < roster->workers; w++)
        psd_pack_u32(pack, host[w]);
    for (unsigned rank = 0; rank < roster->ranks; rank++)
        psd_pack_text(pack, roster->entries[rank].address);
    for (unsigned w = 0; w < roster->workers; w++)
        psd_pack_u64(pack, batch[w]);
    return pack->status;
}

psd_status psd_roster_pack(const struct psd_roster *roster, struct psd_pack *pack)
{
    uint32_t *host = psd_alloc_zero(roster->workers, sizeof *host);
    uint64_t *batch = psd_alloc_zero(roster->workers, sizeof *batch);
    psd_status status = host && batch ? pack_all(roster, host, batch, pack) : PSD_ENOMEM;

    psd_alloc_free(host);
    psd_alloc_free(batch);
    return status;
}
