/* tree_test.c - which leaves a node covers, and which nodes cover a run of leaves. */
#include "math/tree.h"
#include "test.h"

enum { WIDEST = 40 }; /* every tree up to this many leaves is looked at */

static bool hosted_whole(size_t leaves, struct psd_tree_node node, size_t first, size_t end)
{
    return psd_tree_first(node) >= first && psd_tree_end(leaves, node) <= end;
}

static void the_root_is_the_lowest_node_over_all_leaves(void)
{
    static const struct {
        size_t leaves;
        unsigned level;
    } cases[] = {{1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {8, 3}, {9, 4}, {PSD_TREE_LEAVES, 20}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_tree_node root = psd_tree_root(cases[i].leaves);
        CHECK(root.level == cases[i].level && root.index == 0);
        CHECK(psd_tree_first(root) == 0);
        CHECK(psd_tree_end(cases[i].leaves, root) == cases[i].leaves);
    }
}

static void check_children(size_t leaves, struct psd_tree_node left)
{
    struct psd_tree_node right = psd_tree_sibling(left), parent = psd_tree_parent(left);
    struct psd_tree_node last = psd_tree_has(leaves, right) ? right : left;

    CHECK(psd_tree_same(psd_tree_parent(right), parent));
    CHECK(psd_tree_same(psd_tree_sibling(right), left));
    CHECK(psd_tree_first(parent) == psd_tree_first(left));
    CHECK(!psd_tree_has(leaves, right) || psd_tree_first(right) == psd_tree_end(leaves, left));
    CHECK(psd_tree_end(leaves, parent) == psd_tree_end(leaves, last));
}

static void children_share_out_the_leaves_of_their_parent(void)
{
    for (size_t leaves = 1; leaves <= WIDEST; leaves++) {
        for (unsigned level = 0; level < psd_tree_root(leaves).level; level++) {
            for (size_t index = 0; index << level < leaves; index += 2)
                check_children(leaves, (struct psd_tree_node){level, index});
        }
    }
}

static void only_children_are_raised_to_a_node_with_a_sibling(void)
{
    struct psd_tree_node leaf4 = {0, 4}, up = psd_tree_raise(5, leaf4);

    CHECK(up.level == 2 && up.index == 1); /* the drawing in tree.h */
    CHECK(psd_tree_has(5, psd_tree_sibling(up)));
    CHECK(psd_tree_same(psd_tree_raise(6, leaf4), leaf4));
    CHECK(psd_tree_same(psd_tree_raise(1, (struct psd_tree_node){0, 0}), psd_tree_root(1)));
}

static void raising_keeps_the_leaves(void)
{
    for (size_t leaves = 1; leaves <= WIDEST; leaves++) {
        for (size_t leaf = 0; leaf < leaves; leaf++) {
            struct psd_tree_node up = psd_tree_raise(leaves, (struct psd_tree_node){0, leaf});
            CHECK(psd_tree_first(up) == leaf && psd_tree_end(leaves, up) == leaf + 1);
        }
    }
}

static void check_cover(size_t leaves, size_t first, size_t end)
{
    struct psd_tree_node nodes[PSD_TREE_COVER], root = psd_tree_root(leaves);
    size_t count = psd_tree_cover(leaves, first, end - first, nodes), next = first;

    for (size_t i = 0; i < count; i++) {
        CHECK(psd_tree_first(nodes[i]) == next);
        CHECK(psd_tree_same(psd_tree_raise(leaves, nodes[i]), nodes[i]));
        CHECK(psd_tree_same(nodes[i], root) ||
              !hosted_whole(leaves, psd_tree_parent(nodes[i]), first, end));
        next = psd_tree_end(leaves, nodes[i]);
    }
    CHECK(next == end);
}

static void a_run_is_covered_once_by_maximal_raised_nodes(void)
{
    for (size_t leaves = 1; leaves <= WIDEST; leaves++) {
        for (size_t first = 0; first < leaves; first++) {
            for (size_t end = first + 1; end <= leaves; end++)
                check_cover(leaves, first, end);
        }
    }
}

static void all_leaves_are_covered_by_the_root(void)
{
    struct psd_tree_node nodes[PSD_TREE_COVER];

    for (size_t leaves = 1; leaves <= WIDEST; leaves++) {
        CHECK(psd_tree_cover(leaves, 0, leaves, nodes) == 1);
        CHECK(psd_tree_same(nodes[0], psd_tree_root(leaves)));
    }
}

static void no_leaves_are_covered_by_no_nodes(void)
{
    struct psd_tree_node nodes[PSD_TREE_COVER];

    CHECK(psd_tree_cover(5, 0, 0, nodes) == 0);
    CHECK(psd_tree_cover(5, 5, 0, nodes) == 0);
}

static void the_worst_run_of_the_widest_tree_fits(void)
{
    struct psd_tree_node nodes[PSD_TREE_COVER];

    CHECK(psd_tree_cover(PSD_TREE_LEAVES, 1, PSD_TREE_LEAVES - 2, nodes) == PSD_TREE_COVER);
}

int main(int argc, char **argv)
{
    RUN(the_root_is_the_lowest_node_over_all_leaves)
    RUN(children_share_out_the_leaves_of_their_parent)
    RUN(only_children_are_raised_to_a_node_with_a_sibling)
    RUN(raising_keeps_the_leaves)
    RUN(a_run_is_covered_once_by_maximal_raised_nodes)
    RUN(all_leaves_are_covered_by_the_root)
    RUN(no_leaves_are_covered_by_no_nodes)
    RUN(the_worst_run_of_the_widest_tree_fits)
}
