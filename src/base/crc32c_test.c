/* crc32c_test.c - the published values, and every way against the definition. */
#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/crc32c_way.h"
#include "test.h"

static void the_values_of_rfc_3720_come_out(void)
{
    unsigned char zeros[32] = {0}, ones[32], up[32], down[32];
    static const unsigned char command[48] = {
        0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02};
    const struct {
        const void *data;
        size_t bytes;
        uint32_t crc;
    } cases[] = {{zeros, 32, 0x8a9136aa},   {ones, 32, 0x62a8ab43},
                 {up, 32, 0x46dd794e},      {down, 32, 0x113fdb5c},
                 {command, 48, 0xd9963a56}, {"123456789", 9, 0xe3069283},
                 {"a", 1, 0xc1d04330},      {"", 0, 0}};

    for (unsigned char i = 0; i < 32; i++) {
        ones[i] = 0xff;
        up[i] = i;
        down[i] = (unsigned char)(31 - i);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(psd_crc32c(0, cases[i].data, cases[i].bytes) == cases[i].crc);
}

/* As the polynomial says, bit by bit. */
static uint32_t update_slowly(uint32_t state, const unsigned char *data, size_t bytes)
{
    for (; bytes > 0; data++, bytes--) {
        state ^= *data;
        for (int i = 0; i < 8; i++)
            state = state >> 1 ^ (state & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    return state;
}

enum { MOST = 2000, LONGEST = 12000, SHIFTS = 9 };

static unsigned char *random_bytes(void)
{
    unsigned char *bytes = psd_alloc(LONGEST + SHIFTS);

    CHECK(bytes);
    for (size_t i = 0; i < LONGEST + SHIFTS; i++)
        bytes[i] = (unsigned char)(update_slowly((uint32_t)i, (const unsigned char *)"x", 1) >> 7);
    return bytes;
}

static void check_ways(uint32_t state, const unsigned char *data, size_t length, uint32_t wanted)
{
    for (size_t i = 0; psd_crc32c_ways[i]; i++) {
        const struct psd_crc32c_way *way = psd_crc32c_ways[i];
        CHECK(!way->usable() || way->update(state, data, length) == wanted);
    }
}

static void every_way_agrees_at_every_length_and_alignment(void)
{
    unsigned char *bytes = random_bytes();

    for (size_t shift = 0; shift < SHIFTS; shift++) {
        uint32_t first = 0xffffffff - (uint32_t)shift, wanted = first;
        for (size_t length = 0; length <= MOST; length++) {
            check_ways(first, bytes + shift, length, wanted);
            wanted = update_slowly(wanted, bytes + shift + length, 1);
        }
    }
    psd_alloc_free(bytes);
}

/* Three times what any way takes at once. */
static void every_way_agrees_on_long_ones(void)
{
    unsigned char *bytes = random_bytes();

    for (size_t shift = 0; shift < SHIFTS; shift++) {
        uint32_t wanted = 1;
        for (size_t length = 0; length <= LONGEST; length++) {
            if (length % 101 == shift || length % 3848 < 2)
                check_ways(1, bytes + shift, length, wanted);
            wanted = update_slowly(wanted, bytes + shift + length, 1);
        }
    }
    psd_alloc_free(bytes);
}

static void a_sum_goes_on_where_it_was_left(void)
{
    unsigned char *bytes = random_bytes();
    uint32_t whole = psd_crc32c(0, bytes, MOST);

    for (size_t cut = 0; cut <= MOST; cut += 97)
        CHECK(psd_crc32c(psd_crc32c(0, bytes, cut), bytes + cut, MOST - cut) == whole);
    psd_alloc_free(bytes);
}

static void the_last_way_runs_anywhere(void)
{
    size_t last = 0;

    while (psd_crc32c_ways[last + 1])
        last++;
    CHECK(psd_crc32c_ways[last] == &psd_crc32c_plain && psd_crc32c_plain.usable());
}

int main(int argc, char **argv)
{
    RUN(the_values_of_rfc_3720_come_out)
    RUN(every_way_agrees_at_every_length_and_alignment)
    RUN(every_way_agrees_on_long_ones)
    RUN(a_sum_goes_on_where_it_was_left)
    RUN(the_last_way_runs_anywhere)
}
