/* random.h - random numbers that are looked up, not drawn.
 *
 *     seed  ------ key -------.
 *                             v
 *     stream, index ---> [ Philox 4x32-10 ] ---> four words of 32 bits
 *
 *     float noise = psd_random_normal(seed, stream, i);     the same today, there, and out of order
 *
 * A value is a function of (seed, stream, index) and of nothing else: there is no state, so any
 * thread may compute any part, and a job that is cut differently sees the same numbers. A job has
 * one seed; each purpose has a stream of its own, for instance (iteration << 32 | layer); the index
 * counts the values. Two functions below that are asked for the same (seed, stream, index) answer
 * from the same bits, so a stream serves one of them.
 *
 * All results are equal to the bit on every machine with IEEE 754 arithmetic: they come from
 * integers and from the double's + - * / and square root, which are rounded in one way only, and no
 * function of libm is asked for a logarithm. Any thread. */
#ifndef PSD_BASE_RANDOM_H
#define PSD_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* The generator itself: block `index` of the stream, 128 random bits. */
void psd_random_block(uint64_t seed, uint64_t stream, uint64_t index, uint32_t out[4]);

/* Value `index` of the stream: word index % 4 of block index / 4. */
uint32_t psd_random_u32(uint64_t seed, uint64_t stream, uint64_t index);

/* A multiple of 2^-24 in [0, 1), each equally likely: the upper bits of psd_random_u32. */
float psd_random_uniform(uint64_t seed, uint64_t stream, uint64_t index);

/* From the normal distribution with mean 0 and deviation 1: the quantile that belongs to
 * psd_random_u32, so it lies between -6.3 and 6.3. */
float psd_random_normal(uint64_t seed, uint64_t stream, uint64_t index);

/* An integer in [0, n), each exactly equally likely; n is not 0. Answers from block `index`. */
uint64_t psd_random_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t n);

/* The values first_index, first_index + 1 ... as the functions above give them one by one. */
void psd_random_fill_uniform(uint64_t seed, uint64_t stream, uint64_t first_index, size_t count,
                             float *out);
void psd_random_fill_normal(uint64_t seed, uint64_t stream, uint64_t first_index, size_t count,
                            float *out);

#endif
