/* roster_test.c - a job comes about from what its members say, or ends in one sentence. */
#include "base/alloc.h"
#include "comm/roster.h"
#include "test.h"

static const struct psd_comm_options usual = {.coordinator = "inproc://a",
                                              .ranks = 3,
                                              .workers = 4,
                                              .batch = 5,
                                              .update = {.momentum = 0.5f}};

static struct psd_roster *new_roster(const struct psd_comm_options *options)
{
    struct psd_roster *roster = NULL;

    CHECK_OK(psd_roster_create(&(struct psd_join){"zero", options}, &roster));
    return roster;
}

/* Rank `from` joins with these options. */
static psd_status join(struct psd_roster *roster, unsigned from,
                       const struct psd_comm_options *options)
{
    struct psd_pack pack = {.bytes = NULL};

    CHECK_OK(psd_roster_pack_join(&(struct psd_join){from == 1 ? "one" : "two", options}, &pack));
    psd_status status = psd_roster_join(roster, from, pack.bytes, pack.length);
    psd_pack_fini(&pack);
    return status;
}

static void everybody_gets_the_same_job(void)
{
    struct psd_roster *roster = new_roster(&usual);
    struct psd_comm_options other = usual;
    struct psd_pack pack = {.bytes = NULL};
    struct psd_job *job = NULL;
    char **addresses = NULL;

    other.batch = 7;
    CHECK_OK(join(roster, 2, &usual));
    CHECK(!psd_roster_is_full(roster));
    CHECK_OK(join(roster, 1, &other));
    CHECK(psd_roster_is_full(roster));
    CHECK_OK(psd_roster_pack(roster, &pack));
    CHECK_OK(psd_roster_read(&usual, pack.bytes, pack.length, &job, &addresses));
    CHECK(job->ranks == 3 && job->workers == 4 && job->update.momentum == 0.5f);
    CHECK(job->host[0] == 0 && job->host[1] == 0 && job->host[2] == 1 && job->host[3] == 2);
    CHECK(job->batch[1] == 5 && job->batch[2] == 7 && job->batch[3] == 5);
    CHECK_TEXT("zero", addresses[0]);
    CHECK_TEXT("one", addresses[1]);
    CHECK_TEXT("two", addresses[2]);
    psd_roster_free_addresses(addresses, 3);
    psd_job_destroy(job);
    psd_pack_fini(&pack);
    psd_roster_destroy(roster);
}

static void members_may_name_the_workers_that_they_host(void)
{
    static const unsigned hosted[3][2] = {{1}, {0, 3}, {2}};
    struct psd_comm_options options[3] = {usual, usual, usual};
    struct psd_pack pack = {.bytes = NULL};
    struct psd_job *job = NULL;
    char **addresses = NULL;

    for (unsigned i = 0; i < 3; i++) {
        options[i].hosted = hosted[i];
        options[i].n_hosted = i == 1 ? 2 : 1;
    }
    struct psd_roster *roster = new_roster(&options[0]);
    CHECK_OK(join(roster, 1, &options[1]));
    CHECK_OK(join(roster, 2, &options[2]));
    CHECK_OK(psd_roster_pack(roster, &pack));
    CHECK_OK(psd_roster_read(&usual, pack.bytes, pack.length, &job, &addresses));
    CHECK(job->host[0] == 1 && job->host[1] == 0 && job->host[2] == 2 && job->host[3] == 1);
    psd_roster_free_addresses(addresses, 3);
    psd_job_destroy(job);
    psd_pack_fini(&pack);
    psd_roster_destroy(roster);
}

/* The job that comes of members with these options, without its addresses. */
static struct psd_job *agree(const struct psd_comm_options options[3])
{
    struct psd_roster *roster = new_roster(&options[0]);
    struct psd_pack pack = {.bytes = NULL};
    struct psd_job *job = NULL;
    char **addresses = NULL;

    CHECK_OK(join(roster, 1, &options[1]));
    CHECK_OK(join(roster, 2, &options[2]));
    CHECK_OK(psd_roster_pack(roster, &pack));
    CHECK_OK(psd_roster_read(&usual, pack.bytes, pack.length, &job, &addresses));
    psd_roster_free_addresses(addresses, 3);
    psd_pack_fini(&pack);
    psd_roster_destroy(roster);
    return job;
}

static void the_workers_of_one_member_may_differ_in_their_batches(void)
{
    static const unsigned hosted[3][2] = {{1}, {0, 3}, {2}};
    static const size_t two[] = {8, 9};
    struct psd_comm_options options[3] = {usual, usual, usual};

    options[0].batches = two; /* of the two that are dealt out to it */
    options[0].n_hosted = 2;
    struct psd_job *job = agree(options);
    CHECK(job->batch[0] == 8 && job->batch[1] == 9 && job->batch[2] == 5 && job->batch[3] == 5);
    psd_job_destroy(job);

    for (unsigned i = 0; i < 3; i++) {
        options[i].hosted = hosted[i];
        options[i].n_hosted = i == 1 ? 2 : 1;
        options[i].batches = i == 1 ? two : NULL;
    }
    job = agree(options);
    CHECK(job->batch[0] == 8 && job->batch[1] == 5 && job->batch[2] == 5 && job->batch[3] == 9);
    psd_job_destroy(job);
}

static void a_member_has_a_batch_for_each_worker_that_it_hosts(void)
{
    static const size_t two[] = {8, 9};
    struct psd_comm_options other = usual;
    struct psd_pack pack = {.bytes = NULL};
    struct psd_roster *roster = new_roster(&usual);

    other.batches = two;
    other.n_hosted = 2;
    CHECK_OK(join(roster, 1, &other));
    CHECK_OK(join(roster, 2, &usual));
    CHECK_STATUS(PSD_EPEER, psd_roster_pack(roster, &pack));
    CHECK_TEXT("rank 1 joins with batches of 2 workers, and hosts 1", psd_error());
    psd_pack_fini(&pack);
    psd_roster_destroy(roster);
}

static void another_option_is_refused_with_what_both_have(void)
{
    static const unsigned four[] = {4}, falling[] = {2, 1};
    static const size_t none[] = {3, 0};
    static const struct {
        const char *sentence;
        struct psd_comm_options options;
    } cases[] = {
        {"rank 1 joins with ranks 2, rank 0 has 3",
         {.ranks = 2, .workers = 4, .update.momentum = 0.5f}},
        {"rank 1 joins with workers 3, rank 0 has 4", {.ranks = 3, .update.momentum = 0.5f}},
        {"rank 1 joins with mode 1, rank 0 has 0",
         {.ranks = 3, .workers = 4, .mode = PSD_COMM_SUM, .update.momentum = 0.5f}},
        {"rank 1 joins with momentum 0.25, rank 0 has 0.5",
         {.ranks = 3, .workers = 4, .update.momentum = 0.25f}},
        {"rank 1 joins with l1 1, rank 0 has 0",
         {.ranks = 3, .workers = 4, .update = {.momentum = 0.5f, .l1 = true}}},
        {"rank 1 joins with clip 2, rank 0 has 0",
         {.ranks = 3, .workers = 4, .update = {.momentum = 0.5f, .clip = 2}}},
        {"rank 1 joins with the rule Adam, rank 0 has SGD",
         {.ranks = 3, .workers = 4, .update = {.momentum = 0.5f, .rule = "Adam"}}},
        {"rank 1 joins with a batch of 2147483648 samples: it is 1 to 1073741824",
         {.ranks = 3, .workers = 4, .batch = (size_t)1 << 31, .update.momentum = 0.5f}},
        {"rank 1 joins with a batch of 0 samples: it is 1 to 1073741824",
         {.ranks = 3, .workers = 4, .batches = none, .n_hosted = 2, .update.momentum = 0.5f}},
        {"rank 1 hosts worker 4; workers are 0 to 3",
         {.ranks = 3, .workers = 4, .hosted = four, .n_hosted = 1, .update.momentum = 0.5f}},
        {"rank 1 hosts worker 2 and then 1: name them rising",
         {.ranks = 3, .workers = 4, .hosted = falling, .n_hosted = 2, .update.momentum = 0.5f}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_roster *roster = new_roster(&usual);
        CHECK_STATUS(PSD_EPEER, join(roster, 1, &cases[i].options));
        CHECK_TEXT(cases[i].sentence, psd_error());
        CHECK_OK(join(roster, 1, &usual)); /* nothing has changed */
        psd_roster_destroy(roster);
    }
}

static void a_rank_joins_once_and_is_one_of_the_job(void)
{
    struct psd_roster *roster = new_roster(&usual);

    CHECK_OK(join(roster, 1, &usual));
    CHECK_STATUS(PSD_EPEER, join(roster, 1, &usual));
    CHECK_STATUS(PSD_EPEER, join(roster, 0, &usual));
    CHECK_STATUS(PSD_EPEER, join(roster, 3, &usual));
    psd_roster_destroy(roster);
}

static void every_worker_is_hosted_once_and_every_rank_hosts_one(void)
{
    static const struct {
        const char *sentence;
        unsigned hosted[3][3], count[3];
    } cases[] = {
        {"worker 1 is hosted by rank 0 and by rank 2", {{0, 1}, {2}, {1, 3}}, {2, 1, 2}},
        {"worker 3 is hosted by no rank", {{0}, {1}, {2}}, {1, 1, 1}},
        {"rank 1 names no worker that it hosts, but others do", {{0, 1}, {0}, {2, 3}}, {2, 0, 2}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_comm_options options[3] = {usual, usual, usual};
        struct psd_pack pack = {.bytes = NULL};
        for (unsigned rank = 0; rank < 3; rank++) {
            options[rank].hosted = cases[i].hosted[rank];
            options[rank].n_hosted = cases[i].count[rank];
        }
        struct psd_roster *roster = new_roster(&options[0]);
        CHECK_OK(join(roster, 1, &options[1]));
        CHECK_OK(join(roster, 2, &options[2]));
        CHECK_STATUS(PSD_EPEER, psd_roster_pack(roster, &pack));
        CHECK_TEXT(cases[i].sentence, psd_error());
        psd_pack_fini(&pack);
        psd_roster_destroy(roster);
    }
}

/* --- parameters and plan ---------------------------------------------------------------------- */

static float unused;

static struct psd_job *new_job(const struct psd_comm_param *params, size_t count)
{
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(2, 2, 1, PSD_COMM_UPDATE, NULL, &job));
    for (size_t i = 0; i < count; i++)
        CHECK_OK(psd_job_add(job, &params[i]));
    return job;
}

static const struct psd_comm_param ours[] = {
    {.name = "fc", .rows = 6, .cols = 4, .value = &unused, .factors = true},
    {.name = "fc.bias", .rows = 1, .cols = 6, .value = &unused, .bias_of = 1},
    {.name = "scale", .rows = 1, .cols = 9, .value = &unused, .rate = 2},
};

static psd_status compare(const struct psd_comm_param *theirs, size_t count)
{
    struct psd_job *job = new_job(ours, 3), *other = new_job(theirs, count);
    struct psd_pack pack = {.bytes = NULL};

    CHECK_OK(psd_roster_pack_params(other, &pack));
    psd_status status = psd_roster_compare_params(job, 1, pack.bytes, pack.length);
    psd_pack_fini(&pack);
    psd_job_destroy(other);
    psd_job_destroy(job);
    return status;
}

static void equal_parameters_are_equal(void)
{
    CHECK_OK(compare(ours, 3));
}

static void another_parameter_is_refused_by_name(void)
{
    static const struct {
        const char *sentence;
        size_t at;
        struct psd_comm_param param;
    } cases[] = {
        {"rank 1 has fc7 as parameter 0, rank 0 has fc",
         0,
         {.name = "fc7", .rows = 6, .cols = 4, .factors = true}},
        {"rank 1 has fc as 6 x 5, rank 0 as 6 x 4",
         0,
         {.name = "fc", .rows = 6, .cols = 5, .factors = true}},
        {"rank 1 has scale with the multipliers 1 and 1, rank 0 with 2 and 1",
         2,
         {.name = "scale", .rows = 1, .cols = 9}},
        {"rank 1 and rank 0 say differently whether fc.bias has factors",
         1,
         {.name = "fc.bias", .rows = 1, .cols = 6}},
        {"rank 1 and rank 0 say differently whether scale is averaged",
         2,
         {.name = "scale", .rows = 1, .cols = 9, .rate = 2, .averaged = true}},
        {"rank 1 asks for another form or route of scale than rank 0",
         2,
         {.name = "scale", .rows = 1, .cols = 9, .rate = 2, .form = PSD_FORM_DENSE}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_comm_param theirs[] = {ours[0], ours[1], ours[2]};
        theirs[cases[i].at] = cases[i].param;
        CHECK_STATUS(PSD_EPEER, compare(theirs, 3));
        CHECK_TEXT(cases[i].sentence, psd_error());
    }
    CHECK_STATUS(PSD_EPEER, compare(ours, 2));
    CHECK_TEXT("rank 1 has 2 parameters, rank 0 has 3", psd_error());
}

static void a_plan_is_put_into_a_job_that_has_none(void)
{
    struct psd_job *job = new_job(ours, 3), *other = new_job(ours, 3);
    struct psd_pack pack = {.bytes = NULL};
    char *text = NULL;

    for (size_t i = 0; i < 3; i++) {
        job->params[i].form = i < 2 ? PSD_FORM_FACTORED : PSD_FORM_DENSE;
        job->params[i].route = i < 2 ? PSD_ROUTE_ROW_SHARDED : PSD_ROUTE_SERVERS;
    }
    job->window = 300000;
    CHECK_OK(psd_roster_pack_plan(job, "because", &pack));
    CHECK_OK(psd_roster_read_plan(other, pack.bytes, pack.length, &text));
    CHECK_TEXT("because", text);
    CHECK(other->window == 300000);
    for (size_t i = 0; i < 3; i++)
        CHECK(other->params[i].form == job->params[i].form &&
              other->params[i].route == job->params[i].route);
    psd_alloc_free(text);
    psd_pack_fini(&pack);
    psd_job_destroy(other);
    psd_job_destroy(job);
}

static void a_plan_that_does_not_fit_is_refused(void)
{
    static const struct {
        const char *why;
        uint32_t plan[3][2]; /* form, route */
    } cases[] = {
        {"no form", {{0, 1}, {1, 1}, {1, 1}}},
        {"no such form", {{3, 1}, {1, 1}, {1, 1}}},
        {"dense and broadcast", {{1, 2}, {1, 1}, {1, 1}}},
        {"factored by servers", {{2, 1}, {2, 1}, {1, 1}}},
        {"no such route", {{2, 6}, {2, 6}, {1, 1}}},
        {"local with two ranks", {{2, 4}, {2, 4}, {1, 1}}},
        {"a bias that does not follow its weight", {{2, 2}, {1, 1}, {1, 1}}},
        {"a bias on another route", {{2, 2}, {2, 3}, {1, 1}}},
        {"a bias that follows a dense weight", {{1, 1}, {2, 2}, {1, 1}}},
        {"something without factors", {{2, 2}, {2, 2}, {2, 2}}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_job *job = new_job(ours, 3);
        struct psd_pack pack = {.bytes = NULL};
        char *text = NULL;
        fprintf(stderr, "    %s\n", cases[i].why);
        for (size_t k = 0; k < 3; k++) {
            psd_pack_u32(&pack, cases[i].plan[k][0]);
            psd_pack_u32(&pack, cases[i].plan[k][1]);
        }
        psd_pack_u64(&pack, 0);
        psd_pack_text(&pack, "");
        CHECK_STATUS(PSD_EPEER, psd_roster_read_plan(job, pack.bytes, pack.length, &text));
        CHECK(!text);
        psd_pack_fini(&pack);
        psd_job_destroy(job);
    }
}

static void a_plan_that_is_not_what_was_asked_for_is_refused(void)
{
    struct psd_comm_param asked = ours[0];
    struct psd_pack pack = {.bytes = NULL};
    char *text = NULL;

    asked.route = PSD_ROUTE_BROADCAST;
    struct psd_job *job = new_job(&asked, 1);
    psd_pack_u32(&pack, PSD_FORM_FACTORED);
    psd_pack_u32(&pack, PSD_ROUTE_ROW_SHARDED);
    psd_pack_u64(&pack, 0);
    psd_pack_text(&pack, "");
    CHECK_STATUS(PSD_EPEER, psd_roster_read_plan(job, pack.bytes, pack.length, &text));
    CHECK_TEXT("rank 0 sends a plan that does not fit fc", psd_error());
    psd_pack_fini(&pack);
    psd_job_destroy(job);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* A whole roster, there and back. */
static psd_status go_through(void)
{
    static const size_t one[] = {3};
    static const struct psd_comm_options two = {.ranks = 2, .batches = one, .n_hosted = 1};
    struct psd_pack join_pack = {.bytes = NULL}, pack = {.bytes = NULL};
    struct psd_roster *roster = NULL;
    struct psd_job *job = NULL;
    char **addresses = NULL;

    psd_status status = psd_roster_create(&(struct psd_join){"zero", &two}, &roster);
    if (status == PSD_OK)
        status = psd_roster_pack_join(&(struct psd_join){"one", &two}, &join_pack);
    if (status == PSD_OK)
        status = psd_roster_join(roster, 1, join_pack.bytes, join_pack.length);
    if (status == PSD_OK)
        status = psd_roster_pack(roster, &pack);
    if (status == PSD_OK)
        status = psd_roster_read(&two, pack.bytes, pack.length, &job, &addresses);
    CHECK((status == PSD_OK) == (job != NULL) && (job != NULL) == (addresses != NULL));
    psd_roster_free_addresses(addresses, 2);
    psd_job_destroy(job);
    psd_pack_fini(&join_pack);
    psd_pack_fini(&pack);
    psd_roster_destroy(roster);
    return status;
}

static void a_roster_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = go_through();
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
}

int main(int argc, char **argv)
{
    RUN(everybody_gets_the_same_job)
    RUN(members_may_name_the_workers_that_they_host)
    RUN(the_workers_of_one_member_may_differ_in_their_batches)
    RUN(a_member_has_a_batch_for_each_worker_that_it_hosts)
    RUN(another_option_is_refused_with_what_both_have)
    RUN(a_rank_joins_once_and_is_one_of_the_job)
    RUN(every_worker_is_hosted_once_and_every_rank_hosts_one)
    RUN(equal_parameters_are_equal)
    RUN(another_parameter_is_refused_by_name)
    RUN(a_plan_is_put_into_a_job_that_has_none)
    RUN(a_plan_that_does_not_fit_is_refused)
    RUN(a_plan_that_is_not_what_was_asked_for_is_refused)
    RUN(a_roster_survives_every_failed_allocation)
}
