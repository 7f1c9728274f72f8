/* plain.h - lanes in plain C, for tile.h and norm.h: what they need of an instruction set.
 *
 * On processors whose compilers make one instruction of fmaf() this is fast, too. */
#ifndef PSD_MATH_PRODUCT_PLAIN_H
#define PSD_MATH_PRODUCT_PLAIN_H

#include <math.h>
#include <string.h>

/* On functions that use the instruction set; and on those that become part of others. */
#define TARGET
#define INLINE static inline __attribute__((always_inline))

enum { LANES = 8 };

typedef struct {
    float at[LANES];
} lanes;

INLINE lanes lanes_load(const float *from)
{
    lanes x;
    memcpy(x.at, from, sizeof x.at);
    return x;
}

INLINE void lanes_store(float *to, lanes x)
{
    memcpy(to, x.at, sizeof x.at);
}

/* The same number in all lanes. */
INLINE lanes lanes_spread(const float *from)
{
    lanes x;
    for (int i = 0; i < LANES; i++)
        x.at[i] = *from;
    return x;
}

INLINE lanes lanes_fma(lanes a, lanes b, lanes c)
{
    for (int i = 0; i < LANES; i++)
        c.at[i] = fmaf(a.at[i], b.at[i], c.at[i]);
    return c;
}

/* Four doubles: each compiler makes them of what there is. By address, since they have no place among
 * arguments that all instruction sets agree on. */
typedef double wide __attribute__((vector_size(4 * sizeof(double))));

INLINE void wide_load(const float *from, wide *to)
{
    *to = (wide){(double)from[0], (double)from[1], (double)from[2], (double)from[3]};
}

/* sum += a * b, where the product is exact: fused or not, the bits are the same. */
INLINE void wide_add(const wide *a, const wide *b, wide *sum)
{
    *sum += *a * *b;
}

#endif
