/* bits_test.c - runs are found one after the other, also at both ends. */
#include "comm/bits.h"
#include "test.h"

static void all_are_so_many(void)
{
    CHECK(psd_bits_all(0) == 0 && psd_bits_all(1) == 1 && psd_bits_all(3) == 7);
    CHECK(psd_bits_all(63) == UINT64_MAX >> 1 && psd_bits_all(64) == UINT64_MAX);
}

static void runs_are_taken_from_the_first_on(void)
{
    static const struct {
        uint64_t bits;
        uint32_t runs[6]; /* first, count; a count of 0 ends them */
    } cases[] = {
        {0, {0}},
        {1, {0, 1}},
        {0x6e, {1, 3, 5, 2}},
        {UINT64_MAX, {0, 64}},
        {UINT64_MAX << 1, {1, 63}},
        {UINT64_MAX >> 1, {0, 63}},
        {UINT64_C(1) << 63 | 1, {0, 1, 63, 1}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bits = cases[i].bits;
        const uint32_t *run = cases[i].runs;
        uint32_t first = 0, count;
        for (; (count = psd_bits_take_run(&bits, &first)); run += 2)
            CHECK(first == run[0] && count == run[1]);
        CHECK(bits == 0 && run[1] == 0);
    }
}

int main(int argc, char **argv)
{
    RUN(all_are_so_many)
    RUN(runs_are_taken_from_the_first_on)
}
