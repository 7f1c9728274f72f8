/* bound_test.c - what nothing can hide. */
#include "cli/bound.h"
#include "comm/scheme.h"
#include "test.h"

/* Two layers of 1 M values each and one between that learns nothing: 4 MB a layer. */
static struct psd_workload *new_workload(double seconds)
{
    static const char *const names[] = {"a", "pool", "b"};
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("test", 32, &workload));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(psd_workload_add_layer(workload, names[i], 1));
        if (i != 1)
            CHECK_OK(psd_workload_add_param(workload, names[i], 1000, 1000));
        workload->layers[i].forward_s = seconds;
        workload->layers[i].backward_s = 2 * seconds;
    }
    return workload;
}

static struct psd_bound find(unsigned nodes, double seconds, double bandwidth)
{
    struct psd_workload *workload = new_workload(seconds);
    struct psd_plan_network network = {bandwidth, 0};
    struct psd_bound bound;
    struct psd_job *job = NULL;

    CHECK_OK(psd_scheme_job(PSD_SCHEME_SERVERS, workload, nodes, &network, &job));
    CHECK_OK(psd_bound_find(job, workload, &network, &bound));
    psd_job_destroy(job);
    psd_workload_destroy(workload);
    return bound;
}

/* Of 8 MB a member sends half as a gradient and half as values. */
static void slow_links_carry_all_bytes_except_at_the_turn(void)
{
    struct psd_bound bound = find(2, 0.001, 1e6);

    CHECK(psd_bound_is_network(&bound));
    CHECK_NEAR(bound.bytes, 8e6, 1);
    CHECK_NEAR(psd_bound_seconds(&bound), 8 + 0.003, 1e-6);
}

static void fast_links_leave_the_first_layer_to_wait_for(void)
{
    struct psd_bound bound = find(2, 1, 1e6);

    CHECK(!psd_bound_is_network(&bound));
    CHECK_NEAR(bound.compute_s, 9, 1e-9);
    CHECK_NEAR(psd_bound_seconds(&bound), 9 + 4, 0.01); /* 2 MB there, then 2 MB back */
}

static void a_node_alone_only_computes(void)
{
    struct psd_bound bound = find(1, 1, 1e6);

    CHECK(!psd_bound_is_network(&bound));
    CHECK_NEAR(psd_bound_seconds(&bound), 9, 1e-9);
}

int main(int argc, char **argv)
{
    RUN(slow_links_carry_all_bytes_except_at_the_turn)
    RUN(fast_links_leave_the_first_layer_to_wait_for)
    RUN(a_node_alone_only_computes)
}
