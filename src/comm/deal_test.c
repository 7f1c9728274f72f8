/* deal_test.c - loads stay even, and whoever waited longest is next. */
#include "base/alloc.h"
#include "base/random.h"
#include "comm/deal.h"
#include "test.h"

enum { RANKS = 5 };

static struct psd_deal new_deal(unsigned ranks)
{
    struct psd_deal deal;

    CHECK_OK(psd_deal_init(&deal, ranks));
    return deal;
}

static void equal_pieces_go_round(void)
{
    struct psd_deal deal = new_deal(RANKS);

    for (uint32_t i = 0; i < 40; i++)
        CHECK(psd_deal_give(&deal, 10, false) == i % RANKS);
    psd_deal_fini(&deal);
}

static void the_least_loaded_rank_is_next(void)
{
    struct psd_deal deal = new_deal(3);

    CHECK(psd_deal_give(&deal, 7, false) == 0);
    CHECK(psd_deal_give(&deal, 3, false) == 1);
    CHECK(psd_deal_give(&deal, 4, false) == 2);
    CHECK(psd_deal_give(&deal, 1, false) == 1); /* 7 4 4 */
    CHECK(psd_deal_give(&deal, 1, false) == 2); /* 7 4 5: it was given something before rank 1 */
    CHECK(psd_deal_give(&deal, 1, false) == 1);
    psd_deal_fini(&deal);
}

static void by_turns_nobody_gets_two_before_all_have_one(void)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct psd_deal deal = new_deal(RANKS);
        unsigned count[RANKS] = {0};
        for (uint32_t i = 0; i < 7; i++)
            psd_deal_give(&deal, psd_random_below(seed, 1, i, 1000), false);
        for (uint32_t i = 0; i < 4 * RANKS; i++) {
            uint32_t rank = psd_deal_give(&deal, psd_random_below(seed, 2, i, 1000), true);
            CHECK(count[rank]++ == i / RANKS);
        }
        psd_deal_fini(&deal);
    }
}

static void after_turns_the_least_loaded_rank_is_next_again(void)
{
    struct psd_deal deal = new_deal(2);

    CHECK(psd_deal_give(&deal, 100, false) == 0);
    CHECK(psd_deal_give(&deal, 1, true) == 1);
    CHECK(psd_deal_give(&deal, 1, true) == 0); /* 101 1 */
    CHECK(psd_deal_give(&deal, 50, false) == 1);
    CHECK(psd_deal_give(&deal, 50, false) == 1); /* 101 101 */
    CHECK(psd_deal_give(&deal, 50, false) == 0);
    psd_deal_fini(&deal);
}

static void loads_differ_by_one_piece_at_most(void)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        unsigned ranks = 1 + (unsigned)psd_random_below(seed, 0, 0, 40);
        struct psd_deal deal = new_deal(ranks);
        uint64_t load[40] = {0}, least = UINT64_MAX, most = 0;
        for (uint32_t i = 0; i < 500; i++) {
            uint64_t piece = psd_random_below(seed, 1, i, 1000);
            load[psd_deal_give(&deal, piece, false)] += piece;
        }
        for (unsigned rank = 0; rank < ranks; rank++) {
            least = load[rank] < least ? load[rank] : least;
            most = load[rank] > most ? load[rank] : most;
        }
        CHECK(most - least < 1000);
        psd_deal_fini(&deal);
    }
}

static void init_survives_a_failed_allocation(void)
{
    struct psd_deal deal;

    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_deal_init(&deal, RANKS));
    psd_alloc_fail_at(-1);
    psd_deal_fini(&deal);
}

int main(int argc, char **argv)
{
    RUN(equal_pieces_go_round)
    RUN(the_least_loaded_rank_is_next)
    RUN(by_turns_nobody_gets_two_before_all_have_one)
    RUN(after_turns_the_least_loaded_rank_is_next_again)
    RUN(loads_differ_by_one_piece_at_most)
    RUN(init_survives_a_failed_allocation)
}
