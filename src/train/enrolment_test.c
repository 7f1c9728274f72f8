/* enrolment_test.c - which parameters of a net take a place in the job, and as what. */
#include "base/alloc.h"
#include "nets.h"
#include "train/enrolment.h"

#define IP(name, from, more)                                                           \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" from "' top: '" name "'" \
    "  inner_product_param { num_output: 4 weight_filler { type: 'xavier' } } " more " }"

static const char text[] =
    "random_seed: 1 base_lr: 0.1 lr_policy: 'fixed' iter_size: 3 net_param {"
    "layer { name: 'd' type: 'DummyData' top: 'x' top: 't' dummy_data_param {"
    "  shape { dim: 2 dim: 4 } shape { dim: 2 dim: 4 } data_filler { type: 'gaussian' } } }"
    /* 0, 1 */ IP("a", "x", "")
    /* 2, 3, 4 */ "layer { name: 'n' type: 'BatchNorm' bottom: 'a' top: 'n' }"
    /* 5, 6 */ IP("frozen", "n", "param { lr_mult: 0 } param { lr_mult: 0 }")
    /* 7, 8 */ IP("half", "frozen", "param { lr_mult: 0 } param { lr_mult: 2 }")
    /* 9, 10 */ IP(
        "b", "half",
        "") "layer { name: 'l' type: 'EuclideanLoss' bottom: 'b' bottom: 't' top: 'l' } }";
enum { PARAMS = 11 };

/* A solver, and the only seat of a job. */
struct desk {
    struct lab lab;
    struct psd_solver *solver;
    struct psd_comm *comm;
    struct psd_enrolment enrolment;
};

static void open_desk(struct desk *desk)
{
    struct psd_comm_options seat = {.coordinator = "inproc://enrolment",
                                    .workers = 2,
                                    .batch = 6,
                                    .bandwidth = 1e9,
                                    .timeout_ms = 600000};

    *desk = (struct desk){0};
    CHECK(lab_open(&desk->lab, NULL, 1));
    desk->lab.document = document_of(SOLVER, text);
    struct psd_solver_options build = {
        .document = desk->lab.document, .device = desk->lab.device, .ops = desk->lab.ops};
    CHECK_OK(psd_solver_create(&build, &desk->solver));
    CHECK(desk->solver->net->n_params == PARAMS);
    CHECK_OK(psd_comm_open(&seat, &desk->comm));
}

static void close_desk(struct desk *desk)
{
    psd_comm_close(desk->comm);
    psd_enrolment_leave(&desk->enrolment, desk->solver->net);
    psd_enrolment_fini(&desk->enrolment);
    psd_solver_destroy(desk->solver);
    lab_close(&desk->lab);
}

static psd_status enrol(struct desk *desk, const struct psd_ensemble_wish *wishes, size_t n)
{
    struct psd_ensemble_options options = {.wishes = wishes, .n_wishes = n};

    return psd_enrolment_init(&desk->enrolment, desk->comm, desk->solver, &options);
}

static void start(struct desk *desk)
{
    CHECK_OK(psd_comm_start(desk->comm));
    psd_enrolment_learn(&desk->enrolment, desk->comm, desk->solver->net);
}

static void what_changes_takes_a_place_each_in_its_way(void)
{
    static const struct psd_ensemble_wish wishes[] = {
        {"a", PSD_FORM_FACTORED, PSD_ROUTE_AUTO},
        {"b[0]", PSD_FORM_DENSE, PSD_ROUTE_AUTO},
    };
    static const struct {
        int id;
        enum psd_enrolled way;
    } expected[PARAMS] = {
        {0, PSD_ENROLLED_FACTORED}, {1, PSD_ENROLLED_FOLLOWS},  {2, PSD_ENROLLED_AVERAGED},
        {3, PSD_ENROLLED_AVERAGED}, {4, PSD_ENROLLED_AVERAGED}, {-1, PSD_ENROLLED_NOT},
        {-1, PSD_ENROLLED_NOT},     {-1, PSD_ENROLLED_NOT},     {5, PSD_ENROLLED_DENSE},
        {6, PSD_ENROLLED_DENSE},    {7, PSD_ENROLLED_DENSE},
    };
    struct desk desk;

    open_desk(&desk);
    CHECK_OK(enrol(&desk, wishes, 2));
    start(&desk);
    CHECK(desk.enrolment.passes == 3 && desk.enrolment.n_params == PARAMS);
    for (size_t i = 0; i < PARAMS; i++) {
        const struct psd_param *param = desk.solver->net->params[i];
        if (desk.enrolment.ids[i] != expected[i].id || desk.enrolment.ways[i] != expected[i].way)
            TEST_FAIL("%s has place %d and goes as %d", param->name, desk.enrolment.ids[i],
                      (int)desk.enrolment.ways[i]);
        CHECK(param->goes_as_factors == (i == 0));
        CHECK((desk.enrolment.common[i].count > 0) == (i >= 2 && i <= 4));
    }
    close_desk(&desk);
}

/* Weights of a layer are meant by its name, and nothing else of it. */
static void a_wish_means_a_parameter_by_its_name_or_its_layers(void)
{
    static const struct psd_ensemble_wish wishes[] = {
        {"b", PSD_FORM_FACTORED, PSD_ROUTE_AUTO},
        {"b", PSD_FORM_AUTO, PSD_ROUTE_SINGLE_OWNER}, /* adds to the one before */
        {"a[0]", PSD_FORM_DENSE, PSD_ROUTE_AUTO},
        {"half[1]", PSD_FORM_AUTO, PSD_ROUTE_SERVERS},
    };
    struct desk desk;

    open_desk(&desk);
    CHECK_OK(enrol(&desk, wishes, 4));
    start(&desk);
    CHECK(desk.enrolment.ways[0] == PSD_ENROLLED_DENSE);
    CHECK(desk.enrolment.ways[1] == PSD_ENROLLED_DENSE);
    CHECK(desk.enrolment.ways[9] == PSD_ENROLLED_FACTORED);
    CHECK(desk.enrolment.ways[10] == PSD_ENROLLED_FOLLOWS);
    CHECK(psd_comm_route(desk.comm, desk.enrolment.ids[9]) == PSD_ROUTE_SINGLE_OWNER);
    CHECK(psd_comm_route(desk.comm, desk.enrolment.ids[8]) == PSD_ROUTE_SERVERS);
    close_desk(&desk);
}

static void a_name_that_nothing_has_is_refused(void)
{
    static const char *const names[] = {"zz", "a[2]", "", "d"};

    for (size_t i = 0; i < 4; i++) {
        struct psd_ensemble_wish wish = {names[i], PSD_FORM_DENSE, PSD_ROUTE_AUTO};
        char sentence[200];
        struct desk desk;
        open_desk(&desk);
        CHECK_STATUS(PSD_ECONFIG, enrol(&desk, &wish, 1));
        snprintf(sentence, sizeof sentence,
                 "a form or route is asked for %s, and the net has no such layer or parameter",
                 names[i]);
        CHECK_TEXT(sentence, psd_error());
        close_desk(&desk);
    }
}

static void forms_of_a_snapshot_are_kept(void)
{
    struct desk desk;

    open_desk(&desk);
    desk.solver->forms_known = true;
    desk.solver->net->params[9]->goes_as_factors = true;
    CHECK_OK(enrol(&desk, NULL, 0));
    start(&desk);
    CHECK(desk.enrolment.ways[0] == PSD_ENROLLED_DENSE);
    CHECK(desk.enrolment.ways[9] == PSD_ENROLLED_FACTORED);
    close_desk(&desk);
}

/* The common statistic is shown, and is the net's own when the job is over. */
static void statistics_are_given_back(void)
{
    struct desk desk;

    open_desk(&desk);
    CHECK_OK(enrol(&desk, NULL, 0));
    start(&desk);
    struct psd_blob *blob = &desk.solver->net->params[2]->blob;
    psd_blob_values(&desk.enrolment.common[2])[1] = 7;
    CHECK(psd_blob_values(blob)[1] != 7);
    psd_enrolment_show(&desk.enrolment, desk.solver->net);
    CHECK(psd_blob_values(blob)[1] == 7 && blob->shares_data);
    psd_comm_close(desk.comm);
    desk.comm = NULL;
    psd_enrolment_leave(&desk.enrolment, desk.solver->net);
    psd_enrolment_fini(&desk.enrolment);
    desk.enrolment = (struct psd_enrolment){0};
    CHECK(psd_blob_values(blob)[1] == 7 && !blob->shares_data);
    close_desk(&desk);
}

static void an_enrolment_survives_every_failed_allocation(void)
{
    bool failed = true;
    long n = 0;

    for (; failed; n++) {
        struct desk desk;
        open_desk(&desk);
        psd_alloc_fail_at(n);
        psd_status status = enrol(&desk, NULL, 0);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        close_desk(&desk);
    }
    CHECK(n > PARAMS);
}

int main(int argc, char **argv)
{
    RUN(what_changes_takes_a_place_each_in_its_way)
    RUN(a_wish_means_a_parameter_by_its_name_or_its_layers)
    RUN(a_name_that_nothing_has_is_refused)
    RUN(forms_of_a_snapshot_are_kept)
    RUN(statistics_are_given_back)
    RUN(an_enrolment_survives_every_failed_allocation)
}
