/* clip_test.c - one norm of all gradients: numbers go to rank 0, a factor comes back, then all is
 * updated. */
#include "lone_node.h"

/* Two ranks with a worker each, and a limit. */
static struct node_test *member(unsigned rank, float limit)
{
    return node_of(&(struct node_case){
        .rank = rank, .ranks = 2, .workers = 2, .updates = true, .update = {.clip = limit}});
}

static struct psd_message squares_of(unsigned from, size_t numbers, uint64_t iteration)
{
    return (struct psd_message){.kind = PSD_MESSAGE_SQUARES,
                                .from = from,
                                .iteration = iteration,
                                .length = numbers * sizeof(double)};
}

static struct psd_message scale_of(float factor, uint64_t iteration)
{
    struct psd_message scale = {.kind = PSD_MESSAGE_SCALE, .iteration = iteration};

    memcpy(&scale.which, &factor, sizeof factor);
    return scale;
}

static float factor_in(const struct psd_message *message)
{
    float factor;

    memcpy(&factor, &message->which, sizeof factor);
    return factor;
}

static struct psd_message push_of(const struct node_test *test, unsigned from, uint32_t piece,
                                  uint64_t iteration)
{
    return node_message(test, PSD_MESSAGE_PUSH, from, piece, from, iteration);
}

/* Rank 0 syncs both; the sum of fc is 4 on each of its three values. */
static void sync_first(struct node_test *test, uint64_t iteration)
{
    node_begin(test, iteration);
    node_sync(test, CONV, 0, 0);
    node_sent(test, PSD_MESSAGE_PUSH, 1);
    node_sync(test, FC, 0, 1);
    node_hears(test, push_of(test, 1, FC, iteration), 3);
}

/* --- dense ---------------------------------------------------------------------------------------
 */

static void updates_wait_for_the_norm_of_all(void)
{
    for (int first = 0; first < 2; first++) {
        struct node_test *test = member(0, 2.5f);
        sync_first(test, 6);
        const double theirs = 52; /* 48 + 52: the norm is 10, and of the mean 5 */
        if (first == 0)
            node_deliver(test, squares_of(1, 1, 6), &theirs);
        CHECK(node_work(test, PSD_WORK_SUM).bytes == 12);
        if (first == 1) {
            node_is_quiet(test);
            node_deliver(test, squares_of(1, 1, 6), &theirs);
        }
        struct psd_send scale = node_sent(test, PSD_MESSAGE_SCALE, 1);
        CHECK(scale.message.iteration == 6 && scale.message.length == 0);
        CHECK_NEAR(factor_in(&scale.message), 0.5, 0);
        node_work(test, PSD_WORK_UPDATE);
        node_sent(test, PSD_MESSAGE_VALUE, 1);
        node_has(test, FC, -1, 1); /* the mean is 2, and half of it is left */
        node_end(test);
    }
}

static void a_norm_below_the_limit_changes_nothing(void)
{
    struct node_test *test = member(0, 5.5f);
    const double theirs = 52;

    sync_first(test, 0);
    node_deliver(test, squares_of(1, 1, 0), &theirs);
    node_work(test, PSD_WORK_SUM);
    struct psd_send scale = node_sent(test, PSD_MESSAGE_SCALE, 1);
    CHECK(factor_in(&scale.message) == 1);
    node_settle(test);
    node_has(test, FC, -2, 1);
    node_end(test);
}

static void others_give_their_numbers_and_wait_for_the_factor(void)
{
    struct node_test *test = member(1, 2.5f);

    for (uint64_t t = 3; t < 6; t++) {
        node_begin(test, t);
        node_sync(test, FC, 1, 1);
        node_sent(test, PSD_MESSAGE_PUSH, 0);
        node_sync(test, CONV, 1, 1);
        node_hears(test, push_of(test, 0, CONV, t), 3);
        node_work(test, PSD_WORK_SUM);
        struct psd_send squares = node_sent(test, PSD_MESSAGE_SQUARES, 0);
        CHECK(squares.message.iteration == t && squares.message.length == sizeof(double));
        CHECK_NEAR(*(const double *)squares.frame.payload[0].data, 48, 0);
        node_is_quiet(test);
        node_deliver(test, scale_of(0.25f, t), NULL);
        node_work(test, PSD_WORK_UPDATE);
        node_sent(test, PSD_MESSAGE_VALUE, 0);
        node_has(test, CONV, -0.5f * (float)(t - 2), (unsigned)(t - 2));
        node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 0, FC, 0, t), 0);
    }
    node_end(test);
}

static void an_iteration_may_begin_before_the_last_one_is_decided(void)
{
    struct node_test *test = member(0, 2.5f);
    const double theirs = 52;

    sync_first(test, 0);
    CHECK_OK(psd_node_begin(test->node, 1, 100));
    node_work(test, PSD_WORK_SUM);
    node_deliver(test, squares_of(1, 1, 0), &theirs);
    node_settle(test);
    node_has(test, FC, -1, 1);
    node_end(test);
}

static void parts_of_a_shared_piece_are_updated_together(void)
{
    static const struct node_param xy[] = {{.name = "x", .rows = 1, .cols = 1},
                                           {.name = "y", .rows = 1, .cols = 2}};
    struct node_test *test = node_of(&(struct node_case){.ranks = 2,
                                                         .workers = 2,
                                                         .params = xy,
                                                         .n_params = 2,
                                                         .most = 1 << 16,
                                                         .updates = true,
                                                         .update = {.clip = 1.5f}});

    node_begin(test, 0);
    node_sync(test, 0, 0, 1);
    node_sync(test, 1, 0, 1);
    node_hears(test, push_of(test, 1, 0, 0), 1.0f);
    node_work_at(test, 1, PSD_WORK_SUM);
    CHECK(test->n_sends == 0);
    node_work(test, PSD_WORK_SUM); /* 3 * 2 * 2: the norm of the mean is the root of 3 */
    struct psd_send scale = node_sent(test, PSD_MESSAGE_SCALE, 1);
    CHECK_NEAR(factor_in(&scale.message), 1.5 / sqrt(3), 1e-6);
    CHECK(node_sent(test, PSD_MESSAGE_VALUE, 1).message.count == 2);
    CHECK_NEAR(test->values[0][0], -1.5 / sqrt(3), 1e-6);
    CHECK(test->fresh[0] == 1 && test->fresh[1] == 1);
    node_end(test);
}

/* --- factored ------------------------------------------------------------------------------------
 */

enum { WEIGHT, BIAS, ROWS = 20, COLS = 2 }; /* 20 rows are two tiles */

static const struct node_param broadcast[] = {
    {.name = "fc", .rows = ROWS, .cols = COLS, .route = PSD_ROUTE_BROADCAST},
    {.name = "bias", .rows = 1, .cols = ROWS, .bias_of = 1}};
static const struct node_param sharded[] = {
    {.name = "fc", .rows = ROWS, .cols = COLS, .route = PSD_ROUTE_ROW_SHARDED},
    {.name = "bias", .rows = 1, .cols = ROWS, .bias_of = 1}};

static struct node_test *factored(const struct node_param *params, unsigned rank, float limit)
{
    return node_of(&(struct node_case){.rank = rank,
                                       .ranks = 2,
                                       .workers = 2,
                                       .params = params,
                                       .n_params = 2,
                                       .most = 1 << 10,
                                       .updates = true,
                                       .update = {.clip = limit}});
}

/* The other worker's factors, all u and all v alike, as rank `to` gets them. */
static void hear_factors(struct node_test *test, unsigned from, float u, float v)
{
    struct psd_rows rows = psd_layout_rows(test->layout, WEIGHT, test->node->rank);
    size_t count = rows.end - rows.first;
    float floats[ROWS + COLS];
    struct psd_message message = {.kind = PSD_MESSAGE_FACTORS,
                                  .from = from,
                                  .subject = WEIGHT,
                                  .which = from,
                                  .length = (count + COLS) * sizeof(float)};

    for (size_t i = 0; i < count + COLS; i++)
        floats[i] = i < count ? u : v;
    node_deliver(test, message, floats);
}

/* The product is 1 * 2 + 3 * 2 = 8 on 40 values, the bias 1 + 3 = 4 on 20. */
static const double squares_in_all = 40 * 64 + 20 * 16;

static void rank_0_speaks_for_what_everybody_rebuilds(void)
{
    float limit = (float)sqrt(squares_in_all) / 4; /* half of the norm of the mean */
    struct node_test *test = factored(broadcast, 0, limit);

    node_begin(test, 0);
    node_sync_factors(test, WEIGHT, 0, 1, 2);
    node_sent(test, PSD_MESSAGE_FACTORS, 1);
    hear_factors(test, 1, 3, 2);
    node_work(test, PSD_WORK_SUM); /* and nothing comes from rank 1 */
    struct psd_send scale = node_sent(test, PSD_MESSAGE_SCALE, 1);
    CHECK_NEAR(factor_in(&scale.message), 0.5, 1e-6);
    node_work(test, PSD_WORK_REBUILD);
    node_work(test, PSD_WORK_REBUILD);
    for (size_t i = 0; i < ROWS; i++) {
        CHECK_NEAR(test->values[WEIGHT][i], -2, 1e-5);
        CHECK_NEAR(test->values[BIAS][i], -1, 1e-5);
    }
    CHECK(test->fresh[WEIGHT] == 1 && test->fresh[BIAS] == 1);
    node_end(test);
}

static void others_rebuild_with_the_factor_whenever_it_comes(void)
{
    for (int first = 0; first < 2; first++) {
        struct node_test *test = factored(broadcast, 1, 1);
        node_begin(test, 0);
        node_sync_factors(test, WEIGHT, 1, 1, 2);
        node_sent(test, PSD_MESSAGE_FACTORS, 0);
        if (first == 0)
            node_deliver(test, scale_of(0.5f, 0), NULL);
        hear_factors(test, 0, 3, 2);
        if (first == 1) {
            node_is_quiet(test);
            node_deliver(test, scale_of(0.5f, 0), NULL);
        }
        node_work(test, PSD_WORK_REBUILD);
        node_work(test, PSD_WORK_REBUILD);
        node_has(test, WEIGHT, -2, 1);
        node_has(test, BIAS, -1, 1);
        node_end(test);
    }
}

static void each_rank_speaks_for_its_rows(void)
{
    float limit = (float)sqrt(squares_in_all) / 4;
    struct node_test *test = factored(sharded, 0, limit);
    struct psd_rows rows = psd_layout_rows(test->layout, WEIGHT, 1);
    const double theirs[] = {(double)(rows.end - rows.first) * 128,
                             (double)(rows.end - rows.first) * 16};

    CHECK(rows.first == 16 && rows.end == ROWS); /* a tile and its bias */
    node_begin(test, 0);
    node_sync_factors(test, WEIGHT, 0, 1, 2);
    node_sent(test, PSD_MESSAGE_FACTORS, 1);
    node_deliver(test, squares_of(1, 2, 0), theirs);
    hear_factors(test, 1, 3, 2);
    node_work(test, PSD_WORK_SUM);
    struct psd_send scale = node_sent(test, PSD_MESSAGE_SCALE, 1);
    CHECK_NEAR(factor_in(&scale.message), 0.5, 1e-6);
    node_settle(test);
    CHECK_NEAR(test->values[WEIGHT][0], -2, 1e-5);
    CHECK_NEAR(test->values[BIAS][15], -1, 1e-5);
    node_end(test);
}

/* --- what may not come ---------------------------------------------------------------------------
 */

static void strange_numbers_are_refused_and_change_nothing(void)
{
    struct node_test *test = member(0, 1);
    static const struct node_twist twists[] = {
        NODE_TWIST(length, 0, "rank 1 sends squares out of turn"),
        NODE_TWIST(length, 7, "rank 1 sends squares out of turn"),
        NODE_TWIST(length, 16, "rank 1 sends squares out of turn"),
        NODE_TWIST(length, UINT64_MAX, "rank 1 sends squares out of turn"),
        NODE_TWIST(kind, PSD_MESSAGE_SCALE, "rank 1 sends scale out of turn"),
    };

    sync_first(test, 0);
    node_refuses_all(test, squares_of(1, 1, 0), twists, sizeof twists / sizeof *twists);
    const double theirs = 0;
    node_deliver(test, squares_of(1, 1, 0), &theirs);
    node_refuses(test, squares_of(1, 1, 0), "rank 1 sends squares out of turn");
    node_settle(test);
    node_end(test);
}

static void numbers_of_another_iteration_are_refused(void)
{
    struct node_test *test = member(0, 1);
    const double theirs = 0;

    node_refuses(test, squares_of(1, 1, 0), "squares out of turn"); /* nothing has begun */
    for (uint64_t t = 6; t < 9; t++) {
        sync_first(test, t);
        node_refuses(test, squares_of(1, 1, t - 1), "squares out of turn");
        node_refuses(test, squares_of(1, 1, t + 1), "squares out of turn");
        struct psd_message squares = squares_of(1, 1, t);
        struct psd_place place;
        psd_node_place(test->node, 1, &squares, &place);
        node_refuses(test, squares, "squares out of turn"); /* they are coming, */
        node_move(&theirs, &squares, &place);
        psd_node_arrived(test->node, &squares);
        node_refuses(test, squares, "squares out of turn"); /* and here */
        node_settle(test);
        node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, t), 0);
    }
    node_end(test);
}

static void a_factor_comes_once_and_in_turn(void)
{
    struct node_test *test = member(1, 1);
    struct psd_message scale = scale_of(1, 4);
    struct psd_place place;

    node_refuses(test, scale, "rank 0 sends scale out of turn"); /* nothing has begun, */
    node_begin(test, 4);
    node_refuses(test, scale, "scale out of turn"); /* or is synced, */
    node_sync(test, CONV, 1, 1);
    node_hears(test, push_of(test, 0, CONV, 4), 3);
    node_refuses(test, scale, "scale out of turn"); /* or added up, */
    node_work(test, PSD_WORK_SUM);
    node_sent(test, PSD_MESSAGE_SQUARES, 0);
    node_refuses(test, scale, "scale out of turn"); /* or synced by all */
    node_sync(test, FC, 1, 1);
    node_sent(test, PSD_MESSAGE_PUSH, 0);
    node_refuses(test, scale_of(1, 3), "scale out of turn");
    node_refuses(test, scale_of(1, 5), "scale out of turn");
    psd_node_place(test->node, 0, &scale, &place);
    node_refuses(test, scale, "scale out of turn");
    psd_node_arrived(test->node, &scale);
    node_refuses(test, scale, "scale out of turn");
    node_settle(test);
    node_has(test, CONV, -2, 1);
    node_end(test);
}

static void only_rank_0_takes_numbers_and_gives_factors(void)
{
    struct node_test *test = node_of(&(struct node_case){
        .rank = 1, .ranks = 3, .workers = 3, .updates = true, .update = {.clip = 1}});
    struct psd_message scale = scale_of(1, 0);

    node_begin(test, 0);
    node_refuses(test, squares_of(0, 1, 0), "rank 0 sends squares out of turn");
    scale.from = 2;
    node_refuses(test, scale, "rank 2 sends scale out of turn");
    scale = scale_of(1, 0);
    scale.length = 4;
    node_refuses(test, scale, "rank 0 sends scale out of turn");
    node_end(test);
}

static void without_a_limit_there_is_nothing_to_decide(void)
{
    for (unsigned rank = 0; rank < 2; rank++) {
        struct node_test *test = member(rank, 0);
        node_begin(test, 0);
        node_refuses(test, squares_of(!rank, 1, 0), "squares out of turn");
        if (rank == 1)
            node_refuses(test, scale_of(1, 0), "scale out of turn");
        node_end(test);
    }
}

static void sizes_alone_go_the_same_way(void)
{
    struct node_test *test = node_of(&(struct node_case){
        .ranks = 2, .workers = 2, .updates = true, .update = {.clip = 1}, .sizes_only = true});

    node_begin(test, 0);
    CHECK_OK(psd_node_sync(test->node, CONV, 0, NULL));
    CHECK_OK(psd_node_sync(test->node, FC, 0, NULL));
    node_sent(test, PSD_MESSAGE_PUSH, 1);
    node_deliver(test, push_of(test, 1, FC, 0), NULL);
    CHECK(!node_work(test, PSD_WORK_SUM).run);
    node_deliver(test, squares_of(1, 1, 0), NULL);
    CHECK(factor_in(&node_sends(test, PSD_MESSAGE_SCALE, 1)->message) == 1);
    CHECK(!node_work(test, PSD_WORK_UPDATE).run);
    node_sent(test, PSD_MESSAGE_VALUE, 1);
    CHECK(test->fresh[FC] == 1);
    node_free(test);
}

int main(int argc, char **argv)
{
    RUN(updates_wait_for_the_norm_of_all)
    RUN(a_norm_below_the_limit_changes_nothing)
    RUN(others_give_their_numbers_and_wait_for_the_factor)
    RUN(an_iteration_may_begin_before_the_last_one_is_decided)
    RUN(parts_of_a_shared_piece_are_updated_together)
    RUN(rank_0_speaks_for_what_everybody_rebuilds)
    RUN(others_rebuild_with_the_factor_whenever_it_comes)
    RUN(each_rank_speaks_for_its_rows)
    RUN(strange_numbers_are_refused_and_change_nothing)
    RUN(numbers_of_another_iteration_are_refused)
    RUN(a_factor_comes_once_and_in_turn)
    RUN(only_rank_0_takes_numbers_and_gives_factors)
    RUN(without_a_limit_there_is_nothing_to_decide)
    RUN(sizes_alone_go_the_same_way)
}
