/* exchange_test.c - factors on every route: gathered in any order, rebuilt to the same values. */
#include "lone_node.h"

enum { WEIGHT, BIAS };
enum { ROWS = 40, COLS = 3, WORKERS = 3 };

/* 40 rows are three tiles of 16; rank 0 of three has the first, rank 2 the last half. */
static const struct node_param on_route[][2] = {
    {{.name = "fc", .rows = ROWS, .cols = COLS, .route = PSD_ROUTE_BROADCAST},
     {.name = "bias", .rows = 1, .cols = ROWS, .bias_of = 1}},
    {{.name = "fc", .rows = ROWS, .cols = COLS, .route = PSD_ROUTE_ROW_SHARDED},
     {.name = "bias", .rows = 1, .cols = ROWS, .bias_of = 1}},
    {{.name = "fc", .rows = ROWS, .cols = COLS, .route = PSD_ROUTE_SINGLE_OWNER},
     {.name = "bias", .rows = 1, .cols = ROWS, .bias_of = 1}},
};
enum { BROADCAST, ROW_SHARDED, SINGLE_OWNER };

static const size_t batches[WORKERS] = {2, 1, 3};

static struct node_case case_of(int route, unsigned rank)
{
    return (struct node_case){.rank = rank,
                              .ranks = 3,
                              .workers = WORKERS,
                              .batch = batches,
                              .params = on_route[route],
                              .n_params = 2,
                              .most = 1 << 10};
}

static struct node_test *member(int route, unsigned rank)
{
    struct node_case c = case_of(route, rank);

    return node_of(&c);
}

/* --- factors whose product is made of whole numbers ----------------------------------------------
 */

static float u_of(unsigned worker, size_t sample, size_t row)
{
    return (float)((row + 1) * ((size_t)worker + 1) + sample);
}

static float v_of(unsigned worker, size_t sample, size_t col)
{
    return (float)(col + 1 + sample + worker);
}

static float product_at(size_t row, size_t col)
{
    float sum = 0;

    for (unsigned w = 0; w < WORKERS; w++) {
        for (size_t k = 0; k < batches[w]; k++)
            sum += u_of(w, k, row) * v_of(w, k, col);
    }
    return sum;
}

static float bias_at(size_t row)
{
    float sum = 0;

    for (unsigned w = 0; w < WORKERS; w++) {
        for (size_t k = 0; k < batches[w]; k++)
            sum += u_of(w, k, row);
    }
    return sum;
}

/* The rows of one rank of a worker's u, packed, and its v behind them. Returns the bytes. */
static size_t pack(const struct node_test *test, unsigned worker, unsigned to, float *out)
{
    struct psd_rows rows = psd_layout_rows(test->layout, WEIGHT, to);
    size_t at = 0;

    for (size_t k = 0; k < batches[worker]; k++) {
        for (size_t row = rows.first; row < rows.end; row++)
            out[at++] = u_of(worker, k, row);
    }
    for (size_t k = 0; k < batches[worker]; k++) {
        for (size_t col = 0; col < COLS; col++)
            out[at++] = v_of(worker, k, col);
    }
    return at * sizeof *out;
}

static void sync_own(struct node_test *test, unsigned worker)
{
    float u[3 * ROWS], v[3 * COLS];

    for (size_t i = 0; i < batches[worker] * ROWS; i++)
        u[i] = u_of(worker, i / ROWS, i % ROWS);
    for (size_t i = 0; i < batches[worker] * COLS; i++)
        v[i] = v_of(worker, i / COLS, i % COLS);
    psd_node_copy_factors(test->node, WEIGHT, worker, test->node->iteration, u, v, batches[worker]);
    memset(u, 0, sizeof u); /* they are the caller's again */
    memset(v, 0, sizeof v);
    CHECK_OK(psd_node_sync_factors(test->node, WEIGHT, worker, batches[worker]));
}

/* One of the messages in which a worker's factors come here; with a small matrix it is the only. */
static struct psd_message factors_of(const struct node_test *test, unsigned worker, uint32_t i,
                                     uint64_t iteration)
{
    float floats[3 * (ROWS + COLS)];
    size_t bytes = pack(test, worker, test->node->rank, floats);

    return (struct psd_message){.kind = PSD_MESSAGE_FACTORS,
                                .from = test->job->host[worker],
                                .iteration = iteration,
                                .subject = WEIGHT,
                                .which = worker,
                                .first = i,
                                .count = 1,
                                .length = psd_cut_length(psd_cut_of(bytes, test->layout->most), i)};
}

static void hear_one(struct node_test *test, unsigned worker, uint32_t i, uint64_t iteration)
{
    float floats[3 * (ROWS + COLS)];
    struct psd_cut cut =
        psd_cut_of(pack(test, worker, test->node->rank, floats), test->layout->most);

    node_deliver(test, factors_of(test, worker, i, iteration),
                 (char *)floats + psd_cut_begin(cut, i));
}

static uint32_t cuts_of(const struct node_test *test, unsigned worker)
{
    float floats[3 * (ROWS + COLS)];

    return psd_cut_of(pack(test, worker, test->node->rank, floats), test->layout->most).count;
}

static void hear(struct node_test *test, unsigned worker, uint64_t iteration)
{
    for (uint32_t i = 0; i < cuts_of(test, worker); i++)
        hear_one(test, worker, i, iteration);
}

/* What is sent next is the worker's factors, as `to` needs them. */
static void sends_factors(struct node_test *test, unsigned worker, unsigned to, uint64_t iteration)
{
    float want[3 * (ROWS + COLS)], got[3 * (ROWS + COLS)];
    size_t bytes = pack(test, worker, to, want), at = 0;

    for (uint32_t i = 0; at < bytes; i++) {
        struct psd_send send = node_sent(test, PSD_MESSAGE_FACTORS, to);
        CHECK(send.message.iteration == iteration && send.message.which == worker);
        CHECK(send.message.subject == WEIGHT && send.message.first == i);
        CHECK(send.message.length <= test->layout->most);
        for (size_t k = 0; k < 2; k++) {
            struct psd_span span = send.frame.payload[k];
            CHECK(at + span.bytes <= bytes);
            if (span.bytes)
                memcpy((char *)got + at, span.data, span.bytes);
            at += span.bytes;
        }
    }
    CHECK(node_same(got, want, bytes));
}

/* Rows [first, end) of the weight and of the bias are the sums of all workers. */
static void is_rebuilt(const struct node_test *test, size_t first, size_t end)
{
    for (size_t row = first; row < end; row++) {
        for (size_t col = 0; col < COLS; col++)
            CHECK_NEAR(test->values[WEIGHT][row * COLS + col], product_at(row, col), 0);
        CHECK_NEAR(test->values[BIAS][row], bias_at(row), 0);
    }
}

/* --- broadcast -----------------------------------------------------------------------------------
 */

static void everybody_rebuilds_all_in_any_order(void)
{
    static const unsigned orders[][WORKERS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                               {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct node_test *test = member(BROADCAST, 0);
        node_begin(test, 4);
        for (size_t k = 0; k < WORKERS; k++) {
            CHECK(test->n_works == 0);
            if (orders[i][k] == 0) {
                sync_own(test, 0);
                sends_factors(test, 0, 1, 4);
                sends_factors(test, 0, 2, 4);
            } else {
                hear(test, orders[i][k], 4);
            }
        }
        struct psd_work rebuild = node_work(test, PSD_WORK_REBUILD);
        CHECK(rebuild.param == WEIGHT && rebuild.bytes == ROWS * COLS * 4);
        CHECK(rebuild.flops == 2.0 * ROWS * COLS * (2 + 1 + 3));
        CHECK(test->fresh[WEIGHT] == 1 && test->fresh[BIAS] == 0);
        rebuild = node_work(test, PSD_WORK_REBUILD);
        CHECK(rebuild.param == BIAS && rebuild.bytes == ROWS * 4 && rebuild.flops == 0);
        CHECK(test->fresh[BIAS] == 1);
        is_rebuilt(test, 0, ROWS);
        node_end(test);
    }
}

static void a_member_may_be_one_iteration_ahead(void)
{
    struct node_test *test = member(BROADCAST, 0);

    hear(test, 2, 7);
    for (uint64_t t = 7; t < 12; t++) {
        node_begin(test, t);
        sync_own(test, 0);
        hear(test, 2, t + 1); /* rank 2 has had the factors of rank 1, and we have not */
        node_refuses(test, factors_of(test, 2, 0, t + 1),
                     "rank 2 sends factors of fc of iteration");
        node_refuses(test, factors_of(test, 2, 0, t + 2), "out of turn");
        hear(test, 1, t);
        node_refuses(test, factors_of(test, 1, 0, t + 2), "out of turn"); /* t is being rebuilt */
        node_settle(test);
        node_refuses(test, factors_of(test, 1, 0, t), "out of turn");
        node_refuses(test, factors_of(test, 1, 0, t + 3), "out of turn");
        is_rebuilt(test, 0, ROWS);
        CHECK(test->fresh[WEIGHT] == t - 6 && test->fresh[BIAS] == t - 6);
    }
    node_end(test);
}

/* Messages of all workers come in turn, those of each from last to first. */
static void factors_come_in_several_messages_in_any_order(void)
{
    struct node_case c = case_of(BROADCAST, 0);
    c.most = 150;
    struct node_test *test = node_of(&c);

    CHECK(cuts_of(test, 1) == 2 && cuts_of(test, 2) == 4);
    node_begin(test, 4);
    hear_one(test, 2, 3, 4);
    sync_own(test, 0);
    sends_factors(test, 0, 1, 4);
    sends_factors(test, 0, 2, 4);
    hear_one(test, 2, 1, 4);
    node_refuses(test, factors_of(test, 2, 1, 4), "out of turn");
    hear_one(test, 1, 1, 4);
    hear_one(test, 2, 0, 4);
    hear_one(test, 1, 0, 4);
    node_refuses(test, factors_of(test, 1, 0, 4), "out of turn");
    node_is_quiet(test);
    hear_one(test, 2, 2, 4);
    node_settle(test);
    is_rebuilt(test, 0, ROWS);
    CHECK(test->fresh[WEIGHT] == 1);
    node_end(test);
}

static void the_rule_is_applied_everywhere(void)
{
    struct node_case c = case_of(BROADCAST, 0);
    c.updates = true;
    c.update = (struct psd_comm_update){.momentum = 0.5f};
    struct node_test *test = node_of(&c);

    for (uint64_t t = 0; t < 2; t++) {
        node_begin(test, t);
        sync_own(test, 0);
        hear(test, 1, t);
        hear(test, 2, t);
        node_settle(test);
    }
    for (size_t i = 0; i < (size_t)ROWS * COLS;
         i++) { /* the mean, and the mean with half of it again */
        float mean = product_at(i / COLS, i % COLS) * (1.0f / WORKERS);
        CHECK_NEAR(test->values[WEIGHT][i], -mean - (mean * 0.5f + mean), 1e-2);
    }
    CHECK_NEAR(test->values[BIAS][5], -2.5f * bias_at(5) / WORKERS, 1e-3);
    CHECK(test->fresh[WEIGHT] == 2 && test->fresh[BIAS] == 2);
    node_end(test);
}

static void one_process_alone_sends_nothing(void)
{
    static const struct node_param local[] = {
        {.name = "fc", .rows = ROWS, .cols = COLS, .route = PSD_ROUTE_LOCAL},
        {.name = "bias", .rows = 1, .cols = ROWS, .bias_of = 1}};
    struct node_test *test = node_of(
        &(struct node_case){.workers = WORKERS, .batch = batches, .params = local, .n_params = 2});

    for (uint64_t t = 0; t < 3; t++) {
        node_begin(test, t);
        for (unsigned w = WORKERS; w-- > 0;)
            sync_own(test, w);
        node_work(test, PSD_WORK_REBUILD);
        node_work(test, PSD_WORK_REBUILD);
        is_rebuilt(test, 0, ROWS);
    }
    CHECK(test->fresh[WEIGHT] == 3 && test->fresh[BIAS] == 3);
    node_end(test);
}

/* --- sharded routes ------------------------------------------------------------------------------
 */

static void each_rank_rebuilds_its_rows_and_publishes_them(void)
{
    for (int first = 0; first < 2; first++) {
        struct node_test *test = member(ROW_SHARDED, 0);
        node_begin(test, 4);
        if (first == 0)
            hear(test, 2, 4);
        sync_own(test, 0);
        sends_factors(test, 0, 1, 4);
        sends_factors(test, 0, 2, 4);
        if (first == 1)
            hear(test, 2, 4);
        hear(test, 1, 4);
        CHECK(node_work(test, PSD_WORK_REBUILD).bytes == 16 * COLS * 4);
        for (unsigned to = 1; to < 3; to++) {
            struct psd_send value = node_sent(test, PSD_MESSAGE_VALUE, to);
            CHECK(value.message.subject == node_piece(test, WEIGHT));
            CHECK(value.message.iteration == 4 && node_floats(&value) == test->values[WEIGHT]);
        }
        CHECK(node_work(test, PSD_WORK_REBUILD).param == BIAS);
        for (unsigned to = 1; to < 3; to++)
            CHECK(node_sent(test, PSD_MESSAGE_VALUE, to).message.subject == node_piece(test, BIAS));
        is_rebuilt(test, 0, 16);
        CHECK(test->fresh[WEIGHT] == 0 && test->fresh[BIAS] == 0);
        node_end(test);
    }
}

/* All pieces of others come. */
static void hear_values(struct node_test *test, uint64_t iteration)
{
    for (uint32_t i = 0; i < test->layout->n_pieces; i++) {
        unsigned server = test->layout->pieces[i].server;
        if (server != test->node->rank)
            node_hears(test, node_message(test, PSD_MESSAGE_VALUE, server, i, 0, iteration), 1);
    }
}

static void rows_of_others_come_as_values(void)
{
    struct node_test *test = member(ROW_SHARDED, 1);

    for (uint64_t t = 0; t < 3; t++) {
        node_begin(test, t);
        sync_own(test, 1);
        hear(test, 0, t);
        hear(test, 2, t);
        node_settle(test);
        hear_values(test, t);
        is_rebuilt(test, 16, 32);
        CHECK_NEAR(test->values[WEIGHT][0], 1, 0);
        CHECK_NEAR(test->values[BIAS][ROWS - 1], 1, 0);
        CHECK(test->fresh[WEIGHT] == t + 1 && test->fresh[BIAS] == t + 1);
    }
    node_end(test);
}

static unsigned owner_of(int route)
{
    struct node_test *test = member(route, 0);
    unsigned owner = test->layout->pieces[0].server;

    node_end(test);
    return owner;
}

static void a_single_owner_rebuilds_for_all(void)
{
    unsigned owner = owner_of(SINGLE_OWNER);
    struct node_test *test = member(SINGLE_OWNER, owner);

    node_begin(test, 0);
    for (unsigned w = 0; w < WORKERS; w++) {
        if (w == owner)
            sync_own(test, w);
        else
            hear(test, w, 0);
    }
    node_settle(test);
    is_rebuilt(test, 0, ROWS);
    CHECK(test->fresh[WEIGHT] == 1 && test->fresh[BIAS] == 1);
    node_end(test);
}

static void others_give_to_the_owner_and_take_from_it(void)
{
    unsigned owner = owner_of(SINGLE_OWNER), rank = (owner + 1) % 3, third = (owner + 2) % 3;
    struct node_test *test = member(SINGLE_OWNER, rank);
    struct psd_message factors = factors_of(test, third, 0, 0);

    node_begin(test, 0);
    sync_own(test, rank);
    sends_factors(test, rank, owner, 0);
    node_is_quiet(test);
    node_refuses(test, factors, "factors of parameter 0 and worker");
    hear_values(test, 0);
    node_has(test, WEIGHT, 1, 1);
    node_has(test, BIAS, 1, 1);
    node_end(test);
}

/* 128 rows of 16 KB are a chunk. */
enum { MANY = 1536, WIDE = 4096 };

static const struct node_param wide[][1] = {
    {{.name = "fc", .rows = MANY, .cols = WIDE, .route = PSD_ROUTE_BROADCAST}},
    {{.name = "fc", .rows = MANY, .cols = WIDE, .route = PSD_ROUTE_ROW_SHARDED}},
};

/* The factors of worker 1 come: its u is 3, its v 2. */
static void hear_wide(struct node_test *test, size_t rows)
{
    size_t floats = rows + WIDE;
    float *data = calloc(floats, sizeof *data);

    for (size_t i = 0; i < floats; i++)
        data[i] = i < rows ? 3 : 2;
    node_deliver(test,
                 (struct psd_message){.kind = PSD_MESSAGE_FACTORS,
                                      .from = 1,
                                      .which = 1,
                                      .count = 1,
                                      .length = floats * sizeof *data},
                 data);
    free(data);
}

static void chunks_are_rebuilt_a_few_at_a_time_in_any_order(void)
{
    for (int route = BROADCAST; route <= ROW_SHARDED; route++) {
        struct node_test *test = node_of(&(struct node_case){
            .ranks = 2, .workers = 2, .params = wide[route], .n_params = 1, .most = 1 << 20});
        size_t rows = route == BROADCAST ? MANY : MANY / 2, done = 0;
        node_begin(test, 0);
        node_sync_factors(test, 0, 0, 1, 2);
        node_sent(test, PSD_MESSAGE_FACTORS, 1);
        hear_wide(test, rows);
        for (; test->n_works; done++) {
            CHECK(test->fresh[0] == 0 && test->n_works <= PSD_EXCHANGE_WORKS);
            node_work_at(test, test->n_works - 1, PSD_WORK_REBUILD); /* the last one first */
        }
        CHECK(done == rows / 128 && test->fresh[0] == (route == BROADCAST));
        for (size_t i = 0; i < rows * WIDE; i++)
            CHECK_NEAR(test->values[0][i], 8, 0);
        for (size_t i = 0; i < (route == BROADCAST ? 0 : rows / 64); i++)
            CHECK(node_sent(test, PSD_MESSAGE_VALUE, 1).message.length == 1 << 20);
        node_end(test);
    }
}

/* --- what may not come ---------------------------------------------------------------------------
 */

static void strange_factors_are_refused_and_change_nothing(void)
{
    for (int route = BROADCAST; route <= ROW_SHARDED; route++) {
        struct node_test *test = member(route, 0);
        struct psd_message good = factors_of(test, 2, 0, 4);
        static const struct node_twist twists[] = {
            NODE_TWIST(subject, BIAS, "factors of parameter 1 and worker 2 are not for rank 0"),
            NODE_TWIST(subject, 2, "factors of parameter 2 and worker 2 are not for rank 0"),
            NODE_TWIST(subject, UINT32_MAX, "factors of parameter 4294967295 and worker 2"),
            NODE_TWIST(which, 1, "factors of parameter 0 and worker 1 are not for rank 0"),
            NODE_TWIST(which, 0, "factors of parameter 0 and worker 0 are not for rank 0"),
            NODE_TWIST(which, WORKERS, "factors of parameter 0 and worker 3 are not for"),
            NODE_TWIST(from, 1, "factors of parameter 0 and worker 2 are not for rank 0"),
            NODE_TWIST(length, 0, "factors of fc come in 1 messages; number 0 has 0 bytes"),
            NODE_TWIST(length, 4 * 3 * (16 + COLS) - 4, "number 0 has 224 bytes"),
            NODE_TWIST(length, UINT64_MAX, "number 0 has 18446744073709551615 bytes"),
            NODE_TWIST(first, 1, "factors of fc come in 1 messages; number 1 has"),
            NODE_TWIST(first, UINT32_MAX, "factors of fc come in 1 messages; number 4294967295"),
            NODE_TWIST(iteration, 2, "rank 2 sends factors of fc of iteration 2 out of turn"),
            NODE_TWIST(iteration, 6, "rank 2 sends factors of fc of iteration 6 out of turn"),
        };

        node_begin(test, 4);
        sync_own(test, 0);
        node_settle(test);
        node_refuses_all(test, good, twists, sizeof twists / sizeof *twists);
        hear(test, 2, 4);
        node_refuses(test, good, "out of turn"); /* it is here, */
        hear(test, 1, 4);
        node_refuses(test, good, "out of turn"); /* and being rebuilt, */
        node_settle(test);
        node_refuses(test, good, "out of turn"); /* and rebuilt */
        is_rebuilt(test, 0, 16);
        node_free(test);
    }
}

static void factors_that_come_twice_are_refused(void)
{
    for (int route = BROADCAST; route <= ROW_SHARDED; route++) {
        struct node_test *test = member(route, 0);
        struct psd_message factors = factors_of(test, 2, 0, 4);
        struct psd_place place;
        psd_node_place(test->node, 2, &factors, &place); /* they are coming, */
        node_refuses(test, factors, "out of turn");
        if (route == ROW_SHARDED)
            node_refuses(test, factors_of(test, 1, 0, 5), "out of turn");
        psd_node_arrived(test->node, &factors);
        node_refuses(test, factors, "out of turn"); /* and here */
        node_free(test);
    }
}

static void dense_parameters_have_no_factors(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});

    node_refuses(
        test,
        (struct psd_message){
            .kind = PSD_MESSAGE_FACTORS, .from = 1, .subject = FC, .which = 1, .length = 16},
        "factors of parameter 1 and worker 1 are not for rank 0");
    node_end(test);
}

static void who_syncs_in_another_iteration_than_the_others_ends_the_job(void)
{
    for (int route = BROADCAST; route <= ROW_SHARDED; route++) {
        struct node_test *test = member(route, 0);
        hear(test, 1, 6);
        node_begin(test, 5);
        sync_own(test, 0);
        sends_factors(test, 0, 1, 5);
        sends_factors(test, 0, 2, 5);
        node_ends(test, PSD_EPEER,
                  "rank 0 syncs factors of fc in iteration 5, where others are in 6");
        node_free(test);
    }
}

static void who_is_an_iteration_behind_us_is_refused(void)
{
    struct node_test *test = member(BROADCAST, 0);

    node_begin(test, 6);
    sync_own(test, 0);
    node_settle(test);
    node_refuses(test, factors_of(test, 1, 0, 5), "rank 1 sends factors of fc of iteration 5 out");
    hear(test, 1, 6);
    node_refuses(test, factors_of(test, 2, 0, 5), "out of turn");
    hear(test, 1, 7);
    node_refuses(test, factors_of(test, 2, 0, 8), "out of turn");
    hear(test, 2, 6);
    node_settle(test);
    is_rebuilt(test, 0, ROWS);
    node_end(test);
}

/* --- sizes ---------------------------------------------------------------------------------------
 */

static const struct node_param large[] = {
    {.name = "fc", .rows = 1000, .cols = 32768, .route = PSD_ROUTE_BROADCAST}};

static void large_matrices_are_rebuilt_in_chunks_of_rows(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2,
                                                         .workers = 2,
                                                         .params = large,
                                                         .n_params = 1,
                                                         .most = 1 << 20,
                                                         .sizes_only = true});
    double bytes = 0, flops = 0;

    node_begin(test, 0);
    CHECK_OK(psd_node_sync_factors(test->node, 0, 0, 1));
    struct psd_send send = node_sent(test, PSD_MESSAGE_FACTORS, 1);
    CHECK(send.message.length == 135072 && !node_floats(&send));
    send.message.from = send.message.which = 1;
    node_deliver(test, send.message, NULL);
    CHECK(test->n_works == PSD_EXCHANGE_WORKS && test->works[0]->bytes == 16 << 20);
    for (size_t i = 0; i < 8; i++) {
        struct psd_work work = node_work(test, PSD_WORK_REBUILD);
        CHECK(!work.run && test->fresh[0] == (i == 7));
        bytes += work.bytes;
        flops += work.flops;
    }
    CHECK(bytes == 1000 * 32768 * 4.0 && flops == 2 * 1000 * 32768 * 2.0);
    node_end(test);
}

static void nothing_is_allocated_in_steady_state(void)
{
    for (int route = BROADCAST; route <= ROW_SHARDED; route++) {
        struct node_test *test = member(route, 0);
        for (uint64_t t = 0; t < 4; t++) {
            if (t == 2)
                psd_alloc_fail_at(0);
            node_begin(test, t);
            sync_own(test, 0);
            hear(test, 1, t);
            hear(test, 2, t);
            node_settle(test);
            if (route == ROW_SHARDED)
                hear_values(test, t);
        }
        CHECK(!psd_alloc_fail_at(-1) && test->fresh[WEIGHT] == 4);
        node_end(test);
    }
}

/* Factors that are cut into many messages have sends reserved for each. */
static void after_a_reserve_nothing_is_allocated(void)
{
    for (int route = BROADCAST; route <= ROW_SHARDED; route++) {
        struct node_case c = case_of(route, 0);
        c.most = 12;
        struct node_test *test = node_of(&c);
        CHECK_OK(psd_node_reserve(test->node));
        psd_alloc_fail_at(0);
        node_begin(test, 0);
        sync_own(test, 0);
        CHECK(test->n_sends > (route == BROADCAST ? 32 : 16));
        hear(test, 1, 0);
        hear(test, 2, 0);
        node_settle(test);
        CHECK(!psd_alloc_fail_at(-1) && test->ended == 0);
        node_free(test);
    }
}

int main(int argc, char **argv)
{
    RUN(everybody_rebuilds_all_in_any_order)
    RUN(a_member_may_be_one_iteration_ahead)
    RUN(factors_come_in_several_messages_in_any_order)
    RUN(the_rule_is_applied_everywhere)
    RUN(one_process_alone_sends_nothing)
    RUN(each_rank_rebuilds_its_rows_and_publishes_them)
    RUN(rows_of_others_come_as_values)
    RUN(a_single_owner_rebuilds_for_all)
    RUN(others_give_to_the_owner_and_take_from_it)
    RUN(chunks_are_rebuilt_a_few_at_a_time_in_any_order)
    RUN(strange_factors_are_refused_and_change_nothing)
    RUN(factors_that_come_twice_are_refused)
    RUN(dense_parameters_have_no_factors)
    RUN(who_syncs_in_another_iteration_than_the_others_ends_the_job)
    RUN(who_is_an_iteration_behind_us_is_refused)
    RUN(large_matrices_are_rebuilt_in_chunks_of_rows)
    RUN(nothing_is_allocated_in_steady_state)
    RUN(after_a_reserve_nothing_is_allocated)
}
