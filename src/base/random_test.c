/* random_test.c - the published answers, the promised distributions, and no dependence on order. */
#include "base/random.h"
#include "base/random_way.h"
#include "test.h"

enum { SEED = 42, STREAM = 7, MANY = 1 << 20 };

static void blocks_are_those_of_the_authors(void) /* Random123's known answers, philox4x32-10 */
{
    static const struct {
        uint64_t seed, stream, index;
        uint32_t block[4];
    } cases[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822,
         0x0370734413198a2e,
         0x85a308d3243f6a88,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t block[4];
        psd_random_block(cases[i].seed, cases[i].stream, cases[i].index, block);
        CHECK(memcmp(block, cases[i].block, sizeof block) == 0);
    }
}

static void values_are_the_words_of_the_blocks(void)
{
    for (uint64_t i = 0; i < 100; i++) {
        uint32_t block[4];
        psd_random_block(SEED, STREAM, i / 4, block);
        CHECK(psd_random_u32(SEED, STREAM, i) == block[i % 4]);
        CHECK(psd_random_uniform(SEED, STREAM, i) == (float)(block[i % 4] >> 8) / 16777216.0f);
    }
}

/* The quantiles of AS 241 as another program computes them, in its own double arithmetic and with
 * the logarithm of libm, rounded to float. The last two are the extremes of 200 000. */
static void normal_values_are_known_to_the_last_bit(void)
{
    static const struct {
        uint64_t index;
        float value;
    } cases[] = {{0, -0x1.e7348cp-3f},    {1, 0x1.420fdep+0f},  {2, -0x1.89898cp-3f},
                 {3, -0x1.b7c3bcp-2f},    {4, 0x1.450fe0p+0f},  {5, -0x1.45a72ap-2f},
                 {6, 0x1.3e3490p-3f},     {7, -0x1.e06402p-1f}, {191245, -0x1.11a0e4p+2f},
                 {193801, 0x1.2bc090p+2f}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(psd_random_normal(SEED, STREAM, cases[i].index) == cases[i].value);
}

static void uniform_values_have_the_moments_of_their_distribution(void)
{
    double sum = 0, squares = 0;

    for (uint64_t i = 0; i < MANY; i++) {
        double value = (double)psd_random_uniform(SEED, STREAM, i);
        CHECK(value >= 0 && value < 1);
        sum += value;
        squares += value * value;
    }
    CHECK_NEAR(sum / MANY, 1.0 / 2, 1.5e-3); /* five standard errors, here and below */
    CHECK_NEAR(squares / MANY, 1.0 / 3, 1.5e-3);
}

static void normal_values_have_the_moments_of_their_distribution(void)
{
    double sum[5] = {0};

    for (uint64_t i = 0; i < MANY; i++) {
        double value = (double)psd_random_normal(SEED, STREAM, i), power = 1;
        CHECK(fabs(value) < 6.3);
        for (int k = 1; k <= 4; k++)
            sum[k] += power *= value;
    }
    CHECK_NEAR(sum[1] / MANY, 0, 5e-3);
    CHECK_NEAR(sum[2] / MANY, 1, 7e-3);
    CHECK_NEAR(sum[3] / MANY, 0, 2e-2);
    CHECK_NEAR(sum[4] / MANY, 3, 5e-2);
}

static void normal_values_have_the_tails_of_their_distribution(void)
{
    static const double share[] = {0.682689492, 0.954499736, 0.997300204, 0.999936658};
    int within[4] = {0};

    for (uint64_t i = 0; i < MANY; i++) {
        for (int k = 0; k < 4; k++)
            within[k] += fabsf(psd_random_normal(SEED, STREAM, i)) < (float)(k + 1);
    }
    for (int k = 0; k < 4; k++)
        CHECK_NEAR((double)within[k] / MANY, share[k], 5 * sqrt(share[k] * (1 - share[k]) / MANY));
}

static void seeds_and_streams_have_nothing_in_common(void)
{
    double same = 0, other_seed = 0, other_stream = 0, neighbour = 0;

    for (uint64_t i = 0; i < MANY; i++) {
        double value = (double)psd_random_normal(SEED, STREAM, i);
        same += value * value;
        other_seed += value * (double)psd_random_normal(SEED + 1, STREAM, i);
        other_stream += value * (double)psd_random_normal(SEED, STREAM + 1, i);
        neighbour += value * (double)psd_random_normal(SEED, STREAM, i + 1);
    }
    CHECK_NEAR(other_seed / same, 0, 5e-3);
    CHECK_NEAR(other_stream / same, 0, 5e-3);
    CHECK_NEAR(neighbour / same, 0, 5e-3);
}

static void integers_below_a_bound_are_equally_likely(void)
{
    enum { BOUND = 7, DRAWS = 70000 };
    const double expected = (double)DRAWS / BOUND;
    int count[BOUND] = {0};

    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t value = psd_random_below(SEED, STREAM, i, BOUND);
        CHECK(value < BOUND);
        count[value]++;
    }
    for (int k = 0; k < BOUND; k++)
        CHECK_NEAR(count[k], expected, 5 * sqrt(expected));
}

/* With such a bound nearly every second block is refused. */
static void integers_below_a_huge_bound_are_equally_likely(void)
{
    const uint64_t bound = (UINT64_C(1) << 63) + 1;
    const int draws = 40000;
    int lower_half = 0;

    for (uint64_t i = 0; i < (uint64_t)draws; i++) {
        uint64_t value = psd_random_below(SEED, STREAM, i, bound);
        CHECK(value < bound);
        CHECK(value == psd_random_below(SEED, STREAM, i, bound));
        lower_half += value < bound / 2;
    }
    CHECK_NEAR(lower_half, draws / 2.0, 5 * sqrt(draws / 4.0));
}

static void there_is_one_integer_below_one(void)
{
    for (uint64_t i = 0; i < 100; i++)
        CHECK(psd_random_below(SEED, STREAM, i, 1) == 0);
}

/* Fills [first, first + TOTAL) in two parts, not always the lower one first. */
static void check_split(uint64_t first, size_t cut)
{
    enum { TOTAL = 23 };
    float uniform[TOTAL], normal[TOTAL];

    CHECK(cut < TOTAL);
    psd_random_fill_uniform(SEED, STREAM, first + cut, TOTAL - cut, uniform + cut);
    psd_random_fill_uniform(SEED, STREAM, first, cut, uniform);
    psd_random_fill_normal(SEED, STREAM, first, cut, normal);
    psd_random_fill_normal(SEED, STREAM, first + cut, TOTAL - cut, normal + cut);
    for (size_t i = 0; i < TOTAL; i++) {
        CHECK(uniform[i] == psd_random_uniform(SEED, STREAM, first + i));
        CHECK(normal[i] == psd_random_normal(SEED, STREAM, first + i));
    }
}

static void bulk_equals_single_for_any_split(void)
{
    const uint64_t first = (UINT64_C(1) << 32) * 4 - 9; /* the block's low word overflows */

    for (uint64_t start = 0; start < 4; start++) {
        for (size_t cut = 0; cut < 23; cut++)
            check_split(first + start, cut);
    }
}

static void bulk_equals_single_over_many_blocks(void)
{
    enum { LONG = 2000, FIRST = 7 };
    float uniform[LONG], normal[LONG];

    psd_random_fill_uniform(SEED, STREAM, FIRST, LONG, uniform);
    psd_random_fill_normal(SEED, STREAM, FIRST, LONG, normal);
    for (size_t i = 0; i < LONG; i++) {
        CHECK(uniform[i] == psd_random_uniform(SEED, STREAM, FIRST + i));
        CHECK(normal[i] == psd_random_normal(SEED, STREAM, FIRST + i));
    }
}

enum { WORDS = 64 }; /* a multiple of what ways make together */

/* Words of every kind: the ends, both sides of where a normal value is computed in another way and of
 * the powers of two, and any. */
static void choose_words(uint32_t words[WORDS])
{
    static const uint32_t special[] = {0,          1,          2,          0x7fffffff, 0x80000000,
                                       0xfffffffe, 0xffffffff, 0x13333331, 0x13333332, 0x13333333,
                                       0x13333334, 0xeccccccb, 0xeccccccc, 0xeccccccd, 0xecccccce,
                                       0x00ffffff, 0x01000000, 0x00b504f2, 0x00b504f3, 0x00b504f4};
    enum { SPECIAL = sizeof special / sizeof *special };

    for (size_t i = 0; i < WORDS; i++)
        words[i] = i < SPECIAL ? special[i] : psd_random_u32(SEED, STREAM, i);
}

static void check_way(const struct psd_random_way *way, const uint32_t *words, size_t count)
{
    const struct psd_random_way *plain = &psd_random_plain;
    float got[WORDS + 1], wanted[WORDS];

    got[count] = 42;
    plain->normal(words, count, wanted);
    way->normal(words, count, got);
    CHECK(memcmp(got, wanted, count * sizeof *got) == 0 && got[count] == 42);
    plain->uniform(words, count, wanted);
    way->uniform(words, count, got);
    CHECK(memcmp(got, wanted, count * sizeof *got) == 0 && got[count] == 42);
}

static void every_way_makes_the_same_of_words(void)
{
    uint32_t words[WORDS];

    choose_words(words);
    for (size_t i = 0; psd_random_ways[i]; i++) {
        for (size_t first = 0; psd_random_ways[i]->usable() && first < WORDS; first++) {
            for (size_t count = 0; count <= WORDS - first; count++)
                check_way(psd_random_ways[i], words + first, count);
        }
    }
}

static void every_way_makes_the_same_blocks(void)
{
    static const uint64_t firsts[] = {0, UINT32_MAX - 1, UINT64_MAX - 2, 0x123456789abcdef};
    uint32_t got[WORDS][4], wanted[WORDS][4];

    for (size_t i = 0; psd_random_ways[i]; i++) {
        for (size_t j = 0; psd_random_ways[i]->usable() && j < 4; j++) {
            psd_random_ways[i]->blocks(~firsts[j], 3 * firsts[j], firsts[j], WORDS, got);
            psd_random_plain.blocks(~firsts[j], 3 * firsts[j], firsts[j], WORDS, wanted);
            CHECK(memcmp(got, wanted, sizeof got) == 0);
        }
    }
}

int main(int argc, char **argv)
{
    RUN(blocks_are_those_of_the_authors)
    RUN(values_are_the_words_of_the_blocks)
    RUN(normal_values_are_known_to_the_last_bit)
    RUN(uniform_values_have_the_moments_of_their_distribution)
    RUN(normal_values_have_the_moments_of_their_distribution)
    RUN(normal_values_have_the_tails_of_their_distribution)
    RUN(seeds_and_streams_have_nothing_in_common)
    RUN(integers_below_a_bound_are_equally_likely)
    RUN(integers_below_a_huge_bound_are_equally_likely)
    RUN(there_is_one_integer_below_one)
    RUN(bulk_equals_single_for_any_split)
    RUN(bulk_equals_single_over_many_blocks)
    RUN(every_way_makes_the_same_of_words)
    RUN(every_way_makes_the_same_blocks)
}
