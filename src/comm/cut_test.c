/* cut_test.c - every byte is in one cut, and both ends agree which. */
#include "comm/cut.h"
#include "test.h"

static void cuts_are_even_and_within_the_limit(void)
{
    static const struct {
        size_t bytes, most;
        uint32_t count;
        size_t each;
    } cases[] = {
        {4, 4096, 1, 4},          {4096, 4096, 1, 4096},
        {4100, 4096, 2, 2052},    {12288, 4096, 3, 4096},
        {40, 12, 4, 12},          {4, 1, 1, 4},
        {400000, 4096, 64, 6252}, {400000, 4, 64, 6252},
        {260, 4, 33, 8},          {3342336, 524288, 7, 477480},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_cut cut = psd_cut_of(cases[i].bytes, cases[i].most);
        fprintf(stderr, "    %zu by %zu\n", cases[i].bytes, cases[i].most);
        CHECK(cut.bytes == cases[i].bytes);
        CHECK(cut.count == cases[i].count);
        CHECK(cut.each == cases[i].each);
    }
}

static void cuts_follow_each_other_to_the_end(void)
{
    for (size_t bytes = 4; bytes < 2000; bytes += 4) {
        struct psd_cut cut = psd_cut_of(bytes, 20);
        size_t at = 0;
        for (uint32_t i = 0; i < cut.count; i++) {
            CHECK(psd_cut_begin(cut, i) == at);
            CHECK(psd_cut_length(cut, i) > 0);
            CHECK(psd_cut_length(cut, i) % sizeof(float) == 0);
            at += psd_cut_length(cut, i);
        }
        CHECK(at == bytes);
    }
}

static void all_cuts_are_as_many_bits(void)
{
    CHECK(psd_cut_all(psd_cut_of(4, 4)) == 1);
    CHECK(psd_cut_all(psd_cut_of(12, 4)) == 7);
    CHECK(psd_cut_all(psd_cut_of(400000, 4)) == UINT64_MAX);
}

/* Two spans, cut and put together again. */
static void spans_come_together_again(void)
{
    enum { U = 52, V = 148 };
    char u[U], v[V], whole[U + V], again[U + V];

    for (size_t i = 0; i < U + V; i++)
        whole[i] = (char)i;
    memcpy(u, whole, U);
    memcpy(v, whole + U, V);
    for (size_t most = 4; most <= U + V; most += 4) {
        struct psd_cut cut = psd_cut_of(U + V, most);
        size_t at = 0;
        for (uint32_t i = 0; i < cut.count; i++) {
            struct psd_span of_u = psd_cut_span(cut, i, (struct psd_span){u, U}, 0);
            struct psd_span of_v = psd_cut_span(cut, i, (struct psd_span){v, V}, U);
            CHECK(of_u.bytes + of_v.bytes == psd_cut_length(cut, i));
            if (of_u.bytes)
                memcpy(again + at, of_u.data, of_u.bytes);
            if (of_v.bytes)
                memcpy(again + at + of_u.bytes, of_v.data, of_v.bytes);
            at += of_u.bytes + of_v.bytes;
        }
        CHECK(memcmp(whole, again, sizeof whole) == 0);
    }
}

static void spans_without_memory_keep_their_lengths(void)
{
    struct psd_cut cut = psd_cut_of(100, 40);
    struct psd_span span = psd_cut_span(cut, 1, (struct psd_span){NULL, 60}, 0);

    CHECK(span.data == NULL);
    CHECK(span.bytes == 60 - psd_cut_begin(cut, 1));
}

int main(int argc, char **argv)
{
    RUN(cuts_are_even_and_within_the_limit)
    RUN(cuts_follow_each_other_to_the_end)
    RUN(all_cuts_are_as_many_bits)
    RUN(spans_come_together_again)
    RUN(spans_without_memory_keep_their_lengths)
}
