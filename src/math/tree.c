/* tree.c - the tree is arithmetic on (level, index); no tree is ever stored. */
#include "math/tree.h"

#include <assert.h>

struct psd_tree_node psd_tree_root(size_t leaves)
{
    struct psd_tree_node root = {0, 0};

    assert(leaves >= 1 && leaves <= PSD_TREE_LEAVES);
    while ((size_t)1 << root.level < leaves)
        root.level++;
    return root;
}

bool psd_tree_has(size_t leaves, struct psd_tree_node node)
{
    return psd_tree_first(node) < leaves;
}

size_t psd_tree_first(struct psd_tree_node node)
{
    return node.index << node.level;
}

size_t psd_tree_end(size_t leaves, struct psd_tree_node node)
{
    size_t end = (node.index + 1) << node.level;
    return end < leaves ? end : leaves;
}

struct psd_tree_node psd_tree_parent(struct psd_tree_node node)
{
    return (struct psd_tree_node){node.level + 1, node.index / 2};
}

struct psd_tree_node psd_tree_sibling(struct psd_tree_node node)
{
    return (struct psd_tree_node){node.level, node.index ^ 1};
}

struct psd_tree_node psd_tree_raise(size_t leaves, struct psd_tree_node node)
{
    struct psd_tree_node root = psd_tree_root(leaves);

    while (node.level < root.level && !psd_tree_has(leaves, psd_tree_sibling(node)))
        node = psd_tree_parent(node);
    return node;
}

bool psd_tree_same(struct psd_tree_node a, struct psd_tree_node b)
{
    return a.level == b.level && a.index == b.index;
}

/* The highest node that begins with leaf `first` and ends at or before `end`. */
static struct psd_tree_node highest(size_t leaves, size_t first, size_t end)
{
    struct psd_tree_node root = psd_tree_root(leaves), node = {0, first};

    while (node.level < root.level) {
        struct psd_tree_node parent = psd_tree_parent(node);
        if (psd_tree_first(parent) != first || psd_tree_end(leaves, parent) > end)
            break;
        node = parent;
    }
    return node;
}

size_t psd_tree_cover(size_t leaves, size_t first, size_t count,
                      struct psd_tree_node nodes[PSD_TREE_COVER])
{
    size_t found = 0, end = first + count;

    assert(first <= leaves && count <= leaves - first);
    while (first < end) {
        nodes[found] = highest(leaves, first, end);
        first = psd_tree_end(leaves, nodes[found++]);
    }
    return found;
}
