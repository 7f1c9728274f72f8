/* crc32c_sse42.c - the checksum by the instruction of SSE4.2.
 *
 * One instruction takes eight bytes, and another can start in every cycle, but each needs the result
 * of the one before it for three. So three streams go side by side, over three neighbouring parts of
 * the same length, and are joined at the end of them:
 *
 *     |  part 0: a   |  part 1: b   |  part 2: c   |      a x^(16 length) + b x^(8 length) + c
 *
 * A product without carries of two reflected remainders, put through the instruction, comes out
 * multiplied by x^33; the constants have that taken off. */
#include "base/crc32c_way.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("sse4.2,pclmul")))

/* Parts of one length. */
struct parts {
    size_t bytes;
    uint32_t once,
        twice; /* x^(8 bytes - 33) and x^(16 bytes - 33) modulo the polynomial, reflected */
};

/* Longer parts would be faster in the cache by a tenth, but from memory slower by half: the processor
 * fetches ahead what is near. */
static const struct parts large = {256, 0xb9e02b86, 0xdd7e3b0c};
static const struct parts small = {64, 0x9e4addf8, 0x0d3b6092};

static bool usable(void)
{
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

TARGET static inline uint64_t take_eight(uint64_t state, const unsigned char *data)
{
    uint64_t word;

    memcpy(&word, data, sizeof word);
    return _mm_crc32_u64(state, word);
}

TARGET static inline __m128i multiply(uint64_t a, uint32_t b)
{
    return _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)a), _mm_cvtsi64_si128(b), 0);
}

TARGET static uint64_t take_three(uint64_t a, const unsigned char *data, const struct parts *parts)
{
    size_t length = parts->bytes;
    uint64_t b = 0, c = 0;

    for (const unsigned char *end = data + length; data < end; data += 8) {
        a = take_eight(a, data);
        b = take_eight(b, data + length);
        c = take_eight(c, data + 2 * length);
    }
    __m128i sum = _mm_xor_si128(multiply(a, parts->twice), multiply(b, parts->once));
    return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(sum)) ^ c;
}

TARGET static uint32_t update(uint32_t from, const unsigned char *data, size_t bytes)
{
    uint64_t state = from;

    for (; bytes >= 3 * large.bytes; data += 3 * large.bytes, bytes -= 3 * large.bytes)
        state = take_three(state, data, &large);
    for (; bytes >= 3 * small.bytes; data += 3 * small.bytes, bytes -= 3 * small.bytes)
        state = take_three(state, data, &small);
    for (; bytes >= 8; data += 8, bytes -= 8)
        state = take_eight(state, data);
    for (; bytes > 0; data++, bytes--)
        state = _mm_crc32_u8((uint32_t)state, *data);
    return (uint32_t)state;
}

const struct psd_crc32c_way psd_crc32c_sse42 = {"sse4.2", usable, update};
