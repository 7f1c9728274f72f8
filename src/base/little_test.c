/* little_test.c - numbers come back, and stand where they should. */
#include "base/little.h"
#include "test.h"

static void the_lowest_byte_stands_first(void)
{
    static const unsigned char expected[8] = {0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01};
    unsigned char bytes[8];

    psd_little_put(bytes, UINT64_C(0x0102030405060708), sizeof bytes);
    CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
}

static void a_number_of_any_size_comes_back_and_nothing_else_is_touched(void)
{
    for (size_t size = 1; size <= 8; size++) {
        unsigned char bytes[9];
        uint64_t number = UINT64_C(0xf1e2d3c4b5a69788);

        memset(bytes, 0x5a, sizeof bytes);
        psd_little_put(bytes, number, size);
        CHECK(psd_little_get(bytes, size) ==
              (size == 8 ? number : number % (UINT64_C(1) << 8 * size)));
        CHECK(bytes[size] == 0x5a);
    }
}

int main(int argc, char **argv)
{
    RUN(the_lowest_byte_stands_first)
    RUN(a_number_of_any_size_comes_back_and_nothing_else_is_touched)
}
