/* cut.c - the arithmetic of cutting. */
#include "comm/cut.h"

enum { CUTS = 64 };

struct psd_cut psd_cut_of(size_t bytes, size_t most)
{
    size_t count = bytes > most ? (bytes - 1) / most + 1 : 1;
    if (count > CUTS)
        count = CUTS;

    size_t floats = (bytes + sizeof(float) - 1) / sizeof(float);
    size_t each = ((floats + count - 1) / count) * sizeof(float);
    return (struct psd_cut){
        .bytes = bytes, .each = each, .count = each ? (uint32_t)((bytes + each - 1) / each) : 1};
}

uint64_t psd_cut_all(struct psd_cut cut)
{
    return UINT64_MAX >> (CUTS - cut.count);
}

size_t psd_cut_begin(struct psd_cut cut, uint32_t i)
{
    return i * cut.each;
}

size_t psd_cut_length(struct psd_cut cut, uint32_t i)
{
    size_t left = cut.bytes - psd_cut_begin(cut, i);

    return left < cut.each ? left : cut.each;
}

struct psd_span psd_cut_span(struct psd_cut cut, uint32_t i, struct psd_span span, size_t at)
{
    size_t begin = psd_cut_begin(cut, i), end = begin + psd_cut_length(cut, i);
    size_t first = begin > at ? begin - at : 0;
    size_t last = end < at ? 0 : end - at < span.bytes ? end - at : span.bytes;

    if (first >= last)
        return (struct psd_span){NULL, 0};
    return (struct psd_span){span.data ? (const char *)span.data + first : NULL, last - first};
}
