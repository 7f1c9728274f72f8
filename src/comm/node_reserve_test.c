/* node_reserve_test.c - what is made in advance is enough for all that can be under way. */
#include "lone_node.h"

/* Of each kind, large enough for several pieces and several messages of factors. */
static const struct node_param params[] = {
    {.name = "conv", .rows = 1, .cols = 60000},
    {.name = "scale", .rows = 1, .cols = 7},
    {.name = "shift", .rows = 1, .cols = 7},
    {.name = "fc6", .rows = 400, .cols = 300, .route = PSD_ROUTE_BROADCAST},
    {.name = "fc6.bias", .rows = 1, .cols = 400, .bias_of = 4},
    {.name = "fc7", .rows = 400, .cols = 300, .route = PSD_ROUTE_ROW_SHARDED},
    {.name = "fc8", .rows = 400, .cols = 300, .route = PSD_ROUTE_SINGLE_OWNER},
};
static const unsigned hosts[] = {0, 1, 0, 1, 1}; /* so that each rank has several inputs */
static const size_t batches[] = {60, 60, 60, 60, 60};

static struct node_test *new_test(unsigned rank)
{
    struct node_test *test = node_of(&(struct node_case){.rank = rank,
                                                         .ranks = 2,
                                                         .workers = 5,
                                                         .host = hosts,
                                                         .batch = batches,
                                                         .params = params,
                                                         .n_params = sizeof params / sizeof *params,
                                                         .most = 1 << 15});

    CHECK_OK(psd_node_reserve(test->node));
    return test;
}

static void sync_all(struct node_test *test)
{
    for (size_t i = 0; i < test->job->n_params; i++) {
        for (unsigned k = 0; k < test->node->n_hosted; k++) {
            unsigned worker = test->node->hosted[k];
            if (!psd_job_is_factored(test->job, i))
                node_sync(test, i, worker, 1);
            else if (!psd_job_follows(test->job, i))
                node_sync_factors(test, i, worker, 1, 1);
        }
    }
    psd_node_waits(test->node, 0); /* small ones go by themselves */
}

/* The other rank's pushes of a piece of ours, input by input. */
static void hear_pushes(struct node_test *test, uint32_t piece)
{
    for (uint32_t i = 0; i < test->merge->n_inputs; i++) {
        unsigned from = test->merge->nodes[i].rank;
        if (from != test->node->rank)
            node_hears(test, node_message(test, PSD_MESSAGE_PUSH, from, piece, i, 0), 1);
    }
}

static void do_works(struct node_test *test)
{
    while (test->n_works)
        node_work(test, test->works[0]->kind);
}

static void everything_under_way_at_once_needs_no_memory(void)
{
    for (unsigned rank = 0; rank < 2; rank++) {
        struct node_test *test = new_test(rank);
        psd_alloc_fail_at(0); /* the first allocation from now on fails */
        for (uint32_t i = 0; i < test->layout->n_pieces; i++) {
            size_t param = test->layout->parts[test->layout->pieces[i].first_part].param;
            if (test->layout->pieces[i].server == rank && !psd_job_is_factored(test->job, param))
                hear_pushes(test, i); /* kept, until our own come */
        }
        node_begin(test, 0);
        sync_all(test); /* two pairs of siblings in each piece are added at the same time */
        do_works(test); /* and nothing that is sent leaves */
        CHECK(test->n_sends > 20 && test->ended == 0);
        CHECK(!psd_alloc_fail_at(-1));
        node_free(test);
    }
}

/* All values have come, and none of what was sent has left: then comes a save. */
static void state_beside_everything_else_needs_no_memory(void)
{
    static const struct node_param large[] = {{.name = "conv", .rows = 1, .cols = 1 << 20}};
    struct node_test *test = node_of(&(struct node_case){.rank = 1,
                                                         .ranks = 2,
                                                         .workers = 2,
                                                         .updates = true,
                                                         .params = large,
                                                         .n_params = 1,
                                                         .most = 1 << 15});
    struct psd_message fetch = {.kind = PSD_MESSAGE_FETCH, .from = 0};

    CHECK_OK(psd_node_reserve(test->node));
    node_begin(test, 0);
    node_sync(test, 0, 1, 1);
    for (uint32_t i = 0; i < test->layout->n_pieces; i++) {
        if (test->layout->pieces[i].server == 1)
            hear_pushes(test, i);
        else
            node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 0, i, 0, 0), 1);
        do_works(test);
    }
    CHECK(test->fresh[0] == 1);
    psd_alloc_fail_at(0);
    node_deliver(test, fetch, NULL);
    CHECK_OK(psd_node_save_state(test->node, 0, 0, NULL));
    CHECK(!psd_alloc_fail_at(-1) && test->ended == 0);
    node_free(test);
}

static void reserve_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});
        psd_alloc_fail_at(n);
        psd_status status = psd_node_reserve(test->node);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        node_free(test);
    }
}

int main(int argc, char **argv)
{
    RUN(everything_under_way_at_once_needs_no_memory)
    RUN(state_beside_everything_else_needs_no_memory)
    RUN(reserve_survives_every_failed_allocation)
}
