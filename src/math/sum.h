/* sum.h - vectors added to the bit: gradients along the tree, squares over fixed blocks.
 *
 *     leaves    0 ....[piece]....       one piece of every leaf is added up the tree while it is
 *               1 ....[piece]....       in the cache, then the next piece: memory is read once
 *               2 ....[piece]....       and written once, whatever S is
 *     out         ....[piece]....
 *
 * Element i of a sum depends on element i of the vectors alone, so a sum may be computed in one
 * call or in any pieces, by any thread, on vectors of any hardware width: the bits are the same.
 * All functions are pure, safe from any thread, and need no alignment beyond that of a float. */
#ifndef PSD_MATH_SUM_H
#define PSD_MATH_SUM_H

#include <stddef.h>

/* into[i] += from[i]. The vectors are the same or do not overlap. */
void psd_sum_add(float *into, const float *from, size_t n);

/* out[i] = the sum over leaves[0][i] ... leaves[count - 1][i], added along the tree of math/tree.h,
 * for 1 <= count <= PSD_TREE_LEAVES. Equals, to the bit, adding the sums of the nodes of any
 * psd_tree_cover up to the root. `out` may be one of the leaves, which then holds the sum instead;
 * else it overlaps none. Needs 80 KiB of stack (two pieces of 2 KiB for each level of the highest
 * tree), touches as much of it as this tree is high, and needs no heap. */
void psd_sum_tree(const float *const *leaves, size_t count, size_t n, float *out);

/* Sums of squares, for norms. A vector consists of blocks of PSD_SUM_BLOCK elements, counted from
 * its start; the last may be shorter. A block is added in a fixed order, the blocks from first to
 * last, all in double, where the square of a float is exact.
 *
 *     psd_sum_squares(x, n)   the same bits as   psd_sum_square_blocks(x, n, sums);
 *                                                psd_sum_blocks(sums, psd_sum_block_count(n))
 *
 * so whoever has all block sums, computed anywhere in pieces that end at block borders, has the
 * same total. */
enum { PSD_SUM_BLOCK = 4096 };

double psd_sum_squares(const float *x, size_t n);

/* How many blocks n elements have. */
size_t psd_sum_block_count(size_t n);

/* The sum of each block of x into `sums`, psd_sum_block_count(n) of them. */
void psd_sum_square_blocks(const float *x, size_t n, double *sums);

/* Adds block sums from first to last. */
double psd_sum_blocks(const double *sums, size_t count);

#endif
