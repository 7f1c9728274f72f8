/* crc32c_avx2.c - the checksum by products without carries, in registers of 32 bytes, and by the
 * instruction of SSE4.2 beside them.
 *
 *     |        front: four registers        |  part 0: x  |  part 1: y  |  part 2: z  |    a block
 *     |  128 bytes in each of TURNS turns   |  40 bytes of each in all turns but the first
 *
 * The two use different units of the processor, which take about eight bytes a cycle each: together they
 * are nearly twice as fast as one of them. A register is multiplied so that it stands for the same bytes
 * 128 bytes further on, and what is there is added to it. The parts are as in crc32c_sse42.c. The bytes
 * of a block come from four places, more than the processor fetches ahead by itself, so it is told. */
#include "base/crc32c_way.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("sse4.2,pclmul,avx2,vpclmulqdq")))

enum {
    TURNS = 16,
    FRONT = 128 * TURNS,      /* bytes of the front, */
    PART = 40 * (TURNS - 1),  /* of a part, */
    BLOCK = FRONT + 3 * PART, /* and of all */
    AHEAD = BLOCK + 2048,     /* so far ahead bytes are asked for */
    LINE = 64,                /* bytes that are fetched at a time, */
    ASKED = 4 * LINE          /* and those that are asked for in a turn */
};

/* What moves 16 bytes n bits further on: x^(n + 63) for the lower half, which comes first, and x^(n - 1)
 * for the upper one, modulo the polynomial, reflected. The product of two reflected numbers of 64 bits
 * has 127, so that it comes out multiplied by x. */
struct move {
    uint64_t lower, upper;
};

static const struct move by_16_bytes = {0x3743f7bd00000000, 0x3171d43000000000};
static const struct move by_32_bytes = {0x33ccbbbc00000000, 0xa2158b3400000000};
static const struct move by_128_bytes = {0x6577b24500000000, 0x7417153f00000000};

/* x^(8 k PART - 33) modulo the polynomial, reflected: behind a sum k parts follow. */
static const uint32_t behind[] = {0, 0xa3c6f37a, 0xa90fd27a, 0xde8a97f8};

struct registers {
    __m256i a, b, c, d;
};

struct sums {
    uint64_t x, y, z;
};

static bool usable(void)
{
    return psd_crc32c_sse42.usable() && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("vpclmulqdq");
}

TARGET static inline __m256i load(const unsigned char *data)
{
    return _mm256_loadu_si256((const void *)data);
}

TARGET static inline __m256i twice(struct move move)
{
    long long lower = (long long)move.lower, upper = (long long)move.upper;

    return _mm256_set_epi64x(upper, lower, upper, lower);
}

TARGET static inline __m256i fold(__m256i held, __m256i move, __m256i next)
{
    __m256i lower = _mm256_clmulepi64_epi128(held, move, 0x00);
    __m256i upper = _mm256_clmulepi64_epi128(held, move, 0x11);

    return _mm256_xor_si256(_mm256_xor_si256(lower, upper), next);
}

TARGET static inline uint64_t take_eight(uint64_t sum, const unsigned char *data)
{
    uint64_t word;

    memcpy(&word, data, sizeof word);
    return _mm_crc32_u64(sum, word);
}

TARGET static inline void take_words(struct sums *sums, const unsigned char *data)
{
    sums->x = take_eight(sums->x, data);
    sums->y = take_eight(sums->y, data + PART);
    sums->z = take_eight(sums->z, data + PART + PART);
}

TARGET static inline void take_turn(struct registers *held, __m256i move,
                                    const unsigned char *front, struct sums *sums,
                                    const unsigned char *parts)
{
    held->a = fold(held->a, move, load(front));
    take_words(sums, parts);
    held->b = fold(held->b, move, load(front + 32));
    take_words(sums, parts + 8);
    take_words(sums, parts + 16);
    held->c = fold(held->c, move, load(front + 64));
    take_words(sums, parts + 24);
    held->d = fold(held->d, move, load(front + 96));
    take_words(sums, parts + 32);
}

/* An address and no pointer, as it may lie behind the data; to ask for what is not there does nothing. */
TARGET static inline void ask_for(uintptr_t address)
{
    for (uintptr_t line = address; line < address + ASKED; line += LINE)
        _mm_prefetch((const void *)line, _MM_HINT_T0);
}

/* The remainder of the 128 bytes that the registers hold. */
TARGET static inline uint64_t reduce(const struct registers *held)
{
    __m256i move = twice(by_32_bytes);
    __m256i ab = fold(held->a, move, held->b);
    __m256i last = fold(fold(ab, move, held->c), move, held->d);
    __m128i first = _mm256_castsi256_si128(last);
    __m128i small = _mm256_castsi256_si128(twice(by_16_bytes));
    __m128i lower = _mm_clmulepi64_si128(first, small, 0x00);
    __m128i upper = _mm_clmulepi64_si128(first, small, 0x11);
    __m128i all = _mm_xor_si128(_mm_xor_si128(lower, upper), _mm256_extracti128_si256(last, 1));
    uint64_t sum = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(all));

    return _mm_crc32_u64(sum, (uint64_t)_mm_extract_epi64(all, 1));
}

TARGET static inline uint64_t multiply(uint64_t sum, uint32_t by)
{
    __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)sum), _mm_cvtsi64_si128(by), 0);

    return (uint64_t)_mm_cvtsi128_si64(product);
}

TARGET static uint32_t take_block(uint32_t state, const unsigned char *data)
{
    __m256i before = _mm256_set_epi64x(0, 0, 0, state), move = twice(by_128_bytes);
    struct registers held = {_mm256_xor_si256(load(data), before), load(data + 32), load(data + 64),
                             load(data + 96)};
    struct sums sums = {0};
    const unsigned char *parts = data + FRONT;
    uintptr_t ahead = (uintptr_t)data + AHEAD;

    for (const unsigned char *front = data + 128; front < data + FRONT; front += 128) {
        take_turn(&held, move, front, &sums, parts);
        ask_for(ahead);
        parts += 40;
        ahead += ASKED;
    }
    uint64_t all = multiply(reduce(&held), behind[3]) ^ multiply(sums.x, behind[2]) ^
                   multiply(sums.y, behind[1]);
    return (uint32_t)(_mm_crc32_u64(0, all) ^ sums.z);
}

TARGET static uint32_t update(uint32_t state, const unsigned char *data, size_t bytes)
{
    for (; bytes >= BLOCK; data += BLOCK, bytes -= BLOCK)
        state = take_block(state, data);
    return psd_crc32c_sse42.update(state, data, bytes);
}

const struct psd_crc32c_way psd_crc32c_avx2 = {"vpclmulqdq", usable, update};
