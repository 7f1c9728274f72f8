/* layered_test.c - rows, orders and places of small graphs, and of drawn ones. */
#include "base/alloc.h"
#include "base/random.h"
#include "cli/layered.h"
#include "test.h"

enum { MOST = 60 };

static struct psd_layered_node nodes[MOST];
static struct psd_layered_edge edges[4 * MOST];
static struct psd_layered layered;

static void begin(size_t count)
{
    layered = (struct psd_layered){.nodes = nodes, .edges = edges, .n_nodes = count};
    for (size_t i = 0; i < count; i++)
        nodes[i] = (struct psd_layered_node){.width = 100, .height = 40};
}

static void join(size_t from, size_t to)
{
    edges[layered.n_edges++] = (struct psd_layered_edge){.from = from, .to = to};
    if (nodes[to].rank <= nodes[from].rank)
        nodes[to].rank = nodes[from].rank + 1;
}

/* Boxes of one rank stand apart, ranks one below the other, all in the picture. */
static void check_places(void)
{
    for (size_t i = 0; i < layered.n_nodes; i++) {
        const struct psd_layered_node *a = &nodes[i];
        CHECK(a->x - a->width / 2 >= 0 && a->x + a->width / 2 <= layered.width);
        CHECK(a->y - a->height / 2 >= layered.top[a->rank] - 1e-6);
        CHECK(a->y + a->height / 2 <= layered.bottom[a->rank] + 1e-6);
        CHECK(layered.bottom[a->rank] <= layered.height);
        for (size_t k = 0; k < i; k++) {
            const struct psd_layered_node *b = &nodes[k];
            CHECK(a->rank != b->rank || fabs(a->x - b->x) > (a->width + b->width) / 2);
        }
    }
    for (size_t r = 1; r < layered.n_ranks; r++)
        CHECK(layered.top[r] > layered.bottom[r - 1]);
}

/* No bend is in a box of the rank that it passes. */
static void check_bends(void)
{
    for (size_t i = 0; i < layered.n_edges; i++) {
        const struct psd_layered_edge *edge = &edges[i];
        size_t rank = nodes[edge->from].rank;
        for (size_t k = 1; rank + k < nodes[edge->to].rank; k++) {
            double x = layered.bend_x[edge->bend + k - 1];
            CHECK(x >= 0 && x <= layered.width);
            for (size_t n = 0; n < layered.n_nodes; n++)
                CHECK(nodes[n].rank != rank + k || fabs(nodes[n].x - x) > nodes[n].width / 2);
        }
    }
}

static void a_chain_is_straight(void)
{
    begin(4);
    for (size_t i = 0; i < 3; i++)
        join(i, i + 1);
    nodes[2].width = 160;
    nodes[1].height = 90;
    CHECK_OK(psd_layered_arrange(&layered));
    check_places();
    CHECK(layered.n_ranks == 4);
    for (size_t i = 1; i < 4; i++)
        CHECK_NEAR(nodes[i].x, nodes[0].x, 1e-6);
    CHECK_NEAR(layered.width, 160 + 2 * 20, 1e-6);
    CHECK_NEAR(layered.bottom[1] - layered.top[1], 90, 1e-6);
    psd_layered_fini(&layered);
}

/* As in a residual net: boxes one below the other, however many blocks there are, and the shortcuts
 * beside them. */
static void shortcuts_go_around_a_straight_chain(void)
{
    enum { BLOCKS = 10 };

    begin(3 * BLOCKS + 1);
    for (size_t i = 0; i < 3 * (size_t)BLOCKS; i++)
        join(i, i + 1);
    for (size_t i = 0; i < BLOCKS; i++)
        join(3 * i, 3 * i + 3);
    CHECK_OK(psd_layered_arrange(&layered));
    check_places();
    check_bends();
    for (size_t i = 1; i < layered.n_nodes; i++)
        CHECK_NEAR(nodes[i].x, nodes[0].x, 5);
    psd_layered_fini(&layered);
}

static void ways_side_by_side_have_their_ends_in_the_middle(void)
{
    begin(5);
    for (size_t i = 1; i < 4; i++) {
        join(0, i);
        join(i, 4);
    }
    CHECK_OK(psd_layered_arrange(&layered));
    check_places();
    CHECK_NEAR(nodes[0].x, nodes[2].x, 1);
    CHECK_NEAR(nodes[4].x, nodes[2].x, 1);
    CHECK(nodes[1].x < nodes[2].x && nodes[2].x < nodes[3].x);
    psd_layered_fini(&layered);
}

/* Two chains whose boxes come in changing order do not cross. */
static void chains_do_not_cross(void)
{
    begin(6);
    join(0, 3); /* 0 3 4 and 1 2 5 */
    join(1, 2);
    join(3, 4);
    join(2, 5);
    CHECK_OK(psd_layered_arrange(&layered));
    check_places();
    CHECK((nodes[0].x < nodes[1].x) == (nodes[3].x < nodes[2].x));
    CHECK((nodes[3].x < nodes[2].x) == (nodes[4].x < nodes[5].x));
    psd_layered_fini(&layered);
}

static void nothing_is_arranged_too(void)
{
    begin(0);
    CHECK_OK(psd_layered_arrange(&layered));
    CHECK(layered.n_ranks == 0);
    psd_layered_fini(&layered);
}

/* Graphs by chance, in which each box has up to three above it. */
static void draw_graph(uint64_t seed)
{
    uint64_t n = 0;

    begin(2 + psd_random_below(seed, 0, n++, MOST - 2));
    for (size_t i = 1; i < layered.n_nodes; i++) {
        nodes[i].width = (double)(20 + psd_random_below(seed, 0, n++, 200));
        nodes[i].height = (double)(20 + psd_random_below(seed, 0, n++, 60));
        for (size_t k = psd_random_below(seed, 0, n++, 4); k > 0; k--)
            join(psd_random_below(seed, 0, n++, i), i);
    }
}

static void boxes_never_overlap(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        draw_graph(seed);
        CHECK_OK(psd_layered_arrange(&layered));
        check_places();
        check_bends();
        psd_layered_fini(&layered);
    }
}

static void every_failed_allocation_is_survived(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        begin(3);
        join(0, 1);
        join(1, 2);
        join(0, 2);
        psd_alloc_fail_at(n);
        psd_status status = psd_layered_arrange(&layered);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_layered_fini(&layered);
    }
}

int main(int argc, char **argv)
{
    RUN(a_chain_is_straight)
    RUN(shortcuts_go_around_a_straight_chain)
    RUN(ways_side_by_side_have_their_ends_in_the_middle)
    RUN(chains_do_not_cross)
    RUN(nothing_is_arranged_too)
    RUN(boxes_never_overlap)
    RUN(every_failed_allocation_is_survived)
}
