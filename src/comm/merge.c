/* merge.c - one walk from left to right: siblings that meet on top of a stack become their parent.
 *
 *     a        a b        a b c  ->  a f  ->  h        h d        h d e  ->  h g  ->  i
 *
 * The inputs cover the leaves in order, so what is left of the walk is always merged as far as it can
 * be: the stack has no more nodes than the tree has levels. */
#include "comm/merge.h"
#include "base/alloc.h"
#include "base/status.h"

#include <assert.h>

/* A sum that waits for its sibling. */
struct waiting {
    struct psd_tree_node name; /* raised, so that each sum has one name */
    uint32_t node;             /* in merge->nodes */
};

struct walk {
    struct psd_merge *merge; /* borrowed */
    const struct psd_job *job;
    uint32_t inputs, nodes; /* met and made so far */
    struct waiting stack[PSD_TREE_HEIGHT + 2];
    size_t depth;
};

/* The end of the run of workers from `first` on that have one host. */
static unsigned end_of_run(const struct psd_job *job, unsigned first)
{
    unsigned end = first + 1;

    while (end < job->workers && job->host[end] == job->host[first])
        end++;
    return end;
}

static uint32_t count_inputs(const struct psd_job *job)
{
    struct psd_tree_node cover[PSD_TREE_COVER];
    size_t count = 0;

    for (unsigned first = 0, end; first < job->workers; first = end) {
        end = end_of_run(job, first);
        count += psd_tree_cover(job->workers, first, end - first, cover);
    }
    return (uint32_t)count;
}

/* Two inputs share a slot, since the second is added to the first; all others have their own. */
static void give_slots(struct psd_merge *merge)
{
    for (uint32_t input = 0; input < merge->n_inputs; input++) {
        struct psd_merge_node *node = &merge->nodes[input];
        bool shares = node->sibling < input; /* NONE is above all */
        node->slot = shares ? merge->nodes[node->sibling].slot : merge->n_slots++;
    }
}

/* The two sums on top of the stack become one. */
static void join(struct walk *walk)
{
    struct waiting right = walk->stack[--walk->depth], *left = &walk->stack[walk->depth - 1];
    struct psd_merge_node *nodes = walk->merge->nodes;
    uint32_t parent = walk->nodes++;

    nodes[left->node].parent = nodes[right.node].parent = parent;
    nodes[left->node].sibling = right.node;
    nodes[right.node].sibling = left->node;
    nodes[parent] = (struct psd_merge_node){
        .parent = PSD_MERGE_NONE,
        .sibling = PSD_MERGE_NONE,
        .rank = PSD_MERGE_NONE,
        .slot = PSD_MERGE_NONE,
        .first_worker = nodes[left->node].first_worker,
        .workers = nodes[left->node].workers + nodes[right.node].workers,
    };
    left->name = psd_tree_raise(walk->job->workers, psd_tree_parent(left->name));
    left->node = parent;
}

static bool siblings_meet(const struct walk *walk)
{
    if (walk->depth < 2)
        return false;
    const struct waiting *top = &walk->stack[walk->depth - 1];
    return psd_tree_same(top[-1].name, psd_tree_sibling(top->name));
}

static void meet(struct walk *walk, struct psd_tree_node name, uint32_t rank)
{
    size_t first = psd_tree_first(name), end = psd_tree_end(walk->job->workers, name);

    walk->merge->nodes[walk->inputs] = (struct psd_merge_node){
        .parent = PSD_MERGE_NONE,
        .sibling = PSD_MERGE_NONE,
        .rank = rank,
        .first_worker = (uint32_t)first,
        .workers = (uint32_t)(end - first),
    };
    walk->stack[walk->depth++] = (struct waiting){name, walk->inputs++};
    while (siblings_meet(walk))
        join(walk);
}

static void fill_tree(struct psd_merge *merge, const struct psd_job *job)
{
    struct walk walk = {.merge = merge, .job = job, .nodes = merge->n_inputs};
    struct psd_tree_node cover[PSD_TREE_COVER];

    for (unsigned first = 0, end; first < job->workers; first = end) {
        end = end_of_run(job, first);
        size_t count = psd_tree_cover(job->workers, first, end - first, cover);
        for (size_t i = 0; i < count; i++)
            meet(&walk, cover[i], job->host[first]);
    }
    assert(walk.depth == 1 && walk.nodes == 2 * merge->n_inputs - 1);
    give_slots(merge);
}

/* Counts each rank's inputs one place further on, so that after the sums first_input[rank + 1] is
 * where the next input of `rank` goes, and at the end where the next rank begins. */
static void fill_ranks(struct psd_merge *merge, unsigned ranks)
{
    uint32_t *next = merge->first_input + 1;

    for (uint32_t input = 0; input < merge->n_inputs; input++) {
        assert(merge->nodes[input].rank < ranks);
        if (merge->nodes[input].rank + 1 < ranks)
            next[merge->nodes[input].rank + 1]++;
    }
    for (unsigned rank = 1; rank < ranks; rank++)
        next[rank] += next[rank - 1];
    for (uint32_t input = 0; input < merge->n_inputs; input++)
        merge->by_rank[next[merge->nodes[input].rank]++] = input;
}

psd_status psd_merge_create(const struct psd_job *job, struct psd_merge **out)
{
    uint32_t inputs = count_inputs(job);
    struct psd_merge *merge = psd_alloc_zero(1, sizeof *merge);

    if (!merge)
        return PSD_ENOMEM;
    merge->n_inputs = inputs;
    merge->nodes = psd_alloc_zero(2 * (size_t)inputs - 1, sizeof *merge->nodes);
    merge->first_input = psd_alloc_zero((size_t)job->ranks + 1, sizeof *merge->first_input);
    merge->by_rank = psd_alloc_zero(inputs, sizeof *merge->by_rank);
    if (!merge->nodes || !merge->first_input || !merge->by_rank) {
        psd_merge_destroy(merge);
        return PSD_ENOMEM;
    }
    fill_tree(merge, job);
    fill_ranks(merge, job->ranks);
    *out = merge;
    return PSD_OK;
}

void psd_merge_destroy(struct psd_merge *merge)
{
    if (!merge)
        return;
    psd_alloc_free(merge->by_rank);
    psd_alloc_free(merge->first_input);
    psd_alloc_free(merge->nodes);
    psd_alloc_free(merge);
}

uint32_t psd_merge_inputs(const struct psd_merge *merge, unsigned rank)
{
    return merge->first_input[rank + 1] - merge->first_input[rank];
}

uint32_t psd_merge_input(const struct psd_merge *merge, unsigned rank, uint32_t i)
{
    return merge->by_rank[merge->first_input[rank] + i];
}
