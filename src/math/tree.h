/* tree.h - the fixed binary tree along which the gradients of S logical workers are added.
 *
 * Logical workers are the leaves. Node (level, index) covers the leaves from index << level up to
 * (index + 1) << level, as far as they exist. For S = 5:
 *
 *     level 3                (3,0)
 *                        .-----'-----.
 *     level 2          (2,0)       (2,1)       an only child: (1,3) would cover leaves 6 and 7,
 *                    .---'---.       |         so the sum of (2,1) is that of (1,2)
 *     level 1      (1,0)   (1,1)   (1,2)       and that of leaf 4: nothing is added
 *                  .-'-.   .-'-.     |
 *     level 0      0   1   2   3     4
 *
 * Floating-point addition commutes but does not associate: which two sums are added fixes the
 * bits, the order of the two does not. So whoever hosts which leaves, every process that adds
 * siblings only, and all siblings, gets the same bits. Nodes are pairs of numbers; nothing here
 * allocates or fails. */
#ifndef PSD_MATH_TREE_H
#define PSD_MATH_TREE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PSD_TREE_HEIGHT = 20,                    /* of the highest tree */
    PSD_TREE_LEAVES = 1 << PSD_TREE_HEIGHT,  /* of the widest: 1048576 logical workers */
    PSD_TREE_COVER = 2 * PSD_TREE_HEIGHT - 2 /* nodes that cover any run of leaves */
};

struct psd_tree_node {
    unsigned level; /* 0 is a leaf */
    size_t index;   /* on its level, from the left */
};

/* The lowest node that covers all leaves, on level ceil(log2(leaves)). Here and below `leaves` is
 * the S of the tree: 1 to PSD_TREE_LEAVES. */
struct psd_tree_node psd_tree_root(size_t leaves);

/* Whether the node covers any leaf; if not, it does not exist. */
bool psd_tree_has(size_t leaves, struct psd_tree_node node);

/* The leaves that an existing node covers: from first to, but without, end. */
size_t psd_tree_first(struct psd_tree_node node);
size_t psd_tree_end(size_t leaves, struct psd_tree_node node);

/* The neighbours of a node; the parent of the root has the same leaves as the root. The sibling of
 * an only child does not exist. */
struct psd_tree_node psd_tree_parent(struct psd_tree_node node);
struct psd_tree_node psd_tree_sibling(struct psd_tree_node node);

/* The highest node with the leaves of this one: the root, or one whose sibling exists. Nodes that
 * are raised have one name per sum, and a sum climbs by
 *
 *     node = psd_tree_raise(S, node);
 *     add the sum of psd_tree_sibling(node);  node = psd_tree_parent(node);  and so on to the root
 */
struct psd_tree_node psd_tree_raise(size_t leaves, struct psd_tree_node node);

bool psd_tree_same(struct psd_tree_node a, struct psd_tree_node b);

/* The fewest nodes that together cover the leaves from `first` on, `count` of them: what a process
 * that hosts those leaves can add by itself. They stand in `nodes` from left to right, raised;
 * returns how many there are. Leaves with gaps between them are covered run by run. */
size_t psd_tree_cover(size_t leaves, size_t first, size_t count,
                      struct psd_tree_node nodes[PSD_TREE_COVER]);

#endif
