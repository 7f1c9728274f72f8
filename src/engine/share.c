/* share.c - equal shares, and the rest one by one to the first. */
#include "engine/share.h"

size_t psd_share_size(size_t all, unsigned of, unsigned which)
{
    return all / of + (which < all % of);
}

size_t psd_share_offset(size_t all, unsigned of, unsigned which)
{
    return all / of * which + (which < all % of ? which : all % of);
}
