/* job_test.c - who hosts whom, what is let in, and what a rule is called with. */
#include "base/alloc.h"
#include "comm/job.h"
#include "math/tree.h"
#include "test.h"

static struct psd_job *new_job(unsigned ranks, unsigned workers)
{
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(ranks, workers, 32, PSD_COMM_UPDATE, NULL, &job));
    return job;
}

static struct psd_job *new_updating(unsigned workers, const struct psd_comm_update *update)
{
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(1, workers, 32, PSD_COMM_UPDATE, update, &job));
    return job;
}

static void hosting_is_contiguous_and_the_first_shares_are_larger(void)
{
    static const struct {
        unsigned ranks, workers;
        unsigned share[5];
    } cases[] = {
        {1, 1, {1}}, {3, 8, {3, 3, 2}},       {2, 8, {4, 4}},
        {1, 8, {8}}, {5, 8, {2, 2, 2, 1, 1}}, {5, 3, {1, 1, 1, 0, 0}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_job *job = new_job(cases[i].ranks, cases[i].workers);
        for (unsigned rank = 0; rank < cases[i].ranks; rank++)
            CHECK(psd_job_hosted(job, rank) == cases[i].share[rank]);
        for (unsigned worker = 1; worker < job->workers; worker++)
            CHECK(job->host[worker] >= job->host[worker - 1]);
        psd_job_destroy(job);
    }
}

static void samples_are_counted_worker_by_worker(void)
{
    struct psd_job *job = new_job(3, 8);

    CHECK(psd_job_samples(job) == 256);
    CHECK(psd_job_samples_of(job, 0) == 96 && psd_job_samples_of(job, 2) == 64);
    job->batch[7] = 5;
    job->host[0] = 2;
    CHECK(psd_job_samples(job) == 229);
    CHECK(psd_job_samples_of(job, 0) == 64 && psd_job_samples_of(job, 2) == 69);
    psd_job_destroy(job);
}

static void what_is_left_zero_takes_its_default(void)
{
    struct psd_job *job = new_job(1, 1);
    struct psd_comm_update given = {.rule = "SGD",
                                    .momentum2 = 0.5f,
                                    .delta = 1,
                                    .rms_decay = 0.25f,
                                    .iter_size = 3,
                                    .clip = 7};

    CHECK_TEXT("SGD", job->rule->name);
    CHECK(job->update.momentum == 0 && job->update.momentum2 == 0.999f);
    CHECK(job->update.delta == 1e-8f && job->update.rms_decay == 0.99f);
    CHECK(job->update.decay == 0 && job->update.clip == 0 && job->update.iter_size == 1);
    psd_job_destroy(job);

    job = new_updating(1, &given);
    CHECK(job->update.momentum2 == 0.5f && job->update.delta == 1);
    CHECK(job->update.rms_decay == 0.25f && job->update.iter_size == 3 && job->update.clip == 7);
    CHECK(!job->update.rule);
    psd_job_destroy(job);
}

static void sums_are_never_clipped(void)
{
    struct psd_job *job = NULL;
    struct psd_comm_update update = {.clip = 1};

    CHECK_OK(psd_job_create(1, 1, 1, PSD_COMM_SUM, &update, &job));
    CHECK(job->update.clip == 0 && psd_job_clip(job, 1e6) == 1);
    psd_job_destroy(job);
}

static void strange_jobs_are_refused(void)
{
    static const struct {
        const char *why;
        unsigned ranks, workers;
        size_t batch;
        struct psd_comm_update update;
    } cases[] = {
        {"no rank", 0, 1, 1, {0}},
        {"no worker", 1, 0, 1, {0}},
        {"no sample", 1, 1, 0, {0}},
        {"too many ranks", UINT32_MAX, 1, 1, {0}},
        {"too many workers", 1, PSD_TREE_LEAVES + 1, 1, {0}},
        {"too many samples", 1, 1, SIZE_MAX, {0}},
        {"no such rule", 1, 1, 1, {.rule = "Newton"}},
        {"a momentum that is no number", 1, 1, 1, {.momentum = NAN}},
        {"endless momentum2", 1, 1, 1, {.momentum2 = INFINITY}},
        {"a delta that is no number", 1, 1, 1, {.delta = NAN}},
        {"a decay of squares that is no number", 1, 1, 1, {.rms_decay = NAN}},
        {"endless decay", 1, 1, 1, {.decay = INFINITY}},
        {"a limit that is no number", 1, 1, 1, {.clip = NAN}},
        {"a negative limit", 1, 1, 1, {.clip = -1}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_job *job = NULL;
        fprintf(stderr, "    %s\n", cases[i].why);
        CHECK_STATUS(PSD_EINVAL, psd_job_create(cases[i].ranks, cases[i].workers, cases[i].batch,
                                                PSD_COMM_UPDATE, &cases[i].update, &job));
        CHECK(!job);
    }
    struct psd_job *job = NULL;
    CHECK_STATUS(PSD_EINVAL, psd_job_create(1, 1, 1, (enum psd_comm_mode)7, NULL, &job));
}

/* fc (factored, broadcast), its bias, and fd (open), each of 4 x 6. */
static struct psd_job *new_filled(unsigned ranks)
{
    struct psd_job *job = new_job(ranks, 4);

    CHECK_OK(psd_job_add(
        job,
        &(struct psd_comm_param){
            .name = "fc", .rows = 4, .cols = 6, .factors = true, .route = PSD_ROUTE_BROADCAST}));
    CHECK_OK(psd_job_add(
        job, &(struct psd_comm_param){.name = "fc bias", .rows = 1, .cols = 4, .bias_of = 1}));
    CHECK_OK(psd_job_add(
        job, &(struct psd_comm_param){.name = "fd", .rows = 4, .cols = 6, .factors = true}));
    return job;
}

static void parameters_are_kept_as_they_are_asked_for(void)
{
    struct psd_job *job = new_filled(2);
    char name[] = "conv";

    CHECK_OK(psd_job_add(
        job, &(struct psd_comm_param){.name = name, .rows = 3, .cols = 5, .rate = 2, .decay = -1}));
    strcpy(name, "gone");
    CHECK(job->n_params == 4);
    CHECK_TEXT("conv", job->params[3].name);
    CHECK(psd_job_count(&job->params[3]) == 15 && job->params[3].bias_of == -1);
    CHECK(job->params[3].rate == 2 && job->params[3].decay == 0);
    CHECK(job->params[3].form == PSD_FORM_AUTO && job->params[3].route == PSD_ROUTE_AUTO);
    CHECK(job->params[2].rate == 1 && job->params[2].decay == 1 && job->params[2].factors);
    CHECK(job->params[1].bias_of == 0 && !job->params[1].factors);
    psd_job_destroy(job);
}

static void a_route_gives_an_open_form(void)
{
    static const struct {
        enum psd_route route;
        enum psd_form form;
    } cases[] = {
        {PSD_ROUTE_AUTO, PSD_FORM_AUTO},          {PSD_ROUTE_SERVERS, PSD_FORM_DENSE},
        {PSD_ROUTE_BROADCAST, PSD_FORM_FACTORED}, {PSD_ROUTE_ROW_SHARDED, PSD_FORM_FACTORED},
        {PSD_ROUTE_LOCAL, PSD_FORM_FACTORED},     {PSD_ROUTE_SINGLE_OWNER, PSD_FORM_FACTORED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_job *job = new_job(1, 4);
        struct psd_comm_param param = {
            .name = "fc", .rows = 4, .cols = 6, .factors = true, .route = cases[i].route};
        CHECK_OK(psd_job_add(job, &param));
        param.name = "the same, said twice";
        param.form = cases[i].form;
        CHECK_OK(psd_job_add(job, &param));
        for (size_t k = 0; k < 2; k++)
            CHECK(job->params[k].form == cases[i].form && job->params[k].route == cases[i].route);
        psd_job_destroy(job);
    }
}

static void a_bias_follows_its_weight_when_that_is_factored(void)
{
    struct psd_job *job = new_filled(2);

    CHECK_OK(psd_job_add(
        job, &(struct psd_comm_param){.name = "fd bias", .rows = 1, .cols = 4, .bias_of = 3}));
    CHECK(psd_job_is_factored(job, 0) && !psd_job_follows(job, 0));
    CHECK(psd_job_is_factored(job, 1) && psd_job_follows(job, 1));
    CHECK(!psd_job_is_factored(job, 3) && !psd_job_follows(job, 3));
    job->params[2].form = PSD_FORM_DENSE;
    CHECK(!psd_job_is_factored(job, 2) && !psd_job_follows(job, 3));
    CHECK(psd_job_follower(job, 2) == job->n_params && psd_job_leader(job, 3) == 3);
    job->params[2].form = PSD_FORM_FACTORED;
    CHECK(psd_job_is_factored(job, 3) && psd_job_follows(job, 3));
    CHECK(psd_job_follower(job, 2) == 3 && psd_job_follower(job, 0) == 1);
    CHECK(psd_job_follower(job, 1) == job->n_params && psd_job_leader(job, 1) == 0);
    psd_job_destroy(job);
}

static void a_bias_may_ask_for_what_its_weight_asks_for(void)
{
    static const struct {
        enum psd_form weight_form, bias_form;
        enum psd_route weight_route, bias_route;
    } cases[] = {
        {.weight_form = PSD_FORM_DENSE, .bias_route = PSD_ROUTE_SERVERS},
        {.weight_route = PSD_ROUTE_BROADCAST, .bias_form = PSD_FORM_FACTORED},
        {.weight_route = PSD_ROUTE_BROADCAST, .bias_route = PSD_ROUTE_BROADCAST},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_job *job = new_job(2, 4);
        CHECK_OK(psd_job_add(job, &(struct psd_comm_param){.name = "fc",
                                                           .rows = 4,
                                                           .cols = 6,
                                                           .factors = true,
                                                           .form = cases[i].weight_form,
                                                           .route = cases[i].weight_route}));
        CHECK_OK(psd_job_add(job, &(struct psd_comm_param){.name = "bias",
                                                           .rows = 1,
                                                           .cols = 4,
                                                           .bias_of = 1,
                                                           .form = cases[i].bias_form,
                                                           .route = cases[i].bias_route}));
        psd_job_destroy(job);
    }
}

static void strange_parameters_are_refused_by_name_and_change_nothing(void)
{
    static const struct psd_comm_param cases[] = {
        {.name = "fc", .rows = 1, .cols = 1}, /* there is one of that name */
        {.name = "empty", .rows = 0, .cols = 4},
        {.name = "narrow", .rows = 4, .cols = 0},
        {.name = "huge", .rows = SIZE_MAX, .cols = 8},
        {.name = "large", .rows = (size_t)1 << 21, .cols = (size_t)1 << 20},
        {.name = "rate", .rows = 1, .cols = 1, .rate = NAN},
        {.name = "decay", .rows = 1, .cols = 1, .decay = INFINITY},
        {.name = "before", .rows = 1, .cols = 1, .forward_s = -1},
        {.name = "endless", .rows = 1, .cols = 1, .backward_s = (double)INFINITY},
        {.name = "timeless", .rows = 1, .cols = 1, .forward_s = (double)NAN},
        {.name = "form", .rows = 1, .cols = 1, .form = (enum psd_form)3},
        {.name = "route", .rows = 1, .cols = 1, .route = (enum psd_route)6},
        {.name = "no factors", .rows = 4, .cols = 4, .form = PSD_FORM_FACTORED},
        {.name = "nor here", .rows = 4, .cols = 4, .route = PSD_ROUTE_ROW_SHARDED},
        {.name = "local", .rows = 4, .cols = 4, .factors = true, .route = PSD_ROUTE_LOCAL},
        {.name = "dense",
         .rows = 4,
         .cols = 4,
         .factors = true,
         .form = PSD_FORM_DENSE,
         .route = PSD_ROUTE_BROADCAST},
        {.name = "factored",
         .rows = 4,
         .cols = 4,
         .factors = true,
         .form = PSD_FORM_FACTORED,
         .route = PSD_ROUTE_SERVERS},
        {.name = "of nobody", .rows = 1, .cols = 4, .bias_of = 4},
        {.name = "of less", .rows = 1, .cols = 4, .bias_of = -1},
        {.name = "of a bias", .rows = 1, .cols = 4, .bias_of = 2},
        {.name = "second", .rows = 1, .cols = 4, .bias_of = 1}, /* there is one */
        {.name = "wide", .rows = 1, .cols = 6, .bias_of = 1},
        {.name = "upright", .rows = 4, .cols = 1, .bias_of = 1},
        {.name = "both", .rows = 1, .cols = 4, .bias_of = 1, .factors = true},
        {.name = "other form", .rows = 1, .cols = 4, .bias_of = 1, .form = PSD_FORM_DENSE},
        {.name = "early form", .rows = 1, .cols = 4, .bias_of = 3, .form = PSD_FORM_DENSE},
        {.name = "other route", .rows = 1, .cols = 4, .bias_of = 1, .route = PSD_ROUTE_ROW_SHARDED},
        {.name = "averaged factors", .rows = 4, .cols = 4, .factors = true, .averaged = true},
        {.name = "averaged bias", .rows = 1, .cols = 4, .bias_of = 3, .averaged = true},
        {.name = "factored mean",
         .rows = 1,
         .cols = 4,
         .averaged = true,
         .form = PSD_FORM_FACTORED},
        {.name = "mean of factors",
         .rows = 1,
         .cols = 4,
         .averaged = true,
         .route = PSD_ROUTE_BROADCAST},
    };
    struct psd_job *job = new_filled(2);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].name);
        CHECK_STATUS(PSD_EINVAL, psd_job_add(job, &cases[i]));
        CHECK(strncmp(psd_error(), cases[i].name, strlen(cases[i].name)) == 0);
        CHECK(job->n_params == 3);
    }
    CHECK_STATUS(PSD_EINVAL, psd_job_add(job, &(struct psd_comm_param){.rows = 1, .cols = 1}));
    CHECK_STATUS(PSD_EINVAL,
                 psd_job_add(job, &(struct psd_comm_param){.name = "", .rows = 1, .cols = 1}));
    CHECK(job->n_params == 3);
    psd_job_destroy(job);
}

static void what_is_averaged_is_dense_whatever_else_it_asks_for(void)
{
    static const struct psd_comm_param cases[] = {
        {.name = "mean", .rows = 1, .cols = 4, .averaged = true},
        {.name = "factor", .rows = 1, .cols = 1, .averaged = true, .form = PSD_FORM_DENSE},
        {.name = "square", .rows = 2, .cols = 3, .averaged = true, .route = PSD_ROUTE_SERVERS},
    };
    struct psd_job *job = new_filled(2);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_OK(psd_job_add(job, &cases[i]));
        CHECK(job->params[3 + i].averaged && job->params[3 + i].form == PSD_FORM_DENSE);
        CHECK(job->params[3 + i].route == cases[i].route);
    }
    CHECK(!job->params[2].averaged);
    psd_job_destroy(job);
}

static void nothing_is_averaged_in_sum_mode(void)
{
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(2, 4, 1, PSD_COMM_SUM, NULL, &job));
    CHECK_STATUS(PSD_EINVAL,
                 psd_job_add(job, &(struct psd_comm_param){
                                      .name = "mean", .rows = 1, .cols = 4, .averaged = true}));
    CHECK_TEXT("mean: values are averaged in update mode only; in sum mode sync them as a gradient "
               "and divide the sum by the 4 workers",
               psd_error());
    CHECK(job->n_params == 0);
    psd_job_destroy(job);
}

static void a_step_holds_what_the_rule_needs(void)
{
    struct psd_comm_update update = {.momentum = 0.9f,
                                     .momentum2 = 0.8f,
                                     .delta = 0.7f,
                                     .rms_decay = 0.6f,
                                     .decay = 0.005f,
                                     .l1 = true};
    struct psd_job *job = new_updating(1, &update);

    CHECK_OK(psd_job_add(
        job, &(struct psd_comm_param){.name = "x", .rows = 1, .cols = 1, .rate = 3, .decay = 7}));
    struct psd_rule_step step = psd_job_step(job, 0, 12, 0.01f, 1);
    CHECK(step.rate == 0.01f * 3 && step.decay == 0.005f * 7 && step.l1 && step.scale == 1);
    CHECK(step.momentum == 0.9f && step.momentum2 == 0.8f);
    CHECK(step.delta == 0.7f && step.rms_decay == 0.6f && step.iteration == 12);
    psd_job_destroy(job);
}

static void the_scale_is_the_mean_of_passes_and_workers(void)
{
    static const struct {
        unsigned workers, iter_size;
        float clipped, scale;
    } cases[] = {
        {1, 1, 1, 1},     {1, 3, 0.7f, 0.7f / 3.0f}, /* as a solver on one machine has it */
        {4, 1, 1, 0.25f}, {4, 2, 0.5f, 0.0625f},     {3, 7, 0.1f, 0.1f * (1.0f / 3.0f) / 7.0f},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_comm_update update = {.iter_size = cases[i].iter_size};
        struct psd_job *job = new_updating(cases[i].workers, &update);
        CHECK_OK(psd_job_add(job, &(struct psd_comm_param){.name = "x", .rows = 1, .cols = 1}));
        CHECK(psd_job_step(job, 0, 0, 1, cases[i].clipped).scale == cases[i].scale);
        psd_job_destroy(job);
    }
}

static void clipping_leaves_the_limit_of_the_mean_gradient(void)
{
    static const struct {
        unsigned workers;
        float clip;
        double squares;
        float left;
    } cases[] = {
        {1, 0, 1e30, 1},      {1, 5, 25, 1},
        {1, 5, 100, 0.5f},    {1, 2.5f, 9, 2.5f / 3.0f},
        {4, 5, 16 * 25.0, 1}, {4, 5, 16 * 100.0, 0.5f},
        {1, 5, 0, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_comm_update update = {.clip = cases[i].clip};
        struct psd_job *job = new_updating(cases[i].workers, &update);
        CHECK(psd_job_clip(job, cases[i].squares) == cases[i].left);
        psd_job_destroy(job);
    }
}

static void a_norm_that_is_no_number_stays_visible(void)
{
    struct psd_comm_update update = {.clip = 1};
    struct psd_job *job = new_updating(2, &update);

    CHECK(isnan(psd_job_clip(job, (double)NAN)));
    psd_job_destroy(job);
}

static psd_status create_and_add(struct psd_job **out)
{
    char name[2] = "a";

    psd_status status = psd_job_create(2, 3, 1, PSD_COMM_UPDATE, NULL, out);
    for (; status == PSD_OK && *name < 'a' + 20; (*name)++)
        status = psd_job_add(*out, &(struct psd_comm_param){.name = name, .rows = 1, .cols = 1});
    return status;
}

static void create_and_add_survive_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_job *job = NULL;
        psd_alloc_fail_at(n);
        psd_status status = create_and_add(&job);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed || job->n_params == 20);
        psd_job_destroy(job);
    }
    psd_job_destroy(NULL);
}

int main(int argc, char **argv)
{
    RUN(hosting_is_contiguous_and_the_first_shares_are_larger)
    RUN(samples_are_counted_worker_by_worker)
    RUN(what_is_left_zero_takes_its_default)
    RUN(sums_are_never_clipped)
    RUN(strange_jobs_are_refused)
    RUN(parameters_are_kept_as_they_are_asked_for)
    RUN(a_route_gives_an_open_form)
    RUN(a_bias_follows_its_weight_when_that_is_factored)
    RUN(a_bias_may_ask_for_what_its_weight_asks_for)
    RUN(strange_parameters_are_refused_by_name_and_change_nothing)
    RUN(what_is_averaged_is_dense_whatever_else_it_asks_for)
    RUN(nothing_is_averaged_in_sum_mode)
    RUN(a_step_holds_what_the_rule_needs)
    RUN(the_scale_is_the_mean_of_passes_and_workers)
    RUN(clipping_leaves_the_limit_of_the_mean_gradient)
    RUN(a_norm_that_is_no_number_stays_visible)
    RUN(create_and_add_survive_every_failed_allocation)
}
