/* merge_test.c - a server that adds what comes, in any order, has the bits of the tree. */
#include "base/alloc.h"
#include "base/random.h"
#include "comm/merge.h"
#include "math/sum.h"
#include "test.h"

enum { WIDTH = 3, MOST_WORKERS = 96, MOST_RANKS = 12 };

static struct psd_job *new_job(unsigned ranks, unsigned workers)
{
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(ranks, workers, 1, PSD_COMM_UPDATE, NULL, &job));
    return job;
}

static struct psd_merge *new_merge(const struct psd_job *job)
{
    struct psd_merge *merge = NULL;

    CHECK_OK(psd_merge_create(job, &merge));
    return merge;
}

static void the_drawing_in_the_header_is_true(void)
{
    struct psd_job *job = new_job(3, 8);
    struct psd_merge *merge = new_merge(job);
    static const struct {
        uint32_t first, workers, rank, parent, sibling, slot;
    } want[] = {
        {0, 2, 0, 6, 5, 0},                                                     /* a */
        {2, 1, 0, 5, 2, 1},                                                     /* b */
        {3, 1, 1, 5, 1, 1},                                                     /* c */
        {4, 2, 1, 7, 4, 2},                                                     /* d */
        {6, 2, 2, 7, 3, 2},                                                     /* e */
        {2, 2, PSD_MERGE_NONE, 6, 0, PSD_MERGE_NONE},                           /* f = b + c */
        {0, 4, PSD_MERGE_NONE, 8, 7, PSD_MERGE_NONE},                           /* h = a + f */
        {4, 4, PSD_MERGE_NONE, 8, 6, PSD_MERGE_NONE},                           /* g = d + e */
        {0, 8, PSD_MERGE_NONE, PSD_MERGE_NONE, PSD_MERGE_NONE, PSD_MERGE_NONE}, /* i = h + g */
    };

    CHECK(merge->n_inputs == 5 && merge->n_slots == 3);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct psd_merge_node *node = &merge->nodes[i];
        CHECK(node->first_worker == want[i].first && node->workers == want[i].workers);
        CHECK(node->rank == want[i].rank && node->slot == want[i].slot);
        CHECK(node->parent == want[i].parent && node->sibling == want[i].sibling);
    }
    static const uint32_t first[] = {0, 2, 4, 5}, inputs[] = {0, 1, 2, 3, 4};
    CHECK(memcmp(merge->first_input, first, sizeof first) == 0);
    CHECK(memcmp(merge->by_rank, inputs, sizeof inputs) == 0);
    psd_merge_destroy(merge);
    psd_job_destroy(job);
}

static void one_rank_sends_the_root(void)
{
    for (unsigned workers = 1; workers <= 9; workers++) {
        struct psd_job *job = new_job(1, workers);
        struct psd_merge *merge = new_merge(job);
        CHECK(merge->n_inputs == 1 && merge->n_slots == 1);
        CHECK(merge->nodes[0].parent == PSD_MERGE_NONE && merge->nodes[0].workers == workers);
        psd_merge_destroy(merge);
        psd_job_destroy(job);
    }
}

static void aligned_hosts_need_a_slot_for_two(void)
{
    struct psd_job *job = new_job(8, 32);
    struct psd_merge *merge = new_merge(job);

    CHECK(merge->n_inputs == 8 && merge->n_slots == 4);
    psd_merge_destroy(merge);
    psd_job_destroy(job);
}

static void only_children_are_no_merges(void)
{
    struct psd_job *job = new_job(5, 5);
    struct psd_merge *merge = new_merge(job);

    CHECK(merge->nodes[4].parent == 8 && merge->nodes[4].sibling == 7); /* worker 4 */
    CHECK(merge->nodes[7].workers == 4 && merge->n_slots == 3);
    psd_merge_destroy(merge);
    psd_job_destroy(job);
}

static uint32_t draw(uint64_t seed, uint64_t index, uint32_t below)
{
    return (uint32_t)psd_random_below(seed, 1, index, below);
}

/* Even shares, runs of any length, or any worker anywhere. */
static struct psd_job *random_job(uint64_t seed)
{
    struct psd_job *job = new_job(1 + draw(seed, 0, MOST_RANKS), 1 + draw(seed, 1, MOST_WORKERS));
    uint32_t kind = draw(seed, 2, 3);

    for (unsigned worker = 0; kind > 0 && worker < job->workers; worker++) {
        if (worker > 0 && kind == 1 && draw(seed, 200 + worker, 4) > 0)
            job->host[worker] = job->host[worker - 1];
        else
            job->host[worker] = draw(seed, 3 + worker, job->ranks);
    }
    return job;
}

static bool has_whole(const struct psd_job *job, struct psd_tree_node node, uint32_t rank)
{
    for (size_t leaf = psd_tree_first(node); leaf < psd_tree_end(job->workers, node); leaf++) {
        if (job->host[leaf] != rank)
            return false;
    }
    return true;
}

/* The raised node of the tree that covers the leaves of an input. */
static struct psd_tree_node name_of(const struct psd_job *job, const struct psd_merge_node *input)
{
    struct psd_tree_node cover[PSD_TREE_COVER];

    CHECK(psd_tree_cover(job->workers, input->first_worker, input->workers, cover) == 1);
    return cover[0];
}

static void inputs_are_the_largest_subtrees_of_one_rank(void)
{
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct psd_job *job = random_job(seed);
        struct psd_merge *merge = new_merge(job);
        struct psd_tree_node root = psd_tree_root(job->workers);
        uint32_t next = 0;
        for (uint32_t i = 0; i < merge->n_inputs; i++) {
            const struct psd_merge_node *input = &merge->nodes[i];
            struct psd_tree_node name = name_of(job, input);
            CHECK(input->first_worker == next);
            CHECK(has_whole(job, name, input->rank));
            CHECK(psd_tree_same(name, root) || !has_whole(job, psd_tree_parent(name), input->rank));
            next += input->workers;
        }
        CHECK(next == job->workers);
        psd_merge_destroy(merge);
        psd_job_destroy(job);
    }
}

static void check_rank(const struct psd_merge *merge, unsigned rank)
{
    uint32_t first = merge->first_input[rank], end = merge->first_input[rank + 1];

    CHECK(first <= end);
    for (uint32_t i = first; i < end; i++) {
        CHECK(merge->nodes[merge->by_rank[i]].rank == rank);
        CHECK(i == first || merge->by_rank[i] > merge->by_rank[i - 1]);
    }
}

static void every_rank_finds_its_inputs_from_left_to_right(void)
{
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct psd_job *job = random_job(seed);
        struct psd_merge *merge = new_merge(job);
        CHECK(merge->first_input[0] == 0 && merge->first_input[job->ranks] == merge->n_inputs);
        for (unsigned rank = 0; rank < job->ranks; rank++)
            check_rank(merge, rank);
        psd_merge_destroy(merge);
        psd_job_destroy(job);
    }
}

static void siblings_know_each_other_and_the_last_node_is_the_root(void)
{
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct psd_job *job = random_job(seed);
        struct psd_merge *merge = new_merge(job);
        uint32_t last = 2 * merge->n_inputs - 2;
        for (uint32_t i = 0; i < last; i++) {
            const struct psd_merge_node *node = &merge->nodes[i];
            CHECK(node->parent > i && node->parent <= last && node->parent >= merge->n_inputs);
            CHECK(node->sibling != i && merge->nodes[node->sibling].sibling == i);
            CHECK(merge->nodes[node->sibling].parent == node->parent);
        }
        CHECK(merge->nodes[last].parent == PSD_MERGE_NONE);
        CHECK(merge->nodes[last].workers == job->workers);
        psd_merge_destroy(merge);
        psd_job_destroy(job);
    }
}

static void only_sibling_inputs_share_a_slot(void)
{
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct psd_job *job = random_job(seed);
        struct psd_merge *merge = new_merge(job);
        uint32_t user[MOST_WORKERS], pairs = 0;
        memset(user, 0xff, sizeof user);
        for (uint32_t i = 0; i < merge->n_inputs; i++) {
            const struct psd_merge_node *input = &merge->nodes[i];
            CHECK(input->slot < merge->n_slots);
            CHECK(user[input->slot] == UINT32_MAX || user[input->slot] == input->sibling);
            pairs += user[input->slot] != UINT32_MAX;
            user[input->slot] = i;
        }
        CHECK(merge->n_slots == merge->n_inputs - pairs);
        psd_merge_destroy(merge);
        psd_job_destroy(job);
    }
}

/* A server in short. */
struct server {
    const struct psd_merge *merge;
    float slots[MOST_WORKERS][WIDTH];
    float *at[2 * MOST_WORKERS]; /* where each node's sum is; NULL: not complete */
};

/* Of two siblings the first is kept and the second added to it. */
static void arrive(struct server *server, uint32_t input, const float *sum)
{
    const struct psd_merge_node *nodes = server->merge->nodes;
    uint32_t node = input, sibling = nodes[input].sibling;
    float *kept = server->slots[nodes[input].slot];

    if (sibling != PSD_MERGE_NONE && server->at[sibling]) {
        psd_sum_add(server->at[sibling], sum, WIDTH);
        kept = server->at[sibling];
        node = nodes[node].parent;
    } else {
        memcpy(kept, sum, WIDTH * sizeof *sum);
    }
    for (; nodes[node].parent != PSD_MERGE_NONE; node = nodes[node].parent) {
        if (!server->at[nodes[node].sibling])
            break;
        psd_sum_add(kept, server->at[nodes[node].sibling], WIDTH);
    }
    server->at[node] = kept;
}

static void shuffle(uint64_t seed, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = draw(seed, 1000 + i, i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* Workers' gradients of very different sizes, so that another order of additions shows. */
static void draw_leaves(uint64_t seed, size_t count, float (*leaves)[WIDTH], const float **pointers)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < WIDTH; k++)
            leaves[i][k] = ldexpf(psd_random_normal(seed, 2, i * WIDTH + k),
                                  (int)draw(seed, 2000 + i * WIDTH + k, 12));
        pointers[i] = leaves[i];
    }
}

/* Lets all inputs come, in the order of the seed; the sum is where the root is kept. */
static void let_all_arrive(uint64_t seed, struct server *server, const float *const *leaves)
{
    uint32_t order[MOST_WORKERS] = {0}, root = 2 * server->merge->n_inputs - 2;
    float sum[WIDTH];

    shuffle(seed, order, server->merge->n_inputs);
    for (uint32_t i = 0; i < server->merge->n_inputs; i++) {
        const struct psd_merge_node *input = &server->merge->nodes[order[i]];
        CHECK(!server->at[root]);
        psd_sum_tree(leaves + input->first_worker, input->workers, WIDTH, sum);
        arrive(server, order[i], sum);
    }
}

static void any_order_of_arrival_gives_the_bits_of_the_tree(void)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct psd_job *job = random_job(seed);
        struct psd_merge *merge = new_merge(job);
        struct server server = {.merge = merge};
        float leaves[MOST_WORKERS][WIDTH], want[WIDTH];
        const float *pointers[MOST_WORKERS];

        draw_leaves(seed, job->workers, leaves, pointers);
        psd_sum_tree(pointers, job->workers, WIDTH, want);
        let_all_arrive(seed, &server, pointers);
        const float *got = server.at[2 * merge->n_inputs - 2];
        CHECK(got != NULL);
        for (size_t i = 0; i < WIDTH; i++)
            CHECK(got[i] == want[i]);
        psd_merge_destroy(merge);
        psd_job_destroy(job);
    }
}

static void the_widest_tree_with_a_rank_for_each_worker_is_merged(void)
{
    struct psd_job *job = new_job(PSD_TREE_LEAVES, PSD_TREE_LEAVES);
    struct psd_merge *merge = new_merge(job);

    CHECK(merge->n_inputs == PSD_TREE_LEAVES && merge->n_slots == PSD_TREE_LEAVES / 2);
    psd_merge_destroy(merge);
    psd_job_destroy(job);
}

static void create_survives_every_failed_allocation(void)
{
    struct psd_job *job = new_job(3, 8);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_merge *merge = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_merge_create(job, &merge);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (merge == NULL));
        psd_merge_destroy(merge);
    }
    psd_job_destroy(job);
}

int main(int argc, char **argv)
{
    RUN(the_drawing_in_the_header_is_true)
    RUN(one_rank_sends_the_root)
    RUN(aligned_hosts_need_a_slot_for_two)
    RUN(only_children_are_no_merges)
    RUN(inputs_are_the_largest_subtrees_of_one_rank)
    RUN(every_rank_finds_its_inputs_from_left_to_right)
    RUN(siblings_know_each_other_and_the_last_node_is_the_root)
    RUN(only_sibling_inputs_share_a_slot)
    RUN(any_order_of_arrival_gives_the_bits_of_the_tree)
    RUN(the_widest_tree_with_a_rank_for_each_worker_is_merged)
    RUN(create_survives_every_failed_allocation)
}
