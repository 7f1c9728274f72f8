/* plan_text_test.c - what people read. */
#include "base/alloc.h"
#include "comm/plan.h"
#include "workloads.h"

static const struct psd_plan_network network = {.bandwidth = 1.25e9, .latency = 5e-5};

static const struct workload_layer layers[] = {
    {"conv1", 64, 576, false, 0.004, 0.008},
    {"fc6", 1024, 4096, true, 0.001, 0.002},
};

/* The text of a job with these layers; the caller frees it. */
static char *text_of(const struct workload_layer *some, size_t count, unsigned ranks,
                     unsigned workers, const struct psd_comm_update *update, bool known)
{
    struct psd_workload *workload = workload_of(32, some, count);
    struct psd_job *job = workload_job(workload, ranks, workers, update);
    struct psd_plan *plan = NULL;

    workload->rebuild_flops = 5.5e12;
    workload->sum_bytes_per_s = 1e10;
    psd_plan_forms(job);
    CHECK_OK(psd_plan_create(job, known ? workload : NULL, &network, &plan));
    char *text = psd_plan_text(job, plan);
    CHECK(text);
    psd_plan_destroy(plan);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
    return text;
}

static void a_plan_is_a_table_with_totals(void)
{
    char *text = text_of(layers, 2, 4, 4, NULL, true);

    CHECK_TEXT(
        "parameter  shape      form      route        M floats       ms\n"
        "conv1[0]   64x576     dense     servers         0.111    0.415  * dense\n"
        "conv1[1]   64         dense     servers         0.000    0.101  * dense\n"
        "fc6[0]     1024x4096  factored  servers        12.583   20.233    (if dense)\n"
        "                                broadcast       0.983    1.623  p\n"
        "                                row-sharded     7.127   11.503  * as fast, less work\n"
        "                                single-owner   13.074   40.365\n"
        "fc6[1]     1024       factored  row-sharded     0.002    0.052  * as its weight\n"
        "\n"
        "* is the choice, and p that of the paper's rule where it is another.\n"
        "What stands in brackets would need another form than the job's.\n"
        "traffic    7.239 M floats across one member's link, both ways; 14.479 MB up\n"
        "memory     15.156 MB for sums, factors, state and scratch on one member\n"
        "hosting    4 workers on 4 members, no subtree is cut: 4 sums of a gradient\n"
        "iteration  15.387 ms predicted; 15.387 ms with the paper's rule\n"
        "speed-up   3.90, 97.5 % of 4; one machine alone takes 15.000 ms for its batch\n",
        text);
    psd_alloc_free(text);
}

static void check_has(const char *text, const char *line)
{
    if (!strstr(text, line))
        TEST_FAIL("there is no \"%s\" in:\n%s", line, text);
}

static void hosting_is_told_with_its_sums(void)
{
    char *text = text_of(layers, 2, 3, 8, NULL, true);

    check_has(text, "hosting    8 workers on 3 members, subtrees are cut: "
                    "5 sums of a gradient if even, 3 if aligned\n"
                    "           even is taken; predicted are ");
    CHECK(strstr(text, " ms if even, ") && strstr(text, " ms if aligned\n"));
    psd_alloc_free(text);
    text = text_of(layers, 2, 3, 8, NULL, false);
    check_has(text, " ms if aligned, computing aside\n");
    psd_alloc_free(text);
    text = text_of(layers, 2, 1, 1, NULL, true);
    check_has(text, "hosting    1 worker on 1 member, no subtree is cut: 1 sum of a gradient\n"
                    "iteration ");
    psd_alloc_free(text);
}

static void a_hosting_of_the_members_own_is_told_so(void)
{
    static const unsigned host[] = {0, 0, 0, 0, 0, 0, 1, 2};
    struct psd_workload *workload = workload_of(32, layers, 2);
    struct psd_job *job = workload_job(workload, 3, 8, NULL);
    struct psd_plan *plan = NULL;

    memcpy(job->host, host, sizeof host);
    psd_plan_forms(job);
    CHECK_OK(psd_plan_create(job, workload, &network, &plan));
    CHECK(memcmp(job->host, host, sizeof host) == 0);
    CHECK(plan->iteration_s > plan->even_s && plan->even_s > 0 && plan->aligned_s > 0);
    char *text = psd_plan_text(job, plan);
    check_has(text, "\n           what members name is taken; predicted are ");
    psd_alloc_free(text);
    psd_plan_destroy(plan);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

/* Of an inner product every route is there; of a dense layer, and of one process, only its own. */
static void routes_of_the_other_form_stand_in_brackets(void)
{
    static const struct workload_layer small[] = {
        {"conv1", 64, 576, false, 0.004, 0.008},
        {"fc7", 8, 4096, true, 0.001, 0.002}, /* too small to go as factors */
    };
    char *text = text_of(small, 2, 4, 4, NULL, true);

    check_has(text, "fc7[0]     8x4096  dense     servers ");
    check_has(text, " broadcast       0.788    1.311    (if factored)\n");
    check_has(text, " row-sharded     0.492    1.361    (if factored)\n");
    check_has(text, " single-owner    0.492    1.361    (if factored)\n");
    CHECK(!strstr(text, "(if dense)") && !strstr(text, " local "));
    psd_alloc_free(text);
    text = text_of(layers, 2, 1, 4, NULL, true);
    CHECK(!strstr(text, "(if ") && !strstr(text, "brackets"));
    psd_alloc_free(text);
}

static void what_is_not_known_is_not_told(void)
{
    char *text = text_of(layers, 2, 4, 4, NULL, false);

    check_has(text, "speed-up   not known: nothing is known of compute\n");
    CHECK(!strstr(text, "clipping"));
    psd_alloc_free(text);
}

static void clipping_has_a_line(void)
{
    char *text = text_of(layers, 2, 4, 4, &(struct psd_comm_update){.clip = 1}, true);

    check_has(text, "\nclipping   ");
    psd_alloc_free(text);
}

static void what_is_averaged_is_told_so(void)
{
    struct psd_job *job = NULL;
    struct psd_plan *plan = NULL;

    for (unsigned ranks = 1; ranks <= 3; ranks += 2) {
        CHECK_OK(psd_job_create(ranks, 3, 1, PSD_COMM_UPDATE, NULL, &job));
        CHECK_OK(psd_job_add(job, &(struct psd_comm_param){.name = "conv", .rows = 1, .cols = 9}));
        CHECK_OK(psd_job_add(job, &(struct psd_comm_param){
                                      .name = "mean", .rows = 1, .cols = 64, .averaged = true}));
        psd_plan_forms(job);
        CHECK_OK(psd_plan_create(job, NULL, &network, &plan));
        char *text = psd_plan_text(job, plan);
        CHECK(job->params[1].route == PSD_ROUTE_SERVERS);
        check_has(text, "\nmean       64     averaged  servers ");
        check_has(text, "  * averaged\n");
        psd_alloc_free(text);
        psd_plan_destroy(plan);
        psd_job_destroy(job);
    }
}

static void lines_fit_into_100_columns(void)
{
    static const struct workload_layer wide[] = {
        {"a_block_with_a_long_name/branch_2b/normalized", 4096, 1000000, true, 0.1, 0.2},
        {"a_block_with_a_long_name/branch_2c/normalized", 1000000, 4096, false, 0.1, 0.2},
        {"fc", 100000, 100000, true, 0.1, 0.2},
    };
    char *text = text_of(wide, 3, 100, 100, &(struct psd_comm_update){.clip = 1}, true);

    check_has(text, ".._2b/normalized[0]  4096x1000000   ");
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        CHECK(end - line <= 100);
        CHECK(end == line || end[-1] != ' ');
    }
    psd_alloc_free(text);
}

static void routes_have_names(void)
{
    CHECK_TEXT("auto", psd_plan_route_name(PSD_ROUTE_AUTO));
    CHECK_TEXT("servers", psd_plan_route_name(PSD_ROUTE_SERVERS));
    CHECK_TEXT("broadcast", psd_plan_route_name(PSD_ROUTE_BROADCAST));
    CHECK_TEXT("row-sharded", psd_plan_route_name(PSD_ROUTE_ROW_SHARDED));
    CHECK_TEXT("local", psd_plan_route_name(PSD_ROUTE_LOCAL));
    CHECK_TEXT("single-owner", psd_plan_route_name(PSD_ROUTE_SINGLE_OWNER));
    CHECK_TEXT("unknown", psd_plan_route_name((enum psd_route)PSD_PLAN_ROUTES));
}

static void without_memory_there_is_no_text(void)
{
    struct psd_workload *workload = workload_of(32, layers, 2);
    struct psd_job *job = workload_job(workload, 4, 4, NULL);
    struct psd_plan *plan = NULL;

    psd_plan_forms(job);
    CHECK_OK(psd_plan_create(job, workload, &network, &plan));
    psd_alloc_fail_at(0);
    CHECK(psd_plan_text(job, plan) == NULL);
    CHECK(psd_alloc_fail_at(-1));
    psd_plan_destroy(plan);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

int main(int argc, char **argv)
{
    RUN(a_plan_is_a_table_with_totals)
    RUN(hosting_is_told_with_its_sums)
    RUN(a_hosting_of_the_members_own_is_told_so)
    RUN(routes_of_the_other_form_stand_in_brackets)
    RUN(what_is_not_known_is_not_told)
    RUN(clipping_has_a_line)
    RUN(what_is_averaged_is_told_so)
    RUN(lines_fit_into_100_columns)
    RUN(routes_have_names)
    RUN(without_memory_there_is_no_text)
}
