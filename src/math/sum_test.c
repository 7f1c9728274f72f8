/* sum_test.c - sums have the bits of their definition, however they are computed. */
#include "math/sum.h"
#include "math/tree.h"
#include "test.h"

#include <stdint.h>

enum { MOST = 19, N = 2 * PSD_SUM_BLOCK + 77 }; /* leaves, elements: odd sizes on purpose */

static float values[MOST][N];
static const float *leaves[MOST];

static uint32_t dice(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 32);
}

/* Numbers of both signs and very different sizes, so that every other order gives other bits. */
static void fill_leaves(void)
{
    uint64_t seed = 7;

    for (size_t leaf = 0; leaf < MOST; leaf++) {
        leaves[leaf] = values[leaf];
        for (size_t i = 0; i < N; i++) {
            float part = (float)dice(&seed) / 4294967296.0f - 0.5f;
            values[leaf][i] = ldexpf(part, (int)(dice(&seed) % 24));
        }
    }
}

static bool same_bits(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

/* The definition: element i, summed as the drawing in tree.h says. */
static float defined_sum(size_t count, struct psd_tree_node node, size_t i)
{
    if (node.level == 0)
        return leaves[node.index][i];
    struct psd_tree_node left = {node.level - 1, 2 * node.index}, right = psd_tree_sibling(left);
    float sum = defined_sum(count, left, i);
    return psd_tree_has(count, right) ? sum + defined_sum(count, right, i) : sum;
}

static void check_addition(size_t from, size_t n)
{
    static float sum[N];

    memcpy(sum, values[0], sizeof sum);
    psd_sum_add(sum + from, values[1] + 3, n);
    for (size_t i = 0; i < from + n + 8; i++) {
        bool inside = i >= from && i < from + n;
        float want = values[0][i] + (inside ? values[1][i - from + 3] : 0);
        CHECK(same_bits(&sum[i], &want, sizeof want));
    }
}

static void adding_works_at_any_place_and_length(void)
{
    fill_leaves();
    for (size_t from = 0; from < 9; from++) {
        for (size_t n = 0; n < 40; n++)
            check_addition(from, n);
    }
}

static void a_vector_can_be_added_to_itself(void)
{
    float x[] = {1, 2, 3, 4, 5};

    psd_sum_add(x, x, 5);
    CHECK_NEAR(x[0], 2, 0);
    CHECK_NEAR(x[4], 10, 0);
}

static void nothing_is_added_to_nothing(void)
{
    const float *none[] = {NULL};

    psd_sum_add(NULL, NULL, 0);
    psd_sum_tree(none, 1, 0, NULL);
    CHECK_NEAR(psd_sum_squares(NULL, 0), 0, 0);
    CHECK(psd_sum_block_count(0) == 0);
}

static void a_tree_sum_has_the_bits_of_its_definition(void)
{
    static float sum[N];

    fill_leaves();
    for (size_t count = 1; count <= MOST; count++) {
        psd_sum_tree(leaves, count, N, sum);
        for (size_t i = 0; i < N; i++) {
            float want = defined_sum(count, psd_tree_root(count), i);
            CHECK(same_bits(&sum[i], &want, sizeof want));
        }
    }
}

static void another_order_would_give_other_bits(void)
{
    static float sum[N], in_a_row[N];

    fill_leaves();
    psd_sum_tree(leaves, 8, N, sum);
    memcpy(in_a_row, leaves[0], sizeof in_a_row);
    for (size_t leaf = 1; leaf < 8; leaf++)
        psd_sum_add(in_a_row, leaves[leaf], N);
    CHECK(!same_bits(sum, in_a_row, sizeof sum));
}

static void pieces_of_any_length_make_the_same_sum(void)
{
    static const size_t lengths[] = {1, 5, 64, 1000, 1024, 1025, 4096};
    static float whole[N], sum[N];

    fill_leaves();
    psd_sum_tree(leaves, 11, N, whole);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (size_t from = 0; from < N; from += lengths[k]) {
            const float *part[11];
            for (size_t leaf = 0; leaf < 11; leaf++)
                part[leaf] = leaves[leaf] + from;
            psd_sum_tree(part, 11, N - from < lengths[k] ? N - from : lengths[k], sum + from);
        }
        CHECK(same_bits(whole, sum, sizeof whole));
        memset(sum, 0, sizeof sum);
    }
}

static void the_sum_may_replace_any_leaf(void)
{
    static float want[N];

    for (size_t count = 1; count <= MOST; count++) {
        for (size_t leaf = 0; leaf < count; leaf++) {
            fill_leaves();
            psd_sum_tree(leaves, count, N, want);
            psd_sum_tree(leaves, count, N, values[leaf]);
            CHECK(same_bits(want, values[leaf], sizeof want));
        }
    }
}

/* What a receiver does: keeps the first of two siblings, adds the second as it arrives, goes up. */
struct receiver {
    size_t leaves;
    size_t waiting; /* of the sums below */
    struct {
        struct psd_tree_node node;
        float sum[N];
    } kept[MOST];
};

static void receive(struct receiver *receiver, struct psd_tree_node node, float *sum)
{
    node = psd_tree_raise(receiver->leaves, node);
    for (size_t i = 0; i < receiver->waiting; i++) {
        if (!psd_tree_same(receiver->kept[i].node, psd_tree_sibling(node)))
            continue;
        psd_sum_add(sum, receiver->kept[i].sum, N);
        receiver->kept[i] = receiver->kept[--receiver->waiting];
        receive(receiver, psd_tree_parent(node), sum);
        return;
    }
    receiver->kept[receiver->waiting].node = node;
    memcpy(receiver->kept[receiver->waiting++].sum, sum, N * sizeof *sum);
}

/* Gives each leaf a random host and sends what each host can sum by itself, in random order. */
static void send_from_random_hosts(struct receiver *receiver, uint64_t *seed)
{
    struct psd_tree_node sent[MOST], nodes[PSD_TREE_COVER];
    size_t count = 0, hosts = 1 + dice(seed) % 4, host[MOST + 1];
    float sum[N];

    for (size_t leaf = 0; leaf < receiver->leaves; leaf++)
        host[leaf] = dice(seed) % hosts;
    for (size_t first = 0, end; first < receiver->leaves; first = end) {
        for (end = first + 1; end < receiver->leaves && host[end] == host[first];)
            end++;
        size_t found = psd_tree_cover(receiver->leaves, first, end - first, nodes);
        for (size_t i = 0; i < found; i++)
            sent[count++] = nodes[i];
    }
    while (count > 0) {
        size_t next = dice(seed) % count;
        struct psd_tree_node node = sent[next];
        size_t first = psd_tree_first(node), end = psd_tree_end(receiver->leaves, node);
        sent[next] = sent[--count];
        psd_sum_tree(leaves + first, end - first, N, sum);
        receive(receiver, node, sum);
    }
}

static void any_hosting_and_any_order_of_arrival_give_the_same_sum(void)
{
    static struct receiver receiver;
    static float want[N];
    uint64_t seed = 1;

    fill_leaves();
    for (size_t count = 1; count <= MOST; count++) {
        psd_sum_tree(leaves, count, N, want);
        for (int hosting = 0; hosting < 20; hosting++) {
            receiver.leaves = count;
            receiver.waiting = 0;
            send_from_random_hosts(&receiver, &seed);
            CHECK(receiver.waiting == 1);
            CHECK(psd_tree_same(receiver.kept[0].node, psd_tree_root(count)));
            CHECK(same_bits(want, receiver.kept[0].sum, sizeof want));
        }
    }
}

static void zeros_and_infinities_and_tiny_numbers_are_kept(void)
{
    static const float a[] = {-0.0f, -0.0f, INFINITY, 1e-45f, -3e-45f, 3e38f, 1e30f};
    static const float b[] = {-0.0f, 0.0f, 1, 1e-45f, 1e-45f, 3e38f, 1};
    const float *const both[] = {a, b};
    float sum[7];

    psd_sum_tree(both, 2, 7, sum);
    CHECK(signbit(sum[0]) && !signbit(sum[1]));
    CHECK(isinf(sum[2]) && isinf(sum[5]));
    CHECK_NEAR(sum[3], 2 * (double)1e-45f, 0);
    CHECK_NEAR(sum[4], -(double)1e-45f, 0);
    CHECK(isnan(sum[2] - sum[5]));
}

/* The definition: eight lanes, the upper half added to the lower. */
static double defined_squares(const float *x, size_t n)
{
    double total = 0;

    for (size_t from = 0; from < n; from += PSD_SUM_BLOCK) {
        double lane[8] = {0};
        for (size_t i = from; i < n && i < from + PSD_SUM_BLOCK; i++)
            lane[(i - from) % 8] += (double)x[i] * (double)x[i];
        total += ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
                 ((lane[1] + lane[5]) + (lane[3] + lane[7]));
    }
    return total;
}

static void squares_have_the_bits_of_their_definition(void)
{
    static const size_t lengths[] = {1, 2, 7, 8, 9, 15, 4095, 4096, 4097, 8192, N - 3};

    fill_leaves();
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (size_t from = 0; from < 4; from++) {
            double got = psd_sum_squares(values[0] + from, lengths[k]);
            double want = defined_squares(values[0] + from, lengths[k]);
            CHECK(same_bits(&got, &want, sizeof want));
        }
    }
}

static void squares_are_near_the_plain_sum(void)
{
    double plain = 0;

    fill_leaves();
    for (size_t i = 0; i < N; i++)
        plain += (double)values[0][i] * (double)values[0][i];
    CHECK_NEAR(psd_sum_squares(values[0], N) / plain, 1, 1e-13);
}

static void pieces_that_end_at_block_borders_make_the_same_total(void)
{
    double sums[3], want;

    fill_leaves();
    want = psd_sum_squares(values[0], N);
    CHECK(psd_sum_block_count(N) == 3);
    for (size_t border = 0; border <= 3; border++) {
        size_t cut = border * PSD_SUM_BLOCK < N ? border * PSD_SUM_BLOCK : N;
        psd_sum_square_blocks(values[0], cut, sums);
        psd_sum_square_blocks(values[0] + cut, N - cut, sums + border);
        double got = psd_sum_blocks(sums, 3);
        CHECK(same_bits(&got, &want, sizeof want));
    }
}

static void squares_of_the_largest_floats_do_not_overflow(void)
{
    float x[20];

    for (size_t i = 0; i < 20; i++)
        x[i] = 3e38f;
    CHECK_NEAR(psd_sum_squares(x, 20) / (20 * (double)3e38f * (double)3e38f), 1, 1e-15);
}

int main(int argc, char **argv)
{
    RUN(adding_works_at_any_place_and_length)
    RUN(a_vector_can_be_added_to_itself)
    RUN(nothing_is_added_to_nothing)
    RUN(a_tree_sum_has_the_bits_of_its_definition)
    RUN(another_order_would_give_other_bits)
    RUN(pieces_of_any_length_make_the_same_sum)
    RUN(the_sum_may_replace_any_leaf)
    RUN(any_hosting_and_any_order_of_arrival_give_the_same_sum)
    RUN(zeros_and_infinities_and_tiny_numbers_are_kept)
    RUN(squares_have_the_bits_of_their_definition)
    RUN(squares_are_near_the_plain_sum)
    RUN(pieces_that_end_at_block_borders_make_the_same_total)
    RUN(squares_of_the_largest_floats_do_not_overflow)
}
