/* crc32c_plain.c - the checksum by tables, eight bytes at a time.
 *
 * table[k][b] is what the byte b does to the remainder when k more bytes follow it. Every table is
 * linear: an entry is the exclusive or of the entries of its bits, so that eight numbers make a table.
 *
 *     state ^ bytes 0-3 | bytes 4-7
 *      t7 t6 t5 t4      | t3 t2 t1 t0      eight looks, which do not wait for each other
 */
#include "base/crc32c_way.h"

#define BIT(i, n, value) ((i) >> (n)&1 ? UINT32_C(value) : 0)
#define ENTRY(i, a, b, c, d, e, f, g, h)                                                       \
    (BIT(i, 0, a) ^ BIT(i, 1, b) ^ BIT(i, 2, c) ^ BIT(i, 3, d) ^ BIT(i, 4, e) ^ BIT(i, 5, f) ^ \
     BIT(i, 6, g) ^ BIT(i, 7, h))
#define FOUR(i, ...)                                                             \
    ENTRY(i, __VA_ARGS__), ENTRY(i + 1, __VA_ARGS__), ENTRY(i + 2, __VA_ARGS__), \
        ENTRY(i + 3, __VA_ARGS__)
#define SIXTEEN(i, ...)                                                       \
    FOUR(i, __VA_ARGS__), FOUR(i + 4, __VA_ARGS__), FOUR(i + 8, __VA_ARGS__), \
        FOUR(i + 12, __VA_ARGS__)
#define SIXTY_FOUR(i, ...)                                                               \
    SIXTEEN(i, __VA_ARGS__), SIXTEEN(i + 16, __VA_ARGS__), SIXTEEN(i + 32, __VA_ARGS__), \
        SIXTEEN(i + 48, __VA_ARGS__)
#define TABLE(...)                                                                             \
    {                                                                                          \
        SIXTY_FOUR(0, __VA_ARGS__), SIXTY_FOUR(64, __VA_ARGS__), SIXTY_FOUR(128, __VA_ARGS__), \
            SIXTY_FOUR(192, __VA_ARGS__)                                                       \
    }

static const uint32_t table[8][256] = {
    TABLE(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede, 0x417b1dbc,
          0x82f63b78),
    TABLE(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302, 0xff17c604,
          0xfbc3faf9),
    TABLE(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14, 0xc76580d9,
          0x8b277743),
    TABLE(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b, 0xaba65fe7,
          0x52a0c93f),
    TABLE(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557, 0x37516aae,
          0x6ea2d55c),
    TABLE(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d, 0x0e045beb,
          0x1c08b7d6),
    TABLE(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a,
          0xf56e0ef4),
    TABLE(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599, 0x1a00cb32,
          0x34019664),
};

static bool usable(void)
{
    return true;
}

static uint32_t load(const unsigned char *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

static uint32_t look(size_t from, uint32_t word)
{
    return table[from][word & 255] ^ table[from - 1][word >> 8 & 255] ^
           table[from - 2][word >> 16 & 255] ^ table[from - 3][word >> 24];
}

static uint32_t update(uint32_t state, const unsigned char *data, size_t bytes)
{
    for (; bytes >= 8; data += 8, bytes -= 8)
        state = look(7, state ^ load(data)) ^ look(3, load(data + 4));
    for (; bytes > 0; data++, bytes--)
        state = table[0][(state ^ *data) & 255] ^ state >> 8;
    return state;
}

const struct psd_crc32c_way psd_crc32c_plain = {"plain", usable, update};
