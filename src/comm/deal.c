/* deal.c - the heap: [n] does not come after its children [2n + 1] and [2n + 2]. */
#include "comm/deal.h"
#include "base/alloc.h"

psd_status psd_deal_init(struct psd_deal *deal, unsigned ranks)
{
    *deal = (struct psd_deal){.ranks = ranks};
    deal->heap = psd_alloc_zero(ranks, sizeof *deal->heap);
    if (!deal->heap)
        return PSD_ENOMEM;
    for (uint32_t rank = 0; rank < ranks; rank++)
        deal->heap[rank].rank = rank;
    return PSD_OK;
}

void psd_deal_fini(struct psd_deal *deal)
{
    psd_alloc_free(deal->heap);
    *deal = (struct psd_deal){0};
}

static bool is_before(const struct psd_deal_share *a, const struct psd_deal_share *b)
{
    if (a->turns != b->turns)
        return a->turns < b->turns;
    if (a->load != b->load)
        return a->load < b->load;
    if (a->given != b->given)
        return a->given < b->given;
    return a->rank < b->rank;
}

/* The first share has grown: moves it down to where it belongs now. */
static void sink(struct psd_deal *deal)
{
    struct psd_deal_share share = deal->heap[0];
    size_t place = 0;

    for (size_t child = 1; child < deal->ranks; child = 2 * place + 1) {
        if (child + 1 < deal->ranks && is_before(&deal->heap[child + 1], &deal->heap[child]))
            child++;
        if (!is_before(&deal->heap[child], &share))
            break;
        deal->heap[place] = deal->heap[child];
        place = child;
    }
    deal->heap[place] = share;
}

uint32_t psd_deal_give(struct psd_deal *deal, uint64_t load, bool by_turns)
{
    struct psd_deal_share *first = &deal->heap[0];
    uint32_t rank = first->rank;

    first->turns += by_turns;
    first->load += load;
    first->given = ++deal->given;
    sink(deal);
    return rank;
}
