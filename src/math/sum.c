/* sum.c - additions in vectors of 16 bytes, which every machine we know has registers for; wider
 * ones gain nothing where memory is the limit.
 *
 * Vectors are loaded and stored by memcpy, which compiles to one instruction and takes any
 * address. A tail shorter than a vector is filled up with zeros. */
#include "math/sum.h"
#include "math/tree.h"

#include <float.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "an operation on floats must round to float");

enum {
    QUAD = 4,    /* floats in a vector */
    LANES = 8,   /* running sums in a block of squares, enough to keep the adders busy */
    PIECE = 512, /* floats of each leaf that are added before the next piece: 2 KiB */
};

typedef float quad __attribute__((vector_size(QUAD * sizeof(float))));
typedef float pair __attribute__((vector_size(2 * sizeof(float))));
typedef double wide_pair __attribute__((vector_size(2 * sizeof(double))));

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline quad load(const float *x, size_t n)
{
    quad q = {0};
    memcpy(&q, x, n * sizeof *x);
    return q;
}

static inline void store(float *x, quad q, size_t n)
{
    memcpy(x, &q, n * sizeof *x);
}

static inline void add_quad(float *out, const float *a, const float *b, size_t i)
{
    store(out + i, load(a + i, QUAD) + load(b + i, QUAD), QUAD);
}

/* out[i] = a[i] + b[i]; out may be a or b. Four quads a turn: a loop of one is so short that its
 * speed hangs on where the linker happens to put it (76 or 110 GB/s in the cache). */
static void add(float *out, const float *a, const float *b, size_t n)
{
    size_t i = 0;

    for (; n - i >= 16; i += 16) {
        add_quad(out, a, b, i);
        add_quad(out, a, b, i + 4);
        add_quad(out, a, b, i + 8);
        add_quad(out, a, b, i + 12);
    }
    for (; n - i >= QUAD; i += QUAD)
        add_quad(out, a, b, i);
    if (i < n)
        store(out + i, load(a + i, n - i) + load(b + i, n - i), n - i);
}

void psd_sum_add(float *into, const float *from, size_t n)
{
    add(into, into, from, n);
}

static inline quad four(const float *a, const float *b, const float *c, const float *d, size_t n)
{
    return (load(a, n) + load(b, n)) + (load(c, n) + load(d, n));
}

/* Two levels of the tree at once, over four leaves from element `from` on: the sums of the pairs
 * never leave the registers. */
static void add_four(float *out, const float *const *leaves, size_t from, size_t n)
{
    const float *a = leaves[0] + from, *b = leaves[1] + from;
    const float *c = leaves[2] + from, *d = leaves[3] + from;
    size_t i = 0;

    for (; n - i >= QUAD; i += QUAD)
        store(out + i, four(a + i, b + i, c + i, d + i, QUAD), QUAD);
    if (i < n)
        store(out + i, four(a + i, b + i, c + i, d + i, n - i), n - i);
}

/* The same piece of every leaf, and room for the sums of the two children of one node per level. */
struct piece {
    const float *const *leaves;
    size_t leaf_count;
    size_t from, n; /* elements of the leaves */
    float (*room)[2][PIECE];
};

/* The sum over a node: where it stands in its only leaf, or made in `out`, which is written last
 * and may therefore be a leaf. */
static const float *sum_node(const struct piece *piece, struct psd_tree_node node, float *out)
{
    size_t first = psd_tree_first(node);

    if (node.level == 0)
        return piece->leaves[first] + piece->from;
    if (node.level == 2 && first + 4 <= piece->leaf_count) {
        add_four(out, piece->leaves + first, piece->from, piece->n);
        return out;
    }
    struct psd_tree_node left = {node.level - 1, 2 * node.index}, right = psd_tree_sibling(left);
    const float *left_sum = sum_node(piece, left, piece->room[left.level][0]);
    if (!psd_tree_has(piece->leaf_count, right))
        return left_sum;
    const float *right_sum = sum_node(piece, right, piece->room[left.level][1]);
    add(out, left_sum, right_sum, piece->n);
    return out;
}

void psd_sum_tree(const float *const *leaves, size_t count, size_t n, float *out)
{
    float room[PSD_TREE_HEIGHT][2][PIECE]; /* room[0] stays empty: a leaf is its own sum */
    struct psd_tree_node root = psd_tree_root(count);

    for (size_t from = 0; from < n; from += PIECE) {
        struct piece piece = {leaves, count, from, least(n - from, PIECE), room};
        const float *sum = sum_node(&piece, root, out + from);
        if (sum != out + from) /* a tree of one leaf */
            memcpy(out + from, sum, piece.n * sizeof *out);
    }
}

static inline wide_pair squares(const float *x)
{
    pair narrow;
    memcpy(&narrow, x, sizeof narrow);
    wide_pair wide = __builtin_convertvector(narrow, wide_pair);
    return wide * wide;
}

static inline void add_squares(wide_pair sums[LANES / 2], const float *x)
{
    sums[0] += squares(x);
    sums[1] += squares(x + 2);
    sums[2] += squares(x + 4);
    sums[3] += squares(x + 6);
}

/* Element i of a block goes to lane i % LANES; at last the upper half of the lanes is added to the
 * lower until one is left. The zeros of the tail change no lane: none is ever negative. */
static double sum_block(const float *x, size_t n)
{
    wide_pair sums[LANES / 2] = {{0}};
    float tail[LANES] = {0};
    size_t i = 0;

    for (; n - i >= LANES; i += LANES)
        add_squares(sums, x + i);
    memcpy(tail, x + i, (n - i) * sizeof *x);
    add_squares(sums, tail);
    wide_pair two = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    return two[0] + two[1];
}

double psd_sum_squares(const float *x, size_t n)
{
    double total = 0;

    for (size_t from = 0; from < n; from += PSD_SUM_BLOCK)
        total += sum_block(x + from, least(n - from, PSD_SUM_BLOCK));
    return total;
}

size_t psd_sum_block_count(size_t n)
{
    return n / PSD_SUM_BLOCK + (n % PSD_SUM_BLOCK != 0);
}

void psd_sum_square_blocks(const float *x, size_t n, double *sums)
{
    for (size_t from = 0; from < n; from += PSD_SUM_BLOCK)
        sums[from / PSD_SUM_BLOCK] = sum_block(x + from, least(n - from, PSD_SUM_BLOCK));
}

double psd_sum_blocks(const double *sums, size_t count)
{
    double total = 0;

    for (size_t i = 0; i < count; i++)
        total += sums[i];
    return total;
}
