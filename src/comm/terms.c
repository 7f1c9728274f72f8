/* terms.c - one table of what is compared. */
#include "comm/terms.h"
#include "base/alloc.h"
#include "base/status.h"

#include <string.h>

enum { TERMS = 11, LONGEST_RULE = 64 };

/* One option: a count, or a number with a point. */
struct term {
    const char *name;
    bool is_float;
    uint32_t count;
    float number;
};

unsigned psd_terms_ranks(const struct psd_comm_options *options)
{
    return options->ranks ? options->ranks : 1;
}

unsigned psd_terms_workers(const struct psd_comm_options *options)
{
    return options->workers ? options->workers : psd_terms_ranks(options);
}

static const char *rule_of(const struct psd_comm_options *options)
{
    return options->update.rule ? options->update.rule : "SGD";
}

static void list(const struct psd_comm_options *options, struct term out[TERMS])
{
    const struct psd_comm_update *update = &options->update;
    const struct term terms[TERMS] = {
        {.name = "ranks", .count = psd_terms_ranks(options)},
        {.name = "workers", .count = psd_terms_workers(options)},
        {.name = "mode", .count = options->mode},
        {.name = "l1", .count = update->l1},
        {.name = "iter_size", .count = update->iter_size},
        {.name = "momentum", .is_float = true, .number = update->momentum},
        {.name = "momentum2", .is_float = true, .number = update->momentum2},
        {.name = "delta", .is_float = true, .number = update->delta},
        {.name = "rms_decay", .is_float = true, .number = update->rms_decay},
        {.name = "decay", .is_float = true, .number = update->decay},
        {.name = "clip", .is_float = true, .number = update->clip},
    };

    memcpy(out, terms, sizeof terms);
}

void psd_terms_pack(const struct psd_comm_options *options, struct psd_pack *pack)
{
    struct term terms[TERMS];

    list(options, terms);
    for (size_t i = 0; i < TERMS; i++) {
        if (terms[i].is_float)
            psd_pack_f32(pack, terms[i].number);
        else
            psd_pack_u32(pack, terms[i].count);
    }
    psd_pack_text(pack, rule_of(options));
}

static psd_status compare_one(const struct term *ours, unsigned from, struct psd_unpack *theirs)
{
    float number = ours->is_float ? psd_unpack_f32(theirs) : 0;
    uint32_t count = ours->is_float ? 0 : psd_unpack_u32(theirs);

    if (theirs->status != PSD_OK)
        return psd_unpack_end(theirs, from, "options");
    if (ours->is_float && (number < ours->number || number > ours->number))
        return psd_fail(PSD_EPEER, "rank %u joins with %s %g, rank 0 has %g", from, ours->name,
                        (double)number, (double)ours->number);
    if (count != ours->count)
        return psd_fail(PSD_EPEER, "rank %u joins with %s %u, rank 0 has %u", from, ours->name,
                        count, ours->count);
    return PSD_OK;
}

psd_status psd_terms_compare(const struct psd_comm_options *ours, unsigned from,
                             struct psd_unpack *theirs)
{
    struct term terms[TERMS];
    psd_status status = PSD_OK;

    list(ours, terms);
    for (size_t i = 0; i < TERMS; i++)
        PSD_TRY(compare_one(&terms[i], from, theirs));
    char *rule = psd_unpack_text(theirs, LONGEST_RULE);
    if (!rule)
        return psd_unpack_end(theirs, from, "options");
    if (strcmp(rule, rule_of(ours)) != 0)
        status = psd_fail(PSD_EPEER, "rank %u joins with the rule %s, rank 0 has %s", from, rule,
                          rule_of(ours));
    psd_alloc_free(rule);
    return status;
}
