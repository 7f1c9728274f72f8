/* inquiry_test.c - who keeps us waiting: asked of the owner, and answered, on every route. */
#include "lone_node.h"

#define NOBODY UINT32_MAX

static struct node_test *member(unsigned rank)
{
    struct node_test *test = node_of(&(struct node_case){.rank = rank, .ranks = 3, .workers = 3});

    node_begin(test, 4);
    return test;
}

static struct psd_message push_of(const struct node_test *test, unsigned from, uint64_t iteration)
{
    return node_message(test, PSD_MESSAGE_PUSH, from, FC, from, iteration);
}

static struct psd_message who_of(unsigned from, uint32_t part, uint64_t iteration)
{
    return (struct psd_message){
        .kind = PSD_MESSAGE_WHO, .from = from, .iteration = iteration, .subject = part};
}

static struct psd_message missing_of(unsigned from, uint32_t part, uint64_t iteration,
                                     uint32_t rank)
{
    return (struct psd_message){.kind = PSD_MESSAGE_MISSING,
                                .from = from,
                                .iteration = iteration,
                                .subject = part,
                                .first = rank};
}

/* Asked by `from`, the node answers that this rank is missing. */
static void answers(struct node_test *test, unsigned from, uint32_t part, uint64_t iteration,
                    uint32_t rank)
{
    node_deliver(test, who_of(from, part, iteration), NULL);
    struct psd_send answer = node_sent(test, PSD_MESSAGE_MISSING, from);
    CHECK(answer.message.subject == part && answer.message.iteration == iteration);
    CHECK(answer.message.length == 0);
    if (answer.message.first != rank)
        TEST_FAIL("%u is missing, not %u", answer.message.first, rank);
}

static void warns(struct node_test *test, size_t param, const char *sentence)
{
    unsigned before = test->warned;

    psd_node_overdue(test->node, param);
    CHECK(test->warned == before + 1);
    CHECK_TEXT(sentence, test->warning);
}

/* --- who waits -----------------------------------------------------------------------------------
 */

static void the_owner_knows_by_itself(void)
{
    struct node_test *test = member(0);
    struct psd_comm_counters counters;

    node_sync(test, FC, 0, 1);
    warns(test, FC, "rank 0 waits for fc of iteration 4: rank 1 has not synced it");
    node_hears(test, push_of(test, 1, 4), 1);
    warns(test, FC, "rank 0 waits for fc of iteration 4: rank 2 has not synced it");
    node_hears(test, push_of(test, 2, 4), 1);
    warns(
        test, FC,
        "rank 0 waits for fc of iteration 4: everybody has synced it, and rank 0 has not yet sent "
        "its new value");
    psd_node_count(test->node, &counters);
    CHECK(counters.warnings == 3);
    node_settle(test);
    node_end(test);
}

static void others_ask_the_owner(void)
{
    struct node_test *test = member(2);

    node_sync(test, CONV, 2, 1);
    node_sent(test, PSD_MESSAGE_PUSH, 1);
    psd_node_overdue(test->node, CONV);
    struct psd_send who = node_sent(test, PSD_MESSAGE_WHO, 1);
    CHECK(who.message.subject == CONV && who.message.iteration == 4 && who.message.length == 0);
    CHECK(test->warned == 0);
    node_deliver(test, missing_of(1, CONV, 4, 0), NULL);
    CHECK_TEXT("rank 2 waits for conv of iteration 4: rank 0 has not synced it", test->warning);
    node_deliver(test, missing_of(1, CONV, 4, NOBODY), NULL);
    CHECK_TEXT("rank 2 waits for conv of iteration 4: everybody has synced it, and rank 1 has not "
               "yet sent its new value",
               test->warning);
    CHECK(test->warned == 2);
    node_end(test);
}

static void an_answer_that_comes_too_late_is_no_warning(void)
{
    struct node_test *test = member(2);

    node_sync(test, CONV, 2, 1);
    node_settle(test);
    node_deliver(test, missing_of(1, CONV, 3, 0), NULL); /* of the iteration before */
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, 4), 1);
    node_deliver(test, missing_of(1, CONV, 4, 0), NULL);
    psd_node_overdue(test->node, CONV); /* and nothing is asked for what is here */
    CHECK(test->warned == 0);
    node_end(test);
}

static const struct node_param long_one[] = {{.name = "long", .rows = 1, .cols = 16384}};

static void the_owner_of_what_has_not_come_is_asked(void)
{
    struct node_test *test =
        node_of(&(struct node_case){.ranks = 2, .workers = 2, .params = long_one, .n_params = 1});

    node_begin(test, 0);
    node_sync(test, 0, 0, 1);
    for (uint32_t i = 1; i < 4; i += 2) /* two pieces are ours, */
        node_hears(test, node_message(test, PSD_MESSAGE_PUSH, 1, i, 1, 0), 1);
    node_settle(test);
    for (uint32_t i = 0; i < 4; i += 2) { /* and two rank 1's */
        psd_node_overdue(test->node, 0);
        CHECK(node_sent(test, PSD_MESSAGE_WHO, 1).message.subject == i);
        node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, i, 0, 0), 2);
    }
    node_has(test, 0, 2, 1);
    node_end(test);
}

/* --- who is asked --------------------------------------------------------------------------------
 */

static void the_owner_names_who_has_not_pushed(void)
{
    struct node_test *test = member(0);

    answers(test, 1, FC, 4, 0); /* we have not synced it ourselves */
    node_sync(test, FC, 0, 1);
    answers(test, 1, FC, 4, 1);
    node_hears(test, push_of(test, 1, 4), 1);
    answers(test, 1, FC, 4, 2);
    node_hears(test, push_of(test, 2, 4), 1);
    answers(test, 1, FC, 4, NOBODY); /* it is being updated */
    node_work(test, PSD_WORK_UPDATE);
    struct psd_send *first = node_sends(test, PSD_MESSAGE_VALUE, 1);
    struct psd_send *second = node_sends(test, PSD_MESSAGE_VALUE, 2);
    answers(test, 2, FC, 4, NOBODY); /* it is on its way */
    answers(test, 2, FC, 5, 0);
    psd_node_sent(test->node, first);
    psd_node_sent(test->node, second);
    node_end(test);
}

static void strange_questions_and_answers_are_refused(void)
{
    struct node_test *test = member(0);

    node_refuses(test, who_of(2, CONV, 4), "rank 2 asks for part 0, which is not rank 0's");
    node_refuses(test, who_of(2, 2, 4), "rank 2 asks for part 2, which is not rank 0's");
    node_refuses(test, who_of(2, NOBODY, 4), "rank 2 asks for part 4294967295, which is not");
    node_refuses(test, missing_of(2, CONV, 4, 1), "rank 2 speaks of part 0, which is not rank 2's");
    node_refuses(test, missing_of(1, FC, 4, 1), "rank 1 speaks of part 1, which is not rank 1's");
    node_refuses(test, missing_of(1, 2, 4, 1), "rank 1 speaks of part 2, which is not rank 1's");
    node_refuses(test, missing_of(1, CONV, 4, 3), "rank 1 misses rank 3, which does not exist");
    node_end(test);
}

static void who_asks_and_does_not_listen_gets_no_more_answers(void)
{
    struct node_test *test = member(0);

    for (unsigned i = 0; i < 1000; i++)
        node_deliver(test, who_of(1, FC, 4), NULL);
    CHECK(test->n_sends == 16);
    node_settle(test);
    answers(test, 1, FC, 4, 0);
    answers(test, 2, FC, 4, 0);
    node_end(test);
}

static void a_question_is_about_one_parameter_of_a_shared_piece(void)
{
    static const struct node_param xy[] = {{.name = "x", .rows = 1, .cols = 1},
                                           {.name = "y", .rows = 1, .cols = 2}};
    struct node_test *test = node_of(&(struct node_case){
        .ranks = 2, .workers = 2, .params = xy, .n_params = 2, .most = 1 << 16});
    struct psd_message y = {.kind = PSD_MESSAGE_PUSH,
                            .from = 1,
                            .iteration = 4,
                            .which = 1,
                            .first = 1,
                            .count = 1,
                            .length = 8};

    node_begin(test, 4);
    node_sync(test, 1, 0, 1);
    psd_node_waits(test->node, 1);
    answers(test, 1, 0, 4, 0);
    answers(test, 1, 1, 4, 1);
    node_hears(test, y, 1);
    node_settle(test);
    answers(test, 1, 1, 4, NOBODY);
    node_end(test);
}

/* --- factors -------------------------------------------------------------------------------------
 */

enum { WEIGHT, BIAS, ROWS = 48 };

static struct node_test *factored(enum psd_route route, unsigned rank)
{
    const struct node_param params[] = {
        {.name = "fc", .rows = ROWS, .cols = 1, .route = route},
        {.name = "bias", .rows = 1, .cols = ROWS, .bias_of = 1},
    };
    struct node_test *test = node_of(&(struct node_case){
        .rank = rank, .ranks = 3, .workers = 3, .params = params, .n_params = 2, .most = 1 << 10});

    node_begin(test, 4);
    return test;
}

static void hear_factors(struct node_test *test, unsigned from)
{
    struct psd_rows rows = psd_layout_rows(test->layout, WEIGHT, test->node->rank);

    node_hears(test,
               (struct psd_message){.kind = PSD_MESSAGE_FACTORS,
                                    .from = from,
                                    .iteration = 4,
                                    .subject = WEIGHT,
                                    .which = from,
                                    .length = (rows.end - rows.first + 1) * sizeof(float)},
               1);
}

static void whoever_rebuilds_all_knows_by_itself(void)
{
    struct node_test *test = factored(PSD_ROUTE_BROADCAST, 0);

    node_sync_factors(test, WEIGHT, 0, 1, 1);
    node_settle(test);
    hear_factors(test, 1);
    warns(test, WEIGHT, "rank 0 waits for fc of iteration 4: rank 2 has not synced it");
    warns(test, BIAS, "rank 0 waits for bias of iteration 4: rank 2 has not synced it");
    hear_factors(test, 2);
    warns(
        test, WEIGHT,
        "rank 0 waits for fc of iteration 4: everybody has synced it, and rank 0 has not yet sent "
        "its new value");
    node_settle(test);
    node_end(test);
}

/* The first part of a parameter that rank 0 owns. */
static uint32_t part_of(const struct node_test *test, size_t param)
{
    return test->layout->params[param].first_part;
}

static void the_owner_of_rows_names_who_has_sent_no_factors(void)
{
    static const enum psd_route routes[] = {PSD_ROUTE_ROW_SHARDED, PSD_ROUTE_SINGLE_OWNER};

    for (size_t i = 0; i < 2; i++) {
        struct node_test *test = factored(routes[i], 0);
        CHECK(test->layout->pieces[0].server == 0);
        answers(test, 1, part_of(test, WEIGHT), 4, 0);
        node_sync_factors(test, WEIGHT, 0, 1, 1);
        node_settle(test);
        answers(test, 1, part_of(test, WEIGHT), 4, 1);
        hear_factors(test, 2);
        answers(test, 2, part_of(test, BIAS), 4, 1);
        hear_factors(test, 1);
        answers(test, 2, part_of(test, BIAS), 4, NOBODY); /* they are being rebuilt */
        node_settle(test);
        answers(test, 2, part_of(test, WEIGHT), 4, NOBODY); /* they are on their way */
        answers(test, 2, part_of(test, WEIGHT), 5, 0);
        node_end(test);
    }
}

static void others_ask_the_owner_of_rows(void)
{
    static const enum psd_route routes[] = {PSD_ROUTE_ROW_SHARDED, PSD_ROUTE_SINGLE_OWNER};

    for (size_t i = 0; i < 2; i++) {
        struct node_test *test = factored(routes[i], 1);
        node_sync_factors(test, WEIGHT, 1, 1, 1);
        node_settle(test);
        psd_node_overdue(test->node, BIAS);
        CHECK(node_sent(test, PSD_MESSAGE_WHO, 0).message.subject == part_of(test, BIAS));
        node_deliver(test, missing_of(0, part_of(test, BIAS), 4, 2), NULL);
        CHECK_TEXT("rank 1 waits for bias of iteration 4: rank 2 has not synced it", test->warning);
        node_end(test);
    }
}

/* --- collectives, and the end --------------------------------------------------------------------
 */

static void a_long_collective_is_told(void)
{
    char data[4];
    struct node_test *test = member(0);

    psd_node_overdue(test->node, PSD_NODE_ALL); /* nobody is in one */
    CHECK(test->warned == 0);
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_SUM, NULL, 0));
    warns(test, PSD_NODE_ALL, "rank 0 waits in a reduce or barrier: rank 1 is not there");
    node_deliver(test, (struct psd_message){.kind = PSD_MESSAGE_GIVE, .from = 1}, NULL);
    warns(test, PSD_NODE_ALL, "rank 0 waits in a reduce or barrier: rank 2 is not there");
    node_free(test);

    test = member(1);
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_SUM, NULL, 0));
    warns(test, PSD_NODE_ALL, "rank 1 waits in a reduce or barrier for all others");
    node_free(test);

    test = member(1);
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_COPY, data, sizeof data));
    node_sent(test, PSD_MESSAGE_GIVE, 0);
    warns(test, PSD_NODE_ALL, "rank 1 waits in a broadcast for what rank 0 has to give");
    node_end(test);
}

static void after_the_end_nothing_is_asked_or_answered(void)
{
    struct node_test *test = member(2);

    node_sync(test, CONV, 2, 1);
    node_settle(test);
    psd_node_end(test->node, PSD_EPEER, "enough");
    node_ends(test, PSD_EPEER, "enough");
    psd_node_overdue(test->node, CONV);
    psd_node_overdue(test->node, PSD_NODE_ALL);
    node_deliver(test, who_of(0, 77, 4), NULL);
    node_deliver(test, missing_of(1, CONV, 4, 0), NULL);
    node_is_quiet(test);
    CHECK(test->warned == 0);
    node_free(test);
}

int main(int argc, char **argv)
{
    RUN(the_owner_knows_by_itself)
    RUN(others_ask_the_owner)
    RUN(an_answer_that_comes_too_late_is_no_warning)
    RUN(the_owner_of_what_has_not_come_is_asked)
    RUN(the_owner_names_who_has_not_pushed)
    RUN(strange_questions_and_answers_are_refused)
    RUN(who_asks_and_does_not_listen_gets_no_more_answers)
    RUN(a_question_is_about_one_parameter_of_a_shared_piece)
    RUN(whoever_rebuilds_all_knows_by_itself)
    RUN(the_owner_of_rows_names_who_has_sent_no_factors)
    RUN(others_ask_the_owner_of_rows)
    RUN(a_long_collective_is_told)
    RUN(after_the_end_nothing_is_asked_or_answered)
}
